/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

/** Whatever happens, no process stays. */
final class Deadline {
    private static final long MOST_SECONDS = 150;
    private static final int TIMED_OUT = 124;

    private Deadline() {}

    static void start() {
        Thread clock = new Thread(Deadline::expire);
        clock.setDaemon(true);
        clock.start();
    }

    private static void expire() {
        try {
            Thread.sleep(MOST_SECONDS * 1000);
        } catch (InterruptedException e) {
            return;
        }
        Runtime.getRuntime().halt(TIMED_OUT);
    }
}
