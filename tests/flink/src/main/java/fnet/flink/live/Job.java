/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Reflect;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A job on a cluster with two TaskManagers in this process: numbered records pass a keyBy. The file
 * that ready= names gets the port of each TaskManager for the traffic of tasks; the job begins with
 * the first line, or the end, of standard input. What it did then is on standard output, see
 * JobReport.
 *
 * <p>ready=FILE mode=aligned|unaligned|batch (the latter from 1.11 and 1.12 on) records=N
 * parallelism=N interval=MS (from checkpoint to checkpoint) pace=N burst=N (a producer, a consumer
 * rests a millisecond after so many records) segment=BYTES (of network buffers) compression=true
 * adaptive=true (both if batch)
 */
public final class Job {
    private final String mode;
    private final int records;
    private final int parallelism;
    private final int pace;
    private final int burst;
    private final int interval;
    private final Configuration configuration = new Configuration();

    private Job(Options options) {
        mode = options.take("mode", "aligned");
        records = options.take("records", 10000);
        parallelism = options.take("parallelism", 2);
        pace = options.take("pace", Integer.MAX_VALUE);
        burst = options.take("burst", Integer.MAX_VALUE);
        configure(Map.of(
                "execution.runtime-mode", isBatch() ? "BATCH" : "STREAMING",
                "execution.batch.adaptive.auto-parallelism.enabled",
                String.valueOf(options.takeFlag("adaptive")),
                "restart-strategy.type", "none",
                "restart-strategy", "none",
                "metrics.latency.interval", "20",
                "rest.bind-port", "0",
                "taskmanager.memory.segment-size", options.take("segment", "32768"),
                // All checkpoints are remembered.
                "web.checkpoints.history", "10000"));
        configure(compression(options.takeFlag("compression")));
        interval = options.take("interval", 50);
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
            Ready.announce(ready, dataPorts(running));
            while (System.in.read() > '\n') {
                continue;
            }
            JobExecutionResult result = running.executeJobBlocking(graph);
            new JobReport(running.getExecutionGraph(graph.getJobID()).get(),
                    new TreeMap<>(result.getAllAccumulatorResults())).print(System.out);
        }
    }

    /** A number on each line. */
    private static String dataPorts(MiniCluster cluster) {
        StringBuilder ports = new StringBuilder();
        Object executors = Reflect.get(cluster, "taskManagers");
        for (Object executor : executors instanceof Object[] array
                ? List.of(array)
                : (List<?>) executors) {
            ports.append(dataPort(executor)).append('\n');
        }
        return ports.toString();
    }

    private static Object dataPort(Object executor) {
        String since111 = "unresolvedTaskManagerLocation";
        return Reflect.has(executor, since111)
                ? Reflect.call(Reflect.get(executor, since111), "getDataPort")
                : Reflect.call(Reflect.get(executor, "taskManagerLocation"), "dataPort");
    }

    /**
     * Two vertices, as what is not divided by the keyBy is chained. Flink may adapt how many
     * consumers there are; of producers it would make one.
     */
    private JobGraph graph() {
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createLocalEnvironment(parallelism, configuration);
        if (!isBatch()) {
            environment.enableCheckpointing(interval);
        } else if (!Reflect.exists("org.apache.flink.api.common.RuntimeExecutionMode")) {
            throw new IllegalArgumentException("this version has no batch mode");
        }
        if (mode.equals("unaligned")) {
            Reflect.call(environment.getCheckpointConfig(), "enableUnalignedCheckpoints");
        }
        numbers(environment)
                .setParallelism(parallelism)
                .transform("numbered", Types.TUPLE(Types.LONG, Types.INT, Types.STRING),
                        new Numbered.Maker(pace))
                .setParallelism(parallelism)
                .keyBy(new Numbered.Key())
                .flatMap(new Numbered.Counter(burst));
        return environment.getStreamGraph().getJobGraph();
    }

    /** The older source cannot be used in batch mode. */
    @SuppressWarnings("unchecked")
    private DataStreamSource<Long> numbers(StreamExecutionEnvironment environment) {
        String method = Reflect.canCall(environment.getClass(), "fromSequence", 1L, 1L)
                ? "fromSequence"
                : "generateSequence";
        return (DataStreamSource<Long>) Reflect.call(environment, method, 1L, (long) records);
    }
}
