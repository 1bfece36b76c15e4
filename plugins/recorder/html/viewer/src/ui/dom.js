// SPDX-License-Identifier: Apache-2.0

/**
 * An element. Attributes: `on...` are listeners, true is an empty attribute, false and null leave it out.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node | string | null)} children
 * @returns {any}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  back: "M17 5v14l-9-7zM5 5h2.5v14H5z",
  forward: "M7 5v14l9-7zM16.5 5H19v14h-2.5z",
  loop: "M12 5V1.5L7.5 6 12 10.500V7a5 5 0 1 1-5 5H5a7 7 0 1 0 7-7z",
  panel: "M3 5h18v14H3zM5 7v10h8V7zM15 7v10h4V7z",
  plots: "M4 4h2v14h14v2H4zM8 14l4-5 3 3 4-6 1.500 1-5.200 8-3-3-3 3.500z",
  help: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1 16h-2v-2h2zm1.700-6.900c-.9 1-1.700 1.300-1.700 2.900h-2c0-2.300 1.200-3 2-3.900.6-.6 1-1 1-1.700a2 2 0 0 0-4 0H8a4 4 0 1 1 6.700 2.700z",
};

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

/** A button that shows a picture alone. @param {keyof typeof ICONS} name */
export function iconButton(name, label, key, onclick) {
  return el("button", { type: "button", class: "icon", "aria-label": label, title: key ? `${label} (${key})` : label, onclick }, icon(name));
}

export function setPressed(button, pressed) {
  button.setAttribute("aria-pressed", String(pressed));
}

/** Names and values; those without a value are left out. @param {[string, string | null | undefined][]} rows */
export function table(rows) {
  return el("table", { class: "facts" }, el("tbody", {}, ...rows.filter(([, value]) => value != null && value !== "").map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))));
}
