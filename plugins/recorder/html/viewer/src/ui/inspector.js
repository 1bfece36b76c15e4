// SPDX-License-Identifier: Apache-2.0
// What is selected, in numbers of the frame that is shown. What can have the focus stays the same element while time goes on.

import { contactsOf, patchesOf } from "../data/frames.js";
import { forcesOn, partsOf, STATE } from "../data/contacts.js";
import { patchWith, reportOf } from "../data/patch_report.js";
import { cloudOf } from "../data/scene.js";
import { offsetOf } from "../scene/poses.js";
import { ContactTable } from "./contact_table.js";
import { el, setPressed, table } from "./dom.js";
import { short, vector, withUnit } from "./numbers.js";

export const STATES = { [STATE.open]: "open", [STATE.stick]: "sticks", [STATE.slip]: "slips" };

export class Inspector {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.title = el("h3");
    this.follow = el("button", { type: "button", onclick: () => app.options.toggle("follow") }, "follow");
    this.buttons = el("div", { class: "buttons" }, this.follow,
      el("button", { type: "button", onclick: () => app.clearSelection() }, "deselect"));
    this.facts = el("div", { class: "stack" });
    this.contacts = new ContactTable((about) => (typeof about === "string" ? app.selectPatch(about) : app.selectContact(about)));
    this.root = el("div", { class: "stack inspector" }, this.title, this.buttons, this.facts, this.contacts.root);
  }

  update() {
    const { selection, views, options } = this.app;
    const view = views[selection.view];
    const chosen = selection.contact >= 0 ? "contact" : selection.patch !== "" ? "patch" : selection.body > 0 ? "body" : selection.cloud >= 0 ? "cloud" : "none";
    const kind = view.moment ? chosen : "none";
    this.title.hidden = this.buttons.hidden = kind === "none";
    this.follow.hidden = kind !== "body";
    this.contacts.root.hidden = kind !== "body" && kind !== "cloud";
    setPressed(this.follow, options.get("follow"));
    if (kind === "body") this.#showBody(view, selection.body);
    else if (kind === "cloud") this.#showCloud(view, selection);
    else if (kind === "contact") this.#showContact(view, selection.contact);
    else if (kind === "patch") this.#showPatch(view, selection.patch);
    else this.facts.replaceChildren(el("p", { class: "muted" }, "Click a body, a soft body, a contact or a patch's center, or choose one from the list."));
  }

  #showBody(view, body) {
    const { scene } = view.recording;
    const { name, robot, mass } = scene.bodies[body];
    const { frames, index } = view.moment;
    const at = offsetOf(index, body, scene.bodies.length);
    const part = (from, count) => frames.bodies.subarray(at + from, at + from + count);
    this.title.textContent = name || `body ${body}`;
    this.facts.replaceChildren(table([
      ["robot", scene.robots?.[robot]?.name], ["mass", mass > 0 ? withUnit(mass * 1000, "g") : null],
      ["position m", vector(part(0, 3))], ["w x y z", vector(part(3, 4), 3)],
      ["velocity m/s", vector(part(7, 3), 3)], ["angular rad/s", vector(part(10, 3), 3)],
      ...contactForces(view, (geometry) => geometry.body === body), ...this.#differences(view, body),
    ]));
    this.contacts.show(view, (geometry) => geometry.body === body);
  }

  /** A soft body or cable as a whole, and the node that was clicked. */
  #showCloud(view, { cloud, node }) {
    const { scene } = view.recording, { nodes, values } = view.poses;
    const { name, first_node: first, node_count: count } = scene.clouds[cloud];
    const owns = (geometry) => cloudOf(scene, geometry.node ?? -1) === cloud;
    const told = values.subarray(first, first + count).filter((value) => !Number.isNaN(value));
    const ends = told.length > 0 ? [Math.min, Math.max].map((end) => withUnit(told.reduce((a, b) => end(a, b)), scene.colors.unit)) : null;
    this.title.textContent = name || `soft body ${cloud + 1}`;
    this.facts.replaceChildren(table([
      ["nodes", String(count)], ["mean of them m", vector([0, 1, 2].map((c) => meanOf(nodes, first, count, c)))],
      [scene.colors?.name, ends && `${ends[0]} to ${ends[1]}`],
      ["node, from 1 on", node < 0 ? null : String(node - first + 1)], ["it is at m", node < 0 ? null : vector(nodes.subarray(3 * node, 3 * node + 3))],
      [`${scene.colors?.name} there`, node < 0 || !(Math.abs(values[node]) >= 0) ? null : withUnit(values[node], scene.colors.unit)],
      ...contactForces(view, owns),
    ]));
    this.contacts.show(view, owns);
  }

  /** How far the same body is away in the other recordings. */
  #differences(view, body) {
    const { views, names } = this.app;
    const here = view.poses.position(body);
    return views.map((other, k) => ({ other, name: names[k] })).filter(({ other }) => other !== view).map(({ other, name }) => {
      const same = this.app.sameBody(view, body, other);
      return [`to ${name}`, same > 0 ? withUnit(here.distanceTo(other.poses.position(same)), "m") : "no such body"];
    });
  }

  #showPatch(view, key) {
    const { scene } = view.recording, { frames, index } = view.moment;
    const contacts = contactsOf(frames, scene.units), patches = patchesOf(frames, scene.units);
    const number = patchWith(contacts, patches, index, key);
    this.title.textContent = "patch";
    if (number < 0) {
      this.facts.replaceChildren(el("p", { class: "muted" }, "They do not touch now."));
      return;
    }
    const r = reportOf(contacts, patches, number);
    const [normal, friction] = [r.normal, r.friction].map((part) => Math.hypot(...part));
    this.facts.replaceChildren(table([
      ["between", ownerName(scene, scene.geometries[r.a])], ["and", ownerName(scene, scene.geometries[r.b])],
      ["faces", `${r.faces}: ${r.sticking} stick, ${r.slipping} slip`],
      ["normal force", withUnit(normal, "N")], ["friction force", withUnit(friction, "N")], ["friction / normal", normal > 0 ? (friction / normal).toFixed(3) : null],
      ["area", area(r.area)], ["mean pressure", withUnit(r.mean, "Pa")], ["largest at the start", withUnit(r.max, "Pa")],
      ["fastest slip", withUnit(r.slip, "m/s")], ["deepest", withUnit(r.gap, "m")],
      ["center m", vector(r.center)], ["normal a to b", vector(r.axis, 3)], ["force on b N", vector(r.normal.map((value, c) => value + r.friction[c]), 3)],
      ["friction on b N", vector(r.friction, 3)], ["torque on b N m", vector(r.torque)],
    ]));
  }

  #showContact(view, number) {
    const { scene } = view.recording;
    const contacts = contactsOf(view.moment.frames, scene.units);
    const k = contacts.start[view.moment.index] + number;
    this.title.textContent = "contact";
    if (k >= contacts.start[view.moment.index + 1]) {
      this.facts.replaceChildren(el("p", { class: "muted" }, "This contact has ended."));
      return;
    }
    const [point, unit, force] = [contacts.point, contacts.normal, contacts.force].map((values) => values.subarray(3 * k, 3 * k + 3));
    const { normal, friction } = partsOf(contacts, k);
    const tangent = Math.hypot(...friction);
    const [a, b] = [contacts.geometryA[k], contacts.geometryB[k]].map((g) => scene.geometries[g]);
    this.facts.replaceChildren(table([
      ["between", ownerName(scene, a)], ["and", ownerName(scene, b)], ["state", STATES[contacts.state[k]]],
      ["normal force", withUnit(normal, "N")], ["friction force", withUnit(tangent, "N")],
      ["friction / normal", normal > 0 ? (tangent / normal).toFixed(3) : null],
      ["gap", withUnit(contacts.gap[k], "m")], ["slip speed", withUnit(contacts.slip[k], "m/s")],
      ["glides at about", contacts.glide[k] > 0 ? withUnit(contacts.glide[k], "m") : null],
      ["point m", vector(point)], ["normal a to b", vector(unit, 3)], ["force on b N", vector(force, 3)], ["friction on b N", vector(friction, 3)],
    ]));
  }
}

function area(value) {
  return value >= 1e-2 ? `${short(value)} m²` : value >= 1e-5 ? `${short(value * 1e4)} cm²` : `${short(value * 1e6)} mm²`;
}

/** Mean of a coordinate of nodes. */
function meanOf(nodes, first, count, c) {
  let sum = 0;
  for (let k = first; k < first + count; k++) sum += nodes[3 * k + c];
  return sum / count;
}

/** What all contacts of what owns these shapes do to it together. */
function contactForces(view, owns) {
  const { scene } = view.recording;
  const contacts = contactsOf(view.moment.frames, scene.units);
  const { start } = contacts, { index } = view.moment;
  const { normal, friction } = forcesOn(contacts, start[index], start[index + 1], (g) => scene.geometries[g] !== undefined && owns(scene.geometries[g]));
  return [["normal force N", vector(normal, 3)], ["friction force N", vector(friction, 3)]];
}

/** The body that a geometry belongs to, or what it is called itself. */
export function ownerName(scene, geometry) {
  if (!geometry) return "?";
  const cloud = cloudOf(scene, geometry.node ?? -1);
  if (cloud >= 0) return scene.clouds[cloud].name || `soft body ${cloud + 1}`;
  return geometry.body > 0 ? scene.bodies[geometry.body].name || `body ${geometry.body}` : geometry.name || geometry.type;
}
