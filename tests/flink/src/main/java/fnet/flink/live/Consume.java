/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Ids;
import fnet.flink.Keys;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.flink.core.io.IOReadableWritable;
import org.apache.flink.runtime.checkpoint.channel.ChannelStateWriter;
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.event.AbstractEvent;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.io.network.api.EndOfData;
import org.apache.flink.runtime.io.network.api.serialization.RecordDeserializer;
import org.apache.flink.runtime.io.network.api.serialization.RecordDeserializer.DeserializationResult;
import org.apache.flink.runtime.io.network.api.serialization.SpillingAdaptiveSpanningRecordDeserializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.PartitionProducerStateProvider;
import org.apache.flink.runtime.io.network.partition.PartitionProducerStateProvider.ResponseHandle;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.consumer.BufferOrEvent;
import org.apache.flink.runtime.io.network.partition.consumer.IndexedInputGate;
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.io.network.partition.consumer.UnionInputGate;
import org.apache.flink.types.Either;

/**
 * Reads partitions of a producer by Flink's input gates and writes their records, a line each, to
 * standard output or a file; at the end a line "records=N bytes=N EVENT=N..." to standard error.
 * What makes it fail is there too, cause by cause, and the exit status is 1.
 *
 * <p>address=HOST:PORT partitions=ID,ID... subpartitions=FIRST-LAST (a gate each)
 * serde=raw|string|long|int|bytes output=FILE exclusive=N floating=N tag=true (partition,
 * subpartition and a tab in front of each line) cancel-after=RECORDS cancel-gate=true (only the
 * first of the gates, read alone until then) hold=true (leave only when standard input ends)
 * dawdle=MS (after each acknowledgement) parallelism=N max-parallelism=N (fail if keyBy of a line
 * would have chosen another subpartition) type=PIPELINED_BOUNDED|BLOCKING (which alone reads
 * compressed buffers, with compression=true codec=LZ4); see Network for the others.
 */
public final class Consume {
    private final Map<InputChannelInfo, RecordDeserializer<IOReadableWritable>> deserializers =
            new HashMap<>();
    private final Map<String, Integer> events = new TreeMap<>();
    private final AtomicInteger stateChecks = new AtomicInteger();
    private final RecordType type;
    private final OutputStream out;
    private final boolean isTagged;
    private int first;
    private int dawdleMs;
    private int parallelism;
    private int maxParallelism;
    private long records;
    private long bytes;

    private Consume(RecordType type, OutputStream out, boolean isTagged) {
        this.type = type;
        this.out = out;
        this.isTagged = isTagged;
    }

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        String output = options.take("output", "");
        int status;
        try (OutputStream out = new BufferedOutputStream(
                output.isEmpty() ? System.out : new FileOutputStream(output), 1 << 16)) {
            status = run(options, out);
        }
        System.exit(status);
    }

    private static int run(Options options, OutputStream out) throws Exception {
        Consume consume = new Consume(RecordType.named(options.take("serde", "raw")), out,
                options.takeFlag("tag"));
        boolean isHolding = options.takeFlag("hold");
        try (Network network = new Network(options)) {
            return consume.consume(network, options, isHolding);
        }
    }

    private int consume(Network network, Options options, boolean isHolding) throws Exception {
        List<SingleInputGate> gates = gates(network, options);
        int limit = options.take("cancel-after", Integer.MAX_VALUE);
        dawdleMs = options.take("dawdle", 0);
        parallelism = options.take("parallelism", 0);
        maxParallelism = options.take("max-parallelism", 0);
        boolean isOneCancelled = options.takeFlag("cancel-gate");
        options.end();
        int status = 0;
        try {
            request(gates);
            if (isOneCancelled) {
                read(gates.get(0), limit);
                gates.get(0).close();
                read(union(gates.subList(1, gates.size())), Integer.MAX_VALUE);
            } else {
                read(union(gates), limit);
            }
        } catch (Exception e) {
            Failure.print(e);
            status = 1;
        }
        for (SingleInputGate gate : gates) {
            gate.close();
        }
        out.flush();
        System.err.println(summary());
        while (isHolding && System.in.read() >= 0) {
            continue;
        }
        return status;
    }

    static InputGate union(List<SingleInputGate> gates) {
        return gates.size() == 1
                ? gates.get(0)
                : new UnionInputGate(gates.toArray(new IndexedInputGate[0]));
    }

    private String summary() {
        StringBuilder line = new StringBuilder("records=" + records + " bytes=" + bytes);
        events.forEach((name, count) -> line.append(' ').append(name).append('=').append(count));
        if (stateChecks.get() > 0) {
            line.append(" state-checks=").append(stateChecks);
        }
        return line.toString();
    }

    private List<SingleInputGate> gates(Network network, Options options) throws IOException {
        String[] address = options.take("address").split(":");
        InetSocketAddress producer =
                new InetSocketAddress(address[0], Integer.parseInt(address[1]));
        List<ResultPartitionID> partitions =
                Arrays.stream(options.take("partitions").split(",")).map(Ids::parse).toList();
        ResultPartitionType partitionType =
                ResultPartitionType.valueOf(options.take("type", "PIPELINED_BOUNDED"));
        String[] subpartitions = options.take("subpartitions", "0-0").split("-");
        first = Integer.parseInt(subpartitions[0]);
        return network.gates(producer, partitions, partitionType, first,
                Integer.parseInt(subpartitions[1]), this::answer);
    }

    /** What the JobManager would say of a partition that is not found: it is coming. */
    private void answer(Object dataSet, ResultPartitionID partition,
            Consumer<? super ResponseHandle> whoAsks) {
        stateChecks.incrementAndGet();
        whoAsks.accept(new ResponseHandle() {
            @Override
            public ExecutionState getConsumerExecutionState() {
                return ExecutionState.RUNNING;
            }

            @Override
            public Either<ExecutionState, Throwable> getProducerExecutionState() {
                return Either.Left(ExecutionState.RUNNING);
            }

            @Override
            public void cancelConsumption() {
                failConsumption(new IOException("consumption was cancelled"));
            }

            @Override
            public void failConsumption(Throwable cause) {
                Failure.print(cause);
            }
        });
    }

    /** As a task does that has no state to recover: its channels become remote ones. */
    static void request(List<SingleInputGate> gates) throws Exception {
        for (SingleInputGate gate : gates) {
            gate.setChannelStateWriter(ChannelStateWriter.NO_OP);
            gate.setup();
            gate.finishReadRecoveredState();
            while (!gate.getStateConsumedFuture().isDone()) {
                gate.pollNext();
            }
            gate.requestPartitions();
        }
    }

    private void read(InputGate gate, int limit) throws Exception {
        while (!gate.isFinished() && records < limit) {
            Optional<BufferOrEvent> next = gate.getNext();
            if (!next.isPresent()) {
                continue;
            }
            InputChannelInfo channel = next.get().getChannelInfo();
            if (next.get().isBuffer()) {
                write(channel, next.get().getBuffer());
            } else {
                react(gate, channel, next.get().getEvent());
            }
        }
    }

    private void write(InputChannelInfo channel, Buffer buffer) throws IOException {
        RecordDeserializer<IOReadableWritable> deserializer = deserializers.computeIfAbsent(channel,
                c -> new SpillingAdaptiveSpanningRecordDeserializer<>(
                        new String[] {System.getProperty("java.io.tmpdir")}));
        bytes += buffer.getSize();
        deserializer.setNextBuffer(buffer);
        DeserializationResult result;
        do {
            result = deserializer.getNextRecord(type.target());
            if (result.isFullRecord()) {
                write(channel, type.line(type.target()));
            }
        } while (!result.isBufferConsumed());
    }

    private void write(InputChannelInfo channel, byte[] line) throws IOException {
        int subpartition = first + channel.getGateIdx();
        if (parallelism > 0) {
            checkKey(new String(line, StandardCharsets.UTF_8), subpartition);
        }
        if (isTagged) {
            String tag = channel.getInputChannelIdx() + ":" + subpartition + "\t";
            out.write(tag.getBytes(StandardCharsets.US_ASCII));
        }
        out.write(line);
        out.write('\n');
        records++;
    }

    private void checkKey(String key, int subpartition) throws IOException {
        int subtask = Keys.subtask(key, maxParallelism, parallelism);
        if (subtask != subpartition) {
            throw new IOException("keyBy chooses " + subtask + " and not " + subpartition + " for "
                    + key);
        }
    }

    /** As the gate of a task does that aligns nothing: it goes on after every barrier. */
    private void react(InputGate gate, InputChannelInfo channel, AbstractEvent event)
            throws Exception {
        events.merge(event.getClass().getSimpleName(), 1, Integer::sum);
        if (event instanceof EndOfData) {
            gate.acknowledgeAllRecordsProcessed(channel);
            Thread.sleep(dawdleMs);
        } else if (event instanceof CheckpointBarrier barrier
                && barrier.getCheckpointOptions().isExactlyOnceMode()
                && !barrier.getCheckpointOptions().isUnalignedCheckpoint()) {
            gate.resumeConsumption(channel);
        }
    }
}
