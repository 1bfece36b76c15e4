// SPDX-License-Identifier: Apache-2.0
// Numbers of nodes that are shown as colours: what elements tell, such as stress.

/** Numbers of nodes in consecutive frames, at the end of a block.
 * @param {import("./bytes.js").Reader} reader @param {number} frameCount @param {number} count  nodes that have one
 * @returns {{ values: Float32Array, low: number, high: number }}  values: (frames x count); low, high: the least and the largest
 */
export function decodeColors(reader, frameCount, count) {
  const unit = reader.f64();
  reader.expect(frameCount * count);
  const values = new Float32Array(frameCount * count);
  let low = Infinity, high = -Infinity;
  for (let k = 0; k < count; k++) {
    let value = 0;
    for (let f = 0; f < frameCount; f++) {
      value += reader.s();
      values[f * count + k] = value * unit;
      low = Math.min(low, value * unit);
      high = Math.max(high, value * unit);
    }
  }
  return { values, low, high };
}

/**
 * What the ends of the colours stand for, one pair for all recordings that show the same: as it was recorded, else the least and the largest
 * of what is read so far; the upper end moved by `scale`.
 * @param {{ scene: any, colorRange: number[] }[]} recordings @param {number} scale
 * @returns {Map<string, { unit: string, low: number, high: number, least: number, largest: number }>}  by name
 */
export function colorRanges(recordings, scale) {
  const ranges = new Map();
  for (const { scene, colorRange } of recordings) {
    if (!scene.colors || !(colorRange[0] <= colorRange[1])) continue;
    const { name, unit } = scene.colors, [low, high] = scene.colors.range ?? colorRange;
    const range = ranges.get(name) ?? { unit, low, high, least: colorRange[0], largest: colorRange[1] };
    ranges.set(name, {
      unit, low: Math.min(range.low, low), high: Math.max(range.high, high),
      least: Math.min(range.least, colorRange[0]), largest: Math.max(range.largest, colorRange[1]),
    });
  }
  for (const range of ranges.values()) {
    if (!(range.high > range.low)) range.high = range.low + Math.max(1e-6 * Math.abs(range.low), 1e-30);
    range.high = range.low + scale * (range.high - range.low);
  }
  return ranges;
}
