// Calls the reference portal's functions: a line is [function, JSON text], the answer a line of tagged text.

import readline from "node:readline";
import * as portal from "../../consumers/portal/portal.mjs";

const tagged = (value) => {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "null" : `datetime:${value.toISOString().slice(0, 19)}`;
  if (typeof value === "boolean") return `bool:${value}`;
  if (typeof value === "number") return Number.isNaN(value) ? "null" : `${Number.isInteger(value) ? "int" : "decimal"}:${value}`;
  return `text:${value}`;
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [name, token] = JSON.parse(line);
  let answer = "rejected";
  try {
    answer = tagged(portal[name](JSON.parse(token)));
  } catch {}
  console.log(answer);
}
