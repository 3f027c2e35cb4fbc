/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints flink-2.2.txt: events as Flink's own encoder writes them for a pipelined subpartition, one
 * a line: name, data type, length, hex.
 *
 *     CP=flink-runtime-2.2.0.jar:flink-core-2.2.0.jar:flink-core-api-2.2.0.jar:slf4j-api-1.7.36.jar
 *     javac -cp $CP Events.java
 *     java -cp .:$CP:flink-shaded-netty-4.1.100.Final-20.0.jar Events
 */
import org.apache.flink.api.common.watermark.BoolWatermark;
import org.apache.flink.api.common.watermark.LongWatermark;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.io.network.api.CancelCheckpointMarker;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.EndOfData;
import org.apache.flink.runtime.io.network.api.EndOfPartitionEvent;
import org.apache.flink.runtime.io.network.api.EndOfSegmentEvent;
import org.apache.flink.runtime.io.network.api.EndOfSuperstepEvent;
import org.apache.flink.runtime.io.network.api.EventAnnouncement;
import org.apache.flink.runtime.io.network.api.RecoveryMetadata;
import org.apache.flink.runtime.io.network.api.StopMode;
import org.apache.flink.runtime.io.network.api.SubtaskConnectionDescriptor;
import org.apache.flink.runtime.io.network.api.serialization.EventSerializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferConsumer;
import org.apache.flink.runtime.io.network.partition.consumer.EndOfInputChannelStateEvent;
import org.apache.flink.runtime.io.network.partition.consumer.EndOfOutputChannelStateEvent;
import org.apache.flink.runtime.iterative.event.TerminationEvent;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;

public class Events {
    static final CheckpointStorageLocationReference HERE = CheckpointStorageLocationReference.getDefault();
    static final CheckpointStorageLocationReference FILE =
            new CheckpointStorageLocationReference(new byte[] {0x05, 0x5f, 0x3f, 0x18, '/', 's'});

    static void print(String name, AbstractEvent event, boolean isPriority) throws Exception {
        try (BufferConsumer consumer = EventSerializer.toBufferConsumer(event, isPriority)) {
            Buffer buffer = consumer.build();
            StringBuilder hex = new StringBuilder();
            for (int i = 0; i < buffer.readableBytes(); i++)
                hex.append(String.format("%02x", buffer.getMemorySegment().get(i)));
            System.out.println(name + " " + buffer.getDataType().ordinal() + " " + buffer.readableBytes() + " " + hex);
        }
    }

    static void print(String name, AbstractEvent event) throws Exception {
        print(name, event, false);
    }

    static CheckpointBarrier barrier(CheckpointOptions options) {
        return new CheckpointBarrier(42, 1700000000000L, options);
    }

    static void printBarriers() throws Exception {
        SnapshotType checkpoint = CheckpointType.CHECKPOINT;
        print("barrier-aligned", barrier(CheckpointOptions.alignedNoTimeout(checkpoint, HERE)));
        print("barrier-timeoutable", barrier(CheckpointOptions.alignedWithTimeout(checkpoint, HERE, 1500)));
        print("barrier-unaligned", barrier(CheckpointOptions.unaligned(checkpoint, HERE)), true);
        print("barrier-forced", barrier(CheckpointOptions.unaligned(checkpoint, HERE).withUnalignedUnsupported()));
        print("barrier-at-least-once", barrier(CheckpointOptions.notExactlyOnce(checkpoint, FILE)));
        print("barrier-full", barrier(CheckpointOptions.alignedNoTimeout(CheckpointType.FULL_CHECKPOINT, HERE)));
        print("savepoint-canonical", barrier(CheckpointOptions.alignedNoTimeout(
                SavepointType.savepoint(SavepointFormatType.CANONICAL), FILE)));
        print("savepoint-native", barrier(CheckpointOptions.alignedNoTimeout(
                SavepointType.savepoint(SavepointFormatType.NATIVE), HERE)));
        print("savepoint-suspend", barrier(CheckpointOptions.alignedNoTimeout(
                SavepointType.suspend(SavepointFormatType.NATIVE), FILE)));
        print("savepoint-terminate", barrier(CheckpointOptions.alignedNoTimeout(
                SavepointType.terminate(SavepointFormatType.CANONICAL), FILE)));
    }

    static WatermarkEvent longWatermark(int identifierLength, boolean isAligned) {
        return new WatermarkEvent(new LongWatermark(-1000, "w".repeat(identifierLength)), isAligned);
    }

    static void printWatermarks() throws Exception {
        print("watermark-bool-aligned", new WatermarkEvent(new BoolWatermark(true, "\u00fc\0"), true));
        print("watermark-bool", new WatermarkEvent(new BoolWatermark(false, "b"), false));
        print("watermark-109", longWatermark(109, true)); /* fills the array exactly */
        print("watermark-110", longWatermark(110, false)); /* the value makes it grow */
        print("watermark-300", longWatermark(300, false)); /* the identifier makes it grow, further than to double */
        print("watermark-415", longWatermark(415, false));
        print("watermark-1000", longWatermark(1000, false));
    }

    public static void main(String[] args) throws Exception {
        print("end-of-partition", EndOfPartitionEvent.INSTANCE);
        printBarriers();
        print("end-of-superstep", EndOfSuperstepEvent.INSTANCE);
        print("other", TerminationEvent.INSTANCE);
        print("cancel-checkpoint", new CancelCheckpointMarker(42));
        print("end-of-output-channel-state", EndOfOutputChannelStateEvent.INSTANCE);
        print("announcement", new EventAnnouncement(
                barrier(CheckpointOptions.alignedWithTimeout(CheckpointType.CHECKPOINT, HERE, 1500)), 9), true);
        print("subtask-connection", new SubtaskConnectionDescriptor(1, 2));
        print("end-of-data-drain", new EndOfData(StopMode.DRAIN));
        print("end-of-data-no-drain", new EndOfData(StopMode.NO_DRAIN));
        print("end-of-segment", EndOfSegmentEvent.INSTANCE);
        print("recovery-metadata", new RecoveryMetadata(6));
        printWatermarks();
        print("end-of-input-channel-state", EndOfInputChannelStateEvent.INSTANCE);
    }
}
