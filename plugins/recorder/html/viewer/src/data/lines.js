// SPDX-License-Identifier: Apache-2.0
// Lines of constraints of plugins in consecutive frames: a cable's path, a spring's axis.

import { Reader } from "./bytes.js";

/**
 * @typedef {object} Lines  line i of frame f has number k = f * count + i
 * @property {number} count  of a frame
 * @property {Uint8Array} slack  (frames x count) 1: it carries nothing, because it only pulls or only pushes
 * @property {Float32Array} force  (frames x count) along it, < 0 pulls; of several rows the size [N]
 * @property {Uint32Array} start  (frames x count + 1) points of line k are start[k] ... start[k + 1] - 1
 * @property {Float32Array} point  (points x 3) [m]
 * @property {number} largest  of all sizes of forces [N]
 */

/**
 * @param {Uint8Array} bytes  the two streams; empty in recordings of before there were any
 * @param {number} frameCount @param {number} count  lines of a frame @param {import("./frames.js").Units} units
 * @returns {Lines}
 */
export function decodeLines(bytes, frameCount, count, units) {
  if (bytes.length === 0 || count === 0) return noLines();
  const streams = new Reader(bytes);
  const numbers = new Reader(streams.sized()), points = new Reader(streams.sized());
  const total = frameCount * count;
  numbers.expect(3 * total);
  const slack = new Uint8Array(total), force = new Float32Array(total), start = new Uint32Array(total + 1);
  for (let k = 0; k < total; k++) {
    slack[k] = numbers.u() ? 1 : 0;
    force[k] = numbers.s() * units.force;
    start[k + 1] = start[k] + numbers.u();
  }
  points.expect(3 * start[total]);
  const point = new Float32Array(3 * start[total]);
  for (let k = 0; k < total; k++) {
    const at = [0, 0, 0];
    for (let p = start[k]; p < start[k + 1]; p++) {
      for (let c = 0; c < 3; c++) point[3 * p + c] = (at[c] += points.s()) * units.length;
    }
  }
  return { count, slack, force, start, point, largest: force.reduce((most, value) => Math.max(most, Math.abs(value)), 0) };
}

/**
 * The points of line i where a time lies; between two frames on the way from one to the other when they have as many.
 * @param {Lines} lines @param {number} index  frame @param {Lines} next @param {number} nextIndex @param {number} fraction of the way
 * @param {number} i @returns {number[][]}
 */
export function placesOf(lines, index, next, nextIndex, fraction, i) {
  const [k, n] = [index * lines.count + i, nextIndex * next.count + i];
  const [from, to] = [lines.point.subarray(3 * lines.start[k], 3 * lines.start[k + 1]), next.point.subarray(3 * next.start[n], 3 * next.start[n + 1])];
  const part = from.length === to.length ? fraction : 0;
  return Array.from({ length: from.length / 3 }, (_, p) => [0, 1, 2].map((c) => from[3 * p + c] + part * ((to[3 * p + c] ?? 0) - from[3 * p + c])));
}

/** Lines of frames without any. @returns {Lines} */
export function noLines() {
  return { count: 0, slack: new Uint8Array(0), force: new Float32Array(0), start: new Uint32Array(1), point: new Float32Array(0), largest: 0 };
}
