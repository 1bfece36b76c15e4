-- SPDX-License-Identifier: Apache-2.0
-- Three fingers around a sphere of 0.2 kg: one point of contact each, a third of the circle apart.
local grasp = require "grasp"
local pads = require "pads"

local scene = {
  name = "three_finger",
  parameters = {
    force = 5.0, -- of each finger [N]
    mu = 0.6,
  },
}

local mass, radius = 0.2, 0.03

function scene.build(world, p)
  local ball = world:sphere { name = "ball", radius = radius, mass = mass, color = { 0.85, 0.45, 0.15 } }
  local hand = pads.robot(world, "hand", pads.around(3, { 0.01, 0.02, 0.03 }, radius + p.clearance, { 0, 0, 0 }))
  world:contact_material { mu = p.mu }
  pads.press(world, hand, p.force)
  local weight, added = mass * grasp.gravity, pads.added_inertia(p.dt)
  return {
    object = ball, loads = { weight }, normal = 3 * p.force, force = { 0, 0, weight }, added = { hand = { added, added, added } },
    travel = function() return -ball:position()[3] end,
  }
end

return grasp.main(scene, ...)
