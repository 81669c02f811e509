// A function as a consumer of the auditor: PROTOCOL.md, in Node 16.9 or newer, without dependencies.
//
//     import { serve } from "./consumer.mjs";
//     import { parseDate, parseTotal } from "./portal.mjs";
//     serve({ version: "1.4.2", reads: { effective_date: parseDate, total: parseTotal } });
//
// A function takes one text and returns the value that the program goes on with, or a promise of it. What it throws is
// a rejection; null, undefined, NaN and an invalid Date are no value. A Date is an instant, stated with the offset of
// this process's zone, as its toString() does. From this import on, console.log is led to stderr, since stdout is for
// answers: import this first.

import fs from "node:fs";

process.stdout.write = process.stderr.write.bind(process.stderr);

/** Answers the auditor until it stops; never returns before. */
export async function serve({ version, reads }) {
  for (const line of linesOf(0)) {
    const message = JSON.parse(line);
    if (message.stop) break;
    if (message.start) write(JSON.stringify(ready(version, reads, message.instants ?? [])));
    else if (message.read !== undefined) write(await answer(reads, message));
  }
  process.exit(0);
}

function ready(version, reads, instants) {
  return {
    ready: 1,
    version: String(version),
    reads: Object.keys(reads),
    tagged: true,
    runtime: `node ${process.versions.node}`,
    now: Date.now(),
    offsets: instants.map((instant) => offsetOf(new Date(instant))),
    locale: Intl.DateTimeFormat().resolvedOptions().locale,
  };
}

async function answer(reads, { id, read, values }) {
  const parse = Object.hasOwn(reads, read) ? reads[read] : undefined;
  if (typeof parse !== "function") return JSON.stringify({ id, error: `there is no field ${read}` });
  const answers = new Array(values.length);
  for (let index = 0; index < values.length; index += 1) {
    try {
      let value = parse(values[index]);
      if (typeof value === "object" && value !== null && typeof value.then === "function") value = await value;
      answers[index] = written(value);
    } catch (error) {
      answers[index] = { rejected: textOf(error) };
    }
  }
  return JSON.stringify({ id, values: answers });
}

/** Writes a value as PROTOCOL.md has it. */
function written(value) {
  switch (typeof value) {
    case "string":
      return `text:${value}`;
    case "boolean":
      return value;
    case "number":
      if (Number.isNaN(value)) return { null: "NaN" };
      if (!Number.isFinite(value)) return { rejected: `unexpected type: ${value}` };
      return Math.abs(value) < 1e21 ? value : inFull(value);
    case "bigint":
      return `int:${value}`;
    case "undefined":
      return { null: "undefined" };
    case "object":
      if (value === null) return null;
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? { null: "Invalid Date" } : stated(value);
      if (value instanceof String || value instanceof Number || value instanceof Boolean) return written(value.valueOf());
  }
  return { rejected: `unexpected type: ${value?.constructor?.name ?? typeof value}` };
}

/** Writes a whole number that JavaScript shows with an exponent by the same digits, followed by zeros. */
function inFull(value) {
  const [digits, exponent] = String(value).split("e+");
  const [whole, fraction = ""] = digits.split(".");
  return `int:${whole}${fraction.padEnd(Number(exponent), "0")}`;
}

/** States an instant with its offset here. */
function stated(date) {
  const offset = offsetOf(date);
  const local = new Date(date.getTime() + offset * 1000).toISOString().slice(0, -1);
  const seconds = Math.abs(offset);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours, minutes, rest] = parts.map((part) => String(part).padStart(2, "0"));
  return `datetime:${local}${offset < 0 ? "-" : "+"}${hours}:${minutes}${rest === "00" ? "" : `:${rest}`}`;
}

/** Gives the seconds by which local time is ahead of UTC. */
function offsetOf(date) {
  const local = new Date(0);
  local.setUTCFullYear(date.getFullYear(), date.getMonth(), date.getDate());
  local.setUTCHours(date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds());
  return (local.getTime() - date.getTime()) / 1000;
}

function textOf(error) {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : `${typeof error}: ${error}`;
  } catch {
    return "an error without a text";
  }
}

function* linesOf(descriptor) {
  const piece = Buffer.allocUnsafe(1 << 20);
  let parts = [];
  for (;;) {
    const size = patiently(() => fs.readSync(descriptor, piece));
    if (size === 0) return;
    let start = 0;
    for (let end; (end = piece.indexOf(10, start)) >= 0 && end < size; start = end + 1) {
      const line = piece.toString("utf8", start, end);
      yield parts.length ? parts.join("") + line : line;
      parts = [];
    }
    if (start < size) parts.push(piece.toString("latin1", start, size)); // what the auditor sends is ASCII
  }
}

function write(text) {
  const line = Buffer.from(`${text}\n`);
  for (let sent = 0; sent < line.length; ) sent += patiently(() => fs.writeSync(1, line, sent));
}

/** Calls again what the other end was not ready for. */
function patiently(call) {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (error.code === "EOF") return 0;
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}
