-- SPDX-License-Identifier: Apache-2.0
-- How Newton's method gets to the solution, as in the SAP paper [castro-2022], section VI-C: cost and residual of every
-- iteration at an energetic and at a quiet step of clutter. Iteration k is the step made again from the same state with at
-- most k iterations, judged by the certificate: the solver says nothing about itself here. --set solver.anticipate=false is Newton's method as
-- published.
local stn = require "stiction"
local clutter = require "clutter_scene"
local chart = require "chart"

local p = clutter.parameters {
  energetic = 60,   -- the step of the paper; 0: the one with most iterations
  quiet = 520,
  tolerance = 1e-10, -- to see the tail of convergence
  log = "",          -- a CSV file with both histories
  plot = "",         -- an SVG file
  show = stn.choice { "residual", "cost" }, -- the cost above the last one, over that of the first iteration
}

local function new_world(max_iterations)
  local world = stn.world { dt = p.dt, solver = { "sap", tolerance = p.tolerance, max_iterations = max_iterations } }
  clutter.build(world, p)
  return world
end

-- The state before the wanted steps; runs to the last of them.
local function find_states()
  local world <close> = new_world(200)
  local states, most, before = {}, -1, world:snapshot()
  for step in world:run { steps = math.max(p.energetic, p.quiet) } do
    if step.index == p.energetic or p.energetic == 0 and step.iterations > most then
      most, states.energetic, states.energetic_step = step.iterations, before, step.index
    end
    if step.index == p.quiet then
      states.quiet, states.quiet_step = before, step.index
    end
    before = world:snapshot()
  end
  return states
end

local function history(state)
  local rows, limit = {}, 200
  for k = 1, limit do
    local world <close> = new_world(k)
    world:restore(state)
    local step = world:step()
    rows[k] = { k = k, cost = step.cost, residual = step.certificate.momentum }
    if step.converged then
      rows.iterations = step.iterations
      break
    end
  end
  return rows
end

-- Iterations until the residual is below what clutter is solved to.
local function iterations_to(rows, tolerance)
  for _, row in ipairs(rows) do
    if row.residual <= tolerance then return row.k end
  end
  return #rows
end

-- Order of convergence, from three residuals in a row: 2 is quadratic, 1 linear. The largest of the last three iterations, as the last one may
-- end in round-off.
local function order_at_the_end(rows)
  local order = 0 / 0
  for k = math.max(3, #rows - 2), #rows do
    local a, b, c = math.log(rows[k - 2].residual), math.log(rows[k - 1].residual), math.log(rows[k].residual)
    local here = (c - b) / (b - a)
    order = here <= order and order or here
  end
  return order
end

local file = p.log ~= "" and assert(io.open(p.log, "w"))
if file then
  file:write("step,iteration,cost_J,cost_above_last_J,momentum\n")
end
local states, lines = find_states(), {}
for _, name in ipairs { "energetic", "quiet" } do
  local rows, number = history(states[name]), states[name .. "_step"]
  local last = rows[#rows].cost
  io.stderr:write(("%s step %d: %d iterations\n  iteration    cost above the last [J]    momentum error\n"):format(
    name, number, rows.iterations or -1))
  for _, row in ipairs(rows) do
    io.stderr:write(("%11d %27.3e %17.2e\n"):format(row.k, row.cost - last, row.residual))
    if file then
      file:write(("%d,%d,%.17g,%.17g,%.17g\n"):format(number, row.k, row.cost, row.cost - last, row.residual))
    end
  end
  local line = { name = ("step %d"):format(number), x = {}, y = {} }
  for k, row in ipairs(rows) do
    line.x[k], line.y[k] = k, p.show == "residual" and row.residual or (row.cost - last) / (rows[1].cost - last)
  end
  lines[#lines + 1] = line
  for k = 2, #rows do -- Newton's method with this line search never goes up
    local rise = rows[k].cost - rows[k - 1].cost
    assert(rise <= 1e-12 * math.max(1, math.abs(last)), ("iteration %d raises the cost by %g J"):format(k, rise))
  end
  stn.result(name .. "_step", number, "1")
  if rows.iterations then stn.result(name .. "_iterations", rows.iterations, "1") end
  stn.result(name .. "_iterations_to_1e-5", iterations_to(rows, 1e-5), "1")
  stn.result(name .. "_order", order_at_the_end(rows), "1")
  if name == "energetic" then
    stn.check("energetic step: order of convergence at the end", { value = order_at_the_end(rows), least = 1.5 })
  end
  stn.check(name .. " step converges", { value = rows[#rows].residual, limit = p.tolerance, unit = "1" })
end
if file then
  file:close()
end
if p.plot ~= "" then
  chart.write(p.plot, {
    title = "Newton's method at two steps of clutter", x = { label = "iteration" },
    y = { label = p.show == "residual" and "momentum error" or "(cost - last) / (first - last)", log = true },
    series = lines,
  })
end
