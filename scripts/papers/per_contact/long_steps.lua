-- SPDX-License-Identifier: Apache-2.0
-- Steps of 20 ms, 50 Hz, for the tasks of the per-contact paper [hwangbo-2018] whose joints are limp, hang and drop: "stable at 50 Hz",
-- "the accuracy is highly compromised", and "more than thousand times faster than real time".
--
--   stiction run scripts/papers/per_contact/long_steps.lua --set steps=0.001,0.02 --set plot=energy.svg
--
-- Stable: no work is done after a throw and contacts take energy out, so that it must not rise above that of the throw. How much it climbs
-- above its lowest value before is the error of the steps: what rises at v has m g v dt/2 more than it should, what falls at v as much
-- less, v the speed of the fall from 1 m. Accuracy: that, and how deep shapes get into the ground.
local stn = require "stiction"
local tasks, numbers, chart = require "tasks", require "numbers", require "chart"

local p = tasks.parameters {
  seconds = 20.0, -- of each [s]
  steps = "0.001,0.02", -- the first is what the others are compared with [s]
  method = stn.choice { "bisection", "coulomb", "pgs" },
  plot = "",
}
local g, height = 9.81, 1 -- [m/s^2], of the fall [m]

local function measure(task, dt)
  local q = setmetatable({ dt = dt }, { __index = p })
  local run = tasks.make(task, q, tasks.solver(p.method, q))
  local out = { rise = -math.huge, climb = 0, deepest = 0, unsolved = 0, touching = 0, us = {}, x = {}, y = {} }
  local start, lowest, throws
  for step in tasks.run(run, p.seconds) do
    if throws ~= run.throws then start, lowest, throws = step.energy_J, step.energy_J, run.throws end
    lowest = math.min(lowest, step.energy_J)
    out.climb = math.max(out.climb, step.energy_J - lowest)
    out.rise = math.max(out.rise, step.energy_J - start)
    out.deepest = math.max(out.deepest, step.overlap_m)
    out.touching = out.touching + (step.contact_count > 0 and 1 or 0)
    out.unsolved = out.unsolved + (step.contact_count > 0 and not step.converged and 1 or 0)
    out.us[#out.us + 1] = step.step_us
    if step.index % math.max(1, math.floor(0.02 / dt + 0.5)) == 0 then
      out.x[#out.x + 1], out.y[#out.y + 1] = step.time, step.energy_J - start
    end
  end
  out.mass = run.robot:mass()
  run.world:close()
  table.sort(out.us)
  out.median_us = out.us[(#out.us + 1) // 2]
  return out
end

local series, steps = {}, numbers(p.steps, "steps")
print(("%-6s %8s %16s %14s %12s %10s %12s %10s"):format("task", "dt [s]", "energy rise [J]", "climb [J]", "deepest [m]", "unsolved", "median [us]", "real time"))
for _, task in ipairs { "hang", "drop" } do
  local first
  for _, dt in ipairs(steps) do
    local m = measure(task, dt)
    first = first or m
    print(("%-6s %8g %16.3g %14.3g %12.3g %10d %12.2f %10.0f"):format(task, dt, m.rise, m.climb, m.deepest, m.unsolved, m.median_us, 1e6 * dt / m.median_us))
    local name = ("%s %g s"):format(task, dt)
    stn.result(name .. " energy_rise", m.rise, "J")
    stn.result(name .. " energy_climb", m.climb / (m.mass * g * height), "m g h")
    stn.result(name .. " deepest", m.deepest, "m")
    stn.result(name .. " unsolved", m.unsolved, "1")
    stn.result(name .. " times_real_time", 1e6 * dt / m.median_us, "1")
    stn.result(name .. " median_step", m.median_us, "us")
    stn.result(name .. " deeper_than_the_first", m.deepest / first.deepest, "1")
    stn.check(name .. ": energy does not rise above that of the throw", { value = m.rise, limit = 1e-9 * m.mass * g * height, unit = "J" })
    stn.check(name .. ": energy climbs by less than m g v dt", { value = m.climb, limit = m.mass * g * math.sqrt(2 * g * height) * dt, unit = "J" })
    -- neither method is proved to converge
    stn.check(name .. ": unsolved steps", { value = m.unsolved / m.touching, limit = 1e-3, unit = "of those with contacts" })
    series[#series + 1] = { name = ("%s, %g ms"):format(task, 1e3 * dt), x = m.x, y = m.y }
  end
end
if p.plot ~= "" then
  chart.write(p.plot, { title = "Energy above that of the throw", x = { label = "time [s]" }, y = { label = "J" }, legend = "beside", series = series })
end
