/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.nio.file.Files;
import java.nio.file.Path;

/** Writes what Flink writes: messages.tsv, events.tsv and elements.tsv into a folder. */
public final class Golden {
    private Golden() {}

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        EventVectors events = new EventVectors();

        Files.createDirectories(folder);
        Vector.write(folder.resolve("events.tsv"), events.vectors());
        Vector.write(folder.resolve("messages.tsv"), new MessageVectors(events).vectors());
        Vector.write(folder.resolve("elements.tsv"), new ElementVectors().vectors());
    }
}
