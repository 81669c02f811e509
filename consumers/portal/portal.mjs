// What the portal makes of a contract's fields: each function takes what JSON.parse gave, as web code does.

/** The day on the contract's page, shown in the zone of whoever looks at it. */
export const effectiveDate = (value) => value && new Date(value);

/** The amount for the sums at the foot of a list: whatever is no digit, point or sign goes. */
export const totalAmount = (value) => Number(String(value).replace(/[^0-9.-]/g, ""));

/** The term in months: the number that the text begins with. */
export const termMonths = (value) => parseInt(value, 10);

/** Whether the badge "renews" is shown. */
export const autoRenew = (value) => Boolean(value);
