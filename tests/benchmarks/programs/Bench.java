import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;

public class Bench {
    static LocalDate day(String text) {
        return LocalDate.parse(text);
    }

    /** CPU nanoseconds per string of each function alone, over the lines of a file, when it is warm. */
    static void bare(List<String> strings, Consumer.Parser parser) {
        var threads = ManagementFactory.getThreadMXBean();
        long used = 0;
        for (int round = 0; round < 3; round++) {
            long before = threads.getCurrentThreadCpuTime();
            long sink = 0;
            for (String text : strings) {
                try {
                    sink += parser.parse(text).hashCode();
                } catch (Exception raised) {
                    sink += raised.getMessage().length();
                }
            }
            used = threads.getCurrentThreadCpuTime() - before;
            if (sink == 42) throw new IllegalStateException("never");
        }
        System.out.println((double) used / strings.size());
    }

    public static void main(String[] arguments) throws Exception {
        Consumer.Parser same = text -> text;
        Consumer.Parser day = Bench::day;
        if (arguments.length > 0) {
            List<String> strings = Files.readAllLines(Path.of(arguments[0]));
            bare(strings, same);
            bare(strings, day);
        } else {
            Consumer.serve("1", Map.of("same", same, "day", day));
        }
    }
}
