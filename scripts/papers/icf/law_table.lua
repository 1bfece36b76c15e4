-- SPDX-License-Identifier: Apache-2.0
-- Table I of the paper on irrotational contact fields [castro-2023], by measurement: what each law makes of Coulomb friction and of
-- the normal force while a body slides at constant speed, and at what slip friction comes to its limit. Each quantity is read
-- off the motion and the contact force of a body that touches in one point, and stands beside the formula (README.md).
--
--   glide        gap at no load, from two loads at each speed and step:      mu (dt + tau_d) |v_t|, 0, mu dt |v_t|
--   stiffness    load over indentation, from the same two loads:             k/(1 + mu_t^2), k, k (1 + mu d |v_t|)
--   dissipation  what the force loses when the body moves away, over v_n:    tau_d; d, d/(1 + mu d |v_t|)
--   coupling     friction of the step in which the load doubles:             mu gamma_n of that step, or of the one before
--   transition   slip under a tangential load r mu gamma_n, fitted:          v_s r with v_s = sigma w mu gamma_n; v_s r/sqrt(1 - r^2)
local stn = require "stiction"
local load_text = require "robot_text"
local chart = require "chart"

local p = stn.params {
  m = 1.0,                   -- [kg]
  mu = 0.5,
  k = 1e6,                   -- [N/m]
  taud = 1e-3,               -- of sap [s]
  d = 10.0,                  -- of the others [s/m]
  sigma = 0.1,               -- large, so that mu_t, the share that friction has in the stiffness of sap, shows
  eps = 1e-4,                -- stiction tolerance of the others [m/s]
  table = "", plot = "",     -- a CSV file, an SVG file
}

local g, radius = 9.81, 0.01
local laws = { "sap", "lagged", "similar", "lagged_regularized" }
local steps, speeds, shares = { 1e-3, 2e-3, 5e-3 }, { 0.2, 0.5, 1.0, 2.0 }, { 0.1, 0.3, 0.5, 0.7, 0.9 }

-- A body without rotation on rails along `axes` above ground that moves at -speed along x: what its contact does at that slip.
local function make(law, dt, speed, axes)
  local sap = law == "sap"
  local settings = sap and { "sap", sigma = p.sigma, beta = 0 } or { law, stiction_tolerance = p.eps }
  if law == "lagged_regularized" then
    settings.sigma = p.sigma
  end
  local world = stn.world { dt = dt, solver = { "sap", tolerance = 1e-14 }, law = settings, contact_point = "midpoint", margin = 1 }
  local rails = ""
  for axis, direction in axes:gmatch "(%a):([^;]*)" do
    rails = rails .. ('<joint name="%s" type="slide" axis="%s"/>'):format(axis, direction)
  end
  local body = load_text(world, ".xml", ([[<mujoco model="body"><worldbody><body name="body"><inertial pos="0 0 0" mass="%.17g"
    diaginertia="1 1 1"/>%s<geom type="sphere" size="%.17g" mass="0"/></body></worldbody></mujoco>]]):format(p.m, rails, radius))
  world:ground { surface_velocity = { -speed, 0, 0 } }
  world:contact_material { mu = p.mu, stiffness = p.k, relaxation_time = sap and p.taud or nil, dissipation = not sap and p.d or nil }
  body:joint "z":set_position(radius)
  return world, body
end

-- Gap after the step, normal velocity, normal and friction force of it.
local function step(world, body)
  world:step()
  local contact = world:contacts()[1]
  return body:joint "z":position() - radius, body:joint "z":velocity(), contact.normal_impulse / world.dt, contact.friction_impulse / world.dt
end

-- Runs until the gap stands still; returns gap and forces.
local function settle(world, body)
  local before = math.huge
  for _ = 1, 200000 do
    local gap, v, normal, friction = step(world, body)
    if math.abs(gap - before) <= 1e-16 and math.abs(v) * world.dt <= 1e-16 then
      return gap, normal, friction
    end
    before = gap
  end
  error "the body does not come to rest"
end

-- What a law shows at one slip and step, and at the end of it the force of a step in which the body moves away.
local function slide(law, dt, speed)
  local world <close>, body = make(law, dt, speed, "z:0 0 1")
  local z = body:joint "z"
  local gap_1, force_1 = settle(world, body)
  z:set_effort(-p.m * g) -- twice the load
  local _, _, normal, friction = step(world, body)
  local jump = { normal = normal, friction = friction }
  local gap_2, force_2 = settle(world, body)
  local stiffness = (force_2 - force_1) / (gap_1 - gap_2)
  local glide = gap_2 + force_2 / stiffness
  z:set_velocity(0.1 * (glide - gap_2) / dt * (1 + stiffness * dt ^ 2 / p.m)) -- away by a tenth of the indentation
  local gap, v, force = step(world, body)
  local elastic = stiffness * (glide - gap)
  return {
    glide = glide, stiffness = stiffness, jump = jump, before = force_1,
    dissipation = law == "sap" and (elastic - force) / (stiffness * v) or (1 - force / elastic) / v,
  }
end

-- What the formulas say of the same. w of the body on its rail is |diag(0, 0, 1/m)|_F/3.
local function predict(law, dt, speed)
  local hardening = 1 + p.mu * p.d * speed
  if law == "sap" then
    local mu_t2 = p.mu ^ 2 * p.sigma / (3 * p.m) * dt * p.k * (dt + p.taud) -- mu^2 R_t/R_n
    return { glide = p.mu * (dt + p.taud) * speed, stiffness = p.k / (1 + mu_t2), dissipation = p.taud, strong = true }
  elseif law == "similar" then
    return { glide = p.mu * dt * speed, stiffness = p.k * hardening, dissipation = p.d / hardening, strong = true }
  end
  return { glide = 0, stiffness = p.k, dissipation = p.d, strong = false }
end

-- Slip under tangential loads r mu gamma_n: the transition slip that fits best, and how far the worst point is off the fit.
local function transition(law, dt)
  local fit, points = 0, {}
  for i, r in ipairs(shares) do
    local world <close>, body = make(law, dt, 0, "x:1 0 0;z:0 0 1")
    settle(world, body)
    body:joint "x":set_effort(r * p.mu * p.m * g)
    local before, v
    repeat
      before = body:joint "x":velocity()
      world:step()
      v = body:joint "x":velocity()
    until math.abs(v - before) <= 1e-13 * v
    points[i] = v / (law == "sap" and r or r / math.sqrt(1 - r * r))
    fit = fit + points[i] / #shares
  end
  local off = 0
  for _, point in ipairs(points) do
    off = math.max(off, math.abs(point / fit - 1))
  end
  local soft = p.sigma * math.sqrt(2) / (3 * p.m) * p.mu * p.m * g * dt -- sigma w mu gamma_n
  local predicted = law == "sap" and soft or law == "lagged_regularized" and math.max(p.eps, soft) or p.eps
  return fit, predicted, off
end

-- e of the soft norm |v_t|_s = sqrt(|v_t|^2 + e^2) - e under twice the weight: by e/|v_t| it falls short of |v_t|, and all that
-- follows from it.
local function soft_norm(law, dt)
  if law == "sap" then
    return 0
  end
  return law == "lagged_regularized" and math.max(p.eps, p.sigma / 3 * p.mu * 2 * g * dt) or p.eps
end

local rows, worst, worst_of_law = {}, {}, {} -- worst: by quantity, beyond what the soft norm explains; of each law, with it
local function report(law, what, dt, speed, measured, predicted, unit, scale)
  local off = math.abs(measured - predicted) / (scale or math.abs(predicted))
  rows[#rows + 1] = ("%s,%s,%g,%g,%.9g,%.9g,%.2e"):format(law, what, dt, speed, measured, predicted, off)
  if not worst[what] then
    worst[what], worst[#worst + 1] = 0, what
  end
  local name = ("%s: %s off its formula by"):format(law, what)
  local so_far = worst_of_law[name] or 0
  worst_of_law[name] = off <= so_far and so_far or off
  local rest = speed > 0 and off - soft_norm(law, dt) / speed or off
  worst[what] = rest <= worst[what] and worst[what] or rest -- NaN stays
  io.stderr:write(("%-19s %-12s %6g %6s %14.7g %14.7g %-5s %8.1e\n"):format(law, what, dt, speed > 0 and speed or "", measured, predicted, unit, off))
end

io.stderr:write(("%-19s %-12s %6s %6s %14s %14s %-5s %8s\n"):format("law", "", "dt [s]", "m/s", "measured", "predicted", "", "off"))
local series = {}
for _, law in ipairs(laws) do
  for _, dt in ipairs(steps) do
    local line = { name = ("%s, dt = %g s"):format(law, dt), x = {}, y = {} }
    for i, speed in ipairs(speeds) do
      local found, expected = slide(law, dt, speed), predict(law, dt, speed)
      report(law, "glide", dt, speed, found.glide, expected.glide, "m", p.mu * dt * speed)
      report(law, "stiffness", dt, speed, found.stiffness, expected.stiffness, "N/m")
      if dt == steps[1] and i == #speeds then -- what does not vanish as dt -> 0
        stn.result(law .. ": stiffness of the fastest body at the smallest step over k", found.stiffness / p.k)
        stn.result(law .. ": glide of the fastest body at the smallest step over mu dt |v_t|", found.glide / (p.mu * dt * speed))
      end
      report(law, "dissipation", dt, speed, found.dissipation, expected.dissipation, law == "sap" and "s" or "s/m",
        expected.dissipation == 0 and (law == "sap" and dt or 1 / speed) or nil)
      report(law, "coupling", dt, speed, found.jump.friction, p.mu * (expected.strong and found.jump.normal or found.before), "N")
      line.x[i], line.y[i] = speed, 1e3 * found.glide
    end
    if law ~= "lagged_regularized" and dt > steps[1] then
      series[#series + 1] = line
    end
  end
  for _, dt in ipairs(steps) do
    local fit, predicted, off = transition(law, dt)
    report(law, "transition", dt, 0, fit, predicted, "m/s")
    report(law, "its shape", dt, 0, 1 + off, 1, "")
  end
end

for name, value in pairs(worst_of_law) do stn.result(name, value) end
local limit = 1e-9 * math.max(1, p.k / 1e6) -- indentations, and their digits, shrink as 1/k
for _, what in ipairs(worst) do
  stn.check(what .. ": off by more than e/|v_t|, by", { value = worst[what], limit = limit })
end
if p.table ~= "" then
  local file = assert(io.open(p.table, "w"))
  assert(file:write("law,quantity,dt_s,speed_m_per_s,measured,predicted,relative_difference\n", table.concat(rows, "\n"), "\n"))
  assert(file:close())
end
if p.plot ~= "" then
  chart.write(p.plot, { title = "Gap at no load while a body slides", x = { label = "slip [m/s]" }, y = { label = "gap [mm]" }, series = series })
end
