-- SPDX-License-Identifier: Apache-2.0
-- Stiff springs at a coarse step, and effort limits. First springs of up to 1e6 in controllers at dt = 10 ms: the arm goes to a goal that is free, and to
-- one under a table; what is left of its motion then. Second a weight that falls on the arm: the largest effort of a joint as part of its limit.
--
--   stiction run -q scripts/controllers/limits.lua
local stn = require "stiction"
local worse = require "worse"
local plant, controls = require "plant", require "controls"

local p = stn.params {
  dt = 0.01,       -- of the first [s]
  seconds = 10.0,  -- of it [s]
  fall_dt = 1e-3,  -- of the second [s]
  mass = 10.0,     -- of what falls [kg]
  speed = 3.0,     -- when it meets the ball on the flange [m/s]
}
local height, depth = 0.3, 0.05 -- of the table, of the goal under it [m]

-- ------------------------------------------------------------------------------------------------- stiff springs

local function fixed_reference(position)
  local zeros = {}
  for i = 1, #position do
    zeros[i] = 0
  end
  local goal = { position = position, velocity = zeros, acceleration = zeros }
  return function() return goal end
end

-- Fastest joint and largest change from step to step in the last half second [rad/s], contact force [N].
local function hold(control, with_table)
  local world <close>, arm, ball = plant.new { dt = p.dt, table = with_table and height or nil }
  local above = plant.pointing_down(arm, height + 0.05, plant.start)
  local goal = control.moves == "joints" and plant.pointing_down(arm, height - depth, above)
  plant.place(arm, above)
  local at = control.moves == "link" and arm:link(control.link):position()
  control.add(world, arm, fixed_reference(goal or { at[1], at[2], at[3] - 0.05 - depth }))
  local fastest, change, before = 0, 0, arm:v()
  for _ in world:run { seconds = p.seconds } do
    local now = arm:v()
    for i = 1, world.time > p.seconds - 0.5 and 7 or 0 do
      fastest, change = math.max(fastest, math.abs(now[i])), math.max(change, math.abs(now[i] - before[i]))
    end
    before = now
  end
  local force = with_table and world:contact_force(ball, world:group "table").normal_force or 0
  return fastest, change, force
end

io.stderr:write(("dt = %g s, %g s, then\n%-20s %8s %-6s %15s %15s %10s\n"):format(p.dt, p.seconds, "controller", "gain", "", "fastest [rad/s]", "change [rad/s]",
  "force [N]"))
local worst = 0
for _, name in ipairs(stn.plugins "controller") do
  for _, gain in ipairs { 1e4, 1e6 } do
    local control = controls.with_gain(name, gain)
    for _, with_table in ipairs(control and { false, true } or {}) do
      local fastest, change, force = hold(control, with_table)
      io.stderr:write(("%-20s %8g %-6s %15.2g %15.2g %10.4g\n"):format(name, gain, with_table and "table" or "free", fastest, change, force))
      worst = worse(worst, fastest)
    end
  end
end
stn.check("at rest after the run", { value = worst, limit = 1e-3, unit = "rad/s" })

-- --------------------------------------------------------------------------------------------------- a weight

-- The largest effort of a joint as part of its limit, and in which joint and step; and before the weight meets the ball.
local function struck(control)
  local world <close>, arm, ball, weight = plant.new { dt = p.fall_dt, weight = p.mass }
  local at = ball:position()
  weight:set_pose { xyz = { at[1], at[2], at[3] + 2 * plant.radius + 0.05 * p.speed } } -- it falls for 50 ms
  weight:set_velocity { 0, 0, -p.speed }
  control.add(world, arm, fixed_reference(control.moves == "joints" and arm:q() or arm:link(control.link):position()))
  local sensors, dynamics, limits, before = {}, {}, {}, arm:v()
  for i, joint in ipairs(arm:joints()) do
    sensors[i], dynamics[i], limits[i] = world:sensor { "joint_torque", joint = joint }, joint:dynamics(), joint:limits().effort
  end
  local most, which, when, over = 0, 0, 0, 0
  for _ in world:run { seconds = 0.3 } do
    local v, above = arm:v(), false
    for i, sensor in ipairs(sensors) do
      local u = sensor:exact().torque + dynamics[i].damping * v[i] + dynamics[i].reflected_inertia * (v[i] - before[i]) / p.fall_dt
      local part = math.abs(u) / limits[i]
      above = above or part > 1 + 1e-9
      if part > most then
        most, which, when = part, i, world.time
      end
    end
    over, before = over + (above and 1 or 0), v
  end
  return most, which, when, over
end

io.stderr:write(("\n%g kg at %g m/s, dt = %g s: the largest effort / limit\n%-20s %15s %6s %9s %12s\n"):format(p.mass, p.speed, p.fall_dt, "controller", "effort/limit",
  "joint", "time [s]", "steps above"))
for _, control in ipairs(controls.list()) do
  if control.moves then
    io.stderr:write(("%-20s %15.10g %6d %9.4g %12d\n"):format(control.name, struck(control)))
  end
end
