// SPDX-License-Identifier: Apache-2.0
// The bar with which time is moved.

import { SPEEDS } from "../playback.js";
import { el, icon, iconButton, setPressed } from "./dom.js";
import { seconds } from "./numbers.js";

const NAMES = { 0.0625: "1/16", 0.125: "1/8", 0.25: "1/4", 0.5: "1/2" };

export class Transport {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    const { playback, options } = app;
    this.app = app;
    this.play = iconButton("play", "Play", "space", () => playback.toggle());
    this.back = iconButton("back", "Frame back", "←", () => playback.step(-1));
    this.forward = iconButton("forward", "Frame forward", "→", () => playback.step(1));
    this.loop = iconButton("loop", "Loop", "L", () => playback.set("loop", !playback.loop));
    this.scrub = el("input", {
      type: "range", min: 0, max: 1, step: "any", class: "scrub", "aria-label": "Time",
      oninput: () => playback.seek(Number(this.scrub.value)),
    });
    this.speed = el("select", { "aria-label": "Speed", title: "Speed ([ and ])", onchange: () => playback.set("speed", Number(this.speed.value)) },
      ...SPEEDS.map((speed) => el("option", { value: speed }, `${NAMES[speed] ?? speed}×`)));
    this.smooth = el("input", { type: "checkbox", onchange: () => options.set("interpolate", this.smooth.checked) });
    this.now = el("span", { class: "now" });
    this.frame = el("span", { class: "frame" });
    this.root = el("div", { class: "transport", role: "group", "aria-label": "Playback" },
      this.back, this.play, this.forward, this.loop, el("div", { class: "track" }, this.scrub, app.caption.marks),
      el("output", { class: "clock" }, this.now, this.frame), this.speed,
      el("label", { class: "check", title: "Move smoothly between frames (I)" }, this.smooth, "smooth"));
  }

  update() {
    const { playback, options, recordings: [recording] } = this.app;
    const { playing } = playback;
    if (this.playing !== playing) {
      this.playing = playing;
      this.play.replaceChildren(icon(playing ? "pause" : "play"));
      this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
    }
    setPressed(this.loop, playback.loop);
    this.scrub.min = playback.start;
    this.scrub.max = playback.end;
    this.scrub.value = playback.time;
    this.scrub.style.setProperty("--part", `${(100 * (playback.time - playback.start)) / (playback.end - playback.start || 1)}%`);
    this.scrub.setAttribute("aria-valuetext", `${seconds(playback.time)} of ${seconds(playback.end)} seconds`);
    this.now.textContent = `${seconds(playback.time)} / ${seconds(playback.end)} s`;
    const count = recording.complete ? recording.frameCount : recording.end?.frames ?? recording.frameCount;
    this.frame.textContent = `frame ${recording.frameAt(playback.time) + 1} of ${count}`;
    this.speed.value = playback.speed;
    this.smooth.checked = options.get("interpolate");
  }
}
