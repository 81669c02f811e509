import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What Java code makes of a text, by way of the kit. */
public class Erp {
    static final Map<String, Supplier<Object>> VALUES = Map.ofEntries(
            Map.entry("date", () -> LocalDate.of(2024, 3, 1)),
            Map.entry("datetime", () -> LocalDateTime.of(2024, 3, 1, 9, 5)),
            Map.entry("aware", () -> LocalDateTime.of(2024, 3, 1, 9, 5).atOffset(ZoneOffset.ofHours(-8))),
            Map.entry("zoned", () -> LocalDateTime.of(2024, 3, 1, 9, 5).atZone(ZoneId.of("Europe/Berlin"))),
            Map.entry("instant", () -> Instant.ofEpochSecond(1709888707)),
            Map.entry("time", () -> LocalTime.of(9, 5)),
            Map.entry("util", () -> new Date(1709294400000L)),
            Map.entry("sql", () -> java.sql.Date.valueOf("2024-03-01")),
            Map.entry("stamp", () -> java.sql.Timestamp.valueOf("2024-03-01 09:05:07")),
            Map.entry("decimal", () -> new BigDecimal("12.50")),
            Map.entry("plain", () -> new BigDecimal("1E+3")),
            Map.entry("vast", () -> new BigDecimal("1E+999999999")),
            Map.entry("integer", () -> 24),
            Map.entry("big", () -> new BigInteger("123456789012345678901234567890")),
            Map.entry("double", () -> 3.0),
            Map.entry("exponent", () -> 1.5e10),
            Map.entry("nan", () -> Double.NaN),
            Map.entry("infinite", () -> Float.POSITIVE_INFINITY),
            Map.entry("yes", () -> true),
            Map.entry("empty", Optional::empty),
            Map.entry("some", () -> Optional.of(7L)),
            Map.entry("text", () -> "a\0b\ud800\n\"\\"),
            Map.entry("enum", () -> TimeUnit.DAYS),
            Map.entry("uuid", () -> new UUID(1, 2)),
            Map.entry("object", Object::new),
            Map.entry("throws", () -> {
                throw new IllegalStateException("no value");
            }),
            Map.entry("deep", Erp::deep),
            Map.entry("noise", () -> {
                System.out.println("noise");
                return "quiet";
            }));

    static Object deep() {
        return "" + deep();
    }

    static LocalDate day(String text) {
        return LocalDate.parse(text);
    }

    static Object now(String text) {
        return LocalDateTime.now();
    }

    public static void main(String[] arguments) throws Exception {
        Consumer.serve("2.3.1", Map.of("made", text -> text.equals("null") ? null : VALUES.get(text).get(),
                "effective_date", Erp::day, "now", Erp::now, "po_number", text -> text));
    }
}
