// SPDX-License-Identifier: Apache-2.0
// Line plots as SVG, in the colours of the page, with what a point says shown at the pointer.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const MARKS = ["circle", "square", "diamond", "triangle"];

function svg(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

/** How a solver is drawn wherever it is drawn: colour, dash by what it solves, mark. */
const styleOf = (solver) => ({
  color: `var(--c${solver.hue % 10})`,
  dash: solver.coulomb ? "none" : solver.convex ? "7 4" : "2 3",
  mark: MARKS[(solver.hue + Math.floor(solver.hue / 10)) % MARKS.length],
});

function drawMark(parent, { color, mark }, x, y, size) {
  const common = { fill: color, stroke: "none" };
  if (mark === "circle") return svg(parent, "circle", { cx: x, cy: y, r: size, ...common });
  if (mark === "square") return svg(parent, "rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, ...common });
  const corners = mark === "diamond" ? [[0, -1.4], [1.4, 0], [0, 1.4], [-1.4, 0]] : [[0, -1.3], [1.3, 1], [-1.3, 1]];
  return svg(parent, "polygon", { points: corners.map(([a, b]) => `${x + size * a},${y + size * b}`).join(" "), ...common });
}

/** The sample of a line for a legend. */
function swatch(solver) {
  const element = svg(null, "svg", { width: 30, height: 12, viewBox: "0 0 30 12", style: "width:30px", "aria-hidden": "true" });
  const style = styleOf(solver);
  svg(element, "line", { x1: 0, x2: 30, y1: 6, y2: 6, stroke: style.color, "stroke-width": 2, "stroke-dasharray": style.dash });
  drawMark(element, style, 15, 6, 3.2);
  return element;
}

/** [low, high] in powers of ten around values > 0, at least one decade. */
function decades(values, low = Infinity, high = -Infinity) {
  for (const value of values) {
    if (value > 0 && Number.isFinite(value)) {
      low = Math.min(low, Math.floor(Math.log10(value)));
      high = Math.max(high, Math.ceil(Math.log10(value)));
    }
  }
  if (low > high) return [0, 1];
  return low === high ? [low, low + 1] : [low, high];
}

const powerLabel = (power) => (power >= -1 && power <= 3 ? String(10 ** power) : `1e${power}`);

/**
 * A plot. x, y: { log: [low, high] powers of ten, or linear: [low, high]; label }. series: [{ solver, points: [{ x, y, says }], step }].
 * targets: values of y with a line. Without marks where `plain`.
 */
function drawPlot(figure, { x, y, series, targets = [], height = 230, plain = false, label }) {
  const width = Math.max(figure.clientWidth, 160), left = 48, bottom = 36, top = 6, right = 8;
  const root = svg(null, "svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
  const scale = (axis, from, to) => {
    const [low, high] = axis.log ?? axis.linear;
    return (value) => from + ((Math.min(Math.max(axis.log ? Math.log10(value) : value, low), high) - low) / (high - low)) * (to - from);
  };
  const sx = scale(x, left, width - right), sy = scale(y, height - bottom, top);
  drawAxes(root, { x, y, sx, sy, width, height, left, bottom, top, right });
  for (const target of targets) {
    svg(root, "line", { class: "target", x1: left, x2: width - right, y1: sy(target), y2: sy(target) });
  }
  const spots = [];
  for (const { solver, points, step } of series) {
    const style = styleOf(solver), group = svg(root, "g", { class: "series", "data-solver": solver.name });
    const at = points.map((p) => ({ px: sx(p.x), py: sy(p.y), says: p.says, solver, group }));
    const path = at.map((p, i) => (i === 0 ? `M${p.px} ${p.py}` : step ? `H${p.px}V${p.py}` : `L${p.px} ${p.py}`)).join("");
    svg(group, "path", { class: "line", d: path + (step && at.length ? `H${width - right}` : ""), stroke: style.color, "stroke-dasharray": style.dash });
    if (!plain) at.forEach((p) => drawMark(group, style, p.px, p.py, step ? 2 : 2.6));
    spots.push(...at);
  }
  followPointer(root, spots, width);
  figure.querySelector("svg")?.remove();
  figure.append(root);
}

function drawAxes(root, { x, y, sx, sy, width, height, left, bottom, top, right }) {
  for (const [value, text] of ticksOf(x, (width - left) / 55)) {
    svg(root, "line", { class: "grid", x1: sx(value), x2: sx(value), y1: top, y2: height - bottom });
    svg(root, "text", { x: sx(value), y: height - bottom + 14, "text-anchor": "middle" }, text);
  }
  for (const [value, text] of ticksOf(y, (height - bottom) / 22)) {
    svg(root, "line", { class: "grid", x1: left, x2: width - right, y1: sy(value), y2: sy(value) });
    svg(root, "text", { x: left - 6, y: sy(value) + 4, "text-anchor": "end" }, text);
  }
  svg(root, "path", { class: "axis", fill: "none", d: `M${left} ${top}V${height - bottom}H${width - right}` });
  svg(root, "text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, x.label);
  const middle = (top + height - bottom) / 2;
  if (y.label) svg(root, "text", { x: 9, y: middle, "text-anchor": "middle", transform: `rotate(-90 9 ${middle})` }, y.label);
}

/** [value, text], as many as there is room for. */
function ticksOf(axis, room) {
  const [low, high] = axis.log ?? axis.linear, ticks = [];
  if (axis.linear) return [0, 0.25, 0.5, 0.75, 1].map((share) => low + share * (high - low)).map((v) => [v, axis.percent ? `${Math.round(100 * v)}%` : String(v)]);
  const stride = Math.max(1, Math.ceil((high - low) / Math.max(room, 1)));
  for (let power = Math.ceil(low); power <= high; power += stride) ticks.push([10 ** power, powerLabel(power)]);
  return ticks;
}

function followPointer(root, spots, width) {
  const leave = () => {
    root.classList.remove("dimmed");
    showTip(null);
  };
  root.addEventListener("pointerleave", leave);
  root.addEventListener("pointermove", (event) => {
    const box = root.getBoundingClientRect(), scale = width / box.width;
    const mx = (event.clientX - box.left) * scale, my = (event.clientY - box.top) * scale;
    let near = null, least = 30;
    for (const spot of spots) {
      const distance = Math.hypot(spot.px - mx, spot.py - my);
      if (distance < least) [near, least] = [spot, distance];
    }
    if (!near) return leave();
    root.querySelectorAll(".hot").forEach((group) => group.classList.remove("hot"));
    near.group.classList.add("hot");
    root.classList.add("dimmed");
    showTip(`${near.solver.label}\n${near.says}`, event.clientX, event.clientY);
  });
}

function showTip(text, x, y) {
  const tip = document.getElementById("tip");
  tip.hidden = text === null;
  if (text === null) return;
  tip.textContent = text;
  tip.style.left = `${Math.min(x + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(y + 14, innerHeight - tip.offsetHeight - 8)}px`;
}
