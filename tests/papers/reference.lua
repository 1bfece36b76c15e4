-- SPDX-License-Identifier: Apache-2.0
-- Scenarios of scripts/papers/ against independent references, ../shared/reference: runs each with --log, compares the columns and
-- prints case, error and tolerance. Without the references it is skipped.
--     stiction run tests/papers/reference.lua --set command=build/release/bin/stiction [--set only=gyro]
local stn = require "stiction"

local p = stn.params {
  command = "stiction",
  shared = "../shared",
  only = "", -- cases whose name contains it
}
local folder = p.shared .. "/reference/"
local probe = io.open(folder .. "README.md")
if not probe then
  stn.skip("there is no " .. folder)
end
probe:close()

local failed = 0
print(("%-46s %-11s %10s %10s"):format("case", "what", "error", "tolerance"))
local function report(case, what, value, tolerance)
  local ok = stn.check(case .. ": " .. what, { value = value, limit = tolerance })
  failed = failed + (ok and 0 or 1)
  print(("%-46s %-11s %10.2e %10.1e%s"):format(case, what, value, tolerance, ok and "" or "  FAILED"))
end

local function fields(line)
  local list = {}
  for word in (line:gsub("\r$", "") .. ","):gmatch "([^,]*)," do list[#list + 1] = word end
  return list
end

-- A table as { names, rows }, each row by name.
local function read_table(path)
  local rows, names = {}, nil
  for line in io.lines(path) do
    local words = fields(line)
    if not names then
      names = words
    else
      local row = {}
      for i, name in ipairs(names) do row[name] = tonumber(words[i]) or words[i] end
      rows[#rows + 1] = row
    end
  end
  return rows, names
end

local function selected(case)
  return case:find(p.only, 1, true) ~= nil
end

-- Runs a scenario and returns its table.
local function run(script, settings)
  local name = os.tmpname()
  local log = name .. ".csv"
  local words = { p.command, "run", "scripts/papers/" .. script, "--quiet", "--log", log }
  for key, value in pairs(settings) do
    if key == "integrator" then
      words[#words + 1] = "--integrator " .. value
    else
      words[#words + 1] = ("--set '%s=%s'"):format(key, value)
    end
  end
  local ok = os.execute(table.concat(words, " "))
  local rows, names
  if ok then
    rows, names = read_table(log)
  end
  for _, file in ipairs { name, log, log .. ".parameters" } do os.remove(file) end
  assert(ok, table.concat(words, " ") .. ": failed")
  return rows, names
end

-- The reference's table, whose columns a log must have, `step` first.
local function check_columns(case, names, file)
  local rows, expected = read_table(folder .. file)
  local wanted = table.concat(expected, ",")
  wanted = expected[1] == "step" and wanted or "step," .. wanted
  assert(table.concat(names, ",") == wanted, ("%s: columns are %s, not %s"):format(case, table.concat(names, ","), wanted))
  return rows
end

-- Largest error of each column against the reference's rows that have the same step or t, those before a time.
local function compare(case, script, settings, file, tolerances, before)
  if not selected(case) then
    return
  end
  local rows, names = run(script, settings)
  local reference = check_columns(case, names, file)
  local dt = rows[2].t - rows[1].t
  local worst, compared = {}, 0
  for name in pairs(tolerances) do worst[name] = 0 end
  for _, theirs in ipairs(reference) do
    if not before or theirs.t < before then
      local ours = rows[(theirs.step or math.floor(theirs.t / dt + 0.5)) + 1]
      assert(ours and math.abs(ours.t - theirs.t) < 1e-6 * dt + 1e-9, ("%s: no row at t = %g s"):format(case, theirs.t))
      compared = compared + 1
      for name in pairs(tolerances) do
        local error = math.abs(ours[name] - theirs[name])
        worst[name] = (error <= worst[name]) and worst[name] or error -- NaN stays
      end
    end
  end
  local order = {}
  for name in pairs(tolerances) do order[#order + 1] = name end
  table.sort(order)
  assert(compared > 1)
  for _, name in ipairs(order) do report(case, name, worst[name], tolerances[name]) end
end

local function all(names, tolerance)
  local list = {}
  for name in names:gmatch "%S+" do list[name] = tolerance end
  return list
end

-- Runs a scenario for a row of the reference and compares columns of its last step, relative or in the column's unit.
local function compare_last(case, script, settings, file, expected, tolerance, relative)
  if selected(case) then
    local rows, names = run(script, settings)
    check_columns(case, names, file)
    local order = {}
    for name in pairs(expected) do order[#order + 1] = name end
    table.sort(order)
    for _, name in ipairs(order) do
      local value = rows[#rows][name]
      report(case, name, math.abs(relative and value / expected[name] - 1 or value - expected[name]), tolerance)
    end
  end
end

-- ---------------------------------------------------------------------------------------------- a_spring_cylinder

compare("a_spring_cylinder sliding", "sap/spring_cylinder.lua", { mu = 0 }, "a_spring_cylinder/frictionless.csv", all([[x_symplectic_euler
  v_symplectic_euler E_symplectic_euler x_midpoint v_midpoint E_midpoint x_implicit_euler v_implicit_euler E_implicit_euler x_exact v_exact]],
  1e-9))
for _, scheme in ipairs { "symplectic_euler", "midpoint", "implicit_euler" } do
  compare("a_spring_cylinder rolling, " .. scheme, "sap/spring_cylinder.lua", { scheme = scheme }, "a_spring_cylinder/rolling_sap_" .. scheme .. ".csv",
    { x = 5e-6, z = 5e-6, theta = 1e-4, vx = 5e-5, vz = 5e-5, slip = 5e-5 })
end
local study = {}
local function studied(mu)
  if not study[mu] then
    local pipe <close> = assert(io.popen(("%s run scripts/papers/sap/spring_cylinder.lua --quiet --json --set convergence=true --set mu=%g 2>/dev/null"):format(
      p.command, mu)))
    study[mu] = pipe:read "a"
  end
  return study[mu]
end
for _, row in ipairs(read_table(folder .. "a_spring_cylinder/convergence.csv")) do
  for mu, column in pairs { [0] = "rms_x_error_frictionless", [1] = "rms_x_error_rolling" } do
    local case = ("a_spring_cylinder %s, dt %g, mu %d"):format(row.scheme, row.dt, mu)
    if selected(case) then
      local text = studied(mu):match(('"error_%s_%g":%%s*([%%d.e+-]+)'):format(row.scheme, row.dt))
      report(case, "rms error", math.abs((tonumber(text) or 0 / 0) / row[column] - 1), 0.01)
    end
  end
end

-- ------------------------------------------------------------------------------------------------------ c_particle

for _, row in ipairs(read_table(folder .. "c_particle/static_penetration.csv")) do
  if row.w_convention == "rms_frobenius_over_3" then
    compare_last(("c_particle rest, k %g, dt %g, tau %.2g"):format(row.k, row.dt, row.tau_d), "sap/particle.lua",
      { case = "penetration", k = row.k, dt = row.dt, taud = row.tau_d, beta = row.beta }, "c_particle/static_penetration.csv",
      { penetration = row.penetration }, 1e-9, true)
  end
end
for _, row in ipairs(read_table(folder .. "c_particle/stiction_creep.csv")) do
  local case = ("c_particle creep, mu %g, dt %g, push %g"):format(row.mu, row.dt, row.push_over_mu_m_g)
  local settings = { case = "creep", mu = row.mu, dt = row.dt, push_over_mu_m_g = row.push_over_mu_m_g }
  if row.w_convention == "rms_frobenius_over_3" then
    compare_last(case, "sap/particle.lua", settings, "c_particle/stiction_creep.csv", { v_sap = row.v_sap, v_lagged_similar = row.v_lagged_similar },
      1e-7, true)
  end
end
for _, law in ipairs { "sap", "lagged", "similar" } do
  for _, mu in ipairs { 0.2, 0.5, 1 } do
    compare(("c_particle stop, %s, mu %g"):format(law, mu), "sap/particle.lua", { case = "stop", law = law, mu = mu },
      ("c_particle/stop_%s_mu%g_dt0.01.csv"):format(law, mu), all("x z vx vz", 1e-7))
  end
end
for _, row in ipairs(read_table(folder .. "c_particle/stopping.csv")) do
  compare_last(("c_particle stop, %s, mu %g, dt %g"):format(row.model, row.mu, row.dt), "sap/particle.lua",
    { case = "stop", law = row.model, mu = row.mu, dt = row.dt }, "c_particle/stop_sap_mu1_dt0.01.csv", { x = row.x_end }, 1e-7)
end
for _, row in ipairs(read_table(folder .. "c_particle/incline.csv")) do
  compare_last(("c_particle incline, mu %g, %.4g deg"):format(row.mu, row.angle_deg), "sap/particle.lua",
    { case = "incline", mu = row.mu, angle_deg = row.angle_deg }, "c_particle/incline.csv",
    { x_sap = row.x_sap, x_lagged = row.x_lagged, x_similar = row.x_similar }, 1e-7)
end
for _, row in ipairs(read_table(folder .. "c_particle/bounce_kelvin_voigt.csv")) do -- order 1 in dt: 1e-3 at 1e-6 s
  compare_last(("c_particle bounce, tau %g"):format(row.tau_d), "sap/particle.lua", { case = "bounce", taud = row.tau_d, dt = 1e-6 },
    "c_particle/bounce_kelvin_voigt.csv", { restitution = row.restitution }, 1e-3)
end
for _, row in ipairs(read_table(folder .. "c_particle/bounce.csv")) do
  if row["discrete_restitution_dt1e-5"] == row["discrete_restitution_dt1e-5"] and tonumber(row["discrete_restitution_dt1e-5"]) then
    compare_last(("c_particle bounce, d %g, v %g"):format(row.d, row.v_impact), "sap/particle.lua",
      { case = "bounce", law = "lagged", d = row.d, v_impact = row.v_impact, dt = 1e-5 }, "c_particle/bounce.csv",
      { ["discrete_restitution_dt1e-4"] = row["discrete_restitution_dt1e-4"], ["discrete_restitution_dt1e-5"] = row["discrete_restitution_dt1e-5"] }, 1e-4)
  end
end

-- ------------------------------------------------------------------------------------------------------ g_dynamics

-- 1e-6 for the top up to its first flip, 1e-5 for chains; the gyroscope has none of its own. Orders in dt: tests/scenario/integrators.lua.
compare("g_dynamics free_top", "dynamics/free_top.lua", { dt = 2e-4, T = 2.4 }, "g_dynamics/free_top.csv", all("qw qx qy qz", 1e-6), 2.32)
compare("g_dynamics free_top, invariants", "dynamics/free_top.lua", { dt = 2e-4 }, "g_dynamics/free_top.csv", all("energy Lx Ly Lz", 1e-6))
for _, case in ipairs { "cusp", "steady_slow", "loop" } do
  compare("g_dynamics gyroscope " .. case, "dynamics/gyroscope.lua", { case = case, dt = 2e-5 }, "g_dynamics/gyro_" .. case .. ".csv",
    all("theta phi psi theta_dot phi_dot psi_dot energy", 1e-5))
end
compare("g_dynamics double_pendulum", "dynamics/double_pendulum.lua", { dt = 5e-5 }, "g_dynamics/double_pendulum.csv",
  all("q0 q1 qd0 qd1 energy", 1e-5))
for _, case in ipairs { "chain7", "chain7_damped" } do
  compare("g_dynamics " .. case, "dynamics/chain.lua", { case = case, dt = 2.5e-5 }, "g_dynamics/" .. case .. ".csv",
    all("q0 q1 q2 q3 q4 q5 q6 energy", 1e-5))
end
for _, row in ipairs(read_table(folder .. "g_dynamics/pendulum_period.csv")) do
  local case = ("g_dynamics pendulum from %g deg"):format(row.amplitude_deg)
  if selected(case) then
    local rows = run("dynamics/pendulum.lua", { amplitude_deg = row.amplitude_deg, dt = 1e-3 })
    report(case, "period", math.abs(rows[#rows].period / row.period - 1), 1e-5)
  end
end

-- -------------------------------------------------------------------------------------------------- i_multicontact

local function numbers(text, key, from)
  local list = {}
  local array = text:match('"' .. key .. '":%s*%[([^%]]*)%]', from) or ""
  for word in array:gmatch "[^,%s]+" do list[#list + 1] = tonumber(word) end
  return list
end

-- The larger one, or what is no number.
local function worse(a, b)
  return b <= a and a or b
end

-- |D^-1 (x - y)| / |D^-1 y|, D^-1 = sqrt(diag(A)): the norm that the reference's README states.
local function distance(x, y, A)
  local difference, size, n = 0, 0, #y
  for i = 1, n do
    local weight = A[(i - 1) * n + i]
    difference, size = difference + weight * ((x[i] or 0 / 0) - y[i]) ^ 2, size + weight * y[i] ^ 2
  end
  return math.sqrt(difference / size)
end

for _, law in ipairs(stn.plugins "law") do
  local case, worst, worst_cost, solved = "i_multicontact, 100 problems, " .. law, 0, 0, 0
  for i = 0, 99 do
    local path = ("%si_multicontact/p%03d.json"):format(folder, i)
    local file = assert(io.open(path))
    local text = file:read "a"
    file:close()
    local start = text:find(('"%s": {"v"'):format(law), 1, true) -- the solutions stand behind everything else
    if not start or not selected(case) then
      break
    end
    -- the files state the stiction tolerance of the laws that have one; their costs have another zero
    local own = law == "sap" and "" or "--set law.stiction_tolerance=" .. text:match '"v_s": ([^,]+)'
    local pipe <close> = assert(io.popen(("%s solve %s --law %s %s --tolerance 1e-10 --max-iterations 400 --json --full 2>/dev/null"):format(
      p.command, path, law, own)))
    local answer = pipe:read "a"
    local cost = tonumber(text:match('"cost": ([^,]+)', start))
    solved = solved + 1
    worst = worse(worst, distance(numbers(answer, "v"), numbers(text, "v", start), numbers(text, "A")))
    worst_cost = law ~= "sap" and 0 or worse(worst_cost, math.abs((tonumber(answer:match '"cost":%s*([^,]+)') or 0 / 0) / cost - 1))
  end
  if solved > 0 then
    report(case, "v", worst, 1e-7)
    if law == "sap" then
      report(case, "cost", worst_cost, 1e-9)
    end
  end
end

print(failed == 0 and "all within tolerance" or failed .. " beyond tolerance")
