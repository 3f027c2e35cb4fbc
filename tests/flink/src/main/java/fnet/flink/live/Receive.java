/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Ids;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.runtime.checkpoint.channel.InputChannelInfo;
import org.apache.flink.runtime.io.network.api.EndOfData;
import org.apache.flink.runtime.io.network.api.serialization.RecordDeserializer;
import org.apache.flink.runtime.io.network.api.serialization.RecordDeserializer.DeserializationResult;
import org.apache.flink.runtime.io.network.api.serialization.SpillingAdaptiveSpanningRecordDeserializer;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.consumer.BufferOrEvent;
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;

/**
 * Flink as a consumer, for measuring: reads the partitions that Send serves, or others of the same
 * ids, one after the other, each when there is a line on standard input, and drops what it read. The
 * producer's address goes to standard output when this is ready for the first, and the number of
 * records after each.
 *
 * <p>address=HOST:PORT partitions=N subpartitions=N (of each, with a gate each) length=BYTES of all
 * records; see Network for the others.
 */
public final class Receive {
    private final Map<InputChannelInfo, RecordDeserializer<FixedRecord>> deserializers =
            new HashMap<>();
    private final FixedRecord record;
    private long records;

    private Receive(int length) {
        record = new FixedRecord(length);
    }

    public static void main(String[] args) {
        int status = 0;
        try {
            Options options = new Options(args);
            receive(new Network(options), options);
        } catch (Exception e) {
            Failure.print(e);
            status = 1;
        }
        // At once: the work of shutting down is not what is measured.
        Runtime.getRuntime().halt(status);
    }

    private static void receive(Network network, Options options) throws Exception {
        String address = options.take("address");
        int colon = address.lastIndexOf(':');
        InetSocketAddress producer = new InetSocketAddress(address.substring(0, colon),
                Integer.parseInt(address.substring(colon + 1)));
        int partitions = options.take("partitions", 1);
        int subpartitions = options.take("subpartitions", 1);
        int length = options.take("length", 1);
        options.end();
        BufferedReader orders =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        System.out.println(address);
        for (int i = 0; i < partitions; i++) {
            List<SingleInputGate> gates = network.gates(producer,
                    List.of(Ids.partition(i, Ids.attempt(3, 1))),
                    ResultPartitionType.PIPELINED_BOUNDED, 0, subpartitions - 1,
                    (dataSet, id, whoAsks) -> {
                        throw new IllegalStateException(id + " is not there");
                    });
            if (orders.readLine() == null) {
                throw new IOException("told to end before partition " + i);
            }
            System.out.println(new Receive(length).read(gates));
        }
    }

    /** How many records there were. */
    private long read(List<SingleInputGate> gates) throws Exception {
        Consume.request(gates);
        InputGate gate = Consume.union(gates);
        while (!gate.isFinished()) {
            Optional<BufferOrEvent> next = gate.getNext();
            if (!next.isPresent()) {
                continue;
            }
            InputChannelInfo channel = next.get().getChannelInfo();
            if (next.get().isBuffer()) {
                count(channel, next.get().getBuffer());
            } else if (next.get().getEvent() instanceof EndOfData) {
                gate.acknowledgeAllRecordsProcessed(channel);
            }
        }
        for (SingleInputGate each : gates) {
            each.close();
        }
        return records;
    }

    private void count(InputChannelInfo channel, Buffer buffer) throws IOException {
        RecordDeserializer<FixedRecord> deserializer = deserializers.computeIfAbsent(channel,
                c -> new SpillingAdaptiveSpanningRecordDeserializer<>(
                        new String[] {System.getProperty("java.io.tmpdir")}));
        deserializer.setNextBuffer(buffer);
        DeserializationResult result;
        do {
            result = deserializer.getNextRecord(record);
            if (result.isFullRecord()) {
                records++;
            }
        } while (!result.isBufferConsumed());
    }
}
