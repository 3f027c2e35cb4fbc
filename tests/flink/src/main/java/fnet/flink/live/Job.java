/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Reflect;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.taskmanager.UnresolvedTaskManagerLocation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A job on a cluster with two TaskManagers in this process: numbered records pass a keyBy. The file
 * that ready= names gets the port of each TaskManager for the traffic of tasks; the job begins with
 * the first line, or the end, of standard input. What it did then is on standard output, see
 * JobReport.
 *
 * <p>ready=FILE mode=aligned|unaligned|batch records=N parallelism=N interval=MS (from checkpoint
 * to checkpoint) burst=N (a consumer rests a millisecond after so many records) segment=SIZE (of
 * network buffers) compression=true (if batch)
 */
public final class Job {
    private final String mode;
    private final int records;
    private final int parallelism;
    private final int burst;
    private final Configuration configuration = new Configuration();

    private Job(Options options) {
        mode = options.take("mode", "aligned");
        records = options.take("records", 10000);
        parallelism = options.take("parallelism", 2);
        burst = options.take("burst", Integer.MAX_VALUE);
        configure(Map.of(
                "execution.runtime-mode", isBatch() ? "BATCH" : "STREAMING",
                "execution.batch.adaptive.auto-parallelism.enabled",
                String.valueOf(options.takeFlag("adaptive")),
                "restart-strategy.type", "none",
                "restart-strategy", "none",
                "pipeline.auto-watermark-interval", "20",
                "metrics.latency.interval", "20",
                "rest.bind-port", "0",
                "taskmanager.memory.segment-size", options.take("segment", "32kb")));
        configure(compression(options.takeFlag("compression")));
        if (!isBatch()) {
            configure(checkpoints(options.take("interval", "50")));
        }
    }

    private boolean isBatch() {
        return mode.equals("batch");
    }

    private void configure(Map<String, String> settings) {
        settings.forEach(configuration::setString);
    }

    /** Before 1.20 not by the codec. */
    private static Map<String, String> compression(boolean isWanted) {
        return Reflect.exists("org.apache.flink.configuration.NettyShuffleEnvironmentOptions"
                        + "$CompressionCodec")
                ? Map.of("taskmanager.network.compression.codec", isWanted ? "LZ4" : "NONE")
                : Map.of("taskmanager.network.blocking-shuffle.compression.enabled",
                        String.valueOf(isWanted));
    }

    /** All of them are remembered. */
    private Map<String, String> checkpoints(String interval) {
        String isUnaligned = String.valueOf(mode.equals("unaligned"));
        return Map.of(
                "execution.checkpointing.interval", interval,
                "execution.checkpointing.unaligned.enabled", isUnaligned,
                "execution.checkpointing.unaligned", isUnaligned,
                "web.checkpoints.history", "10000");
    }

    public static void main(String[] args) {
        int status = 0;
        try {
            Deadline.start();
            Options options = new Options(args);
            Path ready = Path.of(options.take("ready"));
            Job job = new Job(options);
            options.end();
            job.run(ready);
        } catch (Exception e) {
            Failure.print(e);
            status = 1;
        }
        System.exit(status);
    }

    private void run(Path ready) throws Exception {
        MiniClusterConfiguration cluster = new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration)
                .setNumTaskManagers(2)
                .setNumSlotsPerTaskManager((parallelism + 1) / 2)
                .build();
        JobGraph graph = graph();
        try (MiniCluster running = new MiniCluster(cluster)) {
            running.start();
            Produce.announce(ready, dataPorts(running));
            while (System.in.read() > '\n') {
                continue;
            }
            JobExecutionResult result = running.executeJobBlocking(graph);
            new JobReport(running.getArchivedExecutionGraph(graph.getJobID()).get(),
                    new TreeMap<>(result.getAllAccumulatorResults())).print(System.out);
        }
    }

    /** A number on each line. */
    private static String dataPorts(MiniCluster cluster) {
        StringBuilder ports = new StringBuilder();
        for (Object executor : (List<?>) Reflect.get(cluster, "taskManagers")) {
            ports.append(((UnresolvedTaskManagerLocation) Reflect.get(executor,
                    "unresolvedTaskManagerLocation")).getDataPort()).append('\n');
        }
        return ports.toString();
    }

    /** Two vertices, as what is not divided by the keyBy is chained. */
    private JobGraph graph() {
        StreamExecutionEnvironment environment = new StreamExecutionEnvironment(configuration);
        environment.setParallelism(parallelism);
        environment.fromSequence(1, records)
                .map(new Numbered.Maker())
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy
                                .<Tuple3<Long, Integer, String>>forMonotonousTimestamps()
                                .withTimestampAssigner((record, before) -> record.f0))
                .keyBy(record -> record.f2, Types.STRING)
                .flatMap(new Numbered.Counter(burst));
        return environment.getStreamGraph().getJobGraph();
    }
}
