-- SPDX-License-Identifier: Apache-2.0
-- A box of 1 kg on a slope of 20 degrees: the scene of scripts/box_on_slope.lua, measured as the grasps are.
local grasp = require "grasp"
local stn = require "stiction"

local scene = {
  name = "slope",
  parameters = {
    angle_deg = 20.0, -- [deg]
    mu = 1.0,
  },
}

local mass, edge = 1.0, 0.10

function scene.build(world, p)
  local angle = p.angle_deg * stn.deg
  local s, c = math.sin(angle), math.cos(angle)
  local high = edge / 2 + p.clearance
  world:ground { name = "slope", rpy = { 0, angle, 0 } }
  local box = world:box { name = "box", size = { edge, edge, edge }, mass = mass, rpy = { 0, angle, 0 }, xyz = { high * s, 0, high * c } }
  world:contact_material { mu = p.mu }
  local weight = mass * grasp.gravity
  return {
    object = box, loads = { weight * s }, normal = weight * c, force = { 0, 0, weight },
    travel = function()
      local x = box:position()
      return c * x[1] - s * x[3]
    end,
  }
end

return grasp.main(scene, ...)
