// SPDX-License-Identifier: Apache-2.0
// Contact points with arrows of their forces. What sticks is a ball and an arrow head, what slips a ring and a disc at
// the arrow's end, so that colour is not needed to tell them apart; a contact without force is a small grey ball. Forces
// in parts are two arrows, that of friction in the colour of its state, that along the normal in one of its own. A patch
// has one mark at its center of pressure, with its whole force, unless its faces are asked for.

import * as THREE from "three";
import { contactsOf } from "../data/frames.js";
import { STATE } from "../data/contacts.js";
import { marksOf, merge } from "../data/marks.js";
import { along, ballGeometry, coneGeometry, Copies, ringGeometry, shaftGeometry } from "./arrows.js";
import { CONTACT_COLOURS, SELECTION_COLOUR } from "./palette.js";

const COLOURS = [CONTACT_COLOURS.open, CONTACT_COLOURS.stick, CONTACT_COLOURS.slip].map((c) => new THREE.Color(c));
const NORMAL = new THREE.Color(CONTACT_COLOURS.normal);
const SELECTED = new THREE.Color(SELECTION_COLOUR);

const SLIMMEST = 8; // lengths of arrows in widths of their shafts, at least

/** Radii of what stands at the point, in widths of a shaft; single faces of patches have none. */
const FOOT = { [STATE.open]: 0.8, [STATE.stick]: 1.6, [STATE.slip]: 3 };

/** Length of a head or disc [m]. */
const tipOf = (slips, width) => (slips ? 1.2 * width : 5 * width);

/** How many contacts of a frame have force. */
function actingIn({ start, state }, frame) {
  let count = 0;
  for (let k = start[frame]; k < start[frame + 1]; k++) count += Number(state[k] !== STATE.open);
  return count;
}

/** An arrow that would be longer than it may be has a second head or disc. */
export class ContactMarks {
  constructor() {
    this.root = new THREE.Group();
    this.shafts = new Copies(shaftGeometry());
    this.heads = new Copies(coneGeometry());
    this.discs = new Copies(shaftGeometry(true));
    this.balls = new Copies(ballGeometry());
    this.rings = new Copies(ringGeometry());
    this.all = [this.shafts, this.heads, this.discs, this.balls, this.rings];
    this.root.add(...this.all.map((copies) => copies.root));
    this.drawn = this.acting = 0;
  }

  /**
   * @param {import("../data/recording.js").Moment | null} moment  null: shows nothing
   * @param {{ units: any, apart: boolean, faces: boolean, merged: boolean, near: number, pairOf: (a: number, b: number) => string, metresPerNewton: number, longest: number, width: number, selected: number, selectedPatch: string }} look
   *   apart: forces in parts; faces: marks of every face; merged: contacts of two bodies that are as near as this [m] are one; pairOf: between which
   *   bodies two geometries are; longest: of arrows [m]; width: of a shaft [m]; selected: index of a contact in
   *   the frame, or -1; selectedPatch: key of a patch, or ""
   */
  show(moment, look) {
    this.all.forEach((copies) => copies.clear());
    const marks = moment ? marksOf(moment.frames, look.units, moment.index, look) : [];
    const drawn = look.merged && !look.faces ? merge(marks, look.near) : marks;
    /** How many resultants are drawn, and how many contacts, also faces of patches, act. */
    this.drawn = drawn.filter(({ state }) => state !== STATE.open).length;
    this.acting = moment ? actingIn(contactsOf(moment.frames, look.units), moment.index) : 0;
    for (const mark of drawn) this.#add(mark, look, mark.selected === true);
    this.all.forEach((copies) => copies.show());
  }

  /** A foot at the point, unless it has none, and the arrows of the two parts of its force, or one of their sum. */
  #add({ point: at, axis, normal, friction, state, foot }, look, selected) {
    const point = new THREE.Vector3(...at), direction = new THREE.Vector3(...axis).normalize();
    const colour = selected ? SELECTED : COLOURS[state] ?? COLOURS[0];
    const width = look.width * (selected ? 1.5 : 1);
    if (foot) this.#foot(along(point, direction, 0, FOOT[state] * width, FOOT[state] * width), state, colour);
    if (state === STATE.open) return;
    const slips = state === STATE.slip;
    const pressing = new THREE.Vector3(...normal), across = new THREE.Vector3(...friction);
    if (!look.apart) {
      this.#force(point, pressing.add(across), width, slips, colour, look);
      return;
    }
    this.#force(point, pressing, width, false, selected ? SELECTED : NORMAL, look);
    this.#force(point, across, width, slips, colour, look);
  }

  /** An arrow of this force [N]; none without force. */
  #force(point, force, width, slips, colour, look) {
    const wanted = force.length() * look.metresPerNewton, length = Math.min(wanted, look.longest);
    if (!(length > 0)) return;
    const own = Math.min(width, length / SLIMMEST);
    this.#arrow(point, force.normalize(), length, own, slips, colour);
    if (wanted > length) this.#end(point, force, length - (slips ? 2 : 4) * own, own, slips, colour);
  }

  #foot(matrix, state, colour) {
    (state === STATE.slip ? this.rings : this.balls).add(matrix, colour);
  }

  #arrow(point, direction, length, width, slips, colour) {
    this.shafts.add(along(point, direction, 0, 0.7 * width, length - tipOf(slips, width)), colour);
    this.#end(point, direction, length, width, slips, colour);
  }

  #end(point, direction, length, width, slips, colour) {
    const tip = tipOf(slips, width);
    if (slips) this.discs.add(along(point, direction, length - tip, 2.6 * width, tip), colour);
    else this.heads.add(along(point, direction, length - tip, 2.1 * width, tip), colour);
  }
}
