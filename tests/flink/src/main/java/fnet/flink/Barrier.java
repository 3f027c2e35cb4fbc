/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.io.network.api.CheckpointBarrier;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;

/**
 * A checkpoint barrier in words, made into Flink's and read from it.
 *
 * @param type "CHECKPOINT", or since 1.15 "SAVEPOINT CANONICAL": savepoints have a format
 * @param location null for the default location
 * @param alignment ignored until 1.10, which does not know any
 * @param timeoutMs of the alignment; NO_TIMEOUT if there is none, as ever until 1.11
 */
public record Barrier(long id, long timestampMs, String type, byte[] location, String alignment,
        long timeoutMs) {
    public static final long NO_TIMEOUT = Long.MAX_VALUE;

    private static final String PACKAGE = "org.apache.flink.runtime.checkpoint.";
    private static final String SAVEPOINT_TYPE = PACKAGE + "SavepointType";
    private static final String FORMAT = "org.apache.flink.core.execution.SavepointFormatType";
    private static final String ALIGNMENT = PACKAGE + "CheckpointOptions$AlignmentType";
    private static final Map<String, Object> TYPES = types();

    private static Map<String, Object> types() {
        Map<String, Object> types = new LinkedHashMap<>();
        if (!Reflect.exists(SAVEPOINT_TYPE)) {
            for (Object type : Reflect.type(PACKAGE + "CheckpointType").getEnumConstants()) {
                types.put(sinceRenamed(((Enum<?>) type).name()), type);
            }
            return types;
        }
        for (String name : new String[] {"CHECKPOINT", "FULL_CHECKPOINT"}) {
            types.put(name, Reflect.constant(PACKAGE + "CheckpointType", name));
        }
        for (String format : new String[] {"CANONICAL", "NATIVE"}) {
            types.put("SAVEPOINT " + format, savepoint("savepoint", format));
            types.put("SAVEPOINT_SUSPEND " + format, savepoint("suspend", format));
            types.put("SAVEPOINT_TERMINATE " + format, savepoint("terminate", format));
        }
        return types;
    }

    /** Number 2 got a new name when it got a sister. */
    private static String sinceRenamed(String type) {
        return type.equals("SYNC_SAVEPOINT") ? "SAVEPOINT_SUSPEND" : type;
    }

    private static Object savepoint(String kind, String format) {
        return Reflect.callStatic(Reflect.type(SAVEPOINT_TYPE), kind,
                Reflect.constant(FORMAT, format));
    }

    /** Whether the version in use has such a barrier. */
    boolean exists() {
        return TYPES.containsKey(type) && options() != null;
    }

    public CheckpointBarrier make() {
        return new CheckpointBarrier(id, timestampMs, options());
    }

    /** Null if this version has none that say so. */
    private CheckpointOptions options() {
        Object kind = TYPES.get(type);
        CheckpointStorageLocationReference place = location == null
                ? CheckpointStorageLocationReference.getDefault()
                : new CheckpointStorageLocationReference(location);

        if (Reflect.exists(ALIGNMENT)) {
            Object how = Reflect.constant(ALIGNMENT, alignment);
            return withTimeout(kind, place, how);
        }
        if (hasAlignment()) {
            boolean isExactlyOnce = !alignment.equals("AT_LEAST_ONCE");
            boolean isUnaligned = alignment.equals("UNALIGNED");
            return alignment.equals("FORCED_ALIGNED")
                    ? null
                    : withTimeout(kind, place, isExactlyOnce, isUnaligned);
        }
        return alignment.equals("ALIGNED") && timeoutMs == NO_TIMEOUT
                ? (CheckpointOptions) Reflect.make(CheckpointOptions.class, kind, place)
                : null;
    }

    /** Options of these ARGUMENTS and the timeout, which may be left out if there is none. */
    private CheckpointOptions withTimeout(Object... arguments) {
        Object[] timed = Arrays.copyOf(arguments, arguments.length + 1);
        timed[arguments.length] = timeoutMs;
        if (Reflect.canMake(CheckpointOptions.class, timed)) {
            return (CheckpointOptions) Reflect.make(CheckpointOptions.class, timed);
        }
        return timeoutMs == NO_TIMEOUT
                ? (CheckpointOptions) Reflect.make(CheckpointOptions.class, arguments)
                : null;
    }

    static Barrier read(CheckpointBarrier barrier) {
        CheckpointOptions options = barrier.getCheckpointOptions();
        Object kind = Reflect.call(options, "getCheckpointType");
        String type = TYPES.entrySet().stream()
                .filter(entry -> entry.getValue().equals(kind))
                .findFirst()
                .orElseThrow()
                .getKey();
        CheckpointStorageLocationReference place = options.getTargetLocation();
        return new Barrier(barrier.getId(), barrier.getTimestamp(), type,
                place.isDefaultReference() ? null : place.getReferenceBytes(),
                alignmentOf(options), timeoutOf(options));
    }

    /** Null until 1.10. */
    private static String alignmentOf(CheckpointOptions options) {
        if (Reflect.exists(ALIGNMENT)) {
            return Reflect.call(options, "getAlignment").toString();
        }
        if (!Reflect.canCall(CheckpointOptions.class, "isUnalignedCheckpoint")) {
            return null;
        }
        if ((Boolean) Reflect.call(options, "isUnalignedCheckpoint")) {
            return "UNALIGNED";
        }
        return (Boolean) Reflect.call(options, "isExactlyOnceMode") ? "ALIGNED" : "AT_LEAST_ONCE";
    }

    private static long timeoutOf(CheckpointOptions options) {
        for (String field : new String[] {"alignedCheckpointTimeout", "alignmentTimeout"}) {
            if (Reflect.has(options, field)) {
                return (Long) Reflect.get(options, field);
            }
        }
        return NO_TIMEOUT;
    }

    static boolean hasAlignment() {
        return alignmentOf(CheckpointOptions.forCheckpointWithDefaultLocation()) != null;
    }

    Fields fields() {
        String[] typeAndFormat = type.split(" ");
        Fields fields = Fields.of("type", "CheckpointBarrier")
                .add("id", id)
                .add("timestamp", timestampMs)
                .add("checkpoint_type", typeAndFormat[0]);
        if (typeAndFormat.length > 1) {
            fields.add("savepoint_format", typeAndFormat[1]);
        }
        if (location != null) {
            fields.addHex("location", location);
        }
        if (hasAlignment()) {
            fields.add("alignment", alignment);
        }
        return timeoutMs == NO_TIMEOUT ? fields : fields.add("alignment_timeout", timeoutMs);
    }
}
