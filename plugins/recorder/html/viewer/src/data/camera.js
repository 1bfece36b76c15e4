// SPDX-License-Identifier: Apache-2.0
// Blocks of kind `camera`: where the camera of the script was in the frames of the block before; and from where a box is seen.

import { Reader } from "./bytes.js";

const NUMBERS = 11;
const MARGIN = 1 / 12; // of half the width and height stays free

/**
 * What a picture is taken with, lengths in m, angles in rad.
 * @typedef {object} Shot
 * @property {number[]} middle @property {number[]} half  of the box that is to be seen
 * @property {number} azimuth @property {number} elevation @property {number} field_of_view
 * @property {number} distance @property {number} fitted  the part of the distance from which the box is seen, the rest is of `distance`
 */

/** @param {Uint8Array} payload @param {number} frameCount @returns {Float32Array} (NUMBERS x frames), NaN where there was no camera */
export function decodeCamera(payload, frameCount) {
  const reader = new Reader(payload);
  if (reader.u() !== frameCount) throw new Error("its camera is of other frames");
  const out = new Float32Array(NUMBERS * frameCount);
  for (let c = 0; c < NUMBERS; c++) out.set(new Float32Array(reader.planes(frameCount, 4)), c * frameCount);
  return out;
}

/** @param {import("./frames.js").Frames} frames @param {number} index @returns {number[] | null} */
function numbersOf({ camera, count }, index) {
  if (!camera) return null;
  const numbers = Array.from({ length: NUMBERS }, (_, c) => camera[c * count + index]);
  return numbers.every(Number.isFinite) ? numbers : null;
}

/** The shot of a moment, between its frames where both have one. @param {import("./recording.js").Moment} moment @returns {Shot | null} */
export function shotOf({ frames, index, next, nextIndex, fraction }) {
  const from = numbersOf(frames, index), to = numbersOf(next, nextIndex) ?? from;
  if (!from) return null;
  const [x, y, z, a, b, c, azimuth, elevation, field_of_view, distance, fitted] = from.map((value, k) => value + fraction * (to[k] - value));
  const turn = to[6] - from[6];
  return { middle: [x, y, z], half: [a, b, c], azimuth: from[6] + fraction * Math.atan2(Math.sin(turn), Math.cos(turn)), elevation, field_of_view, distance, fitted };
}

/** Right, up and back of a camera that stands at these angles, seen from its target. */
export function axesOf(azimuth, elevation) {
  const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
  return { right: [-sa, ca, 0], up: [-se * ca, -se * sa, ce], back: [ce * ca, ce * sa, se] };
}

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/**
 * The closest distance from the middle of a box at which all of its corners c are in the picture, less a margin:
 * max c . back + max(|c . right| / t_h, |c . up| / t_v), t: tangents of half the angles.
 * @param {number[]} half  edges @param {{ right: number[], up: number[], back: number[] }} axes
 * @param {number} fieldOfView  vertical [rad] @param {number} aspect  width / height
 */
export function distanceToSee(half, { right, up, back }, fieldOfView, aspect) {
  const vertical = (1 - MARGIN) * Math.tan(fieldOfView / 2), horizontal = aspect * vertical;
  const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => half.map((h, axis) => ((k >> axis) & 1 ? h : -h)));
  return Math.max(...corners.map((corner) => dot(corner, back) + Math.max(Math.abs(dot(corner, right)) / horizontal, Math.abs(dot(corner, up)) / vertical)));
}

/** @param {Shot} shot @param {number} aspect */
export function distanceOf(shot, aspect) {
  const { half, azimuth, elevation, field_of_view, distance, fitted } = shot;
  return distance + fitted * (distanceToSee(half, axesOf(azimuth, elevation), field_of_view, aspect) - distance);
}
