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
  const opened = await Promise.allSettled(blocks.map((own) => Recording.open(own)));
  const recordings = opened.flatMap(({ value }) => value ?? []), refused = opened.flatMap(({ reason }) => reason ?? []);
  if (recordings.length === 0) throw refused[0];
  if (recordings.every((recording) => recording.frameCount === 0)) {
    const [damage] = recordings.flatMap((recording) => recording.damage);
    throw new Error(damage ? `This recording cannot be shown: ${damage}.`
      : "This recording holds no frames: the run was cut off before its first ones were written.");
  }
  const app = new App(recordings, null);
  const read = Promise.all(recordings.map((recording) => readRest(app, recording)));
  exposeHook(app, read);
  await read;
  performance.mark("stiction read");
  app.scale();
  const tell = () => app.say([...refused.map(({ message }) => message), ...recordings.flatMap((_, k) => notesOn(app, k))].join("; "));
  for (const recording of recordings) recording.onDamage = tell;
  tell();
}

/** What is to be known of a recording that is not whole. */
function notesOn(app, number) {
  const recording = app.recordings[number], several = app.recordings.length > 1, name = app.names[number];
  const notes = recording.damage.map((what) => (several ? `${name}: ${what}` : what));
  return recording.cutOff ? [...notes, `${several ? name : "the run"} was cut off at t = ${seconds(recording.lastTime)} s`] : notes;
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

// what nobody foresaw is said too, once
globalThis.addEventListener("error", ({ message }) => document.querySelector(".failure") ?? complain({ message: `The viewer failed: ${message}` }));

const start = () => open().catch(complain);
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
