// SPDX-License-Identifier: Apache-2.0
// What everything that is drawn fits into: for camera, lamp, ground and the size of marks.

import * as THREE from "three";
import { median } from "../data/arrow_scale.js";
import { linesOf } from "../data/frames.js";

const FIRST = 0.5; // how much the first frame counts
const MOST = 3; // times the diagonal
const STANDARD = 1; // radius of an empty scene [m]

/** The box around a shape in its own frame. */
function ownBox(geometry, meshes) {
  const { type, radius: r = 0, half_length: h = 0, half_extents } = geometry;
  const mesh = meshes[geometry.mesh];
  if (mesh) return new THREE.Box3().setFromArray(mesh.vertices);
  const e = new THREE.Vector3(...(half_extents ?? [r, r, type === "capsule" ? h + r : type === "cylinder" ? h : r]));
  return new THREE.Box3(e.clone().negate(), e);
}

/**
 * A box and a ball that fit the end of the first block of frames, and the first one a little too: what falls into a scene is to be
 * seen, but soon lies in it.
 * @param {import("../data/recording.js").Recording} recording @param {import("./poses.js").Poses} poses  are overwritten
 * @returns {{ box: THREE.Box3, sphere: THREE.Sphere, bodyRadius: number }}  bodyRadius: half the diagonal of the median shape that moves, or 0
 */
export function boundsOf(recording, poses) {
  const [first, settled] = [0, Infinity].map((t) => {
    const moment = recording.momentAt(t, () => {});
    if (moment) poses.set(moment, false);
    return boxOf(recording, poses, moment);
  });
  if (first.isEmpty()) {
    const sphere = new THREE.Sphere(new THREE.Vector3(), STANDARD);
    return { box: sphere.getBoundingBox(new THREE.Box3()), sphere, bodyRadius: 0 };
  }
  settled.min.lerp(first.min, FIRST);
  settled.max.lerp(first.max, FIRST);
  const sphere = settled.getBoundingSphere(new THREE.Sphere());
  sphere.radius = Math.max(0.8 * sphere.radius, 1e-3); // the corners of the box are empty
  return { box: settled, sphere, bodyRadius: bodyRadiusOf(recording) };
}

/**
 * The box, grown so that it holds the last frame too, where that does not make it much larger: what is lifted, pushed or pulled stays
 * in the picture, and what fell off the ground does not shrink everything else.
 * @param {import("../data/recording.js").Recording} recording @param {import("./poses.js").Poses} poses  are overwritten @param {THREE.Box3} box
 */
export function withEnd(recording, poses, box) {
  const moment = recording.momentAt(Infinity, () => {});
  if (!moment) return box;
  poses.set(moment, false);
  const all = boxOf(recording, poses, moment).union(box), size = new THREE.Vector3();
  return all.getSize(size).length() <= MOST * box.getSize(size).length() ? all : box;
}

function bodyRadiusOf({ scene, meshes }) {
  const moving = scene.geometries.filter(({ body, type }) => body > 0 && type !== "half_space");
  const radii = moving.map((geometry) => ownBox(geometry, meshes).getSize(new THREE.Vector3()).length() / 2);
  return median(radii.filter((radius) => radius > 0)) ?? 0;
}

function boxOf(recording, poses, moment) {
  const box = new THREE.Box3(), pose = new THREE.Matrix4(), ofNode = new THREE.Matrix4(), one = new THREE.Vector3(1, 1, 1);
  for (const geometry of recording.scene.geometries) {
    if (geometry.type === "half_space") continue;
    const [x, y, z, qw, qx, qy, qz] = geometry.pose ?? [0, 0, 0, 1, 0, 0, 0];
    pose.compose(new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, qw), one);
    if (geometry.node >= 0) pose.premultiply(poses.nodeMatrix(geometry.node, ofNode));
    else pose.premultiply(poses.matrices[geometry.body ?? 0]);
    box.union(ownBox(geometry, recording.meshes).applyMatrix4(pose));
  }
  const node = new THREE.Vector3();
  for (let k = 0; k < poses.nodes.length; k += 3) box.expandByPoint(node.fromArray(poses.nodes, k));
  if (!moment) return box;
  const lines = linesOf(moment.frames, recording.scene.units), first = moment.index * lines.count;
  for (let p = lines.start[first]; p < lines.start[first + lines.count]; p++) box.expandByPoint(node.fromArray(lines.point, 3 * p));
  return box;
}
