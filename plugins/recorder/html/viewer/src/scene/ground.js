// SPDX-License-Identifier: Apache-2.0
// Half spaces: a plane with a grid that fades out, seen from outside only.

import * as THREE from "three";

const REACH = 6; // radii of the scene after which it has faded

/** 1, 2 or 5 times a power of ten, about a quarter of the radius. */
export function gridSpacing(radius) {
  const wanted = Math.max(radius, 1e-3) / 4;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((k) => k * power).reduce((a, b) => (Math.abs(b - wanted) < Math.abs(a - wanted) ? b : a));
}

/**
 * @param {any} geometry  of the scene block, a half space of the world
 * @param {THREE.Sphere} bounds  of the scene
 * @param {{ ground: string, grid: string }} colours
 */
export function makeGround(geometry, bounds, colours) {
  const [x, y, z, qw, qx, qy, qz] = geometry.pose ?? [0, 0, 0, 1, 0, 0, 0];
  const uniforms = {
    spacing: { value: gridSpacing(bounds.radius) },
    reach: { value: REACH * bounds.radius },
    grid: { value: new THREE.Color(colours.grid) },
    middle: { value: new THREE.Vector2() },
  };
  const material = new THREE.MeshLambertMaterial({ color: colours.ground, transparent: true });
  material.onBeforeCompile = (shader) => addGrid(shader, uniforms);
  const plane = new THREE.Mesh(new THREE.PlaneGeometry(2 * REACH * bounds.radius, 2 * REACH * bounds.radius), material);
  const rotation = new THREE.Quaternion(qx, qy, qz, qw);
  const middle = bounds.center.clone().sub(new THREE.Vector3(x, y, z)).applyQuaternion(rotation.clone().invert());
  uniforms.middle.value.set(middle.x, middle.y);
  plane.geometry.translate(middle.x, middle.y, 0);
  plane.position.set(x, y, z);
  plane.quaternion.copy(rotation);
  plane.receiveShadow = true;
  plane.renderOrder = -1;
  material.depthWrite = false;
  return plane;
}

/** Lines are a pixel wide at least, and vanish where they come too close to be told apart. */
function addGrid(shader, uniforms) {
  Object.assign(shader.uniforms, uniforms);
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", "#include <common>\nvarying vec2 vGround;")
    .replace("#include <begin_vertex>", "#include <begin_vertex>\nvGround = position.xy;");
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>
      varying vec2 vGround;
      uniform float spacing, reach;
      uniform vec2 middle;
      uniform vec3 grid;
      float lines(float gap) {
        vec2 width = fwidth(vGround);
        vec2 off = abs(vGround - gap * round(vGround / gap));
        vec2 cover = clamp((max(0.006 * gap, 0.7 * width.x) - off) / max(width, 1e-9) + 0.5, 0.0, 1.0);
        cover *= smoothstep(0.25, 0.08, width / gap);
        return max(cover.x, cover.y);
      }`)
    .replace("#include <color_fragment>", `#include <color_fragment>
      diffuseColor.rgb = mix(diffuseColor.rgb, grid, max(0.45 * lines(spacing), 0.9 * lines(5.0 * spacing)));
      diffuseColor.a *= 1.0 - smoothstep(0.3, 1.0, distance(vGround, middle) / reach);`);
}
