// Draws what stands in the tables of a page. Without this script the tables are all there is.
import { expressionInterpreter } from "./vega-interpreter.js";

const { vega, vegaLite } = globalThis;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function config() {
  const ink = colour("ink"), muted = colour("muted"), line = colour("line");
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: null,
    font,
    view: { stroke: null },
    axis: {
      labelColor: muted, titleColor: muted, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal", labelLimit: 150,
    },
    text: { color: ink },
  };
}

// A column over its runs: a band for the interval, a line where the same is measured, a tick for the ceiling, and an
// upright mark for an incident, which is no point.
function trend({ steps }) {
  const ok = colour("ok"), high = colour("high"), muted = colour("muted"), mark = colour("mark");
  const x = {
    field: "n", type: "ordinal", title: null,
    axis: { labelExpr: "slice(data('steps')[datum.value - 1].when, 0, 10)", labelAngle: -40, labelOverlap: "greedy", grid: false },
  };
  const y = { type: "quantitative", title: "% right", scale: { domain: [0, 100] }, axis: { tickCount: 5 } };
  const tooltip = { field: "said" };
  const rated = [{ filter: "datum.rate !== null" }];
  return {
    data: { name: "steps", values: steps },
    height: 150, width: "container",
    encoding: { x },
    layer: [
      { transform: [{ filter: "datum.incident" }], mark: { type: "rule", color: high, strokeDash: [4, 3], strokeWidth: 2 }, encoding: { tooltip } },
      { transform: rated, mark: { type: "area", color: ok, opacity: 0.18 }, encoding: { y: { ...y, field: "low" }, y2: { field: "high" }, detail: { field: "segment" } } },
      { transform: rated, mark: { type: "rule", color: ok, opacity: 0.45 }, encoding: { y: { ...y, field: "low" }, y2: { field: "high" } } },
      { transform: rated, mark: { type: "line", color: ok, strokeWidth: 1.5 }, encoding: { y: { ...y, field: "rate" }, detail: { field: "segment" } } },
      { transform: rated, mark: { type: "tick", color: mark, thickness: 2, size: 13, orient: "horizontal" }, encoding: { y: { ...y, field: "ceiling" }, tooltip } },
      {
        transform: rated, mark: { type: "point", filled: true, size: 55, opacity: 1 },
        encoding: { y: { ...y, field: "rate" }, color: { condition: { test: "datum.untrusted", value: muted }, value: ok }, tooltip },
      },
    ],
  };
}

// Shapes by consumer: how dark a cell is says what share of the shape's cases the consumer accepts, its text how many
// are right.
function heat({ cells, shapes, consumers }, room) {
  const shared = {
    x: { field: "consumer", type: "nominal", sort: consumers, title: null, axis: { orient: "top", labelAngle: -30 } },
    y: { field: "shape", type: "nominal", sort: shapes, title: null },
    tooltip: { field: "said" },
  };
  return {
    data: { values: cells },
    width: Math.max(room, 180 + 58 * consumers.length), height: 26 * shapes.length + 50,
    encoding: shared,
    layer: [
      {
        mark: { type: "rect", stroke: colour("surface"), strokeWidth: 2 },
        encoding: {
          color: {
            condition: { test: "datum.accepted === null", value: colour("sunken") },
            field: "accepted", type: "quantitative", legend: null,
            scale: { domain: [0, 25, 50, 75, 100], range: ["h0", "h1", "h2", "h3", "h4"].map(colour) },
          },
        },
      },
      { mark: { type: "text", fontSize: 11, color: colour("ink") }, encoding: { text: { field: "right" } } },
    ],
  };
}

const KINDS = { trend, heat };

async function draw(figure) {
  const data = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
  const place = figure.querySelector(".chart");
  figure.hidden = false;
  figure.view?.finalize();
  place.replaceChildren();
  const spec = vegaLite.compile({ ...KINDS[data.kind](data, place.clientWidth), config: config(), autosize: { type: data.kind === "heat" ? "fit" : "fit-x", contains: "padding" } }).spec;
  const runtime = vega.parse(spec, null, { ast: true });
  figure.view = new vega.View(runtime, { expr: expressionInterpreter, renderer: "svg", container: place, hover: false });
  await figure.view.runAsync();
  // The place is one image with a name; what is in it stands in a table.
  place.querySelector("svg").setAttribute("aria-hidden", "true");
}

async function drawAll() {
  for (const figure of document.querySelectorAll("figure[data-chart]")) await draw(figure);
  document.documentElement.dataset.charts = "drawn";
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
drawAll();
