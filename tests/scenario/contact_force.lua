-- SPDX-License-Identifier: Apache-2.0
-- Contact forces, apart along the normal and across it, per contact and summed over two sides; stick, slip and its speed.
-- Everything against closed forms and the balance of free bodies.
local stn = require "stiction"
local files <close> = require "files"()

local g = 9.81

local function add(a, b, scale)
  local sum = {}
  for i = 1, 3 do
    sum[i] = a[i] + (scale or 1) * b[i]
  end
  return sum
end

local function norm(a)
  return math.sqrt(a[1] ^ 2 + a[2] ^ 2 + a[3] ^ 2)
end

local function cross(a, b)
  return { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

local zero = { force = { 0, 0, 0 }, normal_part = { 0, 0, 0 }, friction_part = { 0, 0, 0 }, torque = { 0, 0, 0 }, normal_force = 0,
  friction_force = 0, sticking = 0, slipping = 0, slip_speed = 0, glide_gap = 0 }

local function is_zero(force)
  for key, value in pairs(zero) do
    stn.near(force[key], value, 0, key)
  end
end

-- A box of 1 kg, 0.1 m, on a slope, a step away from rest.
local function on_slope(angle, mu, options)
  local world = stn.world(options or { dt = 1e-3, solver = { "sap", tolerance = 1e-10 } })
  local slope = world:ground { name = "slope", rpy = { 0, angle, 0 } }
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, rpy = { 0, angle, 0 },
    xyz = { 0.05 * math.sin(angle), 0, 0.05 * math.cos(angle) } }
  world:contact_material { mu = mu }
  return world, box, slope
end

stn.test("a box that a slope holds: m g cos(angle) along the normal, m g sin(angle) of friction uphill, sticking", function()
  local angle, mu = 0.35, 0.6
  local world, box, slope = on_slope(angle, mu)
  for _ in world:run { seconds = 0.5 } do end
  local force = world:contact_force(box, slope)
  stn.near(force.normal_force, g * math.cos(angle), 1e-6, "normal force")
  stn.near(force.friction_force, g * math.sin(angle), 1e-6, "friction force")
  stn.near(force.force, { 0, 0, g }, 1e-6, "force")
  stn.near(force.normal_part, { g * math.cos(angle) * math.sin(angle), 0, g * math.cos(angle) ^ 2 }, 1e-6, "along the normal")
  stn.near(force.friction_part, { -g * math.sin(angle) * math.cos(angle), 0, g * math.sin(angle) ^ 2 }, 1e-6, "uphill")
  assert(force.sticking == #world:contacts() and force.slipping == 0)
  assert(force.slip_speed <= 1e-3 * mu * world.dt * g, "no faster than the regularisation creeps")
  stn.near(force.glide_gap, 0, 0, "what sticks does not glide")
end)

stn.test("a box that slides down: friction mu m g cos(angle), all contacts slip, at its speed", function()
  local angle, mu = 0.5, 0.3
  local world, box, slope = on_slope(angle, mu)
  for _ in world:run { seconds = 0.5 } do end
  local force = world:contact_force(box, slope)
  -- the law lifts the box as it goes faster: by mu (dt + tau_d) a a second, which is far below g
  stn.near(force.friction_force, mu * force.normal_force, 1e-9, "on the cone")
  stn.near(force.normal_force, g * math.cos(angle), 1e-6, "normal force")
  assert(force.slipping > 0 and force.sticking == 0)
  stn.near(force.slip_speed, box:speed(), 1e-4 * box:speed(), "slip is the box's speed")
end)

stn.test("a force that pulls a box over the floor at a steady speed is that of friction", function()
  local world, box, floor = on_slope(0, 0.4)
  for _ in world:run { seconds = 0.1 } do end
  box:apply_force { force = { 0.4 * g, 0, 0 }, point = { 0, 0, 0 } }
  box:set_velocity { 0.7, 0, 0 }
  for _ in world:run { seconds = 0.2 } do
    box:apply_force { force = { 0.4 * g, 0, 0 }, point = add(box:position(), { 0, 0, -0.05 }) }
  end
  local force = world:contact_force(box, floor)
  stn.near(force.friction_part, { -0.4 * g, 0, 0 }, 1e-6, "friction")
  stn.near(force.slip_speed, 0.7, 1e-9, "slip")
  assert(force.slipping > 0 and force.sticking == 0)
  stn.near(world:contact_force(floor).force, add({ 0, 0, 0 }, force.force, -1), 1e-12, "the floor feels the opposite")
end)

stn.test("on a belt the slip is that of the surfaces past each other, and none once the box goes along", function()
  local world = stn.world { dt = 2e-3, solver = { "sap", tolerance = 1e-10 } }
  local belt = world:box { name = "belt", fixed = true, size = { 8, 1, 0.2 }, xyz = { 0, 0, -0.1 }, surface_velocity = { 2, 0, 0 } }
  local box = world:box { size = { 0.2, 0.2, 0.1 }, mass = 1, xyz = { -1, 0, 0.05 } }
  world:contact_material { mu = 0.5 }
  for _ in world:run { seconds = 0.2 } do end
  local force = world:contact_force(box, belt)
  stn.near(force.slip_speed, 2 - box:velocity().linear[1], 1e-6, "behind the belt")
  stn.near(force.friction_part, { 0.5 * force.normal_force, 0, 0 }, 1e-9, "pulled along")
  stn.near(force.normal_force, g, 5e-3, "normal force")
  assert(force.slipping > 0 and force.sticking == 0)
  for _ in world:run { seconds = 0.5 } do end
  force = world:contact_force(box, belt)
  stn.near(force.force, { 0, 0, g }, 1e-6, "goes along")
  assert(force.slipping == 0 and force.sticking == 4 and force.slip_speed < 1e-9)
end)

-- A box that may only rise, on a belt below it: the slip is the belt's speed.
local lift = files:write(".urdf", [[<robot name="lift"><link name="world"/>
  <link name="box"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="z" type="prismatic"><parent link="world"/><child link="box"/><origin xyz="0 0 0.05"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>]])

stn.test("the glide gap that a law tells is the height at which the slipping box rides over one that sticks", function()
  local mu, dt, tau, k = 0.5, 2e-3, 5e-3, 1e6
  for law, per_speed in pairs { sap = mu * (dt + tau), similar = mu * dt, lagged = 0 } do
    local function ride(speed)
      local world = stn.world { dt = dt, law = law, solver = { "sap", tolerance = 1e-12 } }
      local belt = world:box { size = { 1, 1, 0.1 }, xyz = { 0, 0, -0.05 }, fixed = true, surface_velocity = { speed, 0, 0 } }
      local box = world:load { lift }
      world:contact_material { mu = mu, relaxation_time = tau, stiffness = k }
      for _ in world:run { seconds = 1 } do end
      return world:joint("z"):position(), world:contact_force(box, belt)
    end
    local rest, still = ride(0)
    stn.near(rest, -9.81 / (4 * k), 1e-8, "overlap at rest on four corners")
    assert(still.sticking == 4 and still.glide_gap == 0)
    for _, speed in ipairs { 0.1, 0.8 } do
      local height, force = ride(speed)
      stn.near(force.glide_gap, per_speed * speed, per_speed * 1e-4, law .. ": glide gap in closed form") -- soft norms: less v_s
      stn.near(force.glide_gap, height - rest, 1e-8, law .. ": measured")
      stn.near(force.slip_speed, speed, 1e-12, "slip")
      stn.near(force.friction_force, mu * 9.81, 1e-5, "friction") -- soft norms: 1 - (v_s/speed)^2/2 of it
      assert(force.slipping == 4 and force.sticking == 0)
    end
  end
end)

-- Two boxes on each other, the upper one pulled.
local function stack()
  local world = stn.world { dt = 2e-3, solver = { "sap", tolerance = 1e-12 } }
  local floor = world:ground { name = "floor" }
  local lower = world:box { name = "lower", size = { 0.3, 0.3, 0.1 }, mass = 3, xyz = { 0, 0, 0.05 } }
  local upper = world:box { name = "upper", size = { 0.1, 0.1, 0.1 }, mass = 2, xyz = { 0.02, 0.01, 0.15 } }
  world:contact_material { mu = 0.5 }
  return world, floor, lower, upper
end

stn.test("pairs and bodies: forces are opposite, add up, and with gravity make each body's acceleration and turn", function()
  local world, floor, lower, upper = stack()
  local mass = { [lower] = 3, [upper] = 2 }
  local pull = { 6, 1, 0 }
  upper:apply_force { force = pull }
  for step = 1, 120 do
    if step == 60 then -- from a stack at rest into one that tumbles
      pull = { 30, -4, 5 }
      upper:apply_force { force = pull }
    end
    local before = { [lower] = lower:velocity().linear, [upper] = upper:velocity().linear }
    world:step()
    local on_upper, on_lower = world:contact_force(upper), world:contact_force(lower)
    local by_lower, by_floor = world:contact_force(upper, lower), world:contact_force(lower, floor)
    stn.near(add(world:contact_force(lower, upper).force, by_lower.force), { 0, 0, 0 }, 1e-12, "action and reaction")
    stn.near(add(by_lower.force, world:contact_force(upper, floor).force), on_upper.force, 1e-12, "sum over the others")
    stn.near(add(by_floor.force, by_lower.force, -1), on_lower.force, 1e-12, "sum over the others")
    stn.near(add(on_upper.normal_part, on_upper.friction_part), on_upper.force, 1e-12, "parts")
    for body, applied in pairs { [upper] = pull, [lower] = { 0, 0, 0 } } do
      local force = add(add(world:contact_force(body).force, applied), { 0, 0, -mass[body] * g })
      local change = add(body:velocity().linear, before[body], -1)
      for i = 1, 3 do
        stn.near(force[i], mass[body] * change[i] / world.dt, 1e-9 * mass[body] * g, "m a of " .. body.name)
      end
    end
  end
end)

stn.test("the torque is that of the contacts' forces about the point, and zero about the centre of a box at rest", function()
  local world, floor, lower, upper = stack()
  for _ in world:run { seconds = 0.4 } do end
  local point, sum = { 0.3, -0.2, 0.1 }, { 0, 0, 0 }
  for _, contact in ipairs(world:contacts()) do
    local sign = contact.b == "upper" and 1 or contact.a == "upper" and -1 or 0
    sum = add(sum, cross(add(contact.point, point, -1), contact.force), sign)
  end
  assert(norm(sum) > 1)
  stn.near(world:contact_force(upper, nil, { point = point }).torque, sum, 1e-12, "torque")
  stn.near(world:contact_force(upper, lower, { point = upper:position() }).torque, { 0, 0, 0 }, 1e-5, "at rest")
  stn.near(world:contact_force(upper).torque, cross(upper:position(), { 0, 0, 2 * g }), 1e-5, "about the origin")
  stn.near(world:contact_force(floor).force, { 0, 0, -5 * g }, 1e-5, "the floor carries both")
end)

stn.test("a contact tells force and impulse, the parts of both, and its state", function()
  local world = stack()
  for step in world:run { seconds = 0.1 } do
    for _, contact in ipairs(step:contacts()) do
      stn.near(contact.force, add({ 0, 0, 0 }, contact.impulse, 1 / world.dt), 1e-12, "force")
      stn.near(contact.normal_force, contact.normal_impulse / world.dt, 1e-12, "normal force")
      stn.near(contact.friction_force, contact.friction_impulse / world.dt, 1e-12, "friction force")
      stn.near(contact.normal_part, add({ 0, 0, 0 }, contact.normal, contact.normal_force), 1e-12, "along the normal")
      stn.near(add(contact.force, contact.normal_part, -1), contact.friction_part, 1e-12, "across it")
      assert((contact.state == "open") == (contact.normal_impulse == 0), contact.state)
    end
  end
end)

stn.test("solvers without a law: the cone tells what sticks and slips, and nothing glides", function()
  local angle = 20 * stn.deg
  for mu, slips in pairs { [0.5] = false, [0.3] = true } do
    local world, box = on_slope(angle, mu, { dt = 1e-3, solver = { "bisection", tolerance = 1e-10 } })
    for _ in world:run { seconds = 0.2 } do end
    local force, count = world:contact_force(box), 0
    stn.near(force.normal_force, g * math.cos(angle), 1e-5, "normal force")
    stn.near(force.friction_force, math.min(math.tan(angle), mu) * force.normal_force, 1e-5, "friction force")
    for _, contact in ipairs(world:contacts()) do
      count = count + (contact.state == "open" and 0 or 1)
    end
    stn.near(slips and force.slipping or force.sticking, count, 0, "all of them")
    stn.near(force.slip_speed, slips and box:speed() or 0, 1e-9, "slip")
    stn.near(force.glide_gap, 0, 0, "glide gap")
  end
end)

stn.test("with true stiction a box on a slope sticks without slip", function()
  local world, box = on_slope(0.35, 0.6, { dt = 1e-3, stiction = true, solver = { "sap", tolerance = 1e-10 } })
  for _ in world:run { seconds = 0.5 } do end
  local force = world:contact_force(box)
  stn.near(force.friction_force, g * math.sin(0.35), 1e-6, "friction force")
  stn.near(force.slip_speed, 0, 1e-10, "slip")
  assert(force.sticking == #world:contacts() and force.slipping == 0 and force.glide_gap == 0)
end)

stn.test("a table has the forces of every body, and of a pair by its declared columns", function()
  local world, _, lower, upper = stack()
  local all, pair = files:path ".csv", files:path ".csv"
  world:log { "normal_N", "friction_N", "slip_speed_m/s", values = function()
    local force = world:contact_force(upper, lower)
    return force.normal_force, force.friction_force, force.slip_speed
  end }
  world:record(all, { "csv", columns = "all", forces = true, coordinates = false })
  world:record(pair)
  upper:apply_force { force = { 30, 0, 0 } }
  for _ in world:run { steps = 20 } do end
  world:close_recordings()
  local function last_row(path)
    local names, row, values = nil, nil, {}
    for line in io.lines(path) do
      names, row = names or line, line
    end
    os.remove(path .. ".parameters")
    local next_value = row:gmatch "[^,]+"
    for name in names:gmatch "[^,]+" do
      values[name] = tonumber(next_value())
    end
    return values
  end
  local row, force = last_row(all), world:contact_force(upper)
  for name, value in pairs { normal_N = force.normal_force, friction_N = force.friction_force, sticking = force.sticking,
      slipping = force.slipping, ["slip_speed_m/s"] = force.slip_speed, glide_gap_m = force.glide_gap } do
    stn.near(row["contact[upper/upper]." .. name], value, 0, name)
  end
  stn.near(row["contact[lower/lower].normal_N"], world:contact_force(lower).normal_force, 0, "of the other body")
  assert(row["contact[upper/upper].slipping"] > 0)
  stn.near(last_row(pair)["friction_N"], world:contact_force(upper, lower).friction_force, 0, "of the pair")
end)

stn.test("zero before the first step, after the contact is gone, after a reset", function()
  local world, box, slope = on_slope(0, 0.5)
  is_zero(world:contact_force(box, slope))
  for _ in world:run { seconds = 0.1 } do end
  stn.near(world:contact_force(box).force, { 0, 0, g }, 1e-6, "weight")
  local snapshot = world:snapshot()
  box:apply_force { force = { 0, 0, 3 * g } }
  for _ in world:run { seconds = 0.1 } do end
  is_zero(world:contact_force(box))
  box:apply_force {}
  world:restore(snapshot)
  is_zero(world:contact_force(box, slope))
  world:step()
  stn.near(world:contact_force(box).force, { 0, 0, g }, 1e-6, "weight")
  world:reset()
  is_zero(world:contact_force(box, slope))
end)

-- A base on the floor; on it a ball that may slide with a carriage of the base and along z.
local press = files:write(".urdf", [[<robot name="press">
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><box size="1 1 0.1"/></geometry></collision></link>
  <link name="carriage"><inertial><mass value="0.1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="ball"><inertial><mass value="0.5"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="carriage"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="z" type="prismatic"><parent link="carriage"/><child link="ball"/><origin xyz="0 0 0.15"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>]])

stn.test("what links of one robot do to each other is inside of it, and told for the links", function()
  local world = stn.world { solver = { "sap", tolerance = 1e-10 } }
  local floor = world:ground {}
  local robot = world:load { press, base = { xyz = { 0, 0, 0.05 } } }
  for _ in world:run { seconds = 0.5 } do end
  stn.near(world:contact_force(robot).force, { 0, 0, 2.6 * g }, 1e-6, "the floor carries all")
  stn.near(world:contact_force(robot, floor).force, { 0, 0, 2.6 * g }, 1e-6, "the floor carries all")
  stn.near(world:contact_force({ robot, "ball" }, "press/base").force, { 0, 0, 0.5 * g }, 1e-6, "the base carries the ball")
  stn.near(world:contact_force(robot:link "base").force, { 0, 0, 2.1 * g }, 1e-6, "and the floor the base, less the ball")
  assert(#world:contacts() > world:contact_force(robot).sticking)
end)

stn.test("bad sides and options are told in a line", function()
  local world, box, slope = on_slope(0, 0.5)
  local other = stn.world {}:sphere { radius = 1 }
  local cases = {
    { nil, text = "name links by a group" }, { 3, text = "name links by a group" }, { "bax", text = "no link 'bax', did you mean 'box'" },
    { box, box, text = "link 'box' is on both sides" }, { box, other, text = "belongs to another world" },
    { box, slope, { pont = { 0, 0, 0 } }, text = "unknown key 'pont', did you mean 'point'" },
    { box, slope, { point = { 0, 0 / 0, 0 } }, text = "point" }, { box, slope, 5, text = "table" },
    { box, { 1, 2, 3 }, text = "got a table that begins with number" }, { box, { point = { 0, 0, 0 } }, text = "got a table that begins with nil" },
  }
  for _, case in ipairs(cases) do
    local message = stn.fails(function()
      world:contact_force(case[1], case[2], case[3])
    end, case.text)
    assert(message:match "^[^\n]*contact_force%.lua:%d+: " and not message:find "\n", message)
  end
  world:close()
  stn.fails(function()
    world:contact_force(box)
  end, "closed")
end)
