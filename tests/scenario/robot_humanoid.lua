-- SPDX-License-Identifier: Apache-2.0
-- models/humanoid: it touches itself nowhere in moderate postures, and stands as statics says.
local stn = require "stiction"

local file = "models/humanoid/humanoid.urdf"
local home = {}
for _, side in ipairs { "left", "right" } do
  for name, value in pairs { hip_pitch = -0.15, knee = 0.4, ankle_pitch = -0.25, shoulder_pitch = 0.1, elbow = -0.4 } do
    home[side .. "_" .. name] = value
  end
  home[side .. "_shoulder_roll"] = side == "left" and 0.15 or -0.15
end

local function near(world, robot, rest, q)
  robot:set_q(q)
  robot:set_v(rest)
  return world:step().contact_count
end

stn.test("shapes are 29 mm or more apart when it stands straight", function()
  for margin, pairs_near in pairs { [0.029] = 0, [0.031] = 4 } do -- at the chest both ends of both arms' capsules
    local world = stn.world { gravity = { 0, 0, 0 }, margin = margin, dt = 1e-4 }
    local robot = world:load { file, fixed = true }
    stn.near(near(world, robot, robot:v(), robot:q()), pairs_near, 0, "pairs nearer than " .. margin)
  end
end)

stn.test("nothing touches while one joint after the other moves by 0.3 rad, but rolls inward", function()
  local world = stn.world { gravity = { 0, 0, 0 }, margin = 1e-3, dt = 1e-4 }
  local robot = world:load { file, fixed = true, joints = home }
  local rest, start = robot:v(), robot:positions()
  for _, joint in ipairs(robot:joints()) do
    local limits = joint:limits()
    for i = -3, 3 do
      local q = start[joint.name] + 0.1 * i
      local side = joint.name:match "^(%a+)_%a+_roll$" -- leg to leg, arm to chest: they do meet
      local inward = side == "left" and i < 0 or side == "right" and i > 0
      if q >= limits.lower and q <= limits.upper and not inward then
        robot:set_q(start)
        stn.near(near(world, robot, rest, { [joint.name] = q }), 0, 0, joint.name .. " at " .. q)
      end
    end
  end
  -- it could be told: crossed legs touch
  robot:set_q(start)
  assert(near(world, robot, rest, { left_hip_roll = -0.4, right_hip_roll = 0.4 }) > 0)
end)
