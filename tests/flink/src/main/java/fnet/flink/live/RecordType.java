/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Serde;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.runtime.plugable.DeserializationDelegate;
import org.apache.flink.runtime.plugable.NonReusingDeserializationDelegate;
import org.apache.flink.runtime.plugable.SerializationDelegate;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamElementSerializer;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Lines of text into what a RecordWriter takes, and back from what a RecordDeserializer fills. */
abstract class RecordType {
    /** "raw", or a serde: then records are elements of a stream. */
    static RecordType named(String name) {
        return name.equals("raw") ? new Raw() : new Elements(name);
    }

    /** Valid until the next call. */
    abstract IOReadableWritable record(byte[] line);

    abstract IOReadableWritable watermark(long timestamp);

    /** Something to be filled. */
    abstract IOReadableWritable target();

    /** The line that the last TARGET has. */
    abstract byte[] line(IOReadableWritable target);

    private static final class Raw extends RecordType {
        private final RawRecord record = new RawRecord();

        @Override
        IOReadableWritable record(byte[] line) {
            record.set(line);
            return record;
        }

        @Override
        IOReadableWritable watermark(long timestamp) {
            throw new IllegalArgumentException("raw records know no watermarks");
        }

        @Override
        IOReadableWritable target() {
            return record;
        }

        @Override
        byte[] line(IOReadableWritable target) {
            return record.bytes();
        }
    }

    private static final class Elements extends RecordType {
        private final String serde;
        private final SerializationDelegate<StreamElement> writer;
        private final DeserializationDelegate<StreamElement> reader;

        @SuppressWarnings({"unchecked", "rawtypes"})
        Elements(String serde) {
            this.serde = serde;
            TypeSerializer<StreamElement> serializer =
                    (TypeSerializer) new StreamElementSerializer<>(Serde.named(serde));
            writer = new SerializationDelegate<>(serializer);
            reader = new NonReusingDeserializationDelegate<>(serializer);
        }

        @Override
        IOReadableWritable record(byte[] line) {
            writer.setInstance(new StreamRecord<>(value(new String(line, StandardCharsets.UTF_8))));
            return writer;
        }

        private Object value(String text) {
            switch (serde) {
                case "string":
                    return text;
                case "long":
                    return Long.valueOf(text);
                case "int":
                    return Integer.valueOf(text);
                case "bytes":
                    return HexFormat.of().parseHex(text);
                default:
                    throw new IllegalArgumentException("no lines for " + serde);
            }
        }

        @Override
        IOReadableWritable watermark(long timestamp) {
            writer.setInstance(new Watermark(timestamp));
            return writer;
        }

        @Override
        IOReadableWritable target() {
            return reader;
        }

        @Override
        byte[] line(IOReadableWritable target) {
            StreamElement element = reader.getInstance();
            if (!element.isRecord()) {
                return element.toString().getBytes(StandardCharsets.UTF_8);
            }
            Object value = element.asRecord().getValue();
            String text = value instanceof byte[]
                    ? HexFormat.of().formatHex((byte[]) value)
                    : String.valueOf(value);
            return text.getBytes(StandardCharsets.UTF_8);
        }
    }
}
