// SPDX-License-Identifier: Apache-2.0
// Many contacts in one place as one arrow.

import { STATE } from "./contacts.js";

/**
 * @typedef {object} Mark  a contact, a patch, or several of them
 * @property {number[]} point [m] @property {number[]} axis  the direction of its normal
 * @property {number[]} normal @property {number[]} friction  parts of the force on the second body [N]
 * @property {number} state  one of STATE @property {boolean} foot @property {boolean} [selected]
 * @property {string} pair  between which bodies it is
 */

const add = (a, b, factor = 1) => a.map((value, c) => value + factor * b[c]);
const sizeOf = (a) => Math.hypot(...a);
const forceOf = ({ normal, friction }) => sizeOf(add(normal, friction));

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
