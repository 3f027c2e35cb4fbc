/* SPDX-License-Identifier: Apache-2.0 */
package org.apache.flink.runtime.io.network.netty;

import java.lang.reflect.Proxy;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.runtime.io.network.NetworkClientHandler;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.FreeingBufferRecycler;
import org.apache.flink.runtime.io.network.buffer.NetworkBuffer;
import org.apache.flink.runtime.io.network.partition.consumer.InputChannelID;

/** Buffers for Flink's client side decoder (1.11 on) without input channels that own them. */
class PlainBuffers extends NetworkBufferAllocator {
    private static final int SEGMENT_BYTES = 32768;

    PlainBuffers() {
        super(nobody());
    }

    /** The base class wants a handler; the one method that asks it is overridden. */
    private static NetworkClientHandler nobody() {
        return (NetworkClientHandler) Proxy.newProxyInstance(PlainBuffers.class.getClassLoader(),
                new Class<?>[] {NetworkClientHandler.class}, (proxy, method, arguments) -> null);
    }

    @Override
    Buffer allocatePooledNetworkBuffer(InputChannelID receiver) {
        return new NetworkBuffer(MemorySegmentFactory.allocateUnpooledSegment(SEGMENT_BYTES),
                FreeingBufferRecycler.INSTANCE);
    }
}
