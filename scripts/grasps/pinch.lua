-- SPDX-License-Identifier: Apache-2.0
-- Pinch: a pen of 45 g, a capsule of radius 4 mm, lies across between two pads that press on it from both sides.
local grasp = require "grasp"
local pads = require "pads"

local scene = {
  name = "pinch",
  parameters = {
    force = 30.0, -- of each pad [N]
    mu = 0.7,
  },
}

local mass, radius, length = 0.045, 0.004, 0.112 -- length without the caps; the pen lies along y

function scene.build(world, p)
  local pen = world:capsule { name = "pen", radius = radius, length = length, mass = mass, rpy = { math.pi / 2, 0, 0 }, color = { 0.85, 0.45, 0.15 } }
  local hand = pads.robot(world, "hand", pads.around(2, { 0.01, 0.02, 0.02 }, radius + p.clearance, { 0, 0, 0 }))
  world:contact_material { mu = p.mu }
  pads.press(world, hand, p.force)
  local weight, added = mass * grasp.gravity, pads.added_inertia(p.dt)
  return {
    object = pen, loads = { weight }, normal = 2 * p.force, force = { 0, 0, weight }, added = { hand = { added, added } },
    travel = function() return -pen:position()[3] end,
  }
end

return grasp.main(scene, ...)
