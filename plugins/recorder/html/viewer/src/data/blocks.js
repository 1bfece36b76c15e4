// SPDX-License-Identifier: Apache-2.0
// The blocks of a page, in the order of the file: text until they are needed.

const LARGEST_PAYLOAD = 2 ** 28; // as stiction reads them

/**
 * @typedef {object} Block
 * @property {string} kind
 * @property {string} text  base64
 */

/**
 * All whole blocks of the page, by recording. What follows a block that was cut off does not count.
 * @param {ParentNode} page
 * @returns {{ recordings: Block[][], cutOff: boolean }}
 */
export function collectBlocks(page) {
  const recordings = [];
  for (const script of page.querySelectorAll('script[type="application/x-stiction"]')) {
    const kind = script.getAttribute("data-kind");
    const text = script.textContent;
    if (text.length !== Number(script.getAttribute("data-length"))) return { recordings, cutOff: true };
    if (kind === "scene") recordings.push([]);
    recordings.at(-1)?.push({ kind, text });
  }
  return { recordings, cutOff: false };
}

/** All that comes, unless it is more than any recording has. @param {ReadableStreamDefaultReader<Uint8Array>} reader */
async function gather(reader) {
  const pieces = [];
  let size = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    size += piece.value.length;
    if (size > LARGEST_PAYLOAD) {
      reader.cancel().catch(() => {});
      throw new Error("it holds more than 256 MiB");
    }
    pieces.push(piece.value);
  }
  const whole = new Uint8Array(size);
  pieces.reduce((at, piece) => (whole.set(piece, at), at + piece.length), 0);
  return whole;
}

/** @param {string} base64 */
function bytesOf(base64) {
  const characters = atob(base64);
  const bytes = new Uint8Array(characters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = characters.charCodeAt(k);
  return bytes;
}

/** @param {Block} block @returns {Promise<Uint8Array>} its payload */
export async function inflate(block) {
  const packed = bytesOf(block.text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return gather(stream.getReader());
}

/** @param {Block} block @returns {Promise<any>} its payload, as JSON */
export async function inflateJson(block) {
  const text = new TextDecoder().decode(await inflate(block));
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("it is no JSON"); // the browser's words would quote the damage
  }
}
