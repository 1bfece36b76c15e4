// SPDX-License-Identifier: Apache-2.0
// Contacts of consecutive frames.

import { Reader, unzigzag } from "./bytes.js";

export const STATE = { open: 0, stick: 1, slip: 2 };
const STATE_BITS = 3;
const IN_PATCH = 4;

/**
 * @typedef {object} Contacts
 * @property {Int32Array} link  (n) the same contact in the frame before, -1: new
 * @property {Uint32Array} start  (frames + 1) the contacts of frame f are start[f] ... start[f + 1] - 1
 * @property {Uint32Array} geometryA  (n)
 * @property {Uint32Array} geometryB  (n)
 * @property {Float64Array} pointUnits  (n x 3) in units of length
 * @property {Float32Array} point  (n x 3) [m]
 * @property {Float32Array} normal  (n x 3) from a into b
 * @property {Float32Array} force  (n x 3) on b [N]
 * @property {Float32Array} gap  (n) [m]
 * @property {Float32Array} slip  (n) [m/s]
 * @property {Float32Array} glide  (n) how far the law holds it off the surface, by its own estimate; 0 unless it slips [m]
 * @property {Uint8Array} state  (n) one of STATE
 * @property {Uint8Array} inPatch  (n) 1: face of a patch
 */

/** Which contact before each one is the same, -1: none, and between what it acts. @param {Reader} reader */
function readLinks(reader, frameCount) {
  const start = new Uint32Array(frameCount + 1);
  const link = [], geometryA = [], geometryB = [];
  for (let f = 0; f < frameCount; f++) {
    const count = reader.count();
    const before = f > 0 ? start[f - 1] : 0;
    let expected = 0;
    for (let k = 0; k < count; k++) {
      const code = reader.u();
      if (code === 0) {
        link.push(-1);
        geometryA.push(reader.u());
        geometryB.push(reader.u());
        continue;
      }
      const index = expected + unzigzag(code - 1);
      if (f === 0 || index < 0 || index >= start[f] - before) throw new Error("a contact is linked to none");
      expected = index + 1;
      link.push(before + index);
      geometryA.push(geometryA[before + index]);
      geometryB.push(geometryB[before + index]);
    }
    start[f + 1] = start[f] + count;
  }
  return { start, link, geometryA: Uint32Array.from(geometryA), geometryB: Uint32Array.from(geometryB) };
}

/** `width` integers of every contact, which are kept as differences to the linked one. */
function readLinked(reader, link, width) {
  const out = new Float64Array(link.length * width);
  for (let i = 0; i < link.length; i++) {
    for (let c = 0; c < width; c++) {
      out[i * width + c] = reader.s() + (link[i] < 0 ? 0 : out[link[i] * width + c]);
    }
  }
  return out;
}

/** One integer of every contact that slips, kept as `readLinked` does; 0 for the others. */
function readSlipping(reader, link, state) {
  const out = new Float64Array(link.length);
  for (let i = 0; i < link.length; i++) {
    if (state[i] === STATE.slip) out[i] = reader.s() + (link[i] < 0 ? 0 : out[link[i]]);
  }
  return out;
}

function scaled(integers, unit) {
  return Float32Array.from(integers, (value) => value * unit);
}

/**
 * @param {Uint8Array} bytes  the streams; the last one is missing in recordings of before there was one
 * @param {number} frameCount
 * @param {import("./frames.js").Units} units
 * @param {number} geometryCount
 * @returns {Contacts}
 */
export function decodeContacts(bytes, frameCount, units, geometryCount) {
  const streams = new Reader(bytes);
  const next = () => new Reader(streams.sized());
  const { start, link, geometryA, geometryB } = readLinks(next(), frameCount);
  const n = link.length;
  if ([geometryA, geometryB].some((of) => of.some((g) => g >= geometryCount))) throw new Error("a contact lies between shapes that there are not");
  const pointUnits = readLinked(next(), link, 3);
  const normal = scaled(readLinked(next(), link, 3), units.normal);
  const force = scaled(readLinked(next(), link, 3), units.force);
  const gapAndSlip = readLinked(next(), link, 2);
  const states = next();
  const state = new Uint8Array(n), inPatch = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const code = states.u();
    state[i] = code & STATE_BITS;
    if (state[i] > STATE.slip) throw new Error("a contact has a state that there is not");
    inPatch[i] = code & IN_PATCH ? 1 : 0;
  }
  const glide = streams.ended ? new Float64Array(n) : readSlipping(next(), link, state);
  return {
    start, link: Int32Array.from(link), geometryA, geometryB, pointUnits, point: scaled(pointUnits, units.length), normal, force,
    gap: new Float32Array(n).map((_, i) => gapAndSlip[2 * i] * units.length),
    slip: new Float32Array(n).map((_, i) => gapAndSlip[2 * i + 1] * units.velocity),
    glide: scaled(glide, units.length), state, inPatch,
  };
}

/**
 * The force of contact k in two parts: along the normal [N], and the vector across it.
 * @param {Contacts} contacts @param {number} k
 */
export function partsOf({ normal, force }, k) {
  const along = [0, 1, 2].reduce((sum, c) => sum + force[3 * k + c] * normal[3 * k + c], 0);
  return { normal: along, friction: [0, 1, 2].map((c) => force[3 * k + c] - along * normal[3 * k + c]) };
}

/**
 * What contacts first ... end - 1 do to a body: sums of the parts of their forces [N]; zeros without any.
 * @param {Contacts} contacts @param {number} first @param {number} end @param {(geometry: number) => boolean} isOn
 */
export function forcesOn(contacts, first, end, isOn) {
  const normal = [0, 0, 0], friction = [0, 0, 0];
  for (let k = first; k < end; k++) {
    const sign = Number(isOn(contacts.geometryB[k])) - Number(isOn(contacts.geometryA[k]));
    const parts = partsOf(contacts, k);
    for (let c = 0; c < 3; c++) {
      normal[c] += sign * parts.normal * contacts.normal[3 * k + c];
      friction[c] += sign * parts.friction[c];
    }
  }
  return { normal, friction };
}

/** Contacts of frames without any. @param {number} frameCount @returns {Contacts} */
export function noContacts(frameCount) {
  const none = () => new Float32Array(0);
  return {
    start: new Uint32Array(frameCount + 1), link: new Int32Array(0), geometryA: new Uint32Array(0), geometryB: new Uint32Array(0), pointUnits: new Float64Array(0),
    point: none(), normal: none(), force: none(), gap: none(), slip: none(), glide: none(), state: new Uint8Array(0), inPatch: new Uint8Array(0),
  };
}
