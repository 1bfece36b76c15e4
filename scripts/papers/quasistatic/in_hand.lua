-- SPDX-License-Identifier: Apache-2.0
-- Two fingers hold a ball in the air, squeezed by springs, and move against each other, so that it rolls between them: quasistatic
-- steps [pang-2021] of any length. Every step is compared with the closed form below; rotations stay on the unit sphere.
--   path=line    the right finger goes up by `way`, the left one down: the ball turns by way/r
--   path=circle  the right finger goes round a circle in its plane, the left one opposite: the ball rolls about an axis that turns
--   study=true   of circle: error of the ball's attitude over the step, against the continuous motion
--   stiction run scripts/papers/quasistatic/in_hand.lua --set path=circle --record in_hand.html
-- charts=PREFIX draws PREFIX_angle.svg, of the study PREFIX_attitude.svg.
--
-- Closed form, s the mass scale, I = 2 m r^2/5: the fingers' displacements are z -+ a, z of both and a against each other.
--   2 K z = -m g - s m (z - z_before)/dt^2                          the ball hangs mg/(2K) low, s = 0
--   2 K (a_command - a) = s I (a - a_before)/(r dt)^2               a = a_command
--   the ball turns by the vector e_x x (a - a_before)/r in the step: it rolls on both fingers
-- Continuous, circle: u = R W (0, -sin W t, cos W t) is the speed of the right finger, w_0 = e_x x u(0)/r, and the attitude
--   Rot(W t e_x) Rot(t (w_0 - W e_x)).
local stn = require "stiction"
local chart, load_text, methods, numbers, statistics = require "chart", require "robot_text", require "methods", require "numbers", require "statistics"

local p = stn.params {
  path = stn.choice { "line", "circle" },
  solver = stn.choice { "qp", "sap", "admm_split", "ipm", "lemke", "newton_ncp" },
  dt = 0.05,             -- [s]
  seconds = 2.0,         -- of the motion, which begins after a step at rest
  radius = 0.05,         -- of the ball [m]
  mass = 0.2,            -- of the ball [kg]
  mu = 0.6,
  stiffness = 1000.0,    -- of the fingers' joints [N/m]
  squeeze = 0.01,        -- how far the fingers are told to go into the ball [m]
  way = 0.06,            -- of each finger along its line [m]
  circle = 0.02,         -- radius of each finger's circle [m]
  turns = 2.0,           -- along the circle
  mass_scale = -1.0,     -- unactuated_mass_scale; -1: 1e-3 for solvers that need it, else 0
  directions = 16,       -- of solvers with a pyramid
  study = false,
  steps = "0.2,0.1,0.05,0.025", -- of the study [s]
  charts = "",
}
local g = 9.81
local plate_size = 2 * (math.max(p.way, 2 * p.circle) + p.radius) -- the ball stays on it

local function finger_text(name, side)
  local text, parent = {}, "palm"
  for i, axis in ipairs { "1 0 0", "0 1 0", "0 0 1" } do
    local letter = ("xyz"):sub(i, i)
    local link = i == 3 and name or name .. "_" .. letter
    local function plate(word, y, z)
      return ('<%s><origin xyz="%g 0 0"/><geometry><box size="0.01 %.17g %.17g"/></geometry></%s>'):format(word, 0.005 * side, y, z, word)
    end
    local shape = plate("collision", plate_size, plate_size) .. plate("visual", plate_size, 0.01) .. plate("visual", 0.01, plate_size) -- drawn as a cross
    text[#text + 1] = ([[<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
      %s</link><joint name="%s_joint_%s" type="prismatic"><parent link="%s"/><child link="%s"/><axis xyz="%s"/>
      <limit lower="-10" upper="10" effort="1000" velocity="10"/></joint>]]):format(link,
      i == 3 and shape or "", name, letter, parent, link, axis)
    parent = link
  end
  return table.concat(text)
end

local hand_text = '<robot name="hand"><link name="palm"/>' .. finger_text("left", -1) .. finger_text("right", 1) .. "</robot>"

local function build(dt, method)
  local world = stn.world { dt = dt, gravity = { 0, 0, -g }, solver = method.solver, law = method.law, integrator = method.integrator }
  local spots = { { "sphere", radius = p.radius, mass = p.mass, mu = p.mu, color = { 0.9, 0.75, 0.3 } } }
  for i, at in ipairs { { 0, -1, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, -1 }, { 0.6, -0.8, 0 }, { -0.6, -0.8, 0 } } do -- drawn, to see it turn
    spots[i + 1] = { "sphere", radius = 0.2 * p.radius, xyz = { 0.85 * p.radius * at[1], 0.85 * p.radius * at[2], 0.85 * p.radius * at[3] },
      category = 0, mask = 0, color = { 0.1, 0.2, 0.5 } }
  end
  local s = { world = world, ball = world:compound { name = "ball", shapes = spots } }
  s.hand = load_text(world, ".urdf", hand_text, { fixed = true, mu = p.mu, joints = { left_joint_x = -p.radius, right_joint_x = p.radius } })
  world:disable_collisions(s.hand)
  s.drive = world:controller { "joint_pd", target = s.hand, kp = p.stiffness, kd = 0, effort_limits = false, gravity_compensation = true }
  return s
end

-- y and z of the right finger's command; the left one's are opposite.
local function command(t)
  local share = math.max(0, math.min(1, t / p.seconds))
  if p.path == "line" then return 0, p.way * share end
  local angle = 2 * math.pi * p.turns * share
  return p.circle * (math.cos(angle) - 1), p.circle * math.sin(angle)
end

local function turned(x, y, z) return stn.pose { rotation_vector = { x, y, z } } end

local function exact_step(before, y, z, s, dt)
  local K, m, r = p.stiffness, p.mass, p.radius
  local heavy, slow = s * m / dt ^ 2, s * 0.4 * m / dt ^ 2
  local now = {
    low = (heavy * before.low - m * g) / (2 * K + heavy),
    y = (2 * K * y + slow * before.y) / (2 * K + slow), z = (2 * K * z + slow * before.z) / (2 * K + slow),
  }
  now.attitude = turned(0, -(now.z - before.z) / r, (now.y - before.y) / r) * before.attitude
  return now
end

local function continuous(t)
  local W = 2 * math.pi * p.turns / p.seconds
  return turned(W * t, 0, 0) * turned(-W * t, -p.circle * W * t / p.radius, 0)
end

-- A run and its largest differences from the closed form.
local function run(solver, dt, watch)
  local method = methods.of(solver, p.mass_scale, p.directions)
  local s = build(dt, method)
  local world = s.world
  local exact = { low = 0, y = 0, z = 0, attitude = stn.pose {} }
  local result = { position = 0, angle = 0, force = 0, norm = 0, unsolved = 0, t = {}, turn = {}, law = method }
  local function worse(key, value) result[key] = value <= result[key] and result[key] or value end -- NaN stays
  local function squeezed(link) return world:contact_force(s.ball, { s.hand, link }) end
  if watch then
    world:log { "t", "left_y", "left_z", "right_y", "right_z", "ball_z", "turn", "left_normal", "right_normal", "left_friction", "right_friction",
      values = function()
        local q, left, right = s.hand:positions(), squeezed "left", squeezed "right"
        return world.time, q.left_joint_y, q.left_joint_z, q.right_joint_y, q.right_joint_z, s.ball:position()[3], s.ball:pose():angle(stn.pose {}),
          left.normal_force, right.normal_force, left.friction_force, right.friction_force
      end }
  end
  local steps = math.floor(p.seconds / dt + 0.5)
  for k = 0, steps do
    local y, z = command(k * dt)
    s.drive:set { position = { left_joint_x = p.squeeze - p.radius, left_joint_y = -y, left_joint_z = -z, right_joint_x = p.radius - p.squeeze,
      right_joint_y = y, right_joint_z = z } }
    result.unsolved = result.unsolved + (world:step().converged and 0 or 1)
    exact = exact_step(exact, y, z, method.mass_scale, dt)
    local q, ball = s.hand:positions(), s.ball:pose()
    worse("position", math.abs(q.left_joint_y + exact.y))
    worse("position", math.abs(q.right_joint_y - exact.y))
    worse("position", math.abs(q.left_joint_z - exact.low + exact.z))
    worse("position", math.abs(q.right_joint_z - exact.low - exact.z))
    worse("position", ball:distance(stn.pose { xyz = { 0, 0, exact.low } }))
    worse("angle", ball:angle(exact.attitude))
    local coordinates, square = s.ball:q(), 0
    for i = 4, 7 do square = square + coordinates[i] ^ 2 end
    worse("norm", math.abs(math.sqrt(square) - 1))
    for _, link in ipairs { "left", "right" } do worse("force", math.abs(squeezed(link).normal_force - p.stiffness * p.squeeze)) end
    result.t[k + 1], result.turn[k + 1] = k * dt, ball:angle(stn.pose {}) / stn.deg
    if p.path == "circle" then result.off = ball:angle(continuous(k * dt)) end
  end
  result.held, result.last = world:held(s.hand, s.ball), s.ball:pose()
  return result
end

local function judge(name, r, dt)
  local method = r.law
  -- what the solver's tolerance leaves of the free speed g dt/s, in all steps; qp ends at round-off
  local exact = method.solver[1] == "qp"
  local left = method.mass_scale > 0 and not exact and (p.seconds + dt) * method.solver.tolerance * g * dt / method.mass_scale or 0
  -- what a law with sigma lets a contact creep under half of the weight, sigma w h^2 f a step, h at most the integrator's scale_time;
  -- 1/w adds up a sphere's 2 m/7 and the finger's 0.1 kg
  local sigma = method.law and method.law.sigma or 0
  local creep = (p.seconds / dt + 1) * sigma * (3.5 / p.mass + 10) * math.min(dt, 0.01) ^ 2 * p.mass * g / 2
  local limit = (exact and 3e-12 or 1e-11) + left + creep
  stn.check(name .. "steps that did not converge", { value = r.unsolved, limit = 0 })
  stn.check(name .. "positions follow the closed form", { value = r.position, limit = limit, unit = "m" })
  stn.check(name .. "the attitude follows the closed form", { value = r.angle, limit = limit / p.radius, unit = "rad" })
  stn.check(name .. "the quaternion has unit length", { value = r.norm, limit = 1e-14 })
  stn.check(name .. "each finger presses with K squeeze", { value = r.force, limit = p.stiffness * limit, unit = "N" })
  stn.check(name .. "the hand holds the ball", r.held)
  return limit
end

if p.study then
  p.path = "circle"
  local steps = numbers(p.steps, "steps")
  if #steps < 2 then error("steps: at least two, whose errors tell the order", 0) end
  local logs, offs, series = {}, {}, { name = p.solver, x = {}, y = {} }
  print(("%10s %14s %14s %14s"):format("dt [s]", "off [rad]", "closed [rad]", "|q| - 1"))
  for i, dt in ipairs(steps) do
    local r = run(p.solver, dt)
    print(("%10g %14.3e %14.3e %14.3e"):format(dt, r.off, r.angle, r.norm))
    judge(("dt %g s: "):format(dt), r, dt)
    logs[i], offs[i], series.x[i], series.y[i] = math.log(dt), math.log(r.off), dt, r.off
  end
  local order = statistics.slope(logs, offs)
  stn.result("order", order)
  stn.check("the attitude is of order 2", { value = math.abs(order - 2), limit = 0.1 })
  if p.charts ~= "" then
    chart.write(p.charts .. "_attitude.svg", { title = "A ball rolls between fingers that go round: error at the end", x = { label = "dt [s]", log = true },
      y = { label = "rad", log = true }, series = { series } })
  end
else
  local r = run(p.solver, p.dt, true)
  local limit = judge("", r, p.dt)
  stn.result("turn", r.last:angle(stn.pose {}), "rad")
  stn.result("hangs_low", -r.last.xyz[3], "m")
  if p.path == "line" and r.law.mass_scale == 0 and p.way / p.radius < math.pi then
    local _, gone = command(r.t[#r.t])
    stn.check("the ball turns by way/r", { value = math.abs(r.last:angle(stn.pose {}) - gone / p.radius), limit = limit / p.radius, unit = "rad" })
    stn.check("it hangs mg/(2K) low", { value = math.abs(r.last.xyz[3] + p.mass * g / (2 * p.stiffness)), limit = limit, unit = "m" })
  end
  if p.charts ~= "" then
    local few = p.seconds / (p.path == "line" and 2 or 12)
    local coarse, exact = run(p.solver, few), { name = "continuous", x = {}, y = {} }
    local list = { { name = ("dt %g s"):format(p.dt), x = r.t, y = r.turn }, { name = ("dt %.3g s"):format(few), x = coarse.t, y = coarse.turn } }
    if p.path == "circle" then
      for i = 0, 200 do
        exact.x[i + 1] = i * p.seconds / 200
        exact.y[i + 1] = continuous(exact.x[i + 1]):angle(stn.pose {}) / stn.deg
      end
      list[3] = exact
    end
    chart.write(p.charts .. "_angle.svg", { title = "A ball rolls between two fingers", x = { label = "t [s]" }, y = { label = "turned from the start [deg]" }, series = list })
  end
end
