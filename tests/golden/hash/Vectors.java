/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints vectors.tsv: where records land under the selector "hash". See SOURCE.
 *
 *     java Vectors.java > vectors.tsv
 */
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

public final class Vectors {
    private static final int MAX_PARALLELISM = 128;
    private static final int PARALLELISM = 4;

    /** Flink's mixing of a hash, as the wire format notes write it down. */
    static int murmur(int h) {
        int k = Integer.rotateLeft(h * 0xcc9e2d51, 15) * 0x1b873593;
        k = Integer.rotateLeft(k, 13) * 5 + 0xe6546b64;
        k ^= 4;
        k = (k ^ k >>> 16) * 0x85ebca6b;
        k = (k ^ k >>> 13) * 0xc2b2ae35;
        k ^= k >>> 16;
        return k == Integer.MIN_VALUE ? 0 : Math.abs(k);
    }

    /** The String in ASCII, everything else as \\uXXXX. */
    static String shown(String s) {
        StringBuilder out = new StringBuilder();
        for (char c : s.toCharArray()) {
            if (c > ' ' && c < 0x7f && c != '\\') {
                out.append(c);
            } else {
                out.append(String.format("\\u%04x", (int) c));
            }
        }
        return out.toString();
    }

    static void print(PrintStream out, byte[] key) {
        String s = new String(key, StandardCharsets.UTF_8);
        int hash = s.hashCode();
        int mixed = murmur(hash);
        int group = mixed % MAX_PARALLELISM;
        int subtask = group * PARALLELISM / MAX_PARALLELISM;
        out.printf("%s\t%d\t%d\t%d\t%d\t%s%n", HexFormat.of().formatHex(key), hash, mixed, group,
                subtask, shown(s));
    }

    static void addText(List<byte[]> keys) {
        String[] texts = {
            "", "a", "b", "ab", "hello", "world", "Hello, world", "0", "1", "42", "-1", "key-1",
            "user:1000", "Aa", "BB", "AaAa", "BBBB", "polygenelubricants", "\0", "a\0b", "\t",
            " ", "\u007f", "\u0080", "\u00e9", "caf\u00e9", "na\u00efve", "\u00df", "\u00ff",
            "\u0100", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufeff", "\ufffd", "\uffff",
            "\u0416\u0443\u043a", "\u65e5\u672c\u8a9e", "\u65e5\u672c\u8a9e text",
            "\u043f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440", "\ud55c\uad6d\uc5b4",
            "\u05e9\u05dc\u05d5\u05dd", "e\u0301", "\ud800\udc00", "\ud83d\ude00",
            "\udbff\udfff", "a\ud83d\ude00b", "\ud83d\udc69\u200d\ud83d\udcbb",
            "twelve bytes \u00e9", "sixteen bytes xx\u00e9yy", "\u00e9sixteen bytes yy zz",
        };
        for (String text : texts) {
            keys.add(text.getBytes(StandardCharsets.UTF_8));
        }
        StringBuilder growing = new StringBuilder();
        for (int i = 0; i < 66; i++) {
            growing.append((char) ('!' + i * 5 % 90));
            keys.add(growing.toString().getBytes(StandardCharsets.UTF_8));
        }
        for (int i = 1; i <= 1000000; i *= 7) {
            keys.add(Integer.toString(i).getBytes(StandardCharsets.UTF_8));
        }
    }

    static void addMalformed(List<byte[]> keys) {
        String[] parts = {
            "80", "bf", "ff", "c0", "c080", "c1bf", "c2", "c241", "c2c2a9", "df", "e0", "e080",
            "e08080", "e09fbf", "e0a0", "e0a041", "e28241", "e282", "e282ac", "e2e282ac", "eda080",
            "edbfbf", "eda0", "eda041", "eda080edb080", "ee8080", "efbfbf", "f0", "f080",
            "f0808080", "f08fbfbf", "f090", "f09080", "f0908041", "f09041", "f0908080", "f09f98",
            "f09f9841", "f09f98f09f9880", "f48fbfbf", "f4908080", "f490", "f4", "f5808080",
            "f7bfbfbf", "f888808080", "fc", "fe", "feff", "41c3", "c3a9c3", "80808080",
        };
        HexFormat hex = HexFormat.of();
        for (String part : parts) {
            keys.add(hex.parseHex(part));
        }
        for (String part : new String[] {"ff", "e282", "eda080", "f09f98"}) {
            keys.add(hex.parseHex(hex.formatHex("sixteen bytes xx".getBytes()) + part + "7a7a"));
        }
        Random random = new Random(6121);
        for (int i = 0; i < 24; i++) {
            ByteArrayOutputStream key = new ByteArrayOutputStream();
            while (key.size() < 12 + i) {
                byte[] part = hex.parseHex(parts[random.nextInt(parts.length)]);
                key.write(part, 0, 1 + random.nextInt(part.length));
                if (random.nextInt(3) == 0) {
                    key.write('a' + random.nextInt(26));
                }
            }
            keys.add(key.toByteArray());
        }
    }

    public static void main(String[] args) {
        List<byte[]> keys = new ArrayList<>();
        addText(keys);
        addMalformed(keys);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
        out.println("# key (hex of its bytes), hashCode, murmur, key group of 128, subtask of 4, "
                + "the String");
        for (byte[] key : keys) {
            print(out, key);
        }
    }
}
