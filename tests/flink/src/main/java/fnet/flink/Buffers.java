/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.FreeingBufferRecycler;
import org.apache.flink.runtime.io.network.buffer.NetworkBuffer;
import org.apache.flink.shaded.netty4.io.netty.buffer.ByteBuf;

/** Buffers of Flink out of bytes and back. Data types by the names they have since 1.12. */
final class Buffers {
    private static final int SEGMENT_BYTES = 32768;
    private static final String PACKAGE = "org.apache.flink.runtime.io.network.buffer.";
    private static final String DATA_TYPE = PACKAGE + "Buffer$DataType";
    private static final String COMPRESSOR = PACKAGE + "BufferCompressor";
    private static final String DECOMPRESSOR = PACKAGE + "BufferDecompressor";
    private static final String MERGED = PACKAGE + "FullyFilledBuffer";
    private static final String CODEC =
            "org.apache.flink.configuration.NettyShuffleEnvironmentOptions$CompressionCodec";
    private static final String NAME_IN_1_11 = "ALIGNED_EXACTLY_ONCE_CHECKPOINT_BARRIER";
    private static final String NAME_SINCE = "ALIGNED_CHECKPOINT_BARRIER";

    private Buffers() {}

    /** Names of the data types that are sent, in order. */
    static List<String> dataTypes() {
        if (!Reflect.exists(DATA_TYPE)) {
            return List.of("DATA_BUFFER", "EVENT_BUFFER");
        }
        return Arrays.stream(Reflect.type(DATA_TYPE).getEnumConstants())
                .map(Buffers::nameOf)
                .filter(name -> !name.equals("NONE"))
                .toList();
    }

    static String nameOf(Object dataType) {
        String name = ((Enum<?>) dataType).name();
        return name.equals(NAME_IN_1_11) ? NAME_SINCE : name;
    }

    static String dataTypeOf(Buffer buffer) {
        if (Reflect.exists(DATA_TYPE)) {
            return nameOf(Reflect.call(buffer, "getDataType"));
        }
        return buffer.isBuffer() ? "DATA_BUFFER" : "EVENT_BUFFER";
    }

    private static Object dataType(String name) {
        return Arrays.stream(Reflect.type(DATA_TYPE).getEnumConstants())
                .filter(type -> nameOf(type).equals(name))
                .findFirst()
                .orElseThrow();
    }

    static Buffer of(byte[] bytes, String dataType) {
        MemorySegment segment =
                MemorySegmentFactory.allocateUnpooledSegment(Math.max(bytes.length, 1));
        segment.put(0, bytes);
        if (Reflect.exists(DATA_TYPE)) {
            return (Buffer) Reflect.make(NetworkBuffer.class, segment,
                    FreeingBufferRecycler.INSTANCE, dataType(dataType), bytes.length);
        }
        return (Buffer) Reflect.make(NetworkBuffer.class, segment,
                FreeingBufferRecycler.INSTANCE, dataType.equals("DATA_BUFFER"), bytes.length);
    }

    static byte[] bytes(Buffer buffer) {
        return bytes(buffer.getNioBufferReadable());
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    static byte[] bytes(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.getBytes(buffer.readerIndex(), bytes);
        return bytes;
    }

    static boolean canMerge() {
        return Reflect.exists(MERGED);
    }

    /** One buffer of several, as sort-merge partitions send them since 2.0. */
    static Buffer merge(List<Buffer> parts, boolean areCompressed) {
        int bytes = parts.stream().mapToInt(Buffer::getSize).sum();
        Object dataType = Reflect.call(parts.get(0), "getDataType");
        Object merged = Reflect.make(MERGED, dataType, bytes, areCompressed);
        parts.forEach(part -> Reflect.call(merged, "addPartialBuffer", part));
        return (Buffer) merged;
    }

    /** Flink 1.10 has the first codec, 1.16 three. */
    static boolean hasCodec(String codec) {
        return Reflect.exists(COMPRESSOR)
                && (codec.equals("LZ4") || Reflect.exists("org.apache.flink.runtime.io.compression"
                        + ".AirCompressorFactory"));
    }

    /** A compressed buffer; BYTES must be such that it becomes smaller. */
    static Buffer compress(byte[] bytes, String codec) {
        Object compressor = Reflect.make(COMPRESSOR, SEGMENT_BYTES, codec(codec));
        Buffer small = (Buffer) Reflect.call(compressor, "compressToIntermediateBuffer",
                of(bytes, "DATA_BUFFER"));
        if (!(Boolean) Reflect.call(small, "isCompressed")) {
            throw new IllegalArgumentException("data that " + codec + " does not make smaller");
        }
        return compressed(bytes(small));
    }

    /** The data of one or more compressed PARTS with these sizes. */
    static byte[] decompress(byte[] bytes, List<Integer> sizes, String codec) {
        Object decompressor = Reflect.make(DECOMPRESSOR, SEGMENT_BYTES, codec(codec));
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        int from = 0;
        for (int size : sizes) {
            Buffer part = compressed(Arrays.copyOfRange(bytes, from, from + size));
            Buffer large =
                    (Buffer) Reflect.call(decompressor, "decompressToIntermediateBuffer", part);
            data.writeBytes(bytes(large));
            large.recycleBuffer();
            from += size;
        }
        return data.toByteArray();
    }

    private static Buffer compressed(byte[] bytes) {
        Buffer buffer = of(bytes, "DATA_BUFFER");
        Reflect.call(buffer, "setCompressed", true);
        return buffer;
    }

    private static Object codec(String name) {
        return Reflect.canMake(Reflect.type(COMPRESSOR), SEGMENT_BYTES, name)
                ? name
                : Reflect.constant(CODEC, name);
    }
}
