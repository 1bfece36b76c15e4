// SPDX-License-Identifier: Apache-2.0
// What keys do. Fields and buttons that have the focus keep the keys that they need.

const TURN = Math.PI / 24;
const CHOICES = ["visual", "collision", "both"];
const VIEWS = ["front", "right", "top", "back", "left", "bottom"];

/** @param {import("../app.js").App} app @returns {Record<string, (event: KeyboardEvent) => void>} */
function actionsOf(app) {
  const { playback, options, stage } = app;
  const frames = (event) => (event.shiftKey ? 10 : 1);
  const turned = (left, up) => (event) => event.shiftKey && stage.turn(left, up);
  const actions = {
    " ": () => playback.toggle(),
    ArrowLeft: (event) => playback.step(-frames(event)),
    ArrowRight: (event) => playback.step(frames(event)),
    Home: () => playback.seek(playback.start),
    End: () => playback.seek(playback.end),
    "[": () => playback.changeSpeed(-1),
    "]": () => playback.changeSpeed(1),
    l: () => playback.set("loop", !playback.loop),
    i: () => options.toggle("interpolate"),
    c: () => options.toggle("contacts"),
    t: () => options.toggle("apart"),
    p: () => options.toggle("patches"),
    e: () => options.toggle("faces"),
    k: () => options.toggle("constraints"),
    h: () => options.toggle("shadows"),
    m: () => options.toggle("colors"),
    j: () => options.toggle("merged"),
    r: () => app.recordings[0].hasCamera && options.toggle("camera"),
    g: () => options.set("geometry", CHOICES[(CHOICES.indexOf(options.get("geometry")) + 1) % CHOICES.length]),
    f: () => options.toggle("follow"),
    n: (event) => app.selectNext(event.shiftKey ? -1 : 1),
    v: () => app.selection.body > 0 && app.showBodies([app.selection.body], app.hidden.has(app.selection.body)),
    o: () => options.set("layout", options.get("layout") === "side" ? "ghost" : "side"),
    a: (event) => (event.shiftKey ? stage.turn(TURN, 0) : options.toggle("frames")),
    d: turned(-TURN, 0),
    w: turned(0, TURN),
    s: turned(0, -TURN),
    "+": () => stage.turn(0, 0, 1.15),
    "-": () => stage.turn(0, 0, 1 / 1.15),
    0: () => app.fit(),
    "?": () => app.help.showModal(),
    Escape: () => app.clearSelection(),
  };
  VIEWS.forEach((name, k) => (actions[k + 1] = () => stage.lookAlong(name)));
  return actions;
}

/** Does what has the focus want the key for itself? */
function isTaken(event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (!(target instanceof Element)) return false;
  if (target.closest("dialog")) return true;
  if (target.matches('input[type="search"]')) return key !== "Escape";
  if (target.matches("select")) return key !== "Escape";
  if (target.matches('input[type="range"], input[type="radio"]')) return key.startsWith("Arrow") || key === "Home" || key === "End" || key === " ";
  return key === " " && target.matches("button, summary, input");
}

/** @param {import("../app.js").App} app */
export function listenToKeys(app) {
  const actions = actionsOf(app);
  document.addEventListener("keydown", (event) => {
    if (isTaken(event)) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event);
  });
}
