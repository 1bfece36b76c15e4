// SPDX-License-Identifier: Apache-2.0
// What recordings were run with.

/** "name = value" lines. @returns {Map<string, string>} */
export function parametersOf(scene) {
  const lines = (scene.parameters ?? "").split("\n").map((line) => line.split(" = ")).filter((parts) => parts.length > 1);
  return new Map([["dt", `${scene.dt}`], ...lines.map(([name, ...value]) => [name, value.join(" = ")])]);
}

/** Names of parameters with more than one value, and their values. @returns {[string, string[]][]} */
export function differences(scenes) {
  const all = scenes.map(parametersOf);
  const names = [...new Set(all.flatMap((parameters) => [...parameters.keys()]))];
  return names.map((name) => [name, all.map((parameters) => parameters.get(name) ?? "–")])
    .filter(([, values]) => new Set(values).size > 1);
}
