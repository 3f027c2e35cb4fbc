/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink.live;

/** Why something failed, on standard error: a line for each cause. */
final class Failure {
    private Failure() {}

    static void print(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            System.err.println(cause.getClass().getName() + ": " + cause.getMessage());
        }
    }
}
