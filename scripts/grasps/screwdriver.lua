-- SPDX-License-Identifier: Apache-2.0
-- A screwdriver of 0.15 kg hangs in three fingers, while the screw turns it about its axis with a constant torque. What the fingers
-- hold at each contact is a third of the weight downwards and of torque/radius around.
local grasp = require "grasp"
local pads = require "pads"

local scene = {
  name = "screwdriver",
  parameters = {
    force = 20.0,  -- of each finger [N]
    torque = 0.2,  -- of the screw [N m]
    mu = 0.6,
  },
}

local mass, radius, length = 0.15, 0.014, 0.09 -- of the handle; the blade weighs nothing

function scene.build(world, p)
  local tool = world:compound { name = "screwdriver", shapes = {
    { "capsule", radius = radius, length = length, mass = mass, color = { 0.85, 0.45, 0.15 } },
    { "capsule", radius = 0.003, length = 0.10, xyz = { 0, 0, -0.10 }, color = { 0.6, 0.6, 0.6 } },
  } }
  local hand = pads.robot(world, "hand", pads.around(3, { 0.01, 0.015, 0.03 }, radius + p.clearance, { 0, 0, 0 }))
  world:contact_material { mu = p.mu }
  pads.press(world, hand, p.force)
  tool:apply_force { torque = { 0, 0, p.torque } }
  local weight, around, added = mass * grasp.gravity, p.torque / radius, pads.added_inertia(p.dt)
  local load = math.sqrt(weight ^ 2 + around ^ 2)
  return {
    object = tool, loads = { load }, normal = 3 * p.force, force = { 0, 0, weight }, added = { hand = { added, added, added } },
    spins = true,
    at_contacts = function(contacts) -- they lie inside the handle by half their overlap, at a shorter arm
      local arm, x = 0, tool:position()
      for _, contact in ipairs(contacts) do
        arm = arm + math.sqrt((contact.point[1] - x[1]) ^ 2 + (contact.point[2] - x[2]) ^ 2) / #contacts
      end
      return { math.sqrt(weight ^ 2 + (p.torque / arm) ^ 2) }, radius / arm
    end,
    travel = function() -- along the load
      local pose = tool:pose()
      local angle = 2 * math.atan(pose.quat[4], pose.quat[1])
      return (radius * angle * around - pose.xyz[3] * weight) / load
    end,
  }
end

return grasp.main(scene, ...)
