// SPDX-License-Identifier: Apache-2.0
// What tests, and people at the browser's console, may ask the page: `stictionViewer`.

import { Vector3 } from "three";
import { contactsOf, linesOf, patchesOf } from "./data/frames.js";
import { placesOf } from "./data/lines.js";
import { reportOf } from "./data/patch_report.js";

/**
 * @param {import("./app.js").App} app
 * @param {Promise<any>} read  settles when all blocks are read
 */
export function exposeHook(app, read) {
  const bodyNumber = (name, view) => app.views[view].recording.scene.bodies.findIndex((body) => body.name === name);
  globalThis.stictionViewer = {
    /** Settles when all is read and drawn. */
    ready: read.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))),
    get time() { return app.playback.time; },
    get start() { return app.playback.start; },
    get end() { return app.playback.end; },
    get speed() { return app.playback.speed; },
    get loop() { return app.playback.loop; },
    get playing() { return app.playback.playing; },
    get selection() { return { ...app.selection }; },
    get options() { return { ...app.options.values }; },
    get frameCount() { return app.recordings.map((recording) => recording.frameCount); },
    get plots() { return app.plots.plots.map((plot) => ({ key: plot.group.key, points: plot.pointCount, lines: plot.lines.length })); },
    get panes() { return app.stage.panes().map(({ x, y, width, height }) => ({ x, y, width, height })); },
    get contactCount() { return app.views.map((view) => view.contacts.balls.count + view.contacts.rings.count); },
    /** Arrows of forces that are drawn. */
    get arrowCount() { return app.views.map((view) => view.contacts.shafts.count); },
    /** Rods of the lines of constraints that are drawn. */
    get lineCount() { return app.views.map((view) => view.lines.rods.count); },
    /** Constraints of the frame that is shown: name, plugin, force [N], slack, points of the line. */
    constraints: (view = 0) => {
      const { moment, recording } = app.views[view];
      const lines = linesOf(moment.frames, recording.scene.units);
      return (recording.scene.constraints ?? []).slice(0, lines.count).map(({ name, plugin }, i) => {
        const k = moment.index * lines.count + i;
        return { name, plugin, force: lines.force[k], slack: lines.slack[k] === 1, points: placesOf(lines, moment.index, lines, moment.index, 0, i) };
      });
    },
    /** Pressure at the end of the colours [Pa]. */
    get pressureScale() { return app.views.map((view) => view.patches.end); },
    /** Patches of the frame that is shown, as the panel has them. */
    patches: (view = 0) => {
      const { moment, recording } = app.views[view], { units } = recording.scene;
      const contacts = contactsOf(moment.frames, units), patches = patchesOf(moment.frames, units);
      const numbers = Array.from({ length: patches.first[moment.index + 1] - patches.first[moment.index] }, (_, k) => patches.first[moment.index] + k);
      return numbers.map((p) => reportOf(contacts, patches, p));
    },
    /** Where a place of the scene is seen in the page [pixels]. */
    pixelOf: (point, view = 0) => {
      const seen = app.stage.project(new Vector3(...point), app.views[view]);
      const { left, top } = app.canvas.getBoundingClientRect();
      return seen && { x: seen.x + left, y: seen.y + top };
    },
    seek: (t) => app.playback.seek(t),
    setOption: (name, value) => app.options.set(name, value),
    /** Names of the bodies of the first recording. */
    get bodies() { return app.recordings[0].scene.bodies.slice(1).map((body) => body.name); },
    /** (x, y, z) of a body that is shown [m]. */
    bodyPosition: (name, view = 0) => app.views[view].poses.position(bodyNumber(name, view)).toArray(),
    /** Where that is in the page [pixels]. */
    bodyPixel: (name, view = 0) => globalThis.stictionViewer.pixelOf(app.views[view].poses.position(bodyNumber(name, view)).toArray(), view),
  };
}
