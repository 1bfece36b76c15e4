-- SPDX-License-Identifier: Apache-2.0
-- Table VIII of the paper COND [lee-2023]: COND with a fixed number of iterations beside position-based dynamics with as many sub-steps.
-- The cable of cable_winding.lua has 120 links, and a body that no force moves takes its end along the way of the hand.
--     MP  mean over the steps of the deepest overlap [mm]
--     FE  mean over the steps of |f - f of the reference|, f the force at the hand [N]
--     TT  the whole step [ms]
-- The reference is another solver at a tight tolerance.
local stn = require "stiction"
local chart = require "chart"
local figures = require "cond_figures"
local scene = require "winding_scene"

local own = {
  links = 120,
  runs = "cond:100 cond:200 xpbd:100 xpbd:200", -- solver or "xpbd", and iterations or sub-steps
  reference = "newton_ncp",
  reference_tolerance = 1e-8,
  seeds = stn.number { 1, min = 0 }, -- 1 to this; 0: the middle of every range alone
  xpbd_damping = 0,  -- of the cable under xpbd [s]; < 0: `damping`, which one iteration a sub-step does not resolve
  table = "",        -- a CSV file
  plot = "",         -- an SVG file: the size of f over time, of the first seed
}
for name, value in pairs(scene.params) do own[name] = value end
local p = figures.declare(own)

--- One run: sums, and the force at the hand after every step.
local function run(seed, name, count)
  local of_run = setmetatable({ seed = seed }, { __index = p })
  local xpbd = name == "xpbd"
  if xpbd and p.xpbd_damping >= 0 then of_run.damping = p.xpbd_damping end
  local world
  if xpbd then
    world = stn.world { dt = p.dt, integrator = { "xpbd", substeps = count } }
  else
    of_run.solver = name
    of_run.iterations = count or p.iterations
    of_run.tolerance = count and 0 or p.reference_tolerance
    world = stn.world { dt = p.dt, solver = figures.solver(of_run), law = figures.law(of_run) }
  end
  local drawn = scene.draw(of_run)
  local plug = scene.furnish(world, drawn)
  local cable = scene.cable(world, of_run, drawn, plug)
  local places, times = scene.way(p)
  local poses = { { xyz = scene.held } }
  for i, place in ipairs(places) do poses[i + 1] = { xyz = place } end
  table.insert(times, 1, 0)
  plug:kinematic { times = times, poses = poses }
  local result = { steps = 0, MP = 0, FE = 0, TT = 0, touching = 0, momentum = 0, force = {} }
  for step in world:run { seconds = times[#times] + 0.5 } do
    result.steps = result.steps + 1
    result.MP = result.MP + 1e3 * step.overlap_m
    result.TT = result.TT + 1e-3 * step.step_us
    result.momentum = result.momentum + step.certificate.momentum
    result.force[result.steps] = cable:attachment_force(plug)
  end
  for _, contact in ipairs(world:contacts()) do result.touching = result.touching + (contact.force ~= nil and 1 or 0) end
  return result
end

local function distance(a, b)
  return math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2)
end

local rows = { { name = p.reference } }
for word in p.runs:gmatch "%S+" do
  local name, count = word:match "^([%w_]+):(%d+)$"
  if not name then error(("runs: '%s' is no solver with its iterations, as cond:100"):format(word), 0) end
  rows[#rows + 1] = { name = name, count = math.tointeger(tonumber(count)) }
end
if #rows == 1 then error("runs: name solvers with their iterations, as 'cond:100 xpbd:100'", 0) end
for _, row in ipairs(rows) do row.MP, row.FE, row.TT, row.momentum, row.touching, row.pull = 0, 0, 0, 0, 0, 0 end
local first, last = p.seeds > 0 and 1 or 0, p.seeds
for seed = first, last do
  local reference
  for i, row in ipairs(rows) do
    local r = run(seed, row.name, row.count)
    reference = i == 1 and r or reference
    if seed == first then row.x, row.y = {}, {} end
    for k, f in ipairs(r.force) do
      if seed == first then row.x[k], row.y[k] = k * p.dt, distance(f, { 0, 0, 0 }) end
      r.FE = r.FE + distance(f, reference.force[k])
      row.pull = row.pull + distance(f, { 0, 0, 0 }) / r.steps / (last - first + 1)
    end
    for _, key in ipairs { "MP", "FE", "TT", "momentum" } do row[key] = row[key] + r[key] / r.steps / (last - first + 1) end
    row.touching = row.touching + r.touching
  end
end

print(("%d links, %g turns, seeds %d to %d"):format(p.links, p.turns, first, last))
print "                   MP [mm]    FE [N]   force [N]   TT [ms]   momentum error   contacts at the end"
for _, row in ipairs(rows) do
  local label = row.count and ("%s (%d)"):format(row.name, row.count) or row.name .. " (reference)"
  print(("%-22s %8.5f  %8.4f  %8.4f  %8.3f  %10.2e  %6d"):format(label, row.MP, row.FE, row.pull, row.TT, row.momentum, row.touching))
  stn.result("FE " .. label, row.FE, "N")
  stn.result("MP " .. label, row.MP, "mm")
  stn.result("TT " .. label, row.TT, "ms")
end
if p.plot ~= "" then
  local series = {}
  for i, row in ipairs(rows) do series[i] = { name = row.count and ("%s (%d)"):format(row.name, row.count) or row.name .. " (reference)", x = row.x, y = row.y } end
  chart.write(p.plot, { title = "force at the hand", x = { label = "t [s]" }, y = { label = "N" }, legend = "beside", series = series })
end
if p.table ~= "" then
  local file = assert(io.open(p.table, "w"))
  file:write "solver,count,MP_mm,FE_N,force_N,TT_ms,momentum\n"
  for _, row in ipairs(rows) do
    file:write(table.concat({ row.name, row.count or "", row.MP, row.FE, row.pull, row.TT, row.momentum }, ","), "\n")
  end
  assert(file:close())
end
for _, row in ipairs(rows) do stn.check(("with %s the cable lies on the post"):format(row.name), row.touching > 0) end
