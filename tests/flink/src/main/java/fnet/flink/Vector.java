/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** A line of a golden file: name, fields, bytes. */
record Vector(String name, Fields fields, byte[] bytes) {
    @Override
    public String toString() {
        return name + "\t" + fields + "\t" + HexFormat.of().formatHex(bytes);
    }

    /** NAME-42, but NAME-least, NAME-minus-1 and NAME-greatest. */
    static String numbered(String name, long number) {
        if (number == Long.MIN_VALUE || number == Integer.MIN_VALUE) {
            return name + "-least";
        }
        if (number == Long.MAX_VALUE || number == Integer.MAX_VALUE) {
            return name + "-greatest";
        }
        return name + (number < 0 ? "-minus-" : "-") + Math.abs(number);
    }

    static void write(Path file, List<Vector> vectors) throws IOException {
        StringBuilder text = new StringBuilder();
        vectors.forEach(vector -> text.append(vector).append('\n'));
        Files.writeString(file, text, StandardCharsets.US_ASCII);
    }

    static List<Vector> read(Path file) throws IOException {
        List<Vector> vectors = new ArrayList<>();
        for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
            String[] columns = line.split("\t", -1);
            vectors.add(new Vector(columns[0], Fields.parse(columns[1]),
                    HexFormat.of().parseHex(columns[2])));
        }
        return vectors;
    }
}
