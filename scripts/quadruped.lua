-- SPDX-License-Identifier: Apache-2.0
-- A quadruped of 35 kg and 18 degrees of freedom (quadruped.urdf, the figures that other engines are measured with):
-- four spherical feet and a box for a trunk touch the ground, joint PD without effort limits drives the legs.
--
--   stiction run scripts/quadruped.lua --set task=trot
local stn = require "stiction"
local solve_error = require "solve_error"

local p = stn.params {
  task = stn.choice { "stand", "trot", "hang", "drop", "random", "free_fall" },
  kp = 200.0,      -- [N m/rad]
  kd = 4.0,        -- [N m s/rad]
  mu = 0.8,
  height = 0.3,    -- of the feet over the ground when it is dropped [m]
  frequency = 2.0, -- of the trot [Hz]
  dt = 0.001,      -- [s]
  seconds = 10.0,  -- [s]
  seed = 1,
}
-- stand: on its feet at home. trot: diagonal pairs of feet take turns. hang: the trunk is held, the legs swing into
-- place. drop: from a height onto its feet. random: new targets for all joints every tenth of a second.
-- free_fall: from so high that nothing is met.

local legs = { "LF", "RF", "LH", "RH" }
local hip, knee = 0.6, -1.2 -- at home; behind they are the opposite [rad]
local segment, foot = 0.28, 0.03
local standing = segment * (math.cos(hip) + math.cos(hip + knee)) + foot -- of the trunk when the feet just touch

-- Joint positions, from those of each leg: `angles(leg index)` gives HAA, HFE and KFE as those of a fore leg.
local function posture(angles)
  local q = {}
  for i, leg in ipairs(legs) do
    local side, thigh, shank = angles(i)
    local fore = leg:sub(2) == "F" and 1 or -1
    q["quadruped_" .. leg .. "_HAA"] = side
    q["quadruped_" .. leg .. "_HFE"], q["quadruped_" .. leg .. "_KFE"] = fore * thigh, fore * shank
  end
  return q
end

local home = posture(function() return 0, hip, knee end)
local start = { hang = 1, drop = standing + p.height, free_fall = 1 + 9.81 / 2 * p.seconds ^ 2 }

local world = stn.world { dt = p.dt, solver = { "sap", tolerance = 1e-8 }, seed = p.seed }
world:ground { mu = p.mu }
local robot = world:load { "quadruped.urdf", fixed = p.task == "hang", mu = p.mu, joints = home,
                           base = { xyz = { 0, 0, start[p.task] or standing } } }
world:disable_collisions(robot)
local motors = world:controller { "joint_pd", target = robot, kp = p.kp, kd = p.kd }

-- Diagonal legs lift their feet in turn: each half of the period one pair bends its knees.
local function trot(time)
  local phase = 2 * math.pi * p.frequency * time
  return posture(function(leg)
    local lift = math.max(0, (leg == 1 or leg == 4) and math.sin(phase) or -math.sin(phase))
    return 0, hip + 0.25 * lift, knee - 0.5 * lift
  end)
end

local function random_posture()
  return posture(function()
    return world:random(-0.2, 0.2), hip + world:random(-0.3, 0.3), knee + world:random(-0.3, 0.3)
  end)
end

local change = math.max(1, math.floor(0.1 / p.dt + 0.5))
local contacts = 0
local worst = solve_error.worst()
for step in world:run { seconds = p.seconds } do
  if p.task == "trot" then
    motors:set { position = trot(step.time) }
  elseif p.task == "random" and step.index % change == 0 then
    motors:set { position = random_posture() }
  end
  worst:add(step.certificate)
  contacts = contacts + step.contact_count
end

local at = robot:position()
local tilt = robot:pose():rotate { 0, 0, 1 }[3]
stn.result("mass_kg", robot:mass(), "kg")
stn.result("height_m", at[3], "m")
stn.result("speed_m_per_s", robot:speed(), "m/s")
stn.result("mean_contacts", contacts / world.steps, "1")
if p.task == "stand" or p.task == "drop" then
  stn.check("upright", { value = tilt, least = 0.99, unit = "1" })
  stn.check("at rest", { value = robot:speed(), limit = 1e-2, unit = "m/s" })
  stn.check("height", { value = math.abs(at[3] - standing), limit = 0.03, unit = "m" })
elseif p.task == "trot" then
  stn.check("upright", { value = tilt, least = 0.9, unit = "1" })
elseif p.task == "free_fall" then -- symplectic Euler sums g dt^2 n (n + 1) / 2; the legs hold on to the trunk
  local n = world.steps
  stn.check("falls freely", { value = math.abs(start.free_fall - at[3] - 9.81 * p.dt ^ 2 * n * (n + 1) / 2), limit = 1e-6, unit = "m" })
end
worst:check(1e-5)
