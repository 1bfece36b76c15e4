-- SPDX-License-Identifier: Apache-2.0
-- Two palms hold a box of 2 kg between them by friction alone.
local grasp = require "grasp"
local pads = require "pads"

local scene = {
  name = "palms",
  parameters = {
    force = 40.0, -- of each palm [N]
    mu = 0.8,
  },
}

local mass, size = 2.0, { 0.30, 0.20, 0.20 }

function scene.build(world, p)
  local box = world:box { name = "box", size = size, mass = mass, color = { 0.85, 0.45, 0.15 } }
  local palms = pads.robot(world, "palms", pads.around(2, { 0.02, 0.10, 0.10 }, size[1] / 2 + p.clearance, { 0, 0, 0 }))
  world:contact_material { mu = p.mu }
  pads.press(world, palms, p.force)
  local weight, added = mass * grasp.gravity, pads.added_inertia(p.dt)
  return {
    object = box, loads = { weight }, normal = 2 * p.force, force = { 0, 0, weight }, added = { palms = { added, added } },
    travel = function() return -box:position()[3] end,
  }
end

return grasp.main(scene, ...)
