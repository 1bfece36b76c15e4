// SPDX-License-Identifier: Apache-2.0
// Poses of the bodies and places of the nodes at a time, between frames if wanted.

import * as THREE from "three";
import { BODY_NUMBERS } from "../data/frames.js";

const turn = new THREE.Quaternion(), place = new THREE.Vector3(), ONE = new THREE.Vector3(1, 1, 1);

/** Poses of one recording, overwritten with every moment. */
export class Poses {
  /** @param {any} scene  the block */
  constructor(scene) {
    const nodeCount = scene.node_count ?? 0;
    /** Body 0 is the world. */
    this.matrices = Array.from({ length: scene.bodies.length }, () => new THREE.Matrix4());
    this.nodes = new Float32Array(3 * nodeCount);
    /** Where the orientation of each node stands in `turns`, -1: it has none. */
    this.turnOf = new Int32Array(nodeCount).fill(-1);
    let turning = 0;
    for (const { first_node: first, node_count: count, turns } of scene.clouds ?? []) {
      for (let k = 0; turns && k < count; k++) this.turnOf[first + k] = turning++;
    }
    /** w x y z of those that turn. */
    this.turns = new Float32Array(4 * turning);
    this.colored = scene.colors?.nodes ?? [];
    /** What the colours of nodes stand for; NaN: nothing. */
    this.values = new Float32Array(nodeCount).fill(NaN);
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
    this.#setTurns(moment, fraction);
    this.#setValues(moment, fraction);
  }

  #setTurns({ frames, index, next, nextIndex }, fraction) {
    const n = this.turns.length;
    for (let k = 0; k < n; k += 4) {
      const a = frames.turns.subarray(index * n + k, index * n + k + 4), b = next.turns.subarray(nextIndex * n + k, nextIndex * n + k + 4);
      const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1; // of two quaternions of a rotation the nearer one
      for (let c = 0; c < 4; c++) this.turns[k + c] = a[c] + fraction * (sign * b[c] - a[c]);
    }
  }

  #setValues({ frames, index, next, nextIndex }, fraction) {
    const n = this.colored.length;
    for (let k = 0; k < n; k++) {
      const start = frames.values[index * n + k];
      this.values[this.colored[k]] = start + fraction * (next.values[nextIndex * n + k] - start);
    }
  }

  /** Where a node is, and how it is turned. @param {number} node @param {THREE.Matrix4} out */
  nodeMatrix(node, out) {
    const at = 4 * this.turnOf[node], t = this.turns;
    if (at >= 0) turn.set(t[at + 1], t[at + 2], t[at + 3], t[at]).normalize();
    else turn.identity();
    return out.compose(place.fromArray(this.nodes, 3 * node), turn, ONE);
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
