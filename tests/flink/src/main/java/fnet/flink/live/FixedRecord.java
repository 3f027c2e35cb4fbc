/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * A record of so many bytes as both sides know: one object for all records, and one array. Eight
 * bytes pass as a long, as in Flink's own benchmarks, which is the fastest.
 */
final class FixedRecord implements IOReadableWritable {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final byte[] bytes;
    private final int length;
    private int offset;

    /** To be filled. */
    FixedRecord(int length) {
        this(new byte[length], length);
    }

    /** One of those that lie in BYTES. */
    FixedRecord(byte[] bytes, int length) {
        this.bytes = bytes;
        this.length = length;
    }

    void setOffset(int newOffset) {
        offset = newOffset;
    }

    @Override
    public void write(DataOutputView out) throws IOException {
        if (length == Long.BYTES) {
            out.writeLong((long) LONGS.get(bytes, offset));
        } else {
            out.write(bytes, offset, length);
        }
    }

    @Override
    public void read(DataInputView in) throws IOException {
        if (length == Long.BYTES) {
            LONGS.set(bytes, offset, in.readLong());
        } else {
            in.readFully(bytes, offset, length);
        }
    }
}
