// SPDX-License-Identifier: Apache-2.0
// Reads the binary payloads of docs/recording.md.

const LARGEST_SCALE = 2 ** 49; // of the eighth byte of a varint

/** A place in a payload that moves on as numbers are read. Reading past the end throws. */
export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  get ended() {
    return this.at >= this.bytes.length;
  }

  /** An unsigned LEB128 varint of at most 53 bits. */
  u() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (this.at >= this.bytes.length) throw new Error("it ends inside of a number");
      if (scale > LARGEST_SCALE) throw new Error("a number in it has more than 53 bits");
      const byte = this.bytes[this.at++];
      if (byte < 128) return value + byte * scale;
      value += (byte & 127) * scale;
    }
  }

  /** How many things follow, of which each takes `bytes` or more: what cannot be there is not asked memory for. */
  count(bytes = 1) {
    const count = this.u();
    this.expect(count * bytes);
    return count;
  }

  /** Throws unless so many bytes follow. */
  expect(bytes) {
    if (this.at + bytes > this.bytes.length) throw new Error("it is shorter than it says");
  }

  /** The zigzag of a signed varint. */
  s() {
    return unzigzag(this.u());
  }

  f64() {
    this.expect(8);
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  f32() {
    this.expect(4);
    this.at += 4;
    return this.view.getFloat32(this.at - 4, true);
  }

  /** The next `count` bytes, not copied. @returns {Uint8Array} */
  take(count) {
    this.expect(count);
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  /** Bytes that stand behind their number. */
  sized() {
    return this.take(this.u());
  }

  text() {
    return new TextDecoder().decode(this.sized());
  }

  /** `count` numbers of `width` bytes, kept as planes: first bytes, second bytes, ... @returns {ArrayBuffer} */
  planes(count, width) {
    const planes = this.take(count * width);
    const out = new Uint8Array(count * width);
    for (let plane = 0; plane < width; plane++) {
      for (let k = 0; k < count; k++) out[k * width + plane] = planes[plane * count + k];
    }
    return out.buffer;
  }
}

/** 0, 1, 2, 3, ... -> 0, -1, 1, -2, ... @param {number} z */
export function unzigzag(z) {
  return z % 2 ? -(z + 1) / 2 : z / 2;
}

/** The same numbers; throws when one is not finite. @template {Float64Array} T @param {T} numbers @returns {T} */
export function finite(numbers) {
  if (!numbers.every(Number.isFinite)) throw new Error("a number in it is not finite");
  return numbers;
}

const LATEST = 1e9; // [s]; an axis of plots cannot be divided where a step of time is below rounding

/** The same times; throws when one cannot be. @param {Float64Array} times */
export function plausible(times) {
  if (!times.every((t) => Math.abs(t) <= LATEST)) throw new Error("a time in it cannot be");
  return times;
}
