-- SPDX-License-Identifier: Apache-2.0
-- Two fingers close on a ball that lies on the ground, and are then pulled down along it until they slip: paper [pang-2021], section
-- V-A. model=lcp is Coulomb's law, equation 6; qp Anitescu's friction, equation 10; cone the same on the round cone in place of a
-- pyramid. The ball cannot turn. Every step is compared with the closed form below; the table (--log) has the columns of the reference.
--   stiction run scripts/papers/quasistatic/planar_gripper.lua --set model=lcp --log lcp.csv --record gripper.html
-- plot draws lcp and qp, by `show`: x or y of the left finger (figure 5), forces or gap (figure 6).
--
-- Closed form of a step. d: how far the command lies inside the ball, D = y_command - y, mu_1 and mu_2 of the two fingers, u = |y' - y|:
--   qp   minimizes K (phi_1 + d)^2/2 + K (phi_2 + d)^2/2 + K (u - |D|)^2/2 with phi_i = max(mu_i u, -d):
--        u = (|D| - (mu_1 + mu_2) d)/(1 + mu_1^2 + mu_2^2), not below 0; where the command lies outside the layer, u = |D|
--   lcp  phi_i = max(0, -d), u = max(0, |D| - (mu_1 + mu_2) max(0, d))
-- Forces are those of the springs: c_n = K (phi + d), c_f1 + c_f2 = K (y_command - y'), c_n3 = weight - c_f1 - c_f2.
local stn = require "stiction"
local chart, load_text = require "chart", require "robot_text"

local p = stn.params {
  model = stn.choice { "qp", "lcp", "cone" },
  knots = stn.choice { "paper", "reference" }, -- of the command: down to t = 0.23 s and 0.24 s; ends at 0.35 s and 0.32 s
  dt = 0.01,               -- [s]
  mu = 0.5,
  stiffness = 1000.0,      -- of all three joints [N/m]
  weight = 10.0,           -- of the ball [N]
  close = stn.number { 0.2, min = 0, unit = "m/s" }, pull = stn.number { 0.2, min = 0, unit = "m/s" }, -- speeds of the command
  squeeze = 0.08,          -- the command closes until then [s]
  mass_scale = -1.0,       -- unactuated_mass_scale; -1: 1e-3 of lcp, else 0
  directions = 4,          -- rays of the pyramid of lcp and qp
  roll_deg = 0.0, pitch_deg = 0.0, yaw_deg = 0.0, -- the whole scene is turned
  show = stn.choice { "x", "y", "forces", "gap" },
  plot = "",
}
local radius, start_gap, gravity = 0.1, 0.006, 10 -- [m], [m], [m/s^2]
local stop = p.knots == "paper" and 0.23 or 0.24
if p.pull * (stop - p.squeeze) > 0.075 then
  error(("pull = %g m/s: the fingers go down by more than 0.075 m, beyond the ball or to the ground"):format(p.pull), 0)
end
p.seconds = stn.params { seconds = p.knots == "paper" and 0.35 or 0.32 }.seconds

local turn = stn.pose { rpy = { p.roll_deg * stn.deg, p.pitch_deg * stn.deg, p.yaw_deg * stn.deg } }
local turned = turn:angle(stn.pose {}) > 0

-- Solver, law and mass scale of a model. The cone's law is as hard as its solver can take: forces are off by 1e-8 of themselves.
local function method(model)
  local scale = p.mass_scale >= 0 and p.mass_scale or model == "lcp" and 1e-3 or 0
  local integrator = { "quasistatic", unactuated_mass_scale = scale }
  if model == "cone" then
    return { "sap", tolerance = 1e-10 }, integrator, { "sap", beta = 1e-4, sigma = 1e-8 }
  end
  return { model == "lcp" and "lemke" or "qp", directions = p.directions }, integrator
end

local function slider(name, parent, child, axis)
  return ([[<joint name="%s" type="prismatic"><parent link="%s"/><child link="%s"/><axis xyz="%s"/>
    <limit lower="-1" upper="1" effort="1000" velocity="10"/></joint>]]):format(name, parent, child, axis)
end

local function link(name, mass, shape)
  return ([[<link name="%s"><inertial><mass value="%.17g"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>%s</link>]])
    :format(name, mass, shape)
end

local function finger(name, side)
  return link(name, 0.1, ('<collision><origin xyz="%g 0 0.05"/><geometry><box size="0.02 0.1 0.14"/></geometry></collision>'):format(0.01 * side))
end

local gripper_text = '<robot name="gripper"><link name="base"/>' .. link("carriage", 0.1, "") .. finger("left", -1) .. finger("right", 1)
  .. slider("y", "base", "carriage", "0 0 1") .. slider("xl", "carriage", "left", "1 0 0") .. slider("xr", "carriage", "right", "1 0 0") .. "</robot>"
local ball_text = '<robot name="ball"><link name="base"/>' .. link("carriage", 0.1, "")
  .. link("ball", p.weight / gravity, ('<collision><geometry><sphere radius="%g"/></geometry></collision>'):format(radius))
  .. slider("x", "base", "carriage", "1 0 0") .. slider("z", "carriage", "ball", "0 0 1") .. "</robot>"

-- Depth of the command inside the ball and its way down, at the end of the step that ends at t.
local function command(t)
  return p.close * math.min(t, p.squeeze) - start_gap, p.pull * math.max(0, math.min(t, stop) - p.squeeze)
end

local function build(model)
  local solver, integrator, law = method(model)
  local world = stn.world { dt = p.dt, gravity = turn:rotate { 0, 0, -gravity }, solver = solver, law = law, integrator = integrator }
  local center = turn * stn.pose { xyz = { 0, 0, radius } }
  local start = radius + start_gap
  local s = {
    world = world,
    floor = world:ground { pose = turn, mu = p.mu },
    ball = load_text(world, ".urdf", ball_text, { base = center, fixed = true, mu = p.mu }),
    gripper = load_text(world, ".urdf", gripper_text, { base = center, fixed = true, mu = p.mu, joints = { xl = -start, xr = start } }),
  }
  s.drive = world:controller { "joint_pd", target = s.gripper, kp = p.stiffness, kd = 0, effort_limits = false, gravity_compensation = true }
  return s
end

-- Names as in the paper; mode, a word, stays empty.
local columns = { "t", "cmd_xl", "cmd_xr", "cmd_y", "xc", "yc", "xl", "xr", "y", "phi1", "phi2", "phi3", "cn1", "cn2", "cn3", "cf1", "cf2", "cf3", "mode" }
local back = turn:inverse()

local function measure(s)
  local t, q, c = s.world.time, s.gripper:positions(), s.ball:positions()
  local d, down = command(t)
  local function force(by)
    local f = s.world:contact_force(s.ball, by)
    return back:rotate(f.normal_part), back:rotate(f.friction_part)
  end
  local n1, f1 = force { s.gripper, "left" }
  local n2, f2 = force { s.gripper, "right" }
  local n3, f3 = force(s.floor)
  return {
    t = t, cmd_xl = d - radius, cmd_xr = radius - d, cmd_y = radius - down, xc = c.x, yc = radius + c.z, xl = q.xl, xr = q.xr, y = radius + q.y,
    phi1 = c.x - q.xl - radius, phi2 = q.xr - c.x - radius, phi3 = c.z, cn1 = n1[1], cn2 = -n2[1], cn3 = n3[3], cf1 = f1[3], cf2 = f2[3], cf3 = f3[1],
    mode = 0 / 0, depth = d, down = down,
  }
end

local function run(model)
  local s = build(model)
  local rows = {}
  local function note()
    local k = s.world.steps + 1
    rows[k] = rows[k] or measure(s)
    return rows[k]
  end
  s.world:log { values = function()
    local values = {}
    for i, name in ipairs(columns) do values[i] = note()[name] end
    return table.unpack(values)
  end, table.unpack(columns) }
  local unsolved = 0
  local function tell(t)
    local d, down = command(t)
    s.drive:set { position = { y = -down, xl = d - radius, xr = radius - d } }
  end
  tell(p.dt)
  note()
  for step in s.world:run { seconds = p.seconds } do
    unsolved = unsolved + (step.converged and 0 or 1)
    note()
    tell(step.time + p.dt)
  end
  return rows, unsolved
end

-- -------------------------------------------------------------------------------------------------------------- closed form

-- Friction coefficients along the way of the fingers, and whether they were read off where the fingers slide fastest: rays that lie
-- askew to the way hold less, by the cosine of the angle to the nearest one, which is at least cos(pi/directions).
local function coefficients(rows)
  if not turned or p.model == "cone" or p.mu == 0 then
    return p.mu, p.mu, false
  end
  local fastest, slip = rows[2], 0
  for i = 2, #rows do
    local speed = rows[i].cn1 > 0 and rows[i - 1].y - rows[i].y or 0
    if speed > slip then fastest, slip = rows[i], speed end
  end
  if slip < 1e-6 then -- it holds throughout
    return p.mu, p.mu, false
  end
  return -fastest.cf1 / fastest.cn1, -fastest.cf2 / fastest.cn2, true
end

local function exact_step(model, y, row, mu1, mu2)
  local d, D = row.depth, row.cmd_y - y
  local held, u = (mu1 + mu2) * d, nil
  if model == "lcp" then
    u = math.max(0, math.abs(D) - math.max(0, held))
    mu1, mu2 = 0, 0
  elseif -d >= math.max(mu1, mu2) * math.abs(D) then
    u = math.abs(D)
  else
    u = math.max(0, (math.abs(D) - held) / (1 + mu1 ^ 2 + mu2 ^ 2))
  end
  local phi1, phi2 = math.max(mu1 * u, -d), math.max(mu2 * u, -d)
  y = y + (D < 0 and -u or u)
  local friction = p.stiffness * (row.cmd_y - y)
  return {
    y = y, phi1 = phi1, phi2 = phi2, xl = -radius - phi1, xr = radius + phi2, xc = 0, yc = radius,
    cn1 = p.stiffness * (phi1 + d), cn2 = p.stiffness * (phi2 + d), cf = friction, cn3 = p.weight - friction,
  }
end

local function judge(model, rows)
  local mu1, mu2, measured = coefficients(rows)
  local weakest = math.cos(math.pi / p.directions)
  if measured then
    stn.result("mu_along_the_way", math.min(mu1, mu2))
    stn.check("friction along the way is at most mu", { value = math.max(mu1, mu2) / p.mu - 1, limit = 1e-9 })
    stn.check("friction along the way is at least mu cos(pi/directions)", { value = math.min(mu1, mu2) / p.mu, least = weakest - 1e-9 })
  end
  local position, force, y, largest = 0, 0, rows[1].y, p.weight
  local function worse(a, b) return b <= a and a or b end -- NaN stays
  for i = 2, #rows do
    local row = rows[i]
    local exact = exact_step(model, y, row, mu1, mu2)
    y, largest = exact.y, math.max(largest, exact.cn1, exact.cn3)
    for _, name in ipairs { "xc", "yc", "xl", "xr", "y", "phi1", "phi2" } do position = worse(position, math.abs(row[name] - exact[name])) end
    for _, name in ipairs { "cn1", "cn2", "cn3" } do force = worse(force, math.abs(row[name] - exact[name])) end
    force = worse(force, math.abs(row.cf1 + row.cf2 - exact.cf))
  end
  -- lemke and qp end at round-off; the cone's law gives way by sigma, 1e-8 of slips and forces
  local hard = model ~= "cone"
  stn.check("positions follow the closed form", { value = position, limit = hard and 1e-12 or 2e-10, unit = "m" })
  stn.check("forces follow the closed form", { value = force, limit = (hard and 1e-9 or 2e-6) * math.max(1, largest / 10), unit = "N" })
  return mu1, mu2
end

-- What the paper publishes of its own case.
local function judge_published(model, rows)
  local function at(t) return rows[math.floor(t / p.dt + 0.5) + 1] end
  local function near(name, value, expected, tolerance, unit)
    stn.check(name, { value = math.abs(value - expected), limit = tolerance, unit = unit })
  end
  local touch, slips, sticks, peak = nil, nil, nil, rows[1].phi1
  for i = 2, #rows do
    local before, row = rows[i - 1], rows[i]
    touch = touch or row.phi1 < 1e-9 and row.t or nil
    local moves = row.cn1 > 1e-6 and before.y - row.y > 1e-7
    slips = slips or moves and before.t or nil
    peak = slips and math.max(slips == before.t and 0 or peak, row.phi1) or peak
    if slips and not sticks and (model == "lcp" and not moves or model ~= "lcp" and row.phi1 < before.phi1 - 1e-9) then sticks = before.t end
  end
  stn.result("touch", touch, "s")
  stn.result("begins_to_slip", slips, "s")
  stn.result("ends_to_slip", sticks, "s")
  near("it touches at 0.03 s", touch, 0.03, 1e-9, "s")
  near("it begins to slip at 0.13 s", slips, 0.13, 1e-9, "s")
  near(("the slip ends at %g s"):format(stop), sticks, stop, 1e-9, "s")
  local exact = model == "cone" and 2e-6 or 1e-9 -- as above [N]
  near("squeezed by 10 N at 0.08 s", at(0.08).cn1, 10, exact, "N")
  local last, lag, spring, changed, gap = at(stop), 0, 0, 0, 0
  for i = 2, #rows do
    local row = rows[i]
    if row.t < 0.03 - 1e-9 then lag = math.max(lag, math.abs(row.cmd_xl - row.xl)) end
    if row.t > 0.08 - 1e-9 and row.t < stop + 1e-9 then changed, gap = math.max(changed, math.abs(row.cn1 - 10)), math.max(gap, math.abs(row.phi1)) end
    spring = math.max(spring, math.abs(p.stiffness * (row.cmd_xl - row.xl) - row.cn1))
  end
  stn.result("starts_apart", rows[1].phi1, "m")
  stn.result("lag_apart", lag, "m")
  stn.result("spring_less_contact", spring, "N")
  stn.result("cn1_squeezed", at(0.08).cn1, "N")
  stn.result("gap_sticking", math.abs(at(0.12).phi1), "m")
  stn.result("cn1_changes_after_the_squeeze", changed, "N")
  stn.result("largest_gap_after_the_squeeze", gap, "m")
  stn.result("cn1_sliding", last.cn1, "N")
  stn.result("cf1_sliding", (last.cf1 + last.cf2) / 2, "N")
  stn.result("cn3_sliding", last.cn3, "N")
  stn.result("cn3_less_weight_and_friction", math.abs(last.cn3 - p.weight + last.cf1 + last.cf2), "N")
  stn.result("gap_sliding", last.phi1, "m")
  stn.result("gap_at_the_end", math.abs(rows[#rows].phi1), "m")
  if model == "lcp" then
    near("10 N while it slides", last.cn1, 10, exact, "N")
    near("no gap while it slides", last.phi1, 0, 1e-12, "m")
    near("the ground carries 20 N", last.cn3, 20, exact, "N")
  else -- what is missing falls to a third in every step: 3^-10 at the end of the slip
    near("11 N while it slides, less 3^-10 N", last.cn1, 11, 1.1 * 3 ^ -10, "N")
    near("a gap of h mu v = 1 mm while it slides, less 3^-10 of it", last.phi1, p.dt * p.mu * p.pull, 1.1e-3 * 3 ^ -10, "m")
    near("no gap before it slides", at(0.13).phi1, 0, model == "cone" and 2e-10 or 1e-12, "m")
    near("a third of the gap is left a step later", at(stop + p.dt).phi1 / last.phi1, 1 / 3, 1e-6)
    stn.check("the gap is gone at the end", { value = rows[#rows].phi1, limit = 2 * peak * 3 ^ -((p.seconds - stop) / p.dt), unit = "m" })
    local other, apart = run "lcp", 0
    for i = 1, math.floor(0.13 / p.dt + 0.5) + 1 do
      local a, b = rows[i], other[i] -- how the fingers share the friction is open
      apart = math.max(apart, math.abs(a.cn1 - b.cn1), math.abs(a.cn3 - b.cn3), math.abs(a.cf1 + a.cf2 - b.cf1 - b.cf2))
    end
    stn.result("from_lcp_before_the_slip", apart, "N")
    if model == "qp" then stn.check("forces until the slip are those of lcp", { value = apart, limit = 2 * exact, unit = "N" }) end
  end
end

-- ------------------------------------------------------------------------------------------------------------------- charts

local function line(name, rows, value, color)
  local series = { name = name, color = color, x = {}, y = {} }
  for i, row in ipairs(rows) do
    series.x[i], series.y[i] = row.t, value(row)
  end
  return series
end

local function of(name) return function(row) return row[name] end end

local function draw(runs)
  local lcp, qp = runs.lcp, runs.qp
  local function write(name, title, unit, series)
    if name ~= p.show then return end
    chart.write(p.plot, { title = title, x = { label = "t [s]" }, y = { label = unit }, legend = "beside", series = series })
  end
  for _, axis in ipairs { "xl", "y" } do
    local word = axis == "xl" and "x" or "y"
    write(word, ("Left finger, %s (figure 5)"):format(word), "m", {
      line("command", qp, of("cmd_" .. axis), 7), line("LCP", lcp, of(axis), 1), line("QP", qp, of(axis), 2),
    })
  end
  local function friction(row) return (row.cf1 + row.cf2) / 2 end
  write("forces", "Contact forces (figure 6)", "N", {
    line("cn1, LCP", lcp, of "cn1", 1), line("cn1, QP", qp, of "cn1", 2), line("cf1, LCP", lcp, friction, 5), line("cf1, QP", qp, friction, 6),
    line("cn3, LCP", lcp, of "cn3", 3), line("cn3, QP", qp, of "cn3", 4),
  })
  local function gap(row) return 1000 * row.phi1 end
  write("gap", "Gap between left finger and ball (figure 6)", "mm", { line("LCP", lcp, gap, 1), line("QP", qp, gap, 2) })
end

local rows, unsolved = run(p.model)
stn.check("steps that did not converge", { value = unsolved, limit = 0 })
local mu1 = judge(p.model, rows)
if p.dt == 0.01 and mu1 == 0.5 and p.stiffness == 1000 and p.weight == 10 and p.close == 0.2 and p.pull == 0.2 and p.squeeze == 0.08 then
  judge_published(p.model, rows)
end
if p.plot ~= "" then
  local runs = { [p.model] = rows }
  for _, model in ipairs { "lcp", "qp" } do runs[model] = runs[model] or run(model) end
  draw(runs)
end
