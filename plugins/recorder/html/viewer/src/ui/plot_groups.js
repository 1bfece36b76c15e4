// SPDX-License-Identifier: Apache-2.0
// Which series are drawn together, and how.

/**
 * A plot: lines of one unit.
 * @typedef {object} Group
 * @property {string} key @property {string} title @property {string} unit @property {boolean} [log]
 * @property {boolean} [whole]  counts: no fractions at the axis
 * @property {{ label: string, of: string[] }[]} lines  each the sum of series; of several recordings the first alone is drawn
 * @property {boolean} shown  at first
 */

const SIGNALS_SHOWN = 12; // at first; a page that draws a thousand plots moves no more

/** @type {Group[]} */
const STANDARD = [
  { key: "contacts", title: "Contacts", unit: "", whole: true, shown: true, 
    lines: [{ label: "all", of: ["contacts"] }, { label: "slip", of: ["slipping"] }] },
  { key: "iterations", title: "Iterations", unit: "", whole: true, shown: true, lines: [{ label: "iterations", of: ["iterations"] }] },
  { key: "momentum", title: "Momentum error", unit: "", log: true, shown: true, lines: [{ label: "error", of: ["momentum"] }] },
  {
    key: "energy", title: "Energy", unit: "J", shown: true,
    lines: [
      { label: "sum", of: ["kinetic_J", "potential_J", "elastic_J"] }, { label: "kin.", of: ["kinetic_J"] },
      { label: "pot.", of: ["potential_J"] }, { label: "el.", of: ["elastic_J"] },
    ],
  },
  { key: "slip", title: "Slip speed", unit: "m/s", shown: false, lines: [{ label: "fastest", of: ["slip_speed_m/s"] }] },
  { key: "penetration", title: "Penetration", unit: "m", shown: false, lines: [{ label: "deepest", of: ["penetration_m"] }] },
  { key: "overlap", title: "Overlap", unit: "m", shown: false, lines: [{ label: "deepest", of: ["overlap_m"] }] },
  { key: "step_time", title: "Step time", unit: "µs", shown: false, lines: [{ label: "step", of: ["step_us"] }] },
];

/**
 * The groups that the recordings have something for, the signals of scripts last.
 * @param {import("../data/series.js").Series[]} all @returns {Group[]}
 */
export function groupsOf(all) {
  const units = new Map(all.flatMap((series) => [...series.columns].map(([name, { unit }]) => [name, unit])));
  const standard = STANDARD.map((group) => ({ ...group, lines: group.lines.filter(({ of }) => of.some((name) => units.has(name))) }))
    .filter((group) => group.lines.length > 0);
  const known = new Set(STANDARD.flatMap((group) => group.lines.flatMap(({ of }) => of)));
  const signals = [...units].filter(([name]) => !known.has(name));
  return [...standard, ...signals.map(([name, unit], k) => ({
    key: `signal ${name}`, title: name, unit, shown: k < SIGNALS_SHOWN, lines: [{ label: name, of: [name] }],
  }))];
}

/** The sum of series; those that a recording does not have count 0, without any there is no value. */
export function lineOf(series, names) {
  const columns = names.map((name) => series.columns.get(name)?.values).filter(Boolean);
  if (columns.length === 1) return columns[0];
  return Float32Array.from(series.time, (_, k) => (columns.length ? columns.reduce((sum, values) => sum + values[k], 0) : NaN));
}
