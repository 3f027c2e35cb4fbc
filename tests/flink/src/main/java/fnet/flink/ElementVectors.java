/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Every stream element that the version in use has, and records of several types. */
final class ElementVectors {
    private static final String STREAMING = "org.apache.flink.streaming.";
    private static final String STATUS = STREAMING + "runtime.watermarkstatus.WatermarkStatus";
    private static final String OLD_STATUS = STREAMING + "runtime.streamstatus.StreamStatus";
    private static final String ATTRIBUTES =
            STREAMING + "runtime.streamrecord.RecordAttributes";
    private static final String INTERNAL = STREAMING + "api.watermark.InternalWatermark";
    private static final long TIME = 1700000000000L;

    private final List<Vector> vectors = new ArrayList<>();

    ElementVectors() throws IOException {
        addTimes();
        addStrings();
        addNumbers();
        addBytes();
        addTuples();
        addWatermarks();
        addStatuses();
        addMarkers();
    }

    List<Vector> vectors() {
        return vectors;
    }

    private void add(String name, StreamElement element, String serde, Fields fields)
            throws IOException {
        vectors.add(new Vector(name, fields, Elements.encode(element, serde)));
    }

    private void add(String name, Object element, Fields fields) throws IOException {
        add(name, (StreamElement) element, "string", fields);
    }

    private void addRecord(String name, String serde, Object value) throws IOException {
        add(name, new StreamRecord<>(value), serde,
                Fields.of("type", "StreamRecord").add("serde", serde)
                        .addAll(Serde.fields(value)));
    }

    private void addTimed(String name, String serde, Object value, long timestamp)
            throws IOException {
        add(name, new StreamRecord<>(value, timestamp), serde,
                Fields.of("type", "StreamRecord").add("timestamp", timestamp)
                        .add("serde", serde).addAll(Serde.fields(value)));
    }

    private void addTimes() throws IOException {
        addTimed("record-timed", "string", "hello", TIME);
        addTimed("record-timed-zero", "long", 7L, 0);
        addTimed("record-timed-negative", "int", 7, -1);
        addTimed("record-timed-least", "bytes", new byte[] {7}, Long.MIN_VALUE);
        addTimed("record-timed-greatest", "tuple(string,long)", Tuple2.of("k", 7L),
                Long.MAX_VALUE);
    }

    /** Lengths and characters whose numbers need one byte, two and three. */
    private void addStrings() throws IOException {
        addRecord("string", "string", "hello");
        addRecord("string-null", "string", null);
        addRecord("string-empty", "string", "");
        addRecord("string-nul", "string", "a\0b");
        addRecord("string-ascii", "string", "a;b=c\\d\te~\u007f");
        addRecord("string-latin", "string", "caf\u00e9 \u0080");
        addRecord("string-two-bytes", "string", "\u3fff");
        addRecord("string-three-bytes", "string", "\u4000\u65e5\uffff");
        addRecord("string-pair", "string", "\ud83d\ude00");
        addRecord("string-lone-high", "string", "\ud83d");
        addRecord("string-lone-low", "string", "x\ude00y");
        addRecord("string-126", "string", "s".repeat(126));
        addRecord("string-127", "string", "s".repeat(127));
        addRecord("string-300", "string", "\u00e9".repeat(300));
    }

    private void addNumbers() throws IOException {
        for (long number : new long[] {0, -1, 1234567890123L, Long.MIN_VALUE, Long.MAX_VALUE}) {
            addRecord(Vector.numbered("long", number), "long", number);
        }
        for (int number : new int[] {0, -1, 305419896, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            addRecord(Vector.numbered("int", number), "int", number);
        }
    }

    private void addBytes() throws IOException {
        addRecord("bytes", "bytes", HexFormat.of().parseHex("00ff7f80"));
        addRecord("bytes-empty", "bytes", new byte[0]);
        addRecord("bytes-300", "bytes", new byte[300]);
    }

    private void addTuples() throws IOException {
        addRecord("tuple-2", "tuple(string,long)", Tuple2.of("key", 42L));
        addRecord("tuple-2-null", "tuple(string,int)", Tuple2.of((String) null, -1));
        addRecord("tuple-3", "tuple(int,string,bytes)",
                Tuple3.of(1, "\u00e9", new byte[] {1, 2, 3}));
        addRecord("tuple-3-empty", "tuple(bytes,string,long)", Tuple3.of(new byte[0], "", 0L));
    }

    private void addWatermarks() throws IOException {
        for (long time : new long[] {0, TIME, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            add(Vector.numbered("watermark", time), new Watermark(time),
                    Fields.of("type", "Watermark").add("timestamp", time));
        }
        if (Reflect.exists(INTERNAL)) {
            addInternal("internal-watermark", 5, TIME);
            addInternal("internal-watermark-greatest", Integer.MAX_VALUE, Long.MAX_VALUE);
        }
    }

    private void addInternal(String name, int subpartition, long time) throws IOException {
        add(name, Reflect.make(INTERNAL, time, subpartition),
                Fields.of("type", "InternalWatermark").add("subpartition", subpartition)
                        .add("timestamp", time));
    }

    private void addStatuses() throws IOException {
        String type = Reflect.exists(STATUS) ? STATUS : OLD_STATUS;
        add("status-active", Reflect.constant(type, "ACTIVE"),
                Fields.of("type", "WatermarkStatus").add("idle", false));
        add("status-idle", Reflect.constant(type, "IDLE"),
                Fields.of("type", "WatermarkStatus").add("idle", true));
    }

    private void addMarkers() throws IOException {
        OperatorID operator = (OperatorID) Ids.id(OperatorID.class, 0xd0);
        for (int subtask : new int[] {0, 3, Integer.MAX_VALUE}) {
            add(Vector.numbered("latency", subtask), new LatencyMarker(TIME, operator, subtask),
                    Fields.of("type", "LatencyMarker").add("marked", TIME)
                            .add("operator", operator).add("subtask", subtask));
        }
        if (Reflect.exists(ATTRIBUTES)) {
            for (boolean isBacklog : new boolean[] {false, true}) {
                add("attributes-backlog-" + isBacklog, Reflect.make(ATTRIBUTES, isBacklog),
                        Fields.of("type", "RecordAttributes").add("backlog", isBacklog));
            }
        }
    }
}
