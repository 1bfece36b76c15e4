// SPDX-License-Identifier: Apache-2.0
// Many copies of one small shape, which grow in number as they are needed.

import * as THREE from "three";
import { mergeVertices } from "three/examples/jsm/utils/BufferGeometryUtils.js";

const THROUGH = 2000; // copies that shine through at most: more are a haze that costs as much as all the rest
const Z = new THREE.Vector3(0, 0, 1);

/**
 * Copies of a shape, drawn at once. Those inside of bodies shine through faintly.
 */
export class Copies {
  /** @param {THREE.BufferGeometry} geometry @param {{ through?: number }} look  through: alpha behind bodies */
  constructor(geometry, { through = 0.5 } = {}) {
    this.geometry = geometry;
    this.root = new THREE.Group();
    this.solid = new THREE.MeshBasicMaterial();
    this.behind = new THREE.MeshBasicMaterial({
      transparent: true, opacity: through, depthTest: true, depthFunc: THREE.GreaterDepth, depthWrite: false,
    });
    this.count = 0;
    this.#reserve(64);
  }

  #reserve(capacity) {
    const old = this.meshes ?? [];
    const matrix = new THREE.InstancedBufferAttribute(new Float32Array(16 * capacity), 16).setUsage(THREE.DynamicDrawUsage);
    const colour = new THREE.InstancedBufferAttribute(new Float32Array(3 * capacity), 3).setUsage(THREE.DynamicDrawUsage);
    if (old[0]) {
      matrix.array.set(old[0].instanceMatrix.array);
      colour.array.set(old[0].instanceColor.array);
    }
    this.capacity = capacity;
    this.meshes = [this.solid, this.behind].map((material, k) => {
      const mesh = new THREE.InstancedMesh(this.geometry, material, 0);
      mesh.instanceMatrix = matrix;
      mesh.instanceColor = colour;
      mesh.frustumCulled = false;
      mesh.renderOrder = 3 + k;
      return mesh;
    });
    old.forEach((mesh) => mesh.dispose());
    this.root.clear().add(...this.meshes);
  }

  clear() {
    this.count = 0;
  }

  /** @param {THREE.Matrix4} matrix @param {THREE.Color} colour */
  add(matrix, colour) {
    if (this.count === this.capacity) this.#reserve(2 * this.capacity);
    matrix.toArray(this.meshes[0].instanceMatrix.array, 16 * this.count);
    colour.toArray(this.meshes[0].instanceColor.array, 3 * this.count);
    this.count++;
  }

  /** What was added is drawn. */
  show() {
    const [front, behind] = this.meshes;
    front.count = this.count;
    behind.count = this.count <= THROUGH ? this.count : 0;
    front.instanceMatrix.needsUpdate = true;
    front.instanceColor.needsUpdate = true;
  }
}

const scratch = { position: new THREE.Vector3(), rotation: new THREE.Quaternion(), scale: new THREE.Vector3(), matrix: new THREE.Matrix4() };

/** The matrix of a shape along z, turned towards `direction` (a unit vector). Overwritten by the next call. */
export function along(origin, direction, offset, width, length) {
  const { position, rotation, scale, matrix } = scratch;
  position.copy(direction).multiplyScalar(offset).add(origin);
  rotation.setFromUnitVectors(Z, direction);
  return matrix.compose(position, rotation, scale.set(width, width, length));
}

// They are a few pixels wide and have no shading: few corners are enough, and every one is there once.

function bare(geometry) {
  geometry.deleteAttribute("normal");
  geometry.deleteAttribute("uv");
  return mergeVertices(geometry);
}

/** From z = 0 to 1, of radius 1; closed: with its ends. */
export function shaftGeometry(closed = false) {
  return bare(new THREE.CylinderGeometry(1, 1, 1, closed ? 14 : 6, 1, !closed)).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

/** From z = 0 to 1, of radius 1 at z = 0. */
export function coneGeometry() {
  return bare(new THREE.ConeGeometry(1, 1, 8)).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

/** A ring around z, of radius 1. */
export function ringGeometry() {
  return bare(new THREE.TorusGeometry(0.8, 0.2, 4, 16));
}

/** Of radius 1. */
export function ballGeometry() {
  return bare(new THREE.SphereGeometry(1, 8, 4));
}
