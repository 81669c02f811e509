import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A function as a consumer of the auditor: PROTOCOL.md, in one file for Java 11 or newer, without dependencies.
 *
 * <p>Static methods of classes that are on the class path need no code at all, and no build:
 *
 * <pre>java -cp erp.jar Consumer.java 2.3.1 effective_date=com.acme.Dates::parse total=com.acme.Totals::parse</pre>
 *
 * <p>Any other function, with this class compiled beside it (javac -d classes Consumer.java Erp.java):
 *
 * <pre>
 * public class Erp {
 *     public static void main(String[] arguments) throws Exception {
 *         Consumer.serve("2.3.1", Map.of("effective_date", Dates::parse, "total", Totals::parse));
 *     }
 * }
 * </pre>
 *
 * <p>What a function throws is a rejection; an Error, such as a stack that overflows, is an error of the program. null,
 * NaN and an empty Optional are no value. A java.util.Date is an instant, stated with the offset of the default zone,
 * as its toString() does. System.out is led to stderr, since stdout is for answers.
 */
public final class Consumer {
    /** What reads one text. */
    public interface Parser {
        Object parse(String text) throws Exception;
    }

    private static final String NO_VALUE = "{\"null\":\"%s\"}";

    private Consumer() {}

    /** Answers the auditor until it stops. */
    public static void serve(String version, Map<String, Parser> reads) throws IOException {
        System.setOut(System.err);
        InputStream in = new FileInputStream(FileDescriptor.in);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        byte[] piece = new byte[1 << 16];
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int size; (size = in.read(piece)) >= 0; ) {
            int start = 0;
            for (int end = 0; end < size; end++) {
                if (piece[end] != '\n') continue;
                line.write(piece, start, end - start);
                String answer = answer(version, reads, new Message(line.toByteArray()).object());
                if (answer == null) System.exit(0);
                out.write((answer + "\n").getBytes(StandardCharsets.UTF_8));
                out.flush();
                line.reset();
                start = end + 1;
            }
            line.write(piece, start, size - start);
        }
        System.exit(0);
    }

    /** Serves static methods: the version, then {@code field=package.Class::method} each. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 2) {
            System.err.println("usage: java -cp CLASSES Consumer.java VERSION FIELD=package.Class::method...");
            System.exit(2);
        }
        Map<String, Parser> reads = new LinkedHashMap<>();
        for (String argument : List.of(arguments).subList(1, arguments.length)) {
            String[] parts = argument.split("=|::");
            if (parts.length != 3) throw new IllegalArgumentException(argument + " is not field=package.Class::method");
            reads.put(parts[0], parserOf(parts[1], parts[2]));
        }
        serve(arguments[0], reads);
    }

    private static Parser parserOf(String type, String name) throws ReflectiveOperationException {
        Class<?> found = Class.forName(type, true, ClassLoader.getSystemClassLoader());
        for (Method method : found.getDeclaredMethods()) {
            Class<?>[] takes = method.getParameterTypes();
            boolean fits = takes.length == 1 && takes[0].isAssignableFrom(String.class);
            if (!method.getName().equals(name) || !fits || !Modifier.isStatic(method.getModifiers())) continue;
            method.setAccessible(true);
            return text -> {
                try {
                    return method.invoke(null, text);
                } catch (InvocationTargetException raised) {
                    if (raised.getCause() instanceof Error) throw (Error) raised.getCause();
                    throw (Exception) raised.getCause();
                }
            };
        }
        throw new NoSuchMethodException(type + " has no static method " + name + "(String)");
    }

    private static String answer(String version, Map<String, Parser> reads, Map<String, Object> message) {
        if (message.containsKey("stop")) return null;
        if (message.containsKey("start")) return ready(version, reads, (List<?>) message.get("instants"));
        String id = String.valueOf(message.get("id"));
        Parser parser = reads.get(String.valueOf(message.get("read")));
        if (parser == null) return "{\"id\":" + id + ",\"error\":" + quoted("there is no field " + message.get("read")) + "}";
        StringBuilder text = new StringBuilder("{\"id\":").append(id).append(",\"values\":[");
        char separator = 0;
        for (Object value : (List<?>) message.get("values")) {
            if (separator != 0) text.append(separator);
            separator = ',';
            try {
                text.append(written(parser.parse((String) value)));
            } catch (Exception raised) {
                text.append("{\"rejected\":").append(quoted(textOf(raised))).append('}');
            } catch (OutOfMemoryError raised) {
                throw raised;
            } catch (Error raised) {
                text.append("{\"error\":").append(quoted(textOf(raised))).append('}');
            }
        }
        return text.append("]}").toString();
    }

    private static String ready(String version, Map<String, Parser> reads, List<?> instants) {
        List<String> names = new ArrayList<>();
        for (String name : reads.keySet()) names.add(quoted(name));
        List<String> offsets = new ArrayList<>();
        for (Object instant : instants == null ? List.of() : instants) {
            Instant at = Instant.ofEpochMilli(Long.parseLong(instant.toString()));
            offsets.add(String.valueOf(ZoneId.systemDefault().getRules().getOffset(at).getTotalSeconds()));
        }
        return "{\"ready\":1,\"version\":" + quoted(version) + ",\"reads\":[" + String.join(",", names)
                + "],\"tagged\":true,\"runtime\":" + quoted("java " + Runtime.version()) + ",\"now\":" + System.currentTimeMillis()
                + ",\"offsets\":[" + String.join(",", offsets) + "],\"locale\":"
                + quoted(Locale.getDefault(Locale.Category.FORMAT).toLanguageTag()) + "}";
    }

    /** Writes a value as PROTOCOL.md has it. */
    private static String written(Object value) {
        if (value == null) return "null";
        if (value instanceof CharSequence || value instanceof Character) return tagged("text", value);
        if (value instanceof Boolean) return value.toString();
        if (value instanceof Double || value instanceof Float) return floating(((Number) value).doubleValue(), value.toString());
        if (value instanceof BigDecimal) return decimal((BigDecimal) value);
        if (value instanceof Number && !value.getClass().getName().startsWith("java.")) return unexpected(value);
        if (value instanceof Number) return "\"int:" + value + "\"";
        if (value instanceof LocalDate) return tagged("date", value);
        if (value instanceof LocalDateTime) return tagged("datetime", DateTimeFormatter.ISO_LOCAL_DATE_TIME.format((LocalDateTime) value));
        if (value instanceof OffsetDateTime) return tagged("datetime", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format((OffsetDateTime) value));
        if (value instanceof ZonedDateTime) return written(((ZonedDateTime) value).toOffsetDateTime());
        if (value instanceof Instant) return tagged("datetime", value);
        if (value instanceof LocalTime) return tagged("time", value);
        if (value instanceof java.util.Date) return date((java.util.Date) value);
        if (value instanceof java.util.Calendar) return written(((java.util.Calendar) value).toInstant().atZone(((java.util.Calendar) value).getTimeZone().toZoneId()));
        if (value instanceof Optional) return ((Optional<?>) value).map(Consumer::written).orElse(String.format(NO_VALUE, "empty"));
        if (value instanceof Enum) return tagged("text", ((Enum<?>) value).name());
        if (value instanceof java.util.UUID) return tagged("text", value);
        return unexpected(value);
    }

    /** States a date of JDBC as it stands, and an instant with its offset here. */
    private static String date(java.util.Date value) {
        switch (value.getClass().getName()) { // java.sql is a module that may not be there
            case "java.sql.Date":
                return tagged("date", value);
            case "java.sql.Time":
                return tagged("time", value);
            case "java.sql.Timestamp":
                return tagged("datetime", value.toString().replace(' ', 'T'));
            default:
                return written(value.toInstant().atZone(ZoneId.systemDefault()));
        }
    }

    private static String floating(double value, String text) {
        if (Double.isNaN(value)) return String.format(NO_VALUE, "NaN");
        if (Double.isInfinite(value)) return "{\"rejected\":\"unexpected type: " + text + "\"}";
        return text; // the point stays: 3.0 is no integer
    }

    private static String decimal(BigDecimal value) {
        boolean fits = Math.abs((long) value.scale()) < 400; // 1e999999999 in full would use up the memory
        return "\"decimal:" + (fits ? value.toPlainString() : value.toString()) + "\"";
    }

    private static String tagged(String tag, Object content) {
        return quoted(tag + ":" + content);
    }

    private static String unexpected(Object value) {
        return "{\"rejected\":" + quoted("unexpected type: " + value.getClass().getName()) + "}";
    }

    private static String textOf(Throwable raised) {
        String name = raised.getClass().getSimpleName();
        return raised.getMessage() == null ? name : name + ": " + raised.getMessage();
    }

    private static String quoted(String text) {
        StringBuilder written = new StringBuilder(text.length() + 2).append('"');
        for (int at = 0; at < text.length(); at++) {
            char one = text.charAt(at);
            if (one == '"' || one == '\\') written.append('\\').append(one);
            else if (one < ' ' || Character.isSurrogate(one)) written.append(String.format("\\u%04x", (int) one));
            else written.append(one);
        }
        return written.append('"').toString();
    }

    /** A line of the auditor's: ASCII, objects and arrays of texts and numbers. Numbers stay texts. */
    private static final class Message {
        private final byte[] line;
        private int at;

        Message(byte[] line) {
            this.line = line;
        }

        Map<String, Object> object() {
            Map<String, Object> found = new LinkedHashMap<>();
            for (at++; next() != '}'; ) {
                String key = text();
                next();
                at++;
                found.put(key, value());
                if (next() == ',') at++;
            }
            at++;
            return found;
        }

        private Object value() {
            switch (next()) {
                case '{':
                    return object();
                case '[':
                    List<Object> items = new ArrayList<>();
                    for (at++; next() != ']'; ) {
                        items.add(value());
                        if (next() == ',') at++;
                    }
                    at++;
                    return items;
                case '"':
                    return text();
                default:
                    int start = at;
                    while (at < line.length && ",]} \t\r".indexOf(line[at]) < 0) at++;
                    return new String(line, start, at - start, StandardCharsets.US_ASCII);
            }
        }

        private int next() {
            while (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') at++;
            return line[at];
        }

        private String text() {
            next();
            int start = ++at;
            while (line[at] != '"' && line[at] != '\\') at++;
            if (line[at] == '"') return new String(line, start, at++ - start, StandardCharsets.UTF_8);
            StringBuilder text = new StringBuilder(new String(line, start, at - start, StandardCharsets.UTF_8));
            while (line[at] != '"') {
                if (line[at] == '\\') {
                    escape(text);
                    continue;
                }
                start = at;
                while (line[at] != '"' && line[at] != '\\') at++;
                text.append(new String(line, start, at - start, StandardCharsets.UTF_8));
            }
            at++;
            return text.toString();
        }

        private void escape(StringBuilder text) {
            int kind = "bfnrt".indexOf(line[at + 1]);
            if (line[at + 1] == 'u') {
                text.append((char) Integer.parseInt(new String(line, at + 2, 4, StandardCharsets.US_ASCII), 16));
                at += 6;
                return;
            }
            text.append(kind >= 0 ? "\b\f\n\r\t".charAt(kind) : (char) line[at + 1]);
            at += 2;
        }
    }
}
