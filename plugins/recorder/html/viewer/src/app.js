// SPDX-License-Identifier: Apache-2.0
// The page: what all parts share, and how a change reaches them.

import * as THREE from "three";
import { shotOf } from "./data/camera.js";
import { colorRanges } from "./data/colors.js";
import { Playback } from "./playback.js";
import { withEnd } from "./scene/bounds.js";
import { CONTACT_COLOURS, LINES } from "./scene/palette.js";
import { pickAt } from "./scene/picking.js";
import { Stage } from "./scene/stage.js";
import { RecordingView } from "./scene/view.js";
import { el, iconButton, setPressed } from "./ui/dom.js";
import { makeHelp } from "./ui/help.js";
import { listenToKeys } from "./ui/keys.js";
import { Caption } from "./ui/caption.js";
import { Labels } from "./ui/labels.js";
import { Panel } from "./ui/panel.js";
import { Plots } from "./ui/plots.js";
import { Store } from "./ui/store.js";
import { Transport } from "./ui/transport.js";

const OPTIONS = {
  geometry: "visual", contacts: true, apart: false, patches: true, faces: false, constraints: true, frames: false, shadows: true, interpolate: true, colors: true, arrowScale: 1, pressureScale: 1, colorScale: 1,
  merged: true, camera: true, follow: false, layout: "side", panel: true, plots: true,
};
const FIRST_FRAME = "stiction first frame"; // a mark for measuring
const CLICK = 4; // pixels that a click may move
const NOTHING = { view: 0, body: -1, cloud: -1, node: -1, contact: -1, patch: "" };

export class App {
  /** @param {import("./data/recording.js").Recording[]} recordings @param {string | null} note */
  constructor(recordings, note) {
    this.recordings = recordings;
    this.names = namesOf(recordings);
    this.options = new Store({ ...OPTIONS });
    /** Body, cloud of nodes with the node that was clicked (-1: none), contact (number in the frame) or patch (key, "": none) of a view. */
    this.selection = { ...NOTHING };
    /** Bodies that are not shown. @type {Set<number>} */
    this.hidden = new Set();
    this.playback = new Playback(recordings, () => this.invalidate());
    this.views = recordings.map((recording, k) => new RecordingView(recording, new THREE.Color(LINES[k % LINES.length])));
    this.canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `Scene of ${this.names.join(", ")}` });
    this.stage = new Stage(this.canvas, this.views, () => this.invalidate(), () => this.options.set("camera", false));
    this.labels = new Labels(this);
    this.caption = new Caption(this);
    this.plots = new Plots(this);
    this.panel = new Panel(this);
    this.transport = new Transport(this);
    this.help = makeHelp();
    this.#build(note);
    this.#listen();
    this.#dress();
    this.stage.resize();
    this.stage.settle();
    requestAnimationFrame((now) => this.#turn(now));
  }

  #build(note) {
    const { options } = this;
    this.switches = ["panel", "plots"].map((name) =>
      ({ name, button: iconButton(name, `Show ${name}`, null, () => options.toggle(name)) }));
    this.note = el("p", { class: "note", role: "status", hidden: !note }, note ?? "");
    this.root = el("div", { class: "app" },
      el("header", { class: "top" }, el("h1", {}, this.names.join(" · ")), this.note,
        el("div", { class: "buttons" }, ...this.switches.map((s) => s.button), iconButton("help", "Keys", "?", () => this.help.showModal()))),
      el("main", { class: "scene" }, this.canvas, this.labels.root, this.caption.root),
      this.transport.root, this.panel.root, this.plots.root, this.help);
    for (const [state, colour] of Object.entries(CONTACT_COLOURS)) this.root.style.setProperty(`--${state}`, colour);
    document.body.append(this.root);
    document.title = `${this.names.join(" · ")} – Stiction`;
  }

  #listen() {
    this.options.watch((name) => {
      if (["geometry", "layout", "shadows"].includes(name)) this.#dress();
      this.invalidate();
    });
    new ResizeObserver(() => this.invalidate()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#dress();
      this.plots.draw();
      this.invalidate();
    });
    let from = null;
    this.canvas.addEventListener("pointerdown", (event) => (from = { x: event.offsetX, y: event.offsetY }));
    this.canvas.addEventListener("pointerup", (event) => {
      if (from && Math.hypot(event.offsetX - from.x, event.offsetY - from.y) < CLICK) this.pick(event.offsetX, event.offsetY);
      from = null;
    });
    listenToKeys(this);
  }

  /** Gives colours and geometries to what is drawn. */
  #dress() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const colours = { background: colour("--sky"), ground: colour("--ground"), grid: colour("--grid") };
    const layout = this.options.get("layout");
    this.stage.layout = layout;
    this.stage.paint(colours);
    this.views.forEach((view, k) => view.dress({
      tinted: layout === "ghost", ghost: layout === "ghost" && k > 0, choice: this.options.get("geometry"), shadows: this.options.get("shadows"), colours,
    }));
  }

  /** What is shown is drawn anew, once, at the next turn. */
  invalidate() {
    this.dirty = true;
  }

  #turn(now) {
    if (this.playback.tick(now)) this.dirty = true;
    if (this.dirty) {
      this.dirty = false;
      this.#update();
    }
    requestAnimationFrame((next) => this.#turn(next));
  }

  #update() {
    const { options, playback, selection, stage } = this;
    for (const { name, button } of this.switches) {
      setPressed(button, options.get(name));
      this.root.classList.toggle(`no-${name}`, !options.get(name));
    }
    stage.resize();
    const target = this.#followed();
    /** What colours of nodes stand for, by their name. */
    this.colors = options.get("colors") ? colorRanges(this.recordings, options.get("colorScale")) : new Map();
    this.views.forEach((view, k) => {
      const range = this.colors.get(view.recording.scene.colors?.name) ?? null;
      const own = k === selection.view ? selection : { ...NOTHING, ...this.#sameIn(view) };
      view.select(own.body, own.cloud);
      view.show(playback.time, options.values, range, stage.markWidth(), own, () => this.invalidate());
    });
    if (target) stage.shift(this.#followed().sub(target));
    const shot = options.get("camera") && this.views[0].moment ? shotOf(this.views[0].moment) : null;
    if (shot) stage.place(shot);
    this.caption.update();
    stage.render();
    this.labels.update();
    this.transport.update();
    this.panel.update();
    this.plots.update();
    if (performance.getEntriesByName(FIRST_FRAME).length === 0) performance.mark(FIRST_FRAME);
    this.dirty = false; // that the camera was moved along is drawn already
  }

  #followed() {
    const { view, body } = this.selection;
    return this.options.get("follow") && body > 0 ? this.views[view].poses.position(body) : null;
  }

  /** Number of the body of another recording with the same name; of several with the name, the same in order. */
  sameBody(view, body, other) {
    if (view === other || body <= 0) return body;
    const [mine, theirs] = [view, other].map((v) => v.recording.scene.bodies);
    if (theirs[body]?.name === mine[body].name) return body;
    return theirs.findIndex((candidate) => candidate.name === mine[body].name);
  }

  /** What is selected, in another view. */
  #sameIn(view) {
    const { selection } = this, chosen = this.views[selection.view];
    const name = chosen.recording.scene.clouds?.[selection.cloud]?.name;
    const cloud = selection.cloud < 0 ? -1 : view.recording.scene.clouds?.findIndex((other) => other.name === name) ?? -1;
    return { body: this.sameBody(chosen, selection.body, view), cloud };
  }

  fit() {
    this.stage.fit();
    this.invalidate();
  }

  /** Selects what is seen at a place of the canvas; what is selected already, or nothing there, deselects. */
  pick(x, y) {
    const found = pickAt(this.stage, x, y, this.options.get("contacts"), this.options.get("faces"));
    const { selection } = this;
    if (!found) {
      this.clearSelection();
      return;
    }
    const chosen = { ...found, view: this.views.indexOf(found.view) };
    if (Object.keys(NOTHING).every((key) => chosen[key] === selection[key])) this.clearSelection();
    else this.#select(chosen);
  }

  selectBody(body) {
    const { selection } = this;
    if (selection.body === body && selection.contact < 0 && selection.patch === "") this.clearSelection();
    else this.#select({ ...NOTHING, body });
  }

  selectCloud(cloud) {
    const { selection } = this;
    if (selection.cloud === cloud && selection.contact < 0 && selection.patch === "") this.clearSelection();
    else this.#select({ ...NOTHING, cloud });
  }

  selectContact(contact) {
    this.#select({ ...this.selection, contact, patch: "" });
  }

  selectPatch(patch) {
    this.#select({ ...this.selection, contact: -1, patch });
  }

  selectNext(by) {
    const count = this.recordings[0].scene.bodies.length - 1;
    if (count > 0) this.#select({ ...NOTHING, body: ((Math.max(this.selection.body, 0) - 1 + by + count) % count) + 1 });
  }

  clearSelection() {
    this.#select({ ...NOTHING });
  }

  #select(selection) {
    // the contact's number holds for the frame that it was chosen in
    if (selection.contact >= 0) this.playback.pause();
    this.selection = selection;
    this.invalidate();
  }

  /** @param {number[]} bodies  of the first recording @param {boolean} shown */
  showBodies(bodies, shown) {
    for (const body of bodies) {
      if (shown) this.hidden.delete(body);
      else this.hidden.add(body);
    }
    this.views.forEach((view) => {
      view.bodies.hidden = new Set([...this.hidden].map((body) => this.sameBody(this.views[0], body, view)));
    });
    this.panel.parts.bodies.list();
    this.invalidate();
  }

  /** Gives arrows and pressures a scale, one for all recordings, and the camera room for the end, once all is read. */
  scale() {
    this.stage.include(this.views.map((view) => withEnd(view.recording, view.poses, view.box)));
    const [first, ...others] = this.views;
    const pressure = Math.max(...this.views.map((view) => view.findPressure()));
    first.scaleArrows();
    for (const view of others) Object.assign(view, { arrowScale: first.arrowScale, faceArrowScale: first.faceArrowScale, arrowLength: first.arrowLength });
    for (const view of this.views) view.pressure = pressure;
    this.invalidate();
  }

  say(note) {
    this.note.textContent = note;
    this.note.hidden = !note;
  }
}

/** Titles; those that several recordings share with a number. */
function namesOf(recordings) {
  const titles = recordings.map((recording) => recording.title);
  return titles.map((title, k) => (titles.filter((other) => other === title).length > 1 ? `${title} ${k + 1}` : title));
}
