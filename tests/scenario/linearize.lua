-- SPDX-License-Identifier: Apache-2.0
-- world:linearize against closed forms (pendulum, pole on a cart), against derivatives by dual numbers (an arm of seven joints) and against
-- steps (a free body, controllers, contact); what has no derivatives is refused.
local stn = require "stiction"
local load_text = require "robot_text"
local dynamics = require "arm_dynamics"

local function refuses(text, action) stn.fails(action, text) end
local g = 9.81

local function largest_difference(A, B)
  local worst = 0
  assert(#A == #B)
  for i, row in ipairs(A) do
    assert(#row == #B[i])
    for k, value in ipairs(row) do
      local off = math.abs(value - B[i][k])
      if not (off <= worst) then worst = off end
    end
  end
  return worst
end

local function pole_text(slides)
  local rail = slides and [[<link name="cart"><inertial><mass value="1.3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint>]] or ""
  return ([[<robot name="pole"><link name="base"/>%s<link name="pole"><inertial><origin xyz="0 0 -0.4"/><mass value="0.7"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="hinge" type="continuous"><parent link="%s"/><child link="pole"/><axis xyz="0 -1 0"/></joint></robot>]]):format(rail,
    slides and "cart" or "base")
end

local m, l, I, M = 0.7, 0.4, 0.03, 1.3 -- of the pole: mass, way to its centre, inertia about it; of the cart

stn.test("a pendulum", function()
  local dt = 0.01
  local world = stn.world { dt = dt }
  load_text(world, ".urdf", pole_text(false), { fixed = true })
  for _, angle in ipairs { 0, 0.7, math.pi, -2 } do
    local A, B, step = world:linearize { q = { angle }, v = { 1.5 } }
    local a = dt * m * g * l * math.cos(angle) / (I + m * l * l) -- v' = v - dt m g l sin(q)/J, q' = q + dt v'
    local b = dt / (I + m * l * l)
    assert(largest_difference(A, { { 1 - dt * a, dt }, { -a, 1 } }) < 1e-8)
    assert(largest_difference(B, { { dt * b }, { b } }) < 1e-8)
    assert(step.converged and step.one_sided < 1e-4)
    stn.near(step.v[1], 1.5 - dt * m * g * l * math.sin(angle) / (I + m * l * l), 1e-12)
  end
  assert(world:state().q[1] == 0 and world.steps == 0) -- the world itself stays
end)

-- M(q) (v' - v) = dt (u - g(q) - C(v, v')) with M = [[M + m, m l c], [m l c, I + m l^2]], C = (-m l s w w', 0), g = (0, m g l s).
stn.test("a pole on a cart", function()
  local dt, x, angle, speed, spin, force, torque = 0.01, 0.3, 0.8, -0.6, 2.2, 1.7, 0.3
  local world = stn.world { dt = dt }
  local robot = load_text(world, ".urdf", pole_text(true), { fixed = true })
  robot:joint "slide":set_effort(force)
  robot:joint "hinge":set_effort(torque)
  local A, B, step = world:linearize { q = { x, angle }, v = { speed, spin } }
  local s, c, n, J = math.sin(angle), math.cos(angle), m * l, I + m * l * l
  -- F(v', angle, v, u) = 0; its derivatives with respect to (v', w'), and to (angle, speed, spin, force, torque)
  local dv, dw = step.v[1] - speed, step.v[2] - spin
  local Fv = { { M + m, n * c - dt * n * s * spin }, { n * c, J } }
  stn.near((M + m) * dv + n * c * dw - dt * (force + n * s * spin * step.v[2]), 0, 1e-10)
  stn.near(n * c * dv + J * dw - dt * (torque - n * g * s), 0, 1e-10)
  local columns = { { -n * s * dw - dt * n * c * spin * step.v[2], -n * s * dv + dt * n * g * c }, { -(M + m), -n * c },
    { -n * c - dt * n * s * step.v[2], -J }, { -dt, 0 }, { 0, -dt } }
  local d = {}
  for k, F in ipairs(columns) do d[k] = dynamics.solve(Fv, { -F[1], -F[2] }) end
  local function row(i) return { 0, d[1][i], d[2][i], d[3][i] } end
  local function moved(i)
    local r = row(i)
    for k = 1, 4 do r[k] = dt * r[k] + (k == i and 1 or 0) end
    return r
  end
  assert(largest_difference(A, { moved(1), moved(2), row(1), row(2) }) < 1e-7)
  assert(largest_difference(B, { { dt * d[4][1], dt * d[5][1] }, { dt * d[4][2], dt * d[5][2] }, { d[4][1], d[5][1] }, { d[4][2], d[5][2] } }) < 1e-7)
  local _, one = world:linearize { q = { x, angle }, v = { speed, spin }, control = "effort", joints = { robot:joint "slide" } }
  assert(#one[1] == 1 and math.abs(one[3][1] - d[4][1]) < 1e-7)
  local _, swapped = world:linearize { q = { x, angle }, v = { speed, spin }, joints = { "hinge", "slide" } }
  assert(math.abs(swapped[3][2] - d[4][1]) < 1e-7 and math.abs(swapped[4][1] - d[5][2]) < 1e-7)
  local _, _, other = world:linearize { q = { x, angle }, v = { speed, spin }, values = { 0, 0 } }
  assert(math.abs(other.v[1] - step.v[1]) > 1e-3) -- controls of the start
end)

stn.test("an arm of seven joints, by dual numbers", function()
  local dt = 0.002
  local world = stn.world { dt = dt }
  local file = "models/iiwa14/iiwa14.urdf"
  local arm = world:load { file, name = "arm", fixed = true }
  world:disable_collisions(arm)
  local folder = debug.getinfo(1, "S").source:match "^@(.*)/" or "."
  local input <close> = assert(io.open(folder .. "/../../" .. file))
  local chain = dynamics.read_chain(input:read "a")
  assert(#chain == 7 and world.nv == 7)
  local q, v, tau = { 0.3, 0.6, -0.4, -1.1, 0.5, 0.9, -0.2 }, { 0.4, -0.3, 0.5, 0.7, -0.6, 0.2, 0.8 }, { 5, -20, 3, 12, 1, -2, 0.5 }
  local A, B, step = world:linearize { q = q, v = v, values = tau }
  local x = {}
  for _, list in ipairs { q, v, tau, step.v } do table.move(list, 1, 7, #x + 1, x) end
  local residual = dynamics.residual(chain, dt, g)
  for i, off in ipairs(residual(x)) do stn.near(off, 0, 1e-8, "step " .. i) end -- the same equations
  local Fv = {}
  for i = 1, 7 do Fv[i] = {} end
  for k = 1, 7 do
    for i, value in ipairs(dynamics.derivative(residual, x, 21 + k)) do Fv[i][k] = value end
  end
  local worst_A, worst_B = 0, 0
  for k = 1, 21 do
    local F = dynamics.derivative(residual, x, k)
    for i = 1, 7 do F[i] = -F[i] end
    local d = dynamics.solve(Fv, F)
    for i = 1, 7 do
      local matrix, column = k <= 14 and A or B, k <= 14 and k or k - 14
      local off = math.max(math.abs(matrix[7 + i][column] - d[i]), math.abs(matrix[i][column] - dt * d[i] - (i == k and 1 or 0)))
      if k <= 14 then worst_A = math.max(worst_A, off) else worst_B = math.max(worst_B, off) end
    end
  end
  stn.result("arm: A against dual numbers, at most", worst_A)
  stn.result("arm: B against dual numbers, at most", worst_B)
  assert(worst_A < 1e-9, worst_A)
  assert(worst_B < 1e-9, worst_B)
end)

stn.test("a free body: six coordinates of seven numbers", function()
  local dt = 0.01
  local world = stn.world { dt = dt }
  world:box { name = "box", size = { 0.1, 0.2, 0.3 }, mass = 2, xyz = { 1, 2, 3 }, rpy = { 0.3, -0.5, 0.9 } }
  local A, B = world:linearize()
  assert(#A == 12 and #A[1] == 12 and #B[1] == 6)
  for i = 1, 12 do
    for k = 1, 12 do
      local expected = (i == k and 1 or 0) + (k == i + 6 and dt or 0) -- at rest: each moves by its own velocity
      stn.near(A[i][k], expected, 1e-8, ("A[%d][%d]"):format(i, k))
    end
  end
end)

stn.test("commands of controllers", function()
  local dt, kp, kd = 0.01, 40, 3
  local world = stn.world { dt = dt }
  local robot = load_text(world, ".urdf", pole_text(false), { fixed = true })
  world:controller { "joint_pd", target = robot, kp = kp, kd = kd, effort_limits = false }
  local A, B = world:linearize { control = "command" }
  local J, k = I + m * l * l, m * g * l
  -- (J + dt kd + dt^2 kp)(v' - v) = dt (kp (u - q) - kd v - k sin q) - dt^2 kp v
  local S = J + dt * kd + dt * dt * kp
  stn.near(B[2][1], dt * kp / S, 1e-7)
  stn.near(A[2][1], -dt * (kp + k) / S, 1e-7)
  stn.near(A[2][2], 1 - (dt * kd + dt * dt * kp) / S, 1e-7)
  local _, gains = world:linearize { q = { 0.2 }, control = "reference.kp" }
  assert(#gains[1] == 1 and gains[2][1] < 0)
end)

stn.test("contact: what presses on both sides is differentiated, what begins is told", function()
  local world = stn.world { dt = 0.002 }
  world:ground { mu = 0.5 }
  world:box { name = "box", size = { 0.2, 0.2, 0.2 }, mass = 1, xyz = { 0, 0, 0.1 } }
  for _ = 1, 500 do world:step() end
  local A, _, step = world:linearize()
  assert(step.converged)
  assert(math.abs(A[9][9]) < 0.9 and math.abs(A[7][7]) < 0.9) -- velocities into the ground and along it end in a step
  local fall = stn.world { dt = 0.002 }
  fall:ground {}
  fall:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 0, 0, 1 } }
  local function at(height) return { 0, 0, height, 1, 0, 0, 0 } end
  local v = { 0, 0, 0, 0, 0, 0 }
  local pressed, free = 0.1, 0.2 -- heights: the ground presses in the step, or not yet
  while free - pressed > 1e-9 do
    local middle = (pressed + free) / 2
    local step = fall:predict(at(middle), nil, { v = v, contacts = false })
    if step.v[3] > -9.81 * 0.002 + 1e-12 then pressed = middle else free = middle end
  end
  local _, _, above = fall:linearize { q = at(free + 1e-3) }
  local A_edge, _, edge = fall:linearize { q = at(free) }
  local A_in = fall:linearize { q = at(free - 1e-4) }
  assert(above.one_sided < 1e-6, above.one_sided)
  assert(edge.one_sided > 10, edge.one_sided)
  stn.near(A_edge[9][3], A_in[9][3] / 2, 0.01 * math.abs(A_in[9][3])) -- the mean of 0 and that of the contact
end)

stn.test("other integrators; what is refused", function()
  for _, integrator in ipairs { "midpoint", "implicit_euler" } do
    local world = stn.world { dt = 0.01, integrator = integrator }
    load_text(world, ".urdf", pole_text(false), { fixed = true })
    local A = world:linearize()
    local w2 = m * g * l / (I + m * l * l) -- hanging: an oscillator; the flow's derivative to the order of the integrator
    assert(math.abs(A[1][1] - (1 - w2 * 0.01 ^ 2 / 2)) < w2 * 0.01 ^ 2 and math.abs(A[2][1] + w2 * 0.01) < 1e-3)
  end
  local world = stn.world { dt = 0.01 }
  local robot = load_text(world, ".urdf", pole_text(true), { fixed = true })
  refuses("did you mean 'control'", function() world:linearize { controls = "effort" } end)
  refuses("did you mean 'effort'", function() world:linearize { control = "efort" } end)
  refuses("no controller takes references called 'position'", function() world:linearize { control = "command" } end)
  refuses("no controller takes references called 'kp'", function() world:linearize { control = "reference.kp" } end)
  refuses("q has 0 numbers, it needs 2", function() world:linearize { q = {} } end)
  refuses("finite", function() world:linearize { v = { 0, 0 / 0 } } end)
  refuses("named twice", function() world:linearize { joints = { "slide", robot:joint "slide" } } end)
  refuses("did you mean 'slide'", function() world:linearize { joints = { "slid" } } end)
  refuses("nothing to control", function() world:linearize { joints = {} } end)
  refuses("nothing to control", function() stn.world {}:linearize() end)
  local quasistatic = stn.world { dt = 0.01, integrator = "quasistatic" }
  quasistatic:box { name = "box", size = { 1, 1, 1 }, mass = 1 }
  refuses("quasistatic do not start from velocities", function() quasistatic:linearize() end)
  local moved = stn.world {}
  moved:box { name = "lift", size = { 1, 1, 1 }, mass = 1 }:kinematic(function(t) return { xyz = { 0, 0, t } } end)
  refuses("kinematic motions", function() moved:linearize() end)
end)
