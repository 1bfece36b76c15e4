// SPDX-License-Identifier: Apache-2.0
// What is seen at a place of the canvas.

import * as THREE from "three";
import { contactsOf } from "../data/frames.js";

const NEAR = 9; // pixels around the point of a contact

/**
 * The contact whose point is seen there, else the body.
 * @param {import("./stage.js").Stage} stage @param {boolean} withContacts
 * @returns {{ view: import("./view.js").RecordingView, body: number, contact: number } | null}
 */
export function pickAt(stage, x, y, withContacts) {
  const at = stage.rayAt(x, y);
  if (!at) return null;
  for (const view of at.pane.views) {
    const contact = withContacts && !view.ghost ? contactAt(stage, view, x, y) : -1;
    if (contact >= 0) return { view, body: -1, contact };
  }
  const hits = at.pane.views.map((view) => ({ view, hit: view.bodies.pick(at.ray) })).filter(({ hit }) => hit);
  if (hits.length === 0) return null;
  const { view, hit } = hits.reduce((a, b) => (a.hit.distance <= b.hit.distance ? a : b));
  return { view, body: hit.item.body, contact: -1 };
}

function contactAt(stage, view, x, y) {
  if (!view.moment) return -1;
  const contacts = contactsOf(view.moment.frames, view.recording.scene.units);
  const start = contacts.start[view.moment.index];
  let best = -1, least = NEAR;
  const point = new THREE.Vector3();
  for (let k = start; k < contacts.start[view.moment.index + 1]; k++) {
    const seen = stage.project(point.fromArray(contacts.point, 3 * k), view);
    const distance = seen ? Math.hypot(seen.x - x, seen.y - y) : Infinity;
    if (distance < least) [best, least] = [k - start, distance];
  }
  return best;
}
