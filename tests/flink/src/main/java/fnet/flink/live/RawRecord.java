/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Reflect;
import java.io.IOException;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.core.memory.MemorySegment;

/** Bytes without any form, as fnet's commands send them. */
final class RawRecord implements IOReadableWritable {
    private byte[] bytes = new byte[0];

    byte[] bytes() {
        return bytes;
    }

    void set(byte[] newBytes) {
        bytes = newBytes;
    }

    @Override
    public void write(DataOutputView out) throws IOException {
        out.write(bytes);
    }

    @Override
    public void read(DataInputView in) throws IOException {
        bytes = new byte[length(in)];
        in.readFully(bytes);
    }

    /**
     * Flink's types know where they end and are not told the length of the record. One that lies in
     * one buffer has it in front, in the buffer; one that lay in several is all there is to read.
     */
    private static int length(DataInputView in) {
        if (in instanceof DataInputDeserializer) {
            return ((DataInputDeserializer) in).available();
        }
        MemorySegment segment = (MemorySegment) Reflect.get(in, "segment");
        return segment.getIntBigEndian((Integer) Reflect.get(in, "position") - Integer.BYTES);
    }
}
