// SPDX-License-Identifier: Apache-2.0
// node opening.js CHROMIUM RUNS PAGE...: how long pages take to open in headless Chromium, from the navigation on: fastest and
// median of RUNS, to the first frame being drawn and to all being read.

import { resolve } from "node:path";
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { FLAGS } from "./flags.js";

const [executablePath, runs, ...paths] = process.argv.slice(2);

/** When what was drawn at a mark of the page is finished: drawing goes on behind the program's back until pixels are asked for. */
async function finished(page, mark) {
  const handle = await page.waitForFunction((name) => {
    if (performance.getEntriesByName(name).length === 0) return null;
    const gl = document.querySelector("canvas").getContext("webgl2");
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    return performance.now();
  }, mark, { timeout: 120e3 });
  return handle.jsonValue();
}

/** Each in a browser of its own, so that nothing is warm but the file. */
async function open(path) {
  const browser = await chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: FLAGS });
  try {
    const page = await browser.newPage({ viewport: { width: 1100, height: 760 } });
    await page.goto(pathToFileURL(resolve(path)).href);
    return [await finished(page, "stiction first frame"), await finished(page, "stiction read")];
  } finally {
    await browser.close();
  }
}

const said = (times) => {
  times.sort((a, b) => a - b);
  return `${(times[0] / 1000).toFixed(2)} ${(times[times.length >> 1] / 1000).toFixed(2)}`;
};

console.log("page: MB, first frame: fastest median [s], read: fastest median [s]");
for (const path of paths) {
  const times = [];
  for (let k = 0; k < Number(runs); k++) times.push(await open(path));
  console.log(`${path}: ${(statSync(path).size / 1e6).toFixed(2)}, ${said(times.map((t) => t[0]))}, ${said(times.map((t) => t[1]))}`);
}
