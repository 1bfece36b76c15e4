// SPDX-License-Identifier: Apache-2.0
// Triangles of the shapes of a scene. Shapes that differ in size alone share theirs and are scaled.

import * as THREE from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";

const CREASE = (40 * Math.PI) / 180;

const unit = {
  sphere: () => new THREE.SphereGeometry(1, 32, 20).rotateX(Math.PI / 2),
  box: () => new THREE.BoxGeometry(2, 2, 2),
  cylinder: () => new THREE.CylinderGeometry(1, 1, 2, 36).rotateX(Math.PI / 2),
};

/**
 * What a shape is drawn with: shapes of one key share their triangles.
 * @param {any} geometry  of the scene block
 * @returns {{ key: string, scale: number[], make: (meshes: import("../data/meshes.js").Mesh[]) => THREE.BufferGeometry } | null}
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
      make: () => new THREE.CapsuleGeometry(1, (2 * h) / r, 10, 32).rotateX(Math.PI / 2),
    };
    case "mesh": case "convex": case "height_field":
      return Number.isInteger(geometry.mesh) && geometry.mesh >= 0
        ? { key: `mesh ${geometry.mesh}`, scale: [1, 1, 1], make: (meshes) => meshGeometry(meshes[geometry.mesh]) } : null;
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
