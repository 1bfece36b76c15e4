// SPDX-License-Identifier: Apache-2.0
// What was run: parameters, and where recordings differ in them.

import { differences, parametersOf } from "../data/parameters.js";
import { el, table } from "./dom.js";
import { withUnit } from "./numbers.js";

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
    ...rows.map(([name, values]) => el("tr", {}, el("th", { scope: "row", title: name }, name), ...values.map((value) => el("td", { title: value }, value)))))));
}
