// SPDX-License-Identifier: Apache-2.0
// Patches of contact: their polygons, coloured by pressure. They lie inside of the bodies and so shine through.

import * as THREE from "three";
import { patchesOf } from "../data/frames.js";
import { pressureColour } from "./palette.js";

export class PatchFaces {
  constructor() {
    this.geometry = new THREE.BufferGeometry();
    const material = (options) => new THREE.MeshBasicMaterial({
      vertexColors: true, side: THREE.DoubleSide, transparent: true, depthWrite: false, ...options,
    });
    this.root = new THREE.Group();
    this.root.add(
      new THREE.Mesh(this.geometry, material({ polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 })),
      new THREE.Mesh(this.geometry, material({ opacity: 0.75, depthFunc: THREE.GreaterDepth })),
    );
    this.root.children.forEach((mesh) => Object.assign(mesh, { frustumCulled: false, renderOrder: 3 }));
    /** Pressure at the end of the colours [Pa]: the largest that was seen. */
    this.largest = 0;
  }

  /** @param {import("../data/recording.js").Moment | null} moment */
  show(moment, units) {
    const patches = moment && moment.frames.patchBytes.length > 0 ? patchesOf(moment.frames, units) : null;
    const first = patches ? patches.start[moment.index] : 0, end = patches ? patches.start[moment.index + 1] : 0;
    this.root.visible = end > first;
    if (!this.root.visible) return;
    this.geometry.dispose(); // of the frame before
    this.largest = Math.max(this.largest, patches.largest);
    const from = patches.corner[first], to = patches.corner[end];
    this.geometry.setAttribute("position", new THREE.BufferAttribute(patches.point.subarray(3 * from, 3 * to), 3));
    this.geometry.setAttribute("color", new THREE.BufferAttribute(this.#colours(patches.pressure.subarray(from, to)), 3));
    this.geometry.setIndex(fans(patches.corner, first, end, from));
  }

  #colours(pressure) {
    const colours = new Float32Array(3 * pressure.length);
    const colour = new THREE.Color();
    pressure.forEach((p, k) => pressureColour(p / (this.largest || 1), colour).toArray(colours, 3 * k));
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
