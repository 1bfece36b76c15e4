// SPDX-License-Identifier: Apache-2.0
// The block `scene`: what the page relies on is looked at once, so that a damaged one is a sentence and not a blank page.

export const FORMAT = "stiction-recording-1";
const MOST_NODES = 1e7;

const isCount = (value, end) => Number.isInteger(value) && value >= 0 && value < end;
const areNumbers = (values, count) => Array.isArray(values) && values.length === count && values.every(Number.isFinite);

/** Numbers that a shape's type cannot do without. */
const SIZES = {
  sphere: (g) => g.radius > 0,
  box: (g) => areNumbers(g.half_extents, 3),
  ellipsoid: (g) => areNumbers(g.half_extents, 3),
  capsule: (g) => g.radius > 0 && g.half_length >= 0,
  cylinder: (g) => g.radius > 0 && g.half_length >= 0,
};

function checkGeometry(g, scene, nodeCount) {
  const placed = g.node === undefined || g.node < 0 ? isCount(g.body ?? 0, scene.bodies.length) : isCount(g.node, nodeCount);
  return placed && (g.pose === undefined || areNumbers(g.pose, 7)) && (g.rgba === undefined || areNumbers(g.rgba, 4)) &&
    (SIZES[g.type]?.(g) ?? true);
}

function checkSurface(surface, nodeCount) {
  const { first_node: first, node_count: count, triangles } = surface;
  return isCount(first, nodeCount + 1) && isCount(count, nodeCount - first + 1) && Array.isArray(triangles) &&
    triangles.every((vertex) => isCount(vertex, count));
}

/** One behind the other. */
function areClouds(clouds, nodeCount) {
  let from = 0;
  return Array.isArray(clouds) && clouds.every((cloud) => {
    const good = typeof cloud?.name === "string" && cloud.first_node === from && isCount(cloud.node_count, nodeCount - from + 1);
    from += cloud?.node_count;
    return good;
  });
}

function checkColors({ name, unit, range, nodes }, nodeCount) {
  return typeof name === "string" && typeof unit === "string" && (range === undefined || (areNumbers(range, 2) && range[0] < range[1])) &&
    Array.isArray(nodes) && nodes.every((node) => isCount(node, nodeCount));
}

/** What of a scene is not as it must be; null: nothing. */
function flawOf(scene) {
  const nodeCount = scene.node_count ?? 0;
  const units = ["length", "rotation", "velocity", "angular_velocity", "force", "normal"];
  if (!units.every((name) => scene.units?.[name] > 0) || !((scene.units.pressure ?? 1) > 0)) return "its units";
  if (!Array.isArray(scene.bodies) || scene.bodies.length === 0 || !scene.bodies.every((body) => body?.name !== undefined)) return "its bodies";
  if (!isCount(nodeCount, MOST_NODES)) return "its number of nodes";
  if (!Array.isArray(scene.geometries)) return "its shapes";
  const shape = scene.geometries.findIndex((g) => !(g && checkGeometry(g, scene, nodeCount)));
  if (shape >= 0) return `its shape ${shape}`;
  if (!(Array.isArray(scene.constraints ?? []) && (scene.constraints ?? []).every((constraint) => typeof constraint?.plugin === "string"))) return "its constraints";
  if (!(scene.surfaces ?? []).every((surface) => checkSurface(surface, nodeCount))) return "its surfaces";
  if (!areClouds(scene.clouds ?? [], nodeCount)) return "its clouds of nodes";
  if (scene.colors !== undefined && !checkColors(scene.colors ?? {}, nodeCount)) return "its colors";
  return null;
}

/** Throws a sentence when a scene cannot be shown. @param {any} scene */
export function checkScene(scene) {
  if (scene?.format !== FORMAT) {
    throw new Error(`This page holds a recording of format "${scene?.format}", but its viewer reads "${FORMAT}": ` +
      "record it again, or open it with the stiction it was made by.");
  }
  const flaw = flawOf(scene);
  if (flaw) throw new Error(`The scene of this recording is damaged: ${flaw}`);
}

/** Number of the cloud that a node belongs to; -1: of none that the scene tells of. @param {any} scene @param {number} node */
export function cloudOf(scene, node) {
  return (scene.clouds ?? []).findIndex(({ first_node: first, node_count: count }) => node >= first && node < first + count);
}
