// SPDX-License-Identifier: Apache-2.0
// All that is drawn of one recording.

import * as THREE from "three";
import { arrowScaleOf, typicalLength, typicalWeight } from "../data/arrow_scale.js";
import { STATE } from "../data/contacts.js";
import { patchesOf } from "../data/frames.js";
import { forceOf, marksOf, merge } from "../data/marks.js";
import { typicalPressure } from "../data/patch_report.js";
import { cloudOf } from "../data/scene.js";
import { Axes } from "./axes.js";
import { Bodies } from "./bodies.js";
import { boundsOf } from "./bounds.js";
import { ConstraintLines } from "./constraint_lines.js";
import { ContactMarks } from "./contact_marks.js";
import { makeGround } from "./ground.js";
import { makeLights } from "./lights.js";
import { PatchFaces } from "./patches.js";
import { Poses } from "./poses.js";
import { Surfaces } from "./surfaces.js";

const LONGEST = 4; // lengths of a typical arrow
const NEAR = 0.6; // lengths of a typical arrow: contacts of two bodies that are nearer are one arrow
const SAMPLED = 8; // blocks whose forces and pressures are looked at, which takes some milliseconds each

export class RecordingView {
  /** @param {import("../data/recording.js").Recording} recording @param {THREE.Color} tint  of it as a ghost */
  constructor(recording, tint) {
    this.recording = recording;
    this.tint = tint;
    const { scene } = recording;
    this.scene = new THREE.Scene();
    this.poses = new Poses(scene);
    /** What is shown. @type {import("../data/recording.js").Moment | null} */
    this.moment = null;
    const { box, sphere, bodyRadius } = boundsOf(recording, this.poses);
    this.box = box;
    this.bounds = sphere;
    this.bodies = new Bodies(recording);
    this.surfaces = new Surfaces(scene);
    this.contacts = new ContactMarks();
    this.patches = new PatchFaces();
    this.lines = new ConstraintLines();
    this.axes = new Axes(this.bounds.radius);
    this.lights = makeLights(this.bounds);
    this.grounds = new THREE.Group();
    /** Of the arrow of a typical force [m], and of arrows per newton; of those of faces. */
    this.arrowLength = typicalLength(bodyRadius, this.bounds.radius);
    this.arrowScale = this.faceArrowScale = this.arrowLength / typicalWeight(scene);
    const bodyOf = scene.geometries.map(({ body, node }) => (node >= 0 ? `cloud ${cloudOf(scene, node)}` : body ?? 0));
    this.pairOf = (a, b) => `${bodyOf[a]} ${bodyOf[b]}`;
    /** Pressure at the end of the colours [Pa]; 0: the largest that was seen. */
    this.pressure = 0;
    this.scene.add(this.grounds, this.lights, this.bodies.root, this.surfaces.root, this.contacts.root, this.patches.root, this.lines.root, this.axes.root);
  }

  /**
   * @param {{ tinted: boolean, ghost: boolean, choice: string, shadows: boolean, colours: { ground: string, grid: string } }} look
   *   tinted: in the recording's colour; ghost: translucent too, without ground and marks
   */
  dress({ tinted, ghost, choice, shadows, colours }) {
    this.ghost = ghost;
    const tint = tinted ? this.tint : null;
    this.bodies.dress({ choice, tint, ghost });
    this.surfaces.dress(tint, ghost);
    this.lights.userData.lamp.castShadow = shadows;
    for (const plane of this.grounds.children) {
      plane.geometry.dispose();
      plane.material.dispose();
    }
    this.grounds.clear();
    if (ghost) return;
    for (const geometry of this.recording.scene.geometries) {
      if (geometry.type === "half_space" && (geometry.body ?? 0) === 0 && (choice === "visual" ? geometry.visual !== false : geometry.collision !== false)) {
        this.grounds.add(makeGround(geometry, this.bounds, colours));
      }
    }
  }

  /** Some of the blocks that are read, spread over the recording. */
  #sampledBlocks() {
    const known = this.recording.chunks.filter((chunk) => chunk.frames), every = Math.max(1, Math.ceil(known.length / SAMPLED));
    return known.filter((_, k) => (known.length - 1 - k) % every === 0).map(({ frames }) => frames);
  }

  /** Takes forces of the whole run as typical, once they are read. */
  scaleArrows() {
    const { units } = this.recording.scene, { pairOf } = this, blocks = this.#sampledBlocks();
    const sizes = (faces) => blocks.flatMap((frames) => [...new Set([0, frames.count >> 1, frames.count - 1])].flatMap((frame) => {
      const marks = marksOf(frames, units, frame, { faces, pairOf });
      return (faces ? marks : merge(marks, NEAR * this.arrowLength)).filter(({ state }) => state !== STATE.open).map(forceOf);
    }));
    this.arrowScale = arrowScaleOf(sizes(false), this.arrowLength) ?? this.arrowScale;
    this.faceArrowScale = arrowScaleOf(sizes(true), this.arrowLength) ?? this.faceArrowScale;
  }

  /** The largest of the pressures that are typical of some blocks, spread over the recording [Pa]; 0: none. */
  findPressure() {
    const { units } = this.recording.scene;
    return Math.max(0, ...this.#sampledBlocks().map((frames) => typicalPressure(patchesOf(frames, units)) ?? 0));
  }

  /** Length of arrows [m/N], of whole patches or of their faces. */
  metresPerNewton({ faces, arrowScale }) {
    return (faces ? this.faceArrowScale : this.arrowScale) * arrowScale;
  }

  /** @param {number} body  -1: none @param {number} cloud  of nodes; -1: none */
  select(body, cloud) {
    if (body === this.bodies.selected && cloud === this.bodies.selectedCloud) return;
    Object.assign(this.bodies, { selected: body, selectedCloud: cloud });
    this.surfaces.selected = cloud;
    this.bodies.paint();
  }

  /**
   * Shows the time t; what is still being decoded leaves the moment before.
   * @param {number} t
   * @param {{ interpolate: boolean, contacts: boolean, constraints: boolean, apart: boolean, patches: boolean, faces: boolean, frames: boolean, arrowScale: number, pressureScale: number }} options
   * @param {{ low: number, high: number } | null} range  of the colours of nodes; null: they have their own
   * @param {number} markWidth  of the arrows' shafts [m]
   * @param {{ body: number, contact: number, patch: string }} selection @param {() => void} onLoaded
   */
  show(t, options, range, markWidth, selection, onLoaded) {
    const moment = this.recording.momentAt(t, onLoaded);
    if (moment) {
      this.moment = moment;
      this.poses.set(moment, options.interpolate);
    }
    const { units } = this.recording.scene;
    this.bodies.place(this.poses, range);
    this.surfaces.place(this.poses, range);
    const marked = this.ghost ? null : this.moment;
    this.contacts.show(options.contacts ? marked : null, {
      units, apart: options.apart, faces: options.faces, merged: options.merged, near: NEAR * this.arrowLength, pairOf: this.pairOf, metresPerNewton: this.metresPerNewton(options),
      longest: LONGEST * this.arrowLength * options.arrowScale, width: markWidth, selected: selection.contact, selectedPatch: selection.patch,
    });
    this.patches.show(options.patches ? marked : null, units, this.pressure * options.pressureScale, options.faces);
    this.lines.show(options.constraints ? marked : null, units, options.interpolate, markWidth);
    this.axes.root.visible = options.frames;
    if (options.frames) this.axes.show(this.poses.matrices, (body) => body > 0 && !this.bodies.hidden.has(body));
  }
}
