/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Reflect;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.SubtaskStateStats;
import org.apache.flink.runtime.checkpoint.TaskStateStats;
import org.apache.flink.runtime.executiongraph.AccessExecution;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobVertexID;

/**
 * What Flink itself says about a job of producers and consumers that has ended, in lines:
 *
 * <pre>
 * producer SUBTASK ATTEMPT PORT RECORDS                 that it sent; port of its TaskManager
 * consumer SUBTASK ATTEMPT PORT RECORDS                 that it got
 * checkpoint ID COMPLETED|FAILED|IN_PROGRESS SUBTASK...   producers that took part in it
 * end EVENT...                                           that end each subpartition
 * ACCUMULATOR NUMBER
 * </pre>
 */
final class JobReport {
    private final AccessExecutionGraph graph;
    private final Map<String, Object> accumulators;

    JobReport(AccessExecutionGraph graph, Map<String, Object> accumulators) {
        this.graph = graph;
        this.accumulators = accumulators;
    }

    void print(PrintStream out) {
        List<AccessExecutionJobVertex> vertices = new ArrayList<>();
        graph.getVerticesTopologically().forEach(vertices::add);
        if (vertices.size() != 2) {
            throw new IllegalStateException("a producer and a consumer expected: " + vertices);
        }
        AccessExecutionJobVertex producer = vertices.get(0);
        for (AccessExecutionVertex subtask : producer.getTaskVertices()) {
            out.println("producer " + placeOf(subtask) + ' '
                    + execution(subtask).getIOMetrics().getNumRecordsOut());
        }
        for (AccessExecutionVertex subtask : vertices.get(1).getTaskVertices()) {
            out.println("consumer " + placeOf(subtask) + ' '
                    + execution(subtask).getIOMetrics().getNumRecordsIn());
        }
        if (graph.getCheckpointStatsSnapshot() != null) {
            graph.getCheckpointStatsSnapshot().getHistory().getCheckpoints()
                    .forEach(checkpoint -> out.println("checkpoint " + checkpoint.getCheckpointId()
                            + ' ' + checkpoint.getStatus() + ' '
                            + participants(checkpoint, producer.getJobVertexId())));
        }
        out.println("end" + (Reflect.exists("org.apache.flink.runtime.io.network.api.EndOfData")
                ? " EndOfData"
                : "") + " EndOfPartitionEvent");
        accumulators.forEach((name, value) -> out.println(name + ' ' + value));
    }

    private static AccessExecution execution(AccessExecutionVertex subtask) {
        return subtask.getCurrentExecutionAttempt();
    }

    private static String placeOf(AccessExecutionVertex subtask) {
        return String.valueOf(subtask.getParallelSubtaskIndex()) + ' '
                + execution(subtask).getAttemptId() + ' '
                + execution(subtask).getAssignedResourceLocation().dataPort();
    }

    /** Flink has an acknowledgement of those too that ended before, but with no state. */
    private static String participants(AbstractCheckpointStats checkpoint, JobVertexID vertex) {
        List<String> subtasks = new ArrayList<>();
        TaskStateStats stats = checkpoint.getTaskStateStats(vertex);
        for (SubtaskStateStats subtask : stats.getSubtaskStats()) {
            if (subtask != null && subtask.getStateSize() > 0) {
                subtasks.add(String.valueOf(subtask.getSubtaskIndex()));
            }
        }
        return String.join(" ", subtasks);
    }
}
