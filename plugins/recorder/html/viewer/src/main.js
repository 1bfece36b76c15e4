// SPDX-License-Identifier: Apache-2.0
// The program of a recording page: reads the blocks, shows the first frame at once, then reads the rest.

import { App } from "./app.js";
import { collectBlocks } from "./data/blocks.js";
import { Recording } from "./data/recording.js";
import { exposeHook } from "./hook.js";
import { seconds } from "./ui/numbers.js";

/** Says what the browser lacks, if anything. */
function checkBrowser() {
  if (!globalThis.DecompressionStream) throw new Error("This browser is too old for recordings: it cannot unpack data (DecompressionStream, 2023).");
  if (!document.createElement("canvas").getContext("webgl2")) {
    throw new Error("This browser draws no WebGL 2, which recordings need: switch hardware acceleration on, or open the page in another browser.");
  }
}

async function open() {
  checkBrowser();
  const { recordings: blocks } = collectBlocks(document);
  if (blocks.length === 0) throw new Error("This page holds no recording: the file was cut off before its scene.");
  const recordings = await Promise.all(blocks.map((own) => Recording.open(own)));
  if (recordings.every((recording) => recording.frameCount === 0)) {
    throw new Error("This recording holds no frames: the run was cut off before its first ones were written.");
  }
  const app = new App(recordings, null);
  const read = Promise.all(recordings.map((recording) => readRest(app, recording)));
  exposeHook(app, read);
  await read;
  const notes = recordings.map((recording, k) => ({ recording, name: app.names[k] })).filter(({ recording }) => recording.cutOff)
    .map(({ recording, name }) => `${recordings.length > 1 ? name : "the run"} was cut off at t = ${seconds(recording.lastTime)} s`);
  app.say(notes.join("; "));
}

/** Series first, so that plots come soon; then all frames, one block after the other. */
async function readRest(app, recording) {
  await recording.loadSeries();
  if (app.recordings.every((other) => other === recording || other.series.time.length > 0)) app.plots.load();
  while (!recording.complete) await recording.extend();
  app.invalidate();
  app.plots.fit();
}

function complain(error) {
  const text = document.createElement("p");
  text.className = "failure";
  text.setAttribute("role", "alert");
  text.textContent = error.message;
  document.body.append(text);
}

const start = () => open().catch(complain);
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
