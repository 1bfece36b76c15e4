// SPDX-License-Identifier: Apache-2.0
// Poses of the bodies and places of the nodes at a time, between frames if wanted.

import * as THREE from "three";
import { BODY_NUMBERS } from "../data/frames.js";

/** Poses of one recording, overwritten with every moment. */
export class Poses {
  constructor(bodyCount, nodeCount) {
    /** Body 0 is the world. */
    this.matrices = Array.from({ length: bodyCount }, () => new THREE.Matrix4());
    this.nodes = new Float32Array(3 * nodeCount);
  }

  /** @param {import("../data/recording.js").Moment} moment @param {boolean} interpolate */
  set(moment, interpolate) {
    const fraction = interpolate ? moment.fraction : 0;
    const from = new THREE.Quaternion(), to = new THREE.Quaternion();
    const position = new THREE.Vector3(), end = new THREE.Vector3(), one = new THREE.Vector3(1, 1, 1);
    for (let body = 1; body < this.matrices.length; body++) {
      read(moment.frames, moment.index, body, this.matrices.length, position, from);
      if (fraction > 0) {
        read(moment.next, moment.nextIndex, body, this.matrices.length, end, to);
        position.lerp(end, fraction);
        from.slerp(to, fraction);
      }
      this.matrices[body].compose(position, from, one);
    }
    this.#setNodes(moment, fraction);
  }

  #setNodes({ frames, index, next, nextIndex }, fraction) {
    const n = this.nodes.length;
    for (let k = 0; k < n; k++) {
      const start = frames.nodes[index * n + k];
      this.nodes[k] = start + fraction * (next.nodes[nextIndex * n + k] - start);
    }
  }

  /** @returns {THREE.Vector3} */
  position(body) {
    return new THREE.Vector3().setFromMatrixPosition(this.matrices[body]);
  }
}

/** Where the numbers of a body stand in a frame. */
export function offsetOf(index, body, bodyCount) {
  return (index * (bodyCount - 1) + body - 1) * BODY_NUMBERS;
}

function read(frames, index, body, bodyCount, position, rotation) {
  const at = offsetOf(index, body, bodyCount), b = frames.bodies;
  position.set(b[at], b[at + 1], b[at + 2]);
  rotation.set(b[at + 4], b[at + 5], b[at + 6], b[at + 3]).normalize();
}
