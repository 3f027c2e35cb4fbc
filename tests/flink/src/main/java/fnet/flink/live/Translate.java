/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Standard input to output: "encode SERDE" makes of lines records behind their lengths, the u32
 * format of fnet's commands, and "decode SERDE" lines of these.
 */
public final class Translate {
    private Translate() {}

    public static void main(String[] args) throws IOException {
        RecordType type = RecordType.named(args[1]);
        try (DataOutputStream out =
                new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16))) {
            if (args[0].equals("encode")) {
                encode(type, out);
            } else {
                decode(type, out);
            }
        }
    }

    private static void encode(RecordType type, DataOutputStream out) throws IOException {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        DataOutputSerializer bytes = new DataOutputSerializer(128);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            bytes.clear();
            type.record(line.getBytes(StandardCharsets.UTF_8)).write(bytes);
            out.writeInt(bytes.length());
            out.write(bytes.getSharedBuffer(), 0, bytes.length());
        }
    }

    private static void decode(RecordType type, DataOutputStream out) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        IOReadableWritable target = type.target();
        while (in.available() > 0) {
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            target.read(new DataInputDeserializer(bytes));
            out.write(type.line(target));
            out.write('\n');
        }
    }
}
