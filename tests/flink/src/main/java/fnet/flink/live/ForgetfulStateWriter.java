/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.checkpoint.channel.ResultSubpartitionInfo;
import org.apache.flink.runtime.io.network.buffer.Buffer;

/** Gives the buffers that an unaligned barrier overtakes back to their pool, unsaved. */
final class ForgetfulStateWriter extends ChannelStateWriter.NoOpChannelStateWriter {
    @Override
    public void addOutputData(long checkpoint, ResultSubpartitionInfo info, int startSequence,
            Buffer... data) {
        for (Buffer buffer : data) {
            buffer.recycleBuffer();
        }
    }
}
