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
      { label: "sum", of: ["kinetic_J", "potential_J", "elastic_J", "contact_J"] }, { label: "kin.", of: ["kinetic_J"] },
      { label: "pot.", of: ["potential_J"] }, { label: "el.", of: ["elastic_J"] }, { label: "cont.", of: ["contact_J"] },
    ],
  },
  { key: "slip", title: "Slip speed", unit: "m/s", shown: false, lines: [{ label: "fastest", of: ["slip_speed_m/s"] }] },
  { key: "penetration", title: "Penetration", unit: "m", shown: false, lines: [{ label: "deepest", of: ["penetration_m"] }] },
  { key: "overlap", title: "Overlap", unit: "m", shown: false, lines: [{ label: "deepest", of: ["overlap_m"] }] },
  { key: "step_time", title: "Step time", unit: "µs", shown: false, lines: [{ label: "step", of: ["step_us"] }] },
];

/** What world:log writes of a pair's patch, as patch[a|b].PART: a few plots instead of one a column. */
const PATCH_SIGNAL = /^(patch\[.*\])\.([^.]+)$/;
const xyz = (before, after) => ["x", "y", "z"].map((axis) => [axis, `${before}_${axis}_${after}`]);
const PATCH = [
  { title: "force", unit: "N", shown: true, parts: [["normal", "normal_N"], ["friction", "friction_N"]] },
  { title: "pressure", unit: "Pa", shown: true, parts: [["largest", "max_pressure_Pa"], ["mean", "mean_pressure_Pa"]] },
  { title: "faces", unit: "", whole: true, shown: true, parts: [["all", "faces"], ["stick", "sticking"], ["slip", "slipping"]] },
  { title: "area", unit: "m²", shown: false, parts: [["area", "area_m2"]] },
  { title: "force on b", unit: "N", shown: false, parts: xyz("force", "N") },
  { title: "torque on b", unit: "N m", shown: false, parts: xyz("torque", "Nm") },
  { title: "center", unit: "m", shown: false, parts: xyz("center", "m") },
  { title: "slip speed", unit: "m/s", shown: false, parts: [["fastest", "slip_speed_m/s"]] },
  { title: "glide gap", unit: "m", shown: false, parts: [["largest", "glide_gap_m"]] },
  { title: "stored energy", unit: "J", shown: false, parts: [["elastic", "elastic_J"]] },
];

/** Plots of the patches that there are signals of. @param {string[]} names @returns {Group[]} */
function patchGroups(names) {
  const known = new Set(names);
  const pairs = new Set(names.map((name) => PATCH_SIGNAL.exec(name)?.[1]).filter(Boolean));
  return [...pairs].flatMap((pair) => PATCH.map(({ title, parts, ...group }) => ({
    ...group, key: `${pair} ${title}`, title: `${pair.slice("patch[".length, -1)} ${title}`,
    lines: parts.map(([label, part]) => ({ label, of: [`${pair}.${part}`] })).filter(({ of }) => known.has(of[0])),
  }))).filter((group) => group.lines.length > 0);
}

/**
 * The groups that the recordings have something for, the signals of scripts last.
 * @param {import("../data/series.js").Series[]} all @returns {Group[]}
 */
export function groupsOf(all) {
  const units = new Map(all.flatMap((series) => [...series.columns].map(([name, { unit }]) => [name, unit])));
  const standard = STANDARD.map((group) => ({ ...group, lines: group.lines.filter(({ of }) => of.some((name) => units.has(name))) }))
    .filter((group) => group.lines.length > 0);
  const known = new Set(STANDARD.flatMap((group) => group.lines.flatMap(({ of }) => of)));
  const unknown = [...units].filter(([name]) => !known.has(name));
  const patches = patchGroups(unknown.map(([name]) => name));
  const grouped = new Set(patches.flatMap((group) => group.lines.flatMap(({ of }) => of)));
  const signals = unknown.filter(([name]) => !grouped.has(name));
  return [...standard, ...patches, ...signals.map(([name, unit], k) => ({
    key: `signal ${name}`, title: name, unit, shown: k < SIGNALS_SHOWN, lines: [{ label: name, of: [name] }],
  }))];
}

/** The sum of series; those that a recording does not have count 0, without any there is no value. */
export function lineOf(series, names) {
  const columns = names.map((name) => series.columns.get(name)?.values).filter(Boolean);
  if (columns.length === 1) return columns[0];
  return Float32Array.from(series.time, (_, k) => (columns.length ? columns.reduce((sum, values) => sum + values[k], 0) : NaN));
}
