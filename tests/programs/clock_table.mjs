// Parsers of moments as a consumer; with names of packages' folders as arguments before. See clock_table.py.

import fs from "node:fs";
import { createRequire } from "node:module";
import { serve } from "../../consumers/protocol/consumer.mjs";

const [, , as, ...folders] = process.argv;
const [moment, luxon, chrono] = ["moment", "luxon", "chrono-node"].map((name, at) => createRequire(`${folders[at]}/x.js`)(name));

const reads = {
  js_date: (text) => new Date(text),
  js_date_with_a_zone: (text) => new Date(text),
  moment_time: (text) => moment(text, "HH:mm", true).toDate(),
  moment_month_and_day: (text) => moment(text, "MMMM D", true).toDate(),
  moment_day: (text) => moment(text, "DD/MM/YYYY", true).toDate(),
  luxon_iso: (text) => luxon.DateTime.fromISO(text).toJSDate(),
  luxon_month_and_day: (text) => luxon.DateTime.fromFormat(text, "LLLL d").toJSDate(),
  chrono: (text) => chrono.parseDate(text),
};

function outcome(parse, text) {
  try {
    const value = parse(text);
    return value === null || Number.isNaN(value.getTime()) ? "none" : value.toISOString();
  } catch {
    return "refused";
  }
}

if (as === "serve") await serve({ version: "1", reads });
const texts = JSON.parse(fs.readFileSync(0, "utf8"));
const found = Object.entries(reads).map(([name, parse]) => [name, texts.map((text) => outcome(parse, text))]);
fs.writeSync(1, JSON.stringify({ now: Date.now(), found: Object.fromEntries(found) })); // the kit leads console to stderr
