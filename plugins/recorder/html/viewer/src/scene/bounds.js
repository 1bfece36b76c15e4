// SPDX-License-Identifier: Apache-2.0
// A ball around everything that is drawn at a moment, for camera, lamp, ground and the size of marks.

import * as THREE from "three";

const STANDARD = 1; // radius of an empty scene [m]

/** Radius of a shape around its origin. */
function radiusOf(geometry, meshes) {
  const { type, radius = 0, half_length: h = 0, half_extents: e } = geometry;
  if (e) return Math.hypot(...e);
  if (type === "cylinder") return Math.hypot(radius, h);
  if (type === "capsule") return radius + h;
  const vertices = meshes[geometry.mesh]?.vertices;
  if (!vertices) return radius;
  let largest = 0;
  for (let k = 0; k < vertices.length; k += 3) {
    largest = Math.max(largest, Math.hypot(vertices[k], vertices[k + 1], vertices[k + 2]));
  }
  return largest;
}

/**
 * @param {import("../data/recording.js").Recording} recording @param {import("./poses.js").Poses} poses
 * @returns {THREE.Sphere}
 */
export function boundsOf(recording, poses) {
  const box = new THREE.Box3(), centre = new THREE.Vector3(), reach = new THREE.Vector3();
  for (const geometry of recording.scene.geometries) {
    if (geometry.type === "half_space") continue;
    const [x, y, z] = geometry.pose ?? [0, 0, 0];
    if (geometry.node >= 0) centre.fromArray(poses.nodes, 3 * geometry.node);
    else centre.set(x, y, z).applyMatrix4(poses.matrices[geometry.body ?? 0]);
    reach.setScalar(radiusOf(geometry, recording.meshes));
    box.expandByPoint(centre.clone().add(reach)).expandByPoint(centre.sub(reach));
  }
  if (box.isEmpty()) return new THREE.Sphere(new THREE.Vector3(), STANDARD);
  const sphere = box.getBoundingSphere(new THREE.Sphere());
  sphere.radius = Math.max(0.75 * sphere.radius, 1e-3); // the corners of the box are empty
  return sphere;
}
