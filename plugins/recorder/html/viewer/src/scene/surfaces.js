// SPDX-License-Identifier: Apache-2.0
// The outsides of deformables, which move with their nodes.

import * as THREE from "three";

import { nodeColour, valueColour } from "./palette.js";

const COLOUR = "#8fa6c4";
const WHITE = new THREE.Color(1, 1, 1);

export class Surfaces {
  /** @param {{ surfaces?: { first_node: number, node_count: number, triangles: number[], rgba?: number[] }[], colors?: { nodes: number[] } }} scene */
  constructor(scene) {
    this.root = new THREE.Group();
    const told = new Set(scene.colors?.nodes ?? []);
    this.parts = (scene.surfaces ?? []).map(({ first_node: first, node_count: count, triangles, rgba }) => {
      const colour = rgba ? nodeColour(rgba, first, scene) : new THREE.Color(COLOUR), opacity = rgba?.[3] ?? 1;
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
      geometry.setIndex(triangles);
      const valued = triangles.some((vertex) => told.has(first + vertex));
      if (valued) geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
      const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: colour, roughness: 0.7, side: THREE.DoubleSide }));
      // a cloth that is lit from behind would lie in its own shadow
      Object.assign(mesh, { frustumCulled: false, castShadow: true, receiveShadow: isClosed(triangles) });
      this.root.add(mesh);
      return { mesh, first, count, colour, opacity, valued };
    });
  }

  /** @param {THREE.Color | null} tint @param {boolean} ghost */
  dress(tint, ghost) {
    this.tint = tint;
    for (const { mesh, colour, opacity } of this.parts) {
      const clear = ghost || opacity < 1;
      Object.assign(mesh.material, { transparent: clear, opacity: ghost ? 0.4 * opacity : opacity, depthWrite: !clear });
      mesh.material.color.set(tint ?? colour);
      mesh.material.vertexColors = false; // until the next place
      mesh.material.needsUpdate = true;
      mesh.castShadow = !ghost;
    }
  }

  /** @param {import("./poses.js").Poses} poses @param {{ low: number, high: number } | null} range  of colours; null: of their own */
  place({ nodes, values }, range) {
    for (const { mesh, first, count, colour, valued } of this.parts) {
      this.#color(mesh, valued && !this.tint ? range : null, values.subarray(first, first + count), colour);
      const { position } = mesh.geometry.attributes;
      position.array.set(nodes.subarray(3 * first, 3 * (first + count)));
      position.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    }
  }

  /** Colours of the corners, where a number is told; `own` where none is. */
  #color(mesh, range, values, own) {
    const { material } = mesh, { color } = mesh.geometry.attributes;
    if (material.vertexColors !== (range !== null)) {
      material.vertexColors = range !== null;
      material.needsUpdate = true;
      material.color.copy(range ? WHITE : this.tint ?? own);
    }
    if (!range) return;
    const colour = new THREE.Color();
    values.forEach((value, k) => (Number.isNaN(value) ? own : valueColour(value, range, colour)).toArray(color.array, 3 * k));
    color.needsUpdate = true;
  }
}

/** Does every edge have another triangle on its other side? @param {number[]} triangles */
function isClosed(triangles) {
  const edges = new Set();
  for (let k = 0; k < triangles.length; k++) edges.add(`${triangles[k]} ${triangles[k % 3 === 2 ? k - 2 : k + 1]}`);
  return [...edges].every((edge) => edges.has(edge.split(" ").reverse().join(" ")));
}
