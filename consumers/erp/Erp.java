import java.util.Map;

/** The ERP as a consumer of the auditor. */
public final class Erp {
    private Erp() {}

    public static void main(String[] arguments) throws Exception {
        Consumer.serve("11.4", Map.of(
                "effective_date", Contracts::effectiveDate,
                "billing_cycle", Contracts::billingCycle,
                "po_number", Contracts::poNumber));
    }
}
