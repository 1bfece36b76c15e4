// SPDX-License-Identifier: Apache-2.0
// The bodies of the scene: which are shown, which is selected; below them soft bodies and cables, which are selected alone.

import { el } from "./dom.js";

const MOST = 200; // lines; what is further is found by searching

export class BodiesList {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.search = el("input", { type: "search", placeholder: "search bodies", "aria-label": "Search bodies", oninput: () => this.list() });
    this.lines = el("ul", { class: "bodies" });
    this.more = el("p", { class: "muted" });
    this.root = el("div", { class: "stack" },
      el("div", { class: "row" }, this.search,
        el("button", { type: "button", onclick: () => this.#showAll(true) }, "all"),
        el("button", { type: "button", onclick: () => this.#showAll(false) }, "none")),
      this.lines, this.more);
    this.list();
  }

  /** Bodies whose name or robot holds what is searched for. */
  #found() {
    const { bodies, robots = [] } = this.app.recordings[0].scene;
    const wanted = this.search.value.trim().toLowerCase();
    return bodies.map((body, number) => ({ number, name: body.name || `body ${number}`, robot: robots[body.robot]?.name ?? "" }))
      .filter(({ number, name, robot }) => number > 0 && `${robot} ${name}`.toLowerCase().includes(wanted));
  }

  /** Soft bodies and cables whose name holds it. */
  #foundClouds() {
    const wanted = this.search.value.trim().toLowerCase();
    return (this.app.recordings[0].scene.clouds ?? []).map((cloud, number) => ({ number, name: cloud.name || `soft body ${number + 1}`, turns: cloud.turns }))
      .filter(({ name }) => name.toLowerCase().includes(wanted));
  }

  list() {
    const found = [...this.#found(), ...this.#foundClouds()];
    this.lines.replaceChildren(...found.slice(0, MOST).map((one) => ("turns" in one ? this.#cloudLine(one) : this.#line(one))));
    this.marked = null;
    this.more.hidden = found.length <= MOST;
    this.more.textContent = `and ${found.length - MOST} more: search`;
    this.update();
  }

  #line({ number, name, robot }) {
    const box = el("input", { type: "checkbox", "aria-label": `Show ${name}`, onchange: () => this.app.showBodies([number], box.checked) });
    box.checked = !this.app.hidden.has(number);
    const button = el("button", { type: "button", class: "plain", "data-body": number, onclick: () => this.app.selectBody(number) },
      name, robot && robot !== name ? el("span", { class: "muted" }, robot) : null);
    return el("li", {}, box, button);
  }

  #cloudLine({ number, name, turns }) {
    return el("li", {}, el("button", { type: "button", class: "plain", "data-cloud": number, onclick: () => this.app.selectCloud(number) },
      name, el("span", { class: "muted" }, turns ? "cable" : "soft body")));
  }

  #showAll(shown) {
    this.app.showBodies(this.#found().map(({ number }) => number), shown);
    this.list();
  }

  update() {
    const { body, cloud } = this.app.selection, marked = cloud >= 0 ? `[data-cloud="${cloud}"]` : `[data-body="${body}"]`;
    if (marked === this.marked) return;
    this.marked = marked;
    for (const button of this.lines.querySelectorAll("button")) {
      if (button.matches(marked)) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }
}
