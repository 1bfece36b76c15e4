// SPDX-License-Identifier: Apache-2.0
// Blocks of kind `series`, and what is drawn of them.

import { Reader, plausible } from "./bytes.js";

/**
 * @typedef {object} Points  of one block
 * @property {Float64Array} step @property {Float64Array} time
 * @property {Map<string, { unit: string, values: Float32Array }>} columns
 */

/** @param {Uint8Array} payload @returns {Points} */
export function decodeSeries(payload) {
  const reader = new Reader(payload);
  const count = reader.count(9);
  const names = Array.from({ length: reader.count(2) }, () => ({ name: reader.text(), unit: reader.text() }));
  const step = new Float64Array(count);
  let last = 0;
  for (let k = 0; k < count; k++) step[k] = last += reader.u();
  const time = plausible(new Float64Array(reader.planes(count, 8)));
  const columns = new Map();
  for (const { name, unit } of names) {
    const own = columns.has(name) ? `${name} (signal)` : name; // a signal does not replace what is always there
    columns.set(own, { unit, values: new Float32Array(reader.planes(count, 4)).map((value) => (Number.isFinite(value) ? value : NaN)) });
  }
  return { step, time, columns };
}

/**
 * Numbers of every step of a run, in columns.
 * @typedef {object} Series
 * @property {Float64Array} time  (n) [s] never less than before
 * @property {Map<string, { unit: string, values: Float32Array }>} columns  NaN: no value
 * @property {number[]} offsets  by how much times were moved after each reset [s]
 */

/**
 * One series from the blocks of a run. Where the world was reset, from one block to the next, time goes on from there.
 * @param {Points[]} blocks @returns {Series}
 */
export function joinSeries(blocks) {
  const count = blocks.reduce((sum, block) => sum + block.time.length, 0);
  const time = new Float64Array(count);
  const columns = new Map();
  const offsets = [];
  let at = 0, last = -Infinity;
  for (const block of blocks) {
    if (block.time[0] < last) offsets.push(time[at - 1] - block.time[0]);
    const offset = offsets.at(-1) ?? 0;
    time.set(block.time.map((t) => t + offset), at);
    last = block.time.at(-1) ?? last;
    for (const [name, { unit, values }] of block.columns) {
      if (!columns.has(name)) columns.set(name, { unit, values: new Float32Array(count).fill(NaN) });
      columns.get(name).values.set(values, at);
    }
    at += block.time.length;
  }
  return { time, columns, offsets };
}

/** First index whose time is >= t. @param {ArrayLike<number>} time */
export function indexAt(time, t) {
  let low = 0, high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The value of the last step at or before t; at the start, where none has been made, that of the first.
 * @param {Float64Array} time @param {Float32Array} values
 */
export function valueAt(time, values, t) {
  const next = indexAt(time, t);
  const at = time[next] === t ? next : Math.max(0, next - 1);
  return at === 0 && Number.isNaN(values[0]) && values.length > 1 ? values[1] : values[at];
}

/**
 * What a plot of `width` points shows of columns between two times: all points where they fit; else of each of width/2
 * equal spans its smallest and largest value, so that no peak is lost.
 * @param {Float64Array} time @param {Float32Array[]} columns
 * @returns {{ time: Float64Array, columns: Float32Array[] }}
 */
export function downsample(time, columns, from, to, width) {
  const first = Math.max(0, indexAt(time, from) - 1), end = Math.min(time.length, indexAt(time, to) + 2);
  if (end - first <= width) {
    return { time: time.subarray(first, end), columns: columns.map((values) => values.subarray(first, end)) };
  }
  const spans = width >> 1;
  const edges = Array.from({ length: spans + 1 }, (_, k) => first + Math.round(((end - first) * k) / spans));
  const shownTime = Float64Array.from({ length: 2 * spans }, (_, k) => {
    const [a, b] = [edges[k >> 1], edges[(k >> 1) + 1]];
    return time[k % 2 ? b - 1 : a];
  });
  return { time: shownTime, columns: columns.map((values) => extremes(values, edges)) };
}

/** Of every span between edges its smallest and largest value, in the order in which they came. */
function extremes(values, edges) {
  const out = new Float32Array(2 * (edges.length - 1)).fill(NaN);
  for (let k = 0; k + 1 < edges.length; k++) {
    let low = -1, high = -1;
    for (let i = edges[k]; i < edges[k + 1]; i++) {
      if (Number.isNaN(values[i])) continue;
      if (low < 0 || values[i] < values[low]) low = i;
      if (high < 0 || values[i] > values[high]) high = i;
    }
    if (low < 0) continue;
    out[2 * k] = values[Math.min(low, high)];
    out[2 * k + 1] = values[Math.max(low, high)];
  }
  return out;
}
