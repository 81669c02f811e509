import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.ResolverStyle;
import java.util.Map;

/** What the ERP makes of a contract's fields: strict formats and exact keys. */
final class Contracts {
    private static final DateTimeFormatter DAY =
            DateTimeFormatter.ofPattern("uuuu-MM-dd").withResolverStyle(ResolverStyle.STRICT);

    private static final Map<String, String> CYCLES =
            Map.of("monthly", "monthly", "quarterly", "quarterly", "annual", "annual", "yearly", "annual");

    private Contracts() {}

    static LocalDate effectiveDate(String text) {
        return LocalDate.parse(text, DAY);
    }

    static String billingCycle(String text) {
        String cycle = CYCLES.get(text);
        if (cycle == null) throw new IllegalArgumentException("no billing cycle: " + text);
        return cycle;
    }

    /** The key of an order: seven to ten digits, or PO-, the year and five digits. */
    static String poNumber(String text) {
        if (!text.matches("[0-9]{7,10}|PO-[0-9]{4}-[0-9]{5}")) throw new IllegalArgumentException("no order: " + text);
        return text;
    }
}
