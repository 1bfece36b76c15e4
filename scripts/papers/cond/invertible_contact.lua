-- SPDX-License-Identifier: Apache-2.0
-- Contact inverted: paper COND [lee-2023], section V-F and Figure 13. With the same regularisation in all directions and the proximal
-- operator, impulses follow from velocities. A soft mat is pulled over the ground, or a soft ball is pressed on it; the norm of the
-- forces of all contacts is computed forwards, by the solver, and inversely, from its velocities.
local stn = require "stiction"
local chart = require "chart"
local figures = require "cond_figures"

local p = figures.declare {
  scene = stn.choice { "mat", "ball" },
  regularization = 1e-3, -- [m/(N s)]
  solver = "cond_proximal",
  young = stn.number { 0, min = 0, unit = "Pa" },         -- 0: 75 kPa of the mat, 1 MPa of the ball
  mu = 0.4,
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  seconds = stn.number { 1.5, min = 0.01, unit = "s" },
  log = "",          -- a CSV file: t, forward and inverse [N]
  plot = "",         -- an SVG file of both
}
local mat_scene = p.scene == "mat"
local world = stn.world { dt = p.dt, solver = figures.solver(p), law = { "sap", regularization = p.regularization } }
world:ground { mu = p.mu }
local mover = world:box { name = "mover", size = { 0.02, 0.3, 0.01 }, mass = 1, mask = mat_scene and 0 or nil, mu = p.mu,
  xyz = mat_scene and { 0.16, 0, 0.006 } or { 0, 0, 0.0755 }, color = { 0.3, 0.3, 0.35 } }
local soft
if mat_scene then
  soft = world:soft { name = "mat", box = { 0.3, 0.3, 0.005 }, cells = { 26, 26, 1 }, young = p.young > 0 and p.young or 7.5e4, poisson = 0.35,
    density = 1000, mu = p.mu, xyz = { 0, 0, 0.0026 }, attach = { link = mover, nodes = "x_max" }, color = { 0.2, 0.5, 0.75 } }
  mover:kinematic(function(t) return { xyz = { 0.16 + 0.03 * (1 - math.cos(math.pi * t)), 0, 0.006 + 0.02 * math.sin(math.pi * t / 2) ^ 2 } } end)
else
  soft = world:soft { name = "ball", ball = 0.035, cells = { 10, 10, 11 }, young = p.young > 0 and p.young or 1e6, poisson = 0.35, density = 1000,
    mu = p.mu, xyz = { 0, 0, 0.0351 }, color = { 0.85, 0.35, 0.3 } }
  mover:kinematic(function(t) return { xyz = { 0.01 * math.sin(2 * t), 0, 0.0755 - 0.004 * math.sin(math.pi * t / 1.5) } } end)
end

local function norm(impulses)
  local sum = 0
  for _, x in ipairs(impulses) do sum = sum + x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2 end
  return math.sqrt(sum) / p.dt
end
local worst, sum, largest, steps, unsolved = 0, 0, 0, 0, 0
local file = p.log ~= "" and assert(io.open(p.log, "w"))
if file then file:write "t,forward,inverse\n" end
local times, forwards, inverses = {}, {}, {}
for step in world:run { seconds = p.seconds } do
  local forward = {}
  for i, contact in ipairs(world:contacts()) do
    local f = contact.force
    forward[i] = { f[1] * p.dt, f[2] * p.dt, f[3] * p.dt }
  end
  local now, inverse = norm(forward), norm(world:law_impulses())
  worst, sum, largest = math.max(worst, math.abs(now - inverse)), sum + math.abs(now - inverse), math.max(largest, now)
  steps, unsolved = steps + 1, unsolved + (step.converged and 0 or 1)
  times[steps], forwards[steps], inverses[steps] = step.time, now, inverse
  if file then file:write(("%g,%g,%g\n"):format(step.time, now, inverse)) end
end
if file then assert(file:close()) end
if p.plot ~= "" then
  chart.write(p.plot, { title = p.scene .. ": norm of the contact forces", x = { label = "t [s]" }, y = { label = "N" },
    series = { { name = "forward, " .. p.solver, x = times, y = forwards }, chart.thinned({ { name = "inverse, by the law", x = times, y = inverses } }, 50)[1] } })
end
print(("%s, %s: forces of up to %.3f N; forward and inverse differ by %.4g mN in the mean, %.4g mN at most; unsolved %d"):format(p.scene, p.solver, largest,
  1e3 * sum / steps, 1e3 * worst, unsolved))
stn.result("difference", 1e3 * sum / steps, "mN")
stn.check("forward and inverse forces agree", { value = sum / steps, limit = 5e-4, unit = "N" })
