-- SPDX-License-Identifier: Apache-2.0
-- A parallel gripper lifts a box of 0.5 kg and shakes it up and down. It holds as long as m (g + a) <= 2 mu F, a the largest
-- acceleration of the shaking.
local grasp = require "grasp"
local pads = require "pads"

local scene = {
  name = "lift_and_shake",
  parameters = {
    force = 10.0,     -- of each finger [N]
    mu = 0.6,
    lift = 0.10,      -- [m]
    amplitude = 0.02, -- of the shaking [m]
    frequency = 2.0,  -- [1/s]
  },
}

local mass, edge = 0.5, 0.06
local servo_kp, servo_kd = 1e5, 1e3 -- of the lift [N/m], [N s/m]
local lift_time, shake_start = 0.5, 0.6 -- [s]

-- Height of the palm, its velocity: a smooth lift, then a sine that grows over one period.
local function motion(p, t)
  local omega = 2 * math.pi * p.frequency
  local s = math.min(1, t / lift_time)
  local height = p.lift * s ^ 3 * (10 - 15 * s + 6 * s * s)
  local velocity = p.lift * 30 * s * s * (1 - s) ^ 2 / lift_time
  if t > shake_start then
    local phase, grown = omega * (t - shake_start), math.min(1, (t - shake_start) * p.frequency)
    local size = p.amplitude * grown * grown * (3 - 2 * grown)
    local growth = p.amplitude * 6 * grown * (1 - grown) * p.frequency
    height = height + size * math.sin(phase)
    velocity = velocity + size * omega * math.cos(phase) + growth * math.sin(phase)
  end
  return height, velocity
end

-- Friction that holds the box through a period of the shaking [N].
local function loads(p)
  local list, n, omega = {}, 64, 2 * math.pi * p.frequency
  for i = 1, n do
    list[i] = mass * (grasp.gravity + p.amplitude * omega * omega * math.sin(2 * math.pi * i / n))
  end
  return list
end

function scene.build(world, p)
  local box = world:box { name = "box", size = { edge, edge, edge }, mass = mass, color = { 0.85, 0.45, 0.15 } }
  local links = pads.around(2, { 0.01, 0.03, 0.09 }, edge / 2 + p.clearance, { 0, 0, -0.065 })
  for _, finger in ipairs(links) do finger.parent = "palm" end
  table.insert(links, 1, { name = "palm", size = { 0.16, 0.05, 0.04 }, xyz = { 0, 0, 0.09 }, axis = { 0, 0, 1 }, mass = 1, touches = false })
  local gripper = pads.robot(world, "gripper", links)
  world:contact_material { mu = p.mu }
  pads.press(world, gripper, p.force, { "pad1_slide", "pad2_slide" })
  local lift = world:controller { "joint_pd", target = gripper, joints = { "palm_slide" }, kp = servo_kp, kd = servo_kd,
    effort_limits = false, gravity_compensation = true }
  local palm, weight, added = gripper:joint "palm_slide", mass * grasp.gravity, pads.added_inertia(p.dt)
  return {
    object = box, loads = loads(p), normal = 2 * p.force, force = { 0, 0, weight },
    added = { gripper = { pads.added_inertia(p.dt, servo_kp, servo_kd), added, added } },
    start = shake_start + 2 / p.frequency, period = 1 / p.frequency,
    drive = function(t)
      local height, velocity = motion(p, t)
      lift:set { position = { height }, velocity = { velocity } }
    end,
    travel = function() return palm:position() - box:position()[3] end,
  }
end

return grasp.main(scene, ...)
