// SPDX-License-Identifier: Apache-2.0
// The contacts of a body, its patches first, each as a whole. Rows are kept from frame to frame, so that they can be clicked
// while time goes on.

import { partsOf, STATE } from "../data/contacts.js";
import { contactsOf, patchesOf } from "../data/frames.js";
import { keyOf, reportOf, stateOf } from "../data/patch_report.js";
import { el } from "./dom.js";
import { ownerName, STATES } from "./inspector.js";
import { withUnit } from "./numbers.js";

const MOST = 60; // rows
const SIGNS = { [STATE.open]: "open", [STATE.stick]: "stick", [STATE.slip]: "slip" };

/** A row, and what it is about: the number that its contact has in the frame, or the key of a patch. */
class Row {
  constructor(onChoose) {
    this.about = -1;
    this.name = el("button", { type: "button", class: "plain", onclick: () => onChoose(this.about) });
    this.state = el("i", { role: "img" });
    this.cells = Array.from({ length: 4 }, () => el("td"));
    this.root = el("tr", {}, el("td", {}, this.state, this.name), ...this.cells);
  }

  show(about, name, state, texts) {
    this.about = about;
    this.state.className = `sign ${SIGNS[state] ?? "open"}`;
    this.state.setAttribute("aria-label", STATES[state] ?? "");
    this.state.title = STATES[state] ?? "";
    this.name.textContent = name;
    this.cells.forEach((cell, k) => (cell.textContent = texts[k]));
  }
}

export class ContactTable {
  /** @param {(about: number | string) => void} onChoose  gets the number of a contact, or the key of a patch */
  constructor(onChoose) {
    this.onChoose = onChoose;
    /** @type {Row[]} */
    this.rows = [];
    this.title = el("h4");
    this.body = el("tbody");
    this.table = el("table", { class: "contacts" }, el("thead", {}, el("tr", {},
      ...["with", "normal", "friction", "gap", "slip"].map((title) => el("th", { scope: "col" }, title)))), this.body);
    this.root = el("div", {}, this.title, this.table);
  }

  /** @param {import("../scene/view.js").RecordingView} view @param {(geometry: any) => boolean} owns  is a shape of what has the contacts? */
  show(view, owns) {
    const { scene } = view.recording;
    const { frames, index } = view.moment;
    const contacts = contactsOf(frames, scene.units), patches = patchesOf(frames, scene.units);
    let count = 0;
    /** Another row, if this is about the body and there is room. */
    const add = (of, about, suffix, describe) => {
      const [a, b] = [contacts.geometryA[of], contacts.geometryB[of]].map((g) => scene.geometries[g]);
      const isA = a && owns(a);
      if (!(isA || (b && owns(b))) || ++count > MOST) return;
      const { normal, friction, gap, slip, state } = describe();
      this.#row(count - 1).show(about(), ownerName(scene, isA ? b : a) + suffix, state,
        [withUnit(normal, "N", 3), withUnit(friction, "N", 3), withUnit(gap, "m", 3), withUnit(slip, "m/s", 3)]);
    };
    for (let p = patches.first[index]; p < patches.first[index + 1]; p++) {
      const faces = patches.face[p + 1] - patches.face[p];
      add(patches.contact[patches.face[p]], () => keyOf(contacts, patches, index, p), ` ×${faces}`, () => {
        const report = reportOf(contacts, patches, p);
        return { ...report, normal: Math.hypot(...report.normal), friction: Math.hypot(...report.friction), state: stateOf(report) };
      });
    }
    const start = contacts.start[index];
    for (let k = start; k < contacts.start[index + 1]; k++) {
      if (contacts.inPatch[k]) continue;
      add(k, () => k - start, "", () => {
        const { normal, friction } = partsOf(contacts, k);
        return { normal, friction: Math.hypot(...friction), gap: contacts.gap[k], slip: contacts.slip[k], state: contacts.state[k] };
      });
    }
    this.rows.forEach((row, k) => (row.root.hidden = k >= count));
    this.title.textContent = count === 1 ? "1 contact" : `${count} contacts`;
    this.table.hidden = count === 0;
  }

  #row(k) {
    if (!this.rows[k]) {
      this.rows[k] = new Row(this.onChoose);
      this.body.append(this.rows[k].root);
    }
    return this.rows[k];
  }
}
