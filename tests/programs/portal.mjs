// What web code makes of a text, by way of the kit.
import { serve } from "../../consumers/protocol/consumer.mjs";
import "./talkative.mjs";

const values = {
  date: () => new Date("2024-03-01T12:00:00Z"),
  invalid: () => new Date("soon"),
  old: () => new Date("1880-01-01T00:00:00Z"),
  half: () => 12.5,
  whole: () => 3,
  huge: () => 1.5e21,
  tiny: () => 1e-7,
  nan: () => NaN,
  infinite: () => -Infinity,
  big: () => 12345678901234567890n,
  yes: () => true,
  null: () => null,
  undefined: () => undefined,
  text: () => "a\0b\ud800\n\u2028",
  boxed: () => new String("boxed"),
  object: () => ({ rejected: "not by us" }),
  symbol: () => Symbol("s"),
  later: async () => "later",
  refused: async () => Promise.reject(new RangeError("no")),
  throws: () => { throw new TypeError("no value"); },
  string: () => { throw "a string"; },
  noise: () => { console.log("noise"); process.stdout.write("noise\n"); return "quiet"; },
};

serve({
  version: "1.4.2",
  reads: {
    made: (text) => values[text](),
    effective_date: (text) => new Date(text),
    total: (text) => Number(text),
    auto_renew: (text) => Boolean(text),
    po_number: (text) => text,
  },
});
