/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Ids;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.flink.runtime.io.network.api.writer.RecordWriter;
import org.apache.flink.runtime.io.network.api.writer.RecordWriterBuilder;
import org.apache.flink.runtime.io.network.api.writer.RoundRobinChannelSelector;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;

/**
 * Flink as a producer, for measuring: serves partitions 0 to N-1 with the same records of one
 * length, each from a thread of its own, as fast as they are taken. HOST:PORT goes to standard
 * output. Ends when all of them were acknowledged and taken.
 *
 * <p>input=FILE (whole records, all held in memory) times=N (how often a partition has them)
 * length=BYTES partitions=N subpartitions=N timeout=MS of the buffers; see Network for the others.
 */
public final class Send {
    private static final long PATIENCE_SECONDS = 60;

    private final byte[] block;
    private final int times;
    private final int length;

    private Send(byte[] block, int times, int length) {
        this.block = block;
        this.times = times;
        this.length = length;
    }

    public static void main(String[] args) {
        int status = 0;
        try {
            Options options = new Options(args);
            serve(new Network(options), options);
        } catch (Exception e) {
            Failure.print(e);
            status = 1;
        }
        // At once: the work of shutting down is not what is measured.
        Runtime.getRuntime().halt(status);
    }

    private static void serve(Network network, Options options) throws Exception {
        Send send = new Send(Files.readAllBytes(Path.of(options.take("input"))),
                options.take("times", 1), options.take("length", 1));
        int partitions = options.take("partitions", 1);
        int subpartitions = options.take("subpartitions", 1);
        int timeoutMs = options.take("timeout", 100);
        options.end();
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            ResultPartition partition = network.partition(Ids.partition(i, Ids.attempt(3, 1)),
                    ResultPartitionType.PIPELINED_BOUNDED, subpartitions);
            partition.setup();
            tasks.add(() -> send.write(partition, timeoutMs));
        }
        System.out.println("127.0.0.1:" + network.port());
        ExecutorService threads = Executors.newFixedThreadPool(partitions);
        for (Future<Void> task : threads.invokeAll(tasks)) {
            task.get();
        }
    }

    private Void write(ResultPartition partition, int timeoutMs) throws Exception {
        RecordWriter<FixedRecord> writer = new RecordWriterBuilder<FixedRecord>()
                .setChannelSelector(new RoundRobinChannelSelector<>())
                .setTimeout(timeoutMs)
                .setTaskName("fnet")
                .build(partition);
        FixedRecord record = new FixedRecord(block, length);
        for (int i = 0; i < times; i++) {
            writeBlock(writer, record);
        }
        Produce.finish(partition, writer, PATIENCE_SECONDS);
        return null;
    }

    /** Often called, so that it is compiled as a whole. */
    private void writeBlock(RecordWriter<FixedRecord> writer, FixedRecord record)
            throws Exception {
        for (int offset = 0; offset < block.length; offset += length) {
            record.setOffset(offset);
            writer.emit(record);
        }
    }
}
