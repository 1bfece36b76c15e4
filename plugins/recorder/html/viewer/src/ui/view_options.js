// SPDX-License-Identifier: Apache-2.0
// What of the scene is shown, and from where.

import { PRESSURE_GRADIENT } from "../scene/palette.js";
import { el, setPressed } from "./dom.js";
import { withUnit } from "./numbers.js";

const CHOICES = { visual: "visual", collision: "collision", both: "both" };
const LAYOUTS = { side: "side by side", ghost: "overlaid" };
const SWITCHES = [
  ["contacts", "contact forces", "C"], ["apart", "forces in parts", "T"], ["patches", "patches", "P"], ["faces", "faces of patches", "E"], ["merged", "resultants", "J"], ["constraints", "constraints", "K"], ["frames", "body frames", "A"], ["shadows", "shadows", "H"],
];
const COLORS = ["colors", "colors", "M"]; // of nodes, where there are some
const VIEWS = ["front", "right", "top", "back", "left", "bottom"];

/** One of several, as buttons side by side. */
function segmented(options, name, label, choices) {
  const inputs = Object.entries(choices).map(([value, text]) => {
    const input = el("input", { type: "radio", name, value, onchange: () => options.set(name, value) });
    return { input, label: el("label", {}, input, el("span", {}, text)) };
  });
  const root = el("div", { class: "segmented", role: "radiogroup", "aria-label": label }, ...inputs.map((i) => i.label));
  return { root, update: () => inputs.forEach(({ input }) => (input.checked = input.value === options.get(name))) };
}

function toggle(options, name, text, key) {
  const input = el("input", { type: "checkbox", onchange: () => options.set(name, input.checked) });
  const root = el("label", { class: "check", title: `${text} (${key})` }, input, text);
  return { root, update: () => (input.checked = options.get(name)) };
}

export class ViewOptions {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    const { options, recordings, stage } = app;
    this.app = app;
    const layout = recordings.length > 1 ? segmented(options, "layout", "Recordings", LAYOUTS) : null;
    const geometry = segmented(options, "geometry", "Geometry", CHOICES);
    const colored = recordings.some(({ scene }) => scene.colors);
    const switches = [...SWITCHES, ...(colored ? [COLORS] : [])].map(([name, text, key]) => toggle(options, name, text, key));
    this.parts = [layout, geometry, ...switches].filter(Boolean);
    this.scale = el("input", {
      type: "range", min: -2, max: 2, step: 0.05, "aria-label": "Length of force arrows",
      oninput: () => options.set("arrowScale", 10 ** Number(this.scale.value)),
    });
    this.normal = sign("normal", "normal part");
    this.shown = el("p", { class: "muted" });
    this.length = el("span", { class: "muted" });
    this.pressure = el("div", { class: "legend pressure", hidden: true });
    this.most = el("span");
    const bar = el("i", { class: "bar" });
    bar.style.background = PRESSURE_GRADIENT;
    this.pressureScale = el("input", {
      type: "range", min: -2, max: 2, step: 0.05, "aria-label": "Pressure at the end of the colours",
      oninput: () => options.set("pressureScale", 10 ** Number(this.pressureScale.value)),
    });
    this.pressure.append("0", bar, this.most, el("label", { class: "row" }, "pressure", this.pressureScale));
    this.colors = el("div", { class: "legend colors", hidden: true });
    this.low = el("span");
    this.high = el("span");
    this.colorName = el("span");
    const colors = el("i", { class: "bar" });
    colors.style.background = PRESSURE_GRADIENT;
    this.colorScale = el("input", {
      type: "range", min: -2, max: 2, step: 0.05, "aria-label": "Upper end of the colors",
      oninput: () => options.set("colorScale", 10 ** Number(this.colorScale.value)),
    });
    this.colors.append(this.low, colors, this.high, el("label", { class: "row" }, this.colorName, this.colorScale));
    this.lines = el("div", { class: "legend lines", hidden: true });
    this.mostForce = el("span");
    const forces = el("i", { class: "bar" });
    forces.style.background = PRESSURE_GRADIENT;
    this.lines.append(sign("open", "slack"), "0", forces, this.mostForce);
    this.script = app.recordings[0].hasCamera ? el("button", { type: "button", title: "the camera of the script (R)", onclick: () => options.toggle("camera") }, "script") : null;
    const view = (name, k) => el("button", { type: "button", title: `from the ${name} (${k + 1})`, onclick: () => stage.lookAlong(name) }, name);
    this.root = el("div", { class: "stack" },
      layout?.root ?? null, geometry.root, el("div", { class: "pairs" }, ...switches.map((s) => s.root)), 
      el("p", { class: "legend" }, sign("stick", "sticks"), sign("slip", "slips"), sign("open", "no force"), this.normal), this.shown, this.pressure, this.colors, this.lines,
      el("label", { class: "row" }, "arrows", this.scale, this.length),
      el("div", { class: "buttons small", role: "group", "aria-label": "Camera" }, ...VIEWS.map(view),
        el("button", { type: "button", title: "show everything (0)", onclick: () => app.fit() }, "fit"), this.script));
  }

  update() {
    const { options, views } = this.app;
    this.parts.forEach((part) => part.update());
    if (this.script) setPressed(this.script, options.get("camera"));
    this.shown.textContent = shownOf(views);
    this.scale.value = Math.log10(options.get("arrowScale"));
    const newtons = 0.1 / views[0].metresPerNewton(options.values);
    this.length.textContent = `10 cm: ${withUnit(Number(newtons.toPrecision(2)), "N")}`;
    this.normal.hidden = !options.get("apart");
    this.#updatePressure();
    this.#updateColors();
    const force = options.get("constraints") ? Math.max(...views.map((shown) => shown.lines.largest)) : 0;
    this.lines.hidden = !(force > 0);
    this.mostForce.textContent = withUnit(Number(force.toPrecision(3)), "N");
    this.lines.title = "force of constraints; the largest that was shown";
  }

  /** Of the first recording that has colours. */
  #updateColors() {
    const [first] = this.app.colors ?? [];
    this.colors.hidden = !first;
    if (!first) return;
    const [name, { unit, low, high, least, largest }] = first;
    this.colorScale.value = Math.log10(this.app.options.get("colorScale"));
    this.low.textContent = `${withUnit(Number(low.toPrecision(3)), unit)}${least < low ? " and less" : ""}`;
    this.high.textContent = `${withUnit(Number(high.toPrecision(3)), unit)}${largest > high + 0.005 * Math.abs(high) ? " and more" : ""}`;
    this.colorName.textContent = name;
    this.colors.title = `${name}: ${withUnit(least, unit)} to ${withUnit(largest, unit)} in the recording`;
  }

  #updatePressure() {
    const { options, views } = this.app;
    const pressed = views.map((view) => view.patches), largest = Math.max(...pressed.map((patches) => patches.largest));
    const end = Math.max(...pressed.map((patches) => patches.end));
    this.pressure.hidden = !(largest > 0);
    this.pressureScale.value = Math.log10(options.get("pressureScale"));
    this.most.textContent = `${withUnit(Number(end.toPrecision(3)), "Pa")}${largest > 1.005 * end ? " and more" : ""}`;
    this.most.title = `the largest that was shown: ${withUnit(largest, "Pa")}`;
  }
}

/** "48 arrows for 720 contacts", where some are drawn as one. @param {import("../scene/view.js").RecordingView[]} views */
function shownOf(views) {
  const [drawn, acting] = ["drawn", "acting"].map((name) => views.reduce((sum, view) => sum + view.contacts[name], 0));
  return drawn < acting ? `${drawn} ${drawn === 1 ? "arrow" : "arrows"} for ${acting} contacts with force` : "";
}

/** Of the legend: shape and colour of what sticks, slips, ... */
function sign(name, text) {
  return el("span", {}, el("i", { class: `sign ${name}`, "aria-hidden": "true" }), text);
}
