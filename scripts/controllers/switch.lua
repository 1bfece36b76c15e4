-- SPDX-License-Identifier: Apache-2.0
-- An impedance takes the arm over from a PD and gives it back, at once and blended: how much joint velocities and efforts change from step to step.
--
--   stiction run -q scripts/controllers/switch.lua --set folder=docs/pictures
local stn = require "stiction"
local worse = require "worse"
local plant, chart = require "plant", require "chart"

local p = stn.params {
  dt = 2e-3,    -- [s]
  blend = 0.5,  -- [s]
  aside = 0.1,  -- how far the impedance asks the flange to go [m]
  folder = "",  -- for charts; empty: none
}
local on, off, seconds, shown = 0.5, 2.5, 5, 1 -- [s]; the joint of the charts

local function hand_over(blend)
  local world <close>, arm = plant.new { dt = p.dt }
  world:controller { "joint_pd", target = arm, kp = 2000, kd = 200, gravity_compensation = true }
  local soft = world:controller { "cartesian_impedance", target = arm, frame = plant.link, priority = 1, active = false }
  local flange = arm:link(plant.link):position()
  soft:set { position = { flange[1], flange[2] + p.aside, flange[3] } }
  local sensors, damping, effort_before, before = {}, {}, nil, arm:v()
  for i, joint in ipairs(arm:joints()) do
    sensors[i], damping[i] = world:sensor { "joint_torque", joint = joint }, joint:dynamics()
  end
  local name = blend > 0 and ("blend = %g s"):format(blend) or "at once"
  local position, effort = { name = name, x = {}, y = {} }, { name = name, x = {}, y = {} }
  local jump_v, jump_u = 0, 0
  for _ in world:run { seconds = seconds } do
    local v, u = arm:v(), {}
    for i, sensor in ipairs(sensors) do -- what the motor gives: the sensor, the joint's damper, the rotor
      u[i] = sensor:exact().torque + damping[i].damping * v[i] + damping[i].reflected_inertia * (v[i] - before[i]) / p.dt
      jump_v = worse(jump_v, math.abs(v[i] - before[i]))
      jump_u = worse(jump_u, effort_before and math.abs(u[i] - effort_before[i]) or 0)
    end
    before, effort_before = v, u
    position.x[#position.x + 1], position.y[#position.y + 1] = world.time, arm:q()[shown]
    effort.x[#effort.x + 1], effort.y[#effort.y + 1] = world.time, u[shown]
    if math.abs(world.time - on) < p.dt / 2 then
      soft:activate { blend = blend }
    elseif math.abs(world.time - off) < p.dt / 2 then
      soft:deactivate { blend = blend }
    end
  end
  io.stderr:write(("%-15s %22.4g %22.4g\n"):format(name, jump_v, jump_u))
  return position, effort
end

io.stderr:write(("%-15s %22s %22s\n"):format("", "velocity, a step", "effort, a step"))
io.stderr:write(("%-15s %22s %22s\n"):format("", "[rad/s]", "[N m]"))
local positions, efforts = {}, {}
for i, blend in ipairs { 0, p.blend } do
  positions[i], efforts[i] = hand_over(blend)
end

if p.folder ~= "" then
  local function draw(what, title, series, label)
    chart.write(("%s/controllers_switch_%s.svg"):format(p.folder, what), { title = title, x = { label = "time [s]" }, y = { label = label },
      legend = "beside", series = chart.thinned(series, 500) })
  end
  local title = ("an impedance takes over at %g s and gives back at %g s"):format(on, off)
  draw("position", ("Joint %d: %s"):format(shown, title), positions, "position [rad]")
  draw("effort", ("Joint %d: %s"):format(shown, title), efforts, "effort [N m]")
end
