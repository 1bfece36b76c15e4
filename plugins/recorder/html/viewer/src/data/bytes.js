// SPDX-License-Identifier: Apache-2.0
// Reads the binary payloads of docs/recording.md.

/** A place in a payload that moves on as numbers are read. Reading past the end throws. */
export class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  /** An unsigned LEB128 varint of at most 53 bits. */
  u() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (this.at >= this.bytes.length) throw new Error("a payload ends inside of a number");
      const byte = this.bytes[this.at++];
      if (byte < 128) return value + byte * scale;
      value += (byte & 127) * scale;
    }
  }

  /** The zigzag of a signed varint. */
  s() {
    return unzigzag(this.u());
  }

  f64() {
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  f32() {
    this.at += 4;
    return this.view.getFloat32(this.at - 4, true);
  }

  /** The next `count` bytes, not copied. @returns {Uint8Array} */
  take(count) {
    if (this.at + count > this.bytes.length) throw new Error("a payload is shorter than it says");
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
