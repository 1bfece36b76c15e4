// SPDX-License-Identifier: Apache-2.0

import * as THREE from "three";

const SHADOW_TEXELS = 2048;

/** A lamp with shadows and light from the sky. @param {THREE.Sphere} bounds  of the scene */
export function makeLights({ center, radius }) {
  const lights = new THREE.Group();
  const lamp = new THREE.DirectionalLight(0xffffff, 2.4);
  lamp.position.copy(center).addScaledVector(new THREE.Vector3(0.42, -0.5, 0.76), 4 * radius);
  lamp.target.position.copy(center);
  lamp.shadow.mapSize.set(SHADOW_TEXELS, SHADOW_TEXELS);
  lamp.shadow.bias = -0.0004;
  lamp.shadow.normalBias = 0.008 * radius;
  lamp.shadow.radius = 2.5;
  const reach = 2 * radius;
  Object.assign(lamp.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * radius, far: 9 * radius });
  const sky = new THREE.HemisphereLight(0xffffff, 0xbfbbb2, 1.6);
  sky.position.set(0, 0, 1);
  lights.add(lamp, lamp.target, sky);
  lights.userData.lamp = lamp;
  return lights;
}
