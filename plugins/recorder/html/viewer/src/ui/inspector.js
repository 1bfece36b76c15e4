// SPDX-License-Identifier: Apache-2.0
// What is selected, in numbers of the frame that is shown.

import { contactsOf } from "../data/frames.js";
import { STATE } from "../data/contacts.js";
import { offsetOf } from "../scene/poses.js";
import { el } from "./dom.js";
import { vector, withUnit } from "./numbers.js";

const STATES = { [STATE.open]: "open", [STATE.stick]: "sticks", [STATE.slip]: "slips" };
const MOST = 60; // contacts that are listed

export class Inspector {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.root = el("div", { class: "stack inspector", "aria-live": "off" });
  }

  update() {
    const { selection, views } = this.app;
    const view = views[selection.view] ?? views[0];
    const parts = view.moment && selection.contact >= 0 ? this.#contact(view, selection.contact)
      : view.moment && selection.body > 0 ? this.#body(view, selection.body)
      : [el("p", { class: "muted" }, "Click a body or a contact, or choose one from the list.")];
    this.root.replaceChildren(...parts);
  }

  #body(view, body) {
    const { scene } = view.recording;
    const { name, robot, mass } = scene.bodies[body];
    const { frames, index } = view.moment;
    const at = offsetOf(index, body, scene.bodies.length);
    const part = (from, count) => frames.bodies.subarray(at + from, at + from + count);
    const buttons = el("div", { class: "buttons" },
      el("button", { type: "button", "aria-pressed": String(this.app.options.get("follow")), onclick: () => this.app.options.toggle("follow") }, "follow"),
      el("button", { type: "button", onclick: () => this.app.clearSelection() }, "deselect"));
    return [
      el("h3", {}, name || `body ${body}`), buttons,
      table([
        ["robot", scene.robots?.[robot]?.name], ["mass", mass > 0 ? withUnit(mass * 1000, "g") : null],
        ["position m", vector(part(0, 3))], ["rotation w x y z", vector(part(3, 4))],
        ["velocity m/s", vector(part(7, 3), 3)], ["angular rad/s", vector(part(10, 3), 3)],
        ...this.#differences(view, body),
      ]),
      ...this.#contactsOf(view, body),
    ];
  }

  /** How far the same body is away in the other recordings. */
  #differences(view, body) {
    const { views, names } = this.app;
    const here = view.poses.position(body);
    return views.map((other, k) => ({ other, name: names[k] })).filter(({ other }) => other !== view)
      .map(({ other, name }) => {
        const same = this.app.sameBody(view, body, other);
        return [`to ${name}`, same > 0 ? withUnit(here.distanceTo(other.poses.position(same)), "m") : "no such body"];
      });
  }

  #contactsOf(view, body) {
    const { scene } = view.recording;
    const contacts = contactsOf(view.moment.frames, scene.units);
    const start = contacts.start[view.moment.index], end = contacts.start[view.moment.index + 1];
    const rows = [];
    let count = 0;
    for (let k = start; k < end; k++) {
      const [a, b] = [contacts.geometryA[k], contacts.geometryB[k]].map((g) => scene.geometries[g]);
      if (a?.body !== body && b?.body !== body) continue;
      if (++count > MOST) continue;
      rows.push(this.#contactRow(contacts, k, k - start, nameOf(scene, a?.body === body ? b : a)));
    }
    return [
      el("h4", {}, count === 1 ? "1 contact" : `${count} contacts`),
      count > 0 ? el("table", { class: "contacts" }, el("thead", {}, el("tr", {},
        ...["with", "force", "gap", "slip", ""].map((title) => el("th", { scope: "col" }, title)))), el("tbody", {}, ...rows)) : null,
    ].filter(Boolean);
  }

  #contactRow(contacts, k, number, name) {
    return el("tr", {},
      el("td", {}, el("button", { type: "button", class: "plain", onclick: () => this.app.selectContact(number) }, name)),
      el("td", {}, withUnit(norm(contacts.force, k), "N")), el("td", {}, withUnit(contacts.gap[k], "m")),
      el("td", {}, withUnit(contacts.slip[k], "m/s")), el("td", {}, STATES[contacts.state[k]] ?? ""));
  }

  #contact(view, number) {
    const { scene } = view.recording;
    const contacts = contactsOf(view.moment.frames, scene.units);
    const k = contacts.start[view.moment.index] + number;
    if (k >= contacts.start[view.moment.index + 1]) return [el("p", { class: "muted" }, "This contact has ended.")];
    const part = (values) => values.subarray(3 * k, 3 * k + 3);
    const normal = part(contacts.force).reduce((sum, f, c) => sum + f * contacts.normal[3 * k + c], 0);
    const tangent = Math.sqrt(Math.max(0, norm(contacts.force, k) ** 2 - normal ** 2));
    const [a, b] = [contacts.geometryA[k], contacts.geometryB[k]].map((g) => scene.geometries[g]);
    return [
      el("h3", {}, "contact"),
      el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => this.app.clearSelection() }, "deselect")),
      table([
        ["between", nameOf(scene, a)], ["and", nameOf(scene, b)], ["state", STATES[contacts.state[k]]],
        ["normal force", withUnit(normal, "N")], ["friction force", withUnit(tangent, "N")],
        ["friction / normal", normal > 0 ? (tangent / normal).toFixed(3) : null],
        ["gap", withUnit(contacts.gap[k], "m")], ["slip", withUnit(contacts.slip[k], "m/s")],
        ["point m", vector(part(contacts.point))], ["normal a to b", vector(part(contacts.normal), 3)], ["force on b N", vector(part(contacts.force), 3)],
      ]),
    ];
  }
}

function norm(values, k) {
  return Math.hypot(values[3 * k], values[3 * k + 1], values[3 * k + 2]);
}

/** The body that a geometry belongs to, or what it is called itself. */
function nameOf(scene, geometry) {
  if (!geometry) return "?";
  return geometry.body > 0 ? scene.bodies[geometry.body].name || `body ${geometry.body}` : geometry.name || geometry.type;
}

/** Names and values; those without a value are left out. @param {[string, string | null | undefined][]} rows */
export function table(rows) {
  return el("table", { class: "facts" }, el("tbody", {}, ...rows.filter(([, value]) => value != null && value !== "").map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))));
}
