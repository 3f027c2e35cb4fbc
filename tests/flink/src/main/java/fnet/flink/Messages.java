/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.event.TaskEvent;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.shaded.netty4.io.netty.buffer.ByteBuf;
import org.apache.flink.util.SerializedThrowable;

/** Messages of Flink, decoded, into words. */
final class Messages {
    private Messages() {}

    /** MESSAGE came in a frame of LENGTH bytes; CODEC compressed it, if anything did. */
    static Fields fields(Object message, int length, String codec) throws Exception {
        Fields fields = Fields.of("type", message.getClass().getSimpleName()).add("length", length);
        if (Reflect.has(message, "receiverId") && Reflect.get(message, "receiverId") != null) {
            fields.add("receiver", Reflect.get(message, "receiverId"));
        }
        return fields.addAll(body(message, codec));
    }

    private static Fields body(Object message, String codec) throws Exception {
        switch (message.getClass().getSimpleName()) {
            case "BufferResponse":
                return buffer(message, codec);
            case "ErrorResponse":
                return new Fields().addAll("error",
                        throwable((Throwable) Reflect.get(message, "cause")));
            case "PartitionRequest":
                return request(message);
            case "TaskEventRequest":
                return taskEvent(message);
            case "AddCredit":
                return credit(message);
            case "BacklogAnnouncement":
                return Fields.of("backlog", Reflect.get(message, "backlog"));
            case "NewBufferSize":
                return Fields.of("buffer_size", Reflect.get(message, "bufferSize"));
            case "SegmentId":
                return subpartition(message).add("segment", Reflect.get(message, "segmentId"));
            default:
                return new Fields();
        }
    }

    /** Nothing where the version in use does not have it. */
    private static Fields subpartition(Object message) {
        return Reflect.has(message, "subpartitionId")
                ? Fields.of("subpartition", Reflect.get(message, "subpartitionId"))
                : new Fields();
    }

    private static Fields buffer(Object message, String codec) throws Exception {
        byte[] payload = payload(Reflect.get(message, "buffer"));
        String dataType = dataType(message);
        Fields fields = subpartition(message)
                .add("sequence", Reflect.get(message, "sequenceNumber"))
                .add("backlog", Reflect.get(message, "backlog"))
                .add("data_type", dataType);
        if (Reflect.has(message, "isCompressed")) {
            fields.add("compressed", Reflect.get(message, "isCompressed"));
        }
        fields.add("size", payload.length);
        List<Integer> parts = partialSizes(message);
        if (!parts.isEmpty()) {
            fields.add("partial_sizes", numbers(parts));
        }
        if (codec != null) {
            fields.addAll(uncompressed(codec, Buffers.decompress(payload,
                    parts.isEmpty() ? List.of(payload.length) : parts, codec)));
        }
        if (!dataType.startsWith("DATA_BUFFER")) {
            fields.addAll("event", Events.fields(Events.decode(payload)));
        }
        return fields.addHex("payload", payload);
    }

    static String numbers(List<Integer> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    static Fields uncompressed(String codec, byte[] data) {
        CRC32 crc = new CRC32();
        crc.update(data);
        return Fields.of("codec", codec)
                .add("data_size", data.length)
                .add("data_crc32", String.format("%08x", crc.getValue()));
    }

    /** Until 1.10 messages have a buffer of Netty; for no bytes newer ones may have none. */
    private static byte[] payload(Object buffer) {
        if (buffer == null) {
            return new byte[0];
        }
        return buffer instanceof Buffer
                ? Buffers.bytes((Buffer) buffer)
                : Buffers.bytes((ByteBuf) buffer);
    }

    private static String dataType(Object message) {
        if (Reflect.has(message, "dataType")) {
            return Buffers.nameOf(Reflect.get(message, "dataType"));
        }
        return (Boolean) Reflect.get(message, "isBuffer") ? "DATA_BUFFER" : "EVENT_BUFFER";
    }

    @SuppressWarnings("unchecked")
    private static List<Integer> partialSizes(Object message) {
        if (!Reflect.has(message, "numOfPartialBuffers")
                || (Integer) Reflect.get(message, "numOfPartialBuffers") == 0) {
            return List.of();
        }
        return (List<Integer>) Reflect.call(message, "getPartialBufferSizes");
    }

    private static Fields request(Object message) {
        Fields fields = Ids.fields((ResultPartitionID) Reflect.get(message, "partitionId"));
        if (Reflect.has(message, "queueIndex")) {
            fields.add("subpartition", Reflect.get(message, "queueIndex"));
        } else {
            Object range = Reflect.get(message, "queueIndexSet");
            fields.addAll(subpartitions((Integer) Reflect.call(range, "getStartIndex"),
                    (Integer) Reflect.call(range, "getEndIndex")));
        }
        return fields.add("credit", Reflect.get(message, "credit"));
    }

    static Fields subpartitions(int first, int last) {
        Fields fields = Fields.of("subpartition", first);
        return last == first ? fields : fields.add("last_subpartition", last);
    }

    private static Fields taskEvent(Object message) throws Exception {
        AbstractEvent event = (TaskEvent) Reflect.get(message, "event");
        ByteBuffer bytes = EventSerializer.toSerializedEvent(event);
        return Ids.fields((ResultPartitionID) Reflect.get(message, "partitionId"))
                .addAll("event", Events.fields(event))
                .addHex("payload", Buffers.bytes(bytes));
    }

    /** Until 1.10 credit is given to a partition. */
    private static Fields credit(Object message) {
        Fields fields = Reflect.has(message, "partitionId")
                ? Ids.fields((ResultPartitionID) Reflect.get(message, "partitionId"))
                : new Fields();
        return fields.add("credit", Reflect.get(message, "credit"));
    }

    /** A throwable without a message has none; its causes follow it. */
    static Fields throwable(Throwable error) {
        Fields fields = Fields.of("type", error.getClass().getName());
        if (error instanceof SerializedThrowable) {
            fields.add("original_type",
                    ((SerializedThrowable) error).getOriginalErrorClassName());
        }
        if (error.getMessage() != null) {
            fields.add("message", error.getMessage());
        }
        if (error.getStackTrace().length > 0) {
            fields.add("stack", Arrays.stream(error.getStackTrace())
                    .map(StackTraceElement::toString)
                    .collect(Collectors.joining(",")));
        }
        return error.getCause() == null
                ? fields
                : fields.addAll("cause", throwable(error.getCause()));
    }
}
