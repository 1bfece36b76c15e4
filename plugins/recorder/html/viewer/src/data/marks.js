// SPDX-License-Identifier: Apache-2.0
// What stands for contacts in the scene: each of them, a patch as a whole, or many in one place as one.

import { partsOf, STATE } from "./contacts.js";
import { contactsOf, patchesOf } from "./frames.js";
import { keyOf, reportOf, stateOf } from "./patch_report.js";

/**
 * @typedef {object} Mark  a contact, a patch, or several of them
 * @property {number[]} point [m] @property {number[]} axis  the direction of its normal
 * @property {number[]} normal @property {number[]} friction  parts of the force on the second body [N]
 * @property {number} state  one of STATE @property {boolean} foot @property {boolean} [selected]
 * @property {string} pair  between which bodies it is
 */

const add = (a, b, factor = 1) => a.map((value, c) => value + factor * b[c]);
const sizeOf = (a) => Math.hypot(...a);
/** Size of the force of a mark [N]. @param {Mark} mark */
export const forceOf = ({ normal, friction }) => sizeOf(add(normal, friction));

/** One contact: where it is, its parts of the force, and between which bodies. */
function markOf(contacts, k, pairOf) {
  const parts = partsOf(contacts, k), normal = [...contacts.normal.subarray(3 * k, 3 * k + 3)];
  return {
    point: [...contacts.point.subarray(3 * k, 3 * k + 3)], axis: normal, normal: normal.map((value) => value * parts.normal), friction: parts.friction,
    state: contacts.state[k], foot: !contacts.inPatch[k], pair: pairOf(contacts.geometryA[k], contacts.geometryB[k]),
  };
}

/**
 * Contacts and patches of a frame, or contacts with the faces of patches.
 * @param {import("./frames.js").Frames} frames @param {import("./frames.js").Units} units @param {number} frame
 * @param {{ faces: boolean, pairOf: (a: number, b: number) => string, selected?: number, selectedPatch?: string }} look  pairOf: between which bodies
 *   two geometries are; selected: index of a contact in the frame; selectedPatch: key of a patch
 * @returns {Mark[]}
 */
export function marksOf(frames, units, frame, { faces, pairOf, selected = -1, selectedPatch = "" }) {
  const marks = [], contacts = contactsOf(frames, units), start = contacts.start[frame];
  for (let k = start; k < contacts.start[frame + 1]; k++) {
    if (faces || !contacts.inPatch[k]) marks.push({ ...markOf(contacts, k, pairOf), selected: k - start === selected });
  }
  if (faces) return marks;
  const patches = patchesOf(frames, units);
  for (let p = patches.first[frame]; p < patches.first[frame + 1]; p++) {
    const { a, b, center, axis, normal, friction, ...rest } = reportOf(contacts, patches, p);
    marks.push({
      point: center, axis, normal, friction, state: stateOf(rest), foot: true, pair: pairOf(a, b),
      selected: selectedPatch !== "" && keyOf(contacts, patches, frame, p) === selectedPatch,
    });
  }
  return marks;
}

/**
 * In their order, each mark joins the first group of its pair of bodies that began within `near` of it. A group is one mark: its force is the sum
 * of their forces, its point the mean of their points, weighted by force. It slips when those that slip carry more force than those that stick.
 * A mark that is selected stays alone.
 * @param {Mark[]} marks @param {number} near  [m] @returns {Mark[]}
 */
export function merge(marks, near) {
  const groups = [], ofPair = new Map();
  for (const mark of marks) {
    const others = ofPair.get(mark.pair) ?? ofPair.set(mark.pair, []).get(mark.pair);
    const joined = mark.selected ? null : others.find(({ begin }) => sizeOf(add(begin, mark.point, -1)) <= near);
    if (joined) joined.marks.push(mark);
    else {
      const group = { begin: mark.point, marks: [mark] };
      groups.push(group);
      if (!mark.selected) others.push(group);
    }
  }
  return groups.map((group) => (group.marks.length > 1 ? sumOf(group.marks) : group.marks[0]));
}

/** @param {Mark[]} marks @returns {Mark} */
function sumOf(marks) {
  const forces = marks.map(forceOf), total = forces.reduce((a, b) => a + b, 0);
  const weights = total > 0 ? forces.map((force) => force / total) : forces.map(() => 1 / marks.length);
  const sum = (name, factors) => marks.reduce((all, mark, k) => add(all, mark[name], factors ? factors[k] : 1), [0, 0, 0]);
  const carried = (state) => marks.reduce((all, mark, k) => all + (mark.state === state ? forces[k] : 0), 0);
  const sticks = carried(STATE.stick), slips = carried(STATE.slip);
  const axis = sum("axis", weights);
  return {
    ...marks[0], point: sum("point", weights), axis: sizeOf(axis) > 1e-9 ? axis : marks[0].axis, normal: sum("normal"), friction: sum("friction"),
    state: sticks + slips === 0 ? STATE.open : slips > sticks ? STATE.slip : STATE.stick, selected: false,
  };
}
