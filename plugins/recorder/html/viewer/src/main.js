// SPDX-License-Identifier: Apache-2.0
// Stands in for the viewer: counts the blocks.
document.addEventListener('DOMContentLoaded', () => {
  const blocks = [...document.querySelectorAll('script[type="application/x-stiction"]')];
  const kinds = {};
  for (const block of blocks) {
    kinds[block.dataset.kind] = (kinds[block.dataset.kind] ?? 0) + 1;
  }
  const list = document.createElement('pre');
  list.textContent = JSON.stringify(kinds);
  document.body.append(list);
});
