// SPDX-License-Identifier: Apache-2.0
// The plots under the scene: which are shown, and what they do together.

import { el, setPressed } from "./dom.js";
import { Plot } from "./plot.js";
import { groupsOf } from "./plot_groups.js";

export class Plots {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    /** @type {Plot[]} */
    this.plots = [];
    this.zoomed = null;
    this.hovered = null;
    this.choice = el("div", { class: "chips", role: "group", "aria-label": "Plots that are shown" });
    this.reset = el("button", { type: "button", class: "chip", hidden: true, onclick: () => this.zoom(null) }, "Reset zoom");
    this.list = el("div", { class: "plot-list" });
    this.root = el("section", { class: "plots", "aria-label": "Plots" }, el("div", { class: "plots-head" }, this.choice, this.reset), this.list);
    new ResizeObserver(() => this.#arrange()).observe(this.list);
  }

  /** Takes the series of the recordings, once they are read. */
  load() {
    const runs = this.app.recordings.map((recording, k) => ({ title: this.app.names[k], series: recording.series }));
    this.groups = groupsOf(runs.map((run) => run.series));
    const actions = {
      seek: (t) => this.app.playback.seek(t), zoom: (range) => this.zoom(range), hover: (t) => this.#hover(t),
    };
    this.all = this.groups.map((group) => new Plot(group, runs, actions));
    this.choice.replaceChildren(...this.groups.map((group, k) => {
      const chip = el("button", { type: "button", class: "chip", "aria-pressed": String(group.shown), onclick: () => {
        group.shown = !group.shown;
        setPressed(chip, group.shown);
        this.#show();
      } }, group.title);
      return chip;
    }));
    this.#show();
  }

  #show() {
    this.plots = this.all.filter((_, k) => this.groups[k].shown);
    this.list.replaceChildren(...this.plots.map((plot) => plot.root));
    this.list.hidden = this.plots.length === 0;
    this.draw();
  }

  /** Draws all anew, as after a change of colours. */
  draw() {
    const style = getComputedStyle(document.documentElement);
    const colours = { text: style.getPropertyValue("--muted"), grid: style.getPropertyValue("--line") };
    this.plots.forEach((plot) => plot.draw(colours));
    this.#arrange();
  }

  /** Shows all times, also those that were read meanwhile. */
  fit() {
    if (!this.zoomed) this.#arrange();
  }

  /** @param {[number, number] | null} range  times that are shown; null: all */
  zoom(range) {
    this.zoomed = range;
    this.reset.hidden = !range;
    this.#arrange();
  }

  #arrange() {
    const { playback } = this.app;
    const [from, to] = this.zoomed ?? [playback.start, playback.end];
    this.plots.forEach((plot) => plot.range(from, Math.max(to, from + 1e-9)));
    this.update();
  }

  #hover(t) {
    if (t === this.hovered) return;
    this.hovered = t;
    this.update();
  }

  update() {
    const { time } = this.app.playback;
    this.plots.forEach((plot) => plot.mark(time, this.hovered ?? time));
  }
}
