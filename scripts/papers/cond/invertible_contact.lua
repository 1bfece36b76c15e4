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
  solver = stn.choice { "cond_proximal", "sap", "apgd", "admm", "admm_split", "ipm" }, -- of the law
  strict = false,    -- beside it a run by cond, whose operator is strict
  young = stn.number { 0, min = 0, unit = "Pa" },         -- 0: 75 kPa of the mat, 1 MPa of the ball
  mu = 0.4,
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  seconds = stn.number { 1.5, min = 0.01, unit = "s" },
  log = "",          -- a CSV file: t, forward and inverse [N]
  plot = "",         -- an SVG file of both
}
local mat_scene = p.scene == "mat"

local function norm(impulses)
  local sum = 0
  for _, x in ipairs(impulses) do sum = sum + x[1] ^ 2 + x[2] ^ 2 + x[3] ^ 2 end
  return math.sqrt(sum) / p.dt
end

--- Simulates the scene by a solver. Returns times and the norms of the forces [N], forwards and (proximal operator) inversely.
local function simulate(solver)
  local of_run = setmetatable({ solver = solver }, { __index = p })
  local proximal = figures.convex[solver]
  local world <close> = stn.world { dt = p.dt, solver = figures.solver(of_run), law = proximal and { "sap", regularization = p.regularization } or nil }
  world:ground { mu = p.mu }
  local mover = world:box { name = "mover", size = { 0.02, 0.3, 0.01 }, mass = 1, mask = mat_scene and 0 or nil, mu = p.mu,
    xyz = mat_scene and { 0.16, 0, 0.006 } or { 0, 0, 0.0755 }, color = { 0.3, 0.3, 0.35 } }
  if mat_scene then
    world:soft { name = "mat", box = { 0.3, 0.3, 0.005 }, cells = { 26, 26, 1 }, young = p.young > 0 and p.young or 7.5e4, poisson = 0.35,
      density = 1000, mu = p.mu, xyz = { 0, 0, 0.0026 }, attach = { link = mover, nodes = "x_max" }, color = { 0.2, 0.5, 0.75 } }
    mover:kinematic(function(t) return { xyz = { 0.16 + 0.03 * (1 - math.cos(math.pi * t)), 0, 0.006 + 0.02 * math.sin(math.pi * t / 2) ^ 2 } } end)
  else
    world:soft { name = "ball", ball = 0.035, cells = { 10, 10, 11 }, young = p.young > 0 and p.young or 1e6, poisson = 0.35, density = 1000,
      mu = p.mu, xyz = { 0, 0, 0.0351 }, color = { 0.85, 0.35, 0.3 } }
    mover:kinematic(function(t) return { xyz = { 0.01 * math.sin(2 * t), 0, 0.0755 - 0.004 * math.sin(math.pi * t / 1.5) } } end)
  end
  local run = { times = {}, forwards = {}, inverses = {}, unsolved = 0, largest = 0 }
  for step in world:run { seconds = p.seconds } do
    local forward, n = {}, #run.times + 1
    for i, contact in ipairs(world:contacts()) do
      local f = contact.force
      forward[i] = { f[1] * p.dt, f[2] * p.dt, f[3] * p.dt }
    end
    run.times[n], run.forwards[n], run.inverses[n] = step.time, norm(forward), proximal and norm(world:law_impulses()) or nil
    run.largest, run.unsolved = math.max(run.largest, run.forwards[n]), run.unsolved + (step.converged and 0 or 1)
  end
  return run
end

--- Mean of the second differences of the forces over the largest one: how much they jitter.
local function roughness(run)
  local f, sum = run.forwards, 0
  for i = 2, #f - 1 do sum = sum + math.abs(f[i + 1] - 2 * f[i] + f[i - 1]) end
  return sum / math.max(1, #f - 2) / run.largest
end

local run = simulate(p.solver)
local worst, sum, n = 0, 0, #run.times
for i = 1, n do
  local off = math.abs(run.forwards[i] - run.inverses[i])
  worst, sum = math.max(worst, off), sum + off
end
local series = { { name = "forward, " .. p.solver, x = run.times, y = run.forwards },
  chart.thinned({ { name = "inverse, by the law", x = run.times, y = run.inverses } }, 50)[1] }
print(("%s, %s: forces of up to %.3f N; forward and inverse differ by %.4g mN in the mean, %.4g mN at most; unsolved %d"):format(p.scene, p.solver,
  run.largest, 1e3 * sum / n, 1e3 * worst, run.unsolved))
stn.result("difference", 1e3 * sum / n, "mN")
stn.check("forward and inverse forces agree within the tolerance", { value = worst, limit = p.tolerance * run.largest, unit = "N" })
stn.check("every step is solved", { value = run.unsolved, limit = 0 })
if p.strict then
  local strict = simulate "cond"
  print(("second differences over the largest force: %s %.3g, cond, the strict operator, %.3g"):format(p.solver, roughness(run), roughness(strict)))
  stn.result("roughness", roughness(run), "1")
  stn.result("roughness_strict", roughness(strict), "1")
  series[#series + 1] = { name = "forward, cond", x = strict.times, y = strict.forwards }
end
if p.log ~= "" then
  local file = assert(io.open(p.log, "w"))
  file:write "t,forward,inverse\n"
  for i = 1, n do file:write(("%g,%g,%g\n"):format(run.times[i], run.forwards[i], run.inverses[i])) end
  assert(file:close())
end
if p.plot ~= "" then
  chart.write(p.plot, { title = p.scene .. ": norm of the contact forces", x = { label = "t [s]" }, y = { label = "N" }, legend = "beside", series = series })
end
