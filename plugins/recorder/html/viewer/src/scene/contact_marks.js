// SPDX-License-Identifier: Apache-2.0
// Contact points with arrows of their forces. What sticks is a ball and an arrow head, what slips a ring and a disc at
// the arrow's end, so that colour is not needed to tell them apart; a contact without force is a small grey ball. Forces
// in parts are two arrows, that of friction in the colour of its state, that along the normal in one of its own.

import * as THREE from "three";
import { contactsOf } from "../data/frames.js";
import { partsOf, STATE } from "../data/contacts.js";
import { along, ballGeometry, coneGeometry, Copies, ringGeometry, shaftGeometry } from "./arrows.js";
import { CONTACT_COLOURS, SELECTION_COLOUR } from "./palette.js";

const COLOURS = [CONTACT_COLOURS.open, CONTACT_COLOURS.stick, CONTACT_COLOURS.slip].map((c) => new THREE.Color(c));
const NORMAL = new THREE.Color(CONTACT_COLOURS.normal);
const SELECTED = new THREE.Color(SELECTION_COLOUR);

const SLIMMEST = 8; // lengths of arrows in widths of their shafts, at least

/** Radii of what stands at the point, in widths of a shaft; faces of patches have none. */
const FOOT = { [STATE.open]: 0.8, [STATE.stick]: 1.6, [STATE.slip]: 3 };

/** Length of a head or disc [m]. */
const tipOf = (slips, width) => (slips ? 1.2 * width : 5 * width);

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
  }

  /**
   * @param {import("../data/recording.js").Moment | null} moment  null: shows nothing
   * @param {{ units: any, apart: boolean, metresPerNewton: number, longest: number, width: number, selected: number }} look
   *   apart: forces in parts; longest: of arrows [m]; width: of a shaft [m]; selected: index of a contact in the frame, or -1
   */
  show(moment, look) {
    this.all.forEach((copies) => copies.clear());
    if (moment) {
      const contacts = contactsOf(moment.frames, look.units);
      const start = contacts.start[moment.index];
      for (let k = start; k < contacts.start[moment.index + 1]; k++) {
        this.#add(contacts, k, look, k - start === look.selected);
      }
    }
    this.all.forEach((copies) => copies.show());
  }

  #add(contacts, k, look, selected) {
    const point = new THREE.Vector3().fromArray(contacts.point, 3 * k);
    const normal = new THREE.Vector3().fromArray(contacts.normal, 3 * k).normalize();
    const state = contacts.state[k];
    const colour = selected ? SELECTED : COLOURS[state] ?? COLOURS[0];
    const width = look.width * (selected ? 1.5 : 1);
    if (!contacts.inPatch[k]) this.#foot(along(point, normal, 0, FOOT[state] * width, FOOT[state] * width), state, colour);
    if (state === STATE.open) return;
    const slips = state === STATE.slip;
    if (!look.apart) {
      this.#force(point, new THREE.Vector3().fromArray(contacts.force, 3 * k), width, slips, colour, look);
      return;
    }
    const parts = partsOf(contacts, k);
    this.#force(point, normal.multiplyScalar(parts.normal), width, false, selected ? SELECTED : NORMAL, look);
    this.#force(point, new THREE.Vector3(...parts.friction), width, slips, colour, look);
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
