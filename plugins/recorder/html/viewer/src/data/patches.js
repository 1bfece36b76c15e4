// SPDX-License-Identifier: Apache-2.0
// Patches of consecutive frames: where surfaces press on each other, as polygons with a pressure at every corner.

import { Reader } from "./bytes.js";

/**
 * @typedef {object} Patches
 * @property {Uint32Array} first  (frames + 1) patches of frame f are first[f] ... first[f + 1] - 1
 * @property {Uint32Array} face  (patches + 1) faces of patch p are face[p] ... face[p + 1] - 1
 * @property {Uint32Array} contact  (faces) what contact each one is
 * @property {Uint32Array} corner  (faces + 1) corners of face k are corner[k] ... corner[k + 1] - 1
 * @property {Float32Array} point  (corners x 3) [m]
 * @property {Float32Array} pressure  (corners) [Pa]
 * @property {number} largest  of all pressures [Pa]
 */

/** Which faces a patch has, how many corners these have, and which contacts they are. */
function readFaces(reader, frameCount, contactStart) {
  const first = new Uint32Array(frameCount + 1);
  const face = [0], corner = [0], contact = [];
  for (let f = 0; f < frameCount; f++) {
    for (let patches = reader.count(4); patches > 0; patches--) {
      reader.u(); // geometries, which the contacts name too
      reader.u();
      const start = contactStart[f] + reader.u();
      const faces = reader.count();
      for (let k = 0; k < faces; k++) {
        corner.push(corner.at(-1) + reader.u());
        contact.push(start + k);
      }
      if (faces > 0) face.push(contact.length);
    }
    first[f + 1] = face.length - 1;
  }
  return { first, face: Uint32Array.from(face), corner: Uint32Array.from(corner), contact: Uint32Array.from(contact) };
}

/**
 * @param {Uint8Array} bytes  the three streams
 * @param {number} frameCount
 * @param {import("./frames.js").Units} units
 * @param {import("./contacts.js").Contacts} contacts  of the same frames
 * @returns {Patches}
 */
export function decodePatches(bytes, frameCount, units, contacts) {
  const streams = new Reader(bytes);
  const next = () => new Reader(streams.sized());
  const { first, face: faces, corner, contact } = readFaces(next(), frameCount, contacts.start);
  const points = next(), pressures = next();
  const count = corner.at(-1);
  points.expect(3 * count);
  if (contact.some((k) => k >= contacts.state.length)) throw new Error("a face belongs to no contact");
  const point = new Float32Array(3 * count), pressure = new Float32Array(count);
  let largest = 0;
  for (let face = 0; face < contact.length; face++) {
    const at = Array.from(contacts.pointUnits.subarray(3 * contact[face], 3 * contact[face] + 3));
    for (let k = corner[face]; k < corner[face + 1]; k++) {
      for (let c = 0; c < 3; c++) point[3 * k + c] = (at[c] += points.s()) * units.length;
      pressure[k] = pressures.f32();
      largest = Math.max(largest, pressure[k]);
    }
  }
  return { first, face: faces, contact, corner, point, pressure, largest };
}

/** Patches of frames without any. @param {number} frameCount @returns {Patches} */
export function noPatches(frameCount) {
  return { first: new Uint32Array(frameCount + 1), face: new Uint32Array(1), contact: new Uint32Array(0), corner: new Uint32Array(1), point: new Float32Array(0), pressure: new Float32Array(0), largest: 0 };
}
