/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamElementSerializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Elements of a stream into bytes and back by Flink's StreamElementSerializer, and into words. */
final class Elements {
    private Elements() {}

    static byte[] encode(StreamElement element, String serde) throws IOException {
        DataOutputSerializer bytes = new DataOutputSerializer(64);
        new StreamElementSerializer<>(Serde.named(serde)).serialize(element, bytes);
        return bytes.getCopyOfBuffer();
    }

    /** SERDE only matters to records. */
    static StreamElement decode(byte[] bytes, String serde) throws IOException {
        DataInputDeserializer in = new DataInputDeserializer(bytes, 0, bytes.length);
        StreamElement element =
                new StreamElementSerializer<>(Serde.named(serde)).deserialize(in);
        if (in.available() > 0) {
            throw new IOException(in.available() + " bytes too many");
        }
        return element;
    }

    static Fields fields(StreamElement element, String serde) {
        String type = element.getClass().getSimpleName();
        switch (type) {
            case "StreamRecord":
                return record(element.asRecord(), serde);
            case "Watermark":
                return Fields.of("type", type)
                        .add("timestamp", ((Watermark) element).getTimestamp());
            case "InternalWatermark":
                return Fields.of("type", type)
                        .add("subpartition", Reflect.call(element, "getSubpartitionIndex"))
                        .add("timestamp", ((Watermark) element).getTimestamp());
            case "LatencyMarker":
                return latency((LatencyMarker) element);
            case "RecordAttributes":
                return Fields.of("type", type).add("backlog", Reflect.call(element, "isBacklog"));
            default: /* StreamStatus until 1.13, WatermarkStatus since */
                return Fields.of("type", "WatermarkStatus")
                        .add("idle", Reflect.call(element, "isIdle"));
        }
    }

    private static Fields record(StreamRecord<?> record, String serde) {
        Fields fields = Fields.of("type", "StreamRecord");
        if (record.hasTimestamp()) {
            fields.add("timestamp", record.getTimestamp());
        }
        return fields.add("serde", serde).addAll(Serde.fields(record.getValue()));
    }

    private static Fields latency(LatencyMarker marker) {
        return Fields.of("type", "LatencyMarker")
                .add("marked", marker.getMarkedTime())
                .add("operator", marker.getOperatorId())
                .add("subtask", marker.getSubtaskIndex());
    }
}
