-- SPDX-License-Identifier: Apache-2.0
-- Solvers beside each other on clutter, as in the SAP paper [castro-2022], section VI-C: iterations and time of every step (Fig. 9), contacts
-- (Fig. 11) and the speedup of SAP over an interior-point method (Fig. 12) over the number of bodies, and the errors of both (Fig. 13). Each
-- solver runs the scene by itself, with walls and on the open floor; boxes touch by the paper's 26 spheres.
--
--   published  sap with the Hessian of the potential and a line search to machine precision, as in the paper
--   sap        sap as it is here
--   ipm        the interior-point method
--
-- The time of a step is the least of `repeats` runs, which make the same steps.
--
-- eps_m is eq. (32), eps_mu eq. (33), both as the core's certificate finds them from v and gamma. SAP's impulses are the closed form of its
-- velocities, so its eps_mu is round-off.
local stn = require "stiction"
local numbers, chart = require "numbers", require "chart"
local clutter = require "clutter_scene"
local worse = require "worse"

local p = clutter.parameters {
  box_contact = stn.choice { "spheres26", "manifold" },
  sizes = "8,40",           -- numbers of bodies
  most_ipm = 40,            -- ipm runs up to so many
  floors = stn.choice { "both", "walls", "open" },
  solvers = "published sap ipm",
  tolerance = 1e-5,         -- of every solver
  repeats = 3,
  plot = "",                -- an SVG file
  show = stn.choice { "iterations", "time", "contacts", "speedup", "errors" }, -- the first two over time, of the largest size; the others over the sizes
}

local settings = {
  published = { "sap", anticipate = false, line_search_tolerance = 1e-15 },
  sap = { "sap" },
  ipm = { "ipm" },
}
local bound = math.sqrt(2) * p.tolerance -- of a step whose islands each keep the tolerance: README

-- Runs the scene once more for the times of its steps [us]: us[k] becomes the least so far. each(step): what else is looked at.
local function run(solver, us, each)
  local options = { tolerance = p.tolerance, max_iterations = 200 }
  for key, value in pairs(settings[solver]) do options[key] = value end
  local world <close> = stn.world { dt = p.dt, solver = options, law = "sap" }
  clutter.build(world, p)
  local k = 0
  for step in world:run { seconds = p.seconds } do
    k = k + 1
    us[k] = math.min(us[k] or math.huge, step.solve_us)
    if each then each(step) end
  end
end

local function measure(solver, bodies, walls)
  p.bodies, p.walls = bodies, walls
  local m = { times = {}, iterations = {}, us = {}, sum = 0, transient = 0, transient_us = 0, settled = 0, most = 0, total_us = 0, eps_m = 0, eps_mu = 0, worst_m = 0, worst_mu = 0, unsolved = 0 }
  run(solver, m.us, function(step)
    local k, c = #m.times + 1, step.certificate
    m.times[k], m.iterations[k] = step.time, step.iterations
    m.sum, m.most = m.sum + step.iterations, math.max(m.most, step.iterations)
    m.settled = m.settled + (step.time > p.seconds / 2 and step.iterations or 0)
    m.eps_m, m.eps_mu = m.eps_m + c.momentum, m.eps_mu + c.complementarity
    m.worst_m, m.worst_mu = worse(m.worst_m, c.momentum), worse(m.worst_mu, c.complementarity)
    m.unsolved, m.contacts = m.unsolved + (step.converged and 0 or 1), step.contact_count
  end)
  for _ = 2, p.repeats do run(solver, m.us) end
  local steps, transient_steps = #m.times, 0
  for k, us in ipairs(m.us) do
    m.total_us = m.total_us + us
    if m.times[k] <= 2 then
      transient_steps, m.transient, m.transient_us = transient_steps + 1, m.transient + m.iterations[k], m.transient_us + us
    end
  end
  m.transient = m.transient / transient_steps
  m.mean, m.settled, m.mean_us, m.eps_m, m.eps_mu = m.sum / steps, m.settled / (steps - steps // 2), m.total_us / steps, m.eps_m / steps, m.eps_mu / steps
  return m
end

local function report(floor, bodies, solver, m)
  local name = ("%s_%d_%s"):format(floor, bodies, solver)
  io.stderr:write(("%-6s %6d %-10s %8d %10.2f %10.2f %5d %12.1f   %8.1e %8.1e   %8.1e %8.1e\n"):format(floor, bodies, solver, m.contacts, m.mean, m.settled, m.most,
    m.mean_us, m.eps_m, m.worst_m, m.eps_mu, m.worst_mu))
  stn.result(name .. "_iterations", m.mean, "1")
  stn.result(name .. "_iterations_settled", m.settled, "1") -- the second half
  if m.settled > 0 then stn.result(name .. "_transient_over_settled", m.transient / m.settled, "1") end -- the first two seconds
  stn.result(name .. "_most_iterations", m.most, "1")
  stn.result(name .. "_us", m.mean_us, "us")
  stn.result(name .. "_eps_m", m.eps_m, "1")
  stn.result(name .. "_largest_eps_m", m.worst_m, "1")
  stn.result(name .. "_eps_mu", m.eps_mu, "1")
  stn.result(name .. "_largest_eps_mu", m.worst_mu, "1")
  stn.check(name .. ": steps not solved", { value = m.unsolved, limit = 0 })
  stn.check(name .. ": largest eps_m", { value = m.worst_m, limit = bound })
  if solver ~= "ipm" then stn.check(name .. ": largest eps_mu", { value = m.worst_mu, limit = 2 ^ -52 }) end -- ipm ends by the natural map
end

local runs = {} -- by floor, size and solver
local sizes = numbers(p.sizes, "sizes")
io.stderr:write "       bodies solver     contacts iterations    settled  most   solve [us]   eps_m: mean, most    eps_mu: mean, most\n"
for _, floor in ipairs { "walls", "open" } do
  runs[floor] = {}
  for _, size in ipairs(p.floors == "both" and sizes or p.floors == floor and sizes or {}) do
    local bodies, here = math.floor(size), {}
    runs[floor][bodies] = here
    for solver in p.solvers:gmatch "%S+" do
      assert(settings[solver], ("solvers: %q is none of published, sap, ipm"):format(solver))
      if solver ~= "ipm" or bodies <= p.most_ipm then
        here[solver] = measure(solver, bodies, floor == "walls")
        report(floor, bodies, solver, here[solver])
      end
    end
    for _, ours in ipairs { "published", "sap" } do
      if here.ipm and here[ours] then
        stn.result(("%s_%d_ipm_over_%s"):format(floor, bodies, ours), here.ipm.total_us / here[ours].total_us, "1")
        stn.result(("%s_%d_ipm_over_%s_transient"):format(floor, bodies, ours), here.ipm.transient_us / here[ours].transient_us, "1")
        stn.result(("%s_%d_ipm_over_%s_iterations"):format(floor, bodies, ours), here.ipm.mean / here[ours].mean, "1")
        stn.result(("%s_%d_%s_over_ipm_most_iterations"):format(floor, bodies, ours), here[ours].most / here.ipm.most, "1")
      end
    end
    if here.published and here.sap then
      stn.result(("%s_%d_published_over_sap_iterations"):format(floor, bodies), here.published.mean / here.sap.mean, "1")
    end
    local walls = runs.walls[bodies]
    if floor == "open" and walls and here.sap and walls.sap then
      stn.result(("contacts_open_over_walls_%d"):format(bodies), here.sap.contacts / walls.sap.contacts, "1")
    end
  end
end

-- A line over the sizes for every floor and every name of `lines`; value(run, name) may be nil.
local function over_sizes(lines, value)
  local series = {}
  for floor, by_size in pairs(runs) do
    for _, name in ipairs(lines) do
      local line = { name = ("%s, %s"):format(name, floor), x = {}, y = {} }
      for _, size in ipairs(sizes) do
        local here = by_size[math.floor(size)]
        local y = here and value(here, name)
        if y then line.x[#line.x + 1], line.y[#line.y + 1] = size, y end
      end
      series[#series + 1] = #line.x > 0 and line or nil
    end
  end
  table.sort(series, function(a, b) return a.name < b.name end)
  return series
end

local function over_time(key)
  local series = {}
  for floor, by_size in pairs(runs) do
    for solver, m in pairs(by_size[math.floor(sizes[#sizes])] or {}) do
      series[#series + 1] = { name = ("%s, %s"):format(solver, floor), x = m.times, y = m[key] }
    end
  end
  table.sort(series, function(a, b) return a.name < b.name end)
  return series
end

local bodies_axis = { label = "bodies", log = true }
local charts = {}
function charts.iterations()
  return { title = "clutter: iterations of every step", x = { label = "time [s]" }, y = { label = "iterations" }, series = over_time "iterations" }
end
function charts.time()
  return { title = "clutter: time of the solver in every step", x = { label = "time [s]" }, y = { label = "us", log = true }, series = over_time "us" }
end
function charts.contacts()
  return { title = "clutter: contacts at the end", x = bodies_axis, y = { label = "contacts", log = true },
    series = over_sizes({ "contacts" }, function(here) return here.sap and here.sap.contacts end) }
end
function charts.speedup()
  return { title = "clutter: time of ipm over that of sap", x = bodies_axis, y = { label = "speedup", log = true },
    series = over_sizes({ "published", "sap" }, function(here, name) return here.ipm and here[name] and here.ipm.total_us / here[name].total_us end) }
end
function charts.errors()
  return { title = "clutter: mean errors of the solvers", x = bodies_axis, y = { label = "1", log = true },
    series = over_sizes({ "eps_m of sap", "eps_mu of sap", "eps_m of ipm", "eps_mu of ipm" }, function(here, name)
      local key, solver = name:match "^(%S+) of (%S+)$"
      return here[solver] and here[solver][key]
    end) }
end
if p.plot ~= "" then
  local drawn = charts[p.show]()
  drawn.legend = "beside"
  chart.write(p.plot, drawn)
end
