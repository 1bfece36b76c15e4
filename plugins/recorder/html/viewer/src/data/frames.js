// SPDX-License-Identifier: Apache-2.0
// Blocks of kind `frames`: poses and velocities of bodies, places of nodes; contacts and patches are made when asked for.

import { Reader, plausible } from "./bytes.js";
import { decodeColors } from "./colors.js";
import { decodeContacts, noContacts } from "./contacts.js";
import { decodeLines, noLines } from "./lines.js";
import { decodePatches, noPatches } from "./patches.js";

/** Numbers of a body in a frame: position 0 to 2, rotation w x y z 3 to 6, velocity 7 to 9, angular velocity 10 to 12. */
export const BODY_NUMBERS = 13;

/** @typedef {{ length: number, rotation: number, velocity: number, angular_velocity: number, force: number, normal: number, pressure?: number }} Units */

/**
 * Consecutive frames.
 * @typedef {object} Frames
 * @property {number} count
 * @property {Float64Array} step  (count)
 * @property {Float64Array} time  (count) [s]
 * @property {Float32Array} bodies  (count x body count x BODY_NUMBERS); of body b stands at b - 1, the world has none
 * @property {Float32Array} nodes  (count x node count x 3) [m]
 * @property {Float32Array} turns  (count x turning nodes x 4) w x y z
 * @property {Float32Array | null} values  (count x coloured nodes); null: none
 * @property {number} low  the least of these @property {number} high  the largest
 * @property {Float32Array | null} [camera]  of the script (camera.js)
 * @property {Uint8Array} contactBytes
 * @property {Uint8Array} patchBytes
 * @property {Uint8Array} lineBytes
 * @property {import("./contacts.js").Contacts} [contacts]
 * @property {import("./patches.js").Patches} [patches]
 * @property {import("./lines.js").Lines} [lines]
 * @property {number} constraintCount  lines of a frame
 * @property {number} geometryCount  contacts lie between geometries below it
 * @property {(error: Error) => void} [onDamage]  hears of contacts or patches that cannot be read
 */

/** Number and times of the frames in a payload, which stand at its start. @param {Reader} reader */
function readTimes(reader) {
  const count = reader.count(9);
  const step = new Float64Array(count);
  let last = 0;
  for (let f = 0; f < count; f++) step[f] = last += reader.u();
  return { count, step, time: plausible(Float64Array.from(step, () => reader.f64())) };
}

/** A column goes to every `stride`-th number of `out`. */
function readColumn(reader, count, unit, out, offset, stride) {
  let value = 0;
  for (let f = 0; f < count; f++) {
    value += reader.s();
    out[offset + f * stride] = value * unit;
  }
}

function readColumns(reader, count, columns, unitOf) {
  reader.expect(count * columns);
  const out = new Float32Array(count * columns);
  for (let c = 0; c < columns; c++) readColumn(reader, count, unitOf(c), out, c, columns);
  return out;
}

/**
 * @param {Uint8Array} payload
 * @param {{ units: Units, bodyCount: number, nodeCount: number, geometryCount: number, constraintCount?: number, turningCount?: number,
 *   coloredCount?: number }} shape  bodyCount: without the world
 * @returns {Frames}
 */
export function decodeFrames(payload, { units, bodyCount, nodeCount, geometryCount, constraintCount = 0, turningCount = 0, coloredCount = 0 }) {
  const reader = new Reader(payload);
  const { count, step, time } = readTimes(reader);
  const { length: l, rotation: r, velocity: v, angular_velocity: w } = units;
  const unitOfBody = [l, l, l, r, r, r, r, v, v, v, w, w, w];
  const bodies = readColumns(reader, count, bodyCount * BODY_NUMBERS, (c) => unitOfBody[c % BODY_NUMBERS]);
  const nodes = readColumns(reader, count, nodeCount * 3, () => l);
  const turns = readColumns(reader, count, turningCount * 4, () => r);
  const contactBytes = reader.sized(), patchBytes = reader.sized();
  const lineBytes = constraintCount === 0 || reader.ended ? new Uint8Array(0) : reader.sized();
  const colors = coloredCount === 0 ? { values: null, low: Infinity, high: -Infinity } : decodeColors(new Reader(reader.sized()), count, coloredCount);
  return { count, step, time, bodies, nodes, turns, ...colors, contactBytes, patchBytes, lineBytes, geometryCount, constraintCount };
}

/** What `decode` makes, or `otherwise` when it cannot: bodies are shown all the same. */
function attempt(frames, decode, otherwise) {
  try {
    return decode();
  } catch (error) {
    frames.onDamage?.(error);
    return otherwise(frames.count);
  }
}

/** @param {Frames} frames @param {Units} units */
export function contactsOf(frames, units) {
  return (frames.contacts ??= attempt(frames, () => decodeContacts(frames.contactBytes, frames.count, units, frames.geometryCount), noContacts));
}

/** @param {Frames} frames @param {Units} units */
export function patchesOf(frames, units) {
  const contacts = contactsOf(frames, units);
  return (frames.patches ??= attempt(frames, () => decodePatches(frames.patchBytes, frames.count, units, contacts), noPatches));
}

/** @param {Frames} frames @param {Units} units */
export function linesOf(frames, units) {
  return (frames.lines ??= attempt(frames, () => decodeLines(frames.lineBytes, frames.count, frames.constraintCount, units), noLines));
}
