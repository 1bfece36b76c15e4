-- SPDX-License-Identifier: Apache-2.0
-- Figure 8 of the paper on quasistatic stepping [pang-2021]: where the red cube of pick_and_place.lua is over time, x, y, z and the angle
-- of its rotation, in quasistatic steps of several lengths and in the ground truth, a run with inertia and h = 5e-5 s.
--
--   stiction run scripts/papers/quasistatic/trajectories.lua --set truth=truth.csv --set show=angle --set plot=angle.svg
--
-- `truth`: the ground truth is kept there and read from there the next time. show: what the chart has.
local stn = require "stiction"
local chart = require "chart"
local numbers = require "numbers"
local scene = require "pick_and_place_scene"

local p = scene.parameters {
  steps = "0.01, 0.1, 0.4",    -- h [s]
  truth = "", truth_dt = 5e-5, -- file; [s]
  show = stn.choice { "x", "y", "z", "angle" },
  plot = "",
}

local runs = { { name = ("with inertia, h = %g s"):format(p.truth_dt), trace = scene.truth(p, p.truth, p.truth_dt) } }
for _, h in ipairs(numbers(p.steps, "steps")) do
  runs[#runs + 1] = { name = ("quasistatic, h = %g s"):format(h), h = h, trace = scene.trace(p, { dt = h }) }
end

local identity = stn.pose {}
local quantities = {
  { "x", "m", function(pose) return pose.xyz[1] end }, { "y", "m", function(pose) return pose.xyz[2] end },
  { "z", "m", function(pose) return pose.xyz[3] end }, { "angle", "deg", function(pose) return identity:angle(pose) / stn.deg end },
}

-- A quantity of the ground truth at a time.
local function truth_at(of, time)
  local t, pose = runs[1].trace.t, runs[1].trace.pose
  local k = math.max(1, math.min(#t - 1, math.floor(time / (t[3] - t[2])) + 1))
  while k > 1 and t[k] > time do k = k - 1 end
  while k < #t - 1 and t[k + 1] < time do k = k + 1 end
  local x = (time - t[k]) / (t[k + 1] - t[k])
  return of(pose[k]) + x * (of(pose[k + 1]) - of(pose[k]))
end

io.stderr:write "off the ground truth: mean while it is lifted (2.5 to 6 s), largest, and at the end\n"
for _, quantity in ipairs(quantities) do
  local name, unit, of = quantity[1], quantity[2], quantity[3]
  local series = {}
  for k, run in ipairs(runs) do
    series[k] = { name = run.name, x = run.trace.t, y = {} }
    local most, lifted, count, last = 0, 0, 0, 0
    for i, pose in ipairs(run.trace.pose) do
      series[k].y[i] = of(pose)
      if k > 1 then
        last = series[k].y[i] - truth_at(of, run.trace.t[i])
        most = math.max(most, math.abs(last))
        if run.trace.t[i] > 2.499 and run.trace.t[i] < 6.001 then lifted, count = lifted + last, count + 1 end
      end
    end
    if k > 1 then
      io.stderr:write(("%-6s %-26s %10.5f %10.5f %10.5f %s\n"):format(name, run.name, lifted / count, most, last, unit))
      stn.result(("%s_off_in_lift, %s"):format(name, run.name), math.abs(lifted / count), unit)
      stn.result(("%s_off_most, %s"):format(name, run.name), most, unit)
      -- Drift in the grasp is of order 1, up to 29 mm per second of step (pick_and_place.lua). And where the path's speed jumps by v, springs
      -- with critical damping are off by up to v/(e w): 2.7 mm at 74 mm/s and w = 10 1/s of the second joint, which carries most, 0.3 degrees at
      -- 22.5 deg/s and w = 28 1/s of the last one, which turns the cube.
      local limit = name == "angle" and 0.1 * 22.5 * run.h + 2 * 0.3 or 0.04 * run.h + 2 * 2.7e-3
      stn.check(("%s off the ground truth, %s"):format(name, run.name), { value = most, limit = limit, unit = unit })
    end
  end
  if p.plot ~= "" and p.show == name then
    chart.write(p.plot, { title = "pick and place: the red cube's " .. name, legend = "beside", x = { label = "t [s]" }, y = { label = unit },
      series = chart.thinned(series, 400) })
  end
end
for k = 2, #runs do stn.check(runs[k].name .. ": the cube is on the stack", scene.succeeded(runs[k].trace.outcome)) end
