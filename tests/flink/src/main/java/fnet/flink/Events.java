/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumer;

/** Events into bytes and back by Flink's EventSerializer, and into words. */
final class Events {
    private Events() {}

    /** As a pipelined subpartition sends it: with its data type and the padding. */
    static Buffer encode(AbstractEvent event) {
        Object consumer = Reflect.canCall(EventSerializer.class, "toBufferConsumer", event)
                ? Reflect.callStatic(EventSerializer.class, "toBufferConsumer", event)
                : Reflect.callStatic(EventSerializer.class, "toBufferConsumer", event,
                        isPriority(event));
        return ((BufferConsumer) consumer).build();
    }

    private static boolean isPriority(AbstractEvent event) {
        if (event instanceof CheckpointBarrier barrier) {
            return "UNALIGNED".equals(Barrier.read(barrier).alignment());
        }
        return event.getClass().getSimpleName().equals("EventAnnouncement");
    }

    static AbstractEvent decode(byte[] bytes) throws IOException {
        return EventSerializer.fromSerializedEvent(ByteBuffer.wrap(bytes),
                Events.class.getClassLoader());
    }

    /** What Flink adds to an event: the type of its buffer, and how many bytes of padding. */
    static Fields envelope(AbstractEvent event, int bytes) throws IOException {
        return Fields.of("data_type", Buffers.dataTypeOf(encode(event)))
                .add("padding", bytes - EventSerializer.toSerializedEvent(event).remaining());
    }

    static Fields fields(AbstractEvent event) throws IOException {
        String type = event.getClass().getSimpleName();
        switch (type) {
            case "EndOfPartitionEvent":
            case "EndOfSuperstepEvent":
            case "EndOfSegmentEvent":
            case "EndOfInputChannelStateEvent":
            case "EndOfOutputChannelStateEvent":
                return Fields.of("type", type);
            case "EndOfChannelStateEvent":
                return Fields.of("type", "EndOfOutputChannelStateEvent");
            case "CheckpointBarrier":
                return Barrier.read((CheckpointBarrier) event).fields();
            case "CancelCheckpointMarker":
                return Fields.of("type", type)
                        .add("id", ((CancelCheckpointMarker) event).getCheckpointId());
            case "EventAnnouncement":
                return announcement(event);
            case "SubtaskConnectionDescriptor":
                return Fields.of("type", type)
                        .add("input_subtask", Reflect.call(event, "getInputSubtaskIndex"))
                        .add("output_subtask", Reflect.call(event, "getOutputSubtaskIndex"));
            case "EndOfData":
                return endOfData(event);
            case "RecoveryMetadata":
                return Fields.of("type", type)
                        .add("final_subpartition",
                                Reflect.call(event, "getFinalBufferSubpartitionId"));
            case "WatermarkEvent":
                return watermark(event);
            default:
                return other(event);
        }
    }

    private static Fields announcement(AbstractEvent event) throws IOException {
        return Fields.of("type", "EventAnnouncement")
                .add("sequence", Reflect.call(event, "getSequenceNumber"))
                .addAll("announced",
                        fields((AbstractEvent) Reflect.call(event, "getAnnouncedEvent")));
    }

    /** 1.14 does not say how it ends. */
    private static Fields endOfData(AbstractEvent event) {
        Fields fields = Fields.of("type", "EndOfData");
        return Reflect.canCall(event.getClass(), "getStopMode")
                ? fields.add("mode", Reflect.call(event, "getStopMode"))
                : fields;
    }

    private static Fields watermark(AbstractEvent event) {
        Object watermark = Reflect.call(event, "getWatermark");
        return Fields.of("type", "WatermarkEvent")
                .add("identifier", Reflect.call(watermark, "getIdentifier"))
                .add("aligned", Reflect.call(event, "isAligned"))
                .add("value", Reflect.call(watermark, "getValue"));
    }

    /** An event that names its own class. */
    private static Fields other(AbstractEvent event) throws IOException {
        DataOutputSerializer body = new DataOutputSerializer(64);
        event.write(body);
        return Fields.of("type", event.getClass().getName())
                .addHex("body", body.getCopyOfBuffer());
    }
}
