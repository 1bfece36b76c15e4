// SPDX-License-Identifier: Apache-2.0
// The viewer's decoders against encode.js, which is written from docs/recording.md alone. Numbers that are whole multiples of
// their unit come back exactly; single precision is what the viewer keeps.

import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { axesOf, decodeCamera, distanceOf, shotOf } from "../../plugins/recorder/html/viewer/src/data/camera.js";
import { forceOf, marksOf, merge } from "../../plugins/recorder/html/viewer/src/data/marks.js";
import { arrowScaleOf, typicalLength, typicalWeight } from "../../plugins/recorder/html/viewer/src/data/arrow_scale.js";
import { Reader } from "../../plugins/recorder/html/viewer/src/data/bytes.js";
import { colorRanges } from "../../plugins/recorder/html/viewer/src/data/colors.js";
import { contactsOf, decodeFrames, linesOf, patchesOf } from "../../plugins/recorder/html/viewer/src/data/frames.js";
import { placesOf } from "../../plugins/recorder/html/viewer/src/data/lines.js";
import { decodeMesh } from "../../plugins/recorder/html/viewer/src/data/meshes.js";
import { differences } from "../../plugins/recorder/html/viewer/src/data/parameters.js";
import { keyOf, patchWith, reportOf, typicalPressure } from "../../plugins/recorder/html/viewer/src/data/patch_report.js";
import { Recording } from "../../plugins/recorder/html/viewer/src/data/recording.js";
import { decodeSeries, downsample, indexAt, joinSeries, valueAt } from "../../plugins/recorder/html/viewer/src/data/series.js";
import { groupsOf } from "../../plugins/recorder/html/viewer/src/ui/plot_groups.js";
import * as encode from "./encode.js";
import { falling, scene } from "./recordings.js";

const { UNITS } = encode;
const bytes = (list) => Uint8Array.from(list);
const close = (actual, expected, tolerance, what) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual}, expected ${expected}`);

test("varints of every length come back, up to 53 bits", () => {
  const values = [0, 1, 127, 128, 16383, 16384, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1];
  const reader = new Reader(bytes(values.flatMap(encode.u)));
  for (const value of values) assert.equal(reader.u(), value);
  assert.throws(() => reader.u(), /ends inside of a number/);
});

test("signed varints alternate around zero", () => {
  const values = [0, -1, 1, -2, 2, -64, 64, 2 ** 40, -(2 ** 40), 2 ** 51, -(2 ** 51)];
  const reader = new Reader(bytes(values.flatMap(encode.s)));
  for (const value of values) assert.equal(reader.s(), value);
  assert.deepEqual([...bytes([0, -1, 1, -2].flatMap(encode.s))], [0, 1, 2, 3]);
});

test("a mesh comes back within half a step of its bounds", () => {
  const vertices = [[-1, 0, 2], [0.37, 0.5, 2], [1, -0.25, 2], [0.1, 0.2, 2]], triangles = [[0, 1, 2], [3, 2, 1]];
  const mesh = decodeMesh(bytes(encode.mesh({ vertices, triangles })));
  assert.deepEqual([...mesh.triangles], triangles.flat());
  vertices.flat().forEach((x, k) => close(mesh.vertices[k], x, 2 / 65535 / 2 + 1e-7, `coordinate ${k}`));
});

test("poses, velocities and nodes of frames come back", () => {
  const frames = falling(7);
  const decoded = decodeFrames(bytes(encode.frames(frames, UNITS)), { units: UNITS, bodyCount: 2, nodeCount: 3 });
  assert.equal(decoded.count, 7);
  frames.forEach((frame, f) => {
    assert.equal(decoded.step[f], frame.step);
    assert.equal(decoded.time[f], frame.time);
    frame.bodies.forEach((numbers, b) => numbers.forEach((number, c) => {
      const unit = c < 3 ? UNITS.length : c < 7 ? UNITS.rotation : c < 10 ? UNITS.velocity : UNITS.angular_velocity;
      close(decoded.bodies[(f * 2 + b) * 13 + c], number, 0.501 * unit, `frame ${f}, body ${b}, number ${c}`);
    }));
    frame.nodes.flat().forEach((x, k) => close(decoded.nodes[f * 9 + k], x, 0.501 * UNITS.length, `frame ${f}, node ${k}`));
  });
});

test("orientations and colors of nodes come back, lines or not", () => {
  const turn = (angle) => [Math.cos(angle / 2), 0, Math.sin(angle / 2), 0];
  for (const lines of [undefined, [{ slack: false, force: 2, points: [[0, 0, 1]] }]]) {
    const frames = falling(5).map((frame, f) => ({ ...frame, turns: [turn(0.4 * f), turn(-0.2 * f)], values: [0.25 * f * f, -1 - f], lines }));
    const decoded = decodeFrames(bytes(encode.frames(frames, UNITS)),
      { units: UNITS, bodyCount: 2, nodeCount: 3, constraintCount: lines?.length ?? 0, turningCount: 2, coloredCount: 2 });
    frames.forEach((frame, f) => {
      frame.turns.flat().forEach((x, k) => close(decoded.turns[f * 8 + k], x, 0.501 * UNITS.rotation, `frame ${f}, turn ${k}`));
      frame.values.forEach((x, k) => assert.equal(decoded.values[f * 2 + k], x));
    });
    assert.deepEqual([decoded.low, decoded.high], [-5, 4]);
    assert.equal(linesOf(decoded, UNITS).count, lines?.length ?? 0);
  }
});

test("the ends of colors are those recorded, or the least and the largest of all recordings that show the same", () => {
  const recording = (name, colorRange, range) => ({ scene: { colors: { name, unit: "Pa", nodes: [], range } }, colorRange });
  const ranges = (list, scale = 1) => colorRanges(list, scale);
  const found = ranges([recording("von_mises", [1, 5]), recording("von_mises", [2, 9]), recording("tension", [-4, 0])]);
  assert.deepEqual([...found.keys()], ["von_mises", "tension"]);
  assert.deepEqual(found.get("von_mises"), { unit: "Pa", low: 1, high: 9, least: 1, largest: 9 });
  assert.deepEqual(ranges([recording("von_mises", [1, 5], [0, 2])]).get("von_mises"), { unit: "Pa", low: 0, high: 2, least: 1, largest: 5 });
  assert.equal(ranges([recording("von_mises", [1, 5])], 0.5).get("von_mises").high, 3);
  assert.ok(ranges([recording("area_ratio", [1, 1])]).get("area_ratio").high > 1, "they stay apart");
  assert.equal(ranges([{ scene: {}, colorRange: [Infinity, -Infinity] }, recording("x", [Infinity, -Infinity])]).size, 0);
});

test("contacts come back: new, linked, in another order, ended, none", () => {
  const contact = (id, shift) => ({
    id, a: 0, b: id, point: [0.1 * id + shift, -0.2, 0.01], normal: [0, 0.6, 0.8], force: [shift, 2, 9.81 * id],
    gap: -1e-4 * id, slip: 0.25 * shift, state: id % 3 === 0 ? 5 : id % 3,
    glide: id % 3 === 2 ? 1e-3 * id + shift : 0,
  });
  const sets = [[1, 2, 3], [3, 1, 2, 4], [4, 2], [], [2, 5], [5, 2]];
  const frames = sets.map((ids, f) => ({ step: f, time: f, bodies: [], contacts: ids.map((id) => contact(id, 0.02 * f)) }));
  const decoded = contactsOf(decodeFrames(bytes(encode.frames(frames, UNITS)), { units: UNITS, bodyCount: 0, nodeCount: 0 }), UNITS);
  assert.deepEqual([...decoded.start], [0, 3, 7, 9, 9, 11, 13]);
  frames.flatMap((frame) => frame.contacts).forEach((expected, k) => {
    assert.equal(decoded.geometryA[k], expected.a);
    assert.equal(decoded.geometryB[k], expected.b, `contact ${k}`);
    assert.equal(decoded.state[k], expected.state % 4);
    assert.equal(decoded.inPatch[k], expected.state > 3 ? 1 : 0);
    for (let c = 0; c < 3; c++) {
      close(decoded.point[3 * k + c], expected.point[c], 0.501 * UNITS.length, `point of contact ${k}`);
      close(decoded.normal[3 * k + c], expected.normal[c], 0.501 * UNITS.normal, `normal of contact ${k}`);
      close(decoded.force[3 * k + c], expected.force[c], 0.501 * UNITS.force, `force of contact ${k}`);
    }
    close(decoded.gap[k], expected.gap, 0.501 * UNITS.length, `gap of contact ${k}`);
    close(decoded.slip[k], expected.slip, 0.501 * UNITS.velocity, `slip of contact ${k}`);
    close(decoded.glide[k], expected.glide, 0.501 * UNITS.length, `glide gap of contact ${k}`);
  });
});

test("faces of patches come back, with and without polygons", () => {
  const square = [[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]];
  const touch = (id, point) => ({ id, a: 0, b: 1, point, normal: [0, 0, 1], force: [0, 0, 1], gap: 0, slip: 0, state: 5 });
  const patch = { a: 0, b: 1, first: 1, faces: [{ corners: square, pressures: [1, 2, 3, 4] }, { corners: [], pressures: [] },
    { corners: square.slice(0, 3), pressures: [0.5, 1e6, 0] }] };
  const contacts = [touch(9, [1, 1, 1]), touch(1, [0.05, 0.05, 0]), touch(2, [0, 0, 0]), touch(3, [0.07, 0.03, 0])];
  const frames = [{ step: 0, time: 0, bodies: [] }, { step: 1, time: 1, bodies: [], contacts, patches: [patch] }];
  const decoded = patchesOf(decodeFrames(bytes(encode.frames(frames, UNITS)), { units: UNITS, bodyCount: 0, nodeCount: 0 }), UNITS);
  assert.deepEqual([...decoded.first], [0, 0, 1]);
  assert.deepEqual([...decoded.face], [0, 3]);
  assert.deepEqual([...decoded.contact], [1, 2, 3]);
  assert.deepEqual([...decoded.corner], [0, 4, 4, 7]);
  assert.deepEqual([...decoded.pressure], [1, 2, 3, 4, 0.5, 1e6, 0]);
  assert.equal(decoded.largest, 1e6);
  [...square, ...square.slice(0, 3)].flat().forEach((x, k) => close(decoded.point[k], x, 0.501 * UNITS.length, `corner ${k}`));
});

test("faces of linked contacts come back from differences: moved, with other corners, new, with pressures of any size and sign", () => {
  const units = { ...UNITS, pressure: 2 ** -12 }, square = [[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]];
  const touch = (id, point) => ({ id, a: 0, b: 1, point, normal: [0, 0, 1], force: [0, 0, 1], gap: 0, slip: 0, state: 5 });
  const frames = [0, 1, 2, 3].map((f) => ({
    step: f, time: f, bodies: [], contacts: [touch(f === 2 ? 7 : 1, [0.05 * f, 0, 0]), touch(2, [0, f, 0])].slice(0, f === 3 ? 1 : 2),
    patches: [{ a: 0, b: 1, first: 0, faces: [
      { corners: square.slice(0, f === 1 ? 3 : 4).map(([x, y, z]) => [x + 0.01 * f, y, z - 0.3 * f]), pressures: [1e-3, 0, -2.5e7, 1e30].slice(0, f === 1 ? 3 : 4).map((p) => p * (1 + f)) },
      { corners: square, pressures: [100, 100 + f, 0, 5] }].slice(0, f === 3 ? 1 : 2) }],
  }));
  const decoded = patchesOf(decodeFrames(bytes(encode.frames(frames, units)), { units, bodyCount: 0, nodeCount: 0 }), units);
  const faces = frames.flatMap((frame) => frame.patches[0].faces);
  assert.deepEqual([...decoded.corner], faces.reduce((all, face) => [...all, all.at(-1) + face.corners.length], [0]));
  faces.flatMap((face) => face.corners).flat().forEach((x, k) => close(decoded.point[k], x, 0.501 * UNITS.length + 1e-7, `corner ${k}`));
  faces.flatMap((face) => face.pressures).forEach((p, k) => close(decoded.pressure[k], p, Math.abs(p) * 2 ** -13 + 1e-30, `pressure ${k}`));
});

test("a camera comes back, and stands between two frames", () => {
  const shots = [[1, 2, 3, 0.1, 0.2, 0.3, 3, 0.25, 0.5, 4, 1], [2, 2, 3, 0.1, 0.2, 0.3, -3, 0.25, 0.5, 8, 0], Array(11).fill(NaN)];
  const camera = decodeCamera(bytes(encode.camera(shots)), 3), frames = { camera, count: 3 };
  const at = (index, nextIndex, fraction) => shotOf({ frames, index, next: frames, nextIndex, fraction });
  assert.deepEqual(at(0, 0, 0), { middle: [1, 2, 3], half: shots[0].slice(3, 6).map(Math.fround), azimuth: 3, elevation: 0.25, field_of_view: 0.5, distance: 4, fitted: 1 });
  const half = at(0, 1, 0.5);
  assert.deepEqual([half.middle[0], half.distance, half.fitted], [1.5, 6, 0.5]);
  close(half.azimuth, Math.PI, 1e-6, "the shorter way round");
  close(at(1, 2, 0.5).azimuth, -3, 1e-6, "nobody placed one in the next frame");
  assert.equal(at(2, 2, 0), null);
  assert.equal(shotOf({ frames: { camera: null, count: 1 }, index: 0, next: { camera: null, count: 1 }, nextIndex: 0, fraction: 0 }), null);
  assert.throws(() => decodeCamera(bytes(encode.camera(shots)), 2), /other frames/);
});

test("from the distance of a shot all corners of its box are in the picture, and one touches the margin", () => {
  for (let k = 0; k < 50; k++) {
    const random = (scale) => scale * Math.abs(Math.sin(12.9898 * (k + 1) * scale)), half = [random(1), random(2), random(3)];
    const shot = { half, azimuth: 7 * random(1.7), elevation: 1.5 * random(1.3), field_of_view: 0.3 + random(1.1), distance: 0, fitted: 1 }, aspect = k % 2 ? 1.6 : 0.5;
    const { right, up, back } = axesOf(shot.azimuth, shot.elevation), d = distanceOf(shot, aspect), t = Math.tan(shot.field_of_view / 2);
    const dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
    const parts = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => half.map((h, c) => ((n >> c) & 1 ? h : -h)))
      .map((corner) => Math.max(Math.abs(dot(corner, right)) / (aspect * t), Math.abs(dot(corner, up)) / t) / (d - dot(corner, back)));
    close(Math.max(...parts), 11 / 12, 1e-9, `box ${k}`);
  }
  assert.equal(distanceOf({ half: [1, 1, 1], azimuth: 0, elevation: 0, field_of_view: 1, distance: 7, fitted: 0 }, 1), 7);
});

test("resultants keep the sum of the forces of each pair of bodies, and merge what is near alone", () => {
  const marks = Array.from({ length: 60 }, (_, k) => ({
    point: [0.01 * k, 0, 0], axis: [0, 0, 1], normal: [0, 0, k % 5], friction: [0.1 * (k % 3), 0, 0], state: k % 5 === 0 && k % 3 === 0 ? 0 : 1 + (k % 2), foot: true, pair: `0 ${k % 2}`, selected: k === 7,
  }));
  const merged = merge(marks, 0.1), sum = (list, pair, name) => list.filter((m) => m.pair === pair).reduce((all, m) => all.map((v, c) => v + m[name][c]), [0, 0, 0]);
  assert.ok(merged.length < 20 && merged.length > 8, `${merged.length}`);
  for (const pair of ["0 0", "0 1"]) {
    for (const name of ["normal", "friction"]) sum(merged, pair, name).forEach((value, c) => close(value, sum(marks, pair, name)[c], 1e-9, `${name} of ${pair}`));
  }
  assert.equal(merged.filter((m) => m.selected).length, 1);
  assert.deepEqual(merge(marks, 0.001), marks, "nothing is near");
  const two = (a, b) => merge([{ ...marks[1], normal: [0, 0, a], friction: [0, 0, 0], point: [0, 0, 0], state: 1 }, { ...marks[1], normal: [0, 0, b], friction: [0, 0, 0], point: [0.04, 0, 0], state: 2 }], 0.1);
  const [{ point, state }] = two(3, 1);
  close(point[0], 0.01, 1e-12, "the mean by force");
  assert.deepEqual([state, two(1, 3)[0].state, two(0, 0)[0].state], [1, 2, 0]);
});

test("lines of constraints come back, and lie between two frames where both have as many points", () => {
  const rope = (f, points) => ({ slack: f === 1, force: f === 1 ? 0 : -2.5 * f - 1, points });
  const bent = (f) => [[0, 0, 0.1 * f], [0, 0, 1], [-0.5, 0.25, 1]], hinge = { slack: false, force: 3, points: [] };
  const sets = [[rope(0, bent(0)), hinge], [rope(1, bent(1)), hinge], [rope(2, bent(2).slice(1)), hinge]];
  const frames = sets.map((lines, f) => ({ step: f, time: f, bodies: [], lines }));
  const shape = { units: UNITS, bodyCount: 0, nodeCount: 0, geometryCount: 0, constraintCount: 2 };
  const lines = linesOf(decodeFrames(bytes(encode.frames(frames, UNITS)), shape), UNITS);
  assert.equal(lines.count, 2);
  assert.deepEqual([...lines.slack], [0, 0, 1, 0, 0, 0]);
  assert.deepEqual([...lines.start], [0, 3, 3, 6, 6, 8, 8]);
  sets.flat().forEach(({ force }, k) => close(lines.force[k], force, 0.501 * UNITS.force, `force ${k}`));
  sets.flat().flatMap(({ points }) => points).flat().forEach((x, k) => close(lines.point[k], x, 0.501 * UNITS.length + 1e-7, `coordinate ${k}`));
  close(lines.largest, 6, 1e-3, "largest");
  const between = placesOf(lines, 0, lines, 1, 0.25, 0);
  close(between[0][2], 0.025, 1e-5, "a quarter of the way");
  assert.equal(between.length, 3);
  close(placesOf(lines, 1, lines, 2, 0.25, 0)[0][2], 0.1, 1e-5, "other points next: where they were");
  assert.deepEqual(placesOf(lines, 0, lines, 1, 0.5, 1), []);
});

test("recordings of before there were lines have none, and damaged lines are said", () => {
  const shape = { units: UNITS, bodyCount: 0, nodeCount: 0, geometryCount: 0, constraintCount: 1 };
  const old = decodeFrames(bytes(encode.frames([{ step: 0, time: 0, bodies: [] }], UNITS)), shape);
  assert.equal(linesOf(old, UNITS).count, 0);
  const whole = encode.frames([{ step: 0, time: 0, bodies: [], lines: [{ slack: false, force: 1, points: [[0, 0, 1], [1, 0, 1]] }] }], UNITS);
  const frames = decodeFrames(bytes(whole), shape), said = [];
  frames.lineBytes = frames.lineBytes.subarray(0, frames.lineBytes.length - 2);
  frames.onDamage = (error) => said.push(error.message);
  assert.equal(linesOf(frames, UNITS).count, 0);
  assert.equal(said.length, 1);
});

/** A square of side 2a on z = 0 under a pressure p0 (1 + x/(2a)), in n x n faces; friction mu p against x, twist without force. */
function pressedSquare(n, { a = 0.1, p0 = 1000, mu = 0.25, f = 0 } = {}) {
  const h = (2 * a) / n, at = (i) => -a + i * h, pressure = (x) => p0 * (1 + x / (2 * a));
  const cells = Array.from({ length: n * n }, (_, k) => [at(k % n), at(Math.floor(k / n))]);
  const contacts = cells.map(([x, y], k) => {
    const force = h * h * pressure(x + h / 2);
    return { id: k, a: 0, b: 1, point: [x + h / 2, y + h / 2, f], normal: [0, 0, 1], force: [-mu * force, 0, force], gap: -0.001, slip: k === 3 ? 0.5 : 0, state: k === 3 ? 6 : 5 };
  });
  const faces = cells.map(([x, y]) => {
    const corners = [[x, y, f], [x + h, y, f], [x + h, y + h, f], [x, y + h, f]];
    return { corners, pressures: corners.map(([at]) => pressure(at)) };
  });
  return { contacts, patch: { a: 0, b: 1, first: 0, faces } };
}

test("a patch as a whole: force, center of pressure, area, pressures", () => {
  const n = 10, { contacts, patch } = pressedSquare(n), other = { ...contacts[0], id: 1000, point: [5, 0, 0], state: 5 };
  const face = patch.faces[0];
  const frames = [{ step: 0, time: 0, bodies: [], contacts: [...contacts, other, { ...other, id: 1001 }], patches: [patch,
    { a: 0, b: 1, first: n * n, faces: [face] }, { a: 0, b: 1, first: n * n + 1, faces: [] }] }];
  const decoded = decodeFrames(bytes(encode.frames(frames, UNITS)), { units: UNITS, bodyCount: 0, nodeCount: 0, geometryCount: 2 });
  const touches = contactsOf(decoded, UNITS), patches = patchesOf(decoded, UNITS);
  assert.deepEqual([...patches.first], [0, 2], "one without faces is none");
  const r = reportOf(touches, patches, 0), unit = UNITS.force * n * n;
  assert.deepEqual([r.a, r.b, r.faces, r.sticking, r.slipping], [0, 1, 100, 99, 1]);
  close(r.normal[2], 40, unit, "p0 times area");
  close(r.friction[0], -10, unit, "mu of it");
  close(r.area, 0.04, 2e-3 * 0.04, "area; corners are rounded to a unit");
  close(r.center[0], (0.1 / 6) * (1 - 1 / n ** 2), 1e-4, "center: integral of x p / force, at the centroids");
  close(r.center[1], 0, 1e-4, "and in the middle across");
  r.torque.forEach((value) => close(value, 0, 1e-2, "friction goes with pressure: no twist about the center"));
  close(r.mean, 1000, 5, "mean pressure");
  close(r.max, 1500, 1e-3, "of the outermost corners");
  close(r.slip, 0.5, UNITS.velocity, "the fastest");
  assert.deepEqual(r.axis.map((value) => Math.round(value * 1e6) / 1e6), [0, 0, 1]);
  assert.deepEqual([0, 1].map((p) => keyOf(touches, patches, 0, p)), ["0 1 0", "0 1 1"]);
  assert.deepEqual(["0 1 0", "0 1 1", "0 1 2"].map((key) => patchWith(touches, patches, 0, key)), [0, 1, -1]);
  assert.equal(typicalPressure(patches), 1500);
  const marks = marksOf(decoded, UNITS, 0, { faces: false, pairOf: (a, b) => `${a} ${b}` });
  assert.deepEqual(marks.map(({ state, pair }) => [state, pair]), [[1, "0 1"], [1, "0 1"]], "a patch is one");
  close(forceOf(marks[0]), Math.hypot(40, 10), 2 * unit, "with its whole force");
  assert.equal(marksOf(decoded, UNITS, 0, { faces: true, pairOf: () => "" }).length, n * n + 2, "or each of its faces");
});

test("what is logged of patches makes a few plots a pair", () => {
  const parts = ["force_x_N", "force_y_N", "force_z_N", "normal_N", "friction_N", "faces", "sticking", "slipping", "max_pressure_Pa", "news"];
  const names = ["floor|ball", "a/b|c[2]"].flatMap((pair) => parts.map((part) => `patch[${pair}].${part}`));
  const groups = groupsOf([{ columns: new Map(names.map((name) => [name, { unit: "" }])) }]);
  assert.deepEqual(groups.map(({ title, lines }) => [title, lines.length]), [
    ["floor|ball force", 2], ["floor|ball pressure", 1], ["floor|ball faces", 3], ["floor|ball force on b", 3],
    ["a/b|c[2] force", 2], ["a/b|c[2] pressure", 1], ["a/b|c[2] faces", 3], ["a/b|c[2] force on b", 3],
    ["patch[floor|ball].news", 1], ["patch[a/b|c[2]].news", 1]]);
});

test("series come back; a signal that appears later has no values before", () => {
  const column = (name, unit, values) => ({ name, unit, values });
  const first = encode.series([{ step: 0, time: 0 }, { step: 1, time: 0.01 }], [column("contacts", "", [3, 4])]);
  const second = encode.series([{ step: 2, time: 0.02 }], [column("contacts", "", [5]), column("höhe", "m", [0.125])]);
  const { time, columns } = joinSeries([first, second].map((payload) => decodeSeries(bytes(payload))));
  assert.deepEqual([...time], [0, 0.01, 0.02]);
  assert.deepEqual([...columns.get("contacts").values], [3, 4, 5]);
  assert.deepEqual([...columns.get("höhe").values], [NaN, NaN, 0.125]);
  assert.equal(columns.get("höhe").unit, "m");
});

test("a signal does not replace the series whose name it has", () => {
  const column = (name, value) => ({ name, unit: "", values: [value, value] });
  const { columns } = decodeSeries(bytes(encode.series([{ step: 0, time: 0 }, { step: 1, time: 0.1 }], [column("contacts", 3), column("contacts", 7)])));
  assert.deepEqual([...columns].map(([name, { values }]) => [name, values[0]]), [["contacts", 3], ["contacts (signal)", 7]]);
});

test("of a thousand signals a dozen are shown at first", () => {
  const names = ["contacts", ...Array.from({ length: 1000 }, (_, k) => `s${k}`)];
  const groups = groupsOf([{ columns: new Map(names.map((name) => [name, { unit: "" }])) }]);
  assert.equal(groups.length, 1001);
  assert.deepEqual(groups.filter(({ shown }) => shown).map(({ title }) => title), ["Contacts", ...names.slice(1, 13)]);
});

test("after a reset of the world time goes on, in frames as in series", async () => {
  const frames = falling(3), again = falling(2);
  const points = (steps) => Array.from({ length: steps }, (_, k) => ({ step: k, time: 0.01 * k }));
  const column = (steps) => [{ name: "contacts", unit: "", values: Array(steps).fill(1) }];
  const block = (kind, payload) => ({ kind, text: base64(payload) });
  const recording = await Recording.open([
    block("scene", scene()), block("frames", encode.frames(frames, UNITS)), block("series", encode.series(points(23), column(23))),
    block("frames", encode.frames(again, UNITS)), block("series", encode.series(points(12), column(12))),
  ]);
  await recording.loadSeries();
  await recording.extend();
  assert.equal(recording.series.time.length, 35);
  close(recording.series.time[22], 0.22, 1e-12, "last step before the reset");
  close(recording.series.time[23], 0.22, 1e-12, "first step after it");
  close(recording.lastTime, 0.22 + 0.1, 1e-12, "last frame");
  assert.equal(recording.frameAt(0.21), 2);
  assert.equal(recording.frameAt(0.23), 3);
  assert.equal(recording.frameAt(0.33), 4);
});

test("values are looked up at the last step that has been made", () => {
  const time = Float64Array.of(0, 1, 2), values = Float32Array.of(10, 11, 12);
  assert.deepEqual([-1, 0, 0.5, 1, 1.999, 2, 9].map((t) => valueAt(time, values, t)), [10, 10, 10, 11, 11, 12, 12]);
  assert.deepEqual([-1, 0, 0.5, 2, 3].map((t) => indexAt(time, t)), [0, 0, 1, 2, 3]);
});

test("before the first step its values are shown", () => {
  const time = Float64Array.of(0, 1, 2), values = Float32Array.of(NaN, 11, NaN);
  assert.deepEqual([-1, 0, 0.5, 1, 2].map((t) => valueAt(time, values, t)), [11, 11, 11, 11, NaN]);
  assert.ok(Number.isNaN(valueAt(time.subarray(0, 1), values.subarray(0, 1), 0)));
});

test("arrows have the scale of the median force that acts, and the size of a body", () => {
  assert.equal(arrowScaleOf([], 1), undefined);
  assert.equal(arrowScaleOf([4, 5, 6], 0.1), 0.1 / 5, "the median is as long as a body");
  assert.equal(arrowScaleOf([1, 1, 1, 1, 1, 1, 40, 40], 0.1), 0.2 / 40, "the larger ones are twice as long at most");
  close(typicalWeight({ bodies: [{}, { mass: 1 }, { mass: 2 }, { mass: 50 }] }), 19.62, 1e-12, "weight of the median body");
  close(typicalWeight({ bodies: [{}] }), 9.81, 1e-12, "without bodies");
  assert.deepEqual([[0, 6], [0.1, 1], [0.1, 60], [1, 1]].map(([body, all]) => Number(typicalLength(body, all).toFixed(12))), [1, 0.07, 1, 0.5]);
});

test("downsampling keeps every peak", () => {
  const n = 100000, time = Float64Array.from({ length: n }, (_, k) => k), values = new Float32Array(n);
  values[54321] = 7;
  values[54322] = -8;
  values[99] = NaN;
  const shown = downsample(time, [values], 0, n, 400);
  assert.equal(shown.time.length, 400);
  assert.ok(shown.columns[0].includes(7) && shown.columns[0].includes(-8));
  assert.ok(shown.time.every((t, k) => k === 0 || t >= shown.time[k - 1]));
  const few = downsample(time, [values], 1000, 1100, 400);
  assert.equal(few.time[0], 999);
  assert.ok(few.time.at(-1) >= 1100);
});

test("frames are found by time across blocks, and lie between two of them", async () => {
  const frames = falling(6);
  const part = (from, to) => ({ kind: "frames", text: base64(encode.frames(frames.slice(from, to), UNITS)) });
  const recording = await Recording.open([{ kind: "scene", text: base64(scene()) }, part(0, 4), part(4, 6), { kind: "unknown", text: "" }]);
  assert.equal(recording.frameCount, 4);
  await recording.extend();
  assert.equal(recording.frameCount, 6);
  assert.ok(recording.cutOff);
  assert.deepEqual([-1, 0, 0.05, 0.1, 0.35, 0.4, 99].map((t) => recording.frameAt(t)), [0, 0, 0, 1, 3, 4, 5]);
  const moment = recording.momentAt(0.35, () => {});
  assert.equal(moment.index, 3);
  assert.equal(moment.nextIndex, 0);
  close(moment.fraction, 0.5, 1e-9, "halfway across the blocks");
});

test("blocks that do not fit into memory are let go, and decoded again when they are shown", async () => {
  const frames = falling(12);
  const parts = [0, 2, 4, 6, 8, 10].map((from) => ({ kind: "frames", text: base64(encode.frames(frames.slice(from, from + 2), UNITS)) }));
  const recording = await Recording.open([{ kind: "scene", text: base64(scene()) }, ...parts]);
  const one = recording.decodedBytes;
  recording.decodedLimit = 2 * one;
  while (!recording.complete) await recording.extend();
  const decoded = () => recording.chunks.map((chunk) => Boolean(chunk.frames));
  assert.deepEqual(decoded(), [true, false, false, false, false, true], "the first and the last one are kept");
  assert.equal(recording.decodedBytes, 2 * one);

  // between frames 3 and 4, of two blocks that were let go: they come one after the other, and then nothing more is asked for
  let loaded = 0;
  const look = () => recording.momentAt(0.35, () => loaded++);
  assert.equal(look(), null);
  for (let looks = 1; looks < 6; looks++) {
    while (recording.chunks.some((chunk) => chunk.loading)) await new Promise((done) => setTimeout(done, 1));
    look();
  }
  assert.equal(loaded, 2);
  const moment = look();
  assert.deepEqual(decoded(), [true, true, true, false, false, false], "what is shown stays, though it is more than the limit");
  assert.equal(recording.decodedBytes, 3 * one);
  const height = (part, index) => part.bodies[26 * index + 2];
  close(height(moment.frames, moment.index), 2 - 0.2 * 3, 1e-5, "height before");
  close(height(moment.next, moment.nextIndex), 2 - 0.2 * 4, 1e-5, "height after");
  close(moment.fraction, 0.5, 1e-9, "halfway");
});

test("another format is refused in one sentence", async () => {
  const text = base64({ ...scene(), format: "stiction-recording-9" });
  await assert.rejects(Recording.open([{ kind: "scene", text }]), /stiction-recording-9.*stiction-recording-1/);
});

/** A recording of two blocks of frames with a contact in each frame, a mesh and series; `change` may damage a payload. */
async function opened(change = (kind, payload) => payload) {
  const frames = falling(11).map((frame) => ({ ...frame, contacts: [
    { id: 1, a: 0, b: 1, point: [0, 0, 0], normal: [0, 0, 1], force: [0, 0, 9], gap: 0, slip: 0, state: 1 }] }));
  const points = falling(11).map(({ step, time }) => ({ step, time }));
  const mesh = encode.mesh({ vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles: [[0, 1, 2]] });
  const block = (kind, payload, number = 0) => ({ kind, text: base64(change(kind, payload, number)) });
  const recording = await Recording.open([
    block("scene", scene()), block("mesh", mesh), block("frames", encode.frames(frames.slice(0, 6), UNITS)),
    block("frames", encode.frames(frames.slice(6), UNITS), 1),
    block("series", encode.series(points, [{ name: "contacts", unit: "", values: Array(11).fill(1) }])), block("end", { steps: 110, time: 1 }),
  ]);
  await recording.loadSeries();
  while (!recording.complete) await recording.extend();
  for (const chunk of recording.chunks) patchesOf(chunk.frames, UNITS);
  return recording;
}

const HUGE = [255, 255, 255, 255, 255, 255, 127]; // a count of 5.6e14

test("damage is told by its place, and what is whole is there", async () => {
  const whole = await opened();
  assert.deepEqual([whole.damage, whole.cutOff, whole.frameCount, whole.meshes[0].triangles.length], [[], false, 11, 3]);
  const damaged = (kind, change, number = 0) => opened((own, payload, k) => (own === kind && k === number ? change(payload) : payload));
  const half = (payload) => payload.slice(0, payload.length / 2);
  for (const change of [half, (payload) => [...HUGE, ...payload], () => []]) {
    const frames = await damaged("frames", change, 1);
    assert.match(frames.damage.join(), /^the frames after t = 0\.500 s are damaged \([^()]*\)$/);
    assert.deepEqual([frames.frameCount, frames.series.time.length, frames.cutOff], [6, 11, false]);
    const series = await damaged("series", change);
    assert.match(series.damage.join(), /^the plots are damaged \([^()]*\)$/);
    assert.deepEqual([series.frameCount, series.series.time.length], [11, 0]);
    const mesh = await damaged("mesh", change);
    assert.match(mesh.damage.join(), /^mesh 0 is damaged and not drawn \([^()]*\)$/);
    assert.equal(mesh.frameCount, 11);
  }
  assert.match((await damaged("end", () => [1])).damage.join(), /^the block of its end is damaged/);
  const contacts = await damaged("frames", (payload) => payload.map((byte, k) => (k === payload.length - 5 ? 77 : byte)));
  assert.match(contacts.damage.join(), /^contacts from t = 0\.000 s on are damaged \([^()]*\)$/);
  assert.equal(contacts.frameCount, 11);
  const times = await damaged("frames", (payload) => payload.map((byte, k) => (k >= 6 && k < 6 + 8 ? 0x7e : byte)), 1); // of the first frame: 1e301 s, which no axis divides
  assert.match(times.damage.join(), /^the frames after t = 0\.500 s are damaged \(a time in it cannot be\)$/);
});

const fullOnly = { skip: process.env.STICTION_TEST_TIER !== "full" && "long: ./dev test --full" };
test("a payload of more than 256 MiB is not unpacked", fullOnly, async () => {
  const bomb = deflateSync(Buffer.alloc(257 * 2 ** 20), { level: 1 }).toString("base64");
  const recording = await Recording.open([{ kind: "scene", text: base64(scene()) }, { kind: "frames", text: bomb }]);
  assert.deepEqual(recording.damage, ["the frames after t = 0.000 s are damaged (it holds more than 256 MiB)"]);
});

test("any byte may be wrong: it is told, or some number is another", async () => {
  let told = 0;
  for (const kind of ["mesh", "frames", "series"]) {
    const length = await new Promise((done) => opened((own, payload) => (own === kind && done(payload.length), payload)));
    for (let at = 0; at < length; at += 7) {
      const recording = await opened((own, payload, k) => (own === kind && k === 0 ? payload.map((byte, k) => (k === at ? byte ^ (1 << (at % 8)) : byte)) : payload));
      told += recording.damage.length;
    }
  }
  assert.ok(told > 10, `${told}`);
});

test("a scene that is damaged is refused in one sentence", async () => {
  const refused = (changes, pattern) => assert.rejects(Recording.open([{ kind: "scene", text: base64({ ...scene(), ...changes }) }]), pattern);
  const shape = (changes) => ({ geometries: [{ name: "g", body: 1, type: "sphere", radius: 1, ...changes }] });
  await refused({ units: { length: 0 } }, /^Error: The scene of this recording is damaged: its units$/);
  await refused({ bodies: "many" }, /its bodies$/);
  await refused({ geometries: 7 }, /its shapes$/);
  await refused(shape({ body: 3 }), /its shape 0$/);
  await refused(shape({ radius: null }), /its shape 0$/);
  await refused(shape({ pose: [0, 0, 0] }), /its shape 0$/);
  await refused({ node_count: 1e300 }, /its number of nodes$/);
  await refused({ surfaces: [{ first_node: 0, node_count: 3, triangles: [0, 1, 3] }] }, /its surfaces$/);
  await refused({ clouds: [{ name: "a", first_node: 0, node_count: 2 }, { name: "b", first_node: 1, node_count: 1 }] }, /its clouds of nodes$/);
  await refused({ clouds: [{ name: "a", first_node: 0, node_count: 4 }] }, /its clouds of nodes$/);
  await refused({ clouds: [{ first_node: 0, node_count: 3 }] }, /its clouds of nodes$/);
  await refused({ colors: { name: "von_mises", unit: "Pa", nodes: [3] } }, /its colors$/);
  await refused({ colors: { name: "von_mises", unit: "Pa", nodes: [0], range: [2, 1] } }, /its colors$/);
  await refused({ colors: null }, /its colors$/);
  await assert.rejects(Recording.open([{ kind: "scene", text: "AAAA" }]), /^Error: The scene of this recording is damaged: /);
});

test("parameters that differ are found, missing ones too", () => {
  const run = (dt, parameters) => ({ ...scene(), dt, parameters });
  assert.deepEqual(differences([run(0.01, "solver = sap\nmu = 1\n"), run(0.01, "solver = nsgs\nmu = 1\nomega = 1\n")]),
    [["solver", ["sap", "nsgs"]], ["omega", ["–", "1"]]]);
});

/** A payload as its block holds it. */
function base64(payload) {
  return encode.block("", payload).match(/>([^<]*)</)[1];
}
