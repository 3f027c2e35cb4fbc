/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * Where keyBy sends 100,000 random Strings. "write" writes their bytes to standard output, behind
 * their lengths, the u32 format of fnet's commands; "digests" what tests/golden/hash/random.tsv is.
 */
public final class Keys {
    private static final int COUNT = 100_000;
    private static final int[] PARALLELISMS = {1, 3, 4, 128};
    private static final int LARGEST = 32768;

    private Keys() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("write")) {
            write(System.out);
        } else {
            printDigests();
        }
    }

    /** The subtask of KEY. */
    public static int subtask(String key, int maxParallelism, int parallelism) {
        return KeyGroupRangeAssignment.assignKeyToParallelOperator(key, maxParallelism,
                parallelism);
    }

    private static void write(OutputStream to) throws IOException {
        RandomKeys keys = new RandomKeys();
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(to, 1 << 16));
        for (int i = 0; i < COUNT; i++) {
            byte[] key = keys.next();
            out.writeInt(key.length);
            out.write(key);
        }
        out.flush();
    }

    private static void printDigests() throws IOException, NoSuchAlgorithmException {
        DigestOutputStream written =
                new DigestOutputStream(OutputStream.nullOutputStream(), sha256());
        write(written);
        print("keys", COUNT, written.getMessageDigest().digest(), "-");
        int[] defaults = new int[LARGEST];
        Arrays.setAll(defaults,
                i -> KeyGroupRangeAssignment.computeDefaultMaxParallelism(i + 1));
        print("default", LARGEST, digest(defaults), "-");
        List<String> texts = texts();
        for (int parallelism : PARALLELISMS) {
            for (int maxParallelism : maxParallelisms(parallelism)) {
                printSubtasks(texts, parallelism, maxParallelism);
            }
        }
    }

    private static List<String> texts() {
        RandomKeys keys = new RandomKeys();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            keys.next();
            texts.add(keys.text());
        }
        return texts;
    }

    /** The default, the least there may be, and some others. */
    private static int[] maxParallelisms(int parallelism) {
        return new int[] {KeyGroupRangeAssignment.computeDefaultMaxParallelism(parallelism),
            parallelism, 200, 4096, 12345, LARGEST};
    }

    private static void printSubtasks(List<String> texts, int parallelism, int maxParallelism)
            throws NoSuchAlgorithmException {
        int[] subtasks = texts.stream()
                .mapToInt(text -> subtask(text, maxParallelism, parallelism))
                .toArray();
        int[] counts = new int[parallelism];
        for (int subtask : subtasks) {
            counts[subtask]++;
        }
        print(String.valueOf(parallelism), maxParallelism, digest(subtasks),
                Arrays.stream(counts).mapToObj(String::valueOf).collect(Collectors.joining(",")));
    }

    private static void print(String what, int number, byte[] digest, String counts) {
        System.out.printf("%s\t%d\t%s\t%s%n", what, number, HexFormat.of().formatHex(digest),
                counts);
    }

    /** Of the numbers, four bytes each, big-endian. */
    private static byte[] digest(int[] numbers) throws NoSuchAlgorithmException {
        ByteBuffer bytes = ByteBuffer.allocate(numbers.length * Integer.BYTES);
        Arrays.stream(numbers).forEach(bytes::putInt);
        return sha256().digest(bytes.array());
    }

    private static MessageDigest sha256() throws NoSuchAlgorithmException {
        return MessageDigest.getInstance("SHA-256");
    }
}
