// SPDX-License-Identifier: Apache-2.0
// One plot: its lines, the line of the time that is shown, and the values there.

import uPlot from "uplot";
import { downsample, valueAt } from "../data/series.js";
import { LINES } from "../scene/palette.js";
import { el } from "./dom.js";
import { lineOf } from "./plot_groups.js";
import { short, withUnit } from "./numbers.js";

const HEIGHT = 106;
const CLICK = 3; // pixels that a click may move

const WHOLE = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap((ten) => [ten, 2 * ten, 5 * ten]);

// uPlot divides an axis in steps of 1e-32 to 1e32, where there are whole numbers only of WHOLE, and beyond that without end
const LARGEST = 1e30, LARGEST_WHOLE = 1e9, LARGEST_POWER = 1e20; // at 1e-30 and 1e-38 it was seen to hang
const between = (low, value, high) => Math.min(Math.max(value, low), high);
const positive = (value) => (value > 0 ? between(1 / LARGEST_POWER, value, LARGEST_POWER) : null);
const present = (value) => (Number.isNaN(value) ? null : between(-LARGEST, value, LARGEST));
const presentWhole = (value) => (Number.isNaN(value) ? null : between(-LARGEST_WHOLE, value, LARGEST_WHOLE));

export class Plot {
  /**
   * @param {import("./plot_groups.js").Group} group
   * @param {{ title: string, series: import("../data/series.js").Series }[]} runs
   * @param {{ seek: (t: number) => void, zoom: (range: [number, number] | null) => void, hover: (t: number | null) => void }} actions
   */
  constructor(group, runs, actions) {
    this.group = group;
    this.runs = runs;
    this.actions = actions;
    this.lines = runs.length > 1 ? runs.map((run) => lineFor(run, group.lines[0], run.title)) : partsOf(runs[0], group);
    this.lines.forEach((line, k) => (line.colour = LINES[k % LINES.length]));
    this.values = this.lines.map(() => el("b"));
    this.head = el("header", {}, el("h3", {}, group.title), el("div", { class: "values" },
      ...this.lines.map((line, k) => {
        const swatch = el("i");
        swatch.style.background = line.colour;
        return el("span", {}, swatch, line.label ? `${line.label} ` : "", this.values[k]);
      })));
    this.body = el("div", { class: "chart" });
    this.root = el("section", { class: "plot", "aria-label": `Plot: ${group.title}`, "data-plot": group.key }, this.head, this.body);
    this.cursor = el("div", { class: "cursor" });
  }

  /** Number of all points of the first line, drawn or not. */
  get pointCount() {
    return this.lines[0]?.values.length ?? 0;
  }

  /** Draws, once there is a place to draw in. @param {{ text: string, grid: string }} colours */
  draw(colours) {
    this.chart?.destroy();
    const filter = this.group.log ? { filter: decades } : {};
    const steps = this.group.whole ? { incrs: WHOLE } : {};
    const axis = { stroke: colours.text, grid: { stroke: colours.grid, width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    this.chart = new uPlot({
      width: Math.max(this.body.clientWidth, 50), height: HEIGHT, legend: { show: false }, padding: [6, 8, 0, 0],
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
      scales: { x: { time: false }, y: this.group.log ? { distr: 3, log: 10 } : { range: padded } },
      axes: [
        { ...axis, size: 22, space: 40, gap: 3 },
        { ...axis, size: 46, space: 24, gap: 4, ...filter, ...steps, grid: { ...axis.grid, ...filter }, values: (_, splits) => splits.map(tick) },
      ],
      series: [{}, ...this.lines.map(({ label, colour }) => ({
        label, stroke: colour, width: 1.5, points: { show: false }, spanGaps: this.runs.length > 1,
      }))],
      hooks: {
        setSelect: [(chart) => this.#select(chart)],
        setCursor: [(chart) => this.actions.hover(chart.cursor.left >= 0 ? chart.posToVal(chart.cursor.left, "x") : null)],
      },
    }, null, this.body);
    this.chart.over.append(this.cursor);
    this.#listen(this.chart.over);
  }

  #listen(over) {
    let from = null;
    over.addEventListener("mousedown", (event) => (from = event.button === 0 ? event.clientX : null));
    over.addEventListener("mouseup", (event) => {
      if (from === null || Math.abs(event.clientX - from) > CLICK) return;
      this.actions.seek(this.chart.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    });
    over.addEventListener("dblclick", () => this.actions.zoom(null));
  }

  #select(chart) {
    const { left, width } = chart.select;
    if (width <= CLICK) return;
    chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.actions.zoom([chart.posToVal(left, "x"), chart.posToVal(left + width, "x")]);
  }

  /** Shows the times between two. */
  range(from, to) {
    const width = Math.max(this.body.clientWidth, 50);
    this.chart.setSize({ width, height: HEIGHT });
    const keep = this.group.log ? positive : this.group.whole ? presentWhole : present;
    const tables = this.runs.map(({ series }) => {
      const columns = this.lines.filter((line) => line.series === series).map((line) => line.values);
      const shown = downsample(series.time, columns, from, to, 2 * width);
      return [shown.time, ...shown.columns.map((values) => Array.from(values, keep))];
    });
    const table = tables.length > 1 ? uPlot.join(tables) : tables[0];
    this.chart.batch(() => {
      this.chart.setData(table, false);
      this.chart.setScale("x", { min: from, max: to });
    });
    this.width = this.chart.over.clientWidth;
  }

  /** Moves the line of time, and says the values at `reading`, which is it or where the pointer is. */
  mark(time, reading) {
    const { chart } = this;
    const left = chart.valToPos(time, "x");
    this.cursor.hidden = !(left >= 0 && left <= this.width);
    this.cursor.style.transform = `translateX(${left}px)`;
    this.lines.forEach(({ series, values }, k) => {
      this.values[k].textContent = series.time.length ? withUnit(...scaled(valueAt(series.time, values, reading), this.group.unit), 3) : "–";
    });
  }
}

function lineFor(run, { of }, label) {
  return { series: run.series, values: lineOf(run.series, of), label };
}

/** The lines of a single recording. Parts that are zero throughout are left out. */
function partsOf(run, { lines }) {
  if (lines.length === 1) return [lineFor(run, lines[0], "")];
  return lines.map((line) => lineFor(run, line, line.label)).filter(({ values }, k) => k === 0 || values.some(Boolean));
}

/** Of a logarithmic scale some powers of ten, four at most. */
function decades(chart, splits) {
  const powers = splits.map((value) => Math.log10(value)).filter(isWhole);
  const every = Math.ceil(powers.length / 4);
  return splits.map((value) => (isWhole(Math.log10(value)) && Math.round(Math.log10(value)) % every === 0 ? value : null));
}

function isWhole(power) {
  return Math.abs(power - Math.round(power)) < 1e-6;
}

function tick(value) {
  if (value == null) return "";
  const size = Math.abs(value);
  return size > 0 && (size < 1e-3 || size >= 1e5) ? value.toExponential().replace("e+", "e").replaceAll("-", "−") : short(value);
}

/** Micro-seconds count as seconds, so that prefixes fit. */
function scaled(value, unit) {
  return unit === "µs" ? [value * 1e-6, "s"] : [value, unit];
}

/** A little more than from the smallest to the largest value. */
function padded(_, low, high) {
  if (low == null) return [0, 1];
  const pad = high > low ? 0.08 * (high - low) : Math.abs(high) || 1;
  return [low >= 0 && low < 0.5 * high ? Math.max(0, low - pad) : low - pad, high + pad];
}
