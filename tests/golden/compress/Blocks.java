/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints flink.txt, the blocks that Flink's own BufferCompressor makes of some originals:
 *
 *     javac -cp CLASSPATH Blocks.java
 *     java --add-opens=java.base/java.nio=ALL-UNNAMED -cp CLASSPATH:. Blocks > flink.txt
 *
 * With the argument `read` it is the other way: lines of the same form come on standard input, and
 * it is told which of them Flink's BufferDecompressor cannot read, or reads as something else.
 * See SOURCE.
 */
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferCompressor;
import org.apache.flink.runtime.io.network.buffer.BufferDecompressor;
import org.apache.flink.runtime.io.network.buffer.FreeingBufferRecycler;
import org.apache.flink.runtime.io.network.buffer.NetworkBuffer;

public final class Blocks {
    private static final String[] CODECS = {"LZ4", "ZSTD", "LZO"};

    /** A compressor or decompressor; the codec is a String before Flink 1.20, then an enum. */
    private static <T> T make(Class<T> type, int bytes, String codec) throws Exception {
        for (Constructor<?> c : type.getConstructors()) {
            Class<?> choice = c.getParameterTypes()[1];
            if (choice == String.class)
                return type.cast(c.newInstance(bytes, codec));
            for (Object constant : choice.getEnumConstants())
                if (constant.toString().equals(codec))
                    return type.cast(c.newInstance(bytes, constant));
        }
        throw new IllegalArgumentException(codec);
    }

    /** In memory outside of the heap, where network buffers are. */
    private static Buffer buffer(byte[] bytes, boolean isCompressed) {
        MemorySegment segment =
                MemorySegmentFactory.allocateUnpooledOffHeapMemory(bytes.length, null);
        segment.put(0, bytes);
        NetworkBuffer buffer = new NetworkBuffer(segment, FreeingBufferRecycler.INSTANCE);
        buffer.setSize(bytes.length);
        buffer.setCompressed(isCompressed);
        return buffer;
    }

    private static byte[] bytes(Buffer buffer) {
        byte[] bytes = new byte[buffer.getSize()];
        buffer.getNioBufferReadable().get(bytes);
        return bytes;
    }

    private static byte[] repeat(String text, int times) {
        return text.repeat(times).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] random(int bytes) {
        byte[] random = new byte[bytes];
        new Random(bytes).nextBytes(random);
        return random;
    }

    /** One record as long as the buffer: length 96, tag 1, int 91 and 91 times "a". */
    private static byte[] hundred() {
        return ByteBuffer.allocate(100).putInt(96).put((byte) 1).putInt(91).put(repeat("a", 91))
                .array();
    }

    private static byte[] lines() {
        StringBuilder text = new StringBuilder();
        for (long i = 0; text.length() < 4096; i++)
            text.append("record ").append(i).append(' ').append(i * 2654435761L % (1L << 32))
                    .append('\n');
        return Arrays.copyOf(text.toString().getBytes(StandardCharsets.UTF_8), 4096);
    }

    private static byte[] numbers() {
        ByteBuffer out = ByteBuffer.allocate(4096);
        for (int i = 0; i < 1024; i++)
            out.putInt(i * i * 7 % 65536);
        return out.array();
    }

    /** Records with a time stamp each and a String of three digits. */
    private static byte[] elements() {
        ByteBuffer out = ByteBuffer.allocate(241 * 17);
        for (int i = 0; i < 241; i++)
            out.putInt(13).put((byte) 0).putLong(1_700_000_000_000L + i * i).put((byte) 4)
                    .put(String.format("%03d", i).getBytes(StandardCharsets.UTF_8));
        return out.array();
    }

    /** The same bytes again, near and far. */
    private static byte[] far() {
        ByteBuffer out = ByteBuffer.allocate(60000);
        for (int at : new int[] {0, 300, 20000, 55000})
            out.position(at).put(random(200));
        return out.array();
    }

    /** Longer than a block inside a zstd frame may be. */
    private static byte[] large() {
        ByteBuffer out = ByteBuffer.allocate(200_000);
        for (int i = 0; i < 200; i++)
            out.put(random(996)).putInt(i);
        return out.array();
    }

    private static void write() throws Exception {
        Map<String, byte[]> originals = new LinkedHashMap<>();
        originals.put("one", repeat("x", 1));
        originals.put("twelve", repeat("a", 12));
        originals.put("fifty", repeat("ab", 25));
        originals.put("hundred", hundred());
        originals.put("random", random(256));
        originals.put("zeros", new byte[4096]);
        originals.put("lines", lines());
        originals.put("numbers", numbers());
        originals.put("elements", elements());
        originals.put("far", far());
        originals.put("large", large());

        for (String codec : CODECS)
            for (Map.Entry<String, byte[]> e : originals.entrySet()) {
                byte[] original = e.getValue();
                Buffer out = make(BufferCompressor.class, original.length, codec)
                        .compressToIntermediateBuffer(buffer(original, false));
                CRC32 crc = new CRC32();
                crc.update(original);
                System.out.printf("%s %s %d %08x %s%n", e.getKey(),
                        out.isCompressed() ? codec.toLowerCase() : "not-" + codec.toLowerCase(),
                        original.length, crc.getValue(), HexFormat.of().formatHex(bytes(out)));
            }
    }

    private static void read() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int good = 0;
        int all = 0;

        for (String line; (line = in.readLine()) != null; all++) {
            String[] word = line.split(" ");
            try {
                byte[] original = bytes(make(BufferDecompressor.class, Integer.parseInt(word[2]),
                        word[1].toUpperCase()).decompressToIntermediateBuffer(
                                buffer(HexFormat.of().parseHex(word[4]), true)));
                CRC32 crc = new CRC32();
                crc.update(original);
                if (original.length == Integer.parseInt(word[2])
                        && crc.getValue() == Long.parseLong(word[3], 16))
                    good++;
                else
                    System.out.println("differs: " + line);
            } catch (Exception e) {
                System.out.println(e + ": " + line);
            }
        }
        System.out.println(good + " of " + all);
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0)
            write();
        else
            read();
    }
}
