// SPDX-License-Identifier: Apache-2.0
// Patches of contact: their polygons, coloured by pressure, and the edges of these. They lie inside of the bodies and so
// shine through.

import * as THREE from "three";
import { patchesOf } from "../data/frames.js";
import { EDGE_COLOUR, pressureColour } from "./palette.js";

const FRONT = { polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 };
const BEHIND = { opacity: 0.75, depthFunc: THREE.GreaterDepth };
const THINNEST = 0.6; // opacity without pressure: wide patches that hardly press hide little

export class PatchFaces {
  constructor() {
    this.faces = new THREE.BufferGeometry();
    this.edges = new THREE.BufferGeometry();
    const face = (options) => new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, transparent: true, depthWrite: false, ...options });
    const edge = (options) => new THREE.LineBasicMaterial({ color: EDGE_COLOUR, transparent: true, depthWrite: false, ...options });
    this.lines = [{}, BEHIND].map((look) => new THREE.LineSegments(this.edges, edge(look)));
    this.root = new THREE.Group();
    this.root.add(...[FRONT, BEHIND].map((look) => new THREE.Mesh(this.faces, face(look))), ...this.lines);
    this.root.children.forEach((part) => Object.assign(part, { frustumCulled: false, renderOrder: 3 }));
    /** The largest pressure that was seen, and that at the end of the colours [Pa]. */
    this.largest = this.end = 0;
  }

  /**
   * @param {import("../data/recording.js").Moment | null} moment
   * @param {number} end  pressure at the end of the colours [Pa]; 0: the largest that was seen
   * @param {boolean} withEdges
   */
  show(moment, units, end, withEdges) {
    const patches = moment && moment.frames.patchBytes.length > 0 ? patchesOf(moment.frames, units) : null;
    const first = patches ? patches.face[patches.first[moment.index]] : 0, last = patches ? patches.face[patches.first[moment.index + 1]] : 0;
    this.root.visible = last > first;
    if (!this.root.visible) return;
    this.largest = Math.max(this.largest, patches.largest);
    this.end = end || this.largest || 1;
    const from = patches.corner[first], to = patches.corner[last];
    const place = new THREE.BufferAttribute(patches.point.subarray(3 * from, 3 * to), 3);
    this.faces.dispose(); // of the frame before
    this.faces.setAttribute("position", place);
    this.faces.setAttribute("color", new THREE.BufferAttribute(this.#colours(patches.pressure.subarray(from, to)), 4));
    this.faces.setIndex(fans(patches.corner, first, last, from));
    this.lines.forEach((lines) => (lines.visible = withEdges));
    if (!withEdges) return;
    this.edges.dispose();
    this.edges.setAttribute("position", place);
    this.edges.setIndex(rims(patches.corner, first, last, from));
  }

  #colours(pressure) {
    const colours = new Float32Array(4 * pressure.length);
    const colour = new THREE.Color();
    pressure.forEach((p, k) => {
      pressureColour(p / this.end, colour).toArray(colours, 4 * k);
      colours[4 * k + 3] = THINNEST + (1 - THINNEST) * Math.min(Math.max(p / this.end, 0), 1);
    });
    return colours;
  }
}

/** Triangles of convex polygons, all from the first corner. */
function fans(corner, first, end, base) {
  const index = [];
  for (let face = first; face < end; face++) {
    for (let k = corner[face] + 2; k < corner[face + 1]; k++) index.push(corner[face] - base, k - 1 - base, k - base);
  }
  return index;
}

/** Their edges, each from a corner to the next. */
function rims(corner, first, end, base) {
  const index = [];
  for (let face = first; face < end; face++) {
    for (let k = corner[face]; k < corner[face + 1]; k++) index.push(k - base, (k + 1 < corner[face + 1] ? k + 1 : corner[face]) - base);
  }
  return index;
}
