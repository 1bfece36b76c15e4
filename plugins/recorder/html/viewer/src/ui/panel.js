// SPDX-License-Identifier: Apache-2.0
// The column beside the scene.

import { BodiesList } from "./bodies_list.js";
import { el } from "./dom.js";
import { Inspector } from "./inspector.js";
import { runInfo } from "./run_info.js";
import { ViewOptions } from "./view_options.js";

export class Panel {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.parts = { options: new ViewOptions(app), inspector: new Inspector(app), bodies: new BodiesList(app) };
    const section = (title, content, open) => el("details", { open }, el("summary", {}, title), content);
    this.root = el("aside", { class: "panel", "aria-label": "Options and selection" },
      section("View", this.parts.options.root, true),
      section("Selection", this.parts.inspector.root, true),
      section("Bodies", this.parts.bodies.root, app.recordings.length === 1),
      section(app.recordings.length > 1 ? "Differing parameters" : "Run", runInfo(app), app.recordings.length > 1));
  }

  update() {
    Object.values(this.parts).forEach((part) => part.update());
  }
}
