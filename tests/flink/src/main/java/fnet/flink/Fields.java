/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** What a message, event or element says, as "key=value;..." in the vocabulary of README. */
final class Fields {
    private final Map<String, String> values = new LinkedHashMap<>();

    static Fields of(String key, Object value) {
        return new Fields().add(key, value);
    }

    Fields add(String key, Object value) {
        values.put(key, escape(String.valueOf(value)));
        return this;
    }

    Fields addHex(String key, byte[] bytes) {
        return add(key, HexFormat.of().formatHex(bytes));
    }

    /** The fields of something that is part of this one, as PREFIX.KEY. */
    Fields addAll(String prefix, Fields part) {
        part.values.forEach((key, value) -> values.put(prefix + "." + key, value));
        return this;
    }

    Fields addAll(Fields more) {
        values.putAll(more.values);
        return this;
    }

    /** Null if there is none; escapes stay as they are. */
    String get(String key) {
        return values.get(key);
    }

    static Fields parse(String text) {
        Fields fields = new Fields();
        for (String field : text.split(";")) {
            String[] pair = field.split("=", 2);
            fields.values.put(pair[0], pair[1]);
        }
        return fields;
    }

    @Override
    public String toString() {
        return values.entrySet().stream()
                .map(field -> field.getKey() + "=" + field.getValue())
                .collect(Collectors.joining(";"));
    }

    /** Everything but printable ASCII by its UTF-16 unit; ";" and "\" too. */
    private static String escape(String text) {
        StringBuilder out = new StringBuilder();
        for (char c : text.toCharArray()) {
            if (c < ' ' || c > '~' || c == ';' || c == '\\') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }
}
