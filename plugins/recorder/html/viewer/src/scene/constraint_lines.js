// SPDX-License-Identifier: Apache-2.0
// Lines of constraints of plugins: rods along their pieces, coloured by the size of their force, thin and grey while they are
// slack, with a ball where they take hold at either end and a smaller one where they bend.

import * as THREE from "three";
import { linesOf } from "../data/frames.js";
import { placesOf } from "../data/lines.js";
import { along, ballGeometry, Copies, shaftGeometry } from "./arrows.js";
import { CONTACT_COLOURS, pressureColour } from "./palette.js";

const SLACK = new THREE.Color(CONTACT_COLOURS.open);
const Z = new THREE.Vector3(0, 0, 1);
const BENT = 0.02; // [rad] between two pieces; pieces of an arc that turn less have no ball
const WIDTH = 0.7, THIN = 0.45, END = 1.8, BEND = 1.1; // in widths of an arrow's shaft

export class ConstraintLines {
  constructor() {
    this.rods = new Copies(shaftGeometry());
    this.balls = new Copies(ballGeometry());
    this.root = new THREE.Group();
    this.root.add(this.rods.root, this.balls.root);
    /** The largest force that was seen, which the last colour stands for [N]. */
    this.largest = 0;
  }

  /**
   * @param {import("../data/recording.js").Moment | null} moment @param {any} units @param {boolean} interpolate  as bodies are
   * @param {number} width  of an arrow's shaft [m]
   */
  show(moment, units, interpolate, width) {
    [this.rods, this.balls].forEach((copies) => copies.clear());
    if (moment) {
      const lines = linesOf(moment.frames, units);
      this.largest = Math.max(this.largest, lines.largest);
      for (let i = 0; i < lines.count; i++) {
        const places = placesOf(lines, moment.index, linesOf(moment.next, units), moment.nextIndex, interpolate ? moment.fraction : 0, i);
        this.#add(lines, moment.index * lines.count + i, places.map((place) => new THREE.Vector3(...place)), width);
      }
    }
    [this.rods, this.balls].forEach((copies) => copies.show());
  }

  #add(lines, k, places, width) {
    const colour = new THREE.Color();
    if (lines.slack[k]) colour.copy(SLACK);
    else pressureColour(Math.abs(lines.force[k]) / (this.largest || 1), colour);
    const pieces = places.slice(1).map((place, i) => place.clone().sub(places[i]));
    pieces.forEach((piece, i) => {
      const length = piece.length();
      if (length > 0) this.rods.add(along(places[i], piece.clone().divideScalar(length), 0, (lines.slack[k] ? THIN : WIDTH) * width, length), colour);
    });
    places.forEach((place, i) => {
      const ends = i === 0 || i === places.length - 1;
      if (!ends && pieces[i - 1].angleTo(pieces[i]) < BENT) return;
      const radius = (ends ? END : BEND) * width;
      this.balls.add(along(place, Z, 0, radius, radius), colour);
    });
  }
}
