// SPDX-License-Identifier: Apache-2.0
// Contact points with arrows of their forces. What sticks is a ball and an arrow head, what slips a ring and a disc at
// the arrow's end, so that colour is not needed to tell them apart; a contact without force is a small grey ball.

import * as THREE from "three";
import { contactsOf } from "../data/frames.js";
import { STATE } from "../data/contacts.js";
import { along, ballGeometry, coneGeometry, Copies, ringGeometry, shaftGeometry } from "./arrows.js";
import { CONTACT_COLOURS, SELECTION_COLOUR } from "./palette.js";

const COLOURS = [CONTACT_COLOURS.open, CONTACT_COLOURS.stick, CONTACT_COLOURS.slip].map((c) => new THREE.Color(c));
const SELECTED = new THREE.Color(SELECTION_COLOUR);

const SLIMMEST = 8; // lengths of arrows in widths of their shafts, at least

/** Radii of what stands at the point, in widths of a shaft; faces of patches have none. */
const FOOT = { [STATE.open]: 0.8, [STATE.stick]: 1.6, [STATE.slip]: 3 };

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
   * @param {{ units: any, metresPerNewton: number, width: number, selected: number }} look
   *   width: of a shaft [m]; selected: index of a contact in the frame, or -1
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
    const force = new THREE.Vector3().fromArray(contacts.force, 3 * k);
    const state = contacts.state[k];
    const colour = selected ? SELECTED : COLOURS[state] ?? COLOURS[0];
    const width = look.width * (selected ? 1.5 : 1);
    if (!contacts.inPatch[k]) this.#foot(along(point, normal, 0, FOOT[state] * width, FOOT[state] * width), state, colour);
    const length = force.length() * look.metresPerNewton;
    if (state === STATE.open || !(length > 0)) return;
    this.#arrow(point, force.normalize(), length, Math.min(width, length / SLIMMEST), state === STATE.slip, colour);
  }

  #foot(matrix, state, colour) {
    (state === STATE.slip ? this.rings : this.balls).add(matrix, colour);
  }

  #arrow(point, direction, length, width, slips, colour) {
    const tip = slips ? 1.2 * width : 5 * width;
    this.shafts.add(along(point, direction, 0, 0.7 * width, length - tip), colour);
    if (slips) this.discs.add(along(point, direction, length - tip, 2.6 * width, tip), colour);
    else this.heads.add(along(point, direction, length - tip, 2.1 * width, tip), colour);
  }
}

/**
 * Length of an arrow per force: the weight of a typical body is a sixth of the scene's radius.
 * @param {{ bodies: { mass?: number, robot?: number }[] }} scene @param {number} size  radius of the scene [m]
 */
export function defaultScale(scene, size) {
  const masses = scene.bodies.map((body) => body.mass ?? 0).filter((mass) => mass > 0).sort((a, b) => a - b);
  const typical = masses[masses.length >> 1] ?? 1;
  return size / 6 / (9.81 * typical);
}
