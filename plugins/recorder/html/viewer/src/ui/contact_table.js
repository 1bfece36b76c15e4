// SPDX-License-Identifier: Apache-2.0
// The contacts of a body. Rows are kept from frame to frame, so that they can be clicked while time goes on.

import { partsOf, STATE } from "../data/contacts.js";
import { contactsOf } from "../data/frames.js";
import { el } from "./dom.js";
import { ownerName, STATES } from "./inspector.js";
import { withUnit } from "./numbers.js";

const MOST = 60; // rows
const SIGNS = { [STATE.open]: "open", [STATE.stick]: "stick", [STATE.slip]: "slip" };

/** A row, and the number that its contact has in the frame. */
class Row {
  constructor(onChoose) {
    this.number = -1;
    this.name = el("button", { type: "button", class: "plain", onclick: () => onChoose(this.number) });
    this.state = el("i", { role: "img" });
    this.cells = Array.from({ length: 4 }, () => el("td"));
    this.root = el("tr", {}, el("td", {}, this.state, this.name), ...this.cells);
  }

  show(number, name, state, texts) {
    this.number = number;
    this.state.className = `sign ${SIGNS[state] ?? "open"}`;
    this.state.setAttribute("aria-label", STATES[state] ?? "");
    this.state.title = STATES[state] ?? "";
    this.name.textContent = name;
    this.cells.forEach((cell, k) => (cell.textContent = texts[k]));
  }
}

export class ContactTable {
  /** @param {(number: number) => void} onChoose */
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

  /** @param {import("../scene/view.js").RecordingView} view @param {number} body */
  show(view, body) {
    const { scene } = view.recording;
    const contacts = contactsOf(view.moment.frames, scene.units);
    const start = contacts.start[view.moment.index], end = contacts.start[view.moment.index + 1];
    let count = 0;
    for (let k = start; k < end; k++) {
      const [a, b] = [contacts.geometryA[k], contacts.geometryB[k]].map((g) => scene.geometries[g]);
      if (a?.body !== body && b?.body !== body) continue;
      if (++count > MOST) continue;
      const { normal, friction } = partsOf(contacts, k);
      this.#row(count - 1).show(k - start, ownerName(scene, a?.body === body ? b : a), contacts.state[k],
        [withUnit(normal, "N", 3), withUnit(Math.hypot(...friction), "N", 3), withUnit(contacts.gap[k], "m", 3), withUnit(contacts.slip[k], "m/s", 3)]);
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
