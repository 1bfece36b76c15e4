// SPDX-License-Identifier: Apache-2.0
// Colours. Those that carry meaning are told apart by colour-blind readers too: near those of Okabe and Ito (2008), of a
// lightness that is seen on white and on black.

import { Color } from "three";
import { cloudOf } from "../data/scene.js";

/** As in recorder/png. */
const ROBOTS = [
  [0.50, 0.71, 0.72], [0.55, 0.66, 0.76], [0.85, 0.70, 0.48], [0.58, 0.72, 0.58], [0.82, 0.60, 0.56], [0.68, 0.62, 0.78],
];
const UNPAINTED = [0.5, 0.5, 0.5, 1];

export const CONTACT_COLOURS = { stick: "#1878be", slip: "#e69f00", open: "#8a8f98", normal: "#009e73" };
export const AXIS_COLOURS = ["#d55e00", "#009e73", "#3b7dd8"];
export const SELECTION_COLOUR = "#cc79a7";
/** Of the edges of faces, seen on the dark and on the light end of the pressures. */
export const EDGE_COLOUR = "#9aa0a8";
/** Of recordings that are compared, and of lines in a plot. */
export const LINES = ["#2b8cd6", "#d55e00", "#009e73", "#c4649b", "#a97c00", "#7a6fd6"];

/** sRGB components to a colour. */
export function colourOf([red, green, blue]) {
  return new Color().setRGB(red, green, blue, "srgb");
}

const isPainted = (rgba) => rgba.some((value, k) => Math.abs(value - UNPAINTED[k]) > 1e-4);

/** The colour of a surface or of a shape on a node: its own, or that of its cloud, as in recorder/png. @param {number[]} rgba @param {number} node @param {any} scene */
export function nodeColour(rgba, node, scene) {
  const cloud = cloudOf(scene, node);
  return colourOf(isPainted(rgba) || cloud < 0 ? rgba : ROBOTS[(cloud + 2) % ROBOTS.length]);
}

/**
 * A geometry's own colour; what was left at the model's grey takes that of its robot, or of its body without one, or of its cloud of nodes.
 * @param {{ rgba?: number[], body?: number, node?: number }} geometry @param {any} scene
 */
export function geometryColour(geometry, scene) {
  const rgba = geometry.rgba ?? UNPAINTED, { bodies } = scene;
  const painted = isPainted(rgba);
  const body = geometry.body ?? 0;
  if (geometry.node >= 0) return nodeColour(rgba, geometry.node, scene);
  if (painted || body === 0) return colourOf(rgba);
  return colourOf(ROBOTS[(bodies[body].robot ?? body) % ROBOTS.length]);
}

/** The map "viridis" at nine places, sRGB: equal steps of pressure look like equal steps. */
const VIRIDIS = ["#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"]
  .map((hex) => new Color(hex));

/** @param {number} part  0 ... 1 @param {Color} out */
export function pressureColour(part, out) {
  const at = Math.min(Math.max(part, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return out.lerpColors(VIRIDIS[low], VIRIDIS[low + 1], at - low);
}

/** The colour of a number in a range. @param {number} value @param {{ low: number, high: number }} range @param {Color} out */
export function valueColour(value, { low, high }, out) {
  return pressureColour((value - low) / (high - low), out);
}

export const PRESSURE_GRADIENT = `linear-gradient(90deg, ${VIRIDIS.map((c) => `#${c.getHexString()}`).join(", ")})`;
