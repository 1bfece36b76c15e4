-- SPDX-License-Identifier: Apache-2.0
-- Quasistatic steps beside what the other files hold: limits of joints, commands out of reach, closed loops, every kind of joint,
-- constraints, slopes, belts, trays and cups, against closed forms and for mass scales, steps and solvers of all sizes.
local stn = require "stiction"
local files <close> = require "files"()

local g = 9.81
local singular = { "qp", "sap", "admm_split" }

--- Makes steps, and counts those that say that they converged; did all?
local tries, solved = 0, 0
local function steps(world, count, before)
  local first = solved
  for k = 1, count do
    if before then before(k) end
    tries, solved = tries + 1, solved + (world:step().converged and 1 or 0)
  end
  return solved == first + count
end

--- Worlds by mass scale, step and solver. What weighs on a spring of stiffness k follows with s m/(s m + dt^2 k) a step: scales and
--- steps are those of which a few steps show where things end.
local function each(f, solvers)
  tries, solved = 0, 0
  for _, cell in ipairs { { 0, 1e-3 }, { 0, 0.1 }, { 0, 0.4 }, { 1e-3, 0.1 }, { 1e-3, 0.4 }, { 1, 0.4 } } do
    for _, solver in ipairs(solvers or { "qp", "sap", "admm_split", "lemke", "newton_ncp" }) do
      local scale, dt = table.unpack(cell)
      if scale > 0 or solver ~= "lemke" and solver ~= "newton_ncp" then
        -- tolerances are relative to how fast things would fall: g dt/s
        local world <close> = stn.world { dt = dt, solver = { solver, tolerance = scale > 0 and 1e-10 or nil },
          integrator = { "quasistatic", unactuated_mass_scale = scale } }
        f(world, ("%s, mass scale %g, dt = %g s"):format(solver, scale, dt), scale)
      end
    end
  end
  assert(solved >= 0.85 * tries, ("%d of %d steps converged"):format(solved, tries))
end

local function link(name, mass, at, shape)
  return ('<link name="%s"><inertial><origin xyz="%s"/><mass value="%g"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial>%s</link>')
    :format(name, at or "0 0 0", mass, shape or "")
end

local function joint(name, kind, parent, child, axis, origin, more)
  return ('<joint name="%s" type="%s"><parent link="%s"/><child link="%s"/><origin xyz="%s"/><axis xyz="%s"/>'
    .. '<limit lower="-1" upper="1" effort="1000" velocity="10"/>%s</joint>'):format(name, kind, parent, child, origin or "0 0 0", axis, more or "")
end

local ball = '<collision><geometry><sphere radius="0.03"/></geometry></collision>'
local plate = '<collision><geometry><box size="0.3 0.3 0.02"/></geometry></collision>'
local lift = files:write(".urdf", '<robot name="lift"><link name="base"/>' .. link("column", 0.5) .. link("tray", 0.5, nil, plate)
  .. joint("z", "prismatic", "base", "column", "0 0 1") .. joint("x", "prismatic", "column", "tray", "1 0 0") .. "</robot>")

-- ------------------------------------------------------------------------------------------------- limits and commands

stn.test("a joint stops at its limit in one step, whatever holds it and however far the command is", function()
  for _, damping in ipairs { 0, 2 } do
    local file = files:write(".urdf", '<robot name="slider"><link name="base"/>' .. link("a", 0.5)
      .. joint("x", "prismatic", "base", "a", "1 0 0", nil, ('<dynamics damping="%g"/>'):format(damping)) .. "</robot>")
    for _, limited in ipairs { true, false } do
      each(function(world, what)
        local robot = world:load { file, fixed = true }
        world:set_gravity { 0, 0, 0 }
        local motor = world:controller { "joint_pd", target = robot, kp = 1000, kd = 0, effort_limits = limited }
        for _, command in ipairs { 2, -3, 1.5 } do
          motor:set { position = { command } }
          local x = steps(world, 1) and robot:q()[1] or 0
          assert(math.abs(x) < 1.001, ("%s, damping %g, limited %s: at %g m"):format(what, damping, limited, x))
        end
      end)
    end
  end
end)

stn.test("a command that is out of reach is followed, or said not to be", function()
  local file = files:write(".urdf", '<robot name="free"><link name="base"/>' .. link("a", 0.5, nil, ball) .. joint("x", "continuous", "base", "a", "1 0 0") .. "</robot>")
  each(function(world, what, scale)
    if scale > 0 then return end -- resists the motion
    local robot = world:load { file, fixed = true }
    world:set_gravity { 0, 0, 0 }
    local motor = world:controller { "joint_pd", target = robot, kp = 1000, kd = 0 }
    for _, command in ipairs { 1e3, -1e6, 1e12, -1e300 } do
      motor:set { position = { command } }
      local made, step = pcall(function() return world:step() end)
      assert(made or step:find("group free, joint x", 1, true) or step:find("too far away, too fast", 1, true), step)
      local x = robot:q()[1]
      assert(not made or not step.converged or math.abs(x - command) < 1e-3 * math.abs(command), ("%s: %g for %g"):format(what, x, command))
    end
  end)
end)

-- ------------------------------------------------------------------------------------------------------- loops and joints

--- Angles of coupler and rocker of a four-bar linkage in a plane for one of its crank; bars of 0.1, 0.3, 0.2 m, 0.25 m between pivots.
local function four_bar(crank)
  local px, py = 0.1 * math.cos(crank), 0.1 * math.sin(crank)
  local dx, dy = 0.25 - px, -py
  local d = math.sqrt(dx * dx + dy * dy)
  local along = (0.3 ^ 2 - 0.2 ^ 2 + d * d) / (2 * d)
  local up = math.sqrt(0.3 ^ 2 - along ^ 2)
  local qx, qy = px + (along * dx - up * dy) / d, py + (along * dy + up * dx) / d
  return math.atan(qy - py, qx - px) - crank, math.atan(qy, qx - 0.25)
end

stn.test("a four-bar linkage goes where its crank is told, carries its weight, and rests", function()
  local text = '<robot name="loop"><link name="base"/>' .. link("crank", 0.2, "0.05 0 0") .. link("coupler", 0.3, "0.15 0 0")
    .. link("rocker", 0.3, "0.1 0 0") .. joint("c", "revolute", "base", "crank", "0 0 1") .. joint("k", "revolute", "crank", "coupler", "0 0 1", "0.1 0 0")
    .. joint("r", "revolute", "base", "rocker", "0 0 1", "0.25 0 0") .. "</robot>"
  local file = files:write(".urdf", (text:gsub('lower="%-1" upper="1"', 'lower="-4" upper="4"')))
  local function potential(crank) -- of gravity along -y
    local coupler, rocker = four_bar(crank)
    return g * (0.2 * 0.05 * math.sin(crank) + 0.3 * (0.1 * math.sin(crank) + 0.15 * math.sin(crank + coupler)) + 0.3 * 0.1 * math.sin(rocker))
  end
  for _, weight in ipairs { 0, 1 } do
    for _, limited in ipairs { true, false } do
      each(function(world, what)
        local coupler, rocker = four_bar(0.5)
        local robot = world:load { file, fixed = true, joints = { c = 0.5, k = coupler, r = rocker } }
        world:constraint { "ball", a = { robot, "coupler" }, b = { robot, "rocker" }, a_point = { 0.3, 0, 0 }, b_point = { 0.2, 0, 0 } }
        world:set_gravity { 0, -g * weight, 0 }
        local motor = world:controller { "joint_pd", target = robot, joints = { "c" }, kp = 50, kd = 0, effort_limits = limited }
        local all = steps(world, 30, function(k) motor:set { position = { 0.5 + math.min(k, 10) * 0.02 } } end)
        assert(all, what)
        local crank = robot:joint "c":position()
        local _, wanted = four_bar(crank)
        local load = weight * (potential(crank + 1e-5) - potential(crank - 1e-5)) / 2e-5
        stn.near(robot:joint "r":position(), wanted, 1e-4, what .. ": rocker")
        stn.near(50 * (0.7 - crank), load, 1e-4, what .. ": torque of the motor [N m]")
      end, { "qp", "sap", "newton_ncp" }) -- admm_split and lemke give up in some steps, and say so
    end
  end
end)

stn.test("planar, universal and screw joints carry their loads", function()
  local function sdf(kind, more)
    return files:write(".sdf", ([[<?xml version="1.0"?><sdf version="1.9"><model name="m"><link name="base"/><link name="a"><inertial><pose>0.2 0 0 0 0 0</pose><mass>1</mass>
      <inertia><ixx>1e-3</ixx><iyy>1e-3</iyy><izz>1e-3</izz></inertia></inertial></link><joint name="x" type="%s"><parent>base</parent><child>a</child>
      <axis><xyz>0 1 0</xyz></axis>%s</joint></model></sdf>]]):format(kind, more or ""))
  end
  local planar = files:write(".urdf", '<robot name="m"><link name="base"/>' .. link("a", 1, "0.2 0 0") .. joint("x", "planar", "base", "a", "0 1 0") .. "</robot>")
  for _, file in ipairs { planar, sdf("universal", "<axis2><xyz>0 0 1</xyz></axis2>"), sdf("screw", "<screw_thread_pitch>0.1</screw_thread_pitch>") } do
    each(function(world, what)
      local robot = world:load { file, fixed = true }
      world:set_gravity { 1, 2, -g }
      world:controller { "joint_pd", target = robot, kp = 100, kd = 0, effort_limits = false }
      steps(world, 12)
      local rest = {}
      for i = 1, #robot:v() do rest[i] = 0 end
      robot:set_v(rest)
      local q = robot:q()
      for i, load in ipairs(robot:bias()) do -- of gravity alone, at rest
        stn.near(100 * q[i], -load, 1e-9, ("%s, %s: coordinate %d"):format(what, robot:joint "x".type, i))
      end
    end, singular)
  end
end)

-- ----------------------------------------------------------------------------------------------------------- constraints

stn.test("what hangs on springs, bushings, welds and ropes hangs where they balance its weight", function()
  local k, m = 500, 2
  local held = {
    spring = { b_point = { 0, 0, 2 }, stiffness = k },
    distance = { b_point = { 0, 0, 2 }, length = 1, stiffness = k },
    weld = { b_pose = { xyz = { 0, 0, 1 } }, stiffness = k, angular_stiffness = 10 },
    bushing = { b_pose = { xyz = { 0, 0, 1 } }, force_stiffness = { k, k, k }, torque_stiffness = { 10, 10, 10 } },
  }
  for kind, keys in pairs(held) do
    each(function(world, what)
      local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = m, xyz = { 0, 0, 1 } }
      local request = { kind, a = box }
      for key, value in pairs(keys) do request[key] = value end
      world:constraint(request)
      assert(steps(world, 4), what)
      stn.near(box:position()[3], 1 - m * g / k, 1e-6, ("%s, %s"):format(kind, what))
    end)
  end
  each(function(world, what)
    world:ground {}
    local light = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 1 } }
    local heavy = world:box { size = { 0.1, 0.1, 0.1 }, mass = 3, xyz = { 1, 0, 0.05 } }
    local rope = world:constraint { "tendon", stiffness = 1e4, path = { { light, { 0, 0, 0 } }, { "world", { 0, 0, 2 } }, { "world", { 1, 0, 2 } }, { heavy, { 0, 0, 0 } } } }
    steps(world, 2)
    stn.near(rope:force(), -g, 1e-4, what .. ": rope [N]")
    stn.near(world:contact_force(heavy).force[3], 2 * g, 2e-3, what .. ": ground [N]")
  end)
end)

stn.test("a cup lifts what it can and drops what it cannot, a weld carries aside", function()
  for _, limited in ipairs { true, false } do
    each(function(world, what)
      world:ground {}
      local robot = world:load { lift, fixed = true, base = { xyz = { 0, 0, 0.11 } } }
      local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
      world:disable_collisions(robot, box)
      local hold = world:constraint(what:find "sap" and { "weld_at_runtime", a = { robot, "tray" }, b = box }
        or { "suction", a = { robot, "tray" }, any_of = { box }, a_pose = { xyz = { 0, 0, -0.01 }, rpy = { math.pi, 0, 0 } }, force = 60, radius = 0.02, mu = 0.6 })
      local motors = world:controller { "joint_pd", target = robot, kp = 1000, kd = 0, gravity_compensation = true, effort_limits = limited }
      steps(world, 8, function(k)
        if k == 2 then hold:attach() end
        motors:set { position = { 0.02 * math.max(0, k - 3), 0.01 * math.max(0, k - 3) } }
      end)
      stn.near(box:position()[3], 0.05 + 0.1 - g / 1000, 1e-3, what .. ": height")
      stn.near(box:position()[1], 0.05, 1e-3, what .. ": aside")
    end, singular)
  end
  each(function(world, what)
    world:ground {}
    local robot = world:load { lift, fixed = true, base = { xyz = { 0, 0, 0.11 } } }
    local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 8, xyz = { 0, 0, 0.05 } }
    world:disable_collisions(robot, box)
    local cup = world:constraint { "suction", a = { robot, "tray" }, any_of = { box }, a_pose = { xyz = { 0, 0, -0.01 }, rpy = { math.pi, 0, 0 } }, force = 60,
      radius = 0.02, mu = 0.6, attached = true }
    local motors = world:controller { "joint_pd", target = robot, kp = 1000, kd = 0, gravity_compensation = true }
    steps(world, 12, function(k) motors:set { position = { 0.02 * k, 0 } } end)
    assert(cup:get "why" == "force", what)
    stn.near(box:position()[3], 0.05, 1e-3, what)
  end, singular)
end)

-- --------------------------------------------------------------------------------------------------------------- contact

stn.test("a box holds on a slope of 0.99 of the friction limit and slides by g dt^2 (sin - mu cos)/s on one of 1.01", function()
  local mu, count = 0.5, 3
  for _, share in ipairs { 0.99, 1.01 } do
    each(function(world, what, scale)
      local angle = math.atan(share * mu)
      world:box { name = "ramp", fixed = true, size = { 4, 4, 0.1 }, rpy = { 0, angle, 0 }, mu = mu }
      local box = world:box { name = "crate", size = { 0.2, 0.2, 0.1 }, mass = 1, mu = mu, rpy = { 0, angle, 0 }, xyz = { 0.1 * math.sin(angle), 0, 0.1 * math.cos(angle) } }
      local start = box:position()[1] / math.cos(angle)
      local slide = share > 1 and scale > 0 and count * g * (math.sin(angle) - mu * math.cos(angle)) * world.dt ^ 2 / scale or 0
      if slide > 1 then return end -- off the ramp
      local made, text = pcall(steps, world, count)
      if share > 1 and scale == 0 then -- nothing but an end of it is right; what gives up says so
        assert(not made and text:find("group crate", 1, true), what .. ": " .. tostring(text))
      else
        assert(made, text)
        stn.near(box:position()[1] / math.cos(angle) - start, slide, math.max(3e-5, 0.02 * slide), what)
      end
    end, { "qp", "sap", "lemke", "newton_ncp" })
  end
end)

stn.test("belts, trays of robots and of kinematic bodies carry what lies on them, in steps of any length", function()
  each(function(world, what, scale)
    if scale > 1e-3 then return end -- resists
    local dt = world.dt
    world:box { size = { 20, 1, 0.1 }, fixed = true, surface_velocity = { 0.05 / dt, 0, 0 }, xyz = { 0, 3, -0.05 } }
    local parcel = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 3, 0.05 } }
    local moving = world:box { size = { 1, 1, 0.1 }, mass = 1, xyz = { 0, 0, -0.05 } }
    moving:kinematic(function(t) return { xyz = { 0.02 / dt * t, 0, -0.05 + 0.01 / dt * t } } end)
    local rider = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
    local robot = world:load { lift, fixed = true, base = { xyz = { 0, -3, 0.2 } } }
    local load = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, -3, 0.26 } }
    local motors = world:controller { "joint_pd", target = robot, kp = 1000, kd = 0, gravity_compensation = true, effort_limits = false }
    assert(steps(world, 4, function(k) motors:set { position = { 0.02 * k, 0.01 * k } } end) or what:find "admm", what)
    stn.near(parcel:position(), { 0.2, 3, 0.05 }, 1e-3, what .. ": belt")
    stn.near(rider:position(), { 0.08, 0, 0.09 }, 1e-3, what .. ": kinematic tray")
    stn.near(load:position(), { 0.04, -3, 0.34 - g / 1000 }, 1e-3, what .. ": tray of a robot")
  end, { "qp", "sap", "admm_split", "lemke" })
end)
