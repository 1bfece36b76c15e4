// SPDX-License-Identifier: Apache-2.0
// Reads the screenshots: PNG of 8 bits a channel without interlacing.

import { inflateSync } from "node:zlib";

/** @param {Buffer} file @returns {{ width: number, height: number, at: (x: number, y: number) => number[] }} at: red, green, blue */
export function readPng(file) {
  const width = file.readUInt32BE(16), height = file.readUInt32BE(20), channels = file[25] === 6 ? 4 : 3;
  const data = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    if (file.toString("latin1", at + 4, at + 8) === "IDAT") data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  }
  const rows = unfilter(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  const at = (x, y) => [...rows.subarray((Math.round(y) * width + Math.round(x)) * channels).subarray(0, 3)];
  return { width, height, at };
}

function unfilter(bytes, stride, height, channels) {
  const out = new Uint8Array(stride * height);
  for (let row = 0; row < height; row++) {
    const filter = bytes[row * (stride + 1)];
    for (let k = 0; k < stride; k++) {
      const here = row * stride + k;
      const left = k >= channels ? out[here - channels] : 0, up = row > 0 ? out[here - stride] : 0;
      const corner = k >= channels && row > 0 ? out[here - stride - channels] : 0;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[here] = bytes[row * (stride + 1) + 1 + k] + guess;
    }
  }
  return out;
}

function paeth(left, up, corner) {
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(left + up - corner - value));
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
