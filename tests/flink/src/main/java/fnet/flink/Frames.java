/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import org.apache.flink.shaded.netty4.io.netty.buffer.ByteBuf;
import org.apache.flink.shaded.netty4.io.netty.buffer.Unpooled;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelHandler;
import org.apache.flink.shaded.netty4.io.netty.channel.embedded.EmbeddedChannel;

/** Messages into frames and back, by the handlers that Flink puts into its connections. */
final class Frames {
    static final String NETTY = "org.apache.flink.runtime.io.network.netty.";

    private static final String ENCODER = NETTY + "NettyMessage$NettyMessageEncoder";
    private static final String SERVER_DECODER = NETTY + "NettyMessage$NettyMessageDecoder";
    private static final String CLIENT_DECODER = NETTY + "NettyMessageClientDecoderDelegate";
    private static final int ID_OFFSET = 8;

    private Frames() {}

    static byte[] encode(Object message) {
        EmbeddedChannel channel = new EmbeddedChannel((ChannelHandler) Reflect.make(ENCODER));
        ByteArrayOutputStream frame = new ByteArrayOutputStream();

        channel.writeOutbound(message);
        for (Object part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            frame.writeBytes(Buffers.bytes((ByteBuf) part));
        }
        channel.finish();
        return frame.toByteArray();
    }

    /**
     * The message in FRAME, as the side that receives its kind decodes it. That a BufferResponse is
     * as long as it says Flink does not look at.
     */
    static Object decode(byte[] frame) {
        int length = ByteBuffer.wrap(frame).getInt();
        if (length != frame.length) {
            throw new IllegalArgumentException(frame.length + " bytes, not " + length);
        }
        EmbeddedChannel channel =
                new EmbeddedChannel(isForClient(frame[ID_OFFSET]) ? client() : server());

        channel.writeInbound(Unpooled.wrappedBuffer(frame));
        Object message = channel.readInbound();
        if (message == null) {
            throw new IllegalArgumentException("not a whole frame");
        }
        return message;
    }

    /** BufferResponse, ErrorResponse and BacklogAnnouncement come from the server. */
    private static boolean isForClient(byte id) {
        return id == 0 || id == 1 || id == 9;
    }

    /** 1.5 cuts frames before it decodes them; until 1.8 there was a switch for older ways. */
    private static ChannelHandler[] server() {
        Class<?> encoder = Reflect.type(ENCODER);
        Class<?> decoder = Reflect.type(SERVER_DECODER);
        if (Reflect.canCall(encoder, "createFrameLengthDecoder")) {
            return new ChannelHandler[] {
                (ChannelHandler) Reflect.callStatic(encoder, "createFrameLengthDecoder"),
                (ChannelHandler) Reflect.make(decoder),
            };
        }
        return new ChannelHandler[] {
            (ChannelHandler) (Reflect.canMake(decoder)
                    ? Reflect.make(decoder)
                    : Reflect.make(decoder, false)),
        };
    }

    /** Until 1.10 both sides use the same decoder. */
    private static ChannelHandler[] client() {
        if (!Reflect.exists(CLIENT_DECODER)) {
            return server();
        }
        Object buffers = Reflect.make(NETTY + "PlainBuffers");
        Object decoder = Reflect.make(CLIENT_DECODER, Reflect.get(buffers, "networkClientHandler"));
        Reflect.set(decoder, "bufferResponseDecoder",
                Reflect.make(NETTY + "BufferResponseDecoder", buffers));
        return new ChannelHandler[] {(ChannelHandler) decoder};
    }
}
