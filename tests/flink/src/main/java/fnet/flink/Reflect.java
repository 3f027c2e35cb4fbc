/* SPDX-License-Identifier: Apache-2.0 */
package fnet.flink;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;

/** What is not public in Flink, or differs from version to version. */
public final class Reflect {
    private Reflect() {}

    public static boolean exists(String type) {
        try {
            type(type);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    public static Class<?> type(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    public static boolean canMake(Class<?> type, Object... arguments) {
        return constructor(type, arguments) != null;
    }

    public static Object make(Class<?> type, Object... arguments) {
        Constructor<?> found = constructor(type, arguments);
        if (found == null) {
            throw new IllegalStateException("no constructor of " + type + " takes "
                    + Arrays.toString(arguments));
        }
        return run(() -> found.newInstance(arguments));
    }

    public static Object make(String type, Object... arguments) {
        return make(type(type), arguments);
    }

    public static boolean canCall(Class<?> type, String method, Object... arguments) {
        return method(type, method, arguments) != null;
    }

    public static Object call(Object target, String method, Object... arguments) {
        return call(target.getClass(), target, method, arguments);
    }

    public static Object callStatic(Class<?> type, String method, Object... arguments) {
        return call(type, null, method, arguments);
    }

    /** The static field of TYPE, an enum's value for instance. */
    public static Object constant(String type, String name) {
        return run(() -> field(type(type), name).get(null));
    }

    public static boolean has(Object target, String name) {
        return field(target.getClass(), name) != null;
    }

    public static Object get(Object target, String name) {
        return run(() -> field(target.getClass(), name).get(target));
    }

    public static void set(Object target, String name, Object value) {
        run(() -> {
            field(target.getClass(), name).set(target, value);
            return null;
        });
    }

    private static Object call(Class<?> type, Object target, String method, Object... arguments) {
        Method found = method(type, method, arguments);
        if (found == null) {
            throw new IllegalStateException("no " + type + "." + method + " takes "
                    + Arrays.toString(arguments));
        }
        return run(() -> found.invoke(target, arguments));
    }

    private static Constructor<?> constructor(Class<?> type, Object... arguments) {
        for (Constructor<?> c : type.getDeclaredConstructors()) {
            if (takes(c, arguments)) {
                c.setAccessible(true);
                return c;
            }
        }
        return null;
    }

    private static Method method(Class<?> type, String name, Object... arguments) {
        for (Class<?> t = type; t != null; t = t.getSuperclass()) {
            for (Method m : t.getDeclaredMethods()) {
                if (m.getName().equals(name) && takes(m, arguments)) {
                    m.setAccessible(true);
                    return m;
                }
            }
        }
        return null;
    }

    private static Field field(Class<?> type, String name) {
        for (Class<?> t = type; t != null; t = t.getSuperclass()) {
            for (Field f : t.getDeclaredFields()) {
                if (f.getName().equals(name)) {
                    f.setAccessible(true);
                    return f;
                }
            }
        }
        return null;
    }

    private static boolean takes(Executable executable, Object... arguments) {
        Class<?>[] wanted = executable.getParameterTypes();
        if (wanted.length != arguments.length) {
            return false;
        }
        for (int i = 0; i < wanted.length; i++) {
            if (!boxed(wanted[i]).isInstance(arguments[i])) {
                return false;
            }
        }
        return true;
    }

    private static Class<?> boxed(Class<?> type) {
        if (type == boolean.class) {
            return Boolean.class;
        }
        if (type == int.class) {
            return Integer.class;
        }
        return type == long.class ? Long.class : type;
    }

    private interface Step {
        Object run() throws ReflectiveOperationException;
    }

    private static Object run(Step step) {
        try {
            return step.run();
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
