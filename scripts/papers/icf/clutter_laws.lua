-- SPDX-License-Identifier: Apache-2.0
-- Clutter under the contact laws, as in the paper on irrotational contact fields [castro-2023], section X: 40 spheres and boxes
-- fall into a container and come to rest, with the paper's parameters. What each law costs the solver, and when.
--
--   study = time       iterations, condition number and effective stiction tolerance over time
--   study = dt         iterations and condition number over the step
--   study = stiffness  mean penetration at rest, iterations and condition number over 1e4 to 1e13 N/m; what the near-rigid bound of sap
--                      makes of a rigid contact. It runs longer: a ball that rolls on at speed v moves by (v dt)^2/2r out of the contact's
--                      tangent plane in a step, and one at 1 cm/s, as there are after 3 s, hides all others from 1e10 N/m on
--   study = cost       time of a step after the impacts, beside sap's; all laws step in turn, so that a busy machine is busy for
--                      all. Instructions: tests/bench/law_cost.sh
--
-- The effective stiction tolerance is the slip at which the friction of a contact that sticks would come to its limit if it grew on
-- as it began, slip mu gamma_n/|gamma_t|: sigma w mu gamma_n of sap, v_s of the others. Of each sampled step the median counts.
-- Means of condition numbers and tolerances are geometric. Iterations and condition numbers are those of the first `seconds` in every study.
local stn = require "stiction"
local clutter = require "clutter_scene"
local chart = require "chart"
local numbers, statistics = require "numbers", require "statistics"

local p = clutter.parameters {
  study = stn.choice { "all", "time", "dt", "stiffness", "cost" },
  bodies = 40, stiffness = 1e7, dissipation = 10.0, relaxation_time = 1e-4, dt = 2e-3, seconds = 3.0,
  sigma = 1e-3, stiction_tolerance = 1e-4,
  beta = 0.0,         -- of sap
  tolerance = 1e-5,
  impacts = 0.5,      -- until then most bodies hit others or the floor [s]
  transient = 2.0,    -- the first part, with the impacts [s]
  settle = 10.0,      -- length of the runs of the stiffness study [s]
  rest = 1.25,        -- the part at their end over which penetration is measured [s]
  piles = 3,          -- for every point, with other seeds
  sample = 20,        -- steps of 2 ms, or the same time in others, from one condition number to the next
  laws = "sap lagged similar lagged_regularized",
  steps = "5e-4 1e-3 2e-3 5e-3 1e-2",
  from = 4, to = 13,  -- decades of the stiffness
  table = "", plot = "", -- of one study: a CSV file, an SVG file of `show`
  show = stn.choice { "iterations", "condition", "tolerance", "penetration" },
}
if p.study == "all" and p.table .. p.plot ~= "" then
  error("table and plot are those of one study: set study", 0)
end

local function words(text)
  local list = {}
  for word in text:gmatch "%S+" do list[#list + 1] = word end
  return list
end
local laws = words(p.laws)

local function settings(law, beta)
  local sap = law == "sap"
  return { law, sigma = (sap or law == "lagged_regularized") and p.sigma or nil, beta = sap and beta or nil,
    stiction_tolerance = not sap and p.stiction_tolerance or nil, lag = law:find "^lagged" and "gap" or nil } -- as published
end

-- A pile; `o`: law, seed, and what differs from the parameters.
local function make(o)
  local q = setmetatable({ seed = o.seed, stiffness = o.stiffness, dissipation = o.law ~= "sap" and p.dissipation or 0 }, { __index = p })
  local world = stn.world { dt = o.dt or p.dt, solver = { "sap", tolerance = p.tolerance, max_iterations = 200 }, law = settings(o.law, o.beta or p.beta) }
  clutter.build(world, q)
  return world
end

-- Median of slip mu gamma_n/|gamma_t| over contacts that stick; NaN without any.
local function stiction_tolerance(step)
  local found = {}
  for _, contact in ipairs(step:contacts()) do
    local limit = contact.mu * contact.normal_impulse
    if limit > 0 and contact.friction_impulse > 0.01 * limit and contact.friction_impulse < 0.7 * limit then
      found[#found + 1] = contact.slip_speed * limit / contact.friction_impulse
    end
  end
  return #found > 0 and statistics.median(found) or 0 / 0
end

-- Mean penetration and normal force of the contacts that overlap.
local function load_of(step, dt, sum)
  for _, contact in ipairs(step:contacts()) do
    if contact.distance < 0 then
      sum.depth, sum.force, sum.count = sum.depth - contact.distance, sum.force + contact.normal_impulse / dt, sum.count + 1
    end
  end
end

local function geometric(samples, key, from, to)
  local sum, count = 0, 0
  for _, sample in ipairs(samples) do
    local value = sample[key]
    if sample.time > from and sample.time <= to and value == value then
      sum, count = sum + math.log(value), count + 1
    end
  end
  return math.exp(sum / count)
end

-- Runs a pile: means before and after p.transient and in all, what did not converge, and samples over time.
local function run(o)
  local world <close> = make(o)
  local out = { early = 0, late = 0, most = 0, missed = 0, stalled = 0, samples = {} }
  local early, late, since, rest = 0, 0, 0, { depth = 0, force = 0, count = 0 }
  local seconds, every = o.seconds or p.seconds, math.max(1, math.floor(p.sample * 2e-3 / world.dt + 0.5))
  for step in world:run { seconds = seconds } do
    local n = step.iterations
    if step.time <= p.transient then
      early, out.early = early + 1, out.early + n
    elseif step.time <= p.seconds then
      late, out.late = late + 1, out.late + n
    end
    out.most, since = math.max(out.most, n), since + n
    out.missed = out.missed + (step.converged and 0 or 1)
    out.stalled = out.stalled + (step.status == "stalled" and 1 or 0)
    if step.index % every == 0 and step.time <= p.seconds then
      out.samples[#out.samples + 1] = { time = step.time, iterations = since / every, condition = world:condition_number(),
        tolerance = stiction_tolerance(step) }
      since = 0
    end
    if step.time > seconds - p.rest and step.index % 10 == 0 then
      load_of(step, world.dt, rest)
    end
  end
  out.iterations = (out.early + out.late) / (early + late)
  out.early, out.late = out.early / early, out.late / late
  out.condition = geometric(out.samples, "condition", 0, p.seconds)
  out.depth, out.force = rest.depth / rest.count, rest.force / rest.count
  return out
end

-- The median of each result over the piles, and what did not go well in all of them.
local function over_piles(o, keys)
  local found, row = {}, { missed = 0, stalled = 0, most = 0 }
  for seed = 1, p.piles do
    o.seed = seed
    local result = run(o)
    for _, key in ipairs(keys) do
      found[key] = found[key] or {}
      found[key][seed] = result[key]
    end
    row.missed, row.stalled = row.missed + result.missed, row.stalled + result.stalled
    row.most = math.max(row.most, result.most)
  end
  for key, values in pairs(found) do row[key] = statistics.median(values) end
  return row
end

local function write(header, lines)
  if p.table ~= "" then
    local file <close> = assert(io.open(p.table, "w"))
    assert(file:write(header, "\n", table.concat(lines, "\n"), "\n"))
  end
end

local labels = { iterations = "mean iterations a step", condition = "condition number", tolerance = "effective stiction tolerance [m/s]",
  penetration = "mean penetration [m]" }

-- Draws p.show: `quantities[p.show]` are the lines of each law.
local function draw(title, x, quantities)
  if p.plot ~= "" then
    local series = quantities[p.show] or error(("study = %s has nothing to show of '%s'"):format(p.study, p.show), 0)
    chart.write(p.plot, { title = ("%s: %s"):format(title, labels[p.show]), x = x, series = series,
      y = { label = labels[p.show], log = p.show ~= "iterations" } })
  end
end

-- Empty lines of every law for each of the quantities.
local function lines_of(keys)
  local quantities = {}
  for _, key in ipairs(keys) do
    quantities[key] = {}
    for i, law in ipairs(laws) do quantities[key][i] = { name = law, x = {}, y = {} } end
  end
  return quantities
end

-- Results of each law over those of the first, and of lagged_regularized over those of lagged.
local function compare_laws(name, values)
  for i = 2, #laws do
    stn.result(("%s over %s: %s"):format(laws[i], laws[1], name), values[laws[i]] / values[laws[1]])
  end
  if values.lagged and values.lagged_regularized and laws[1] ~= "lagged" then
    stn.result(("lagged_regularized over lagged: %s"):format(name), values.lagged_regularized / values.lagged)
  end
end

local function say(format, ...)
  io.stderr:write(format:format(...), "\n")
end

-- --------------------------------------------------------------------------------------------------------------- time

-- Mean of a sampled quantity over the piles, sample by sample: geometric for all but iterations.
local function average(runs, key, i)
  local sum, count = 0, 0
  for _, samples in ipairs(runs) do
    local value = samples[i][key]
    if value == value then
      sum, count = sum + (key == "iterations" and value or math.log(value)), count + 1
    end
  end
  return count == 0 and 0 / 0 or key == "iterations" and sum / count or math.exp(sum / count)
end

local function between(samples, key, from, to)
  if key ~= "iterations" then
    return geometric(samples, key, from, to)
  end
  local sum, count = 0, 0
  for _, sample in ipairs(samples) do
    if sample.time > from and sample.time <= to then
      sum, count = sum + sample.iterations, count + 1
    end
  end
  return sum / count
end

local function study_time()
  local quantities = { "iterations", "condition", "tolerance" }
  local of_law, table_lines, series = {}, {}, lines_of(quantities)
  for i, law in ipairs(laws) do
    local runs, missed = {}, 0
    for seed = 1, p.piles do
      local result = run { law = law, seed = seed }
      runs[seed], missed = result.samples, missed + result.missed
    end
    stn.check(law .. ": steps that did not converge", { value = missed, limit = 0, unit = "steps" })
    of_law[law] = {}
    for k, sample in ipairs(runs[1]) do
      local row = { time = sample.time }
      for _, key in ipairs(quantities) do
        row[key] = average(runs, key, k)
        series[key][i].x[k], series[key][i].y[k] = row.time, row[key]
      end
      of_law[law][k] = row
      table_lines[#table_lines + 1] = ("%s,%g,%.4g,%.4g,%.4g"):format(law, row.time, row.iterations, row.condition, row.tolerance)
    end
  end
  local parts = { { "in the impacts", 0, p.impacts }, { "first part", 0, p.transient }, { "afterwards", p.transient, p.seconds } }
  say("to %g s, to %g s, then       iterations               condition number              effective stiction tolerance [m/s]", p.impacts, p.transient)
  local text = {}
  for _, law in ipairs(laws) do text[law] = ("%-20s"):format(law) end
  for _, key in ipairs(quantities) do
    for _, part in ipairs(parts) do
      local values = {}
      for _, law in ipairs(laws) do
        values[law] = between(of_law[law], key, part[2], part[3])
        text[law] = text[law] .. (key == "iterations" and "%7.2f" or "%10.2e"):format(values[law])
        stn.result(("%s: %s, %s"):format(law, key, part[1]), values[law], key == "tolerance" and "m/s" or "1")
      end
      compare_laws(("%s, %s"):format(key, part[1]), values)
    end
  end
  for _, law in ipairs(laws) do
    say("%s", text[law])
    if law == "lagged" or law == "similar" then -- a contact counts up to r = 0.7 of its limit, where v_s/sqrt(1 - r^2) is 1.4 v_s; the impulse of the
      -- step before, which lagged takes, is another where bodies still move
      local found = between(of_law[law], "tolerance", p.transient, p.seconds) / p.stiction_tolerance
      stn.check(law .. ": effective stiction tolerance over v_s", { value = found, least = law == "similar" and 0.999 or 0.9 })
      stn.check(law .. ": effective stiction tolerance over v_s, at most", { value = found, limit = 1.4 })
    end
  end
  write("law,time_s,iterations,condition_number,effective_stiction_tolerance_m_per_s", table_lines)
  draw("Clutter", { label = "t [s]" }, series)
end

-- ----------------------------------------------------------------------------------------------------------------- dt

local function study_dt()
  local table_lines, series = {}, lines_of { "iterations", "condition" }
  local iterations, condition = {}, {}
  local steps = numbers(p.steps, "steps")
  table.sort(steps)
  say "                      dt [s]    iterations: all  first part  afterwards   most   stalled   condition"
  for i, law in ipairs(laws) do
    iterations[law], condition[law] = {}, {}
    for k, dt in ipairs(steps) do
      local row = over_piles({ law = law, dt = dt }, { "iterations", "early", "late", "condition" })
      say("%-20s %7g %17.2f %11.2f %11.2f %6d %9d %11.2e", law, dt, row.iterations, row.early, row.late, row.most, row.stalled, row.condition)
      stn.check(("%s, dt = %g s: steps that did not converge"):format(law, dt), { value = row.missed, limit = 0, unit = "steps" })
      stn.result(("%s: iterations at %g s"):format(law, dt), row.iterations)
      stn.result(("%s: condition at %g s"):format(law, dt), row.condition)
      table_lines[#table_lines + 1] = ("%s,%g,%.4g,%.4g,%.4g,%d,%.4g"):format(law, dt, row.iterations, row.early, row.late, row.most, row.condition)
      iterations[law][k], condition[law][k] = row.iterations, row.condition
      for key, value in pairs { iterations = row.iterations, condition = row.condition } do
        series[key][i].x[k], series[key][i].y[k] = dt, value
      end
    end
    stn.result(law .. ": iterations at the largest step over those at the smallest", iterations[law][#steps] / iterations[law][1])
    stn.result(law .. ": condition at the largest step over that at the smallest", condition[law][#steps] / condition[law][1])
  end
  if condition.lagged and condition.lagged_regularized then
    for k, word in pairs { [1] = "smallest", [#steps] = "largest" } do
      stn.result(("lagged over lagged_regularized: iterations at the %s step"):format(word), iterations.lagged[k] / iterations.lagged_regularized[k])
      stn.result(("lagged over lagged_regularized: condition at the %s step"):format(word), condition.lagged[k] / condition.lagged_regularized[k])
    end
  end
  write("law,dt_s,iterations,iterations_first_part,iterations_afterwards,most_iterations,condition_number", table_lines)
  draw("Clutter", { label = "dt [s]", log = true }, series)
end

-- ---------------------------------------------------------------------------------------------------------- stiffness

local function study_stiffness()
  local table_lines, series = {}, lines_of { "penetration", "iterations", "condition" }
  say "                      k [N/m]  penetration [m]  k pen./force  iterations   most  stalled  not converged   condition"
  for i, law in ipairs(laws) do
    local decades, depths, iterations, condition, off = {}, {}, {}, {}, 0
    for decade = p.from, p.to do
      local k = 10.0 ^ decade
      local row = over_piles({ law = law, stiffness = k, seconds = p.settle }, { "depth", "force", "iterations", "condition" })
      say("%-20s %8.0e %16.3e %13.4f %11.2f %6d %8d %14d %11.2e", law, k, row.depth, k * row.depth / row.force, row.iterations, row.most,
        row.stalled, row.missed, row.condition)
      table_lines[#table_lines + 1] = ("%s,%.0e,%.6g,%.6g,%.4g,%d,%d,%d,%.4g"):format(law, k, row.depth, row.force, row.iterations, row.most,
        row.stalled, row.missed, row.condition)
      local share = row.missed / (p.piles * math.floor(p.settle / p.dt + 0.5))
      stn.check(("%s, k = %.0e N/m: share of the steps that did not converge"):format(law, k), { value = share, limit = 1e-4 })
      stn.result(("%s: share of the steps that did not converge at 1e%d N/m"):format(law, decade), share)
      stn.result(("%s: penetration at 1e%d N/m"):format(law, decade), row.depth, "m")
      if decade <= 12 then
        decades[#decades + 1], depths[#depths + 1] = decade, math.log(row.depth, 10)
      end
      if decade <= 8 then -- stiffer contacts are less deep than balls that roll leave their tangent planes in a step
        local now = math.abs(k * row.depth / row.force - 1)
        off = now <= off and off or now
      end
      iterations[decade], condition[decade] = row.iterations, row.condition
      for key, value in pairs { penetration = row.depth, iterations = row.iterations, condition = row.condition } do
        local line = series[key][i]
        line.x[#line.x + 1], line.y[#line.y + 1] = k, value
      end
    end
    local steel = math.min(7, p.to)
    stn.result(("%s: iterations at 1e%d N/m over those of the softest"):format(law, steel), iterations[steel] / iterations[p.from])
    stn.result(("%s: condition at 1e%d N/m over that of the softest"):format(law, steel), condition[steel] / condition[p.from])
    stn.result(law .. ": iterations at the stiffest over those of the softest", iterations[p.to] / iterations[p.from])
    stn.result(law .. ": condition at the stiffest over that of the softest", condition[p.to] / condition[p.from])
    if #decades > 1 then
      local found = statistics.slope(decades, depths)
      stn.result(law .. ": slope of the mean penetration", found)
      if #decades >= 6 then -- bodies come to rest elsewhere at each stiffness: fewer decades do not average that
        stn.check(law .. ": slope of the mean penetration off -1 by", { value = math.abs(found + 1), limit = 0.03 })
      end
    end
    -- similar holds bodies that creep up by mu dt |v_t|, sap by mu (dt + tau_d) |v_t| where its creep is a tenth
    stn.check(law .. ": mean penetration off the mean force over k by", { value = off, limit = law == "similar" and 0.3 or 0.05 })
  end
  local rigid = over_piles({ law = "sap", beta = 1, dt = 5e-3, stiffness = math.huge, seconds = p.settle }, { "depth", "force" })
  stn.result("near-rigid stiffness of sap at dt = 5 ms", rigid.force / rigid.depth, "N/m")
  stn.result("near-rigid penetration of sap at dt = 5 ms", rigid.depth, "m")
  say("sap, beta = 1, dt = 5 ms, rigid: %.3e m under %.2f N, as of %.2e N/m", rigid.depth, rigid.force, rigid.force / rigid.depth)
  write("law,stiffness_N_per_m,mean_penetration_m,mean_force_N,iterations,most_iterations,stalled,not_converged,condition_number", table_lines)
  draw("Clutter", { label = "k [N/m]", log = true }, series)
end

-- --------------------------------------------------------------------------------------------------------------- cost

local function study_cost()
  local duration, iterations, late = {}, {}, 0
  for _, law in ipairs(laws) do duration[law], iterations[law] = {}, 0 end
  for seed = 1, p.piles do
    local worlds <close> = setmetatable({}, { __close = function(all) for _, world in pairs(all) do world:close() end end })
    for _, law in ipairs(laws) do worlds[law] = make { law = law, seed = seed } end
    for n = 1, math.floor(p.seconds / p.dt + 0.5) do
      for _, law in ipairs(laws) do
        local step = worlds[law]:step()
        if n * p.dt > p.transient then
          duration[law][#duration[law] + 1], iterations[law] = step.step_us, iterations[law] + step.iterations
        end
      end
    end
  end
  local base
  say("after %g s              us median   iterations   over %s", p.transient, laws[1])
  for _, law in ipairs(laws) do
    local mean, us = iterations[law] / #duration[law], statistics.median(duration[law])
    base = base or us
    say("%-20s %12.1f %12.2f %12.2f", law, us, mean, us / base)
    stn.result(law .. ": time of a step over that of " .. laws[1], us / base, "1")
  end
end

for _, study in ipairs { { "cost", study_cost }, { "time", study_time }, { "dt", study_dt }, { "stiffness", study_stiffness } } do
  if p.study == "all" or p.study == study[1] then
    study[2]()
  end
end
