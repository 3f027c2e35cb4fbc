/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.util.Arrays;
import java.util.HexFormat;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.typeutils.runtime.TupleSerializer;

/** Flink's serializers of values by short names: string, long, int, bytes, tuple(string,long). */
public final class Serde {
    private static final String TUPLE = "tuple(";

    private Serde() {}

    public static TypeSerializer<?> named(String name) {
        switch (name) {
            case "string":
                return StringSerializer.INSTANCE;
            case "long":
                return LongSerializer.INSTANCE;
            case "int":
                return IntSerializer.INSTANCE;
            case "bytes":
                return BytePrimitiveArraySerializer.INSTANCE;
            default:
                return tuple(name);
        }
    }

    @SuppressWarnings("unchecked")
    private static TypeSerializer<?> tuple(String name) {
        if (!name.startsWith(TUPLE)) {
            throw new IllegalArgumentException("unknown serde " + name);
        }
        String[] parts = name.substring(TUPLE.length(), name.length() - 1).split(",");
        TypeSerializer<?>[] serializers =
                Arrays.stream(parts).map(Serde::named).toArray(TypeSerializer<?>[]::new);
        return new TupleSerializer<>((Class<Tuple>) Tuple.getTupleClass(parts.length), serializers);
    }

    /** VALUE as field "value"; a tuple's parts as "value.0" and so on; null as no field. */
    static Fields fields(Object value) {
        return fields("value", value);
    }

    private static Fields fields(String key, Object value) {
        Fields fields = new Fields();
        if (value instanceof Tuple) {
            Tuple tuple = (Tuple) value;
            for (int i = 0; i < tuple.getArity(); i++) {
                fields.addAll(fields(key + "." + i, tuple.getField(i)));
            }
        } else if (value instanceof byte[]) {
            fields.add(key, HexFormat.of().formatHex((byte[]) value));
        } else if (value != null) {
            fields.add(key, value);
        }
        return fields;
    }
}
