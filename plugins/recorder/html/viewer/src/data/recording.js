// SPDX-License-Identifier: Apache-2.0
// One recording: its scene and meshes at once, its frames and series as they are decoded.

import { inflate, inflateJson } from "./blocks.js";
import { plausible } from "./bytes.js";
import { decodeCamera } from "./camera.js";
import { decodeFrames } from "./frames.js";
import { decodeMesh } from "./meshes.js";
import { checkScene } from "./scene.js";
import { decodeSeries, indexAt, joinSeries } from "./series.js";

const DECODED_BYTES = 256e6; // of frames that are kept decoded

/**
 * @typedef {object} Moment  where a time lies: in `frames` at `index`, and `fraction` of the way to `nextIndex` of `next`
 * @property {import("./frames.js").Frames} frames @property {number} index
 * @property {import("./frames.js").Frames} next @property {number} nextIndex
 * @property {number} fraction
 */

export class Recording {
  /** @param {import("./blocks.js").Block[]} blocks  the first is the scene */
  static async open(blocks) {
    const scene = await inflateJson(blocks[0]).catch((error) => {
      throw new Error(`The scene of this recording is damaged: ${error.message}`);
    });
    checkScene(scene);
    const of = (kind) => blocks.filter((block) => block.kind === kind);
    blocks.forEach((block, k) => {
      if (block.kind === "camera" && blocks[k - 1].kind === "frames") blocks[k - 1].camera = block;
    });
    const recording = new Recording(scene, of("frames"), of("series"));
    recording.cutOff = of("end").length === 0;
    await recording.#readEnd(of("end")[0]);
    await recording.#readCaptions(of("caption"));
    recording.meshes = await Promise.all(of("mesh").map((block, k) => recording.#readMesh(block, k)));
    await recording.extend();
    return recording;
  }

  constructor(scene, frameBlocks, seriesBlocks) {
    this.scene = scene;
    this.title = scene.title || "recording";
    /** @type {import("./meshes.js").Mesh[]} */
    this.meshes = [];
    /** @type {import("./series.js").Series} */
    this.series = { time: new Float64Array(0), columns: new Map(), offsets: [] };
    /** What the last block says; null: there is none that can be read, or the frames end before. @type {{ steps: number, time: number } | null} */
    this.end = null;
    /** The run was killed, or the file was cut. */
    this.cutOff = true;
    /** What of the file cannot be read, in the order in which it was found. @type {string[]} */
    this.damage = [];
    this.onDamage = () => {};
    /** What the script said, and from which frame on. @type {{ frame: number, text: string }[]} */
    this.captions = [];
    /** Did the script place a camera? */
    this.hasCamera = frameBlocks.some((block) => block.camera);
    this.frameBlocks = frameBlocks;
    this.seriesBlocks = seriesBlocks;
    /**
     * Blocks of frames whose times are known; offset: by how much these were moved.
     * @type {{ first: number, offset: number, time: Float64Array, frames: any, loading: any, used: number }[]}
     */
    this.chunks = [];
    this.resets = 0;
    this.decodedBytes = 0;
    this.decodedLimit = DECODED_BYTES;
    /** What the last moment lies in, which stays decoded: two blocks that do not fit would push each other out for ever. */
    this.shown = [];
    this.clock = 0;
    this.shape = {
      units: scene.units, bodyCount: scene.bodies.length - 1, nodeCount: scene.node_count ?? 0,
      geometryCount: scene.geometries.length, constraintCount: scene.constraints?.length ?? 0,
      turningCount: (scene.clouds ?? []).reduce((sum, cloud) => sum + (cloud.turns ? cloud.node_count : 0), 0), coloredCount: scene.colors?.nodes.length ?? 0,
    };
    /** The least and the largest number of a colour in what is read. */
    this.colorRange = [Infinity, -Infinity];
  }

  #note(what) {
    if (this.damage.includes(what)) return;
    this.damage.push(what);
    this.onDamage();
  }

  async #readEnd(block) {
    if (!block) return;
    try {
      const end = await inflateJson(block);
      if (!Number.isFinite(end?.steps)) throw new Error("it is no end");
      plausible(Float64Array.of(end.time));
      this.end = end;
    } catch (error) {
      this.#note(`the block of its end is damaged (${error.message})`);
    }
  }

  async #readCaptions(blocks) {
    try {
      for (const block of blocks) {
        const { frame, text } = await inflateJson(block);
        if (!Number.isInteger(frame) || frame < 0 || typeof text !== "string") throw new Error("it is no caption");
        this.captions.push({ frame, text });
      }
    } catch (error) {
      this.#note(`a caption is damaged (${error.message})`);
    }
  }

  /** Without it nothing is drawn in its place. */
  async #readMesh(block, number) {
    try {
      return decodeMesh(await inflate(block));
    } catch (error) {
      this.#note(`mesh ${number} is damaged and not drawn (${error.message})`);
      return undefined;
    }
  }

  get complete() {
    return this.chunks.length === this.frameBlocks.length;
  }

  get frameCount() {
    const last = this.chunks.at(-1);
    return last ? last.first + last.time.length : 0;
  }

  /** The last block of frames, which stays decoded as it is read. @type {import("./frames.js").Frames | undefined} */
  get lastFrames() {
    return this.chunks.at(-1)?.frames;
  }

  /** Time of the last frame that is known [s]. */
  get lastTime() {
    return this.chunks.at(-1)?.time.at(-1) ?? 0;
  }

  /** What the script said of a time; "": nothing. */
  captionAt(t) {
    const frame = this.frameAt(t);
    return this.captions.findLast((caption) => caption.frame <= frame)?.text ?? "";
  }

  async #decode(block) {
    const frames = decodeFrames(await inflate(block), this.shape);
    frames.camera = null;
    if (!block.camera) return frames;
    try {
      frames.camera = decodeCamera(await inflate(block.camera), frames.count);
    } catch (error) {
      this.#note(`the camera at t = ${frames.time[0].toFixed(3)} s is damaged (${error.message})`);
    }
    return frames;
  }

  /** Decodes the next block of frames. */
  async extend() {
    if (this.complete) return;
    const block = this.frameBlocks[this.chunks.length];
    const first = this.frameCount;
    try {
      const frames = await this.#decode(block);
      const offset = this.#offsetOf(frames.time[0]);
      const chunk = { first, offset, time: frames.time, frames: null, loading: null, used: 0 };
      this.chunks.push(chunk);
      this.colorRange = [Math.min(this.colorRange[0], frames.low), Math.max(this.colorRange[1], frames.high)];
      this.#keep(chunk, frames);
    } catch (error) {
      this.#note(`the frames after t = ${this.lastTime.toFixed(3)} s are damaged (${error.message})`);
      this.frameBlocks.length = this.chunks.length;
      this.end = null;
    }
  }

  /** By how much the times of the next block are moved: after a reset of the world as much as those of the series. */
  #offsetOf(time) {
    const last = this.chunks.at(-1);
    if (!last) return 0;
    if (time >= this.lastTime - last.offset) return last.offset;
    return this.series.offsets[this.resets++] ?? this.lastTime - time;
  }

  async loadSeries() {
    const blocks = [];
    try {
      for (const block of this.seriesBlocks) blocks.push(decodeSeries(await inflate(block)));
    } catch (error) {
      const last = blocks.at(-1)?.time.at(-1);
      this.#note(`the plots ${last === undefined ? "" : `after t = ${last.toFixed(3)} s `}are damaged (${error.message})`);
    }
    this.series = joinSeries(blocks);
  }

  /** Time of a frame [s]. */
  timeOf(frame) {
    const chunk = this.chunks[this.#chunkOf(frame)];
    return chunk ? chunk.time[Math.min(frame - chunk.first, chunk.time.length - 1)] : 0;
  }

  /** The last frame at or before t; the first when there is none. */
  frameAt(t) {
    const k = Math.max(0, this.chunks.findLastIndex((chunk) => chunk.time[0] <= t));
    const chunk = this.chunks[k];
    if (!chunk) return 0;
    const at = indexAt(chunk.time, t);
    return chunk.first + Math.max(0, chunk.time[at] === t ? at : at - 1);
  }

  /**
   * What is shown at t; null while its frames are being decoded, which `onLoaded` reports.
   * @param {number} t @param {() => void} onLoaded @returns {Moment | null}
   */
  momentAt(t, onLoaded) {
    const frame = this.frameAt(t);
    const k = this.#chunkOf(frame);
    this.shown = [this.chunks[k], this.chunks[k + 1]];
    const frames = this.#decoded(k, onLoaded);
    if (!frames) return null;
    const index = frame - this.chunks[k].first;
    const inside = index + 1 < frames.count;
    const next = inside ? frames : this.#decoded(k + 1, onLoaded);
    if (!next) return { frames, index, next: frames, nextIndex: index, fraction: 0 };
    const nextIndex = inside ? index + 1 : 0;
    const span = next.time[nextIndex] - frames.time[index];
    const fraction = span > 0 ? Math.min(Math.max((t - frames.time[index]) / span, 0), 1) : 0;
    return { frames, index, next, nextIndex, fraction };
  }

  #chunkOf(frame) {
    return this.chunks.findLastIndex((chunk) => chunk.first <= frame);
  }

  #decoded(k, onLoaded) {
    const chunk = this.chunks[k];
    if (!chunk) return null;
    chunk.used = ++this.clock;
    if (!chunk.frames && !chunk.loading) {
      chunk.loading = this.#decode(this.frameBlocks[k]).then((read) => {
        chunk.loading = null;
        this.#keep(chunk, read);
        onLoaded();
      });
    }
    return chunk.frames;
  }

  /** Keeps frames, and lets go of those that were not used for the longest time. */
  #keep(chunk, frames) {
    frames.time = frames.time.map((t) => t + chunk.offset);
    frames.onDamage = (error) => this.#note(`contacts from t = ${frames.time[0].toFixed(3)} s on are damaged (${error.message})`);
    chunk.time = frames.time;
    const size = (f) => f.bodies.byteLength + f.nodes.byteLength + f.turns.byteLength + (f.values?.byteLength ?? 0) + 8 * (f.contactBytes.length + f.patchBytes.length + f.lineBytes.length);
    chunk.frames = frames;
    chunk.used = ++this.clock;
    this.decodedBytes += size(frames);
    while (this.decodedBytes > this.decodedLimit) {
      const kept = this.chunks.filter((other) => other.frames && other !== chunk && other.first > 0 && !this.shown.includes(other));
      if (kept.length === 0) return;
      const oldest = kept.reduce((a, b) => (a.used < b.used ? a : b));
      this.decodedBytes -= size(oldest.frames);
      oldest.frames = null;
    }
  }
}
