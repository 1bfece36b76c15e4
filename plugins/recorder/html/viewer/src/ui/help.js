// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";

const KEYS = [
  ["space", "play or pause"], ["← →", "a frame back or forward; with shift ten"], ["home end", "start, end"], ["[ ]", "slower, faster"],
  ["L", "loop"], ["I", "smooth between frames"], ["C", "contacts and forces"], ["T", "normal and friction force apart"], ["P", "pressure patches"], ["E", "edges and forces of their faces"], ["K", "lines of constraints"], ["A", "frames of bodies"],
  ["H", "shadows"], ["M", "colors of stress"], ["G", "visual, collision or both geometries"], ["F", "follow the selected body"], ["J", "near contacts of two bodies as one arrow"], ["R", "the camera of the script"],
  ["1 … 6", "look from front, right, top, back, left, bottom"], ["0", "show everything"], ["shift W A S D", "turn the camera"], ["+ −", "nearer, farther"],
  ["N shift N", "select the next, the previous body"], ["V", "hide or show the selected body"],
  ["O", "recordings beside or over each other"], ["escape", "deselect"], ["?", "this help"],
];

/** @returns {HTMLDialogElement} */
export function makeHelp() {
  const dialog = el("dialog", { class: "help", "aria-label": "Keys" },
    el("h2", {}, "Keys"),
    el("table", { class: "facts" }, el("tbody", {}, ...KEYS.map(([key, what]) =>
      el("tr", {}, el("th", { scope: "row" }, ...key.split(" ").filter(Boolean).map((k) => el("kbd", {}, k))), el("td", {}, what))))),
    el("p", { class: "muted" }, "Mouse: drag turns, with the right button shifts, the wheel zooms; a click selects. In plots a click moves the time, dragging zooms, a double click shows all."),
    el("form", { method: "dialog" }, el("button", {}, "close")));
  return dialog;
}
