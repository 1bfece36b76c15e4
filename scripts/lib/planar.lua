-- SPDX-License-Identifier: Apache-2.0
-- One body that moves in the plane x (right), z (up) and touches the ground z = 0 at few points: the two-dimensional cases of
-- [castro-2023], section IX. A case describes its body; here are its parameters, its world, what is logged of it, the
-- continuous model that the laws stand for, and the study of how they converge to it. Angles are counter-clockwise.
--
-- A body: { mass, inertia (math.huge: it cannot turn), start = { x, z, theta, vx, vz, omega }, build = function(world) -> link,
--   lowest = function(theta) -> list of { x, z }, the points that touch relative to the centre of mass,
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
    study = false,  -- laws and steps below against the continuous solution, instead of one run
    laws = "sap,lagged,similar",
    table = "",     -- a CSV file for the rows of the study
    plot = "",      -- an SVG file: errors of the study; without it `show` of all `laws` over time, from `from` on
    show = stn.choice { "fn", "ft", "vn", "vt", "phi", "x", "z", "theta", "vx", "vz", "omega" },
    from = 0.0,     -- [s]
  }
  for name, value in pairs(own) do declared[name] = value end
  return stn.params(declared)
end

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
      law == "lagged_regularized" and { law, stiction_tolerance = p.eps, sigma = p.sigma, lag = "gap" } or
      { law, stiction_tolerance = p.eps, lag = law == "lagged" and "gap" or nil }, -- as published
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

-- The run by p.law with p.dt, logged.
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
  advance(p, body, run, p.dt, visit)
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
  local sum, count, last = 0, 0, nil
  planar.watch(p, body, law, dt, function(s, step)
    if step then
      local true_state = exact(math.min(s.t, p.seconds))
      sum, count = sum + (s.x - true_state.x) ^ 2 + (s.z - true_state.z) ^ 2, count + 1
    end
    last = s
    local fn = 0
    for _, c in ipairs(s.contacts) do
      fn = fn + c.fn
      row.max_fn, row.max_abs_vn = math.max(row.max_fn, c.fn), math.max(row.max_abs_vn, math.abs(c.vn))
    end
    row.t_first_force = fn > 0 and row.t_first_force ~= row.t_first_force and s.t or row.t_first_force
  end)
  row.rms_error_xz = math.sqrt(sum / count)
  for _, word in ipairs(words) do row[word .. "_T"] = last[word] end
  return row
end

local table_columns = { "model", "dt", "rms_error_xz", "x_T", "z_T", "theta_T", "vx_T", "vz_T", "omega_T", "max_fn", "max_abs_vn",
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
-- by law, with their order between a step and the next larger one.
function planar.study(p, body_of, title)
  local laws, dts = planar.compared(p)
  local exact = planar.continuous(p, body_of())
  local rows, by_law, lines = {}, {}, {}
  io.stderr:write(("%-20s %9s %13s %7s %12s %12s\n"):format("law", "dt [s]", "rms error [m]", "order", "force from [s]", "largest [N]"))
  for _, law in ipairs(laws) do
    local own, line = {}, { name = law, x = {}, y = {} }
    for i, dt in ipairs(dts) do
      local row = measure(p, body_of(law, dt), law, dt, exact)
      rows[#rows + 1], own[i], line.x[i], line.y[i] = row, row, dt, row.rms_error_xz
      if i > 1 then
        own[i - 1].order = math.log(row.rms_error_xz / own[i - 1].rms_error_xz) / math.log(dt / own[i - 1].dt)
        stn.result(("order_%s_%g"):format(law, dts[i - 1]), own[i - 1].order)
      end
      stn.result(("error_%s_%g"):format(law, dt), row.rms_error_xz, "m")
    end
    for _, row in ipairs(own) do
      io.stderr:write(("%-20s %9g %13.5e %7s %14g %12.5g\n"):format(law, row.dt, row.rms_error_xz,
        row.order and ("%.3f"):format(row.order) or "", row.t_first_force, row.max_fn))
    end
    by_law[law], lines[#lines + 1] = own, line
  end
  if p.table ~= "" then
    write_table(p.table, rows)
  end
  if p.plot ~= "" then
    chart.write(p.plot, { title = title, x = { label = "dt [s]", log = true }, y = { label = "rms error of the position [m]", log = true },
      series = lines })
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
  chart.write(p.plot, { title = title, x = { label = "time [s]" }, y = { label = ("%s [%s]"):format(p.show, units[p.show]) }, series = lines })
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
