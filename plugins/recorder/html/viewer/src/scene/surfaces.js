// SPDX-License-Identifier: Apache-2.0
// The outsides of deformables, which move with their nodes.

import * as THREE from "three";

import { cloudOf } from "../data/scene.js";
import { nodeColour, SELECTION_COLOUR, valueColour } from "./palette.js";

const COLOUR = "#8fa6c4";
const WHITE = new THREE.Color(1, 1, 1);
const MARK = new THREE.Color(SELECTION_COLOUR).multiplyScalar(0.45);

export class Surfaces {
  /** @param {{ surfaces?: { first_node: number, node_count: number, triangles: number[], rgba?: number[] }[], colors?: { nodes: number[] } }} scene */
  constructor(scene) {
    this.root = new THREE.Group();
    /** Cloud of nodes; -1: none. */
    this.selected = -1;
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
      return { mesh, first, count, cloud: cloudOf(scene, first), colour, opacity, valued };
    });
  }

  /** The node next to where a ray meets a surface first. @param {THREE.Raycaster} ray @returns {{ body: number, node: number, distance: number } | null} */
  pick(ray) {
    const near = ({ mesh }) => ray.intersectObject(mesh, false)[0];
    const hits = this.parts.filter(({ cloud }) => cloud >= 0).map((part) => ({ part, hit: near(part) })).filter(({ hit }) => hit);
    if (hits.length === 0) return null;
    const { part, hit } = hits.reduce((a, b) => (a.hit.distance <= b.hit.distance ? a : b));
    const { position } = part.mesh.geometry.attributes, corner = new THREE.Vector3();
    const away = (vertex) => corner.fromBufferAttribute(position, vertex).distanceTo(hit.point);
    const vertex = [hit.face.a, hit.face.b, hit.face.c].reduce((a, b) => (away(a) <= away(b) ? a : b));
    return { body: -1, node: part.first + vertex, distance: hit.distance };
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
    for (const { mesh, first, count, cloud, colour, valued } of this.parts) {
      const shown = valued && !this.tint ? range : null;
      this.#color(mesh, shown, values.subarray(first, first + count), colour);
      mesh.material.emissive.set(cloud >= 0 && cloud === this.selected && !shown ? MARK : 0); // numbers keep the colours of the legend
      const { position } = mesh.geometry.attributes;
      position.array.set(nodes.subarray(3 * first, 3 * (first + count)));
      position.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
      mesh.geometry.boundingSphere = null; // the ray asks for it
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
