-- SPDX-License-Identifier: Apache-2.0
-- A cylinder on the ground, tied to a wall by a spring along x (x = 0: slack), let go at x0: paper SAP, section VI-B. With
-- mu > 0 it rolls, by one scheme, with mu = 0 it slides, by three schemes side by side. The contact is one point: a sphere
-- of radius R carries the inertia of the cylinder, whose axis is y. Angles are counter-clockwise with x right and z up.
-- convergence = true runs all schemes at five steps instead and prints errors and orders.
local stn = require "stiction"
local numbers, load_text = require "numbers", require "robot_text"

local p = stn.params {
  scheme = stn.choice { "midpoint", "symplectic_euler", "implicit_euler" }, -- when it rolls
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
}
local schemes = { "symplectic_euler", "midpoint", "implicit_euler" }

local function make(scheme, dt)
  local world = stn.world { dt = dt or p.dt, integrator = { "theta", scheme = scheme }, law = { "sap", sigma = p.sigma, beta = p.beta },
    solver = { "sap", tolerance = 1e-14 }, contact_point = "midpoint", margin = p.R }
  local across = p.m * (3 * p.R ^ 2 + p.L ^ 2) / 12
  local robot = load_text(world, ".xml", ([[<mujoco model="cylinder"><worldbody><body name="cylinder">
    <inertial pos="0 0 0" mass="%.17g" diaginertia="%.17g %.17g %.17g"/>
    <joint name="x" type="slide" axis="1 0 0" stiffness="%.17g"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><joint name="turn" type="ball"/>
    <geom type="sphere" size="%.17g" mass="0"/></body></worldbody></mujoco>]]):format(p.m, across, p.m * p.R ^ 2 / 2, across, p.k, p.R))
  world:ground {}
  world:contact_material { mu = p.mu, stiffness = p.kc, relaxation_time = p.taud }
  robot:set_q { x = p.x0, z = p.R - 9.81 * p.m / p.kc } -- at the overlap that carries it
  return { world = world, robot = robot, x = robot:joint "x", z = robot:joint "z", turn = robot:joint "turn" }
end

local function energy(run)
  local e = run.world:energy()
  return e.kinetic + e.elastic
end

-- Largest and smallest energy of the run, over the energy at the start.
local function watched(run)
  local start, low, high = energy(run), math.huge, -math.huge
  return function()
    local e = energy(run) / start
    low, high = math.min(low, e), math.max(high, e)
    return low, high
  end
end

local function exact(omega, t)
  return p.x0 * math.cos(omega * t), -p.x0 * omega * math.sin(omega * t)
end

-- Periods are counted between upward passages of x through 0.
local function passages(run)
  local times, before = {}, p.x0
  return function()
    local now = run.x:position()
    if before < 0 and now >= 0 then
      times[#times + 1] = run.world.time - p.dt * now / (now - before)
    end
    before = now
    return #times > 1 and (times[#times] - times[1]) / (#times - 1) / p.dt or 0 / 0
  end
end

-- Steps a period of a linear scheme, h = omega dt: the angle that it turns phase space by.
local function period_of(scheme, h)
  local turn = { midpoint = 2 * math.atan(h / 2), symplectic_euler = 2 * math.asin(h / 2), implicit_euler = math.atan(h) }
  return 2 * math.pi / turn[scheme]
end

local function check_period(scheme, omega, steps)
  if p.n * p.dt * omega > 4 * math.pi and scheme ~= "implicit_euler" then -- which has decayed by then
    local expected = period_of(scheme, omega * p.dt)
    stn.check("steps per period", { value = math.abs(steps / expected - 1), limit = 2e-3 })
  end
end

-- What rolls carries its inertia along, at the radius that the overlap leaves.
local function rolling_omega()
  local radius = p.R - 9.81 * p.m / (2 * p.kc)
  return math.sqrt(p.k / (p.m + p.m * p.R ^ 2 / 2 / radius ^ 2))
end

-- Part of the energy that rolling loses in a second: regularised friction slips by R_t gamma_t, R_t = sigma w, which takes the
-- power R_t dt F_t^2, and F_t swings with the amplitude (m / 2) x0 omega^2.
local function rolling_loss()
  local across, along = p.m * (3 * p.R ^ 2 + p.L ^ 2) / 12, p.m * p.R ^ 2 / 2
  local wx, wy, wz = 1 / p.m + p.R ^ 2 / along, 1 / p.m + p.R ^ 2 / across, 1 / p.m
  local w = math.sqrt(wx ^ 2 + wy ^ 2 + wz ^ 2) / 3
  return p.sigma * w * p.dt * (p.m / 2 * rolling_omega() ^ 2) ^ 2 / p.k
end

local function slide()
  local omega = math.sqrt(p.k / p.m)
  local runs, columns = {}, { "t" }
  for i, name in ipairs(schemes) do
    runs[i] = make(name)
    for _, letter in ipairs { "x_", "v_", "E_" } do columns[#columns + 1] = letter .. name end
  end
  columns[#columns + 1], columns[#columns + 2] = "x_exact", "v_exact"
  local main = runs[1].world
  columns.values = function()
    local row = { main.time }
    for _, run in ipairs(runs) do
      while run.world.steps < main.steps do run.world:step() end -- the other schemes follow the first
      table.move({ run.x:position(), run.x:velocity(), energy(run) }, 1, 3, #row + 1, row)
    end
    row[#row + 1], row[#row + 2] = exact(omega, main.time)
    return table.unpack(row)
  end
  main:log(columns)
  local bands, period = {}, passages(runs[1])
  for i, run in ipairs(runs) do bands[i] = watched(run) end
  local steps
  for _ in main:run { steps = p.n } do
    columns.values()
    for _, band in ipairs(bands) do band() end
    steps = period()
  end
  stn.result("steps_per_period", 2 * math.pi / omega / p.dt)
  stn.result("steps_per_period_symplectic_euler", steps)
  for i, name in ipairs(schemes) do
    local low, high = bands[i]()
    stn.result("energy_band_" .. name, 100 * (high - low), "%")
  end
  local low, high = bands[2]()
  check_period("symplectic_euler", omega, steps)
  stn.check("midpoint keeps the energy", { value = high - low, limit = 1e-11 })
  -- k x^2 + m v^2 - dt k x v stays with symplectic Euler: energies lie between E0/(1 + h/2) and E0/(1 - h/2), h = omega dt
  local h = omega * p.dt
  low, high = bands[1]()
  stn.check("symplectic Euler stays in its band", { value = high - low, limit = h / (1 - h * h / 4) + 1e-9 })
end

local function roll()
  local run = make(p.scheme)
  local world, dt = run.world, p.dt
  local theta, slip, ft, fn = 0, 0, 0, 0
  local function turned() -- about -y, without jumps
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
    return world.time, run.x:position(), run.z:position(), theta, run.x:velocity(), run.z:velocity(), -run.turn:velocity()[2],
      energy(run), slip, ft, fn
  end }
  local band, period, largest_slip, steps, first = watched(run), passages(run), 0, nil, nil
  band()
  for step in world:run { steps = p.n } do
    local low, high = band()
    steps, largest_slip = period(), math.max(largest_slip, math.abs(slip))
    first = step.time <= 3.5 and high - low or first
  end
  local low, high = band()
  stn.result("steps_per_period", steps)
  stn.result("energy_band", 100 * (high - low), "%")
  stn.result("energy_band_3.5s", 100 * first, "%")
  stn.result("largest_slip", largest_slip, "m/s")
  check_period(p.scheme, rolling_omega(), steps)
  if p.scheme == "midpoint" then
    local lost = 1 - math.exp(-rolling_loss() * world.time)
    stn.result("energy_loss_predicted", 100 * lost, "%")
    stn.check("energy goes into regularised friction", { value = math.abs((high - low) / lost - 1), limit = 0.1 })
  end
  stn.check("it rolls", { value = largest_slip, limit = 1e-2 * p.x0 * math.sqrt(p.k / p.m), unit = "m/s" })
end

-- Root of the mean square of the error of x over T_conv.
local function error_of(scheme, dt)
  local run = make(scheme, dt)
  local omega, sum, count = p.mu > 0 and rolling_omega() or math.sqrt(p.k / p.m), 0, 0
  for step in run.world:run { seconds = p.T_conv } do
    sum, count = sum + (run.x:position() - exact(omega, step.time)) ^ 2, count + 1
  end
  return math.sqrt(sum / (count + 1))
end

local function converge()
  io.stderr:write(("%-18s %10s %12s %8s\n"):format("scheme", "dt [s]", "error [m]", "order"))
  for _, scheme in ipairs(schemes) do
    local before, dt_before, order
    for _, dt in ipairs(numbers(p.dts, "dts")) do
      local error = error_of(scheme, dt)
      order = before and math.log(before / error) / math.log(dt_before / dt)
      io.stderr:write(("%-18s %10g %12.5e %8s\n"):format(scheme, dt, error, order and ("%.3f"):format(order) or ""))
      stn.result(("error_%s_%g"):format(scheme, dt), error, "m")
      before, dt_before = error, dt
    end
    stn.result("order_" .. scheme, order)
    if scheme == "midpoint" then
      stn.check("midpoint is of order 2", { value = math.abs(order - 2), limit = 0.05 })
    elseif scheme == "symplectic_euler" then
      stn.check("symplectic Euler is of order 1", { value = math.abs(order - 1.075), limit = 0.075 })
    else
      stn.check("implicit Euler comes near to order 1", { value = math.abs(order - 0.75), limit = 0.1 })
    end
  end
end

if p.convergence then
  converge()
elseif p.mu > 0 then
  roll()
else
  slide()
end
