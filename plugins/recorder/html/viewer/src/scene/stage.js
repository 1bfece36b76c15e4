// SPDX-License-Identifier: Apache-2.0
// The canvas: one camera, and the views of all recordings beside or over each other.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { axesOf, distanceOf, distanceToSee } from "../data/camera.js";

/** Directions from which to look: in front, from the right, from above, from behind, from the left, from below. */
const DIRECTIONS = { front: [0, -1, 0], right: [1, 0, 0], top: [0, 0, 1], back: [0, 1, 0], left: [-1, 0, 0], bottom: [0, 0, -1] };
const OBLIQUE = [1, -1.5, 0.85];
const FIELD_OF_VIEW = 35; // [deg]
const MARKS = 0.0022;

export class Stage {
  /**
   * @param {HTMLCanvasElement} canvas @param {import("./view.js").RecordingView[]} views @param {() => void} onMove
   * @param {() => void} onTaken  someone turns, shifts or places the camera
   */
  constructor(canvas, views, onMove, onTaken) {
    this.onTaken = onTaken;
    this.canvas = canvas;
    this.views = views;
    this.layout = "side";
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.autoClear = false;
    this.bounds = views[0].bounds.clone();
    this.box = views[0].box.clone();
    for (const view of views) {
      this.bounds.union(view.bounds);
      this.box.union(view.box);
    }
    this.camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", onMove);
    /** Did someone turn, shift or place the camera? */
    this.moved = false;
    this.controls.addEventListener("start", () => this.#taken());
    this.#fit(new THREE.Vector3(...OBLIQUE).normalize());
  }

  /** @param {{ background: string }} colours */
  paint({ background }) {
    this.renderer.setClearColor(background);
  }

  /** Fits the canvas to its place. @returns {boolean} whether that changed anything */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = Math.min(devicePixelRatio, 2);
    const size = `${width} ${height} ${ratio}`;
    if (size === this.size || width === 0 || height === 0) return false;
    this.size = size;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    return true;
  }

  /** The panes in pixels from the left upper corner, each with the views that are drawn in it. */
  panes() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.layout === "ghost") return [{ x: 0, y: 0, width, height, views: this.views }];
    const columns = width >= 1.1 * height ? Math.min(this.views.length, this.views.length === 4 ? 2 : 3) : 1;
    const rows = Math.ceil(this.views.length / columns);
    return this.views.map((view, k) => ({
      x: ((k % columns) * width) / columns, y: (Math.floor(k / columns) * height) / rows,
      width: width / columns, height: height / rows, views: [view],
    }));
  }

  render() {
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    for (const pane of this.panes()) {
      const bottom = this.canvas.clientHeight - pane.y - pane.height;
      this.renderer.setViewport(pane.x, bottom, pane.width, pane.height);
      this.renderer.setScissor(pane.x, bottom, pane.width, pane.height);
      this.#frame(pane);
      for (const view of pane.views) this.renderer.render(view.scene, this.camera);
    }
  }

  #frame({ width, height }) {
    this.camera.aspect = width / height;
    const distance = this.camera.position.distanceTo(this.bounds.center);
    this.camera.near = Math.max(0.02 * this.bounds.radius, distance - 10 * this.bounds.radius) / 4;
    this.camera.far = distance + 20 * this.bounds.radius;
    this.camera.updateProjectionMatrix();
  }

  /** Of shafts of arrows, which look alike from near and far [m]. */
  markWidth() {
    const distance = this.camera.position.distanceTo(this.controls.target);
    return MARKS * Math.min(distance, 4 * this.bounds.radius);
  }

  /** Looks at everything from a side. @param {keyof typeof DIRECTIONS} name */
  lookAlong(name) {
    this.lookFrom(DIRECTIONS[name]);
  }

  /** Fits everything into the picture, from a direction. @param {number[]} direction */
  lookFrom(direction) {
    this.onTaken();
    this.camera.fov = FIELD_OF_VIEW;
    this.#fit(new THREE.Vector3(...direction).normalize());
  }

  /** Makes room for more, and shows it where nobody chose another camera. @param {THREE.Box3[]} boxes */
  include(boxes) {
    for (const box of boxes) this.box.union(box);
    if (!this.moved) this.settle();
  }

  #taken() {
    this.moved = true;
    this.onTaken();
  }

  /** Fits everything into the picture, from where the camera stands. */
  fit() {
    this.onTaken();
    this.settle();
  }

  /** The same before anybody asked. */
  settle() {
    this.#fit(this.camera.position.clone().sub(this.controls.target).normalize());
  }

  #fit(direction) {
    const centre = this.box.getCenter(new THREE.Vector3()), half = this.box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).add(direction);
    this.controls.update();
    this.camera.updateMatrixWorld();
    const [right, up, back] = [0, 1, 2].map((c) => new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, c).toArray());
    const distance = distanceToSee(half.toArray(), { right, up, back }, (this.camera.fov * Math.PI) / 180, this.#aspect());
    this.camera.position.copy(centre).addScaledVector(new THREE.Vector3(...back), distance);
    this.controls.update();
  }

  #aspect() {
    const [pane] = this.panes();
    return pane.height > 0 ? pane.width / pane.height : 1;
  }

  /** Takes the camera of the script. @param {import("../data/camera.js").Shot} shot */
  place(shot) {
    const { back } = axesOf(shot.azimuth, shot.elevation);
    this.camera.fov = (shot.field_of_view * 180) / Math.PI;
    this.controls.target.set(...shot.middle);
    this.camera.position.set(...back).multiplyScalar(Math.max(distanceOf(shot, this.#aspect()), 1e-3 * this.bounds.radius)).add(this.controls.target);
    this.controls.update();
  }

  /** Moves camera and target alike. @param {THREE.Vector3} by */
  shift(by) {
    this.#taken();
    if (by.lengthSq() === 0) return;
    this.camera.position.add(by);
    this.controls.target.add(by);
    this.controls.update();
  }

  /** Turns the camera around its target [rad], and moves it nearer for a factor above 1. */
  turn(left, up, nearer = 1) {
    this.#taken();
    this.controls.rotateLeft(left);
    this.controls.rotateUp(up);
    if (nearer !== 1) {
      const offset = this.camera.position.clone().sub(this.controls.target);
      this.camera.position.copy(this.controls.target).addScaledVector(offset, 1 / nearer);
    }
    this.controls.update();
  }

  /** The pane at a place of the canvas, and the ray into it. */
  rayAt(x, y) {
    const pane = this.panes().find((p) => x >= p.x && x < p.x + p.width && y >= p.y && y < p.y + p.height);
    if (!pane) return null;
    this.#frame(pane);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2((2 * (x - pane.x)) / pane.width - 1, 1 - (2 * (y - pane.y)) / pane.height), this.camera);
    return { pane, ray };
  }

  /** Where a point of a view is seen [pixels of the canvas]; null: behind the camera. @param {THREE.Vector3} point */
  project(point, view) {
    const pane = this.panes().find((p) => p.views.includes(view));
    this.#frame(pane);
    this.camera.updateMatrixWorld();
    const seen = point.clone().project(this.camera);
    if (seen.z > 1) return null;
    return { x: pane.x + ((seen.x + 1) / 2) * pane.width, y: pane.y + ((1 - seen.y) / 2) * pane.height };
  }
}
