/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.PartitionNotFoundException;
import org.apache.flink.runtime.io.network.partition.ProducerFailedException;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;

/** Every message that the version in use has. */
final class MessageVectors {
    private static final int MAX = Integer.MAX_VALUE;
    private static final String MESSAGE = Frames.NETTY + "NettyMessage$";
    private static final String RANGE =
            "org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet";
    private static final byte[] HELLO = HexFormat.of().parseHex("00000007010668656c6c6f");
    private static final byte[] WORLD = HexFormat.of().parseHex("000000070106776f726c64");
    /** Which event shows a data type. */
    private static final Map<String, String> EVENT_OF_TYPE = Map.ofEntries(
            Map.entry("EVENT_BUFFER", "cancel-checkpoint"),
            Map.entry("PRIORITIZED_EVENT_BUFFER", "barrier-unaligned"),
            Map.entry("ALIGNED_CHECKPOINT_BARRIER", "barrier-aligned"),
            Map.entry("TIMEOUTABLE_ALIGNED_CHECKPOINT_BARRIER", "barrier-timeoutable"),
            Map.entry("RECOVERY_COMPLETION", "end-of-output-channel-state"),
            Map.entry("END_OF_SEGMENT", "end-of-segment"),
            Map.entry("END_OF_DATA", "end-of-data-drain"),
            Map.entry("END_OF_PARTITION", "end-of-partition"),
            Map.entry("RECOVERY_METADATA", "recovery-metadata"),
            Map.entry("ALIGNED_WATERMARK_EVENT", "watermark-bool-aligned"),
            Map.entry("UNALIGNED_WATERMARK_EVENT", "watermark-long"));

    private final List<Vector> vectors = new ArrayList<>();
    private final Map<String, EventVectors.Case> events;

    MessageVectors(EventVectors events) throws IOException {
        this.events = events.cases();
        addData();
        addTypes();
        addCompressed();
        addPartial();
        addErrors();
        addRequests();
        addTaskEvents();
        addCredits();
        addForReceiver("cancel", "CancelPartitionRequest");
        addForReceiver("resume", "ResumeConsumption");
        addForReceiver("ack-all", "AckAllUserRecordsProcessed");
        add("close", Reflect.make(MESSAGE + "CloseRequest"), false, new Fields());
        addNumbers("backlog", "BacklogAnnouncement", "backlog", 1, 4, MAX);
        addNumbers("buffer-size", "NewBufferSize", "buffer_size", 1, 16384, MAX);
        addSegments();
    }

    List<Vector> vectors() {
        return vectors;
    }

    private void add(String name, Object message, boolean hasReceiver, Fields body) {
        byte[] frame = Frames.encode(message);
        Fields fields = Fields.of("type", message.getClass().getSimpleName())
                .add("length", frame.length);
        if (hasReceiver) {
            fields.add("receiver", Ids.RECEIVER);
        }
        vectors.add(new Vector(name, fields.addAll(body), frame));
    }

    /* ---- buffers: what does not exist in this version is left out ------------------------ */

    /** A BufferResponse to be: BYTES are its payload, PARTS the sizes that make it up. */
    private record Sent(Buffer buffer, byte[] bytes, List<Integer> parts) {
        static Sent of(byte[] bytes, String dataType) {
            return new Sent(Buffers.of(bytes, dataType), bytes, List.of());
        }
    }

    private void addBuffer(String name, Sent sent, int subpartition, int sequence, int backlog,
            Fields more) {
        Class<?> type = Reflect.type(MESSAGE + "BufferResponse");
        Object[][] ways = {
            {sent.buffer, sequence, Ids.RECEIVER, subpartition, sent.parts.size(), backlog},
            {sent.buffer, sequence, Ids.RECEIVER, subpartition, backlog},
            {sent.buffer, sequence, Ids.RECEIVER, backlog},
        };
        for (Object[] way : ways) {
            if (Reflect.canMake(type, way)) {
                Fields fields = way.length > 4
                        ? Fields.of("subpartition", subpartition)
                        : new Fields();
                fields.add("sequence", sequence).add("backlog", backlog)
                        .addAll(payloadFields(sent)).addAll(more).addHex("payload", sent.bytes);
                add(name, Reflect.make(type, way), true, fields);
                return;
            }
        }
    }

    private static Fields payloadFields(Sent sent) {
        Fields fields = Fields.of("data_type", Buffers.dataTypeOf(sent.buffer));
        if (Reflect.canCall(sent.buffer.getClass(), "isCompressed")) {
            fields.add("compressed", Reflect.call(sent.buffer, "isCompressed"));
        }
        fields.add("size", sent.bytes.length);
        return sent.parts.isEmpty()
                ? fields
                : fields.add("partial_sizes", Messages.numbers(sent.parts));
    }

    private void addData() {
        Fields none = new Fields();
        Sent hello = Sent.of(HELLO, "DATA_BUFFER");
        addBuffer("buffer", hello, 5, 0, 1, none);
        addBuffer("buffer-greatest", hello, MAX, MAX, MAX, none);
        addBuffer("buffer-least", hello, -1, Integer.MIN_VALUE, 0, none);
        addBuffer("buffer-empty", Sent.of(new byte[0], "DATA_BUFFER"), 5, 1, 3, none);
    }

    private void addTypes() {
        for (String type : Buffers.dataTypes()) {
            String name = "buffer-" + type.toLowerCase().replace('_', '-');
            EventVectors.Case event = events.get(EVENT_OF_TYPE.get(type));
            if (type.startsWith("DATA_BUFFER")) {
                addBuffer(name, Sent.of(WORLD, type), 5, 1, 0, new Fields());
            } else if (event != null) {
                byte[] bytes = Buffers.bytes(Events.encode(event.event()));
                addBuffer(name, Sent.of(bytes, type), 5, 2, 0,
                        new Fields().addAll("event", event.fields()));
            }
        }
    }

    /** Records that become smaller: one short match, a long one, and text with many. */
    private static List<byte[]> compressible() {
        byte[] text = "the quick brown fox jumps over the lazy dog; ".repeat(20).getBytes();
        for (int i = 0; i < text.length; i += 17) {
            text[i] = (byte) ('0' + i % 10);
        }
        return List.of(HexFormat.of().parseHex("00000060010000005b" + "61".repeat(91)),
                new byte[32768], text);
    }

    private void addCompressed() {
        for (String codec : new String[] {"LZ4", "LZO", "ZSTD"}) {
            int number = 0;
            for (byte[] data : Buffers.hasCodec(codec) ? compressible() : List.<byte[]>of()) {
                Buffer buffer = Buffers.compress(data, codec);
                addBuffer("buffer-" + codec.toLowerCase() + "-" + number++,
                        new Sent(buffer, Buffers.bytes(buffer), List.of()), 5, 8, 0,
                        Messages.uncompressed(codec, data));
            }
        }
    }

    private void addMerged(String name, boolean areCompressed, Fields more, Buffer... parts) {
        List<Buffer> list = List.of(parts);
        byte[] bytes = join(list.stream().map(Buffers::bytes).toList());
        addBuffer(name, new Sent(Buffers.merge(list, areCompressed), bytes,
                list.stream().map(Buffer::getSize).toList()), -1, 7, 2, more);
    }

    private static byte[] join(List<byte[]> parts) {
        StringBuilder hex = new StringBuilder();
        parts.forEach(part -> hex.append(HexFormat.of().formatHex(part)));
        return HexFormat.of().parseHex(hex);
    }

    private void addPartial() throws IOException {
        if (!Buffers.canMerge()) {
            return;
        }
        Buffer hello = Buffers.of(HELLO, "DATA_BUFFER");
        Buffer world = Buffers.of(WORLD, "DATA_BUFFER");
        addMerged("buffer-partial-1", false, new Fields(), hello);
        addMerged("buffer-partial-2", false, new Fields(), hello, world);
        addMerged("buffer-partial-3", false, new Fields(), world, hello, world);

        byte[] data = compressible().get(0);
        addMerged("buffer-partial-lz4", true,
                Messages.uncompressed("LZ4", join(List.of(data, data))),
                Buffers.compress(data, "LZ4"), Buffers.compress(data, "LZ4"));

        EventVectors.Case end = events.get("end-of-partition");
        byte[] bytes = Buffers.bytes(EventSerializer.toSerializedEvent(end.event()));
        addMerged("buffer-partial-event", false, new Fields().addAll("event", end.fields()),
                Buffers.of(bytes, "END_OF_PARTITION"));
    }

    /* ---- everything else ------------------------------------------------------------------ */

    private static ResultPartitionID partition() {
        return Ids.partition(3, Ids.attempt(3, 1));
    }

    /** The same on every run. */
    private static <T extends Throwable> T at(T error, StackTraceElement... stack) {
        error.setStackTrace(stack);
        return error;
    }

    private void addErrors() {
        StackTraceElement run = new StackTraceElement("fnet.flink.Task", "run", "Task.java", 42);
        StackTraceElement main = new StackTraceElement("fnet.flink.Task", "main", null, -2);
        IOException cause = at(new IOException("disk \u00e9 full"), main);

        addError("error-not-found", at(new PartitionNotFoundException(partition()), run), true);
        addError("error-cause", at(new IOException("cannot read", cause), run, main), true);
        addError("error-no-message", at(new IOException()), true);
        addError("error-fatal", at(new IllegalStateException("x"), run), false);
        addError("error-fatal-cause", at(new IOException(cause), run), false);

        Throwable failed = at(new RuntimeException("task failed", cause), run);
        addError("error-producer", at(new ProducerFailedException(failed), run, main), true);
        addError("error-same-stack", at(new IOException("again", cause), cause.getStackTrace()),
                true);
    }

    private void addError(String name, Throwable error, boolean hasReceiver) {
        String type = MESSAGE + "ErrorResponse";
        add(name, hasReceiver ? Reflect.make(type, error, Ids.RECEIVER) : Reflect.make(type, error),
                hasReceiver, new Fields().addAll("error", Messages.throwable(error)));
    }

    private void addRequest(String name, ResultPartitionID id, int first, int last, int credit) {
        Object range = Reflect.exists(RANGE) ? Reflect.make(RANGE, first, last) : (Object) first;
        add(name, Reflect.make(MESSAGE + "PartitionRequest", id, range, Ids.RECEIVER, credit), true,
                Ids.fields(id).addAll(Messages.subpartitions(first, last)).add("credit", credit));
    }

    private void addRequests() {
        addRequest("request", partition(), 5, 5, 2);
        addRequest("request-least", Ids.partition(0, Ids.attempt(0, 0)), 0, 0, 0);
        addRequest("request-one", partition(), 1, 1, 1);
        addRequest("request-greatest", Ids.partition(MAX, Ids.attempt(MAX, MAX)), MAX, MAX, MAX);
        if (Reflect.exists(RANGE)) {
            addRequest("request-range", partition(), 3, 7, 2);
            addRequest("request-range-greatest", partition(), 0, MAX, MAX);
        }
    }

    private void addTaskEvents() throws IOException {
        for (String name : new String[] {"termination", "all-workers-done", "worker-done"}) {
            AbstractEvent event = events.get(name).event();
            byte[] bytes = Buffers.bytes(EventSerializer.toSerializedEvent(event));
            add("task-event-" + name,
                    Reflect.make(MESSAGE + "TaskEventRequest", event, partition(), Ids.RECEIVER),
                    true, Ids.fields(partition()).addAll("event", events.get(name).fields())
                            .addHex("payload", bytes));
        }
    }

    private void addCredits() {
        Class<?> type = Reflect.type(MESSAGE + "AddCredit");
        if (Reflect.canMake(type, 1, Ids.RECEIVER)) {
            addNumbers("credit", "AddCredit", "credit", 1, 3, MAX);
            return;
        }
        for (int credit : new int[] {1, 3, MAX}) {
            add(Vector.numbered("credit", credit),
                    Reflect.make(type, partition(), credit, Ids.RECEIVER), true,
                    Ids.fields(partition()).add("credit", credit));
        }
    }

    private void addForReceiver(String name, String type) {
        if (Reflect.exists(MESSAGE + type)) {
            add(name, Reflect.make(MESSAGE + type, Ids.RECEIVER), true, new Fields());
        }
    }

    private void addNumbers(String name, String type, String key, int... numbers) {
        for (int number : Reflect.exists(MESSAGE + type) ? numbers : new int[0]) {
            add(Vector.numbered(name, number),
                    Reflect.make(MESSAGE + type, number, Ids.RECEIVER), true,
                    Fields.of(key, number));
        }
    }

    private void addSegments() {
        String type = MESSAGE + "SegmentId";
        if (!Reflect.exists(type)) {
            return;
        }
        boolean isOfSubpartition = Reflect.canMake(Reflect.type(type), 5, 9, Ids.RECEIVER);
        for (int segment : new int[] {1, 9, MAX}) {
            String name = Vector.numbered("segment", segment);
            if (isOfSubpartition) {
                add(name, Reflect.make(type, 5, segment, Ids.RECEIVER), true,
                        Fields.of("subpartition", 5).add("segment", segment));
            } else {
                add(name, Reflect.make(type, segment, Ids.RECEIVER), true,
                        Fields.of("segment", segment));
            }
        }
    }
}
