// SPDX-License-Identifier: Apache-2.0
// What is seen at a place of the canvas.

import * as THREE from "three";
import { contactsOf, patchesOf } from "../data/frames.js";
import { keyOf, reportOf } from "../data/patch_report.js";
import { cloudOf } from "../data/scene.js";

const NONE = { body: -1, cloud: -1, node: -1, contact: -1, patch: "" };
const NEAR = 9; // pixels around the point of a contact

/**
 * The contact whose point, or the patch whose center of pressure is seen there, else the body or the nearest node of a soft body.
 * @param {import("./stage.js").Stage} stage @param {boolean} withContacts @param {boolean} withFaces  these instead of patches
 * @returns {{ view: import("./view.js").RecordingView, body: number, cloud: number, node: number, contact: number, patch: string } | null}
 */
export function pickAt(stage, x, y, withContacts, withFaces) {
  const at = stage.rayAt(x, y);
  if (!at) return null;
  for (const view of at.pane.views) {
    const mark = withContacts && !view.ghost ? markAt(stage, view, x, y, withFaces) : null;
    if (mark) return { view, ...NONE, ...mark };
  }
  const hits = at.pane.views.flatMap((view) => [view.bodies, view.surfaces].map((part) => ({ view, hit: part.pick(at.ray) }))).filter(({ hit }) => hit);
  if (hits.length === 0) return null;
  const { view, hit } = hits.reduce((a, b) => (a.hit.distance <= b.hit.distance ? a : b));
  return hit.node < 0 ? { view, ...NONE, body: hit.body } : { view, ...NONE, cloud: cloudOf(view.recording.scene, hit.node), node: hit.node };
}

function markAt(stage, view, x, y, withFaces) {
  if (!view.moment) return null;
  const { frames, index } = view.moment, { units } = view.recording.scene;
  const contacts = contactsOf(frames, units), patches = patchesOf(frames, units);
  let best = null, least = NEAR;
  const point = new THREE.Vector3();
  const offer = (coordinates, mark) => {
    const seen = stage.project(point.fromArray(coordinates), view);
    const distance = seen ? Math.hypot(seen.x - x, seen.y - y) : Infinity;
    if (distance < least) [best, least] = [mark(), distance];
  };
  const start = contacts.start[index];
  for (let k = start; k < contacts.start[index + 1]; k++) {
    if (withFaces || !contacts.inPatch[k]) offer(contacts.point.subarray(3 * k), () => ({ contact: k - start, patch: "" }));
  }
  for (let p = patches.first[index]; p < patches.first[index + 1] && !withFaces; p++) {
    offer(reportOf(contacts, patches, p).center, () => ({ contact: -1, patch: keyOf(contacts, patches, index, p) }));
  }
  return best;
}
