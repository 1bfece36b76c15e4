-- SPDX-License-Identifier: Apache-2.0
-- A finger on springs pushes a slider on three feet over the floor, which it rubs: quasistatic steps [pang-2021] of any length.
--   case=straight  a blade comes, pushes through the centre of friction, stops and goes back: every step against the closed form below
--   case=turn      a tip pushes beside the centre, so that the slider turns: against dynamic steps of 1 ms, which come to the same
--                  place the slower they push
--   study=true     of turn: solvers over steps, and dynamic steps over speeds
--   stiction run scripts/papers/quasistatic/planar_pushing.lua --set case=turn --record pushing.html
-- charts=PREFIX draws PREFIX_lag.svg of straight, PREFIX_yaw.svg of turn, PREFIX_steps.svg and PREFIX_speeds.svg of the study.
--
-- Closed form of a straight step: b is the slider's rear, c the command, D = c - b, u its advance, z its height, s the mass scale.
--   c <= b   the blade goes where it is told, u = 0
--   else     K (D - u) = mu m g + s m u/dt^2 if that is positive: the blade lags by mu m g/K (s = 0). Coulomb's law keeps z = 0; Anitescu's
--            friction holds z >= mu u, the layer mu dt |v|, and with s > 0 its rise resists, too:
--            u = (K D - mu m g + mu s m z/dt^2)/(K + s m (1 + mu^2)/dt^2)
local stn = require "stiction"
local chart, load_text, methods, numbers = require "chart", require "robot_text", require "methods", require "numbers"

local p = stn.params {
  case = stn.choice { "straight", "turn" },
  solver = stn.choice { "qp", "sap", "admm_split", "ipm", "lemke", "newton_ncp" },
  dt = 0.02,                       -- [s]
  speed = 0.05,                    -- of the command [m/s]
  mass = 1.0,                      -- of the slider [kg]
  mu = 0.4,                        -- of the floor
  mu_tip = 0.4,                    -- of the tip of turn; the blade of straight is smooth
  stiffness = 2000.0,              -- of the finger's three joints [N/m]
  offset = 0.02,                   -- of the tip from the centre [m]
  way = 0.1,                       -- of the command of turn [m]
  mass_scale = -1.0,               -- unactuated_mass_scale; -1: 1e-3 for solvers that need it, else 0
  directions = 16,                 -- of solvers with a pyramid
  study = false,
  solvers = "qp,sap,newton_ncp,lemke", steps = "0.2,0.1,0.05,0.025,0.0125", speeds = "0.2,0.1,0.05,0.025,0.0125", -- of the study
  charts = "",
}
local g = 9.81
local rear, approach = 0.05, 0.005 -- of the slider from its centre; of the blade before the slider [m]

-- ------------------------------------------------------------------------------------------------------------------- scene

local function finger_text(shape)
  local text, parent = { '<robot name="finger"><link name="base"/>' }, "base"
  for i, axis in ipairs { "1 0 0", "0 1 0", "0 0 1" } do
    local joint = ("xyz"):sub(i, i)
    local link = i == 3 and "tip" or "slide_" .. joint
    text[#text + 1] = ([[<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
      %s</link><joint name="%s" type="prismatic"><parent link="%s"/><child link="%s"/><axis xyz="%s"/>
      <limit lower="-2" upper="2" effort="1000" velocity="10"/></joint>]]):format(link, i == 3 and shape or "", joint, parent, link, axis)
    parent = link
  end
  return table.concat(text) .. "</robot>"
end

local mast = '<visual><origin xyz="-0.004 0 0.06"/><geometry><cylinder radius="0.004" length="0.12"/></geometry></visual>'
local tip = '<visual><geometry><sphere radius="0.01"/></geometry></visual><collision><geometry><sphere radius="0.01"/></geometry></collision>' .. mast
local plate = '<origin xyz="-0.01 0 0"/><geometry><box size="0.02 0.08 0.01"/></geometry>'
local blade = "<visual>" .. plate .. "</visual><collision>" .. plate .. "</collision>" .. mast

-- A plate on three feet, whose loads follow from balance alone: where a box stands on four corners the load that each takes is open,
-- and so is how it turns.
local function slider(world)
  local shapes = { { "box", size = { 2 * rear, 2 * rear, 0.05 }, xyz = { 0, 0, 0.005 }, mass = p.mass, mu = p.mu_tip } }
  for i = 0, 2 do
    local angle = 2 * math.pi * i / 3
    shapes[i + 2] = { "sphere", radius = 0.01, xyz = { 0.045 * math.cos(angle), 0.045 * math.sin(angle), -0.02 }, mu = p.mu, color = { 0.2, 0.2, 0.2 } }
  end
  return world:compound { name = "slider", xyz = { 0, 0, 0.03 }, shapes = shapes }
end

-- The world of `method`, or of dynamic steps without one.
local function build(dt, method)
  local steps = method or { solver = { "sap", tolerance = 1e-8 }, law = "lagged", integrator = "symplectic_euler" }
  local world = stn.world { dt = dt, gravity = { 0, 0, -g }, solver = steps.solver, law = steps.law, integrator = steps.integrator }
  local straight = p.case == "straight"
  local floor = world:ground { mu = p.mu }
  local s = { world = world, slider = slider(world) }
  s.finger = load_text(world, ".urdf", finger_text(straight and blade or tip), { fixed = true, mu = straight and 0 or p.mu_tip,
    base = { xyz = { straight and -rear - approach or -rear - 0.01, straight and 0 or p.offset, 0.02 } } })
  world:disable_collisions(s.finger, floor)
  s.drive = world:controller { "joint_pd", target = s.finger, kp = p.stiffness, kd = method and 0 or 60, effort_limits = false, gravity_compensation = true }
  return s
end

local function state(s)
  local pose = s.slider:pose()
  return { x = pose.xyz[1], y = pose.xyz[2], z = pose.xyz[3] - 0.03, yaw = pose.rpy[3], finger = s.finger:joint("x"):position() }
end

-- ---------------------------------------------------------------------------------------------------------------- straight

-- Comes and pushes, rests, goes back.
local function straight_command(t)
  local pushed, rested, back = 2, 0.5, 0.5
  return p.speed * (math.min(t, pushed) - 2 * math.max(0, math.min(t, pushed + rested + back) - pushed - rested))
end

local function exact_step(method, before, c)
  local K, m, s = p.stiffness, p.mass, method.mass_scale * p.mass / p.dt ^ 2
  local D = c - before.b
  local u, z = 0, 0
  if not method.relaxed then
    u = math.max(0, (K * D - p.mu * m * g) / (K + s))
  else
    local fallen = s > 0 and before.z - m * g / s or -math.huge
    u = math.max(0, (K * D - p.mu * m * g + p.mu * s * before.z) / (K + s * (1 + p.mu ^ 2)))
    if fallen > p.mu * u then u = math.max(0, K * D / (K + s)) end
    z = math.max(p.mu * u, fallen, 0)
  end
  local b = before.b + u
  return { b = b, z = z, x = math.min(c, b), lag = c - math.min(c, b), u = u }
end

local function straight()
  local method = methods.of(p.solver, p.mass_scale, p.directions)
  if method.relaxed and p.mu * p.dt * p.speed > 0.012 then
    error(("dt = %g s: the slider would glide at mu dt speed = %.3g m, above the blade"):format(p.dt, p.mu * p.dt * p.speed), 0)
  end
  local s = build(p.dt, method)
  local world = s.world
  local exact, now, command = { b = approach, z = 0 }, state(s), 0 -- along x from where the blade starts
  world:log { "t", "command", "blade", "slider", "height", "push", values = function()
    local d = state(s)
    return world.time, command, d.finger, d.x, d.z, world:contact_force(s.slider, s.finger).normal_force
  end }
  local position, force, unsolved, layer, steady = 0, 0, 0, 0, 0
  local series = { command = { x = {}, y = {} }, blade = { x = {}, y = {} }, slider = { x = {}, y = {} } }
  local function worse(a, b) return b <= a and a or b end -- NaN stays
  for _ = 1, math.ceil(3.2 / p.dt - 1e-9) do
    command = straight_command(world.time + p.dt)
    s.drive:set { position = { x = command } }
    local step = world:step()
    unsolved = unsolved + (step.converged and 0 or 1)
    now, exact = state(s), exact_step(method, exact, command)
    position = worse(position, math.abs(now.finger - exact.x))
    position = worse(worse(position, math.abs(now.x + approach - exact.b)), math.abs(now.z - exact.z))
    position = worse(worse(position, math.abs(now.y)), math.abs(now.yaw) * rear)
    force = worse(force, math.abs(world:contact_force(s.slider, s.finger).normal_force - p.stiffness * exact.lag))
    if exact.u > 0.999 * p.speed * p.dt then layer, steady = now.z, command - now.finger end
    for name, value in pairs { command = command, blade = now.finger, slider = now.x + approach } do
      table.insert(series[name].x, world.time)
      table.insert(series[name].y, 1000 * value)
    end
  end
  stn.result("lag", steady, "m")
  stn.result("layer", layer, "m")
  stn.check("steps that did not converge", { value = unsolved, limit = 0 })
  -- While it is pushed the spring says where the blade is; errors add up while all rests, for 0.5 s: what the solver's tolerance leaves of the
  -- free speed g dt/s, and what a law with sigma lets feet creep, sigma w h^2 f a step, h at most the integrator's scale_time, w at most 5/m.
  -- ipm has a tolerance of momentum and one of contacts; qp ends at round-off; pivots of lemke on the free way g dt^2/s, and the end of admm_split, leave 5e-9 m.
  local exact = p.solver == "qp"
  local left = method.mass_scale > 0 and not exact and (p.solver == "ipm" and 1 or 0.5) * method.solver.tolerance * g * p.dt / method.mass_scale or 0
  local creep = 0.5 / p.dt * (method.law and method.law.sigma or 0) * 5 * p.mu * g * math.min(p.dt, 0.01) ^ 2
  local limit = (exact and 3e-12 or (p.solver == "lemke" or p.solver == "admm_split") and 5e-9 or 1e-11) + left + creep
  stn.check("positions follow the closed form", { value = position, limit = limit, unit = "m" })
  -- What rounding leaves of the push where contacts are as hard as those of methods.lua: 4e-6 to 1.1e-5 N with sap at dt = 0.2, for masses that differ
  -- in the tenth digit.
  stn.check("the push follows the closed form", { value = force, limit = (exact and 0 or 2e-5) + p.stiffness * limit, unit = "N" })
  if method.mass_scale == 0 and steady > 0 then
    stn.check("pushing, the blade lags by mu m g/K", { value = math.abs(steady - p.mu * p.mass * g / p.stiffness), limit = limit, unit = "m" })
    stn.check("the slider glides at mu dt v", { value = math.abs(layer - p.mu * p.dt * p.speed), limit = limit, unit = "m" })
  end
  if p.charts ~= "" then
    local list = {}
    for i, name in ipairs { "command", "blade", "slider" } do
      list[i] = { name = name == "slider" and "slider's rear" or name, x = series[name].x, y = series[name].y }
    end
    chart.write(p.charts .. "_lag.svg", { title = "A blade pushes through the centre of friction", x = { label = "t [s]" }, y = { label = "mm" }, series = list })
  end
end

-- -------------------------------------------------------------------------------------------------------------------- turn

-- One push over the way of the command: where the slider ends, and its yaw over that way. Dynamic steps without a method.
local function push(dt, speed, method, watch)
  local s = build(dt, method)
  if watch then
    s.world:log { "t", "x", "y", "height", "yaw", "lag", "push", values = function()
      local d = state(s)
      return s.world.time, d.x, d.y, d.z, d.yaw, speed * s.world.time - d.finger, s.world:contact_force(s.slider, s.finger).normal_force
    end }
  end
  local steps = math.floor(p.way / (speed * dt) + 0.5)
  local unsolved, way, yaw = 0, { 0 }, { 0 }
  for k = 1, steps do
    s.drive:set { position = { x = speed * k * dt }, velocity = { x = method and 0 or speed } }
    unsolved = unsolved + (s.world:step().converged and 0 or 1)
    local d = state(s)
    way[k + 1], yaw[k + 1] = 1000 * speed * k * dt, d.yaw / stn.deg
  end
  local last = state(s)
  return { x = last.x, y = last.y, yaw = last.yaw, lag = p.way - last.finger, unsolved = unsolved, way = way, yaws = yaw }
end

local function distance(a, b)
  return math.max(math.abs(a.x - b.x), math.abs(a.y - b.y)), math.abs(a.yaw - b.yaw)
end

local function quasistatic(solver, dt, watch)
  return push(dt, p.speed, methods.of(solver, p.mass_scale, p.directions), watch)
end

-- Steps half as long and a push half as fast tell how far each is from where it goes to.
local function turn()
  local method = methods.of(p.solver, p.mass_scale, p.directions)
  local ours, finer = quasistatic(p.solver, p.dt, true), quasistatic(p.solver, p.dt / 2)
  local slow, slower = push(1e-3, 0.025), push(1e-3, 0.0125)
  local place, angle = distance(finer, slower)
  local own_place, own_angle = distance(ours, finer)
  local their_place, their_angle = distance(slow, slower)
  stn.result("yaw", ours.yaw, "rad")
  stn.result("yaw_of_half_the_step", finer.yaw, "rad")
  stn.result("yaw_dynamic", slower.yaw, "rad")
  stn.check("steps that did not converge", { value = ours.unsolved + finer.unsolved, limit = 0 })
  -- rays of a pyramid push beside the slip by up to pi/directions, to either side in turn while the slider turns by several rays: an eighth
  -- of that is left
  local askew = method.corners and math.pi / p.directions / 8 or 0
  -- half the step leaves half of an error of order 1; of that of a layer, whose order is lower until steps are short, three quarters
  local own = method.relaxed and 4 or 2
  stn.check("place, from dynamic steps", { value = place, limit = own * own_place + 2 * their_place + askew * p.way, unit = "m" })
  stn.check("angle, from dynamic steps", { value = angle, limit = own * own_angle + 2 * their_angle + askew * math.abs(slower.yaw), unit = "rad" })
  if p.charts ~= "" then
    local list = {
      { name = ("quasistatic, %s, dt %g s"):format(p.solver, p.dt), x = ours.way, y = ours.yaws },
      { name = ("quasistatic, dt %g s"):format(p.dt / 2), x = finer.way, y = finer.yaws },
    }
    local dynamic = chart.thinned({ { name = "dynamic, 1 ms, 12.5 mm/s", x = slower.way, y = slower.yaws, color = 3 } }, 200)
    list[3] = dynamic[1]
    chart.write(p.charts .. "_yaw.svg", { title = "A tip pushes beside the centre", x = { label = "way of the command [mm]" }, y = { label = "yaw [deg]" }, series = list })
  end
end

local function study()
  local speeds, steps = numbers(p.speeds, "speeds"), numbers(p.steps, "steps")
  if #speeds == 0 or #steps == 0 then error("speeds and steps: at least one each", 0) end
  table.sort(speeds, function(a, b) return a > b end)
  table.sort(steps, function(a, b) return a > b end)
  local finest = steps[#steps]
  local goal, coarser = quasistatic("newton_ncp", finest / 8), quasistatic("newton_ncp", finest / 4)
  for _, key in ipairs { "x", "y", "yaw" } do goal[key] = 2 * goal[key] - coarser[key] end -- steps of no length, to second order
  local function line(name, color) return { name = name, color = color, x = {}, y = {} } end
  local function put(series, x, y)
    table.insert(series.x, x)
    table.insert(series.y, y)
  end
  local by_step = {}
  print(("%-28s %8s %12s %12s %9s"):format("", "dt [s]", "off [m]", "off [rad]", "unsolved"))
  for solver in p.solvers:gmatch "[^%s,]+" do
    local series = line(solver)
    for _, dt in ipairs(steps) do
      local r = quasistatic(solver, dt)
      local place, angle = distance(r, goal)
      print(("quasistatic, %-15s %8g %12.3e %12.3e %9d"):format(solver, dt, place, angle, r.unsolved))
      put(series, dt, angle)
    end
    by_step[#by_step + 1] = series
    if not methods.of(solver).corners then -- Coulomb's law is of order 1 from long steps on, the layer's friction from short ones
      stn.check(solver .. ": the error falls with the step", { value = series.y[#steps] / series.y[1],
        limit = methods.of(solver).relaxed and 0.9 or 2 * finest / steps[1] })
    end
  end
  local by_speed = line "dynamic, 1 ms"
  for _, speed in ipairs(speeds) do
    local r = push(1e-3, speed)
    local place, angle = distance(r, goal)
    print(("dynamic, %5g mm/s %18s %12.3e %12.3e %9d"):format(1000 * speed, "0.001", place, angle, r.unsolved))
    put(by_speed, 1000 * speed, angle)
  end
  stn.check("dynamic steps come nearer with every lower speed", (function()
    for i = 2, #speeds do
      if not (by_speed.y[i] < by_speed.y[i - 1]) then return false end
    end
    return true
  end)())
  if p.charts ~= "" then
    chart.write(p.charts .. "_steps.svg", { title = "Quasistatic steps: error of the yaw at the end", x = { label = "dt [s]", log = true },
      y = { label = "rad", log = true }, series = by_step })
    chart.write(p.charts .. "_speeds.svg", { title = "Dynamic steps of 1 ms: distance of the yaw from the quasistatic one", x = { label = "speed of the push [mm/s]", log = true },
      y = { label = "rad", log = true }, series = { by_speed } })
  end
end

if p.study then
  p.case = "turn"
  study()
elseif p.case == "turn" then
  turn()
else
  straight()
end
