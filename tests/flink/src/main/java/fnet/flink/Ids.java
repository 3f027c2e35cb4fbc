/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.util.HexFormat;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.consumer.InputChannelID;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.IntermediateResultPartitionID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.util.AbstractID;

/** The ids of all vectors: 16 bytes counting up from 0x10, 0xa0, 0xb0 and 0xc0. */
public final class Ids {
    private static final String RUNTIME = "org.apache.flink.runtime.";
    private static final String GRAPH = RUNTIME + "executiongraph.ExecutionGraphID";
    private static final String VERTEX = RUNTIME + "scheduler.strategy.ExecutionVertexID";

    static final InputChannelID RECEIVER = (InputChannelID) id(InputChannelID.class, 0x10);

    private Ids() {}

    /** An id of class TYPE whose bytes on the wire are FIRST, FIRST + 1 and so on. */
    static Object id(Class<?> type, int first) {
        long lower = eightFrom(first);
        long upper = eightFrom(first + 8);
        if (Reflect.canMake(type, lower, upper)) {
            return Reflect.make(type, lower, upper);
        }
        return Reflect.make(type, new AbstractID(lower, upper));
    }

    private static long eightFrom(int first) {
        long value = 0;
        for (int i = 0; i < 8; i++) {
            value = value << 8 | first + i;
        }
        return value;
    }

    /** Until 1.10 a partition is an id without a number. */
    public static ResultPartitionID partition(int number, ExecutionAttemptID producer) {
        IntermediateDataSetID dataSet =
                (IntermediateDataSetID) id(IntermediateDataSetID.class, 0xa0);
        Class<?> type = IntermediateResultPartitionID.class;
        Object partition = Reflect.canMake(type, dataSet, number)
                ? Reflect.make(type, dataSet, number)
                : id(type, 0xa0);
        return new ResultPartitionID((IntermediateResultPartitionID) partition, producer);
    }

    /** Until 1.15 an attempt is an id; since then it says of what. */
    public static ExecutionAttemptID attempt(int subtask, int number) {
        Class<?> type = ExecutionAttemptID.class;
        if (!isAttemptNumbered()) {
            return (ExecutionAttemptID) id(type, 0xb0);
        }
        Object vertex = Reflect.make(VERTEX, id(JobVertexID.class, 0xc0), subtask);
        Object graph = id(Reflect.type(GRAPH), 0xb0);
        return (ExecutionAttemptID) Reflect.make(type, graph, vertex, number);
    }

    private static boolean isAttemptNumbered() {
        return Reflect.exists(GRAPH) && Reflect.exists(VERTEX)
                && Reflect.canMake(ExecutionAttemptID.class, id(Reflect.type(GRAPH), 0xb0),
                        Reflect.make(VERTEX, id(JobVertexID.class, 0xc0), 0), 0);
    }

    /** The id that Flink prints as TEXT: data-set#number@attempt. */
    public static ResultPartitionID parse(String text) {
        String[] parts = text.split("[#@]");
        Object dataSet = id(IntermediateDataSetID.class, parts[0]);
        Object partition = Reflect.make(IntermediateResultPartitionID.class, dataSet,
                Integer.parseInt(parts[1]));
        return new ResultPartitionID((IntermediateResultPartitionID) partition,
                attempt(parts[2].split("_")));
    }

    /** Of parts graph, vertex, subtask and attempt; until 1.15 of one. */
    private static ExecutionAttemptID attempt(String[] parts) {
        Class<?> type = ExecutionAttemptID.class;
        if (!isAttemptNumbered()) {
            return (ExecutionAttemptID) id(type, parts[0]);
        }
        Object vertex = Reflect.make(VERTEX, id(JobVertexID.class, parts[1]),
                Integer.parseInt(parts[2]));
        return (ExecutionAttemptID) Reflect.make(type, id(Reflect.type(GRAPH), parts[0]), vertex,
                Integer.parseInt(parts[3]));
    }

    private static Object id(Class<?> type, String hex) {
        AbstractID id = new AbstractID(HexFormat.of().parseHex(hex));
        return Reflect.canMake(type, id)
                ? Reflect.make(type, id)
                : Reflect.make(type, id.getLowerPart(), id.getUpperPart());
    }

    static Fields fields(ResultPartitionID id) {
        return Fields.of("partition", id.getPartitionId()).add("producer", id.getProducerId());
    }
}
