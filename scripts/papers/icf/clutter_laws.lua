-- SPDX-License-Identifier: Apache-2.0
-- Clutter under the contact laws, as in the paper on irrotational contact fields [castro-2023], section X: 40 spheres and boxes
-- fall into a container and come to rest, with the paper's parameters. What each law costs the solver, and when.
--
--   study = time       iterations, condition number and effective stiction tolerance over time
--   study = dt         iterations over the step
--   study = stiffness  mean penetration at rest and iterations over 1e4 to 1e13 N/m; what the near-rigid bound of sap makes of a
--                      rigid contact. It runs longer: a ball that rolls on at speed v moves by (v dt)^2/2r out of the contact's
--                      tangent plane in a step, and one at 1 cm/s, as there are after 3 s, hides all others from 1e10 N/m on
--   study = cost       time of a step after the impacts, beside sap's; all laws step in turn, so that a busy machine is busy for
--                      all. Instructions: tests/bench/law_cost.sh
--
-- The effective stiction tolerance is the slip at which the friction of a contact that sticks would come to its limit if it grew on
-- as it began, slip mu gamma_n/|gamma_t|: sigma w mu gamma_n of sap, v_s of the others. Of each sampled step the median counts.
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
  transient = 2.0,    -- the first part, with the impacts [s]
  settle = 10.0,      -- length of the runs of the stiffness study [s]
  rest = 1.25,        -- the part at their end over which penetration is measured [s]
  piles = 3,          -- for every point, with other seeds
  sample = 20,        -- steps from one condition number to the next
  laws = "sap lagged similar lagged_regularized",
  steps = "5e-4 1e-3 2e-3 5e-3 1e-2",
  from = 4, to = 13,  -- decades of the stiffness
  folder = "",        -- where tables (CSV) and charts (SVG) go
}

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

-- Runs a pile: means before and after p.transient, what did not converge, and, asked for, samples over time.
local function run(o)
  local world <close> = make(o)
  local out = { early = 0, late = 0, most = 0, missed = 0, stalled = 0, samples = {} }
  local early, late, since, rest = 0, 0, 0, { depth = 0, force = 0, count = 0 }
  local seconds = o.seconds or p.seconds
  for step in world:run { seconds = seconds } do
    local n = step.iterations
    if step.time <= p.transient then
      early, out.early = early + 1, out.early + n
    else
      late, out.late = late + 1, out.late + n
    end
    out.most, since = math.max(out.most, n), since + n
    out.missed = out.missed + (step.converged and 0 or 1)
    out.stalled = out.stalled + (step.status == "stalled" and 1 or 0)
    if o.samples and step.index % p.sample == 0 then
      out.samples[#out.samples + 1] = { time = step.time, iterations = since / p.sample, condition = world:condition_number(),
        tolerance = stiction_tolerance(step) }
      since = 0
    end
    if step.time > seconds - p.rest and step.index % 10 == 0 then
      load_of(step, world.dt, rest)
    end
  end
  out.iterations = (out.early + out.late) / (early + late)
  out.early, out.late = out.early / early, out.late / late
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

local function write(name, header, lines)
  if p.folder ~= "" then
    local file = assert(io.open(p.folder .. "/clutter_laws_" .. name .. ".csv", "w"))
    assert(file:write(header, "\n", table.concat(lines, "\n"), "\n"))
    assert(file:close())
  end
end

local function draw(name, spec)
  if p.folder ~= "" then
    chart.write(p.folder .. "/clutter_laws_" .. name .. ".svg", spec)
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
  local sum, count = 0, 0
  for _, sample in ipairs(samples) do
    local value = sample[key]
    if sample.time > from and sample.time <= to and value == value then
      sum, count = sum + (key == "iterations" and value or math.log(value)), count + 1
    end
  end
  return key == "iterations" and sum / count or math.exp(sum / count)
end

local function study_time()
  local quantities = { "iterations", "condition", "tolerance" }
  local of_law, lines = {}, {}
  for _, law in ipairs(laws) do
    local runs = {}
    for seed = 1, p.piles do
      runs[seed] = run { law = law, seed = seed, samples = true }.samples
    end
    of_law[law] = {}
    for i, sample in ipairs(runs[1]) do
      local row = { time = sample.time }
      for _, key in ipairs(quantities) do row[key] = average(runs, key, i) end
      of_law[law][i] = row
      lines[#lines + 1] = ("%s,%g,%.4g,%.4g,%.4g"):format(law, row.time, row.iterations, row.condition, row.tolerance)
    end
  end
  say("first %g s, then to %g s      iterations         condition number      effective stiction tolerance [m/s]", p.transient, p.seconds)
  for _, law in ipairs(laws) do
    local text = ("%-24s"):format(law)
    for _, key in ipairs(quantities) do
      local early, late = between(of_law[law], key, 0, p.transient), between(of_law[law], key, p.transient, p.seconds)
      text = text .. (key == "iterations" and "%11.2f %6.2f" or "%13.2e %9.2e"):format(early, late)
      stn.result(("%s: %s, first part"):format(law, key), early, key == "tolerance" and "m/s" or "1")
      stn.result(("%s: %s, afterwards"):format(law, key), late, key == "tolerance" and "m/s" or "1")
    end
    say("%s", text)
  end
  write("time", "law,time_s,iterations,condition_number,effective_stiction_tolerance_m_per_s", lines)
  local labels = { iterations = "iterations", condition = "condition number", tolerance = "effective stiction tolerance [m/s]" }
  for _, key in ipairs(quantities) do
    local series = {}
    for i, law in ipairs(laws) do
      series[i] = { name = law, x = {}, y = {} }
      for k, row in ipairs(of_law[law]) do series[i].x[k], series[i].y[k] = row.time, row[key] end
    end
    draw(key, { title = "Clutter: " .. labels[key], x = { label = "t [s]" }, series = series, y = { label = labels[key], log = key ~= "iterations" } })
  end
end

-- ----------------------------------------------------------------------------------------------------------------- dt

local function study_dt()
  local lines, series = {}, {}
  say "                      dt [s]    iterations: all  first part  afterwards   most   stalled"
  for i, law in ipairs(laws) do
    series[i] = { name = law .. ", after the impacts", x = {}, y = {} }
    for k, dt in ipairs(numbers(p.steps, "steps")) do
      local row = over_piles({ law = law, dt = dt }, { "iterations", "early", "late" })
      say("%-20s %7g %17.2f %11.2f %11.2f %6d %9d", law, dt, row.iterations, row.early, row.late, row.most, row.stalled)
      stn.check(("%s, dt = %g s: steps that did not converge"):format(law, dt), { value = row.missed, limit = 0, unit = "steps" })
      lines[#lines + 1] = ("%s,%g,%.4g,%.4g,%.4g,%d"):format(law, dt, row.iterations, row.early, row.late, row.most)
      series[i].x[k], series[i].y[k] = dt, row.late
    end
  end
  write("dt", "law,dt_s,iterations,iterations_first_part,iterations_afterwards,most_iterations", lines)
  draw("dt", { title = "Iterations over the step", x = { label = "dt [s]", log = true }, y = { label = "iterations" }, series = series })
end

-- ---------------------------------------------------------------------------------------------------------- stiffness

local function study_stiffness()
  local lines, series = {}, {}
  say "                      k [N/m]  penetration [m]  k pen./force  iterations   most  stalled  not converged"
  for i, law in ipairs(laws) do
    local decades, depths = {}, {}
    series[i] = { name = law, x = {}, y = {} }
    for decade = p.from, p.to do
      local k = 10.0 ^ decade
      local row = over_piles({ law = law, stiffness = k, seconds = p.settle }, { "depth", "force", "iterations" })
      say("%-20s %8.0e %16.3e %13.4f %11.2f %6d %8d %14d", law, k, row.depth, k * row.depth / row.force, row.iterations, row.most, row.stalled,
        row.missed)
      lines[#lines + 1] = ("%s,%.0e,%.6g,%.6g,%.4g,%d,%d,%d"):format(law, k, row.depth, row.force, row.iterations, row.most, row.stalled, row.missed)
      local share = row.missed / (p.piles * math.floor(p.settle / p.dt + 0.5))
      stn.check(("%s, k = %.0e N/m: share of the steps that did not converge"):format(law, k), { value = share, limit = 1e-4 })
      if decade <= 12 then
        decades[#decades + 1], depths[#depths + 1] = decade, math.log(row.depth, 10)
      end
      series[i].x[decade - p.from + 1], series[i].y[decade - p.from + 1] = k, row.depth
    end
    if #decades > 1 then
      local found = statistics.slope(decades, depths)
      stn.result(law .. ": slope of the mean penetration", found, "1")
      stn.check(law .. ": slope of the mean penetration off -1 by", { value = math.abs(found + 1), limit = 0.03 })
    end
  end
  local rigid = over_piles({ law = "sap", beta = 1, dt = 5e-3, stiffness = math.huge, seconds = p.settle }, { "depth", "force" })
  stn.result("near-rigid stiffness of sap at dt = 5 ms", rigid.force / rigid.depth, "N/m")
  say("sap, beta = 1, dt = 5 ms, rigid: %.3e m under %.2f N, as of %.2e N/m", rigid.depth, rigid.force, rigid.force / rigid.depth)
  write("stiffness", "law,stiffness_N_per_m,mean_penetration_m,mean_force_N,iterations,most_iterations,stalled,not_converged", lines)
  draw("stiffness", { title = "Penetration at rest", x = { label = "k [N/m]", log = true }, y = { label = "mean penetration [m]", log = true }, series = series })
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
