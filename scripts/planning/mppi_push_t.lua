-- SPDX-License-Identifier: Apache-2.0
-- A finger pushes a T on the floor to a pose. The finger is a ball on two slides that follow velocities. Ten times a second MPPI
-- (lib/planners.lua) tries plans of velocities in a batch of worlds (stn.rollout) from the present state, and the finger takes the first
-- velocity of their weighted mean. Nothing tells it where to touch the T or when to go round it. The T starts at random, by the seed.
--
--   stiction run scripts/planning/mppi_push_t.lua --record push_t.html
--   stiction sweep scripts/planning/mppi_push_t.lua --vary seed=1..20 --check
local stn = require "stiction"
local load_text, planners = require "robot_text", require "planners"

local p = stn.params {
  seed = 1,
  seconds = 60.0,                                                        -- at most [s]
  dt = stn.number { 0.005, min = 1e-4, max = 0.02, unit = "s" },         -- of a step
  model_dt = stn.number { 0.05,  min = 1e-3, max = 0.1, unit = "s" },    -- of a step of a plan
  interval = stn.number { 0.1, min = 0.01, max = 0.5, unit = "s" },      -- of a velocity
  horizon = stn.number { 20, min = 2 },                                  -- velocities of a plan
  samples = stn.number { 96, min = 2 },                                  -- plans that are tried each time
  sigma = stn.number { 0.35, min = 0, unit = "m/s" },                    -- of the noise on a plan
  correlation = stn.number { 0.8,  min = 0, max = 0.99 },                -- of one velocity's noise with the one before
  temperature = stn.number { 0.003, min = 1e-6 },                        -- of the weights of plans, in costs
  speed = stn.number { 0.4, min = 0, unit = "m/s" },                     -- of the finger along each slide, at most
  goal_x = 0.0, goal_y = 0.0, goal_yaw_deg = 45.0,                       -- [m], [m], [deg]
  tolerance = stn.number { 0.01, min = 0, unit = "m" }, tolerance_deg = 3.0, -- of place and yaw
  mu = 0.4,
  threads = stn.number { 2, min = 1, max = 64 },
}
local radius, level, height = 0.02, 0.03, 0.05 -- of the finger [m], its height over the floor [m], of the T [m]

local finger_text = ([[<robot name="finger"><link name="base"/>
  <link name="bridge"><inertial><mass value="0.2"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><mass value="0.2"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.06"/><geometry><cylinder radius="%g" length="0.12"/></geometry></visual>
    <visual><geometry><sphere radius="%g"/></geometry></visual>
    <collision><geometry><sphere radius="%g"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="bridge"/><axis xyz="1 0 0"/><limit lower="-0.6" upper="0.6" effort="20" velocity="2"/></joint>
  <joint name="y" type="prismatic"><parent link="bridge"/><child link="tip"/><axis xyz="0 1 0"/><limit lower="-0.6" upper="0.6" effort="20" velocity="2"/></joint>
  </robot>]]):format(radius, radius, radius)

local function build(dt)
  local s = { world = stn.world { dt = dt, seed = p.seed } }
  s.world:ground { mu = p.mu }
  s.block = s.world:compound { name = "t", mass = 0.4, xyz = { 0, 0, height / 2 }, shapes = {
    { "box", size = { 0.2, 0.05, height }, xyz = { 0, 0.05, 0 }, mu = p.mu, color = { 0.25, 0.45, 0.75 } },
    { "box", size = { 0.05, 0.15, height }, xyz = { 0, -0.05, 0 }, mu = p.mu, color = { 0.25, 0.45, 0.75 } } } }
  s.finger = load_text(s.world, ".urdf", finger_text, { fixed = true, mu = 0.3, base = { xyz = { 0, 0, level } }, joints = { x = -0.3, y = -0.3 } })
  s.drive = s.world:controller { "joint_pd", target = s.finger, kp = 0, kd = 60 }
  return s
end

local scene, model = build(p.dt), build(p.model_dt)
local world = scene.world
scene.block:set_pose { xyz = { world:random(-0.15, 0.15), world:random(-0.15, 0.15), height / 2 }, rpy = { 0, 0, world:random(-math.pi, math.pi) } }

-- What is left: way, and angle.
local goal_yaw = p.goal_yaw_deg * stn.deg
local function left_over(x, y, w, z)
  local turn = (2 * math.atan(z, w) - goal_yaw + math.pi) % (2 * math.pi) - math.pi
  return math.sqrt((x - p.goal_x) ^ 2 + (y - p.goal_y) ^ 2), math.abs(turn)
end
local function left()
  local pose = scene.block:pose()
  return left_over(pose.xyz[1], pose.xyz[2], pose.quat[1], pose.quat[4])
end

-- A plan costs what is left at the end of each velocity, as one length, and a little for a finger far from the T.
local arm = 0.1 -- that a rad is worth [m]
local function row_cost(row)
  local pose = row.body_pose -- of the T, then of the finger
  local way, turn = left_over(pose[1], pose[2], pose[4], pose[7])
  local apart = math.sqrt((pose[8] - pose[1]) ^ 2 + (pose[9] - pose[2]) ^ 2)
  return (row.last and 4 or 1) * math.sqrt(way ^ 2 + (arm * turn) ^ 2) + 0.1 * math.max(0, apart - 0.12)
end
local rollout = stn.rollout { model.world, count = p.samples, threads = p.threads, control = "reference.velocity",
  hold = math.max(1, math.floor(p.interval / p.model_dt + 0.5)), body_pose = { model.block, model.finger:link "tip" }, cost = row_cost }
local planner = planners.mppi { horizon = p.horizon, controls = rollout.control_count, samples = p.samples, sigma = p.sigma,
  correlation = p.correlation, temperature = p.temperature, lower = -p.speed, upper = p.speed, seed = p.seed }
local function cost(plans) return (rollout:run(plans)) end

local start_way, start_turn = left()
world:log { "time [s]", "way [m]", "turn [rad]", values = function() return world.time, left() end }
world:camera { target = { 0, 0, 0 }, distance = 1.4, azimuth = -90, elevation = 55 }
world:caption "a finger pushes a T"

local every = math.max(1, math.floor(p.interval / p.dt + 0.5))
local function reached()
  local way, turn = left()
  return way <= p.tolerance and turn <= p.tolerance_deg * stn.deg
end
-- Where the T is there the finger stops; if it stays there for half a second that was all.
local steps, lost, stands, done_at = 0, 0, 0, nil
while not done_at and world.time < p.seconds do
  if steps % every == 0 then
    stands = reached() and stands + 1 or 0
    if stands > 0 then
      planner:set_plan(0)
      scene.drive:set { velocity = { 0, 0 } }
    else
      model.world:set_state { q = world:state().q, v = world:state().v }
      local _, _, failed = planner:improve(cost)
      lost = lost + failed
      scene.drive:set { velocity = planner:control() }
      planner:shift()
    end
    if stands * p.interval > 0.5 then done_at = world.time end
  end
  world:step()
  steps = steps + 1
end

local way, turn = left()
stn.result("way at the start", start_way, "m")
stn.result("turn at the start", start_turn, "rad")
stn.result("time", done_at or math.huge, "s")
stn.result("plans that failed", lost)
stn.result("steps of plans", rollout:tally().steps)
stn.check("the T is at its goal", { value = way, limit = p.tolerance, unit = "m" })
stn.check("the T is turned as told", { value = turn, limit = p.tolerance_deg * stn.deg, unit = "rad" })
