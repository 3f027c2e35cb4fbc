/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import java.util.HashMap;
import java.util.Map;

/** Arguments of the form key=value, each taken once; what nobody took is a mistake. */
final class Options {
    private final Map<String, String> values = new HashMap<>();

    Options(String[] arguments) {
        for (String argument : arguments) {
            String[] pair = argument.split("=", 2);
            values.put(pair[0], pair[1]);
        }
    }

    String take(String key) {
        String value = values.remove(key);
        if (value == null) {
            throw new IllegalArgumentException(key + "= is missing");
        }
        return value;
    }

    String take(String key, String otherwise) {
        String value = values.remove(key);
        return value == null ? otherwise : value;
    }

    int take(String key, int otherwise) {
        return Integer.parseInt(take(key, String.valueOf(otherwise)));
    }

    boolean takeFlag(String key) {
        return Boolean.parseBoolean(take(key, "false"));
    }

    void end() {
        if (!values.isEmpty()) {
            throw new IllegalArgumentException("unknown: " + values.keySet());
        }
    }
}
