-- SPDX-License-Identifier: Apache-2.0
-- A pole hangs from a cart on a rail. MPPI (lib/planners.lua) swings it up and holds it upright: every 20 ms it tries plans of forces
-- on the cart in a batch of worlds (stn.rollout) from the present state, applies the first force of their weighted mean, and goes on.
--
--   stiction run scripts/planning/mppi_cartpole_swing_up.lua --record swing_up.html
--   stiction sweep scripts/planning/mppi_cartpole_swing_up.lua --vary seed=1..20 --check
local stn = require "stiction"
local load_text, planners = require "robot_text", require "planners"

local p = stn.params {
  seed = 1,
  seconds = 6.0,                                                          -- [s]
  dt = stn.number { 0.005, min = 1e-4, max = 0.02, unit = "s" },          -- of a step
  interval = stn.number { 0.02, min = 1e-3, max = 0.1, unit = "s" },      -- of a force, and of a step of a plan
  horizon = stn.number { 40, min = 2 },                                   -- forces of a plan
  samples = stn.number { 50, min = 2 },                                   -- plans that are tried each time
  sigma = stn.number { 2.5, min = 0, unit = "N" },                        -- of the noise on a plan
  temperature = stn.number { 0.1, min = 1e-6 },                           -- of the weights of plans, in costs
  effort = stn.number { 15.0, min = 0, unit = "N" },                      -- largest force
  threads = stn.number { 2, min = 1, max = 64 },
  push = stn.number { 0.05, min = 0, unit = "N s" },                      -- on the tip of the standing pole, two seconds before the end
}
local cart_mass, pole_mass, length, rail = 1.0, 0.2, 0.6, 1.5             -- [kg], [kg], [m], to each side [m]

local text = ([[<robot name="cart_pole"><link name="rail">
  <visual><geometry><box size="%g 0.02 0.02"/></geometry></visual></link>
  <link name="cart"><inertial><mass value="%g"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0.06 0"/><geometry><box size="0.2 0.1 0.1"/></geometry></visual></link>
  <link name="pole"><inertial><origin xyz="0 0 %g"/><mass value="%g"/>
    <inertia ixx="%g" iyy="%g" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 %g"/><geometry><box size="0.03 0.02 %g"/></geometry></visual>
    <visual><origin xyz="0 0 %g"/><geometry><sphere radius="0.03"/></geometry></visual></link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="%g" upper="%g" effort="%g" velocity="20"/></joint>
  <joint name="hinge" type="continuous"><parent link="cart"/><child link="pole"/><axis xyz="0 -1 0"/></joint></robot>]]):format(
  2 * rail, cart_mass, -length / 2, pole_mass, pole_mass * length ^ 2 / 12, pole_mass * length ^ 2 / 12, -length / 2, length, -length, -rail, rail,
  p.effort)

local function build(dt)
  local world = stn.world { dt = dt }
  local robot = load_text(world, ".urdf", text, { fixed = true, base = { xyz = { 0, 0, 1 } } })
  world:disable_collisions(robot)
  return world, robot
end

local world, robot = build(p.dt)
local model, its_robot = build(p.interval) -- what the planner thinks: longer steps
local slide, hinge = robot:joint "slide", robot:joint "hinge"

-- The pole upright is turned by pi about the hinge: as a quaternion (0, 0, 1, 0), up to its sign. A plan costs what is left of that and of the
-- middle of the rail, at every step.
local rollout = stn.rollout { model, count = p.samples, threads = p.threads, control = "effort", joints = { its_robot:joint "slide" },
  body_pose = { its_robot:link "pole" },
  cost = {
    q = { weight = { 1, 0 } }, v = { weight = { 0.05, 0.02 } }, control = { weight = 2e-4 },
    body_pose = { weight = { 0, 0, 0, 2, 2, 2, 2 }, target = { 0, 0, 0, 0, 0, 1, 0 } },
    last = { v = { weight = { 1, 1 } }, body_pose = { weight = { 0, 0, 0, 20, 20, 20, 20 } } },
  } }
local planner = planners.mppi { horizon = p.horizon, controls = 1, samples = p.samples, sigma = p.sigma, temperature = p.temperature,
  lower = -p.effort, upper = p.effort, correlation = 0.8, seed = p.seed }

local function cost(plans) return (rollout:run(plans)) end

-- How far the pole is from upright [rad].
local function lean()
  local off = math.fmod(hinge:position() - math.pi, 2 * math.pi)
  return math.abs(off > math.pi and off - 2 * math.pi or off < -math.pi and off + 2 * math.pi or off)
end

world:log { "time [s]", "cart [m]", "lean [rad]", "force [N]", values = function()
  return world.time, slide:position(), lean(), slide:effort()
end }
world:camera { target = { 0, 0, 1 }, distance = 4.5, azimuth = -90, elevation = 8 }
world:caption "MPPI swings the pole up"

local steps, every = math.floor(p.seconds / p.dt + 0.5), math.max(1, math.floor(p.interval / p.dt + 0.5))
local up_since, lost, worst, farthest, pushed = nil, 0, 0, 0, false
for k = 0, steps - 1 do
  if k % every == 0 then
    model:set_state { q = world:state().q, v = world:state().v }
    local _, _, failed = planner:improve(cost)
    lost = lost + failed
    slide:set_effort(planner:control()[1])
    planner:shift()
  end
  local pole = robot:link "pole"
  local strikes = not pushed and p.push > 0 and world.time >= p.seconds - 2
  if strikes then
    pole:apply_force { force = { p.push / p.dt, 0, 0 }, point = pole:pose() * { 0, 0, -length } }
    world:caption "a push on the tip"
    pushed = true
  end
  world:step()
  if strikes then pole:apply_force {} end
  farthest = math.max(farthest, math.abs(slide:position()))
  if lean() > 0.5 then
    up_since = nil
  elseif not up_since then
    up_since = world.time
    if not pushed then world:caption "upright" end
  end
  if world.time > p.seconds - 0.5 then worst = math.max(worst, lean()) end
end

stn.result("upright since", up_since or math.huge, "s")
stn.result("plans that failed", lost)
stn.result("steps of plans", rollout:tally().steps)
stn.result("cart at most", farthest, "m")
stn.check("the pole stands for the last half second, leans at most", { value = worst, limit = 0.25, unit = "rad" })
stn.check("the cart stays on its rail", { value = farthest, limit = rail, unit = "m" })
