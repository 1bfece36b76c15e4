-- SPDX-License-Identifier: Apache-2.0
-- The slip parameter sigma of the law sap, as in the SAP paper [castro-2022], section VI-C: clutter at rest for sigma from
-- 1e-7 to 1e-1. Mean slip of the contacts that stick stays below sigma mu dt g, the condition number goes as 1/sigma, and
-- the iterations grow slowly.
local stn = require "stiction"
local clutter = require "clutter_scene"
local chart = require "chart"
local statistics = require "statistics"

local p = clutter.parameters { bodies = 40, from = -7, to = -1, tolerance = 1e-5, plot = "" } -- plot: an SVG file
local g = 9.81

-- One run: what the last fifth of the steps says.
local function run(sigma)
  local world <close> = stn.world {
    dt = p.dt, solver = { "sap", tolerance = p.tolerance }, law = { "sap", sigma = sigma },
  }
  clutter.build(world, p)
  local slip, sticking, iterations, steps, condition, conditions = 0, 0, 0, 0, 0, 0
  for step in world:run { seconds = p.seconds } do
    if step.time > 0.8 * p.seconds then
      steps, iterations = steps + 1, iterations + step.iterations
      for _, contact in ipairs(step:contacts()) do
        if contact.normal_impulse > 0 and contact.friction_impulse < 0.999 * contact.mu * contact.normal_impulse then
          slip, sticking = slip + contact.slip_speed, sticking + 1
        end
      end
      if steps % 10 == 1 then
        condition, conditions = condition + math.log(world:condition_number()), conditions + 1
      end
    end
  end
  return {
    sigma = sigma, slip = slip / math.max(1, sticking), bound = sigma * p.mu * p.dt * g,
    condition = math.exp(condition / conditions), iterations = iterations / steps,
  }
end

local rows = {}
io.stderr:write("   sigma   mean slip [m/s]   sigma mu dt g   condition   iterations\n")
for exponent = p.from, p.to do
  local row = run(10.0 ^ exponent)
  rows[#rows + 1] = row
  io.stderr:write(("%8.0e %17.2e %15.2e %11.2e %12.2f\n"):format(row.sigma, row.slip, row.bound, row.condition, row.iterations))
  stn.check(("mean slip at sigma %.0e"):format(row.sigma), { value = row.slip, limit = row.bound, unit = "m/s" })
end
local function column(key, of)
  local values = {}
  for i, row in ipairs(rows) do
    values[i] = of and of(row[key]) or row[key]
  end
  return values
end
if p.plot ~= "" then
  chart.write(p.plot, {
    title = "Slip at rest over the slip parameter", x = { label = "sigma", log = true }, y = { label = "m/s", log = true },
    series = {
      { name = "mean slip of sticking contacts", x = column "sigma", y = column "slip" },
      { name = "sigma mu dt g", x = column "sigma", y = column "bound" },
    },
  })
end
if #rows > 2 then
  local power = statistics.slope(column("sigma", math.log), column("condition", math.log))
  stn.result("power_of_the_condition_number", power, "1")
  stn.check("condition number against 1/sigma", { value = math.abs(power + 1), limit = 0.2, unit = "1" })
end
