-- SPDX-License-Identifier: Apache-2.0
-- A cylinder on the ground, tied to a wall by a spring along x (x = 0: slack), let go at x0: paper SAP, section VI-B. With
-- mu > 0 it rolls, with mu = 0 it slides, each by three schemes side by side. The contact is one point: a sphere
-- of radius R carries the inertia of the cylinder, whose axis is y. Angles are counter-clockwise with x right and z up.
-- convergence = true runs all schemes at several steps instead and prints errors and orders.
--
-- What must come out is the scheme's own solution of a mass on a spring, m x'' + k x = 0, in closed form up to a recurrence:
-- exactly when it slides, and up to the slip of regularised friction when it rolls (with the inertia added to m).
local stn = require "stiction"
local numbers, load_text, chart = require "numbers", require "robot_text", require "chart"

local p = stn.params {
  scheme = stn.choice { "midpoint", "symplectic_euler", "implicit_euler" }, -- that --log writes when it rolls
  planar = false,            -- the cylinder cannot leave the plane of x and z
  m = 0.5, k = 100.0,        -- [kg], [N/m]
  R = 0.05, L = 0.1,         -- [m]
  x0 = 0.1,                  -- [m]
  kc = 1e4, taud = 0.02,     -- of the contact [N/m], [s]
  mu = 1.0,
  sigma = 1e-3, beta = 1.0,  -- of the law
  dt = 0.02,                 -- [s]
  n = 300,                   -- steps
  convergence = false,       -- the study, over T_conv
  T_conv = 5.0,              -- [s]
  dts = "0.02,0.01,0.005,0.0025,0.00125", -- its steps [s]
  plot = "",                 -- an SVG file: energy or x over time, errors over dt
  show = stn.choice { "energy", "position" },
}
local schemes = { "symplectic_euler", "midpoint", "implicit_euler" }

local across, along = p.m * (3 * p.R ^ 2 + p.L ^ 2) / 12, p.m * p.R ^ 2 / 2 -- moments of inertia [kg m^2]
local implicit = { symplectic_euler = 0, midpoint = 0.25, implicit_euler = 1 } -- A = M + this dt^2 K

-- Inverse mass w = |W_ii|/3 of a contact `arm` below the axis, which the law reads [1/kg]. W_ii = J A^-1 J^T is diagonal.
local function inverse_mass(scheme, dt, arm)
  local wx = 1 / (p.m + implicit[scheme] * dt ^ 2 * p.k) + arm ^ 2 / along
  local wy, wz = p.planar and 0 or 1 / p.m + arm ^ 2 / across, 1 / p.m
  return math.sqrt(wx ^ 2 + wy ^ 2 + wz ^ 2) / 3
end

-- Overlap at rest: the contact is as stiff as it is, or near-rigid [m].
local function overlap(scheme, dt)
  local R_n = math.max(p.beta ^ 2 / (4 * math.pi ^ 2) * inverse_mass(scheme, dt, p.R), 1 / (dt * p.kc * (dt + p.taud)))
  return p.m * 9.81 * dt * (dt + p.taud) * R_n
end

-- The contact lies in the middle of the overlap.
local function arm_of(scheme, dt)
  return p.R - overlap(scheme, dt) / 2
end

local function make(scheme, dt)
  local world = stn.world { dt = dt, integrator = { "theta", scheme = scheme }, law = { "sap", sigma = p.sigma, beta = p.beta },
    solver = { "sap", tolerance = 1e-14 }, contact_point = "midpoint", margin = p.R }
  local robot = load_text(world, ".xml", ([[<mujoco model="cylinder"><worldbody><body name="cylinder">
    <inertial pos="0 0 0" mass="%.17g" diaginertia="%.17g %.17g %.17g"/>
    <joint name="x" type="slide" axis="1 0 0" stiffness="%.17g"/>%s<joint name="z" type="slide" axis="0 0 1"/>
    <joint name="turn" type="%s" axis="0 1 0"/>
    <geom type="sphere" size="%.17g" mass="0"/></body></worldbody></mujoco>]]):format(p.m, across, along, across, p.k,
    p.planar and "" or '<joint name="y" type="slide" axis="0 1 0"/>', p.planar and "hinge" or "ball", p.R))
  world:ground {}
  world:contact_material { mu = p.mu, stiffness = p.kc, relaxation_time = p.taud }
  robot:set_q { x = p.x0, z = p.R - overlap(scheme, dt) }
  return { world = world, robot = robot, x = robot:joint "x", z = robot:joint "z", turn = robot:joint "turn" }
end

local function energy(run)
  local e = run.world:energy()
  return e.kinetic + e.elastic
end

local function exact(omega, t)
  return p.x0 * math.cos(omega * t), -p.x0 * omega * math.sin(omega * t)
end

-- One step of a scheme for x'' = -omega^2 x.
local function advance(scheme, omega, dt, x, v)
  local h = omega * dt
  if scheme == "midpoint" then
    local after = ((1 - h * h / 4) * v - dt * omega ^ 2 * x) / (1 + h * h / 4)
    return x + dt * (v + after) / 2, after
  end
  v = (v - dt * omega ^ 2 * x) / (scheme == "implicit_euler" and 1 + h * h or 1)
  return x + dt * v, v
end

-- Frequency of the cylinder [rad/s]: one that rolls carries its inertia along.
local function frequency(scheme, dt)
  return math.sqrt(p.k / (p.m + (p.mu > 0 and along / arm_of(scheme, dt) ^ 2 or 0)))
end

-- Amplitude of the friction force that turns a rolling cylinder [N].
local function friction_amplitude(scheme, dt)
  return along / arm_of(scheme, dt) ^ 2 * p.x0 * frequency(scheme, dt) ^ 2
end

-- Slip of regularised friction over its force [m/(N s)].
local function slip_over_force(scheme, dt)
  return p.sigma * inverse_mass(scheme, dt, arm_of(scheme, dt)) * dt
end

-- Part of the energy that rolling loses in a second: regularised friction slips, which takes the power slip F_t.
local function rolling_loss(scheme, dt)
  return slip_over_force(scheme, dt) * friction_amplitude(scheme, dt) ^ 2 / (p.k * p.x0 ^ 2)
end

-- What is watched of a run by one scheme, called after every step: energies over that at the start, and the scheme's own
-- solution beside it.
local function watch(run, scheme)
  local omega, start = frequency(scheme, p.dt), energy(run)
  local w = { scheme = scheme, run = run, low = 1, high = 1, off = 0, exact_low = 1, exact_high = 1, first_band = 0, energy = 1,
    omega = omega, times = { 0 }, energies = { 1 }, xs = { p.x0 }, crossings = {} }
  local x, v, before = p.x0, 0, p.x0
  local stored, every = p.k * p.x0 ^ 2, math.ceil(p.n / 600)
  function w.look()
    local e, now, steps = energy(run) / start, run.x:position(), run.world.steps
    x, v = advance(scheme, omega, p.dt, x, v)
    local own = (p.k * x ^ 2 + p.k / omega ^ 2 * v ^ 2) / stored
    w.exact_low, w.exact_high = math.min(w.exact_low, own), math.max(w.exact_high, own)
    w.low, w.high, w.off = math.min(w.low, e), math.max(w.high, e), math.max(w.off, math.abs(now - x))
    if run.world.time <= 3.5 then w.first_band = w.high - w.low end
    if steps % every == 0 then
      w.times[#w.times + 1], w.energies[#w.energies + 1], w.xs[#w.xs + 1] = run.world.time, e, now
    end
    if before < 0 and now >= 0 then w.crossings[#w.crossings + 1] = run.world.time - p.dt * now / (now - before) end
    before, w.energy = now, e
  end
  -- steps between upward passages through x = 0
  function w.steps_per_period()
    local t = w.crossings
    return #t > 1 and (t[#t] - t[1]) / (#t - 1) / p.dt or 0 / 0
  end
  return w
end

local function watch_all()
  local watched = {}
  for i, scheme in ipairs(schemes) do watched[i] = watch(make(scheme, p.dt), scheme) end
  return watched
end

local function draw(watched)
  if p.plot == "" then return end
  local series = {}
  for i, w in ipairs(watched) do series[i] = { name = w.scheme:gsub("_", " "), x = w.times, y = p.show == "energy" and w.energies or w.xs } end
  if p.show == "position" then
    local t = watched[1].times
    local line = { name = "closed form", x = t, y = {} }
    for i = 1, #t do line.y[i] = exact(watched[2].omega, t[i]) end
    series[#series + 1] = line
  end
  chart.write(p.plot, { title = (p.mu > 0 and "a cylinder rolls on a spring: " or "a cylinder slides on a spring: ") .. p.show, x = { label = "time [s]" },
    y = { label = p.show == "energy" and "energy / energy at the start" or "x [m]" }, series = series, legend = "beside" })
end

-- Steps a period of a linear scheme, h = omega dt: the angle that it turns phase space by.
local function period_of(scheme, h)
  local turn = { midpoint = 2 * math.atan(h / 2), symplectic_euler = 2 * math.asin(h / 2), implicit_euler = math.atan(h) }
  return 2 * math.pi / turn[scheme]
end

-- Interpolated passages are off by a hundredth of a step in all, hence by that over the periods between them.
local function check_period(w)
  if #w.crossings > 2 and w.scheme ~= "implicit_euler" then -- which has decayed by then
    local expected, steps = period_of(w.scheme, w.omega * p.dt), w.steps_per_period()
    stn.check(w.scheme .. ": steps per period", { value = math.abs(steps / expected - 1), limit = 2e-4 })
  end
end

local function report(w)
  stn.result("energy_band_" .. w.scheme, 100 * (w.high - w.low), "%")
  stn.result("energy_band_3.5s_" .. w.scheme, 100 * w.first_band, "%")
  stn.result("energy_at_the_end_" .. w.scheme, w.energy, "1")
  stn.result("steps_per_period_" .. w.scheme, w.steps_per_period())
end

local function slide()
  local watched, columns = watch_all(), { "t" }
  for _, name in ipairs(schemes) do
    for _, letter in ipairs { "x_", "v_", "E_" } do columns[#columns + 1] = letter .. name end
  end
  columns[#columns + 1], columns[#columns + 2] = "x_exact", "v_exact"
  local main = watched[1].run.world
  columns.values = function()
    local row = { main.time }
    for _, w in ipairs(watched) do
      local run = w.run
      while run.world.steps < main.steps do run.world:step() end -- the other schemes follow the first
      table.move({ run.x:position(), run.x:velocity(), energy(run) }, 1, 3, #row + 1, row)
    end
    row[#row + 1], row[#row + 2] = exact(watched[1].omega, main.time)
    return table.unpack(row)
  end
  main:log(columns)
  for _ in main:run { steps = p.n } do
    columns.values()
    for _, w in ipairs(watched) do w.look() end
  end
  stn.result("steps_per_period", 2 * math.pi / watched[2].omega / p.dt)
  for _, w in ipairs(watched) do
    report(w)
    check_period(w)
    stn.check(w.scheme .. ": x off the scheme's recurrence", { value = w.off, limit = 1e-11, unit = "m" })
    stn.check(w.scheme .. ": energy band off that of the recurrence", { value = math.abs(w.high - w.low - (w.exact_high - w.exact_low)), limit = 1e-9 })
  end
  stn.check("midpoint keeps the energy", { value = watched[2].high - watched[2].low, limit = 1e-13 })
  -- k x^2 + m v^2 - dt k x v stays with symplectic Euler: energies lie between E0/(1 + h/2) and E0/(1 - h/2), h = omega dt
  local h = watched[1].omega * p.dt
  stn.result("energy_band_symplectic_euler_exact", 100 * h / (1 - h * h / 4), "%")
  draw(watched)
end

-- Highest energy of the last two periods below that of the first two.
local function lost(w)
  local two = math.ceil(2 * 2 * math.pi / w.omega / (w.times[2] - w.times[1]))
  local first, last = 0, 0
  for i = 1, math.min(two, #w.energies) do
    first, last = math.max(first, w.energies[i]), math.max(last, w.energies[#w.energies - i + 1])
  end
  return 1 - last / first
end

local function roll()
  local watched, main = watch_all(), nil
  for _, w in ipairs(watched) do main = w.scheme == p.scheme and w or main end
  local run, dt = main.run, p.dt
  local world = run.world
  local theta, slip, ft, fn = 0, 0, 0, 0
  local function turned() -- about -y, without jumps
    if p.planar then return -run.turn:position() end
    local q = run.turn:position()
    local angle = -2 * math.atan(q[3], q[1])
    return angle + 2 * math.pi * math.floor((theta - angle) / (2 * math.pi) + 0.5)
  end
  local function look()
    theta, slip, ft, fn = turned(), 0, 0, 0
    for _, contact in ipairs(world:contacts()) do
      local sign = contact.a == run.robot.name and -1 or 1 -- the impulse is that on b
      ft, fn = ft + sign * contact.impulse[1] / dt, fn + sign * contact.impulse[3] / dt
      slip = ft > 0 and -contact.slip_speed or contact.slip_speed
    end
  end
  world:log { "t", "x", "z", "theta", "vx", "vz", "omega", "E", "slip", "ft", "fn", values = function()
    look()
    return world.time, run.x:position(), run.z:position(), theta, run.x:velocity(), run.z:velocity(),
      p.planar and -run.turn:velocity() or -run.turn:velocity()[2], energy(run), slip, ft, fn
  end }
  local largest_slip, largest_friction = 0, 0
  for _ in world:run { steps = p.n } do
    look()
    largest_slip, largest_friction = math.max(largest_slip, math.abs(slip)), math.max(largest_friction, math.abs(ft))
    for _, w in ipairs(watched) do
      if w ~= main then w.run.world:step() end
      w.look()
    end
  end
  stn.result("steps_per_period", 2 * math.pi / watched[2].omega / p.dt)
  stn.result("inverse_mass", inverse_mass(p.scheme, dt, arm_of(p.scheme, dt)), "1/kg")
  stn.result("largest_slip", largest_slip, "m/s")
  for _, w in ipairs(watched) do
    report(w)
    stn.result("energy_lost_" .. w.scheme, 100 * lost(w), "%")
  end
  local amplitude = friction_amplitude(p.scheme, dt)
  if amplitude > p.mu * p.m * 9.81 then
    stn.check("it can roll: the friction that takes", { value = amplitude, limit = p.mu * p.m * 9.81, unit = "N" })
    return
  end
  for _, w in ipairs(watched) do check_period(w) end
  stn.check("slip over sigma w dt F_t", { value = math.abs(largest_slip / (slip_over_force(p.scheme, dt) * largest_friction) - 1), limit = 1e-4 })
  if p.scheme == "midpoint" and world.time * main.omega > math.pi then -- half a period: friction was at its largest twice
    local expected = 1 - math.exp(-rolling_loss(p.scheme, dt) * world.time)
    stn.result("energy_loss_predicted", 100 * expected, "%")
    stn.check("friction over that of rolling", { value = math.abs(largest_friction / amplitude - 1), limit = 0.01 })
    stn.check("energy goes into regularised friction", { value = math.abs((main.high - main.low) / expected - 1), limit = 0.05 })
  end
  draw(watched)
end

-- Root of the mean square of the error of x over T_conv: of a run, and of the scheme's recurrence, whose amplitude falls as regularised friction
-- takes energy. That is of order 1 in dt and a thousandth of the other errors; with midpoint it shows at the smallest steps.
local function error_of(scheme, dt)
  local run = make(scheme, dt)
  local omega, sum, own, count, x, v = frequency(scheme, dt), 0, 0, 0, p.x0, 0
  local decay = p.mu > 0 and rolling_loss(scheme, dt) / 2 or 0
  for step in run.world:run { seconds = p.T_conv } do
    local closed = exact(omega, step.time)
    x, v = advance(scheme, omega, dt, x, v)
    sum, own, count = sum + (run.x:position() - closed) ^ 2, own + (x * math.exp(-decay * step.time) - closed) ^ 2, count + 1
  end
  return math.sqrt(sum / (count + 1)), math.sqrt(own / (count + 1))
end

local function converge()
  local steps, series = numbers(p.dts, "dts"), {}
  io.stderr:write(("%-18s %10s %12s %12s %8s %8s\n"):format("scheme", "dt [s]", "error [m]", "recurrence", "order", "its own"))
  for k, scheme in ipairs(schemes) do
    local before, own_before, dt_before, order, own_order
    local worst, line = 0, { name = scheme:gsub("_", " "), x = {}, y = {} }
    for _, dt in ipairs(steps) do
      local error, own = error_of(scheme, dt)
      if before then
        order, own_order = math.log(before / error) / math.log(dt_before / dt), math.log(own_before / own) / math.log(dt_before / dt)
      end
      io.stderr:write(("%-18s %10g %12.5e %12.5e %8s %8s\n"):format(scheme, dt, error, own, order and ("%.3f"):format(order) or "",
        order and ("%.3f"):format(own_order) or ""))
      stn.result(("error_%s_%g"):format(scheme, dt), error, "m")
      worst = math.max(worst, math.abs(error / own - 1))
      line.x[#line.x + 1], line.y[#line.y + 1] = dt, error
      before, own_before, dt_before = error, own, dt
    end
    series[k] = line
    stn.result("order_" .. scheme, order)
    stn.result("error_over_that_of_the_recurrence_" .. scheme, worst, "1")
    stn.check(scheme .. ": error over that of the scheme's recurrence", { value = worst, limit = p.mu > 0 and 0.02 or 1e-8 })
    if order then
      stn.check(scheme .. ": order off that of the recurrence", { value = math.abs(order - own_order), limit = p.mu > 0 and 0.01 or 1e-8 })
    end
  end
  local last = #steps
  stn.result("implicit_over_symplectic_error", series[3].y[last] / series[1].y[last], "1")
  if p.plot ~= "" then
    chart.write(p.plot, { title = "a cylinder on a spring: rms error of x over " .. ("%g s"):format(p.T_conv), x = { label = "dt [s]", log = true },
      y = { label = "m", log = true }, series = series })
  end
end

if p.convergence then
  converge()
elseif p.mu > 0 then
  roll()
else
  slide()
end
