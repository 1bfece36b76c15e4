// SPDX-License-Identifier: Apache-2.0
// The page of stiction compare in headless Chromium. Environment: STICTION (the command), CHROMIUM, FOLDER (for files).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { FLAGS } from "./flags.js";

const { STICTION, CHROMIUM, FOLDER } = process.env;
const PAGE = join(FOLDER, "compare.html");
const SOLVERS = ["nsgs", "pgs", "bisection", "apgd:law=none", "pgs:friction=pyramid"];

/** A block on the ground below another: contacts that slide. */
const blocks = (v) => ({
  format: "contact-problem-2", form: "global", dt: 0.01, explicit_R: true,
  trees: [2, 1].map((mass) => ({ A: { form: "diagonal", n: 3, values: [mass, mass, mass] } })),
  v_star: [v, 0, -0.1, -0.5, 0.3, -0.2],
  constraints: [[0.5, [[0, 1]]], [0.3, [[0, -1], [1, 1]]]].map(([mu, on], i) => ({
    id: String(i), kind: "contact", set: "cone", rows: 3, mu1: mu, mu2: mu, R: [0, 0, 0], v_hat: [0, 0, 0],
    J: on.map(([tree, sign]) => ({ tree, values: [sign, 0, 0, 0, sign, 0, 0, 0, sign] })),
  })),
});

let browser;

before(async () => {
  const files = [["slow", blocks(0.2)], ["fast", blocks(2)], ["</script>", {}]].map(([name, problem]) => {
    const path = join(FOLDER, `${name.replace("/", "_")}.json`);
    writeFileSync(path, JSON.stringify(problem));
    return path;
  });
  execFileSync(STICTION, ["compare", ...files, "--solvers", SOLVERS.join(","), "--html", PAGE], { stdio: "pipe" });
  browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, chromiumSandbox: false, args: FLAGS });
});
after(() => browser?.close());

/** Opens the page, lets `use` look at it, and asks that the browser had nothing to complain about. */
async function withPage(options, use) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage(), said = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => /^(file|data):/.test(request.url()) || said.push(`asks for ${request.url()}`));
  try {
    await page.goto(pathToFileURL(PAGE).href);
    await use(page);
    assert.deepEqual(said, []);
  } finally {
    await context.close();
  }
}

const texts = (page, selector) => page.locator(selector).allTextContents();
const coordinates = (path) => [...path.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);

test("Coulomb solvers come first, with profiles, a matrix and curves that fall", async () => {
  await withPage({}, async (page) => {
    assert.deepEqual(await texts(page, "#legend button"), ["nsgs", "pgs", "bisection"]);
    assert.deepEqual(await texts(page, "#profiles h3"), ["Time to 1e-3", "Time to 1e-6", "Time to 1e-9", "Iterations to 1e-3", "Iterations to 1e-6", "Iterations to 1e-9"]);
    assert.equal(await page.locator("#profiles svg .series").count(), 6 * 3);
    assert.equal(await page.locator("#matrix button.best").count(), 2 * 3);
    assert.equal(await page.locator("#matrix button.none").count(), 3);
    for (const what of ["time_ms", "iterations"]) {
      const paths = await page.locator(`[data-curve=${what}] path.line`).evaluateAll((lines) => lines.map((line) => line.getAttribute("d")));
      assert.equal(paths.length, 3);
      for (const path of paths) {
        const points = coordinates(path);
        assert.ok(points.length >= 5, path);
        assert.ok(points.at(-1)[1] > points[0][1] + 100, "the last point lies far below the first");
        if (what === "iterations") assert.ok(points.every(([x], i) => i === 0 || x > points[i - 1][0]), "iterations grow");
      }
    }
  });
});

test("a relaxation is marked, and judged by its own problem or by Coulomb's law", async () => {
  await withPage({ colorScheme: "dark" }, async (page) => {
    await page.getByRole("button", { name: "convex solvers" }).click();
    assert.deepEqual(await texts(page, "#legend button"), ["apgd:law=none\u2020"]);
    assert.equal(await page.locator("#matrix button.best").count(), 2);
    await page.getByRole("button", { name: "all, by Coulomb" }).click();
    assert.deepEqual(await texts(page, "#legend button"), ["nsgs", "pgs", "bisection", "apgd:law=none\u2020", "pgs:friction=pyramid\u2020"]);
    const cell = page.locator("#matrix tr").nth(1).locator("td button").nth(3);
    assert.equal(await cell.getAttribute("class"), "poor");
    await cell.click();
    assert.match(await page.locator("#details").textContent(), /slow\.json, apgd:law=none.*natural_ccp_scaled/s);
  });
});

test("what cannot be read is told, and a solver can be hidden", async () => {
  await withPage({}, async (page) => {
    assert.match(await page.locator("#failures").textContent(), /all.*failed.*<_script>\.json: /s);
    await page.locator("#legend button").first().click();
    assert.equal(await page.locator("#profiles svg .series").count(), 6 * 2);
    await page.locator("#problem").selectOption({ label: "fast.json" });
    assert.equal(await page.locator("[data-curve=time_ms] svg").getAttribute("aria-label"), "fast.json: residual by time [ms]");
    await page.locator("#all summary").click();
    await page.locator("#all_curves svg").nth(2).waitFor();
    assert.equal(await page.locator("#all_curves svg").count(), 3);
  });
});
