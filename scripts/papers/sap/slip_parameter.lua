-- SPDX-License-Identifier: Apache-2.0
-- The slip parameter sigma of the law sap, as in the SAP paper [castro-2022], section VI-C: clutter at rest for sigma from
-- 1e-7 to 1e-1, with walls and on the open floor. Mean slip of the contacts that stick stays below sigma mu dt g and is proportional to it
-- (Fig. 14), the condition number goes as 1/sigma, and the iterations grow slowly (Fig. 15). --set solver.anticipate=false is Newton's method as
-- published.
local stn = require "stiction"
local clutter = require "clutter_scene"
local chart = require "chart"
local statistics = require "statistics"

local p = clutter.parameters {
  bodies = 40, from = -7, to = -1, tolerance = 1e-5,
  floors = stn.choice { "walls", "open", "both" },
  plot = "", -- an SVG file
  show = stn.choice { "slip", "hessian" }, -- its condition number, and iterations per step
}
local g = 9.81

-- One run: what the last fifth of the steps says, and the iterations of all.
local function run(sigma, walls)
  p.walls = walls
  local world <close> = stn.world {
    dt = p.dt, solver = { "sap", tolerance = p.tolerance }, law = { "sap", sigma = sigma },
  }
  clutter.build(world, p)
  local slip, sticking, iterations, steps, condition, conditions, unsolved = 0, 0, 0, 0, 0, 0, 0
  for step in world:run { seconds = p.seconds } do
    steps, iterations, unsolved = steps + 1, iterations + step.iterations, unsolved + (step.converged and 0 or 1)
    if step.time > 0.8 * p.seconds then
      for _, contact in ipairs(step:contacts()) do
        if contact.normal_impulse > 0 and contact.friction_impulse < 0.999 * contact.mu * contact.normal_impulse then
          slip, sticking = slip + contact.slip_speed, sticking + 1
        end
      end
      if steps % 50 == 0 then
        condition, conditions = condition + math.log(world:condition_number()), conditions + 1
      end
    end
  end
  return {
    sigma = sigma, slip = slip / math.max(1, sticking), bound = sigma * p.mu * p.dt * g,
    condition = math.exp(condition / conditions), iterations = iterations / steps, unsolved = unsolved, sticking = sticking,
  }
end

local function column(rows, key, of)
  local values = {}
  for i, row in ipairs(rows) do
    values[i] = of and of(row[key]) or row[key]
  end
  return values
end

local function study(floor)
  local rows = {}
  for exponent = p.from, p.to do
    local row = run(10.0 ^ exponent, floor == "walls")
    rows[#rows + 1] = row
    io.stderr:write(("%-6s %8.0e %17.2e %15.2e %11.2e %12.2f\n"):format(floor, row.sigma, row.slip, row.bound, row.condition, row.iterations))
    stn.check(("%s: mean slip at sigma %.0e"):format(floor, row.sigma), { value = row.slip, limit = row.bound, unit = "m/s" })
    stn.check(("%s: contacts stick at sigma %.0e"):format(floor, row.sigma), { value = row.sticking, least = 1 })
    stn.check(("%s: steps not solved at sigma %.0e"):format(floor, row.sigma), { value = row.unsolved, limit = 0 })
  end
  if #rows > 2 then
    local sigmas, most, ratios = column(rows, "sigma", math.log), 0, {}
    for i, row in ipairs(rows) do
      ratios[i] = row.slip / row.bound
      most = math.max(most, ratios[i])
    end
    local condition, slip = statistics.slope(sigmas, column(rows, "condition", math.log)), statistics.slope(sigmas, column(rows, "slip", math.log))
    local growth, square = statistics.slope(sigmas, column(rows, "iterations"))
    stn.result("power_of_the_condition_number_" .. floor, condition, "1")
    stn.result("power_of_the_slip_" .. floor, slip, "1")
    stn.result("slip_over_bound_" .. floor, statistics.median(ratios), "1")
    stn.result("largest_slip_over_bound_" .. floor, most, "1")
    stn.result("iterations_more_with_each_decade_" .. floor, -growth * math.log(10), "1")
    stn.result("r_squared_of_iterations_over_ln_sigma_" .. floor, square, "1")
    stn.check(floor .. ": power of the condition number, off -1 by", { value = math.abs(condition + 1), limit = 0.12 })
    if floor == "walls" then -- the open floor comes to rest in places that sigma changes
      stn.check("walls: power of the mean slip, off 1 by", { value = math.abs(slip - 1), limit = 0.1 })
    end
  end
  return rows
end

io.stderr:write("floor     sigma   mean slip [m/s]   sigma mu dt g   condition   iterations\n")
local found = {}
for _, floor in ipairs { "walls", "open" } do
  if p.floors == "both" or p.floors == floor then found[#found + 1] = { floor = floor, rows = study(floor) } end
end
if #found == 2 then
  local walls, open = found[1].rows, found[2].rows
  local ratios = {}
  for i = 1, #open do ratios[i] = open[i].slip / walls[i].slip end
  stn.result("slip_open_over_walls", statistics.median(ratios), "1")
  if #open > 1 then stn.result("slip_open_at_the_last_sigma_over_the_one_before", open[#open].slip / open[#open - 1].slip, "1") end
end
if p.plot ~= "" then
  local series = {}
  for _, each in ipairs(found) do
    for _, key in ipairs(p.show == "slip" and { "slip" } or { "condition", "iterations" }) do
      local names = { slip = each.floor, condition = "condition number, " .. each.floor, iterations = "iterations, " .. each.floor }
      series[#series + 1] = { name = names[key], x = column(each.rows, "sigma"), y = column(each.rows, key) }
    end
  end
  if p.show == "slip" then
    series[#series + 1] = { name = "sigma mu dt g", x = column(found[1].rows, "sigma"), y = column(found[1].rows, "bound") }
  end
  chart.write(p.plot, {
    title = "Clutter over the slip parameter", x = { label = "sigma", log = true },
    y = { label = p.show == "slip" and "mean slip of sticking contacts [m/s]" or "1", log = true }, series = series, legend = "beside",
  })
end
