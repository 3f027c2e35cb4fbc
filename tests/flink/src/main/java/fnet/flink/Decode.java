/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.flink.runtime.event.AbstractEvent;

/**
 * Reads a file of vectors with Flink's decoders and prints the names and what Flink understood.
 * Of the fields in the file it only takes what is not on the wire: "serde" and "codec".
 */
public final class Decode {
    private Decode() {}

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        for (Vector vector : Vector.read(Path.of(args[1]))) {
            out.println(vector.name() + "\t" + decode(args[0], vector));
        }
        out.flush();
    }

    private static Fields decode(String kind, Vector vector) {
        try {
            switch (kind) {
                case "messages":
                    return Messages.fields(Frames.decode(vector.bytes()), vector.bytes().length,
                            vector.fields().get("codec"));
                case "events":
                    AbstractEvent event = Events.decode(vector.bytes());
                    return Events.fields(event)
                            .addAll(Events.envelope(event, vector.bytes().length));
                case "elements":
                    String serde = vector.fields().get("serde");
                    String used = serde == null ? "string" : serde;
                    return Elements.fields(Elements.decode(vector.bytes(), used), used);
                default:
                    throw new IllegalArgumentException("unknown kind " + kind);
            }
        } catch (Exception e) {
            return Fields.of("refused", e);
        }
    }
}
