// SPDX-License-Identifier: Apache-2.0
// Names over the panes of recordings that are compared.

import { LINES } from "../scene/palette.js";
import { el } from "./dom.js";

export class Labels {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.labels = app.names.map((name, k) => {
      const swatch = el("i");
      swatch.style.background = LINES[k % LINES.length];
      return el("div", { class: "pane" }, el("span", { class: "pane-label" }, swatch, name));
    });
    this.root = el("div", { class: "pane-labels", hidden: app.names.length < 2 }, ...this.labels);
  }

  update() {
    const { stage, views } = this.app;
    const panes = stage.panes();
    const text = panes.map((pane) => `${pane.x} ${pane.y} ${pane.width} ${pane.height}`).join();
    if (text === this.placed) return;
    this.placed = text;
    views.forEach((view, k) => {
      const pane = panes.find((p) => p.views.includes(view));
      const below = pane.views.indexOf(view);
      Object.assign(this.labels[k].style, {
        left: `${pane.x}px`, top: `${pane.y}px`, width: `${pane.width}px`, height: `${pane.height}px`, paddingTop: `${10 + 28 * below}px`,
      });
    });
  }
}
