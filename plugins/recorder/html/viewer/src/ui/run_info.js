// SPDX-License-Identifier: Apache-2.0
// What was run: parameters, and where recordings differ in them.

import { el } from "./dom.js";
import { table } from "./inspector.js";
import { withUnit } from "./numbers.js";

/** "name = value" lines. @returns {Map<string, string>} */
export function parametersOf(scene) {
  const lines = (scene.parameters ?? "").split("\n").map((line) => line.split(" = ")).filter((parts) => parts.length > 1);
  return new Map([["dt", `${scene.dt}`], ...lines.map(([name, ...value]) => [name, value.join(" = ")])]);
}

/** Names of parameters with more than one value, and their values. @returns {[string, string[]][]} */
export function differences(scenes) {
  const all = scenes.map(parametersOf);
  const names = [...new Set(all.flatMap((parameters) => [...parameters.keys()]))];
  return names.map((name) => [name, all.map((parameters) => parameters.get(name) ?? "–")])
    .filter(([, values]) => new Set(values).size > 1);
}

/** @param {import("../app.js").App} app */
export function runInfo(app) {
  const { recordings, names } = app;
  if (recordings.length > 1) return compared(recordings, names);
  const [{ scene, end }] = recordings;
  return el("div", { class: "stack" },
    table([["bodies", String(scene.bodies.length - 1)], ["steps", end ? String(end.steps) : null], ["time step", withUnit(scene.dt, "s")],
      ["frames", scene.frame_rate ? `${scene.frame_rate} per second` : null], ["stiction", scene.stiction]]),
    table([...parametersOf(scene)].slice(1)));
}

function compared(recordings, names) {
  const rows = differences(recordings.map(({ scene }) => scene));
  if (rows.length === 0) return el("p", { class: "muted" }, "All parameters are the same.");
  const head = el("tr", {}, el("th", {}, ""), ...names.map((name) => el("th", { scope: "col" }, name)));
  return el("div", { class: "scroll" }, el("table", { class: "facts differences" }, el("thead", {}, head), el("tbody", {},
    ...rows.map(([name, values]) => el("tr", {}, el("th", { scope: "row" }, name), ...values.map((value) => el("td", {}, value)))))));
}
