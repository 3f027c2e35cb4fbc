/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

import fnet.flink.Reflect;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.Collector;

/** Records of a number, the subtask that made them, and a text of 1 to 43 UTF-16 units. */
final class Numbered {
    private Numbered() {}

    /**
     * Makes them, with their number as time stamp, and watermarks. An operator, as the functions
     * that do so are not the same in all versions.
     */
    static final class Maker extends AbstractStreamOperator<Tuple3<Long, Integer, String>>
            implements OneInputStreamOperator<Long, Tuple3<Long, Integer, String>> {
        private static final long serialVersionUID = 1;
        private static final int WATERMARK_INTERVAL = 97;

        private final int pace;

        /** Chained to the source, as by default from 2.0 on. */
        Maker(int pace) {
            this.pace = pace;
            if (Reflect.has(this, "chainingStrategy")) {
                Reflect.set(this, "chainingStrategy", ChainingStrategy.ALWAYS);
            }
        }

        @Override
        public void processElement(StreamRecord<Long> sequence) throws InterruptedException {
            long number = sequence.getValue();
            String text = "é😀".repeat((int) (number % 14)) + number % 10;
            output.collect(new StreamRecord<>(
                    Tuple3.of(number, subtask(getRuntimeContext()), text), number));
            if (number % WATERMARK_INTERVAL == 0) {
                output.emitWatermark(new Watermark(number));
            }
            if (number % pace == 0) {
                Thread.sleep(1);
            }
        }
    }

    /** Their text. */
    static final class Key implements KeySelector<Tuple3<Long, Integer, String>, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String getKey(Tuple3<Long, Integer, String> record) {
            return record.f2;
        }
    }

    /**
     * Has an accumulator for how many came from which subtask to which, and one for the sum of
     * their numbers and of the hash codes of their texts.
     */
    static final class Counter extends RichFlatMapFunction<Tuple3<Long, Integer, String>, Void> {
        private static final long serialVersionUID = 1;

        private final int burst;
        private int seen;

        Counter(int burst) {
            this.burst = burst;
        }

        @Override
        public void flatMap(Tuple3<Long, Integer, String> record, Collector<Void> out)
                throws InterruptedException {
            add("records", record.f1, 1);
            add("sum", record.f1, record.f0 + record.f2.hashCode());
            seen++;
            if (seen % burst == 0) {
                Thread.sleep(1);
            }
        }

        private void add(String what, int producer, long amount) {
            RuntimeContext context = getRuntimeContext();
            context.getLongCounter(what + " " + producer + " " + subtask(context)).add(amount);
        }
    }

    /** Moved from one class to another. */
    private static int subtask(RuntimeContext context) {
        Object task = Reflect.canCall(context.getClass(), "getTaskInfo")
                ? Reflect.call(context, "getTaskInfo")
                : context;
        return (Integer) Reflect.call(task, "getIndexOfThisSubtask");
    }
}
