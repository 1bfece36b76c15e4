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

/** As recordings without a unit of pressure have them: differences from corner to corner, and floats. */
function cornersByThemselves(points, pressures) {
  return (face, begin, end, put) => {
    for (let k = begin; k < end; k++) put(k, [points.s(), points.s(), points.s()], pressures.f32());
  };
}

/** Differences to the face of the linked contact, where that has as many corners. */
function cornersByLinks(contacts, contact, corner, points, pressures) {
  const fromLast = new Float64Array(3 * corner.at(-1)), number = new Int32Array(corner.at(-1));
  const faceOf = new Int32Array(contacts.state.length).fill(-1), float = new DataView(new ArrayBuffer(4));
  return (face, begin, end, put) => {
    const linked = contacts.link[contact[face]], before = linked < 0 ? -1 : faceOf[linked];
    const same = before >= 0 && corner[before + 1] - corner[before] === end - begin;
    faceOf[contact[face]] = face;
    for (let k = begin, last = 0; k < end; last = number[k++]) {
      const old = same ? corner[before] + k - begin : -1;
      for (let c = 0; c < 3; c++) fromLast[3 * k + c] = points.s() + (same ? fromLast[3 * old + c] : 0);
      number[k] = pressures.s() + (same ? number[old] : last);
      float.setInt32(0, number[k] << 11);
      put(k, fromLast.subarray(3 * k, 3 * k + 3), float.getFloat32(0));
    }
  };
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
  const readCorners = units.pressure ? cornersByLinks(contacts, contact, corner, points, pressures) : cornersByThemselves(points, pressures);
  const point = new Float32Array(3 * count), pressure = new Float32Array(count);
  let largest = 0;
  for (let face = 0; face < contact.length; face++) {
    const at = Array.from(contacts.pointUnits.subarray(3 * contact[face], 3 * contact[face] + 3));
    readCorners(face, corner[face], corner[face + 1], (k, differences, pressed) => {
      for (let c = 0; c < 3; c++) point[3 * k + c] = (at[c] += differences[c]) * units.length;
      pressure[k] = pressed;
      largest = Math.max(largest, pressed);
    });
  }
  return { first, face: faces, contact, corner, point, pressure, largest };
}

/** Patches of frames without any. @param {number} frameCount @returns {Patches} */
export function noPatches(frameCount) {
  return { first: new Uint32Array(frameCount + 1), face: new Uint32Array(1), contact: new Uint32Array(0), corner: new Uint32Array(1), point: new Float32Array(0), pressure: new Float32Array(0), largest: 0 };
}
