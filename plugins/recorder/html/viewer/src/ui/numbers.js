// SPDX-License-Identifier: Apache-2.0
// Numbers for people.

const PREFIXES = { "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G" };

export function short(value, digits = 4) {
  if (value == null || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace("e+", "e").replace("-", "−").replace("e-", "e−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** With its unit and a prefix: 0.0032 m is 3.2 mm. */
export function withUnit(value, unit, digits = 4) {
  if (!unit || unit === "1" || !Number.isFinite(value) || value === 0) return `${short(value, digits)}${unit && unit !== "1" ? ` ${unit}` : ""}`;
  const power = Math.min(9, Math.max(-9, 3 * Math.floor(Math.log10(Math.abs(value)) / 3)));
  return `${short(value / 10 ** power, digits)} ${PREFIXES[power]}${unit}`;
}

/** Seconds with as many places as frames need. */
export function seconds(t) {
  return t.toFixed(3);
}

/** (x, y, z) */
export function vector(values, digits = 4) {
  return Array.from(values, (value) => value.toFixed(digits).replace("-", "−").replace(/^−(0\.?0*)$/, "$1")).join(" ");
}
