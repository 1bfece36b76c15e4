// SPDX-License-Identifier: Apache-2.0
// Small recordings with known numbers.

import { readFileSync } from "node:fs";
import * as encode from "./encode.js";

export const FRAME_TIME = 0.1;

/** Frames of a box that falls and turns and of a ball that rolls; three nodes that sway. */
export function falling(count) {
  return Array.from({ length: count }, (_, f) => {
    const t = f * FRAME_TIME, angle = 0.3 * f;
    return {
      step: 10 * f, time: t,
      bodies: [
        [0.25, -0.5, 2 - 0.2 * f, Math.cos(angle / 2), 0, 0, Math.sin(angle / 2), 0, 0, -2, 0, 0, 3],
        [-1 + 0.3 * f, 0, 0.2, 1, 0, 0, 0, 3, 0, 0, 0, 15, 0],
      ],
      nodes: [[0, 1, 0.5 + 0.01 * f], [0.3, 1, 0.5], [0, 1.3, 0.5 - 0.01 * f]],
    };
  });
}

export function scene(changes = {}) {
  const shape = (name, body, type, more) => ({ name, body, type, pose: [0, 0, 0, 1, 0, 0, 0], collision: true, visual: true, mu: 0.5, ...more });
  return {
    format: "stiction-recording-1", title: "falling", stiction: "0.1.0", dt: 0.01, frame_rate: 10, parameters: "solver = sap\n",
    units: encode.UNITS, mesh_count: 0, robots: [{ name: "toys" }],
    bodies: [{ name: "world" }, { name: "box", robot: 0, mass: 1 }, { name: "ball", robot: 0, mass: 2 }],
    geometries: [
      shape("floor", 0, "half_space", { rgba: [0.5, 0.5, 0.5, 1] }),
      shape("box", 1, "box", { half_extents: [0.3, 0.3, 0.3], rgba: [1, 0, 0, 1] }),
      shape("ball", 2, "sphere", { radius: 0.2, rgba: [0, 0, 1, 1] }),
    ],
    node_count: 3, surfaces: [{ name: "cloth", first_node: 0, node_count: 3, triangles: [0, 1, 2] }], ...changes,
  };
}

/** The viewer's part of a page that stiction wrote. @param {string} path */
export function viewerOf(path) {
  const page = readFileSync(path, "utf8");
  return page.slice(0, page.indexOf('<script type="application/x-stiction"'));
}

/** The blocks of a recording of `count` frames. */
export function blocks(count, changes = {}) {
  const points = Array.from({ length: 10 * count }, (_, k) => ({ step: k, time: 0.01 * k }));
  const column = (name, unit, value) => ({ name, unit, values: points.map((_, k) => value(k)) });
  const series = encode.series(points, [
    column("contacts", "", (k) => k % 5), column("iterations", "", () => 3), column("momentum", "", (k) => (k % 7) * 1e-9),
    column("kinetic_J", "J", (k) => k), column("potential_J", "J", (k) => -k), column("elastic_J", "J", () => 0), column("height", "m", (k) => 0.01 * k),
  ]);
  return [
    encode.block("scene", scene(changes)), encode.block("frames", encode.frames(falling(count), encode.UNITS)),
    encode.block("series", series), encode.block("end", { steps: 10 * count, frames: count, time: (count - 1) * FRAME_TIME }),
  ];
}
