// SPDX-License-Identifier: Apache-2.0
// Triangles of the shapes of a scene. Shapes that differ in size alone share theirs and are scaled.

import * as THREE from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";

const CREASE = (40 * Math.PI) / 180;

const TRIANGLES = 5e5; // of all copies of a round shape together, about
const FINEST = 1200; // triangles of one, about

/** How many of its finest segments a round shape has, 0 ... 1: the more copies there are, the fewer. @param {number} copies */
export function finenessOf(copies) {
  return Math.min(1, Math.sqrt(TRIANGLES / (FINEST * copies)));
}

const around = (fineness, most) => Math.max(10, Math.round(most * fineness));
const unit = {
  sphere: (fineness) => new THREE.SphereGeometry(1, around(fineness, 32), Math.max(6, Math.round(20 * fineness))).rotateX(Math.PI / 2),
  box: () => new THREE.BoxGeometry(2, 2, 2),
  cylinder: (fineness) => new THREE.CylinderGeometry(1, 1, 2, around(fineness, 36)).rotateX(Math.PI / 2),
};

/**
 * What a shape is drawn with: shapes of one key share their triangles.
 * @param {any} geometry  of the scene block
 * @returns {{ key: string, scale: number[],
 *   make: (fineness: number, meshes: import("../data/meshes.js").Mesh[]) => THREE.BufferGeometry } | null}
 */
export function shapeOf(geometry) {
  const { type, radius: r, half_length: h, half_extents: e } = geometry;
  switch (type) {
    case "sphere": return { key: "sphere", scale: [r, r, r], make: unit.sphere };
    case "ellipsoid": return { key: "sphere", scale: e, make: unit.sphere };
    case "box": return { key: "box", scale: e, make: unit.box };
    case "cylinder": return { key: "cylinder", scale: [r, r, h], make: unit.cylinder };
    case "capsule": return {
      key: `capsule ${(h / r).toFixed(4)}`, scale: [r, r, r],
      make: (fineness) => new THREE.CapsuleGeometry(1, (2 * h) / r, Math.max(3, Math.round(10 * fineness)), around(fineness, 32)).rotateX(Math.PI / 2),
    };
    case "mesh": case "convex": case "height_field":
      return Number.isInteger(geometry.mesh) && geometry.mesh >= 0
        ? { key: `mesh ${geometry.mesh}`, scale: [1, 1, 1], make: (_, meshes) => meshGeometry(meshes[geometry.mesh]) } : null;
    default: return null; // half spaces are grounds
  }
}

/** A mesh with normals that are means over neighbours which lean little. */
function meshGeometry(mesh) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(mesh?.vertices ?? new Float32Array(0), 3));
  geometry.setIndex(new THREE.BufferAttribute(mesh?.triangles ?? new Uint32Array(0), 1));
  return toCreasedNormals(geometry, CREASE);
}
