-- SPDX-License-Identifier: Apache-2.0
-- Scenarios of scripts/papers/ against independent references, ../shared/reference: runs each with --log, compares the columns and
-- prints case, error and tolerance. Without the references it is skipped.
--     stiction run tests/papers/reference.lua --set command=build/release/bin/stiction [--set only=gyro]
local stn = require "stiction"
local csv = require "csv"
local worse = require "worse"

local p = stn.params {
  command = "stiction",
  shared = "../shared",
  only = "", -- cases whose name contains it
  full = false, -- also the longer studies
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

local function selected(case)
  return case:find(p.only, 1, true) ~= nil
end

-- Runs a scenario and returns its table.
local function run(script, settings)
  local name = os.tmpname()
  local log = name .. ".csv"
  local words = { p.command, "run", "scripts/papers/" .. script, "--quiet", "--log", log }
  for key, value in pairs(settings) do
    if key == "integrator" or key == "solver" then
      words[#words + 1] = ("--%s %s"):format(key, value)
    else
      words[#words + 1] = ("--set '%s=%s'"):format(key, value)
    end
  end
  local ok = os.execute(table.concat(words, " "))
  local rows, names
  if ok then
    rows, names = csv.read(log)
  end
  for _, file in ipairs { name, log, log .. ".parameters" } do os.remove(file) end
  assert(ok, table.concat(words, " ") .. ": failed")
  return rows, names
end

-- The reference's table, whose columns a log must have, `step` first.
local function check_columns(case, names, file)
  local rows, expected = csv.read(folder .. file)
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
        worst[name] = worse(worst[name], error)
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
for _, row in ipairs(csv.read(folder .. "a_spring_cylinder/convergence.csv")) do
  for mu, column in pairs { [0] = "rms_x_error_frictionless", [1] = "rms_x_error_rolling" } do
    local case = ("a_spring_cylinder %s, dt %g, mu %d"):format(row.scheme, row.dt, mu)
    if selected(case) then
      local text = studied(mu):match(('"error_%s_%g":%%s*([%%d.e+-]+)'):format(row.scheme, row.dt))
      report(case, "rms error", math.abs((tonumber(text) or 0 / 0) / row[column] - 1), 0.01)
    end
  end
end

-- ------------------------------------------------------------------------------------------------------- f_gripper

-- How the friction of both fingers is shared is open: their sum counts.
local function compare_gripper(case, settings, file)
  if not selected(case) then
    return
  end
  local rows, names = run("quasistatic/planar_gripper.lua", settings)
  local position, force = 0, 0
  local reference = check_columns(case, names, file)
  assert(#rows == #reference, ("%s: %d rows, the reference has %d"):format(case, #rows, #reference))
  for i, theirs in ipairs(reference) do
    local ours = rows[i]
    assert(math.abs(ours.t - theirs.t) < 1e-9, ("%s: row %d is of t = %g s"):format(case, i, ours.t))
    for name in ("cmd_xl cmd_xr cmd_y xc yc xl xr y phi1 phi2 phi3"):gmatch "%S+" do
      position = worse(position, math.abs(ours[name] - theirs[name]))
    end
    for name in ("cn1 cn2 cn3 cf3"):gmatch "%S+" do force = worse(force, math.abs(ours[name] - theirs[name])) end
    force = worse(force, math.abs(ours.cf1 + ours.cf2 - theirs.cf1 - theirs.cf2))
  end
  report(case, "positions", position, 1e-8)
  report(case, "forces", force, 1e-5)
end

for _, scale in ipairs { 1e-3, 1 } do
  compare_gripper(("f_gripper lcp, mass scale %g"):format(scale), { knots = "reference", model = "lcp", mass_scale = scale }, "f_gripper/lcp.csv")
end
for _, model in ipairs { "qp", "cone" } do
  compare_gripper("f_gripper " .. model, { knots = "reference", model = model }, "f_gripper/qp.csv")
end

-- ------------------------------------------------------------------------------------- b_conveyor, b_sphere, b_rod

-- What a case is told by the name of its file: sap_nearrigid_box4_dt0.01.csv.
local function settings_of(file)
  local function has(word) return file:find("_" .. word, 1, true) ~= nil end
  return {
    law = file:match "^%a+", dt = file:match "dt([%d.e-]+)%.csv$", beta = has "nearrigid" and 1 or 0,
    arm = has "armbody" and "body" or has "armground" and "ground" or "midpoint", margin = has "margin0" and 0 or 100,
  }
end

-- A study: its table's rows by model and step, as "sap 0.01".
local function study_table(script, settings)
  local name = os.tmpname()
  local words = { p.command, "run", "scripts/papers/icf/" .. script, "--quiet", "--set study=true", "--set table=" .. name }
  for key, value in pairs(settings) do words[#words + 1] = ("--set '%s=%s'"):format(key, value) end
  assert(os.execute(table.concat(words, " ") .. " 2>/dev/null"), table.concat(words, " ") .. ": failed")
  local rows = {}
  for _, row in ipairs(csv.read(name)) do rows[("%s %.9g"):format(row.model, row.dt)] = row end
  os.remove(name)
  return rows
end

-- Rows of convergence.csv whose model has the suffix, against a study: errors and largest forces to `relative`, orders to half of that between
-- neighbouring steps, touch, the state at the end.
local function compare_study(case, script, settings, file, suffix, relative, end_tolerance)
  if not selected(case) then
    return
  end
  local theirs, dts, seen = {}, {}, {}
  for _, row in ipairs(csv.read(folder .. file)) do
    local law = row.model:match "^%a+"
    if row.model == law .. suffix then
      theirs[("%s %.9g"):format(law, row.dt)] = row
      if not seen[row.dt] then
        seen[row.dt], dts[#dts + 1] = true, row.dt
      end
    end
  end
  table.sort(dts)
  local text = {}
  for i, dt in ipairs(dts) do text[i] = ("%.9g"):format(dt) end
  settings.dts, settings.norm = table.concat(text, ","), "xz" -- as their errors are
  local ours = study_table(script, settings)
  for law in settings.laws:gmatch "%a+" do
    local off, off_order, off_end, off_touch, off_force = 0, 0, 0, 0, 0
    for i, dt in ipairs(text) do
      local a, b = ours[law .. " " .. dt], theirs[law .. " " .. dt]
      off = worse(off, math.abs(a.rms_error_xz / b.rms_error_xz - 1))
      off_end = worse(worse(off_end, math.abs(a.x_T - b.x_T)), math.abs(a.z_T - b.z_T))
      off_force = worse(off_force, math.abs(a.max_fn / b.max_fn - 1))
      off_touch = worse(off_touch, math.abs(a.t_first_force - b.t_first_force) / dts[i])
      if i > 1 then
        local c, d = ours[law .. " " .. text[i - 1]], theirs[law .. " " .. text[i - 1]]
        local by = math.log(dts[i] / dts[i - 1])
        local order = math.log(a.rms_error_xz / c.rms_error_xz) / by
        off_order = worse(off_order, math.abs(order - math.log(b.rms_error_xz / d.rms_error_xz) / by))
        print(("%-46s order %.3f from %s to %s s"):format(case .. ", " .. law, order, text[i], text[i - 1]))
      end
    end
    report(case .. ", " .. law, "rms error", off, relative)
    report(case .. ", " .. law, "order", off_order, relative / 2)
    report(case .. ", " .. law, "touch [dt]", off_touch, 1e-6)
    report(case .. ", " .. law, "largest fn", off_force, relative)
    report(case .. ", " .. law, "x_T, z_T", off_end, end_tolerance)
  end
end

-- Distance of a run to the continuous solution of the file, root of the mean square over its rows, beside the file's own.
local function compare_distance(case, script, settings, continuous, convergence, tolerance)
  if not selected(case) then
    return
  end
  local rows, sum, count = run(script, settings), 0, 0
  local dt = rows[2].t - rows[1].t
  for _, row in ipairs(csv.read(folder .. continuous)) do
    local ours = rows[math.floor(row.t / dt + 0.5) + 1]
    if row.t > 0 and ours and math.abs(ours.t - row.t) < 1e-6 * dt then
      sum, count = sum + (ours.x - row.x) ^ 2 + (ours.z - row.z) ^ 2, count + 1
    end
  end
  for _, row in ipairs(csv.read(folder .. convergence)) do
    if row.model == settings.law and math.abs(row.dt / settings.dt - 1) < 1e-9 then
      report(case, "distance", math.abs(math.sqrt(sum / count) / row.rms_error_xz - 1), tolerance)
    end
  end
end

-- The files of sap take w, which regularises, at the lowest point of sphere and box also where the contact acts elsewhere; where
-- this is more than the tolerance, each step of ours is held against the scheme of the README instead, with w where the contact
-- acts. armbody files and the rod's, where both are one, agree to round-off.
local w_elsewhere = {}
for file in ([[b_sphere/sap_dt0.01.csv b_sphere/sap_armground_dt0.01.csv b_sphere/sap_nearrigid_dt0.002.csv
  b_sphere/sap_nearrigid_dt0.01.csv b_sphere/sap_margin0_dt0.002.csv b_sphere/sap_margin0_dt0.01.csv b_conveyor/sap_nearrigid_box4_dt0.05.csv]]):gmatch "%S+" do
  w_elsewhere[file] = true
end

-- Frobenius norm of W = (1 - [r]x^2 m / I) / m over 3, of a body with the same inertia about all axes, r from its centre.
local function inverse_mass(m, inertia, x, y, z)
  local square, sum = x * x + y * y + z * z, 0
  local r = { x, y, z }
  for i = 1, 3 do
    for j = 1, 3 do
      sum = sum + ((i == j and 1 / m + square / inertia or 0) - r[i] * r[j] / inertia) ^ 2
    end
  end
  return math.sqrt(sum) / 3
end

-- One contact's impulse by sap: the projection of (v_hat - v)/R on the cone, in the plane.
local function sap_impulse(o, dt, w, phi, vt, vn)
  local Rt, Rn = o.sigma * w, math.max(o.beta ^ 2 / (4 * math.pi ^ 2) * w, 1 / (dt * o.k * (dt + o.taud)))
  local yt, yn, mu_hat = -vt / Rt, (-phi / (dt + o.taud) - vn) / Rn, o.mu * Rt / Rn
  if yn >= 0 and math.abs(yt) <= o.mu * yn then
    return yt, yn
  end
  local n = math.max(0, yn + mu_hat * math.abs(yt)) / (1 + o.mu * mu_hat)
  return (yt < 0 and -1 or 1) * o.mu * n, n
end

-- Largest difference of a log's forces from sap at the velocities that it states, over the largest force. `contacts(row)` lists
-- { x, y, z, arm for J } of each contact at the start of a step, `count` of them at each place.
local function scheme_error(rows, o, contacts)
  local dt, worst, largest = rows[2].t - rows[1].t, 0, 0
  for i = 2, #rows do
    local before, now = rows[i - 1], rows[i]
    for k, c in ipairs(contacts(before)) do
      local vt, vn = now.vx - now.omega * c.z - (o.belt and o.belt(now.t) or 0), now.vz + now.omega * c.x
      local t, n = 0, 0
      if c.phi <= o.margin then
        t, n = sap_impulse(o, dt, inverse_mass(o.m, o.inertia, c.x, c.y, c.z), c.phi, vt, vn)
      end
      local ft, fn = now["ft" .. (o.count == 2 and k - 1 or "")], now["fn" .. (o.count == 2 and k - 1 or "")]
      worst = worse(worst, math.max(math.abs(o.count * t / dt - ft), math.abs(o.count * n / dt - fn)))
      largest = worse(largest, fn)
    end
  end
  return worst / largest
end

local function sphere_contacts(arm)
  local height = ({ midpoint = 0.5, body = 0, ground = 1 })[arm]
  return function(row)
    return { { x = 0, y = 0, z = -0.025 - height * row.phi, phi = row.phi } }
  end
end

local function box_contacts(row)
  local list, h = {}, 0.025
  for k, side in ipairs { -1, 1 } do
    local c, s, phi = h * math.cos(row.theta), h * math.sin(row.theta), row["phi" .. k - 1]
    list[k] = { x = side * c + s, y = h, z = side * s - c - phi / 2, phi = phi }
  end
  return list
end

local function compare_file(case, script, settings, file, tolerances, scheme)
  if not w_elsewhere[file] then
    compare(case, script, settings, file, tolerances)
  elseif selected(case) then
    report(case, "scheme", scheme_error(run(script, settings), scheme, scheme.contacts), 1e-9)
  end
end

local function each_file(list, visit)
  for word in list:gmatch "%S+" do
    local name, dts = word:match "^([^=]+)=(.*)$"
    for dt in dts:gmatch "[^,]+" do visit(("%s_dt%s.csv"):format(name, dt)) end
  end
end

-- b_conveyor
each_file([[sap=0.05,0.01,0.002 lagged=0.05,0.01,0.002 similar=0.05,0.01,0.002 sap_nearrigid=0.05,0.01,0.002 sap_box4=0.05,0.01,0.002
  lagged_box4=0.05,0.01,0.002 similar_box4=0.05,0.01,0.002 sap_nearrigid_box4=0.05,0.01,0.002]], function(file)
  local settings, box4 = settings_of(file), file:find "box4" ~= nil
  settings.box4 = box4
  compare_file("b_conveyor " .. file, "icf/conveyor_belt.lua", settings, "b_conveyor/" .. file,
    box4 and { x = 1e-6, z = 1e-6, vx = 1e-5, vz = 1e-5 } or all("x z vx vz", 1e-11), -- of box4 what the README calls realistic
    { margin = 100, m = 1, inertia = 0.05 ^ 2 / 6, mu = 0.7, k = 1e7, taud = 1e-3, sigma = 1e-3, beta = settings.beta, count = 2, contacts = box_contacts,
      belt = function(t) return 0.4 * math.pi * math.sin(2 * math.pi * t) end })
end)
local laws = "sap,lagged,similar"
compare_study("b_conveyor study", "conveyor_belt.lua", { laws = laws }, "b_conveyor/convergence.csv", "", 1e-7, 1e-11)
if p.full then
  compare_study("b_conveyor near-rigid study", "conveyor_belt.lua", { laws = "sap", beta = 1 }, "b_conveyor/convergence.csv", "_nearrigid", 1e-6, 1e-11)
  compare_study("b_conveyor box4 study", "conveyor_belt.lua", { laws = laws, box4 = true }, "b_conveyor/convergence_box4.csv", "", 1e-2, 1e-6)
end
for law in laws:gmatch "%a+" do
  compare_distance("b_conveyor to the continuous, " .. law, "icf/conveyor_belt.lua", { law = law, dt = 4e-4 }, "b_conveyor/continuous.csv",
    "b_conveyor/convergence.csv", 2e-4)
end

-- b_sphere
each_file([[sap=0.01,0.002,0.0004 lagged=0.01,0.002,0.0004 similar=0.01,0.002,0.0004 sap_nearrigid=0.01,0.002,0.0004 sap_armbody=0.01,0.002
  sap_armground=0.01,0.002 lagged_armbody=0.01,0.002 lagged_armground=0.01,0.002 similar_armbody=0.01,0.002
  similar_armground=0.01,0.002 sap_margin0=0.01,0.002,0.0004 lagged_margin0=0.01,0.002,0.0004 similar_margin0=0.01,0.002,0.0004]], function(file)
  local settings = settings_of(file)
  compare_file("b_sphere " .. file, "icf/falling_sphere.lua", settings, "b_sphere/" .. file, { x = 1e-7, z = 1e-7, theta = 1e-5, vx = 1e-5, vz = 1e-5 },
    { margin = settings.margin, m = 0.5, inertia = 0.2 * 0.025 ^ 2, mu = 0.5, k = 1e7, taud = 1e-3, sigma = 1e-3, beta = settings.beta, count = 1,
      contacts = sphere_contacts(settings.arm) })
end)
compare_study("b_sphere study", "falling_sphere.lua", { laws = laws }, "b_sphere/convergence.csv", "", 1e-4, 3e-7)
compare_study("b_sphere study, contacts from touch on", "falling_sphere.lua", { laws = "lagged,similar", margin = 0 },
  "b_sphere/convergence.csv", "_margin0", 1e-4, 3e-7)
for law in laws:gmatch "%a+" do
  compare_distance("b_sphere to the continuous, " .. law, "icf/falling_sphere.lua", { law = law, dt = 4e-4 }, "b_sphere/continuous.csv",
    "b_sphere/convergence.csv", 1e-5)
  local case = "b_sphere rolls, " .. law
  if selected(case) then -- friction that acts at the sphere's lowest point keeps the angular momentum exactly
    local rows = run("icf/falling_sphere.lua", { law = law, dt = 4e-4, arm = law == "lagged" and "midpoint" or "body" })
    report(case, "vx - 5/7 U0", math.abs(rows[#rows].vx - 10 / 7), 1e-4)
  end
end

-- b_rod
each_file([[sap_d0=0.00064,0.00016,4e-05,1e-05 lagged_d0=0.00064,0.00016,4e-05,1e-05 similar_d0=0.00064,0.00016,4e-05,1e-05
  sap_diss=0.00064,0.00016,4e-05,1e-05 lagged_diss=0.00064,0.00016,4e-05,1e-05 similar_diss=0.00064,0.00016,4e-05,1e-05
  sap_nearrigid_d0=0.00064,0.00016,4e-05,1e-05 sap_nearrigid_diss=0.00064,0.00016,4e-05,1e-05 sap_glide_d0=0.00064,0.00016,4e-05,1e-05
  sap_glide_diss=0.00064,0.00016,4e-05,1e-05 similar_glide_d0=0.00064,0.00016,4e-05,1e-05 similar_glide_diss=0.00064,0.00016,4e-05,1e-05
  sap_d0_armbody=0.00064,4e-05 sap_d0_armground=0.00064,4e-05 lagged_d0_armbody=0.00064,4e-05 lagged_d0_armground=0.00064,4e-05
  similar_d0_armbody=0.00064,4e-05 similar_d0_armground=0.00064,4e-05]], function(file)
  local settings = settings_of(file)
  settings.dissipation, settings.glide = file:find "_diss" ~= nil, file:find "_glide" ~= nil
  local tolerances = file:find "sap_.*_arm" and all("x z theta", 1e-6) or all("x z theta", 1e-10) -- w of other arms: as of the sphere
  compare("b_rod " .. file, "icf/sliding_rod.lua", settings, "b_rod/" .. file, tolerances)
end)
for _, name in ipairs { "d0", "diss" } do
  local file, dissipation = ("b_rod/convergence_%s.csv"):format(name), name == "diss"
  compare_study("b_rod study, " .. name, "sliding_rod.lua", { laws = laws, dissipation = dissipation }, file, "", 1e-2, 1e-9)
  compare_study("b_rod gliding study, " .. name, "sliding_rod.lua", { laws = "sap,similar", dissipation = dissipation, glide = true }, file, "_glide",
    1e-2, 1e-9)
  compare_distance("b_rod to the continuous, " .. name, "icf/sliding_rod.lua", { law = "lagged", dt = 4e-5, dissipation = dissipation },
    ("b_rod/continuous_%s.csv"):format(name), file, 1e-8)
end

-- Results of a run by name.
local function results(script, settings)
  local words = { p.command, "run", "scripts/papers/icf/" .. script, "--quiet", "--json" }
  for key, value in pairs(settings) do words[#words + 1] = ("--set '%s=%s'"):format(key, value) end
  local pipe <close> = assert(io.popen(table.concat(words, " ") .. " 2>/dev/null"))
  local text = pipe:read "a"
  return function(name) return tonumber(text:match(('"%s":%%s*{?[^-%%d]*([%%d.e+-]+)'):format(name)) or "nan") or 0 / 0 end
end

for _, row in ipairs(csv.read(folder .. "b_rod/jam.csv")) do
  local case = ("b_rod jam, %s, %s"):format(row.case, row.model)
  if selected(case) then
    local result = results("sliding_rod.lua", { law = row.model, dt = 1e-6, glide = true, dissipation = row.case == "diss" })
    for _, name in ipairs { "t_peak", "peak_force", "t_first_stick", "stiction_time", "vz_end" } do -- a step that just sticks is 0.5 % of the time
      report(case, name, math.abs(result(name) / row[name] - 1), name == "stiction_time" and 0.006 or 1e-7)
    end
  end
end

-- How high the rod is thrown with coarse steps: facts impact_vs_dt. lagged misses the jam from 3.2e-4 s on.
local facts = assert(io.open(folder .. "b_rod/facts.json"))
local fact_text = facts:read "a"
facts:close()
for _, name in ipairs { "d0", "diss" } do
  local from = fact_text:find("impact_vs_dt_" .. name, 1, true)
  for law in laws:gmatch "%a+" do
    for _, dt in ipairs { "0.00256", "0.00128", "0.00064", "0.00032", "0.00016" } do
      local case = ("b_rod coarse steps, %s, %s, dt %s"):format(name, law, dt)
      if selected(case) then
        local block = fact_text:match(('"%s dt=%s": (%%b{})'):format(law, dt:gsub("%.", "%%.")), from)
        local result = results("sliding_rod.lua", { law = law, dt = dt, seconds = 0.06, dissipation = name == "diss" })
        local off = 0
        for ours, theirs in pairs { peak_force = "max_fn", t_peak = "t_at_max", max_vz = "max_vz", vz_end = "vz_end", min_vx = "min_vx" } do
          off = worse(off, math.abs(result(ours) / tonumber(block:match('"' .. theirs .. '": ([%d.e+-]+)')) - 1))
        end
        report(case, "jam", off, 1e-8)
        if law == "lagged" then
          report(case, "caught", (tonumber(dt) < 3e-4) == (result "max_vz" > 3) and 0 or 1, 0)
        end
      end
    end
  end
end

-- ------------------------------------------------------------------------------------------------------ c_particle

for _, row in ipairs(csv.read(folder .. "c_particle/static_penetration.csv")) do
  if row.w_convention == "rms_frobenius_over_3" then
    compare_last(("c_particle rest, k %g, dt %g, tau %.2g"):format(row.k, row.dt, row.tau_d), "sap/particle.lua",
      { case = "penetration", k = row.k, dt = row.dt, taud = row.tau_d, beta = row.beta }, "c_particle/static_penetration.csv",
      { penetration = row.penetration }, 1e-9, true)
  end
end
for _, row in ipairs(csv.read(folder .. "c_particle/stiction_creep.csv")) do
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
for _, row in ipairs(csv.read(folder .. "c_particle/stopping.csv")) do
  compare_last(("c_particle stop, %s, mu %g, dt %g"):format(row.model, row.mu, row.dt), "sap/particle.lua",
    { case = "stop", law = row.model, mu = row.mu, dt = row.dt }, "c_particle/stop_sap_mu1_dt0.01.csv", { x = row.x_end }, 1e-7)
end
for _, row in ipairs(csv.read(folder .. "c_particle/incline.csv")) do
  compare_last(("c_particle incline, mu %g, %.4g deg"):format(row.mu, row.angle_deg), "sap/particle.lua",
    { case = "incline", mu = row.mu, angle_deg = row.angle_deg }, "c_particle/incline.csv",
    { x_sap = row.x_sap, x_lagged = row.x_lagged, x_similar = row.x_similar }, 1e-7)
end
for _, row in ipairs(csv.read(folder .. "c_particle/bounce_kelvin_voigt.csv")) do -- order 1 in dt: 1e-3 at 1e-6 s
  compare_last(("c_particle bounce, tau %g"):format(row.tau_d), "sap/particle.lua", { case = "bounce", taud = row.tau_d, dt = 1e-6 },
    "c_particle/bounce_kelvin_voigt.csv", { restitution = row.restitution }, 1e-3)
end
for _, row in ipairs(csv.read(folder .. "c_particle/bounce.csv")) do
  if row["discrete_restitution_dt1e-5"] == row["discrete_restitution_dt1e-5"] and tonumber(row["discrete_restitution_dt1e-5"]) then
    compare_last(("c_particle bounce, d %g, v %g"):format(row.d, row.v_impact), "sap/particle.lua",
      { case = "bounce", law = "lagged", d = row.d, v_impact = row.v_impact, dt = 1e-5 }, "c_particle/bounce.csv",
      { ["discrete_restitution_dt1e-4"] = row["discrete_restitution_dt1e-4"], ["discrete_restitution_dt1e-5"] = row["discrete_restitution_dt1e-5"] }, 1e-4)
  end
end

-- --------------------------------------------------------------------------------------------------- d_anisotropic

for _, mu in ipairs { { 0.3, 0.3 }, { 0.3, 0.15 }, { 0.15, 0.3 }, { 0.4, 0.1 }, { 0.1, 0.4 } } do
  for _, body in ipairs { "particle", "box" } do
    compare(("d_anisotropic %s, mu %g and %g"):format(body, mu[1], mu[2]), "cond/anisotropic_box.lua", { body = body, mu1 = mu[1], mu2 = mu[2] },
      ("d_anisotropic/slide_mu%g_%g.csv"):format(mu[1], mu[2]),
      all("x_discrete y_discrete vx_discrete vy_discrete x_discrete_mid y_discrete_mid x_mdp y_mdp vx_mdp vy_mdp", 1e-8))
  end
end

for _, mu in ipairs { { 0.3, 0.15 }, { 0.1, 0.4 } } do
  compare(("d_anisotropic particle, mu %g and %g, by cond"):format(mu[1], mu[2]), "cond/anisotropic_box.lua",
    { body = "particle", mu1 = mu[1], mu2 = mu[2], solver = "cond" }, ("d_anisotropic/slide_mu%g_%g.csv"):format(mu[1], mu[2]),
    all("x_discrete y_discrete vx_discrete vy_discrete", 1e-8))
end

-- ----------------------------------------------------------------------------------------------------- e_cond_box

compare("e_cond_box", "cond/box_sliding.lua", { k_v = 0 }, "e_cond_box/box.csv", all("x y z vy", 1e-9))
if selected "e_cond_box, first order" then
  local rows = run("cond/box_sliding.lua", { k_v = 0, integrator = "symplectic_euler" })
  local worst = 0
  for i, theirs in ipairs(csv.read(folder .. "e_cond_box/box.csv")) do worst = worse(worst, math.abs(rows[i].y - theirs.y_symplectic_euler)) end
  report("e_cond_box, first order", "y", worst, 1e-9)
end
for _, row in ipairs(csv.read(folder .. "e_cond_box/virtual_node_error.csv")) do
  local case = ("e_cond_box, k_v = %g"):format(row.k_v)
  if selected(case) then
    local rows = run("cond/box_sliding.lua", { k_v = row.k_v })
    local exact = csv.read(folder .. "e_cond_box/box.csv")
    for _, axis in ipairs { "y", "z" } do
      local sum = 0
      for i, now in ipairs(rows) do sum = sum + math.abs(now[axis] - exact[i][axis]) end
      local expected = axis == "y" and row.y_error_mu_m_g_over_8kv or row.z_error_m_g_over_8kv
      report(case, "error of " .. axis, math.abs(sum / #rows / expected - 1), 0.05)
    end
  end
end

-- ------------------------------------------------------------------------------------------------------ g_dynamics

-- 1e-6 for the top up to its first flip, 1e-5 for chains; the gyroscope has none of its own. Orders in dt: tests/scenario/integrators.lua.
compare("g_dynamics free_top", "dynamics/free_top.lua", { dt = 2e-4, T = 2.4 }, "g_dynamics/free_top.csv", all("qw qx qy qz", 1e-7), 2.32)
compare("g_dynamics free_top, invariants", "dynamics/free_top.lua", { dt = 2e-4 }, "g_dynamics/free_top.csv", all("energy Lx Ly Lz", 1e-6))
for _, case in ipairs { "cusp", "steady_slow", "loop" } do
  compare("g_dynamics gyroscope " .. case, "dynamics/gyroscope.lua", { case = case, dt = 2e-5 }, "g_dynamics/gyro_" .. case .. ".csv",
    { theta = 1e-7, phi = 1e-6, psi = 1e-6, theta_dot = 5e-6, phi_dot = 1e-5, psi_dot = 1e-5, energy = 1e-8 })
end
compare("g_dynamics double_pendulum", "dynamics/double_pendulum.lua", { dt = 5e-5 }, "g_dynamics/double_pendulum.csv",
  { q0 = 1e-6, q1 = 5e-6, qd0 = 1e-5, qd1 = 2e-5, energy = 1e-6 })
for _, case in ipairs { "chain7", "chain7_damped" } do
  compare("g_dynamics " .. case, "dynamics/chain.lua", { case = case, dt = 2.5e-5 }, "g_dynamics/" .. case .. ".csv",
    { q0 = 1e-6, q1 = 5e-6, q2 = 5e-7, q3 = 1e-5, q4 = 2e-6, q5 = 1e-5, q6 = 1e-5, energy = 2e-6 })
end
for _, row in ipairs(csv.read(folder .. "g_dynamics/pendulum_period.csv")) do
  local case = ("g_dynamics pendulum from %g deg"):format(row.amplitude_deg)
  if selected(case) then
    local rows = run("dynamics/pendulum.lua", { amplitude_deg = row.amplitude_deg, dt = 1e-3 })
    report(case, "period", math.abs(rows[#rows].period / row.period - 1), 2.3e-6) -- 0.1 (w dt)^2
  end
end

-- -------------------------------------------------------------------------------------------------- i_multicontact

local function numbers(text, key, from)
  local list = {}
  local array = text:match('"' .. key .. '":%s*%[([^%]]*)%]', from) or ""
  for word in array:gmatch "[^,%s]+" do list[#list + 1] = tonumber(word) end
  return list
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

-- ------------------------------------------------------------------------------------------------- j_hydroelastic

-- The largest relative error of columns over all rows: those are the same, in the same order.
local function compare_rows(case, settings, file, tolerances)
  if not selected(case) then
    return
  end
  local compared = {}
  local rows, names = run("hydroelastic/press.lua", settings)
  local reference = check_columns(case, names, "j_hydroelastic/" .. file)
  assert(#rows == #reference, ("%s: %d rows, not %d"):format(case, #rows, #reference))
  for _, column in ipairs(names) do
    if tolerances[column] then
      local worst = 0
      for i, theirs in ipairs(reference) do worst = worse(worst, math.abs(rows[i][column] / theirs[column] - 1)) end
      report(case, column, worst, tolerances[column])
      compared[column] = true
    end
  end
  for column in pairs(tolerances) do assert(compared[column], ("%s: no column '%s' to compare"):format(case, column)) end
end

compare_rows("j_hydroelastic sphere on plane", { case = "sphere_plane" }, "sphere_plane.csv",
  { depth = 1e-12, force = 3e-4, area = 1e-3, patch_radius = 5e-4, max_pressure = 8e-3 })
compare_rows("j_hydroelastic sphere on sphere", { case = "sphere_sphere" }, "sphere_sphere.csv",
  { depth = 1e-12, force = 3e-4, rim_radius = 2e-3, z_axis = 1.2e-3, max_pressure = 8e-3 })
compare_rows("j_hydroelastic box on plane", { case = "box_plane" }, "box_plane.csv",
  { depth = 1e-12, force_layer_field = 1e-11, force_medial_field = 1e-11 })
compare_rows("j_hydroelastic mesh of the sphere", { case = "sphere_plane_mesh" }, "sphere_plane_mesh.csv",
  { subdivisions = 1e-12, n_tets = 1e-12, depth = 1e-12, force_mesh = 1e-11, force_exact = 5e-12 })

print(failed == 0 and "all within tolerance" or failed .. " beyond tolerance")
