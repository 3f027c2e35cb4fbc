/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints throwables.txt: serialized Throwables of every shape the walk must follow.
 *
 *     javac -cp flink-runtime-2.0.0.jar:flink-core-2.0.0.jar Throwables.java
 *     java -cp .:flink-runtime-2.0.0.jar:flink-core-2.0.0.jar:slf4j-api-1.7.36.jar Throwables
 */
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.io.network.netty.exception.RemoteTransportException;
import org.apache.flink.runtime.io.network.partition.ProducerFailedException;

public class Throwables {
    static class External implements Externalizable {
        public External() {}

        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeInt(7);
            out.writeObject("external");
        }

        public void readExternal(ObjectInput in) {}
    }

    /** Every kind of content; its fields are written before Throwable's. */
    static class Loaded extends Exception {
        private static final long serialVersionUID = 1;
        boolean z = true; byte b = 1; char c = 'c'; double d = 1; float f = 1; int i = 1; long l = 1; short s = 1;
        int[] ints = {1, 2}; byte[][] bytes = {{1}, {2, 3}, null}; String[] strings = {"a", null, "a"};
        Object list = new ArrayList<>(Arrays.asList(1, "two", 3L));
        Map<String, Date> map = new HashMap<>(Map.of("now", new Date(0)));
        Class<?> type = String.class;
        TimeUnit unit = TimeUnit.SECONDS;
        External external = new External();

        Loaded(String message, Throwable cause) { super(message, cause); }
    }

    static Throwable chain(int n) {
        Throwable t = new IllegalStateException("innermost");
        for (int i = 0; i < n; i++)
            t = new RuntimeException("level " + i, t);
        return t;
    }

    static Throwable suppressing() {
        Throwable t = new IOException("outer", new IOException("cause"));
        t.addSuppressed(new IllegalArgumentException("suppressed"));
        return t;
    }

    static void print(String name, Throwable t) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(t);
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes.toByteArray())
            hex.append(String.format("%02x", b));
        System.out.println(name + " " + bytes.size() + " " + hex);
    }

    public static void main(String[] args) throws Exception {
        Throwable cause = new IOException("shared words");
        print("plain", new IOException("plain words"));
        print("null-message", new RuntimeException((String) null));
        print("shared-message", new RuntimeException(cause.getMessage(), cause));
        print("suppressed", suppressing());
        print("chain", chain(12));
        print("deep-chain", chain(200));
        print("unicode", new IOException("nul\0 \u00fc \u20ac \ud83d\ude00 \ud83d."));
        print("loaded", new Loaded("loaded words", null));
        print("around-loaded", new RuntimeException("around", new Loaded("inner", null)));
        print("producer-failed", new ProducerFailedException(new CancelTaskException("cancelled")));
        print("remote-transport", new RemoteTransportException("lost",
                new InetSocketAddress(InetAddress.getByAddress("host", new byte[] {127, 0, 0, 1}), 6121), cause));
    }
}
