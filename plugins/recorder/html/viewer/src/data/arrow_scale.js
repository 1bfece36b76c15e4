// SPDX-License-Identifier: Apache-2.0
// How long arrows of forces are, so that those of a light cube alone and those of a heavy pile can be read.

const GRAVITY = 9.81; // [m/s^2]

/**
 * Of the arrow of a typical force [m]: about as long as a body, if that is seen in the scene.
 * @param {number} bodyRadius  of a typical body, 0: there is none @param {number} sceneRadius
 */
export function typicalLength(bodyRadius, sceneRadius) {
  if (!(bodyRadius > 0)) return sceneRadius / 6;
  return Math.min(Math.max(0.7 * bodyRadius, sceneRadius / 60), sceneRadius / 2);
}

/** The middle one; undefined when there is none. @param {Iterable<number>} values */
export function median(values) {
  return quantile(values, 0.5);
}

/** Weight of the median body [N], before any force is known. @param {{ bodies: { mass?: number }[] }} scene */
export function typicalWeight(scene) {
  return GRAVITY * (median(scene.bodies.map((body) => body.mass ?? 0).filter((mass) => mass > 0)) ?? 1);
}

/** The number that a part of them does not exceed; undefined when there is none. @param {Iterable<number>} values @param {number} part  0 ... 1 */
export function quantile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)];
}

/**
 * Arrows' length of a newton [m/N]: that of the median force is `length`, unless one of the larger forces, which nine of ten do not exceed, would be
 * longer than twice that; undefined without forces.
 * @param {number[]} sizes  of forces [N] @param {number} length [m]
 */
export function arrowScaleOf(sizes, length) {
  return sizes.length > 0 ? Math.min(length / median(sizes), (2 * length) / quantile(sizes, 0.9)) : undefined;
}
