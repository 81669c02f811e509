import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.Base64;

/** Calls the reference ERP's functions: a line is a function and the text in Base64, the answer a line of tagged text. */
final class CallContracts {
    private CallContracts() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line; (line = lines.readLine()) != null; System.out.flush()) {
            String[] parts = line.split(" ", -1);
            String text = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
            try {
                Object value = Contracts.class.getDeclaredMethod(parts[0], String.class).invoke(null, text);
                System.out.println((value instanceof LocalDate ? "date:" : "text:") + value);
            } catch (java.lang.reflect.InvocationTargetException raised) {
                System.out.println("rejected");
            }
        }
    }
}
