// SPDX-License-Identifier: Apache-2.0
// The blocks of a page, in the order of the file: text until they are needed.

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

/** @param {Block} block @returns {Promise<Uint8Array>} its payload */
export async function inflate(block) {
  const packed = Uint8Array.from(atob(block.text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {Block} block @returns {Promise<any>} its payload, as JSON */
export async function inflateJson(block) {
  return JSON.parse(new TextDecoder().decode(await inflate(block)));
}
