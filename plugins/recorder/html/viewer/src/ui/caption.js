// SPDX-License-Identifier: Apache-2.0
// What the script says of the time that is shown, over the scene; and marks of it along the bar of time.

import { el } from "./dom.js";

export class Caption {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.root = el("p", { class: "caption", role: "status", hidden: true });
    this.marks = el("div", { class: "marks" });
  }

  update() {
    const { playback, recordings: [recording] } = this.app;
    const text = recording.captionAt(playback.time);
    this.root.hidden = text === "";
    if (this.root.textContent !== text) this.root.textContent = text;
    const { captions } = recording, span = playback.end - playback.start || 1;
    const known = captions.filter(({ frame }) => frame < recording.frameCount);
    if (known.length === this.known && span === this.span) return;
    this.known = known.length;
    this.span = span;
    this.marks.replaceChildren(...known.map(({ frame, text: what }) => {
      const time = recording.timeOf(frame);
      const mark = el("button", { type: "button", title: what, "aria-label": what, onclick: () => playback.seek(time) });
      mark.style.left = `${(100 * (time - playback.start)) / span}%`;
      return mark;
    }));
  }
}
