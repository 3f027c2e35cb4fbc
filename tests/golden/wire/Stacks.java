/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints stacks.txt, serialized Throwables whose causes and stack traces are of every shape, and to
 * standard error stacks-said.txt, what Java says about them, 64 lines of each stack.
 *
 *     javac Stacks.java
 *     java Stacks >stacks.txt 2>stacks-said.txt
 */
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.HashSet;
import java.util.Set;

public class Stacks {
    /** Without a stack trace. */
    static class Quiet extends Exception {
        private static final long serialVersionUID = 1;

        Quiet(String message, Throwable cause) {
            super(message, cause, false, false);
        }
    }

    /** More strings than anybody remembers. */
    static class Wordy extends Exception {
        private static final long serialVersionUID = 1;
        final String[] words = new String[1200];

        Wordy(String message) {
            super(message);
            for (int i = 0; i < words.length; i++) {
                words[i] = new String("" + i);
            }
        }
    }

    static Throwable at(Throwable t, StackTraceElement... stack) {
        t.setStackTrace(stack);
        return t;
    }

    static StackTraceElement line(String loader, String module, String version, String file,
            int number) {
        return new StackTraceElement(loader, module, version, "a.B$C", "run", file, number);
    }

    static Throwable forms() {
        return at(new Exception("forms"),
                line(null, null, null, "B.java", 12),
                line(null, null, null, "B.java", 0),
                line(null, null, null, "B.java", -1),
                line(null, null, null, null, 12),
                line(null, null, null, null, -2),
                line(null, null, null, "B.java", -2),
                line(null, "m", null, "B.java", 12),
                line(null, "m", "1.2", "B.java", 12),
                line(null, null, "1.2", "B.java", 12),
                line("app", null, null, "B.java", 12),
                line("app", "m", null, "B.java", 12),
                line("app", "m", "1.2", "B.java", 12),
                line("", "", "", "", 12),
                new StackTraceElement("", "<init>", "", 1),
                new StackTraceElement("\u00fc.\ud83d\ude00", "\u20ac", "\u00fc.java", 7));
    }

    public static void fail() {
        Integer.parseInt("fnet");
    }

    static Throwable natural() {
        try {
            Stacks.class.getMethod("fail").invoke(null);
            return null;
        } catch (ReflectiveOperationException e) {
            return e.getCause();
        }
    }

    static Throwable deep(int n) {
        return n > 0 ? deep(n - 1) : new IllegalStateException("deep");
    }

    static Throwable cycle() {
        Throwable inner = new IOException("inner");
        Throwable outer = new RuntimeException("outer", inner);
        inner.initCause(outer);
        return outer;
    }

    static Throwable wordy() {
        Throwable inner = new IOException("said twice", new Wordy("words"));
        return new RuntimeException(inner.getMessage(), inner);
    }

    static Throwable taken() {
        Throwable cause = deep(70);
        return at(new RuntimeException("taken", cause), cause.getStackTrace());
    }

    static void print(String name, Throwable t) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(t);
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes.toByteArray()) {
            hex.append(String.format("%02x", b));
        }
        System.out.println(name + " " + bytes.size() + " " + hex);
        System.err.println(name);
        Set<Throwable> said = new HashSet<>();
        for (Throwable c = t; c != null && said.add(c); c = c.getCause()) {
            say(c);
        }
    }

    static void say(Throwable t) {
        StackTraceElement[] stack = t.getStackTrace();
        System.err.println(" " + t);
        for (int i = 0; i < Math.min(stack.length, 64); i++) {
            System.err.println("  " + stack[i]);
        }
        if (stack.length > 64) {
            System.err.println("  " + (stack.length - 64) + " more");
        }
    }

    public static void main(String[] args) throws IOException {
        print("forms", forms());
        print("natural", natural());
        print("no-stack", new Quiet("outer", new Quiet("inner", null)));
        print("empty-stack", at(new Exception("outer", at(new Exception("inner")))));
        print("deep-stack", deep(100));
        print("taken-stack", taken());
        print("cycle", cycle());
        print("wordy", wordy());
    }
}
