// SPDX-License-Identifier: Apache-2.0
// Writes recordings after docs/recording.md, and nothing else: what the viewer's decoders are tested against.

import { deflateSync } from "node:zlib";

/** An unsigned LEB128 varint. */
export function u(value) {
  const bytes = [];
  let rest = BigInt(value);
  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return bytes;
}

/** A signed varint. */
export function s(value) {
  const big = BigInt(value);
  return u(big >= 0n ? 2n * big : -2n * big - 1n);
}

export const f64 = (...values) => [...new Uint8Array(Float64Array.from(values).buffer)];
export const f32 = (...values) => [...new Uint8Array(Float32Array.from(values).buffer)];
export const sized = (bytes) => [...u(bytes.length), ...bytes];
export const text = (string) => sized([...new TextEncoder().encode(string)]);

function planes(bytes, width) {
  return Array.from({ length: width }, (_, plane) => bytes.filter((_, k) => k % width === plane)).flat();
}

/** Differences from one number to the next, the first from 0. */
function differences(values) {
  return values.map((value, k) => value - (k > 0 ? values[k - 1] : 0));
}

export function mesh({ vertices, triangles }) {
  const column = (c) => vertices.map((vertex) => vertex[c]);
  const lower = [0, 1, 2].map((c) => Math.min(...column(c)));
  const size = [0, 1, 2].map((c) => Math.max(...column(c)) - lower[c]);
  const whole = (c) => column(c).map((x) => (size[c] ? Math.round((65535 * (x - lower[c])) / size[c]) : 0));
  return [
    ...u(vertices.length), ...u(triangles.length), ...f64(...lower), ...f64(...size),
    ...[0, 1, 2].flatMap((c) => differences(whole(c)).flatMap(s)), ...differences(triangles.flat()).flatMap(s),
  ];
}

const perBody = (units) => {
  const { length: l, rotation: r, velocity: v, angular_velocity: w } = units;
  return [l, l, l, r, r, r, r, v, v, v, w, w, w];
};

/** Of colours of nodes. */
export const VALUE_UNIT = 0.25;

/**
 * frames: [{ step, time, bodies: [13 numbers each], nodes: [[x, y, z]], contacts: [{ id, a, b, point, normal, force, gap, slip, glide, state }],
 * patches: [{ a, b, first, faces: [{ corners: [[x, y, z]], pressures: [p] }] }],
 * turns: [[w, x, y, z]] of nodes that turn, values: [number] of coloured nodes,
 * lines: [{ slack, force, points: [[x, y, z]] }] }]; without lines in the first frame as recordings were that knew none
 */
export function frames(list, units) {
  const column = (number, unit) => differences(list.map((frame) => Math.round(number(frame) / unit))).flatMap(s);
  const bodies = list[0].bodies.flatMap((_, b) => perBody(units).flatMap((unit, c) => column((f) => f.bodies[b][c], unit)));
  const nodes = (list[0].nodes ?? []).flatMap((_, n) => [0, 1, 2].flatMap((c) => column((f) => f.nodes[n][c], units.length)));
  const turns = (list[0].turns ?? []).flatMap((_, n) => [0, 1, 2, 3].flatMap((c) => column((f) => f.turns[n][c], units.rotation)));
  return [
    ...u(list.length), ...differences(list.map((f) => f.step)).flatMap(u), ...f64(...list.map((f) => f.time)),
    ...bodies, ...nodes, ...turns, ...sized(contacts(list, units)), ...sized((units.pressure ? linkedPatches : patches)(list, units)), ...(list[0].lines ? sized(lines(list, units)) : []),
    ...(list[0].values ? sized([...f64(VALUE_UNIT), ...list[0].values.flatMap((_, k) => column((f) => f.values[k], VALUE_UNIT))]) : []),
  ];
}

const whole = (values, unit) => values.map((value) => Math.round(value / unit));

/** All numbers of a contact as integers, in the order of streams 1 to 4. */
function numbers(contact, units) {
  return [
    ...whole(contact.point, units.length), ...whole(contact.normal, units.normal), ...whole(contact.force, units.force),
    ...whole([contact.gap], units.length), ...whole([contact.slip], units.velocity),
  ];
}

function contacts(list, units) {
  const streams = [[], [], [], [], [], [], []];
  list.forEach((frame, f) => {
    const before = f > 0 ? list[f - 1].contacts ?? [] : [];
    let expected = 0;
    streams[0].push(...u((frame.contacts ?? []).length));
    for (const contact of frame.contacts ?? []) {
      const index = before.findIndex((other) => other.id === contact.id);
      if (index < 0) streams[0].push(...u(0), ...u(contact.a), ...u(contact.b));
      else {
        const zigzag = index >= expected ? 2 * (index - expected) : 2 * (expected - index) - 1;
        streams[0].push(...u(1 + zigzag));
        expected = index + 1;
      }
      const base = index < 0 ? Array(11).fill(0) : numbers(before[index], units);
      numbers(contact, units).forEach((value, k) => streams[1 + Math.min(3, Math.floor(k / 3))].push(...s(value - base[k])));
      streams[5].push(...u(contact.state));
      const glide = (of) => Math.round((of?.glide ?? 0) / units.length);
      if (contact.state % 4 === 2) streams[6].push(...s(glide(contact) - glide(before[index])));
    }
  });
  return streams.flatMap(sized);
}

function patches(list, units) {
  const streams = [[], [], []];
  for (const frame of list) {
    streams[0].push(...u((frame.patches ?? []).length));
    for (const patch of frame.patches ?? []) {
      streams[0].push(...u(patch.a), ...u(patch.b), ...u(patch.first), ...u(patch.faces.length));
      patch.faces.forEach((face, k) => {
        streams[0].push(...u(face.corners.length));
        let last = whole(frame.contacts[patch.first + k].point, units.length);
        for (const corner of face.corners) {
          const now = whole(corner, units.length);
          streams[1].push(...now.flatMap((value, c) => s(value - last[c])));
          last = now;
        }
        streams[2].push(...f32(...face.pressures));
      });
    }
  }
  return streams.flatMap(sized);
}

/** Faces as recordings with a unit of pressure have them: the contacts of the same id, and faces of as many corners, are linked. */
export function linkedPatches(list, units) {
  const streams = [[], [], []], bits = (p) => (new Int32Array(Float32Array.of(p).buffer)[0] + 0x400) >> 11;
  let before = new Map();
  for (const frame of list) {
    const now = new Map();
    streams[0].push(...u((frame.patches ?? []).length));
    for (const patch of frame.patches ?? []) {
      streams[0].push(...u(patch.a), ...u(patch.b), ...u(patch.first), ...u(patch.faces.length));
      patch.faces.forEach((face, k) => {
        const contact = frame.contacts[patch.first + k];
        streams[0].push(...u(face.corners.length));
        let last = whole(contact.point, units.length);
        const corners = face.corners.map((corner) => {
          const at = whole(corner, units.length), from = at.map((value, c) => value - last[c]);
          last = at;
          return from;
        });
        const numbers = face.pressures.map(bits), old = before.get(contact.id), same = old?.numbers.length === numbers.length;
        corners.forEach((from, i) => streams[1].push(...from.flatMap((value, c) => s(value - (same ? old.corners[i][c] : 0)))));
        numbers.forEach((number, i) => streams[2].push(...s(number - (same ? old.numbers[i] : i > 0 ? numbers[i - 1] : 0))));
        now.set(contact.id, { corners, numbers });
      });
    }
    before = now;
  }
  return streams.flatMap(sized);
}

/** shots: arrays of 11 numbers, one a frame */
export function camera(shots) {
  return [...u(shots.length), ...shots[0].flatMap((_, c) => planes(f32(...shots.map((shot) => shot[c])), 4))];
}

function lines(list, units) {
  const all = list.flatMap((frame) => frame.lines);
  const columns = (points) => [0, 1, 2].map((c) => differences(points.map((point) => whole(point, units.length)[c])));
  return [
    ...sized(all.flatMap(({ slack, force, points }) => [...u(slack ? 1 : 0), ...s(whole([force], units.force)[0]), ...u(points.length)])),
    ...sized(all.flatMap(({ points }) => points.flatMap((_, p) => columns(points).flatMap((column) => s(column[p]))))),
  ];
}

/** points: [{ step, time }], columns: [{ name, unit, values }] */
export function series(points, columns) {
  return [
    ...u(points.length), ...u(columns.length), ...columns.flatMap(({ name, unit }) => [...text(name), ...text(unit)]),
    ...differences(points.map((p) => p.step)).flatMap(u), ...planes(f64(...points.map((p) => p.time)), 8),
    ...columns.flatMap(({ values }) => planes(f32(...values), 4)),
  ];
}

/** A line of the page. payload: bytes, or what becomes JSON. */
export function block(kind, payload) {
  const bytes = Array.isArray(payload) ? Uint8Array.from(payload) : Buffer.from(JSON.stringify(payload));
  const base64 = deflateSync(bytes).toString("base64");
  return `<script type="application/x-stiction" data-kind="${kind}" data-length="${base64.length}">${base64}</script>\n`;
}

export const UNITS = {
  length: 1e-5, rotation: 2 ** -15, velocity: 1e-3, angular_velocity: 1e-2, force: 1e-3, normal: 2 ** -12,
};
