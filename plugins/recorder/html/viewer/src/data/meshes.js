// SPDX-License-Identifier: Apache-2.0
// Blocks of kind `mesh`.

import { Reader, finite } from "./bytes.js";

const LARGEST = 65535;

/** @typedef {{ vertices: Float32Array, triangles: Uint32Array }} Mesh  vertices: (n x 3) [m]; triangles: (m x 3) */

/** @param {Uint8Array} payload @returns {Mesh} */
export function decodeMesh(payload) {
  const reader = new Reader(payload);
  const n = reader.count(3), m = reader.count(3);
  const numbers = () => finite(Float64Array.of(reader.f64(), reader.f64(), reader.f64()));
  const lower = numbers(), size = numbers();
  const vertices = new Float32Array(3 * n);
  for (let c = 0; c < 3; c++) {
    for (let k = 0, value = 0; k < n; k++) {
      value += reader.s();
      vertices[3 * k + c] = lower[c] + (size[c] * value) / LARGEST;
    }
  }
  const triangles = new Uint32Array(3 * m);
  for (let k = 0, vertex = 0; k < 3 * m; k++) triangles[k] = vertex += reader.s();
  if (triangles.some((vertex) => vertex >= n)) throw new Error("a triangle has a vertex that there is not");
  return { vertices, triangles };
}
