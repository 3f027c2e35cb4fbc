/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Ids;
import fnet.flink.Reflect;
import java.io.IOException;
import java.lang.reflect.Array;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.clusterframework.types.ResourceID;
import org.apache.flink.runtime.deployment.InputGateDeploymentDescriptor;
import org.apache.flink.runtime.deployment.ResultPartitionDeploymentDescriptor;
import org.apache.flink.runtime.io.network.ConnectionID;
import org.apache.flink.runtime.io.network.NettyShuffleEnvironment;
import org.apache.flink.runtime.io.network.NettyShuffleServiceFactory;
import org.apache.flink.runtime.io.network.TaskEventDispatcher;
import org.apache.flink.runtime.io.network.partition.PartitionProducerStateProvider;
import org.apache.flink.runtime.io.network.partition.ResultPartition;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultPartitionType;
import org.apache.flink.runtime.io.network.partition.consumer.SingleInputGate;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.shuffle.NettyShuffleDescriptor;
import org.apache.flink.runtime.shuffle.NettyShuffleDescriptor.NetworkPartitionConnectionInfo;
import org.apache.flink.runtime.shuffle.PartitionDescriptor;
import org.apache.flink.runtime.shuffle.ShuffleDescriptor;
import org.apache.flink.runtime.shuffle.ShuffleEnvironmentContext;
import org.apache.flink.runtime.shuffle.ShuffleIOOwnerContext;
import org.apache.flink.util.concurrent.ScheduledExecutorServiceAdapter;

/** The network stack of a TaskManager, with the partitions and gates that a task would have. */
final class Network implements AutoCloseable {
    private static final String SHUFFLE_DESCRIPTOR_AND_INDEX =
            "org.apache.flink.runtime.deployment.TaskDeploymentDescriptorFactory"
                    + "$ShuffleDescriptorAndIndex";

    private final ScheduledExecutorService executor = Executors.newScheduledThreadPool(1);
    private final NettyShuffleEnvironment environment;
    private final int port;

    Network(Options options) throws IOException {
        environment = (NettyShuffleEnvironment) new NettyShuffleServiceFactory()
                .createShuffleEnvironment(context(configuration(options),
                        options.take("memory", "64m")));
        port = environment.start();
        Deadline.start();
        setCredits(options);
        setCompression(options);
    }

    /** The port that the system picked for the server. */
    int port() {
        return port;
    }

    private static Configuration configuration(Options options) {
        Configuration configuration = new Configuration();
        configuration.setString("taskmanager.data.port", "0");
        configuration.setString("taskmanager.data.bind-port", "0");
        configuration.setString("taskmanager.network.request-backoff.initial",
                options.take("backoff", "100"));
        configuration.setString("taskmanager.network.request-backoff.max",
                options.take("max-backoff", "10000"));
        configuration.setString("taskmanager.network.partition-request-timeout",
                options.take("request-timeout", "10s"));
        configuration.setString("taskmanager.network.compression.codec",
                options.take("codec", "LZ4"));
        return configuration;
    }

    /** Its constructor got more arguments from version to version. */
    private ShuffleEnvironmentContext context(Configuration configuration, String memory) {
        List<Object> head = List.of(configuration, ResourceID.generate(), MemorySize.parse(memory),
                false, InetAddress.getLoopbackAddress());
        List<Object> slots = List.of(1, new String[] {System.getProperty("java.io.tmpdir")});
        List<Object> tail =
                List.of(new TaskEventDispatcher(), new UnregisteredMetricsGroup(), executor);
        List<Object> scheduler = List.of(new ScheduledExecutorServiceAdapter(executor));
        return (ShuffleEnvironmentContext) makeFirst(ShuffleEnvironmentContext.class,
                List.of(head, slots, tail, scheduler), List.of(head, slots, tail),
                List.of(head, tail));
    }

    /** An object of TYPE out of the first list of arguments that it has a constructor for. */
    @SafeVarargs
    private static Object makeFirst(Class<?> type, List<List<Object>>... candidates) {
        for (List<List<Object>> candidate : candidates) {
            Object[] arguments = candidate.stream().flatMap(List::stream).toArray();
            if (Reflect.canMake(type, arguments)) {
                return Reflect.make(type, arguments);
            }
        }
        throw new IllegalStateException("no known constructor of " + type);
    }

    /** Options of Flink 1, fixed numbers since 2.0. */
    private void setCredits(Options options) {
        Object gates = Reflect.get(environment, "singleInputGateFactory");
        setFirst(gates, options.take("exclusive", 2), "configuredNetworkBuffersPerChannel",
                "networkBuffersPerChannel");
        setFirst(gates, options.take("floating", 8), "floatingNetworkBuffersPerGate");
    }

    /** The same of partitions that are read when they are complete, and of their gates. */
    private void setCompression(Options options) {
        Object partitions = Reflect.get(environment, "resultPartitionFactory");
        boolean isCompressing = options.takeFlag("compression");
        for (Object factory :
                List.of(partitions, Reflect.get(environment, "singleInputGateFactory"))) {
            setFirst(factory, isCompressing, "batchShuffleCompressionEnabled",
                    "blockingShuffleCompressionEnabled");
        }
        setFirst(partitions, options.takeFlag("sort-merge") ? 1 : Integer.MAX_VALUE,
                "sortShuffleMinParallelism");
    }

    private static void setFirst(Object target, Object value, String... fields) {
        for (String field : fields) {
            if (Reflect.has(target, field)) {
                Reflect.set(target, field, value);
                return;
            }
        }
        throw new IllegalStateException(target + " has no " + String.join(", ", fields));
    }

    /** A gate for each subpartition from FIRST to LAST, which reads it from all PARTITIONS. */
    List<SingleInputGate> gates(InetSocketAddress producer, List<ResultPartitionID> partitions,
            ResultPartitionType type, int first, int last, PartitionProducerStateProvider states)
            throws IOException {
        ResourceID elsewhere = ResourceID.generate();
        List<ShuffleDescriptor> channels = new ArrayList<>();
        for (ResultPartitionID partition : partitions) {
            channels.add(new NettyShuffleDescriptor(elsewhere, location(producer), partition));
        }
        List<InputGateDeploymentDescriptor> gates = new ArrayList<>();
        for (int i = first; i <= last; i++) {
            gates.add((InputGateDeploymentDescriptor) Reflect.make(
                    InputGateDeploymentDescriptor.class, new IntermediateDataSetID(), type, i,
                    channelArray(channels)));
        }
        return environment.createInputGates(owner(), states, gates);
    }

    /** Until 1.15 it is made of the id of a connection. */
    private static NetworkPartitionConnectionInfo location(InetSocketAddress address) {
        Class<?> type = NetworkPartitionConnectionInfo.class;
        return (NetworkPartitionConnectionInfo) (Reflect.canMake(type, address, 0)
                ? Reflect.make(type, address, 0)
                : Reflect.make(type, Reflect.make(ConnectionID.class, address, 0)));
    }

    private static Object channelArray(List<ShuffleDescriptor> channels) {
        if (!Reflect.exists(SHUFFLE_DESCRIPTOR_AND_INDEX)) {
            return channels.toArray(new ShuffleDescriptor[0]);
        }
        Class<?> type = Reflect.type(SHUFFLE_DESCRIPTOR_AND_INDEX);
        Object array = Array.newInstance(type, channels.size());
        for (int i = 0; i < channels.size(); i++) {
            Array.set(array, i, Reflect.make(type, channels.get(i), i));
        }
        return array;
    }

    ResultPartition partition(ResultPartitionID id, ResultPartitionType type, int subpartitions) {
        IntermediateDataSetID dataSet = new IntermediateDataSetID();
        List<Object> head =
                List.of(dataSet, 1, id.getPartitionId(), type, subpartitions, /* connection */ 0);
        PartitionDescriptor descriptor = (PartitionDescriptor) makeFirst(PartitionDescriptor.class,
                List.of(head, List.of(false, true, false)), List.of(head, List.of(false, true)),
                List.of(head));
        NettyShuffleDescriptor shuffle = new NettyShuffleDescriptor(ResourceID.generate(),
                location(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)), id);
        List<Object> common = List.of(descriptor, shuffle, /* max parallelism */ 128);
        ResultPartitionDeploymentDescriptor deployment = (ResultPartitionDeploymentDescriptor)
                makeFirst(ResultPartitionDeploymentDescriptor.class, List.of(common),
                        List.of(common, List.of(true)));
        return environment.createResultPartitionWriters(owner(), List.of(deployment)).get(0);
    }

    private ShuffleIOOwnerContext owner() {
        return environment.createShuffleIOOwnerContext("fnet", Ids.attempt(0, 0),
                new UnregisteredMetricsGroup());
    }

    @Override
    public void close() {
        environment.close();
        executor.shutdownNow();
    }
}
