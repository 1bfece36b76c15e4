// SPDX-License-Identifier: Apache-2.0
// What patches did in a step as a whole, from their faces: as stn_observation_patch of the core has it, to what was rounded.

import { partsOf, STATE } from "./contacts.js";

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const sizeOf = (a) => Math.hypot(...a);

/** Area of the polygon of a face [m^2]: half the sum of the cross products of its edges from the first corner. */
export function areaOf({ corner, point }, face) {
  const sum = [0, 0, 0], from = 3 * corner[face];
  const edge = (k) => [0, 1, 2].map((c) => point[3 * k + c] - point[from + c]);
  for (let k = corner[face] + 2; k < corner[face + 1]; k++) cross(edge(k - 1), edge(k)).forEach((value, c) => (sum[c] += value));
  return sizeOf(sum) / 2;
}

/** What selects the same patch in another frame: its two geometries, and which of theirs it is. */
export function keyOf({ geometryA, geometryB }, { first, face, contact }, frame, patch) {
  const pair = (p) => `${geometryA[contact[face[p]]]} ${geometryB[contact[face[p]]]}`;
  let before = 0;
  for (let p = first[frame]; p < patch; p++) before += Number(pair(p) === pair(patch));
  return `${pair(patch)} ${before}`;
}

/** The patch of a frame with this key, -1: none. */
export function patchWith(contacts, patches, frame, key) {
  for (let p = patches.first[frame]; p < patches.first[frame + 1]; p++) {
    if (keyOf(contacts, patches, frame, p) === key) return p;
  }
  return -1;
}

/**
 * @typedef {object} PatchReport  forces on b [N]
 * @property {number} a @property {number} b  geometries
 * @property {number} faces @property {number} sticking @property {number} slipping
 * @property {number[]} normal @property {number[]} friction  sums of the faces' parts
 * @property {number} pressing  sum of the sizes of the normal parts [N]
 * @property {number[]} center  of pressure [m] @property {number[]} torque  about it [N m]
 * @property {number[]} axis  mean normal, from a into b
 * @property {number} area  of the faces with force [m^2]
 * @property {number} mean  pressure that acts: force / area [Pa]
 * @property {number} max  largest pressure at a corner when the step began; small faces are rounded too much to tell what acts on them [Pa]
 * @property {number} slip  the fastest [m/s] @property {number} gap  the deepest [m]
 */

/** @returns {PatchReport} */
export function reportOf(contacts, patches, patch) {
  const begin = patches.face[patch], end = patches.face[patch + 1], origin = 3 * patches.contact[begin];
  const sum = { normal: [0, 0, 0], friction: [0, 0, 0], torque: [0, 0, 0], forceMoment: [0, 0, 0], areaMoment: [0, 0, 0], forceAxis: [0, 0, 0], areaAxis: [0, 0, 0] };
  let whole = 0; // area of all faces
  const add = (name, values, factor = 1) => values.forEach((value, c) => (sum[name][c] += factor * value));
  const out = { a: contacts.geometryA[origin / 3], b: contacts.geometryB[origin / 3], faces: end - begin, sticking: 0, slipping: 0,
    pressing: 0, area: 0, max: 0, slip: 0, gap: Infinity };
  for (let face = begin; face < end; face++) {
    const k = patches.contact[face], parts = partsOf(contacts, k), area = areaOf(patches, face);
    const unit = [...contacts.normal.subarray(3 * k, 3 * k + 3)];
    const arm = unit.map((_, c) => contacts.point[3 * k + c] - contacts.point[origin + c]);
    add("normal", unit, parts.normal);
    add("friction", parts.friction);
    add("torque", cross(arm, unit.map((value, c) => parts.normal * value + parts.friction[c])));
    add("forceMoment", arm, parts.normal);
    add("areaMoment", arm, area);
    add("forceAxis", unit, parts.normal);
    add("areaAxis", unit, area);
    out.pressing += parts.normal;
    whole += area;
    out.gap = Math.min(out.gap, contacts.gap[k]);
    for (let c = patches.corner[face]; c < patches.corner[face + 1]; c++) out.max = Math.max(out.max, patches.pressure[c]);
    if (contacts.state[k] === STATE.open) continue;
    out.sticking += Number(contacts.state[k] === STATE.stick);
    out.slipping += Number(contacts.state[k] === STATE.slip);
    out.area += area;
    out.slip = Math.max(out.slip, contacts.slip[k]);
  }
  const [moment, axis, weight] = out.pressing > 0 ? [sum.forceMoment, sum.forceAxis, out.pressing] : [sum.areaMoment, sum.areaAxis, whole];
  const arm = moment.map((value) => value / (weight || 1));
  const about = cross(arm, sum.normal.map((value, c) => value + sum.friction[c]));
  return {
    ...out, normal: sum.normal, friction: sum.friction, mean: out.area > 0 ? out.pressing / out.area : 0,
    center: arm.map((value, c) => contacts.point[origin + c] + value), torque: sum.torque.map((value, c) => value - about[c]),
    axis: axis.map((value) => value / (sizeOf(axis) || 1)),
  };
}

/** Does the patch as a whole slip: do the faces that slip outnumber those that stick? */
export function stateOf({ sticking, slipping }) {
  return sticking + slipping === 0 ? STATE.open : slipping > sticking ? STATE.slip : STATE.stick;
}

/** A pressure that the largest of a frame typically is: their median over the frames that have any; undefined without. */
export function typicalPressure(patches) {
  const largest = [];
  for (let f = 0; f + 1 < patches.first.length; f++) {
    const from = patches.corner[patches.face[patches.first[f]]], to = patches.corner[patches.face[patches.first[f + 1]]];
    const most = patches.pressure.subarray(from, to).reduce((a, b) => Math.max(a, b), 0);
    if (most > 0) largest.push(most);
  }
  return largest.sort((a, b) => a - b)[largest.length >> 1];
}
