// SPDX-License-Identifier: Apache-2.0
// What a comparison found, shown: the JSON of `stiction compare --json` that the page carries.

const data = JSON.parse(document.getElementById("comparison").textContent);
const TARGETS = [1e-3, 1e-6, 1e-9], TARGET_NAMES = ["1e-3", "1e-6", "1e-9"];
const CONVEX = ["ccp", "regularized"];
const solvers = data.solvers.map((s, index) => ({ ...s, index, name: s.solver, convex: CONVEX.includes(s.formulation),
  label: s.solver + (s.coulomb ? "" : "\u2020") }));
const problems = data.problems;
// those that are shown together get different colours
[...solvers].sort((a, b) => b.coulomb - a.coulomb || b.convex - a.convex || a.index - b.index).forEach((s, hue) => { s.hue = hue; });
const rowOf = (p, s) => data.rows[p * solvers.length + s.index];

/** Who is compared, and by which figure. */
const judges = [
  { name: "Coulomb solvers", coulomb: true, takes: (s) => s.coulomb },
  { name: "convex solvers, each by its own problem", coulomb: false, takes: (s) => s.convex },
  { name: "all, by Coulomb\u2019s law", coulomb: true, takes: () => true },
].filter((j) => solvers.some(j.takes));
const state = { judge: judges[0], hidden: new Set(), problem: Math.max(problems.findIndex((p) => !p.unreadable), 0), cell: null };

const byId = (id) => document.getElementById(id);
const shown = () => solvers.filter((s) => state.judge.takes(s) && !state.hidden.has(s.name));
const residualOf = (item) => (state.judge.coulomb ? item.natural_scaled : item.residual);
const reachedOf = (row) => (state.judge.coulomb ? row.reached_coulomb : row.reached);
const hasResult = (row) => row.status === "converged" || row.status === "not_converged";

function make(parent, name, attributes, text) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent?.append(element);
  return element;
}

function figure(value, digits = 3) {
  if (value === null || value === undefined) return "\u2013";
  if (value !== 0 && (Math.abs(value) < 1e-2 || Math.abs(value) >= 1e5)) return value.toExponential(digits - 2);
  return String(Number(value.toPrecision(digits)));
}

// ---- what is compared

function drawFacts() {
  const readable = problems.filter((p) => !p.unreadable);
  const contacts = readable.map((p) => p.contacts), least = Math.min(...contacts), most = Math.max(...contacts);
  const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  byId("facts").textContent = `Stiction ${data.stiction}: ${count(problems.length, "problem")}` +
    (contacts.length ? ` of ${least < most ? `${least} to ` : ""}${count(most, "contact")}` : "") +
    `, ${count(solvers.length, "solver")}. Tolerance ${data.tolerance}, at most ${data.timeout_s} s a solve, started ` +
    (data.cold ? "from no impulses." : "as each file says, from no impulses where it says nothing.");
}

function drawJudges() {
  byId("judges").replaceChildren();
  for (const judge of judges) {
    const button = make(byId("judges"), "button", { "aria-pressed": judge === state.judge }, judge.name);
    button.onclick = () => change({ judge });
  }
}

function drawLegend() {
  byId("legend").replaceChildren();
  for (const solver of solvers.filter(state.judge.takes)) {
    const button = make(byId("legend"), "button", { "aria-pressed": !state.hidden.has(solver.name), title: solver.summary });
    button.append(swatch(solver), solver.label);
    button.onclick = () => {
      state.hidden.has(solver.name) ? state.hidden.delete(solver.name) : state.hidden.add(solver.name);
      draw();
    };
  }
}

function drawSolvers() {
  const table = byId("solvers"), head = make(null, "tr");
  table.replaceChildren(head);
  const columns = ["solver", "solves", "judged by", "law", "tolerance", "iterations \u2264"];
  columns.forEach((text) => make(head, "th", {}, text));
  TARGET_NAMES.forEach((name) => make(head, "th", { class: "number" }, `\u2264 ${name}`));
  ["converged", "not converged", "failed", "time-out", "refused"].forEach((text) => make(head, "th", { class: text.includes(" ") ? "number wraps" : "number" }, text));
  for (const s of shown()) {
    const rows = problems.map((_, p) => rowOf(p, s)), line = make(table, "tr");
    make(line, "td", { title: s.summary }).append(swatch(s), ` ${s.label}${s.version ? ` ${s.version}` : ""}`);
    const judged = state.judge.coulomb ? "natural_scaled" : s.judged_by;
    for (const text of [s.formulation, judged, s.law ?? "\u2013", s.tolerance, s.max_iterations]) make(line, "td", {}, text);
    for (const target of TARGETS.keys()) {
      make(line, "td", { class: "number" }, rows.filter((r) => reachedOf(r)[target].time_ms !== null).length);
    }
    for (const status of ["converged", "not_converged", "failed", "timeout", "refused"]) {
      make(line, "td", { class: "number" }, rows.filter((r) => r.status === status).length);
    }
  }
}

// ---- performance profiles

/** Share of problems within a factor of the best, as steps. */
function profile(target, what) {
  const list = shown(), readable = problems.map((p, index) => index).filter((index) => !problems[index].unreadable);
  const least = what === "iterations" ? 1 : 0; // a start that solves the problem already
  const costs = readable.map((p) => list.map((s) => reachedOf(rowOf(p, s))[target][what]).map((v) => (v === null ? Infinity : Math.max(v, least))));
  return list.map((solver, k) => {
    const ratios = costs.map((row) => row[k] / Math.min(...row)).filter(Number.isFinite).sort((a, b) => a - b);
    const points = ratios.map((ratio, i) => ({ x: ratio, y: (i + 1) / readable.length,
      says: `${i + 1} of ${readable.length} problems within a factor of ${figure(ratio)}` }));
    return { solver, step: true, points: points.length ? [{ x: 1, y: points.filter((p) => p.x <= 1).length / readable.length, says: points[0].says }, ...points] : [] };
  });
}

function drawProfiles() {
  byId("profiles").replaceChildren();
  for (const [what, name] of [["time_ms", "Time"], ["iterations", "Iterations"]]) {
    TARGETS.forEach((_, target) => {
      const series = profile(target, what), box = make(byId("profiles"), "figure", { "data-profile": `${what} ${TARGET_NAMES[target]}` });
      make(box, "h3", {}, `${name} to ${TARGET_NAMES[target]}`);
      const high = Math.min(decades(series.flatMap((s) => s.points.map((p) => p.x)), 0, 1)[1], 4);
      drawPlot(box, { series, label: `${name} to ${TARGET_NAMES[target]}: performance profile`, plain: true,
        x: { log: [0, high], label: "factor of the best" }, y: { linear: [0, 1], percent: true, label: "problems" } });
    });
  }
}

// ---- matrix

const BINS = [["best", 1e-9], ["good", 1e-6], ["fair", 1e-3], ["poor", Infinity]];
const LETTERS = { failed: "failed", timeout: "time", refused: "\u2013" };
const binOf = (residual) => BINS.find(([, limit]) => residual <= limit)?.[0] ?? "none";

function drawKeys() {
  byId("keys").replaceChildren();
  [["best", "\u2264 1e-9"], ["good", "\u2264 1e-6"], ["fair", "\u2264 1e-3"], ["poor", "> 1e-3"], ["none", "no result: failed, time-out, \u2013 refused"]]
    .forEach(([name, text]) => make(byId("keys"), "span", { class: `key ${name}` }, text));
  byId("keys").append(state.judge.coulomb ? "by natural_scaled. " : "each by its own problem. ", "A cell says the figures, a click shows all.");
}

function says(row, problem) {
  if (!hasResult(row)) return `${problem.name}\n${row.status}: ${row.note}`;
  return `${problem.name}, ${problem.contacts} contacts\n${row.status}${row.note ? `: ${row.note}` : ""}\n${row.judged_by} ${figure(row.residual)}, by Coulomb\u2019s law ` +
    `${figure(row.natural_scaled)}\n${row.iterations} iterations, ${figure(row.time_ms)} ms`;
}

function drawCell(line, p, s) {
  const row = rowOf(p, s), residual = residualOf(row), known = hasResult(row) && residual !== null;
  const button = make(make(line, "td"), "button", { class: known ? binOf(residual) : "none" },
    known ? (residual === 0 ? "0" : residual.toExponential(0)) : LETTERS[row.status] ?? "?");
  const text = `${s.label}\n${says(row, problems[p])}`;
  button.setAttribute("aria-label", text.replaceAll("\n", ", "));
  if (state.cell && state.cell.p === p && state.cell.s === s) button.setAttribute("aria-current", "true");
  button.onpointermove = (event) => showTip(text, event.clientX, event.clientY);
  button.onpointerleave = () => showTip(null);
  button.onclick = () => change({ cell: { p, s }, problem: p });
}

function drawMatrix() {
  const table = byId("matrix"), head = make(null, "tr");
  table.replaceChildren(head);
  make(head, "th");
  make(head, "th", { class: "number" }, "contacts");
  for (const s of shown()) make(head, "th", { class: "solver", scope: "col" }, s.label);
  problems.forEach((problem, p) => {
    const line = make(table, "tr"), name = make(line, "th", { class: "problem", scope: "row" });
    const title = problem.problem + (problem.note ? `\n${problem.note}` : "");
    make(name, "button", { title }, problem.name + (problem.note ? " *" : "")).onclick = () => change({ problem: p });
    make(line, "td", { class: "number" }, problem.unreadable ? "\u2013" : problem.contacts);
    for (const s of shown()) drawCell(line, p, s);
  });
}

function drawDetails() {
  const box = byId("details");
  box.replaceChildren();
  if (!state.cell) return;
  const { p, s } = state.cell, row = rowOf(p, s);
  make(box, "h3", {}, `${problems[p].name}, ${s.label}`);
  const table = make(box, "table");
  for (const [key, value] of Object.entries(row)) {
    if (value === null || value === "" || typeof value === "object" || key === "problem" || key === "solver") continue;
    const line = make(table, "tr");
    make(line, "th", {}, key);
    make(line, "td", {}, typeof value === "number" ? figure(value, 6) : String(value));
  }
}

// ---- curves

function curvesOf(p, what) {
  return shown().map((solver) => {
    const points = rowOf(p, solver).curve
      .filter((item) => residualOf(item) !== null)
      .map((item) => ({ x: what === "iterations" ? Math.max(item.iterations, 1) : item.time_ms, y: Math.max(residualOf(item), 1e-17),
        says: `${item.iterations} iterations, ${figure(item.time_ms)} ms: ${figure(residualOf(item))}` }));
    return { solver, points };
  }).filter((s) => s.points.length > 0);
}

function drawCurve(box, p, what, label, options) {
  const series = curvesOf(p, what), points = series.flatMap((s) => s.points);
  const [low, high] = decades(points.map((q) => q.y), -9, 0);
  drawPlot(box, { series, targets: TARGETS, label: `${problems[p].name}: residual by ${label}`,
    x: { log: decades(points.map((q) => q.x)), label }, y: { log: [Math.max(low, -16), Math.min(high, 3)], label: "residual" }, ...options });
}

function drawCurves() {
  const select = byId("problem");
  select.replaceChildren();
  problems.forEach((problem, p) => make(select, "option", { value: p }, problem.name));
  select.value = state.problem;
  byId("curves").replaceChildren();
  for (const [what, label] of [["time_ms", "time [ms]"], ["iterations", "iterations"]]) {
    const box = make(byId("curves"), "figure", { "data-curve": what });
    drawCurve(box, state.problem, what, label, { height: 330 });
  }
  byId("problem_note").textContent = problems[state.problem].note;
  const bent = shown().filter((s) => rowOf(state.problem, s).curve_note);
  if (bent.length) make(byId("curves"), "p", { class: "muted" }, bent.map((s) => `${s.label}: ${rowOf(state.problem, s).curve_note}`).join("; ") + ".");
}

function drawAll() {
  byId("all_curves").replaceChildren();
  if (!byId("all").open) return;
  problems.forEach((problem, p) => {
    const box = make(byId("all_curves"), "figure");
    make(box, "h3", {}, problem.name);
    drawCurve(box, p, "time_ms", "time [ms]", { height: 170, plain: true });
  });
}

// ---- failures

/** Lines of one solver, status and reason, with the problems. */
function drawFailures() {
  const table = byId("failures"), head = make(null, "tr"), groups = new Map();
  table.replaceChildren(head);
  ["solver", "status", "why", "problems"].forEach((text) => make(head, "th", {}, text));
  for (const problem of problems.filter((p) => p.unreadable)) {
    groups.set(problem, { s: { label: "all" }, row: { status: "failed" }, why: problem.unreadable, names: [problem.name] });
  }
  for (const s of shown()) {
    problems.forEach((problem, p) => {
      const row = rowOf(p, s);
      if (problem.unreadable || (row.status === "converged" && row.note === "")) return;
      const why = row.note, key = `${s.name}\n${row.status}\n${why}`;
      if (!groups.has(key)) groups.set(key, { s, row, why, names: [] });
      groups.get(key).names.push(problem.name);
    });
  }
  for (const { s, row, why, names } of groups.values()) {
    const line = make(table, "tr");
    [s.label, row.status.replace("_", " "), why, `${names.length}: ${names.join(", ")}`].forEach((text) => make(line, "td", {}, text));
  }
  if (groups.size === 0) make(make(table, "tr"), "td", { colspan: 4 }, "Nobody.");
}

// ---- all of it

function change(what) {
  Object.assign(state, what);
  draw();
}

function draw() {
  showTip(null);
  for (const part of [drawFacts, drawJudges, drawLegend, drawSolvers, drawProfiles, drawKeys, drawMatrix, drawDetails, drawCurves, drawAll, drawFailures]) part();
}

byId("problem").onchange = (event) => change({ problem: Number(event.target.value) });
byId("all").ontoggle = drawAll;
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== width) draw();
  width = innerWidth;
});
draw();
