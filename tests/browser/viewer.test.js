// SPDX-License-Identifier: Apache-2.0
// Recording pages in headless Chromium. Environment: STICTION (the command), SCENARIO (clutter.lua), CHROMIUM, FOLDER (for files).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { FLAGS } from "./flags.js";
import { readPng } from "./png.js";
import * as encode from "./encode.js";
import { blocks, falling, scene, viewerOf } from "./recordings.js";

const { STICTION, SCENARIO, CHROMIUM, FOLDER } = process.env;
const CLUTTER = join(FOLDER, "clutter.html");

let browser, viewer;

before(async () => {
  execFileSync(STICTION, ["run", SCENARIO, "--seconds", "1", "--record", CLUTTER], { stdio: "pipe" });
  viewer = viewerOf(CLUTTER);
  browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, chromiumSandbox: false, args: FLAGS });
});
after(() => browser?.close());

/** A page with blocks of its own behind the viewer. */
function write(name, ...lines) {
  const path = join(FOLDER, name);
  writeFileSync(path, viewer + lines.join(""));
  return path;
}

/** Opens a recording, lets `use` look at it, and asks that the browser had nothing to complain about. */
async function withPage(path, options, use) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 760 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  const said = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => /^(file|blob|data):/.test(request.url()) || said.push(`asks for ${request.url()}`));
  try {
    await page.goto(pathToFileURL(path).href);
    await page.waitForFunction(() => globalThis.stictionViewer ?? document.querySelector(".failure"));
    await page.evaluate(() => globalThis.stictionViewer?.ready);
    await use(page);
    assert.deepEqual(said, []);
  } finally {
    await context.close();
  }
}

const ask = (page, question, argument) => page.evaluate(question, argument);
/** Lets what was asked for be drawn. */
const drawn = (page) => ask(page, () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const screenshot = async (page) => readPng(await page.screenshot());
const seek = async (page, t) => {
  await ask(page, (time) => stictionViewer.seek(time), t);
  await drawn(page);
};
const near = (a, b, tolerance) => a.every((value, k) => Math.abs(value - b[k]) <= tolerance);
const isRed = ([red, green, blue]) => red > 100 && green < 0.35 * red && blue < 0.35 * red;
const isBlue = ([red, green, blue]) => blue > 100 && red < 0.35 * blue && green < 0.35 * blue;

test("a recording of clutter opens, is seen, moves and is plotted", async () => {
  await withPage(CLUTTER, {}, async (page) => {
    const { end, frames } = await ask(page, () => ({ end: stictionViewer.end, frames: stictionViewer.frameCount }));
    assert.ok(Math.abs(end - 1) < 1e-9, `the recording ends at ${end}`);
    assert.deepEqual(frames, [61]);

    // of the bodies in the picture the topmost is hidden by nothing, and its own colour is strong
    const { y: edge } = await page.locator(".scene canvas").boundingBox();
    const top = await ask(page, (y) => stictionViewer.bodies
      .map((name) => ({ name, at: stictionViewer.bodyPosition(name), pixel: stictionViewer.bodyPixel(name) }))
      .filter(({ pixel }) => pixel.y > y).reduce((a, b) => (a.at[2] > b.at[2] ? a : b)), edge);
    const { pixel } = top;
    const before = (await screenshot(page)).at(pixel.x, pixel.y);
    assert.ok(Math.max(...before) - Math.min(...before) > 60, `its colour is ${before}`);
    await seek(page, 0.5);
    const after = (await screenshot(page)).at(pixel.x, pixel.y);
    assert.ok(!near(before, after, 30), `still ${after} after half a second of falling`);
    // it falls freely at first: z = z0 - g t^2/2, by steps of 10 ms in the symplectic order: t (t + dt)/2
    await seek(page, 0.1);
    const [, , z] = await ask(page, (name) => stictionViewer.bodyPosition(name), top.name);
    assert.ok(Math.abs(top.at[2] - z - (9.81 * 0.1 * 0.11) / 2) < 2e-3, `fell by ${top.at[2] - z} m`);

    const plots = await ask(page, () => stictionViewer.plots);
    assert.deepEqual(plots.map(({ key }) => key), ["contacts", "iterations", "momentum", "energy"]);
    for (const { key, points } of plots) assert.ok(points === 100 || points === 101, `${points} points of ${key}`);
    assert.equal(await page.locator(".plot canvas").count(), 4);
    await seek(page, 1);
    const [contacts] = await ask(page, () => stictionViewer.contactCount);
    assert.ok(contacts > 20, `${contacts} contacts are shown`);
  });
});

test("bodies are drawn in their colours where they are, and scrubbing moves them", async () => {
  const path = write("falling.html", ...blocks(11));
  await withPage(path, {}, async (page) => {
    const places = (name) => ask(page, (n) => stictionViewer.bodyPixel(n), name);
    const box = await places("box"), ball = await places("ball");
    let shown = await screenshot(page);
    assert.ok(isRed(shown.at(box.x, box.y)), `the box is ${shown.at(box.x, box.y)}`);
    assert.ok(isBlue(shown.at(ball.x, ball.y)), `the ball is ${shown.at(ball.x, ball.y)}`);

    // the time in the middle of the track: frame 5 of 0 ... 10
    const track = await page.locator(".scrub").boundingBox();
    await page.mouse.click(track.x + track.width / 2, track.y + track.height / 2);
    await drawn(page);
    const time = await ask(page, () => stictionViewer.time);
    assert.ok(Math.abs(time - 0.5) < 0.01, `the time is ${time}`);
    const [, , z] = await ask(page, () => stictionViewer.bodyPosition("box"));
    assert.ok(Math.abs(z - (2 - 2 * time)) < 1e-4, `the box is at ${z} m`);
    shown = await screenshot(page);
    const moved = await places("ball");
    assert.ok(isBlue(shown.at(moved.x, moved.y)) && !isBlue(shown.at(ball.x, ball.y)), "the ball has rolled on");

    // a click on a body selects it, another one deselects
    await page.mouse.click(moved.x, moved.y);
    await drawn(page);
    assert.equal((await ask(page, () => stictionViewer.selection)).body, 2);
    assert.match(await page.locator(".inspector").innerText(), /ball[\s\S]*2 kg/);
    await page.mouse.click(moved.x, moved.y);
    assert.equal((await ask(page, () => stictionViewer.selection)).body, -1);
  });
});

test("forces are told apart: one arrow, or one along the normal and one across it; the panel has both", async () => {
  const touch = (id, force, state, glide) => ({ id, a: 0, b: 2, point: [-1 + 0.2 * id, 0.1, 0], normal: [0, 0, 1], force, gap: 0, slip: 0.25, glide, state });
  const contacts = [touch(1, [3, 0, 4], 2, 0.002), touch(2, [0, 0, 5], 1, 0), touch(3, [0, 0, 0], 0, 0)];
  const list = falling(2).map((frame) => ({ ...frame, contacts }));
  const [head, , ...rest] = blocks(2);
  const path = write("forces.html", head, encode.block("frames", encode.frames(list, encode.UNITS)), ...rest);
  await withPage(path, {}, async (page) => {
    const shown = () => ask(page, () => [stictionViewer.contactCount, stictionViewer.arrowCount]);
    assert.deepEqual(await shown(), [[2], [1]], "two of the same bodies that are near are one");
    assert.match(await page.locator(".panel").innerText(), /1 arrow for 2 contacts with force/);
    await ask(page, () => stictionViewer.setOption("merged", false));
    await drawn(page);
    assert.deepEqual(await shown(), [[3], [2]]);
    await page.locator(".scene canvas").focus();
    await page.keyboard.press("t");
    await drawn(page);
    assert.deepEqual(await ask(page, () => stictionViewer.arrowCount), [3], "friction of one contact, normal forces of two");
    assert.match(await page.locator(".panel").innerText(), /normal part/);
    await page.getByText("ball").first().click();
    await drawn(page);
    assert.match(await page.locator(".inspector").innerText(), /normal force N\s+0\.000 0\.000 9\.000\s+friction force N\s+3\.000 0\.000 0\.000/);
    assert.match(await page.locator("table.contacts").innerText(), /4 N\s+3 N[\s\S]*5 N\s+0 N/);
    await page.locator("table.contacts button").first().click();
    await drawn(page);
    const inspector = await page.locator(".inspector").innerText();
    assert.match(inspector, /state\s+slips[\s\S]*normal force\s+4 N[\s\S]*friction force\s+3 N[\s\S]*slip speed\s+250 mm\/s[\s\S]*glides at about\s+2 mm/, inspector);
  });
});

/** Two frames, of which the second has a patch of 5 x 5 faces on the floor before the box, pressed more to the right. */
function pressed() {
  const n = 5, h = 0.2, cells = Array.from({ length: n * n }, (_, k) => [-0.5 + h * (k % n), -0.7 + h * Math.floor(k / n)]);
  const contacts = cells.map(([x, y], k) => ({ id: k, a: 0, b: 1, point: [x + h / 2, y + h / 2, 0], normal: [0, 0, 1],
    force: [0, 0.1 * (k % n), 0.4 * (k % n)], gap: 0, slip: 0.1, state: k % n === 0 ? 4 : 6 }));
  const faces = cells.map(([x, y]) => ({ corners: [[x, y, 0], [x + h, y, 0], [x + h, y + h, 0], [x, y + h, 0]],
    pressures: [0, 1, 1, 0].map((right) => 100 * (x + 0.5 + h * right)) }));
  const [first, second] = falling(2);
  const [head, , ...rest] = blocks(2);
  const list = [first, { ...second, contacts, patches: [{ a: 0, b: 1, first: 0, faces }] }];
  return write("pressed.html", head, encode.block("frames", encode.frames(list, encode.UNITS)), ...rest);
}

test("a patch has the colours of its pressure and one arrow at its center; the panel has what it does as a whole", async () => {
  await withPage(pressed(), {}, async (page) => {
    const arrows = async () => (await ask(page, () => [stictionViewer.contactCount, stictionViewer.arrowCount])).flat();
    const colour = async (point) => {
      const { x, y } = await ask(page, (p) => stictionViewer.pixelOf(p), point);
      return (await screenshot(page)).at(x, y);
    };
    assert.deepEqual(await arrows(), [0, 0], "nothing touches yet");
    assert.ok(await page.locator(".legend.pressure").isHidden());
    await seek(page, 0.1);
    assert.deepEqual(await arrows(), [1, 1]);
    assert.deepEqual(await ask(page, () => stictionViewer.pressureScale), [100]);
    assert.match(await page.locator(".legend.pressure").innerText(), /^0\s+100 Pa\s+pressure$/);
    const [left, right] = [await colour([-0.45, -0.6, 0]), await colour([0.46, -0.6, 0])];
    assert.ok(left[2] > 1.3 * left[1] && right[0] > 1.5 * right[2] && right[1] > 1.5 * right[2], `${left} is dark violet, ${right} yellow`);

    // more pressure for the same colour
    await page.getByLabel("Pressure at the end of the colours").fill("1");
    await drawn(page);
    assert.deepEqual(await ask(page, () => stictionViewer.pressureScale), [1000]);
    const dark = await colour([0.46, -0.6, 0]);
    assert.ok(dark[2] > 1.3 * dark[1], `${dark} is dark violet`);
    await page.getByLabel("Pressure at the end of the colours").fill("-1");
    await drawn(page);
    assert.match(await page.locator(".legend.pressure").innerText(), /10 Pa and more/);

    // sum of 5 x 0.4 (0 + 1 + 2 + 3 + 4) along the normal, center at 0.2 (0 + 1 + 4 + 9 + 16) / 10 - 0.4
    const [whole] = await ask(page, () => stictionViewer.patches());
    assert.deepEqual([whole.faces, whole.sticking, whole.slipping], [25, 0, 20]);
    assert.ok(near(whole.normal, [0, 0, 20], 1e-6) && near(whole.friction, [0, 5, 0], 1e-6) && near(whole.center, [0.2, -0.2, 0], 1e-6), JSON.stringify(whole));
    const { x, y } = await ask(page, (p) => stictionViewer.pixelOf(p), whole.center);
    await page.mouse.click(x, y);
    await drawn(page);
    const facts = await page.locator(".inspector").innerText();
    assert.match(facts, /between\s+floor\s+and\s+box\s+faces\s+25: 0 stick, 20 slip\s+normal force\s+20 N\s+friction force\s+5 N\s+friction \/ normal\s+0\.250/, facts);
    assert.match(facts, /area\s+0\.8 m²\s+mean pressure\s+25 Pa\s+largest at the start\s+100 Pa/, facts);
    await seek(page, 0);
    assert.match(await page.locator(".inspector").innerText(), /They do not touch now/);
    await seek(page, 0.1);
    assert.match(await page.locator(".inspector").innerText(), /normal force\s+20 N/, "the pair stays selected");

    // faces, each with its force; a body lists its patch as one contact
    await page.keyboard.press("Escape");
    await page.locator(".scene canvas").focus();
    await page.keyboard.press("e");
    await drawn(page);
    assert.deepEqual(await arrows(), [0, 20]);
    await page.locator("button[data-body='1']").click();
    await drawn(page);
    assert.match(await page.locator("table.contacts").innerText(), /floor ×25\s+20 N\s+5 N/);
    await page.locator("table.contacts button").first().click();
    await drawn(page);
    assert.match(await page.locator(".inspector").innerText(), /25: 0 stick, 20 slip/);
  });
});

test("constraints are lines through their points in the colour of their force, grey while they are slack", async () => {
  const script = join(FOLDER, "lines.lua"), path = join(FOLDER, "lines.html");
  writeFileSync(script, `
    local stn = require "stiction"
    local world = stn.world { dt = 0.001 }
    local left = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.6 } }
    local right = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0.8, 0, 0.4 } }
    world:constraint { "tendon", name = "rope", stiffness = 1e4, damping = 300,
      path = { { left, { 0, 0, 0 } }, { "world", { 0, 0, 1.2 } }, { "world", { 0.8, 0, 1.2 } }, { right, { 0, 0, 0 } } } }
    world:constraint { "spring", name = "loose", a = left, b_point = { 0, 1, 0.6 }, length = 2, stiffness = 10, tension_only = true }
    for _ in world:run { seconds = 0.5 } do end`);
  execFileSync(STICTION, ["run", script, "--record", path], { stdio: "pipe" });
  await withPage(path, {}, async (page) => {
    await seek(page, 0.5);
    const [rope, loose] = await ask(page, () => stictionViewer.constraints());
    assert.deepEqual([rope.name, rope.plugin, rope.slack, loose.name, loose.plugin, loose.slack], ["rope", "tendon", false, "loose", "spring", true]);
    assert.ok(Math.abs(rope.force + 9.81) < 0.01 && loose.force === 0, `${rope.force}, ${loose.force}`);
    assert.ok(near(rope.points[1], [0, 0, 1.2], 1e-4) && near(rope.points[2], [0.8, 0, 1.2], 1e-4), JSON.stringify(rope.points));
    const left = await ask(page, () => stictionViewer.bodyPosition(stictionViewer.bodies[0]));
    assert.ok(near(rope.points[0], left, 1e-3), "it begins in the box");
    assert.deepEqual(await ask(page, () => stictionViewer.lineCount), [4]);
    assert.match(await page.locator(".legend.lines").innerText(), /slack\s+0\s+[\d.]+ N/);
    /** The darkest pixel at a place: lines are a few pixels wide. */
    const at = async (point) => {
      const { x, y } = await ask(page, (where) => stictionViewer.pixelOf(where), point), shown = await screenshot(page);
      const pixels = Array.from({ length: 25 }, (_, k) => shown.at(x - 2 + (k % 5), y - 2 + Math.floor(k / 5)));
      return pixels.reduce((a, b) => (a[0] + a[1] + a[2] < b[0] + b[1] + b[2] ? a : b));
    };
    const middle = (a, b) => a.map((value, c) => (value + b[c]) / 2);
    const [red, green, blue] = await at(middle(rope.points[1], rope.points[2]));
    assert.ok(green > 1.3 * blue && green > 0.8 * red, `the rope at its largest force is ${[red, green, blue]}, not green to yellow`);
    const grey = await at(middle(loose.points[0], loose.points[1]));
    assert.ok(Math.max(...grey) - Math.min(...grey) < 40 && Math.max(...grey) < 200, `the slack one is ${grey}`);
    await page.locator(".scene canvas").focus();
    await page.keyboard.press("k");
    await drawn(page);
    assert.deepEqual(await ask(page, () => stictionViewer.lineCount), [0]);
    assert.match(await page.locator(".plots").innerText(), /constraint\[rope\]\.force/);
  });
});

test("soft bodies have the colours of their numbers, cables lie along their frames, and both can be selected", async () => {
  // a triangle whose three numbers rise from 0 to 10 Pa, and a red capsule along z on a frame that is turned about y: it lies along x
  const base = scene(), turn = [Math.SQRT1_2, 0, Math.SQRT1_2, 0];
  const changes = {
    node_count: 4, geometries: [...base.geometries, { name: "rope", node: 3, type: "capsule", radius: 0.08, half_length: 0.5, pose: [0, 0, 0, 1, 0, 0, 0],
      rgba: [1, 0, 0, 1], collision: true, visual: true }],
    clouds: [{ name: "cloth", first_node: 0, node_count: 3, turns: false }, { name: "rope", first_node: 3, node_count: 1, turns: true }],
    surfaces: [{ name: "cloth", first_node: 0, node_count: 3, triangles: [0, 1, 2], rgba: [0, 0, 1, 1] }],
    colors: { name: "von_mises", unit: "Pa", nodes: [0, 1, 2] },
  };
  const corners = [[0, -1, 1], [1, -1, 1], [0.5, -1, 2]], middle = [0.5, -1, 1.3];
  const frames = falling(11).map((frame, f) => ({ ...frame, nodes: [...corners, [-1, -1, 1.5]], turns: [turn], values: [f, f, f] }));
  const path = write("soft.html", encode.block("scene", scene(changes)), encode.block("frames", encode.frames(frames, encode.UNITS)),
    encode.block("end", { steps: 100, frames: 11, time: 1 }));
  await withPage(path, {}, async (page) => {
    const place = (point) => ask(page, (at) => stictionViewer.pixelOf(at), point);
    const colour = async (point) => {
      const { x, y } = await place(point);
      return (await screenshot(page)).at(x, y);
    };
    const violet = await colour(middle);
    assert.ok(violet[2] > 1.5 * violet[1] && violet[0] > violet[1], `the least is ${violet}`);
    await seek(page, 1);
    const yellow = await colour(middle);
    assert.ok(yellow[0] > 1.5 * yellow[2] && yellow[1] > 1.5 * yellow[2], `the largest is ${yellow}`);
    assert.match(await page.locator(".legend.colors").innerText(), /0 Pa\s+10 Pa\s+von_mises/);
    assert.ok(isRed(await colour([-0.6, -1, 1.5])), "the capsule lies along x");
    assert.ok(!isRed(await colour([-1, -1, 1.9])), "and not along z");

    await page.mouse.click(...Object.values(await place([0.9, -1, 1.05])));
    await drawn(page);
    const { cloud, node } = await ask(page, () => stictionViewer.selection);
    assert.deepEqual([cloud, node], [0, 1]);
    assert.match(await page.locator(".inspector").innerText(), /cloth[\s\S]*nodes\s+3[\s\S]*von_mises\s+10 Pa to 10 Pa[\s\S]*node, from 1 on\s+2\s[\s\S]*von_mises there\s+10 Pa/);
    assert.ok(near(await colour(middle), yellow, 2), "the selected one keeps the colours of the legend");
    await page.locator('.bodies [data-cloud="1"]').click();
    await drawn(page);
    assert.equal((await ask(page, () => stictionViewer.selection)).cloud, 1);
    assert.match(await page.locator(".inspector").innerText(), /rope[\s\S]*nodes\s+1/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("m");
    await drawn(page);
    assert.ok(isBlue(await colour(middle)), `without colours of numbers it is ${await colour(middle)}`);
    assert.ok(await page.locator(".legend.colors").isHidden());
  });
});

test("the camera of the script goes its way until someone takes it, and again when it is given back; captions are told", async () => {
  const shot = (x) => [x, 0, 0.3, 0.3, 0.3, 0.3, -1, 0.4, 0.6, 0, 1], shots = Array.from({ length: 11 }, (_, f) => shot(0.1 * f));
  const [head, frames, ...rest] = blocks(11);
  const path = write("camera.html", head, encode.block("caption", { frame: 0, text: "it falls" }), frames, encode.block("camera", encode.camera(shots)),
    encode.block("caption", { frame: 5, text: "it lies" }), ...rest);
  await withPage(path, {}, async (page) => {
    const middle = async (x) => {
      const { x: left, y: top, width, height } = await page.locator(".scene canvas").boundingBox();
      const seen = await ask(page, (point) => stictionViewer.pixelOf(point), [x, 0, 0.3]);
      return Math.hypot(seen.x - left - width / 2, seen.y - top - height / 2) < 1;
    };
    const caption = () => page.locator(".caption").innerText();
    await seek(page, 0);
    assert.ok((await middle(0)) && (await caption()) === "it falls");
    await seek(page, 1);
    assert.ok((await middle(1)) && (await caption()) === "it lies");
    assert.ok(await middle(1));
    const { x, y, width, height } = await page.locator(".scene canvas").boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 + 60, y + height / 2, { steps: 3 });
    await page.mouse.up();
    await seek(page, 0);
    assert.ok((await middle(1)) && !(await middle(0)), "whoever took the camera keeps it");
    await page.getByRole("button", { name: "script" }).click();
    await drawn(page);
    assert.ok(await middle(0), "given back");
    await page.locator(".scene canvas").focus();
    await page.keyboard.press("1");
    await drawn(page);
    assert.equal(await ask(page, () => stictionViewer.options.camera), false);
    await page.keyboard.press("r");
    await drawn(page);
    assert.ok(await middle(0));
    await page.getByRole("button", { name: "it lies" }).click();
    assert.ok(Math.abs((await ask(page, () => stictionViewer.time)) - 0.5) < 1e-9);
  });
});

test("the camera makes room for what is lifted, but not for what falls out of the world", async () => {
  const rising = (speed) => falling(200).map((frame, f) => {
    const bodies = frame.bodies.map((numbers) => [...numbers]);
    [bodies[0][2], bodies[1][0]] = [0.3 + speed * f, -1];
    return { ...frame, bodies };
  });
  const open = async (name, speed, use) => {
    const list = rising(speed), parts = [list.slice(0, 100), list.slice(100)].map((some) => encode.block("frames", encode.frames(some, encode.UNITS)));
    await withPage(write(name, encode.block("scene", scene({})), ...parts, encode.block("end", { steps: 2000, frames: 200, time: 19.9 })), {}, use);
  };
  const inside = async (page, t) => {
    await seek(page, t);
    const { x, y } = await ask(page, () => stictionViewer.bodyPixel("box")), canvas = await page.locator(".scene canvas").boundingBox();
    return x > canvas.x && x < canvas.x + canvas.width && y > canvas.y && y < canvas.y + canvas.height;
  };
  await open("lifted.html", 0.02, async (page) => assert.ok((await inside(page, 0)) && (await inside(page, 19.9))));
  await open("lost.html", -5, async (page) => assert.ok((await inside(page, 0)) && !(await inside(page, 19.9))));
});

test("collision shapes of a link without visuals are shown, whatever else is welded to it", async () => {
  const shape = (name, type, link, more) => ({ name, body: 1, link, type, pose: [0, 0, 0, 1, 0, 0, 0], rgba: [1, 0, 0, 1], collision: true, visual: false, ...more });
  const page = (name, linkOfBox) => write(name, ...blocks(3, { geometries: [
    shape("seen", "sphere", 0, { radius: 0.1, pose: [0.6, 0, 0, 1, 0, 0, 0], collision: false, visual: true, rgba: [0, 0, 1, 1] }),
    shape("bare", "box", linkOfBox, { half_extents: [0.3, 0.3, 0.3] }),
  ] }));
  const colour = async (path) => {
    let seen;
    await withPage(path, {}, async (opened) => {
      const { x, y } = await ask(opened, () => stictionViewer.bodyPixel("box"));
      seen = (await screenshot(opened)).at(x, y);
    });
    return seen;
  };
  assert.ok(isRed(await colour(page("bare_link.html", 1))));
  assert.ok(!isRed(await colour(page("dressed_link.html", 0))));
});

test("between frames bodies are interpolated, or stay at the frame before", async () => {
  await withPage(write("between.html", ...blocks(11)), {}, async (page) => {
    const height = async () => (await ask(page, () => stictionViewer.bodyPosition("box")))[2];
    await seek(page, 0.25);
    assert.ok(Math.abs(await height() - 1.5) < 1e-4);
    await ask(page, () => stictionViewer.setOption("interpolate", false));
    await drawn(page);
    assert.ok(Math.abs(await height() - 1.6) < 1e-4);
  });
});

test("keys alone play, step, select and switch", async () => {
  await withPage(write("keys.html", ...blocks(11)), {}, async (page) => {
    const state = () => ask(page, () => ({ ...stictionViewer.options, time: stictionViewer.time, playing: stictionViewer.playing,
      speed: stictionViewer.speed, loop: stictionViewer.loop, body: stictionViewer.selection.body }));
    const press = async (key, field, value) => {
      await page.keyboard.press(key);
      const actual = (await state())[field];
      if (typeof value === "number") assert.ok(Math.abs(actual - value) < 1e-9, `${key}: ${field} is ${actual}`);
      else assert.equal(actual, value, `${key}: ${field}`);
    };
    await press("ArrowRight", "time", 0.1);
    await press("ArrowRight", "time", 0.2);
    await press("ArrowLeft", "time", 0.1);
    await press("End", "time", 1);
    await press("Home", "time", 0);
    await press("Shift+ArrowRight", "time", 1);
    await press("[", "speed", 0.5);
    await press("]", "speed", 1);
    await press("l", "loop", false);
    await press("c", "contacts", false);
    await press("g", "geometry", "collision");
    await press("f", "follow", true);
    await press("n", "body", 1);
    await press("Escape", "body", -1);
    await press("Home", "time", 0);
    await press(" ", "playing", true);
    await page.waitForFunction(() => stictionViewer.time > 0.1);
    await press(" ", "playing", false);
    await page.keyboard.press("?");
    assert.ok(await page.locator("dialog").isVisible());
    await page.keyboard.press("Escape");
    assert.ok(!(await page.locator("dialog").isVisible()));

    // the focus goes through all controls and is seen; what has it keeps its keys
    await drawn(page);
    const visited = new Set();
    for (let k = 0; k < 60; k++) {
      await page.keyboard.press("Tab");
      visited.add(await ask(page, () => {
        const { activeElement: at } = document;
        const seen = getComputedStyle(at).outlineStyle !== "none" || getComputedStyle(at.nextElementSibling ?? at).outlineStyle !== "none";
        return at === document.body ? "" : `${at.getAttribute("aria-label") ?? at.textContent}${seen ? "" : " UNSEEN"}`;
      }));
    }
    for (const name of ["Play", "Time", "Speed", "Search bodies", "Contacts", "Energy"]) assert.ok(visited.has(name), `${name} is not among ${[...visited].join(", ")}`);
    assert.deepEqual([...visited].filter((name) => name.endsWith("UNSEEN")), []);
  });
});

test("a click in a plot moves the time", async () => {
  await withPage(write("plot.html", ...blocks(11)), {}, async (page) => {
    assert.deepEqual((await ask(page, () => stictionViewer.plots)).map(({ key, points, lines }) => [key, points, lines]),
      [["contacts", 110, 1], ["iterations", 110, 1], ["momentum", 110, 1], ["energy", 110, 3], ["signal height", 110, 1]]);
    const plot = await page.locator('[data-plot="contacts"] .u-over').boundingBox();
    await page.mouse.click(plot.x + 0.3 * plot.width, plot.y + 20);
    const time = await ask(page, () => stictionViewer.time);
    const end = await ask(page, () => stictionViewer.end);
    assert.ok(Math.abs(time - 0.3 * end) < 0.01, `the time is ${time}`);
    await page.mouse.move(plot.x - 30, plot.y - 30);
    await drawn(page);
    assert.match(await page.locator('[data-plot="signal height"] .values').innerText(), /^(29|30)\d mm$/);

    // dragging shows the times between, a double click all of them again
    const isZoomed = () => page.locator(".chip", { hasText: "Reset zoom" }).isVisible();
    await page.mouse.move(plot.x + 0.5 * plot.width, plot.y + 20);
    await page.mouse.down();
    await page.mouse.move(plot.x + 0.75 * plot.width, plot.y + 30, { steps: 4 });
    await page.mouse.up();
    assert.ok(await isZoomed());
    await page.mouse.click(plot.x + 0.5 * plot.width, plot.y + 20);
    const middle = await ask(page, () => stictionViewer.time);
    assert.ok(Math.abs(middle - 0.625 * end) < 0.01, `the time is ${middle}`);
    await page.mouse.dblclick(plot.x + 0.5 * plot.width, plot.y + 20);
    assert.ok(!(await isZoomed()));
  });
});

test("a narrow window shows everything without scrolling sideways", async () => {
  await withPage(CLUTTER, { viewport: { width: 360, height: 700 }, colorScheme: "dark", reducedMotion: "reduce" }, async (page) => {
    const widths = await ask(page, () => ({ page: document.documentElement.scrollWidth, over: [...document.querySelectorAll(".app *")]
      .filter((e) => e.clientWidth > 0 && e.getBoundingClientRect().right > 361).map((e) => e.className || e.tagName) }));
    assert.equal(widths.page, 360);
    assert.deepEqual(widths.over, []);
    const canvas = await page.locator(".scene canvas").boundingBox();
    assert.ok(canvas.width === 360 && canvas.height > 200);
  });
});

test("two recordings stand side by side or over each other", async () => {
  const second = { title: "falling faster", dt: 0.02, parameters: "solver = nsgs\n" };
  await withPage(write("two.html", ...blocks(11), ...blocks(6, second)), {}, async (page) => {
    const panes = await ask(page, () => stictionViewer.panes);
    assert.equal(panes.length, 2);
    assert.ok(panes[0].x + panes[0].width <= panes[1].x + 1 && panes[0].width === panes[1].width);
    const shown = await screenshot(page);
    for (const view of [0, 1]) {
      const box = await ask(page, (v) => stictionViewer.bodyPixel("box", v), view);
      assert.ok(isRed(shown.at(box.x, box.y)), `box ${view} is ${shown.at(box.x, box.y)}`);
    }
    assert.deepEqual((await ask(page, () => stictionViewer.plots)).map(({ key, lines }) => [key, lines]).slice(0, 3),
      [["contacts", 2], ["iterations", 2], ["momentum", 2]]);
    const text = await page.locator(".differences").innerText();
    assert.match(text, /dt\s+0\.01\s+0\.02/);
    assert.match(text, /solver\s+sap\s+nsgs/);

    // the second one ends at 0.5 s, where its box stays 1 m above that of the first at 1 s
    await seek(page, 1);
    await page.keyboard.press("n");
    await drawn(page);
    assert.match(await page.locator(".inspector").innerText(), /to falling faster\s+1 m/);
    await page.keyboard.press("o");
    await drawn(page);
    assert.equal((await ask(page, () => stictionViewer.panes)).length, 1);
  });
});

test("a file that was cut off opens up to its last whole block, and says so", async () => {
  const whole = readFileSync(CLUTTER);
  const last = whole.lastIndexOf('data-kind="end"');
  const cut = join(FOLDER, "cut.html");
  writeFileSync(cut, whole.subarray(0, last + 60));
  await withPage(cut, {}, async (page) => {
    assert.match(await page.locator(".note").innerText(), /^the run was cut off at t = 1\.000 s$/);
    assert.deepEqual(await ask(page, () => stictionViewer.frameCount), [61]);
  });
  const [scene, frames, series] = blocks(11);
  await withPage(write("killed.html", scene, frames, series.slice(0, 300)), {}, async (page) => {
    assert.match(await page.locator(".note").innerText(), /cut off at t = 1\.000 s/);
    assert.deepEqual(await ask(page, () => stictionViewer.plots), []);
  });
});

test("what is damaged is said in one line, and the rest is shown", async () => {
  const [scene, , , end] = blocks(11, { mesh_count: 1, geometries: [{ name: "stone", body: 1, type: "mesh", mesh: 0 }] });
  const [first, second] = [falling(11).slice(0, 6), falling(11).slice(6)].map((part) => encode.frames(part, encode.UNITS));
  const points = Array.from({ length: 20 }, (_, k) => ({ step: k, time: 0.05 * k }));
  const extremes = ["contacts", "iterations", "momentum", "kinetic_J", "potential_J", "elastic_J", "penetration_m"]
    .map((name, c) => ({ name, unit: "", values: points.map((_, k) => [1e-38, 3e38, Infinity, NaN, -3e38][(k + c) % 5]) }));
  const series = encode.block("series", encode.series(points, extremes)); // which no axis may be divided by without end
  const page = write("damaged.html", encode.block("scene", [1]), scene, encode.block("mesh", [3]), encode.block("frames", first),
    encode.block("frames", second.slice(0, 50)), series, end);
  await withPage(page, {}, async (page) => {
    await seek(page, 0.5);
    assert.match(await page.locator(".note").innerText(),
      /^The scene of this recording is damaged: it is no JSON; mesh 0 is damaged and not drawn \(.*\); the frames after t = 0\.500 s are damaged \(.*\)$/);
    assert.deepEqual(await ask(page, () => stictionViewer.frameCount), [6]);
    assert.equal(await page.locator(".failure").count(), 0);
  });
});

test("a browser without WebGL is told what is missing", async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => (HTMLCanvasElement.prototype.getContext = () => null));
  const page = await context.newPage();
  await page.goto(pathToFileURL(CLUTTER).href);
  assert.match(await page.locator(".failure").innerText(), /no WebGL 2/);
  await context.close();
});

test("what cannot be shown is said in one sentence", async () => {
  const failure = async (name, lines, pattern) => withPage(write(name, ...lines), {}, async (page) =>
    assert.match(await page.locator(".failure").innerText(), pattern));
  await failure("empty.html", [], /holds no recording/);
  await failure("newer.html", blocks(3, { format: "stiction-recording-2" }), /stiction-recording-2/);
  await failure("frameless.html", blocks(3).slice(0, 1), /holds no frames/);
  await failure("bodiless.html", blocks(3, { bodies: null }), /^The scene of this recording is damaged: its bodies$/);
});
