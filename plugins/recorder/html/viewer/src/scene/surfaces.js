// SPDX-License-Identifier: Apache-2.0
// The outsides of deformables, which move with their nodes.

import * as THREE from "three";

import { colourOf } from "./palette.js";

const COLOUR = "#8fa6c4";

export class Surfaces {
  /** @param {{ surfaces?: { first_node: number, node_count: number, triangles: number[], rgba?: number[] }[] }} scene */
  constructor(scene) {
    this.root = new THREE.Group();
    this.parts = (scene.surfaces ?? []).map(({ first_node: first, node_count: count, triangles, rgba }) => {
      const colour = rgba ? colourOf(rgba) : new THREE.Color(COLOUR), opacity = rgba?.[3] ?? 1;
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
      geometry.setIndex(triangles);
      const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: colour, roughness: 0.7, side: THREE.DoubleSide }));
      // a cloth that is lit from behind would lie in its own shadow
      Object.assign(mesh, { frustumCulled: false, castShadow: true, receiveShadow: isClosed(triangles) });
      this.root.add(mesh);
      return { mesh, first, count, colour, opacity };
    });
  }

  /** @param {THREE.Color | null} tint @param {boolean} ghost */
  dress(tint, ghost) {
    for (const { mesh, colour, opacity } of this.parts) {
      const clear = ghost || opacity < 1;
      Object.assign(mesh.material, { transparent: clear, opacity: ghost ? 0.4 * opacity : opacity, depthWrite: !clear });
      mesh.material.color.set(tint ?? colour);
      mesh.castShadow = !ghost;
    }
  }

  /** @param {Float32Array} nodes  (node count x 3) */
  place(nodes) {
    for (const { mesh, first, count } of this.parts) {
      const { position } = mesh.geometry.attributes;
      position.array.set(nodes.subarray(3 * first, 3 * (first + count)));
      position.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    }
  }
}

/** Does every edge have another triangle on its other side? @param {number[]} triangles */
function isClosed(triangles) {
  const edges = new Set();
  for (let k = 0; k < triangles.length; k++) edges.add(`${triangles[k]} ${triangles[k % 3 === 2 ? k - 2 : k + 1]}`);
  return [...edges].every((edge) => edges.has(edge.split(" ").reverse().join(" ")));
}
