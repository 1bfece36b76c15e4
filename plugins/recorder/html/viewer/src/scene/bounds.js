// SPDX-License-Identifier: Apache-2.0
// What everything that is drawn fits into: for camera, lamp, ground and the size of marks.

import * as THREE from "three";
import { median } from "../data/arrow_scale.js";
import { linesOf } from "../data/frames.js";

const FIRST = 0.5; // how much the first frame counts
const MOST = 3; // times the diagonal
const STANDARD = 1; // radius of an empty scene [m]
const ROOM = 0.35; // diagonals of what is free around it, where robots and grounds are seen too

/** The box around a shape in its own frame. */
function ownBox(geometry, meshes) {
  const { type, radius: r = 0, half_length: h = 0, half_extents } = geometry;
  const mesh = meshes[geometry.mesh];
  if (mesh) return new THREE.Box3().setFromArray(mesh.vertices);
  const e = new THREE.Vector3(...(half_extents ?? [r, r, type === "capsule" ? h + r : type === "cylinder" ? h : r]));
  return new THREE.Box3(e.clone().negate(), e);
}

/**
 * A ball that fits the end of the first block of frames, and the first one a little too: what falls into a scene is to be
 * seen, but soon lies in it. And a box in it that the camera looks at (lookBoxOf).
 * @param {import("../data/recording.js").Recording} recording @param {import("./poses.js").Poses} poses  are overwritten
 * @returns {{ box: THREE.Box3, sphere: THREE.Sphere, bodyRadius: number }}  bodyRadius: half the diagonal of the median shape that moves, or 0
 */
export function boundsOf(recording, poses) {
  const [first, settled] = [0, Infinity].map((t) => {
    const moment = recording.momentAt(t, () => {});
    if (moment) poses.set(moment, false);
    return [boxOf(recording, poses, moment), lookBoxOf(recording, poses, moment)];
  });
  const [all, look] = [0, 1].map((k) => {
    settled[k].min.lerp(first[k].min, FIRST);
    settled[k].max.lerp(first[k].max, FIRST);
    return settled[k];
  });
  if (first[0].isEmpty()) {
    const sphere = new THREE.Sphere(new THREE.Vector3(), STANDARD);
    return { box: sphere.getBoundingBox(new THREE.Box3()), sphere, bodyRadius: 0 };
  }
  const sphere = all.getBoundingSphere(new THREE.Sphere());
  sphere.radius = Math.max(0.8 * sphere.radius, 1e-3); // the corners of the box are empty
  return { box: look, sphere, bodyRadius: bodyRadiusOf(recording) };
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
  const all = lookBoxOf(recording, poses, moment).union(box), size = new THREE.Vector3();
  return all.getSize(size).length() <= MOST * box.getSize(size).length() ? all : box;
}

/** Does a shape belong to something that stands on nothing, or to nodes? */
const isFree = ({ body, node }, scene) => node >= 0 || scene.bodies[body]?.free === true;

function bodyRadiusOf({ scene, meshes }) {
  const all = scene.geometries.filter(({ body, type }) => body > 0 && type !== "half_space"), free = all.filter((geometry) => isFree(geometry, scene));
  const moving = free.length > 0 ? free : all;
  const radii = moving.map((geometry) => ownBox(geometry, meshes).getSize(new THREE.Vector3()).length() / 2);
  return median(radii.filter((radius) => radius > 0)) ?? 0;
}

/**
 * What the camera looks at: what is free, without anything free what moves, with some room around it, as far as there are shapes: not the whole
 * reach of a robot, and not all of a table. As in recorder/common/camera_path.c.
 */
function lookBoxOf(recording, poses, moment) {
  const { scene } = recording, all = boxOf(recording, poses, moment);
  if (scene.bodies.slice(1).some((body) => body.free === undefined)) return all; // of before this was told
  const free = boxOf(recording, poses, moment, (geometry) => isFree(geometry, scene));
  const core = free.isEmpty() ? boxOf(recording, poses, moment, ({ body, node }) => body > 0 || node >= 0) : free;
  if (core.isEmpty()) return all;
  const room = ROOM * core.getSize(new THREE.Vector3()).length();
  return core.expandByScalar(room).intersect(all);
}

function boxOf(recording, poses, moment, chosen = () => true) {
  const box = new THREE.Box3(), pose = new THREE.Matrix4(), ofNode = new THREE.Matrix4(), one = new THREE.Vector3(1, 1, 1);
  for (const geometry of recording.scene.geometries) {
    if (geometry.type === "half_space" || !chosen(geometry)) continue;
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
