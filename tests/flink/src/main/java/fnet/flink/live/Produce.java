/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Barrier;
import fnet.flink.Ids;
import fnet.flink.Reflect;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.writer.ChannelSelector;
import org.apache.flink.runtime.io.network.api.writer.RecordWriter;
import org.apache.flink.runtime.io.network.api.writer.RecordWriterBuilder;
import org.apache.flink.runtime.io.network.api.writer.RoundRobinChannelSelector;
import org.apache.flink.runtime.io.network.partition.ChannelStateHolder;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * Serves the lines of a file as records of a partition by Flink's partitions and server; the file
 * that ready= names gets HOST:PORT/ID. A line "fail" on standard input makes the partition fail.
 * Ends when all of it was acknowledged and taken; what goes wrong is on standard error, cause by
 * cause, and the exit status is 1.
 *
 * <p>input=FILE ready=FILE subpartitions=N serde=raw|string|long|int|bytes
 * select=rebalance|broadcast|hash (the line is the key) timeout=MS of the buffers (-1 for none)
 * watermarks=N (one after N records, with their number) barriers=N (one after N records)
 * barrier=ALIGNED|UNALIGNED|AT_LEAST_ONCE barrier-timeout=MS hold=true (the end only when standard
 * input ends, as always if type=BLOCKING) patience=SECONDS (for acknowledgements and the release)
 * number=N (of the partition) type=PIPELINED_BOUNDED|PIPELINED|BLOCKING; see Network for the others.
 */
public final class Produce {
    private static final long POLLS_PER_SECOND = 100;

    private final ResultPartition partition;
    private final RecordType type;
    private final RecordWriter<IOReadableWritable> writer;
    private final boolean isBroadcast;
    private final int watermarkInterval;
    private final int barrierInterval;
    private final String alignment;
    private final long alignmentTimeoutMs;
    private final long patienceSeconds;
    private String line;
    private int records;

    private Produce(ResultPartition partition, Options options) {
        this.partition = partition;
        type = RecordType.named(options.take("serde", "raw"));
        String selection = options.take("select", "rebalance");
        isBroadcast = selection.equals("broadcast");
        watermarkInterval = options.take("watermarks", Integer.MAX_VALUE);
        barrierInterval = options.take("barriers", Integer.MAX_VALUE);
        alignment = options.take("barrier", "ALIGNED");
        int timeoutMs = options.take("barrier-timeout", 0);
        alignmentTimeoutMs = timeoutMs == 0 ? Barrier.NO_TIMEOUT : timeoutMs;
        patienceSeconds = options.take("patience", 60);
        writer = new RecordWriterBuilder<IOReadableWritable>()
                .setChannelSelector(selection.equals("hash")
                        ? new KeySelector()
                        : new RoundRobinChannelSelector<>())
                .setTimeout(options.take("timeout", isBlocking() ? -1 : 100))
                .setTaskName("fnet")
                .build(partition);
    }

    /** Then nobody may flush while something is written. */
    private boolean isBlocking() {
        return partition.getPartitionType() == ResultPartitionType.BLOCKING;
    }

    /** Where keyBy sends the line. */
    private final class KeySelector implements ChannelSelector<IOReadableWritable> {
        private int channels;

        @Override
        public void setup(int numberOfChannels) {
            channels = numberOfChannels;
        }

        @Override
        public int selectChannel(IOReadableWritable record) {
            return KeyGroupRangeAssignment.assignKeyToParallelOperator(line,
                    KeyGroupRangeAssignment.computeDefaultMaxParallelism(channels), channels);
        }

        @Override
        public boolean isBroadcast() {
            return false;
        }
    }

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int status = 0;
        try (BufferedReader in = Files.newBufferedReader(Path.of(options.take("input")));
                Network network = new Network(options)) {
            produce(network, options, in);
        } catch (Exception e) {
            Failure.print(e);
            status = 1;
        }
        System.exit(status);
    }

    private static void produce(Network network, Options options, BufferedReader in)
            throws Exception {
        ResultPartitionType type =
                ResultPartitionType.valueOf(options.take("type", "PIPELINED_BOUNDED"));
        ResultPartition partition = network.partition(
                Ids.partition(options.take("number", 0), Ids.attempt(3, 1)), type,
                options.take("subpartitions", 1));
        Path ready = Path.of(options.take("ready"));
        boolean isHolding = options.takeFlag("hold");
        partition.setup();
        if (partition instanceof ChannelStateHolder holder) {
            holder.setChannelStateWriter(new ForgetfulStateWriter());
        }
        Produce produce = new Produce(partition, options);
        options.end();
        String endpoint = "127.0.0.1:" + network.port() + "/" + partition.getPartitionId();
        Thread orders = new Thread(produce::obey);
        orders.setDaemon(true);
        if (produce.isBlocking()) {
            produce.write(in);
            notifyEndOfData(partition);
            partition.finish();
            Ready.announce(ready, endpoint + "\n");
            orders.start();
            orders.join();
        } else {
            Ready.announce(ready, endpoint + "\n");
            orders.start();
            try {
                produce.write(in);
            } finally {
                if (isHolding) {
                    orders.join();
                }
            }
            finish(partition, produce.writer, produce.patienceSeconds);
        }
    }

    /** Reads standard input to its end. */
    private void obey() {
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        in.lines().filter("fail"::equals).forEach(order -> {
            partition.fail(new IllegalStateException("no luck",
                    new IOException("broken on purpose")));
            System.err.println("failed");
        });
    }

    private void write(BufferedReader in) throws Exception {
        for (line = in.readLine(); line != null; line = in.readLine()) {
            IOReadableWritable record = type.record(line.getBytes(StandardCharsets.UTF_8));
            if (isBroadcast) {
                writer.broadcastEmit(record);
            } else {
                writer.emit(record);
            }
            records++;
            if (records % watermarkInterval == 0) {
                writer.broadcastEmit(type.watermark(records));
            }
            if (records % barrierInterval == 0) {
                CheckpointBarrier barrier = new Barrier(records / barrierInterval, records,
                        "CHECKPOINT", null, alignment, alignmentTimeoutMs).make();
                writer.broadcastEvent(barrier, alignment.equals("UNALIGNED"));
            }
        }
    }

    /** As a task ends whose input did: consumers have to say that they are ready for the end. */
    static void finish(ResultPartition partition, RecordWriter<?> writer, long patienceSeconds)
            throws Exception {
        if (partition.isReleased()) {
            return;
        }
        notifyEndOfData(partition);
        partition.getAllDataProcessedFuture().get(patienceSeconds, TimeUnit.SECONDS);
        System.err.println("acknowledged");
        partition.finish();
        writer.close();
        partition.close();
        awaitRelease(partition, patienceSeconds);
    }

    /** Which comes when the partition is closed and all consumers are done with it. */
    private static void awaitRelease(ResultPartition partition, long patienceSeconds)
            throws Exception {
        for (long waited = 0; !partition.isReleased(); waited++) {
            if (waited == patienceSeconds * POLLS_PER_SECOND) {
                throw new TimeoutException("partition is not released");
            }
            Thread.sleep(1000 / POLLS_PER_SECOND);
        }
        System.err.println("released");
    }

    /** 1.14 does not say how it ends. */
    private static void notifyEndOfData(ResultPartition partition) {
        if (Reflect.canCall(partition.getClass(), "notifyEndOfData")) {
            Reflect.call(partition, "notifyEndOfData");
        } else {
            Reflect.call(partition, "notifyEndOfData",
                    Reflect.constant("org.apache.flink.runtime.io.network.api.StopMode", "DRAIN"));
        }
    }
}
