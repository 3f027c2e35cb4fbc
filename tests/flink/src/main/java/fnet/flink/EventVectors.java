/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.api.EndOfSuperstepEvent;
import org.apache.flink.runtime.iterative.event.AllWorkersDoneEvent;
import org.apache.flink.runtime.iterative.event.TerminationEvent;
import org.apache.flink.runtime.iterative.event.WorkerDoneEvent;

/** Every event that the version in use has. */
final class EventVectors {
    /** An event of Flink, and what it says. */
    record Case(AbstractEvent event, Fields fields) {}

    private static final String NETWORK = "org.apache.flink.runtime.io.network.";
    private static final String API = NETWORK + "api.";
    private static final String STATE = NETWORK + "partition.consumer.";
    private static final String WATERMARK = "org.apache.flink.api.common.watermark.";
    private static final long TIME = 1700000000000L;
    private static final byte[] FILE = location("/s");

    private final Map<String, Case> cases = new LinkedHashMap<>();

    EventVectors() {
        addMarks();
        addBarriers();
        addSavepoints();
        addTaskEvents();
        addDescriptions();
        addWatermarks();
    }

    Map<String, Case> cases() {
        return cases;
    }

    List<Vector> vectors() throws IOException {
        List<Vector> vectors = new ArrayList<>();
        for (Map.Entry<String, Case> entry : cases.entrySet()) {
            AbstractEvent event = entry.getValue().event();
            byte[] bytes = Buffers.bytes(Events.encode(event));
            Fields fields = new Fields().addAll(entry.getValue().fields())
                    .addAll(Events.envelope(event, bytes.length));
            vectors.add(new Vector(entry.getKey(), fields, bytes));
        }
        return vectors;
    }

    /** As Flink writes the reference of a file system: a magic number and the path. */
    private static byte[] location(String path) {
        byte[] text = path.getBytes(StandardCharsets.UTF_8);
        String hex = "055f3f18" + HexFormat.of().formatHex(text);
        return HexFormat.of().parseHex(hex);
    }

    private void add(String name, Object event, Fields fields) {
        cases.put(name, new Case((AbstractEvent) event, fields));
    }

    /** The one instance of CLASS, if this version has it. */
    private void addMark(String name, String className, String type) {
        if (Reflect.exists(className)) {
            add(name, Reflect.constant(className, "INSTANCE"), Fields.of("type", type));
        }
    }

    private void addMarks() {
        add("end-of-partition", EndOfPartitionEvent.INSTANCE,
                Fields.of("type", "EndOfPartitionEvent"));
        add("end-of-superstep", EndOfSuperstepEvent.INSTANCE,
                Fields.of("type", "EndOfSuperstepEvent"));
        String output = "EndOfOutputChannelStateEvent";
        addMark("end-of-output-channel-state", STATE + "EndOfChannelStateEvent", output);
        addMark("end-of-output-channel-state", STATE + output, output);
        String input = "EndOfInputChannelStateEvent";
        addMark("end-of-input-channel-state", STATE + input, input);
        addMark("end-of-segment", API + "EndOfSegmentEvent", "EndOfSegmentEvent");
        addEndOfData();
    }

    private void addEndOfData() {
        if (Reflect.exists(API + "StopMode")) {
            for (Object mode : Reflect.type(API + "StopMode").getEnumConstants()) {
                String name = mode.toString().toLowerCase().replace('_', '-');
                add("end-of-data-" + name, Reflect.make(API + "EndOfData", mode),
                        Fields.of("type", "EndOfData").add("mode", mode));
            }
        } else {
            addMark("end-of-data", API + "EndOfData", "EndOfData");
        }
    }

    private void addBarrier(String name, Barrier barrier) {
        if (barrier.exists()) {
            add(name, barrier.make(), barrier.fields());
        }
    }

    private void addAlignment(String name, String alignment, byte[] location, long timeoutMs) {
        addBarrier(name, new Barrier(42, TIME, "CHECKPOINT", location, alignment, timeoutMs));
    }

    private void addBarriers() {
        final long none = Barrier.NO_TIMEOUT;

        addAlignment("barrier-aligned", "ALIGNED", null, none);
        addAlignment("barrier-aligned-location", "ALIGNED", FILE, none);
        addAlignment("barrier-timeoutable", "ALIGNED", null, 1500);
        addAlignment("barrier-timeoutable-location", "ALIGNED", FILE, none - 1);
        addAlignment("barrier-unaligned", "UNALIGNED", null, none);
        addAlignment("barrier-unaligned-location", "UNALIGNED", FILE, none);
        addAlignment("barrier-forced", "FORCED_ALIGNED", null, none);
        addAlignment("barrier-forced-timeout", "FORCED_ALIGNED", FILE, 1500);
        addAlignment("barrier-at-least-once", "AT_LEAST_ONCE", null, none);
        addAlignment("barrier-at-least-once-location", "AT_LEAST_ONCE", FILE, none);
        addBarrier("barrier-full",
                new Barrier(42, TIME, "FULL_CHECKPOINT", null, "ALIGNED", none));
        addBarrier("barrier-least", new Barrier(0, 0, "CHECKPOINT", null, "ALIGNED", none));
        addBarrier("barrier-greatest", new Barrier(Long.MAX_VALUE, Long.MAX_VALUE, "CHECKPOINT",
                location("hdfs://host:8020/" + "directory/".repeat(12) + "\u00e9"), "ALIGNED",
                none));
    }

    private void addSavepoints() {
        for (String type : new String[] {"SAVEPOINT", "SAVEPOINT_SUSPEND", "SAVEPOINT_TERMINATE"}) {
            for (String format : new String[] {"", " CANONICAL", " NATIVE"}) {
                String name = (type + format).toLowerCase().replaceAll("[_ ]", "-");
                addSavepoint(name, type + format, FILE);
                addSavepoint(name + "-default", type + format, null);
            }
        }
    }

    private void addSavepoint(String name, String type, byte[] location) {
        addBarrier(name, new Barrier(43, TIME, type, location, "ALIGNED", Barrier.NO_TIMEOUT));
    }

    /** Events of iterations, which write their class's name. */
    private void addTaskEvents() {
        add("termination", TerminationEvent.INSTANCE,
                Fields.of("type", TerminationEvent.class.getName()).add("body", ""));
        add("all-workers-done", new AllWorkersDoneEvent(Collections.emptyMap()),
                Fields.of("type", AllWorkersDoneEvent.class.getName()).add("body", "00000000"));
        add("worker-done", new WorkerDoneEvent(7, Collections.emptyMap()),
                Fields.of("type", WorkerDoneEvent.class.getName())
                        .add("body", "0000000700000000"));
    }

    private void addCancel(String name, long id) {
        add(name, new CancelCheckpointMarker(id),
                Fields.of("type", "CancelCheckpointMarker").add("id", id));
    }

    private void addDescriptions() {
        addCancel("cancel-checkpoint", 42);
        addCancel("cancel-checkpoint-greatest", Long.MAX_VALUE);
        addConnection("subtask-connection", 1, 2);
        addConnection("subtask-connection-greatest", Integer.MAX_VALUE, Integer.MAX_VALUE);
        if (Reflect.exists(API + "RecoveryMetadata")) {
            add("recovery-metadata", Reflect.make(API + "RecoveryMetadata", 6),
                    Fields.of("type", "RecoveryMetadata").add("final_subpartition", 6));
        }
        if (Reflect.exists(API + "EventAnnouncement")) {
            Case announced = cases.get("barrier-timeoutable");
            add("announcement", Reflect.make(API + "EventAnnouncement", announced.event(), 9),
                    Fields.of("type", "EventAnnouncement").add("sequence", 9)
                            .addAll("announced", announced.fields()));
        }
    }

    private void addConnection(String name, int input, int output) {
        String className = API + "SubtaskConnectionDescriptor";
        if (Reflect.exists(className)) {
            add(name, Reflect.make(className, input, output),
                    Fields.of("type", "SubtaskConnectionDescriptor").add("input_subtask", input)
                            .add("output_subtask", output));
        }
    }

    private void addWatermark(String name, String className, Object value, String identifier,
            boolean isAligned) {
        if (Reflect.exists(WATERMARK + className)) {
            Object watermark = Reflect.make(WATERMARK + className, value, identifier);
            add(name,
                    Reflect.make("org.apache.flink.runtime.event.WatermarkEvent", watermark,
                            isAligned),
                    Fields.of("type", "WatermarkEvent").add("identifier", identifier)
                            .add("aligned", isAligned).add("value", value));
        }
    }

    private void addLong(String name, long value, int identifierLength, boolean isAligned) {
        addWatermark(name, "LongWatermark", value, "w".repeat(identifierLength), isAligned);
    }

    /** The lengths are those around which the array of Flink's serializer grows. */
    private void addWatermarks() {
        addWatermark("watermark-bool-aligned", "BoolWatermark", true, "\u00fc\0", true);
        addWatermark("watermark-bool", "BoolWatermark", false, "b", false);
        addLong("watermark-long", 1000, 2, false);
        addLong("watermark-long-aligned", Long.MAX_VALUE, 0, true);
        addLong("watermark-long-least", Long.MIN_VALUE, 1, false);
        addLong("watermark-long-109", -1000, 109, true);
        addLong("watermark-long-110", -1000, 110, false);
        addLong("watermark-long-300", -1000, 300, false);
    }
}
