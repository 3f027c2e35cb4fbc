/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Random keys of 0 to 255 characters: the bytes of each, and the String that Java reads from them.
 * tests/golden/hash/SOURCE says how they are made, tests/unit/stream/test_random_keys.c makes the
 * same.
 */
final class RandomKeys {
    private static final char REPLACEMENT = '\ufffd';

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final StringBuilder text = new StringBuilder();
    private long state = 4;
    private boolean isTextKnown;

    /** The bytes of the next key. */
    byte[] next() {
        bytes.reset();
        text.setLength(0);
        isTextKnown = true;
        int left = below(8 << below(6));
        int kinds = 1 + below(6);
        while (left > 0) {
            int kind = below(kinds);
            int run = Math.min(left, 1 + below(24));
            left -= run;
            for (; run > 0; run--) {
                if (kind == 5) {
                    addMalformed();
                } else {
                    addCharacter(kind);
                }
            }
        }
        return bytes.toByteArray();
    }

    /** The String that the last key is; compared with its characters, if they are known. */
    String text() {
        String decoded = new String(bytes.toByteArray(), StandardCharsets.UTF_8);
        if (isTextKnown && !decoded.contentEquals(text)) {
            throw new IllegalStateException("decoded otherwise than made: " + text);
        }
        return decoded;
    }

    /** SplitMix64; the remainder of the upper 31 bits. */
    private int below(int bound) {
        state += 0x9e3779b97f4a7c15L;
        long z = state;
        z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return (int) ((z ^ z >>> 31) >>> 33) % bound;
    }

    private void addCharacter(int kind) {
        int code = character(kind);
        text.appendCodePoint(code);
        addBytes(encoded(code), 0);
    }

    private int character(int kind) {
        switch (kind) {
            case 0:
                return 0x20 + below(0x5f);
            case 1:
                int control = below(0x21);
                return control < 0x20 ? control : 0x7f;
            case 2:
                return 0x80 + below(0x80);
            case 3:
                int code = 0x100 + below(0xf700);
                return code < 0xd800 ? code : code + 0x800;
            default:
                return 0x10000 + below(0x100000);
        }
    }

    private void addMalformed() {
        switch (below(3)) {
            case 0:
                text.append(REPLACEMENT);
                addBytes(encoded(0xd800 + below(0x800)), 0);
                break;
            case 1:
                isTextKnown = false;
                addBytes(encoded(character(2 + below(3))), 1);
                break;
            default:
                isTextKnown = false;
                bytes.write(0x80 + below(0x80));
                break;
        }
    }

    /** All but the last CUT of them. */
    private void addBytes(byte[] encoded, int cut) {
        bytes.write(encoded, 0, encoded.length - cut);
    }

    /** As UTF-8 has it, and surrogates in the same way, which Java's encoder would not do. */
    private static byte[] encoded(int code) {
        if (!Character.isSurrogate((char) code) || code > 0xffff) {
            return Character.toString(code).getBytes(StandardCharsets.UTF_8);
        }
        return new byte[] {(byte) (0xe0 | code >> 12), (byte) (0x80 | code >> 6 & 0x3f),
            (byte) (0x80 | code & 0x3f)};
    }
}
