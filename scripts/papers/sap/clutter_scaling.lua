-- SPDX-License-Identifier: Apache-2.0
-- How the time of a step grows with the number of bodies: clutter from 8 to 1,000 and more bodies on the open floor, and to
-- 320 inside walls. On the floor columns stand 0.3 m apart whatever their number: what falls is alike everywhere, breaks
-- into islands, and a step is to cost as its bodies do.
local stn = require "stiction"
local clutter = require "clutter_scene"
local chart = require "chart"
local statistics = require "statistics"

local p = clutter.parameters {
  placement = stn.choice { "columns", "paper" }, dt = 0.002, seconds = 3.0, tolerance = 1e-8, most = 1280, most_walls = 320,
  plot = "", -- an SVG file
}

local function run(bodies, walls)
  p.bodies, p.walls = bodies, walls
  local world <close> = stn.world { dt = p.dt, solver = { "sap", tolerance = p.tolerance, max_iterations = 200 } }
  clutter.build(world, p, not walls and 0.3 or nil)
  local duration, iterations, steps, unsolved, worst, contacts = {}, 0, 0, 0, 0, 0
  for step in world:run { seconds = p.seconds } do
    steps = steps + 1
    duration[steps] = step.step_us
    iterations = iterations + step.iterations
    worst = math.max(worst, step.certificate.momentum)
    unsolved = unsolved + (step.converged and 0 or 1)
    contacts = step.contact_count
  end
  local row = {
    bodies = bodies, us = statistics.median(duration), settled = statistics.median(table.move(duration, steps - steps // 5, steps, 1, {})),
    iterations = iterations / steps, worst = worst, contacts = contacts,
  }
  io.stderr:write(("%-6s %6d %9d %11.1f %12.1f %10.2f %12.2f %10.1e\n"):format(walls and "walls" or "open", bodies,
    contacts, row.us, row.settled, row.us / bodies, row.iterations, worst))
  stn.check(("%d bodies, %s: steps that did not converge"):format(bodies, walls and "walls" or "open floor"),
    { value = unsolved, limit = 0, unit = "1" })
  stn.check(("%d bodies, %s: momentum error"):format(bodies, walls and "walls" or "open floor"), -- of islands that each keep the tolerance: README
    { value = worst, limit = math.sqrt(2) * p.tolerance })
  return row
end

-- Exponent of a power of the number of bodies, by least squares.
local function exponent(rows, key)
  local n, sx, sy, sxx, sxy = #rows, 0, 0, 0, 0
  for _, row in ipairs(rows) do
    local x, y = math.log(row.bodies), math.log(row[key])
    sx, sy, sxx, sxy = sx + x, sy + y, sxx + x * x, sxy + x * y
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

io.stderr:write("       bodies  contacts   us median   us settled   us/body   iterations      eps_m\n")
local lines = {}
for _, case in ipairs { { false, p.most, "open" }, { true, p.most_walls, "walls" } } do
  local rows, bodies = {}, 10
  while bodies <= case[2] do
    rows[#rows + 1] = run(bodies, case[1])
    bodies = 2 * bodies
  end
  local line = { name = case[3] == "open" and "open floor" or case[3], x = {}, y = {} }
  for i, row in ipairs(rows) do
    line.x[i], line.y[i] = row.bodies, row.us
  end
  lines[#lines + 1] = line
  if #rows > 2 then
    stn.result("exponent_" .. case[3], exponent(rows, "us"), "1")
    stn.result("exponent_settled_" .. case[3], exponent(rows, "settled"), "1")
  end
end
if p.plot ~= "" then
  chart.write(p.plot, {
    title = "Time of a step over the number of bodies", x = { label = "bodies", log = true }, y = { label = "us, median", log = true },
    series = lines,
  })
end
