-- SPDX-License-Identifier: Apache-2.0
-- Pyramids against the round cone, on contact problems captured from the other scenes: the same file by qp with ever more rays, by
-- lemke on the dual of that, and by sap and ipm with ever less compliance. The number of rays is a parameter of the solver, nothing of the problem.
--   stiction run scripts/papers/quasistatic/cones.lua --set command=build/release/bin/stiction --set charts=cones
-- charts=PREFIX draws PREFIX_rays.svg and PREFIX_compliance.svg; folder: where the captured problems go, else they are removed.
--
-- v solves the round cone with impulses gamma, v_n the pyramid of n rays inscribed in it. The cost f is quadratic, v is feasible for
-- the pyramid, and what is feasible there breaks the round constraint by at most (1 - cos(pi/n)) mu |slip|, so that
--     f(v) >= f(v_n) >= f(v) + |v_n - v|_A^2/2 - (1 - cos(pi/n)) sum mu gamma_n |slip of v_n|
local stn = require "stiction"
local chart, json, numbers, statistics = require "chart", require "json", require "numbers", require "statistics"

local p = stn.params {
  command = "stiction",
  rays = "4,6,8,12,16,22,32,46,64,92,128",
  compliance = "1e-2,1e-3,1e-4,1e-5,1e-6", -- sigma and beta^2 of the law
  mass_scale = 0,                          -- balance of forces alone: A is singular
  folder = "", charts = "",
}

local scenes = {
  { name = "gripper slips", script = "planar_gripper", step = 18, settings = { dt = 0.01, roll_deg = 10, pitch_deg = 20, yaw_deg = -60, model = "qp" } },
  { name = "pushing turns", script = "planar_pushing", step = 25, settings = { dt = 0.05, case = "turn", solver = "qp" } },
  { name = "in-hand rolling", script = "in_hand", step = 10, settings = { dt = 0.05, path = "circle", solver = "qp" } },
}

local function quoted(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

local function read(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

local function content(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

-- The problem of one step of a scene: its file and what is in it.
local function capture(scene)
  local base = os.tmpname()
  os.remove(base)
  if p.folder ~= "" then base = ("%s/%s_%d"):format(p.folder, scene.script, scene.step) end
  local words = { quoted(p.command), "run", quoted(("scripts/papers/quasistatic/%s.lua"):format(scene.script)), "--quiet",
    "--set", ("mass_scale=%.17g"):format(p.mass_scale), "--capture", quoted(base .. "-%d.json"), "--every", tostring(scene.step) }
  scene.settings.directions = 64
  for name, value in pairs(scene.settings) do words[#words + 1] = ("--set %s=%s"):format(name, value) end
  assert(os.execute(table.concat(words, " ") .. " >/dev/null"),
    ("%s: %s run scripts/papers/quasistatic/%s.lua failed; parameter command names stiction itself"):format(scene.name, p.command, scene.script))
  for multiple = 2, 100 do -- later steps that the number divides
    if not os.remove(("%s-%d.json"):format(base, multiple * scene.step)) then break end
  end
  local path = ("%s-%d.json"):format(base, scene.step)
  return path, json(content(path))
end

-- v and gamma of a file by a solver.
local function solve(path, solver, settings)
  local words = { quoted(p.command), "solve", quoted(path), "--solver", solver, "--json", "--full" }
  for name, value in pairs(settings) do words[#words + 1] = (name:find("^%-%-") and "%s %s" or "--set %s=%s"):format(name, value) end
  return json(read(table.concat(words, " ") .. " 2>/dev/null"))
end

local function compliant(path, solver, rho)
  return solve(path, solver, { ["law.sigma"] = rho, ["law.beta"] = math.sqrt(rho), ["--tolerance"] = solver == "ipm" and 1e-10 or 1e-8,
    ["--max-iterations"] = 500 })
end

-- |a - b|_A, b may be absent.
local function energy_norm(problem, a, b)
  local sum, start = 0, 0
  for _, tree in ipairs(problem.trees) do
    local A, n = tree.A, tree.A.n
    local function difference(i) return a[start + i] - (b and b[start + i] or 0) end
    for i = 1, n do
      for j = 1, n do
        local value = A.form == "dense" and A.values[(i - 1) * n + j] or A.form == "diagonal" and i == j and A.values[i] or 0
        sum = sum + difference(i) * value * difference(j)
      end
    end
    start = start + n
  end
  return math.sqrt(math.max(0, sum))
end

-- sum of mu gamma_n |slip|, of impulses and velocities that need not belong together.
local function friction_work(problem, gamma, v)
  local starts, start, row, sum = {}, 0, 0, 0
  for i, tree in ipairs(problem.trees) do
    starts[i], start = start, start + tree.A.n
  end
  for _, c in ipairs(problem.constraints) do
    if c.set == "cone" then
      local slip = { c.bias[1], c.bias[2] }
      for _, J in ipairs(c.J) do
        local n = problem.trees[J.tree + 1].A.n
        for r = 1, 2 do
          for k = 1, n do slip[r] = slip[r] + J.values[(r - 1) * n + k] * v[starts[J.tree + 1] + k] end
        end
      end
      sum = sum + c.mu1 * gamma[row + 3] * math.sqrt(slip[1] ^ 2 + slip[2] ^ 2)
    end
    row = row + c.rows
  end
  return sum
end

local function largest(a, b)
  local most = 0
  for i = 1, #a do most = math.max(most, math.abs(a[i] - (b and b[i] or 0))) end
  return most
end

local rays, compliance = numbers(p.rays, "rays"), numbers(p.compliance, "compliance")
if #rays < 2 or #compliance < 2 then error("rays and compliance: at least two each", 0) end
table.sort(rays)
table.sort(compliance, function(a, b) return a > b end)
local by_rays, by_compliance = {}, {}

-- Distance of v from that of ever harder contacts, and of the two solvers from each other, relative to the largest velocity.
local function study_compliance(scene, path, exact)
  local size, series = largest(exact.v), { name = scene.name, x = {}, y = {} }
  local apart = 0
  for i, rho in ipairs(compliance) do
    local sap, ipm = compliant(path, "sap", rho), compliant(path, "ipm", rho)
    series.x[i], series.y[i] = rho, largest(sap.v, exact.v) / size
    apart = math.max(apart, largest(sap.v, ipm.v) / size)
    print(("%-16s compliance %7.0e %18.3e %14.3e"):format(scene.name, rho, series.y[i], largest(ipm.v, exact.v) / size))
  end
  by_compliance[#by_compliance + 1] = series
  local last = #series.y
  stn.check(scene.name .. ": sap with the least compliance, from the limit", { value = series.y[last], limit = compliance[#compliance] })
  stn.check(scene.name .. ": sap and ipm, each with the same compliance", { value = apart, limit = 1e-7 })
  local linear = series.y[last] / series.y[1] * compliance[1] / compliance[#compliance]
  stn.check(scene.name .. ": the distance is proportional to the compliance", { value = math.abs(linear - 1), limit = 0.05 })
end

local function study_rays(scene, path, problem, exact)
  local size, series, bounds = energy_norm(problem, exact.v), { name = scene.name, x = {}, y = {} }, { name = "bound: " .. scene.name, x = {}, y = {} }
  local beyond, apart = 0, 0
  for i, n in ipairs(rays) do
    local r = solve(path, "qp", { ["solver.directions"] = n })
    stn.check(("%s: qp with %d rays"):format(scene.name, n), r.status == "converged")
    if n <= 32 then -- its dual by complementary pivoting
      local dual = solve(path, "lemke", { ["solver.directions"] = n, ["solver.friction"] = "anitescu", ["--tolerance"] = 1e-12 })
      apart = math.max(apart, dual.status == "converged" and largest(dual.v, r.v) / largest(r.v) or math.huge)
    end
    local short = 1 - math.cos(math.pi / n)
    local distance = energy_norm(problem, r.v, exact.v)
    local bound = math.sqrt(2 * short * friction_work(problem, exact.gamma, r.v))
    beyond = math.max(beyond, (distance - bound) / size)
    series.x[i], series.y[i], bounds.x[i], bounds.y[i] = short, distance / size, short, bound / size
    print(("%-16s rays %12d %18.3e %14.3e %10.3e"):format(scene.name, n, distance / size, largest(r.v, exact.v) / largest(exact.v), bound / size))
  end
  print(("%-16s lemke on the dual %13.3e"):format(scene.name, apart))
  stn.check(scene.name .. ": lemke on the dual of qp", { value = apart, limit = 1e-10 })
  stn.check(scene.name .. ": no farther from the cone than the bound", { value = beyond, limit = 1e-9 })
  if series.y[1] > 1e-4 then -- it slips
    series.color, bounds.color = #by_rays // 2 + 1, #by_rays // 2 + 5
    table.move({ series, bounds }, 1, 2, #by_rays + 1, by_rays)
    local x, y = {}, {}
    for i = 1, #series.x do
      x[i], y[i] = math.log(series.x[i]), math.log(series.y[i])
    end
    stn.result("power_of_" .. scene.script, statistics.slope(x, y))
    -- the bound falls by the root of 1 - cos(pi/n)
    stn.check(scene.name .. ": pyramids come to the cone", { value = series.y[#series.y] / series.y[1], limit = math.sqrt(series.x[#series.x] / series.x[1]) })
  end
end

for _, scene in ipairs(scenes) do
  local path, problem = capture(scene)
  local exact = compliant(path, "ipm", 1e-10)
  stn.check(scene.name .. ": ipm", exact.status == "converged")
  study_compliance(scene, path, exact)
  study_rays(scene, path, problem, exact)
  if p.folder == "" then os.remove(path) end
end
if p.charts ~= "" then
  chart.write(p.charts .. "_rays.svg", { title = "Pyramids against the round cone", x = { label = "1 - cos(pi/rays)", log = true },
    y = { label = "|v_n - v|_A / |v|_A", log = true }, legend = "beside", series = by_rays })
  chart.write(p.charts .. "_compliance.svg", { title = "sap against contacts without compliance", x = { label = "sigma, beta^2", log = true },
    y = { label = "largest |v - v_0| / largest |v_0|", log = true }, series = by_compliance })
end
