-- SPDX-License-Identifier: Apache-2.0
-- Quasistatic steps of robots and objects against closed forms, for steps of any length; what has no balance is named.
local stn = require "stiction"
local files <close> = require "files"()

local function link(name)
  return ('<link name="%s"><inertial><mass value="0.5"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>'):format(name)
end

local function joint(name, kind, parent, child, axis, more)
  return ('<joint name="%s" type="%s"><parent link="%s"/><child link="%s"/><origin xyz="0 0 0.1"/><axis xyz="%s"/>'
    .. '<limit lower="-1" upper="1" effort="1000" velocity="10"/>%s</joint>'):format(name, kind, parent, child, axis, more or "")
end

local slider = files:write(".urdf", '<robot name="slider"><link name="base"/>' .. link "a" .. joint("x", "prismatic", "base", "a", "1 0 0") .. "</robot>")
local weak = files:write(".urdf", '<robot name="weak"><link name="base"/>' .. link "a"
  .. joint("x", "prismatic", "base", "a", "1 0 0"):gsub("1000", "5") .. "</robot>")
local pair = files:write(".urdf", '<robot name="pair"><link name="base"/>' .. link "a" .. link "b" .. joint("x", "prismatic", "base", "a", "1 0 0")
  .. joint("y", "prismatic", "base", "b", "1 0 0", '<mimic joint="x" multiplier="-2" offset="0.1"/>') .. "</robot>")
local damped = files:write(".urdf", '<robot name="damped"><link name="base"/>' .. link "a"
  .. joint("x", "prismatic", "base", "a", "1 0 0", '<dynamics damping="3"/>') .. "</robot>")

local steps = { 1e-4, 1e-3, 0.1, 1, 1e3 }
local able = { "sap", "qp", "admm_split", "admm_split_ncp", "admm", "admm_ncp" } -- of those that take singular A

--- Makes a step. False where a method of first order gave up and said so: nothing is right or wrong then.
local tries, gave_up = {}, {}
local function solved(world, solver)
  local converged = world:step().converged
  assert(converged or solver:find "^admm", "the step did not converge")
  tries[solver] = (tries[solver] or 0) + 1
  gave_up[solver] = (gave_up[solver] or 0) + (converged and 0 or 1)
  return converged
end

local function make(dt, solver, gravity)
  return stn.world { dt = dt, solver = solver, gravity = gravity or { 0, 0, 0 }, integrator = "quasistatic" }
end

--- A robot of these files with a motor on its joint x.
local function driven(world, file, motor)
  local robot = world:load { file, fixed = true }
  local request = { "joint_pd", target = robot, joints = { "x" }, kp = 100, kd = 0 }
  for key, value in pairs(motor or {}) do request[key] = value end
  return robot, world:controller(request)
end

for _, solver in ipairs(able) do
  for _, limited in ipairs { true, false } do
    stn.test(("a motor goes where it is told in one step, lags by its load and stops at limits: %s, limit of effort %s"):format(solver, limited), function()
      for _, dt in ipairs(steps) do
        local world = make(dt, solver, { 2, 0, 0 })
        local robot, motor = driven(world, slider, { effort_limits = limited })
        local x = robot:joint "x"
        for _, command in ipairs { 0.3, -0.7, 0.9 } do
          motor:set { position = { command } }
          if not solved(world, solver) then return end
          stn.near(x:position(), command + 0.5 * 2 / 100, 2e-5, ("command %g, dt = %g s"):format(command, dt))
        end
        motor:set { position = { 2 } }
        if not solved(world, solver) then return end
        stn.near(x:position(), 1, 2e-5, ("beyond its limit, dt = %g s"):format(dt))
        motor:set { position = { -5 } }
        if not solved(world, solver) then return end
        stn.near(x:position(), -1, 2e-5, ("beyond its other limit, dt = %g s"):format(dt))
      end
    end)
  end

  stn.test("a damper lets a motor lag: the gap shrinks by kd/(dt kp + kd) a step: " .. solver, function()
    for _, dt in ipairs { 1e-3, 0.1, 10 } do
      for _, limited in ipairs { true, false } do
        local world = make(dt, solver)
        local robot, motor = driven(world, slider, { kd = 5, effort_limits = limited })
        motor:set { position = { 0.5 } }
        for k = 1, 4 do
          if not solved(world, solver) then return end
          stn.near(robot:joint "x":position(), 0.5 * (1 - (5 / (dt * 100 + 5)) ^ k), 1e-6, ("step %d, dt = %g s"):format(k, dt))
        end
      end
    end
  end)

  stn.test("a damped joint without a motor creeps as its load pushes: " .. solver, function()
    local world = make(0.01, solver, { 2, 0, 0 })
    local robot = world:load { damped, fixed = true }
    for k = 1, 5 do
      assert(world:step().converged)
      stn.near(robot:joint "x":position(), k * 0.01 * 0.5 * 2 / 3, 1e-9)
      stn.near(robot:joint "x":velocity(), 0.5 * 2 / 3, 1e-7)
    end
  end)

  stn.test("a mimic joint follows in the same step: " .. solver, function()
    for _, dt in ipairs { 1e-3, 0.1, 10 } do
      local world = make(dt, solver)
      local robot, motor = driven(world, pair)
      for _, command in ipairs { 0.3, -0.4 } do
        motor:set { position = { command } }
        for _ = 1, 20 do
          if not solved(world, solver) then return end
        end
        stn.near(robot:joint "y":position(), 0.1 - 2 * robot:joint "x":position(), 1e-6, "mimic")
        stn.near(robot:joint "x":position(), command, 1e-5, "motor")
      end
    end
  end)

  stn.test("a box comes down to the floor in one step and stands there for steps of any length: " .. solver, function()
    for _, dt in ipairs(steps) do
      local world = make(dt, solver, { 0, 0, -9.81 })
      world:ground {}
      local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2, xyz = { 0, 0, 0.054 } }
      for _ = 1, 3 do
        if not solved(world, solver) then return end
        stn.near(box:position()[3], 0.05, 3e-5, ("height, dt = %g s"):format(dt))
        stn.near(world:contact_force(box).normal_force, 2 * 9.81, 1e-4, ("weight, dt = %g s"):format(dt))
      end
    end
  end)

  stn.test("what has no balance is named, and nothing has moved: " .. solver, function()
    local nothing_holds = "nothing holds tree 0"
    local world = make(0.1, solver, { 0, 0, -9.81 })
    local box = world:box { name = "crate", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 1 } }
    local text = stn.fails(function() world:step() end, nothing_holds)
    assert(text:find("group crate", 1, true), text)
    assert(box:position()[3] == 1)
    world = make(0.1, solver, { 1, 0, 0 })
    world:load { slider, fixed = true }
    text = stn.fails(function() world:step() end, nothing_holds)
    assert(text:find("group slider, joint x", 1, true), text)
    world = make(0.1, solver)
    local robot = world:load { slider, fixed = true }
    world:controller { "effort", target = robot }:set { effort = { 1 } }
    text = stn.fails(function() world:step() end, nothing_holds)
    assert(text:find("group slider, joint x", 1, true), text)
  end)

  stn.test("what nothing pushes stays where it is: " .. solver, function()
    local world = make(0.1, solver)
    local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 1 }, rpy = { 0.1, 0.2, 0.3 } }
    local robot = world:load { slider, fixed = true, joints = { x = 0.2 } }
    for _ = 1, 3 do assert(world:step().converged) end
    stn.near(box:position()[3], 1, 0)
    stn.near(robot:joint "x":position(), 0.2, 0)
  end)
end

-- Three hinges that carry links to their side; each link has its center of mass beside its axis.
local function arm_text(effort)
  local text = '<robot name="arm"><link name="base"/>'
  for k, parent in ipairs { "base", "l1", "l2" } do
    text = text .. ('<link name="l%d"><inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'):format(k)
      .. ('<joint name="j%d" type="revolute"><parent link="%s"/><child link="l%d"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>'):format(k, parent, k)
      .. ('<limit lower="-9" upper="9" effort="%g" velocity="9"/></joint>'):format(k == 3 and effort or 1000)
  end
  return text .. "</robot>"
end
local arm, arm_with_weak_wrist = files:write(".urdf", arm_text(1000)), files:write(".urdf", arm_text(0.5))

for _, solver in ipairs { "sap", "qp" } do
  stn.test("what is named is what nothing holds, not what stands beside it: " .. solver, function()
    local function names(world, wanted)
      local text = stn.fails(function() world:step() end, "nothing holds tree")
      local first = assert(text:match "group ([^;(]+)", text)
      assert(first:find(wanted, 1, true) and not text:find("; tree.*; tree"), ("expected %s: %s"):format(wanted, text))
    end
    local world = make(0.1, solver, { 0, 0, -9.81 })
    world:ground {}
    for k = 1, 6 do
      world:box { name = "brick" .. k, size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0.3 * k, 0, 0.05 } }
    end
    world:sphere { name = "ball", radius = 0.05, mass = 1, xyz = { 0, 0, 3 } }
    names(world, "ball, joint ball_floating")

    for _, case in ipairs { { arm, { "j1", "j2" } }, { arm_with_weak_wrist, { "j1", "j2", "j3" } } } do
      world = make(0.1, solver, { 0, 0, -9.81 })
      world:ground {}
      world:box { name = "brick", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 5, 0, 0.05 } }
      local robot = world:load { case[1], fixed = true, base = { xyz = { 0, 0, 2 } } }
      world:controller { "joint_pd", target = robot, joints = case[2], kp = 1000, kd = 0 }
      names(world, "arm, joint j3")
    end

    for _, angle in ipairs { 0.32, 0.5, 0.8 } do -- friction 0.3 holds up to 0.29
      world = make(0.1, solver, { 0, 0, -9.81 })
      world:box { name = "ramp", fixed = true, size = { 4, 4, 0.1 }, rpy = { 0, angle, 0 }, mu = 0.3 }
      world:box { name = "crate", size = { 0.1, 0.1, 0.1 }, mass = 1, mu = 0.3, xyz = { 0.1 * math.sin(angle), 0, 0.1 * math.cos(angle) },
        rpy = { 0, angle, 0 } }
      names(world, "crate, joint crate_floating")
    end
  end)
end

local wheel = files:write(".urdf", '<robot name="wheel"><link name="base"/>' .. link "a"
  .. joint("x", "continuous", "base", "a", "0 0 1"):gsub('lower="[-%d]+" upper="%d+"', "") .. "</robot>")

for _, solver in ipairs { "sap", "qp", "admm_split", "admm_split_ncp", "admm", "admm_ncp", "ipm", "lemke", "newton_ncp" } do
  stn.test("a motor that is told to go absurdly far is there, or the step says that it did not converge: " .. solver, function()
    for _, limited in ipairs { true, false } do
      for _, far in ipairs { 1, 1e6, 1e9, 1e12 } do
        local world = make(0.1, solver)
        local robot, motor = driven(world, wheel, { effort_limits = limited })
        motor:set { position = { far } }
        local ok, step = pcall(function() return world:step() end)
        assert(ok or step:find("nothing holds tree", 1, true), step)
        if ok and step.converged then
          stn.near(robot:joint "x":position(), far, 1e-6 * far, ("%g rad, limited: %s"):format(far, limited))
        end
        assert(far > 1 or (ok and step.converged), "1 rad")
      end
    end
  end)
end

stn.test("a motor too weak for its load has no balance", function()
  for _, solver in ipairs { "sap", "qp" } do
    local world = make(0.1, solver, { -20, 0, 0 })
    driven(world, weak)
    local text = stn.fails(function() world:step() end, "nothing holds tree 0")
    assert(text:find("group weak, joint x", 1, true), text)
  end
end)

stn.test("a mass scale lets what nothing supports fall by g dt^2/s, from rest in each step", function()
  for _, scale in ipairs { 1, 1e-2, 10 } do
    for _, solver in ipairs { "sap", "nsgs", "ipm", "lemke", "qp" } do
      local world = stn.world { dt = 0.01, solver = solver, integrator = { "quasistatic", unactuated_mass_scale = scale } }
      local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 10 } }
      for k = 1, 3 do
        assert(world:step().converged)
        stn.near(box:position()[3], 10 - k * 9.81 * 1e-4 / scale, 1e-12)
      end
    end
  end
  local world = stn.world { dt = 100, integrator = { "quasistatic", unactuated_mass_scale = 1 } }
  world:box { size = { 0.1, 0.1, 0.1 }, mass = 1 }
  stn.fails(function() world:step() end, "integrator quasistatic: dt = 100 s and unactuated_mass_scale = 1: what nothing supports would fall by 9.81e+04 m")
end)

stn.test("what a joint, a rope or a spring lets move freely stays where nothing drives it", function()
  for _, solver in ipairs { "sap", "qp", "admm_split" } do
    for _, kind in ipairs { "spring", "distance", "ball" } do
      local world = stn.world { dt = 1, solver = solver, gravity = { 0, 0, 0 }, integrator = "quasistatic" }
      local hand = world:sphere { radius = 0.03, mass = 1, xyz = { -0.3, 0, 0.5 } }
      local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2, xyz = { 0, 0.02, 0.5 } }
      hand:kinematic(function(t) return { xyz = { -0.3 + 6e-4 * t, 5e-3 * t, 0.5 + 4e-4 * t } } end)
      world:constraint { kind, a = hand, b = box, a_point = kind == "ball" and { 0.3, 0.02, 0 } or nil,
        length = kind == "distance" and math.sqrt(0.3 ^ 2 + 0.02 ^ 2) or nil, stiffness = kind == "spring" and 3000 or nil }
      for k = 1, 20 do
        local name = ("%s, %s, step %d"):format(solver, kind, k)
        local from, origin = box:position(), hand:position()
        assert(world:step().converged, name)
        local pull, to = { 6e-4, 5e-3, 4e-4 }, box:position() -- a ball: as the hand
        if kind ~= "ball" then -- along the line alone
          local line, along, square = {}, 0, 0
          for i = 1, 3 do
            line[i] = from[i] - origin[i]
            along, square = along + line[i] * (to[i] - from[i]), square + line[i] ^ 2
          end
          assert(math.abs(along) < 0.01 * square, name)
          for i = 1, 3 do
            pull[i] = line[i] * along / square
          end
        end
        for i = 1, 3 do
          stn.near(to[i], from[i] + pull[i], 2e-6, name)
          stn.near(box:velocity().angular[i], 0, 1e-9, name)
        end
      end
    end
  end
end)

stn.test("methods of first order solve most of what stands above", function()
  for solver, count in pairs(tries) do
    assert(gave_up[solver] <= 0.25 * count, ("%s gave up in %d of %d steps"):format(solver, gave_up[solver], count))
  end
end)
