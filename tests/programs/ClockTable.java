import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;

/** Parsers of moments as a consumer; with the argument `table` as clock_table.py, the strings one in a line. */
public class ClockTable {
    private static final TreeMap<String, Consumer.Parser> READS = new TreeMap<>();

    static {
        READS.put("simple_two_digits", text -> new SimpleDateFormat("MM/dd/yy", Locale.ROOT).parse(text));
        READS.put("simple_four_digits", text -> new SimpleDateFormat("yyyy-MM-dd", Locale.ROOT).parse(text));
        READS.put("old_date", text -> new Date(Date.parse(text)));
        READS.put("time_two_digits", text -> LocalDate.parse(text, DateTimeFormatter.ofPattern("M/d/yy", Locale.ROOT)));
        READS.put("local_date", LocalDate::parse);
        READS.put("local_date_time", LocalDateTime::parse);
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("serve")) Consumer.serve("1", READS);
        String[] texts = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1);
        List<String> found = new ArrayList<>();
        for (String name : READS.keySet()) {
            List<String> outcomes = new ArrayList<>();
            for (String text : texts) outcomes.add('"' + outcome(READS.get(name), text) + '"');
            found.add('"' + name + "\":[" + String.join(",", outcomes) + "]");
        }
        System.out.println("{\"now\":" + System.currentTimeMillis() + ",\"found\":{" + String.join(",", found) + "}}");
    }

    private static String outcome(Consumer.Parser parser, String text) {
        try {
            Object value = parser.parse(text);
            return value instanceof Date ? ((Date) value).toInstant().toString() : value.toString();
        } catch (Exception refused) {
            return "refused";
        }
    }
}
