// The portal as a consumer of the auditor.

import { serve } from "../protocol/consumer.mjs";
import * as portal from "./portal.mjs";

const ofJson = (read) => (text) => read(JSON.parse(text));

serve({
  version: "3.2.0",
  reads: {
    effective_date: ofJson(portal.effectiveDate),
    total_amount: ofJson(portal.totalAmount),
    term_months: ofJson(portal.termMonths),
    auto_renew: ofJson(portal.autoRenew),
  },
});
