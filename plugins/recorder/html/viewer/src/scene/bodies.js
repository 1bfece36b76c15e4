// SPDX-License-Identifier: Apache-2.0
// The shapes of all bodies of a recording. Shapes of the same triangles are drawn at once, each with its own matrix.

import * as THREE from "three";
import { cloudOf } from "../data/scene.js";
import { geometryColour, SELECTION_COLOUR, valueColour } from "./palette.js";
import { finenessOf, shapeOf } from "./shapes.js";

const INVISIBLE = 0.05; // alpha below which nothing is drawn
const OVER_VISUAL = 0.35; // alpha of collision shapes over visuals
const HIDDEN = new THREE.Matrix4().makeScale(0, 0, 0);
const SELECTED = new THREE.Color(SELECTION_COLOUR);

/** With what alpha a geometry is drawn under a choice of "visual", "collision", "both"; 0: not at all. */
function alphaOf(geometry, choice, hasVisual) {
  const alpha = geometry.rgba?.[3] ?? 1;
  if (alpha < INVISIBLE) return 0;
  if (choice === "collision") return geometry.collision ? alpha : 0;
  if (geometry.visual || (geometry.collision && !hasVisual)) return alpha;
  return geometry.collision && choice === "both" ? Math.min(alpha, OVER_VISUAL) : 0;
}

/** What is shown by its visuals if it has any. */
const partOf = ({ link, body }) => (link >= 0 ? `link ${link}` : `body ${body}`);

/** A shape of the scene: where it is on its body, and what it looks like. */
class Item {
  constructor(geometry, number, colour, shape) {
    this.number = number;
    this.body = geometry.body ?? 0;
    this.node = geometry.node ?? -1;
    this.geometry = geometry;
    this.colour = colour;
    this.shape = shape;
    const [x, y, z, qw, qx, qy, qz] = geometry.pose ?? [0, 0, 0, 1, 0, 0, 0];
    this.onBody = new THREE.Matrix4().compose(
      new THREE.Vector3(x, y, z), new THREE.Quaternion(qx, qy, qz, qw), new THREE.Vector3(...shape.scale));
  }
}

export class Bodies {
  /** @param {import("../data/recording.js").Recording} recording */
  constructor(recording) {
    this.recording = recording;
    this.root = new THREE.Group();
    const { geometries } = recording.scene;
    this.hidden = new Set();
    this.selected = this.selectedCloud = -1;
    /** Of links, or of whole bodies where the recording names no links. */
    this.hasVisual = new Set();
    this.onSurface = nodesOfSurfaces(recording.scene);
    this.items = [];
    geometries.forEach((geometry, number) => {
      const shape = shapeOf(geometry);
      if (!shape) return;
      const item = new Item(geometry, number, geometryColour(geometry, recording.scene), shape);
      item.cloud = cloudOf(recording.scene, item.node);
      this.items.push(item);
      if (geometry.visual && geometry.body >= 0) this.hasVisual.add(partOf(geometry));
    });
    this.triangles = new Map();
    this.batches = [];
  }

  /**
   * Makes what is drawn: one batch for each kind of triangles and each alpha.
   * @param {{ choice: string, tint: THREE.Color | null, ghost: boolean }} look  ghost: all translucent, without shadows
   */
  dress({ choice, tint, ghost }) {
    for (const { mesh } of this.batches) {
      mesh.material.dispose();
      mesh.dispose();
    }
    this.root.clear();
    const groups = new Map();
    for (const item of this.items) {
      const alpha = this.#alpha(item, choice) * (ghost ? 0.4 : 1);
      if (alpha <= 0) continue;
      const key = `${item.shape.key} ${alpha}`;
      if (!groups.has(key)) groups.set(key, { alpha, items: [] });
      groups.get(key).items.push(item);
    }
    this.tint = tint;
    this.batches = [...groups.values()].map(({ alpha, items }) => this.#batch(items, alpha));
    this.paint();
  }

  #alpha(item, choice) {
    if (item.node < 0) return alphaOf(item.geometry, choice, this.hasVisual.has(partOf(item.geometry)));
    return this.onSurface.has(item.node) && choice === "visual" ? 0 : alphaOf(item.geometry, "visual", false);
  }

  #batch(items, alpha) {
    const { shape } = items[0];
    if (!this.triangles.has(shape.key)) {
      const copies = this.items.filter((item) => item.shape.key === shape.key).length;
      this.triangles.set(shape.key, shape.make(finenessOf(copies), this.recording.meshes));
    }
    const material = new THREE.MeshStandardMaterial({ roughness: 0.72, metalness: 0, opacity: alpha, transparent: alpha < 1 });
    material.depthWrite = alpha >= 1;
    const triangles = this.triangles.get(shape.key);
    const mesh = new THREE.InstancedMesh(triangles, material, items.length);
    mesh.frustumCulled = false;
    mesh.castShadow = alpha >= 1;
    mesh.receiveShadow = true;
    mesh.renderOrder = alpha < 1 ? 2 : 0;
    mesh.userData.items = items;
    this.root.add(mesh);
    if (alpha < 1) this.root.add(nearestOnly(mesh));
    return { mesh, items };
  }

  /** Colours of numbers stay as the legend has them. */
  #mark({ body, node, cloud }, colour) {
    const chosen = node < 0 ? body > 0 && body === this.selected : cloud >= 0 && cloud === this.selectedCloud;
    if (chosen) colour.lerp(SELECTED, 0.65);
  }

  /** Colours, with the selected body or cable marked. */
  paint() {
    const colour = new THREE.Color();
    for (const { mesh, items } of this.batches) {
      items.forEach((item, k) => {
        colour.copy(item.colour);
        if (this.tint) colour.lerp(this.tint, 0.75);
        this.#mark(item, colour);
        mesh.setColorAt(k, colour);
      });
      mesh.instanceColor.needsUpdate = true;
    }
  }

  /**
   * Puts every shape in its place.
   * @param {import("./poses.js").Poses} poses @param {{ low: number, high: number } | null} range  of the colours of nodes; null: they have their own
   */
  place(poses, range) {
    const matrix = new THREE.Matrix4();
    for (const { mesh, items } of this.batches) {
      items.forEach((item, k) => {
        if (this.hidden.has(item.body) && item.node < 0) matrix.copy(HIDDEN);
        else if (item.node >= 0) poses.nodeMatrix(item.node, matrix).multiply(item.onBody);
        else matrix.multiplyMatrices(poses.matrices[item.body], item.onBody);
        mesh.setMatrixAt(k, matrix);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // the ray asks for it
    }
    this.#color(poses.values, this.tint ? null : range);
  }

  #color(values, range) {
    if (!range && !this.colored) return;
    this.colored = range !== null;
    const colour = new THREE.Color();
    for (const { mesh, items } of this.batches) {
      if (!items.some((item) => item.node >= 0)) continue;
      items.forEach((item, k) => {
        if (item.node < 0) return;
        if (range && !Number.isNaN(values[item.node])) valueColour(values[item.node], range, colour);
        else this.#mark(item, colour.copy(item.colour));
        mesh.setColorAt(k, colour);
      });
      mesh.instanceColor.needsUpdate = true;
    }
  }

  /** The first shape that a ray meets. @param {THREE.Raycaster} ray @returns {{ body: number, node: number, distance: number } | null}  node -1: of a body */
  pick(ray) {
    const hit = ray.intersectObject(this.root, true).find(({ object, instanceId }) => {
      const item = object.userData.items[instanceId];
      return item.node >= 0 ? item.cloud >= 0 : item.body > 0 && !this.hidden.has(item.body);
    });
    return hit ? { ...hit.object.userData.items[hit.instanceId], distance: hit.distance } : null;
  }
}

/**
 * Of translucent shapes the nearest one alone is drawn at each pixel, as in recorder/png, whatever their order: this copy of them is drawn before
 * all of them and leaves their depth alone.
 */
function nearestOnly(mesh) {
  const depth = new THREE.InstancedMesh(mesh.geometry, new THREE.MeshBasicMaterial({ colorWrite: false }), mesh.count);
  depth.instanceMatrix = mesh.instanceMatrix;
  depth.frustumCulled = false;
  depth.renderOrder = 1;
  depth.raycast = () => {};
  return depth;
}

function nodesOfSurfaces(scene) {
  const nodes = new Set();
  for (const surface of scene.surfaces ?? []) {
    for (let k = 0; k < surface.node_count; k++) nodes.add(surface.first_node + k);
  }
  return nodes;
}
