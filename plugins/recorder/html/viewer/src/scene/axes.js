// SPDX-License-Identifier: Apache-2.0
// Frames of the bodies: x, y, z as arrows.

import * as THREE from "three";
import { along, coneGeometry, Copies, shaftGeometry } from "./arrows.js";
import { AXIS_COLOURS } from "./palette.js";

const COLOURS = AXIS_COLOURS.map((hex) => new THREE.Color(hex));

export class Axes {
  /** @param {number} size  radius of the scene [m] */
  constructor(size) {
    this.length = 0.09 * size;
    this.root = new THREE.Group();
    this.shafts = new Copies(shaftGeometry());
    this.tips = new Copies(coneGeometry());
    this.root.add(this.shafts.root, this.tips.root);
  }

  /** @param {THREE.Matrix4[]} poses @param {(body: number) => boolean} shown */
  show(poses, shown) {
    this.shafts.clear();
    this.tips.clear();
    const origin = new THREE.Vector3(), axis = new THREE.Vector3();
    poses.forEach((pose, body) => {
      if (!shown(body)) return;
      origin.setFromMatrixPosition(pose);
      for (let c = 0; c < 3; c++) {
        axis.setFromMatrixColumn(pose, c);
        const width = 0.022 * this.length;
        this.shafts.add(along(origin, axis, 0, width, 0.85 * this.length), COLOURS[c]);
        this.tips.add(along(origin, axis, 0.85 * this.length, 2.6 * width, 0.15 * this.length), COLOURS[c]);
      }
    });
    this.shafts.show();
    this.tips.show();
  }
}
