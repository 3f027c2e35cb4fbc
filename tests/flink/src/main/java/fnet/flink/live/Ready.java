/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The file by which others get to know that something can be reached, and where. */
final class Ready {
    private Ready() {}

    /** The file appears as a whole. */
    static void announce(Path ready, String lines) throws IOException {
        Path draft = Path.of(ready + ".draft");
        Files.writeString(draft, lines, StandardCharsets.US_ASCII);
        Files.move(draft, ready, StandardCopyOption.ATOMIC_MOVE);
    }
}
