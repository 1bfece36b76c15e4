-- SPDX-License-Identifier: Apache-2.0
-- One body that moves in the plane x (right), z (up) and touches the ground z = 0 at few points: the two-dimensional cases of
-- [castro-2023], section IX. A case describes its body; here are its parameters, its world, what is logged of it, the
-- continuous model that the laws stand for, and the study of how they converge to it. Angles are counter-clockwise.
--
-- A body: { mass, inertia (math.huge: it cannot turn), start = { x, z, theta, vx, vz, omega }, build = function(world) -> link,
--   lowest = function(theta) -> list of { x, y, z }, the points that touch relative to the centre of mass; y is 0 where it is left out,
--   turn = function(theta, torque) -> angular acceleration by a torque, both in three dimensions,
--   angle = theta when the body's frame is the world's, count = contacts of the world at each of these points,
--   belt = function(t) -> speed of the ground along x, or nil }
local stn = require "stiction"
local numbers, chart, radau = require "numbers", require "chart", require "radau"

local planar = {}
local g = 9.81
local words = { "x", "z", "theta", "vx", "vz", "omega" }

-- Parameters of all cases, with those of this one. Names as in the published cases.
function planar.parameters(own)
  local declared = {
    law = stn.choice { "sap", "lagged", "similar", "lagged_regularized" },
    d = 500.0,      -- dissipation of the contact, of lagged and similar [s/m]
    taud = 1e-3,    -- relaxation time of the contact, of sap [s]
    k = 1e7,        -- stiffness of the contact [N/m]
    eps = 1e-4,     -- slip at which friction of lagged and similar is near its limit [m/s]
    sigma = 1e-3,   -- of the law sap: friction is regularised by sigma w
    beta = 0.0,     -- of the law sap: 1 bounds the stiffness to what a step resolves
    margin = 100.0, -- contacts nearer than this are in the problem, and no others; 0: from touch on [m]
    arm = stn.choice { "midpoint", "body", "ground" }, -- where a contact acts: half way, on the body, on the ground
    lag = stn.choice { "gap", "impulse" }, -- what the lagged laws take for friction: as published, or the impulse of the step before
    study = false,  -- laws and steps below against the continuous solution, instead of one run
    laws = "sap,lagged,similar",
    norm = stn.choice { "q", "xz" }, -- of the study's errors: all positions x, z [m] and theta [rad], as published, or the centre's alone
    table = "",     -- a CSV file for the rows of the study
    plot = "",      -- an SVG file: errors of the study; without it `show` of all `laws` over time, from `from` on
    show = stn.choice { "fn", "ft", "vn", "vt", "phi", "x", "z", "theta", "vx", "vz", "omega" },
    from = 0.0,     -- [s]
  }
  for name, value in pairs(own) do declared[name] = value end
  return stn.params(declared)
end

function planar.scaled(v, factor) return { factor * v[1], factor * v[2], factor * v[3] } end

-- The laws and, ascending, the steps to compare.
function planar.compared(p)
  local known, laws, dts = {}, {}, numbers(p.dts, "dts")
  for _, id in ipairs(stn.plugins "law") do known[id] = true end
  for law in p.laws:gmatch "[^%s,]+" do
    laws[#laws + 1] = known[law] and law or error(("laws: there is no law '%s'"):format(law), 0)
  end
  table.sort(dts)
  if not (#laws > 0 and #dts > 0 and dts[1] > 0 and dts[#dts] <= p.seconds) then
    error(("laws and dts: at least one each, steps above 0 s and up to %g s"):format(p.seconds), 0)
  end
  return laws, dts
end

-- Gap and contact point of each contact of a body in a state, and the velocity there relative to the ground.
local function contacts_of(p, body, t, x, z, theta, vx, vz, omega)
  local list = body.lowest(theta)
  local belt = body.belt and body.belt(t) or 0
  for _, c in ipairs(list) do
    c.phi = z + c.z
    local arm = c.z - (p.arm == "midpoint" and 0.5 or p.arm == "ground" and 1 or 0) * c.phi
    c.arm, c.vt, c.vn = arm, vx - omega * arm - belt, vz + omega * c.x
  end
  return list
end

-- -------------------------------------------------------------------------------------------------- the simulator

-- The law and what it reads of the contact: a law that does not use a parameter is not given it.
local function new_world(p, law, dt)
  local sap = law == "sap"
  local world = stn.world {
    dt = dt, solver = { "sap", tolerance = 1e-14 }, margin = p.margin, margin_only = true,
    contact_point = p.arm == "midpoint" and "midpoint" or "a",
    law = sap and { "sap", sigma = p.sigma, beta = p.beta } or
      law == "lagged_regularized" and { law, stiction_tolerance = p.eps, sigma = p.sigma, lag = p.lag } or
      { law, stiction_tolerance = p.eps, lag = law == "lagged" and p.lag or nil },
  }
  world:contact_material { mu = p.mu, stiffness = p.k, relaxation_time = sap and p.taud or nil, dissipation = not sap and p.d or nil }
  return world
end

-- A run of the body. `look()` is its state after the last step: the words above, and contacts with forces.
local function begin(p, body, law, dt)
  local world = new_world(p, law, dt)
  local ground, link
  if p.arm == "body" then -- contacts act on the first of the two
    link = body.build(world)
    ground = world:ground { name = "ground" }
  else
    ground = world:ground { name = "ground" }
    link = body.build(world)
  end
  local theta, now, before = body.start[3], nil, nil
  local function state()
    local pose, velocity = link:pose(), link:velocity()
    local angle = body.angle - 2 * math.atan(pose.quat[3], pose.quat[1])
    theta = angle + 2 * math.pi * math.floor((theta - angle) / (2 * math.pi) + 0.5)
    return { t = world.time, steps = world.steps, x = pose.xyz[1], z = pose.xyz[3], theta = theta,
      vx = velocity.linear[1], vz = velocity.linear[3], omega = -velocity.angular[2] }
  end
  local function look()
    if now and now.steps == world.steps then
      return now
    end
    before, now = now, state()
    now.contacts = contacts_of(p, body, now.t, now.x, now.z, now.theta, now.vx, now.vz, now.omega)
    for _, c in ipairs(now.contacts) do c.ft, c.fn = 0, 0 end
    for _, contact in ipairs(world:contacts()) do
      local c = now.contacts[#now.contacts > 1 and contact.point[1] > before.x and 2 or 1]
      local sign = contact.b == ground.name and -1 or 1 -- the impulse is that on b
      c.ft, c.fn = c.ft + sign * contact.impulse[1] / dt, c.fn + sign * contact.impulse[3] / dt
    end
    return now
  end
  look()
  return { world = world, look = look, ground = ground }
end

-- Steps a run up to `seconds` and shows `visit` each state; a belt has in a step the speed of its end.
local function advance(p, body, run, dt, visit)
  local world = run.world
  local function set_belt()
    if body.belt then run.ground:set_surface_velocity { body.belt(world.time + dt), 0, 0 } end
  end
  visit(run.look())
  set_belt()
  for step in world:run { steps = math.floor(p.seconds / dt + 0.5) } do
    set_belt()
    visit(run.look(), step)
  end
end

-- A run by another law or step, not logged; `visit(state, step)` sees the start, without a step, and every step.
function planar.watch(p, body, law, dt, visit)
  local run = begin(p, body, law, dt)
  advance(p, body, run, dt, visit)
  run.world:close()
end

local function columns_of(body)
  local names = { "t", table.unpack(words) }
  local count = #body.lowest(body.start[3])
  for i = 1, count do
    for _, name in ipairs { "ft", "fn", "vt", "vn", "phi" } do
      names[#names + 1] = name .. (count > 1 and i - 1 or "")
    end
  end
  return names
end

-- ------------------------------------------------------------------------------------------------- the discrete laws

-- |W|_F / 3 of a contact at c: W is the acceleration there by a unit force, in three dimensions.
local function inverse_mass(body, theta, c)
  local x, y, z, sum = c.x, c.y or 0, c.arm, 0
  for axis = 1, 3 do
    local force = { axis == 1 and 1 or 0, axis == 2 and 1 or 0, axis == 3 and 1 or 0 }
    local a = body.turn(theta, { y * force[3] - z * force[2], z * force[1] - x * force[3], x * force[2] - y * force[1] })
    sum = sum + (force[1] / body.mass + a[2] * z - a[3] * y) ^ 2 + (force[2] / body.mass + a[3] * x - a[1] * z) ^ 2 +
      (force[3] / body.mass + a[1] * y - a[2] * x) ^ 2
  end
  return math.sqrt(sum) / 3
end

-- Friction and normal force of one contact in a step dt, by the formulas of [castro-2023] and [castro-2022]: `c` at the start of the step, vt
-- and vn at its end, vn0 at its start, w its inverse mass, `before` its normal force in the step before or nil. Third, the limit of friction.
local function law_force(p, law, dt, w, c, vt, vn, vn0, before)
  if law == "sap" then -- the projection of y on the cone, in the norm of R
    local Rt, Rn = p.sigma * w, math.max((p.beta / (2 * math.pi)) ^ 2 * w, 1 / (dt * p.k * (dt + p.taud)))
    local yt, yn = -vt / Rt, (-c.phi / (dt + p.taud) - vn) / Rn
    if yn < 0 or math.abs(yt) > p.mu * yn then
      local mu_hat = p.mu * Rt / Rn
      yn = math.max(0, (yn + mu_hat * math.abs(yt)) / (1 + p.mu * mu_hat))
      yt = (yt < 0 and -1 or 1) * p.mu * yn
    end
    return yt / dt, yn / dt, p.mu * yn / dt
  end
  local lagged = p.lag == "impulse" and before or p.k * math.max(0, -c.phi) * math.max(0, 1 - p.d * vn0)
  local e = law == "lagged_regularized" and math.max(p.eps, p.sigma * w * p.mu * lagged * dt) or p.eps
  local soft = math.sqrt(vt ^ 2 + e ^ 2)
  local z = law == "similar" and vn - p.mu * (soft - e) or vn
  local fn = p.k * math.max(0, -c.phi - dt * z) * math.max(0, 1 - p.d * z)
  local limit = p.mu * (law == "similar" and fn or lagged)
  return -limit * vt / soft, fn, limit
end

-- How far a step is off the law's formulas and off the balance of momentum [N, N m], and its largest force or limit of friction.
local function scheme_error(p, body, dt, before, now)
  local worst, largest, fx, fz, torque = 0, 0, 0, -g * body.mass, 0
  local belt = body.belt and body.belt(now.t) or 0
  for k, c in ipairs(before.contacts) do
    local ft, fn, limit = 0, 0, 0
    if c.phi <= p.margin then
      ft, fn, limit = law_force(p, p.law, dt, inverse_mass(body, before.theta, c), c, now.vx - now.omega * c.arm - belt, now.vz + now.omega * c.x,
        before.vz + before.omega * c.x, before.steps > 0 and c.fn / body.count or nil)
    end
    local made = now.contacts[k]
    largest = math.max(largest, made.fn, body.count * limit)
    worst = math.max(worst, math.abs(made.ft - body.count * ft), math.abs(made.fn - body.count * fn))
    fx, fz, torque = fx + made.ft, fz + made.fn, torque + c.x * made.fn - c.arm * made.ft
  end
  local function off(by, force) worst = math.abs(by / dt - force) <= worst and worst or math.abs(by / dt - force) end -- NaN stays
  off(body.mass * (now.vx - before.vx), fx)
  off(body.mass * (now.vz - before.vz), fz)
  if body.inertia < math.huge then
    off(body.inertia * (now.omega - before.omega), torque)
  end
  return worst, largest
end

-- The run by p.law with p.dt, logged. Each of its steps is checked.
function planar.run(p, body, visit)
  local run = begin(p, body, p.law, p.dt)
  local columns = columns_of(body)
  columns.values = function()
    local s = run.look()
    local row = { s.t, s.x, s.z, s.theta, s.vx, s.vz, s.omega }
    for _, c in ipairs(s.contacts) do
      table.move({ c.ft, c.fn, c.vt, c.vn, c.phi }, 1, 5, #row + 1, row)
    end
    return table.unpack(row)
  end
  run.world:log(columns)
  local worst, largest, before = 0, 0, nil
  advance(p, body, run, p.dt, function(s, step)
    if step then
      local off, force = scheme_error(p, body, p.dt, before, s)
      worst, largest = off <= worst and worst or off, math.max(largest, force)
    end
    before = s
    visit(s, step)
  end)
  stn.check("each step obeys the law's formulas and Newton's law: off by, over the largest force", { value = largest > 0 and worst / largest or worst,
    limit = 1e-8 }) -- what round-off leaves of similar while it sticks in steps of 50 ms is 2e-9
end

-- -------------------------------------------------------------------------------------------- the continuous model

-- Forces of the model in a state, written into its contacts: spring and Hunt-Crossley damper, regularised friction.
local function model_forces(p, body, list)
  for _, c in ipairs(list) do
    c.fn = body.count * p.k * math.max(0, -c.phi) * math.max(0, 1 - p.d * c.vn)
    c.ft = -p.mu * c.fn * c.vt / math.sqrt(c.vt ^ 2 + p.eps ^ 2)
  end
  return list
end

-- The solution of the continuous model: a function of time that gives a state as `look()` does.
function planar.continuous(p, body)
  if not (p.k < math.huge and p.eps > 0) then
    error("the continuous model needs a finite k and eps > 0", 0)
  end
  local function slope(t, y)
    local fx, fz, torque = 0, -g * body.mass, 0
    for _, c in ipairs(model_forces(p, body, contacts_of(p, body, t, table.unpack(y)))) do
      fx, fz, torque = fx + c.ft, fz + c.fn, torque + c.x * c.fn - c.arm * c.ft
    end
    return { y[4], y[5], y[6], fx / body.mass, fz / body.mass, torque / body.inertia }
  end
  local at = radau.solve(slope, body.start, p.seconds, { relative = 1e-8, absolute = 1e-10 })
  return function(t)
    local y = at(t)
    local state = { t = t, contacts = model_forces(p, body, contacts_of(p, body, t, table.unpack(y))) }
    for i, word in ipairs(words) do state[word] = y[i] end
    return state
  end
end

-- ---------------------------------------------------------------------------------------------------- the study

-- One run of the study against the continuous solution: a row of its table.
local function measure(p, body, law, dt, exact)
  local row = { model = law, dt = dt, max_fn = 0, max_abs_vn = 0, t_first_force = 0 / 0 }
  local square, square_theta, count, last = 0, 0, 0, nil
  planar.watch(p, body, law, dt, function(s, step)
    if step then
      local true_state = exact(math.min(s.t, p.seconds))
      square, count = square + (s.x - true_state.x) ^ 2 + (s.z - true_state.z) ^ 2, count + 1
      square_theta = square_theta + (s.theta - true_state.theta) ^ 2
    end
    last = s
    local fn = 0
    for _, c in ipairs(s.contacts) do
      fn = fn + c.fn
      row.max_fn, row.max_abs_vn = math.max(row.max_fn, c.fn), math.max(row.max_abs_vn, math.abs(c.vn))
    end
    row.t_first_force = fn > 0 and row.t_first_force ~= row.t_first_force and s.t or row.t_first_force
  end)
  row.rms_error_xz, row.rms_error_q = math.sqrt(square / count), math.sqrt((square + square_theta) / count)
  for _, word in ipairs(words) do row[word .. "_T"] = last[word] end
  return row
end

local table_columns = { "model", "dt", "rms_error_xz", "rms_error_q", "x_T", "z_T", "theta_T", "vx_T", "vz_T", "omega_T", "max_fn", "max_abs_vn",
  "t_first_force" }

local function write_table(path, rows)
  local file <close> = assert(io.open(path, "w"))
  assert(file:write(table.concat(table_columns, ","), "\n"))
  for _, row in ipairs(rows) do
    local fields = {}
    for i, name in ipairs(table_columns) do
      fields[i] = type(row[name]) == "number" and ("%.12g"):format(row[name]) or row[name]
    end
    assert(file:write(table.concat(fields, ","), "\n"))
  end
end

-- Runs p.laws with p.dts and writes table and chart. `body_of(law, dt)` is the body of each run. Returns rows
-- by law, with their error in p.norm and their order between a step and the next larger one.
function planar.study(p, body_of, title)
  local laws, dts = planar.compared(p)
  local exact = planar.continuous(p, body_of())
  local rows, by_law, lines = {}, {}, {}
  io.stderr:write(("%-20s %9s %13s %7s %12s %12s\n"):format("law", "dt [s]", "rms error", "order", "force from [s]", "largest [N]"))
  for _, law in ipairs(laws) do
    local own, line = {}, { name = law, x = {}, y = {} }
    for i, dt in ipairs(dts) do
      local row = measure(p, body_of(law, dt), law, dt, exact)
      row.error = row["rms_error_" .. p.norm]
      rows[#rows + 1], own[i], line.x[i], line.y[i] = row, row, dt, row.error
      if i > 1 then
        own[i - 1].order = math.log(row.error / own[i - 1].error) / math.log(dt / own[i - 1].dt)
        stn.result(("order_%s_%g"):format(law, dts[i - 1]), own[i - 1].order)
      end
      stn.result(("error_%s_%g"):format(law, dt), row.error, "m")
      stn.result(("first_force_%s_%g"):format(law, dt), row.t_first_force, "s")
    end
    for _, row in ipairs(own) do
      io.stderr:write(("%-20s %9g %13.5e %7s %14g %12.5g\n"):format(law, row.dt, row.error, row.order and ("%.3f"):format(row.order) or "",
        row.t_first_force, row.max_fn))
    end
    by_law[law], lines[#lines + 1] = own, line
  end
  for _, law in ipairs(laws) do -- errors of all laws over those of the others
    for _, other in ipairs(laws) do
      for i, row in ipairs(law ~= other and by_law[law] or {}) do
        stn.result(("error_%s_over_%s_%g"):format(law, other, row.dt), row.error / by_law[other][i].error)
      end
    end
  end
  if p.table ~= "" then
    write_table(p.table, rows)
  end
  if p.plot ~= "" then
    local label = p.norm == "q" and "rms error of x, z [m] and theta [rad]" or "rms error of x and z [m]"
    chart.write(p.plot, { title = title, x = { label = "dt [s]", log = true }, y = { label = label, log = true }, series = lines })
  end
  return by_law
end

local units = { fn = "N", ft = "N", vn = "m/s", vt = "m/s", vx = "m/s", vz = "m/s", phi = "m", x = "m", z = "m", theta = "rad", omega = "rad/s" }

-- Draws p.show over time, by each law with p.dt and by the continuous model; of several contacts the first.
function planar.draw(p, body_of, title)
  local exact = planar.continuous(p, body_of())
  local lines, continuous = {}, { name = "continuous", x = {}, y = {} }
  local function put(line, s, step) -- the start has no forces yet
    if s.t >= p.from and (step or not p.show:find "^f") then
      line.x[#line.x + 1], line.y[#line.y + 1] = s.t, s[p.show] or s.contacts[1][p.show]
    end
  end
  for _, law in ipairs(planar.compared(p)) do
    local line = { name = law, x = {}, y = {} }
    planar.watch(p, body_of(law, p.dt), law, p.dt, function(s, step) put(line, s, step) end)
    lines[#lines + 1] = line
  end
  for i = 0, 500 do
    put(continuous, exact(p.from + (p.seconds - p.from) * i / 500), i)
  end
  lines[#lines + 1] = continuous
  chart.write(p.plot, { title = title, x = { label = "time [s]" }, y = { label = ("%s [%s]"):format(p.show, units[p.show]) }, series = chart.thinned(lines, 3000) })
end

-- Checks the order of a law between the two smallest steps of a study.
function planar.check_order(rows, law, least, most)
  local order = rows[law] and rows[law][1].order
  if order then
    stn.check(("order of %s at %g s"):format(law, rows[law][1].dt), { value = order, least = least, unit = "1" })
    stn.check(("order of %s at %g s, at most"):format(law, rows[law][1].dt), { value = order, limit = most, unit = "1" })
  end
end

return planar
