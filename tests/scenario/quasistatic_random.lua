-- SPDX-License-Identifier: Apache-2.0
-- Quasistatic steps of random worlds: what says that it converged balances weights, contacts and springs, with friction inside its
-- cone; what fails names an object and changes nothing. Fingers go through no wall, whatever moves them.
local stn = require "stiction"
local files <close> = require "files"()

local tip = '<collision><geometry><sphere radius="0.03"/></geometry></collision>'

local function link(name, shape)
  return ('<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial>%s</link>')
    :format(name, shape or "")
end

local function joint(name, kind, parent, child, axis, effort, more)
  return ('<joint name="%s" type="%s"><parent link="%s"/><child link="%s"/><axis xyz="%s"/>'
    .. '<limit lower="-3" upper="3" effort="%g" velocity="10"/>%s</joint>'):format(name, kind, parent, child, axis, effort, more or "")
end

local gantry = files:write(".urdf", '<robot name="gantry"><link name="base"/>' .. link "a" .. link "b" .. link("tip", tip)
  .. joint("x", "prismatic", "base", "a", "1 0 0", 1e6) .. joint("y", "prismatic", "a", "b", "0 1 0", 1e6)
  .. joint("z", "prismatic", "b", "tip", "0 0 1", 1e6) .. "</robot>")

-- ---------------------------------------------------------------------------------------------------- what is balanced

local singular = { "sap", "qp", "admm_split", "admm_split_ncp", "admm", "admm_ncp", "ipm", "lemke", "newton_ncp" }
local regular = { "sap", "qp", "admm", "apgd", "auto", "bisection", "ipm", "lemke", "newton_ncp", "nsgs" }
local kp = 1000

local function pick(stream, list) return list[1 + math.floor(stream:random(0, #list))] end

local function add_object(world, mu, stream, i, height)
  local s, mass = stream:random(0.04, 0.08), pick(stream, { 0.1, 1, 20 })
  local o = { mass = mass, mu = mu, rpy = { 0, 0, stream:random(0, 1) } }
  local kind = pick(stream, { "box", "sphere", "capsule" })
  local stacked = kind == "box" and stream:random() < 0.5
  local gap = pick(stream, { 0, 1e-3, 5e-3, -3e-3 })
  o.xyz = stacked and { stream:random(-0.01, 0.01), 0, height + gap + s } or { 0.3 * i, stream:random(-0.05, 0.05), gap + s }
  if kind == "box" then
    o.size = { 2 * s, 2 * s, 2 * s }
  else
    o.radius, o.length = s, kind == "capsule" and 0.1 or nil
    o.rpy = kind == "capsule" and { math.pi / 2, 0, o.rpy[3] } or o.rpy
  end
  return { group = world[kind](world, o), mass = mass }, stacked and height + gap + 2 * s or height
end

--- A floor, objects beside and on each other, and fingers on springs.
local function make(seed)
  local stream = stn.world { seed = seed }
  local scale = pick(stream, { 0, 0, 1e-3, 1 })
  local dt = pick(stream, scale > 0 and { 1e-3, 1e-2 } or { 1e-3, 1e-2, 0.1, 1, 10 })
  local solver = pick(stream, scale > 0 and regular or singular)
  local gravity = pick(stream, { { 0, 0, -9.81 }, { 0, 0, -9.81 }, { 0, 0, 0 }, { 0.5, 0.3, -9 } })
  local w = stn.world { dt = dt, solver = solver, gravity = gravity, threads = pick(stream, { 1, 2 }), stiction = stream:random() < 0.2,
    integrator = { "quasistatic", unactuated_mass_scale = scale } }
  local d = { world = w, solver = solver, scale = scale, gravity = gravity, mu = pick(stream, { 0, 0.2, 0.5, 1 }), objects = {}, fingers = {} }
  w:ground { mu = d.mu }
  local height = 0
  for i = 1, math.floor(stream:random(1, 5)) do
    d.objects[i], height = add_object(w, d.mu, stream, i, height)
  end
  for i = 1, math.floor(stream:random(0, 3)) do
    local robot = w:load { gantry, name = "finger" .. i, fixed = true, base = { xyz = { stream:random(-0.3, 0.5), stream:random(-0.15, 0.15), 0.2 } }, mu = d.mu }
    d.fingers[i] = { robot = robot }
  end
  for _, finger in ipairs(d.fingers) do
    -- with a limit of effort its motors are rows, which a share of the mass resists beside them
    finger.motors = w:controller { "joint_pd", target = finger.robot, kp = kp, kd = 0, gravity_compensation = true,
      effort_limits = scale == 0 and stream:random() < 0.5 }
  end
  return d, stream
end

local function check(d, step, what)
  local w, pressed = d.world, 0
  for _, c in ipairs(step:contacts()) do
    pressed = pressed + c.normal_force
  end
  -- the solvers' tolerance is 1e-6 of the impulses that cancel, those of springs that travel 2 m among them; those of first order
  -- judge speeds, and forces follow
  local allowed = (d.solver:find "^admm_split" and 1e-3 or 1e-4) * pressed + 1e-6 / w.dt + 1e-6 * 2 * kp * #d.fingers
  for _, c in ipairs(step:contacts()) do
    assert(c.normal_force >= -allowed and c.friction_force <= c.mu * c.normal_force + allowed,
      ("%s: %g N of friction, %g N press, mu = %g"):format(what, c.friction_force, c.normal_force, c.mu))
  end
  for i, object in ipairs(d.objects) do
    local force, velocity = w:contact_force(object.group).force, object.group:velocity().linear
    for k = 1, 3 do
      local resisted = d.scale * object.mass * velocity[k] / w.dt
      stn.near(force[k] + object.mass * d.gravity[k], resisted, allowed + 1e-4 * math.abs(resisted), ("%s: object %d, axis %d [N]"):format(what, i, k))
    end
  end
  for i, finger in ipairs(d.fingers) do
    local force, q = w:contact_force(finger.robot).force, finger.robot:q()
    for k = 1, 3 do
      stn.near(kp * (q[k] - finger.command[k]), force[k], allowed, ("%s: finger %d, axis %d [N]"):format(what, i, k))
    end
  end
end

stn.test("random worlds balance, or say that they do not", function()
  local converged, failed, steps = 0, 0, 0
  for seed = 1, 120 do
    local d, stream = make(seed)
    local what = ("seed %d, %s, dt = %g s, mass scale %g"):format(seed, d.solver, d.world.dt, d.scale)
    for _ = 1, 4 do
      for _, finger in ipairs(d.fingers) do
        local far = pick(stream, { 0.01, 0.1, 1 })
        finger.command = { stream:random(-far, far), stream:random(-far, far), stream:random(-far, far) }
        finger.motors:set { position = finger.command }
      end
      local before = d.world:hash()
      local ok, step = pcall(function() return d.world:step() end)
      steps = steps + 1
      if not ok then
        failed = failed + 1
        assert(step:find("nothing holds tree", 1, true) and step:find("group ", 1, true), what .. ": " .. tostring(step))
        assert(step:find("unactuated_mass_scale lets it fall, a larger reach", 1, true), what .. ": " .. tostring(step))
        assert(d.world:hash() == before, what .. ": a step that failed changed the state")
        break
      end
      if step.converged then
        converged = converged + 1
        check(d, step, what)
      end
    end
    d.world:close()
  end
  assert(converged > 0.7 * steps and failed > 0, ("%d of %d steps converged, %d failed"):format(converged, steps, failed))
end)

for _, solver in ipairs { "sap", "qp", "admm_split" } do -- admm_split_ncp may give up, and says so
  stn.test("what rests converges in every step, overlaps of rounding aside: " .. solver, function()
    for _, dt in ipairs { 1e-4, 1e-3, 0.1 } do
      for _, kind in ipairs { "sphere", "box", "capsule" } do
        for _, r in ipairs { 0.03, 0.07, 0.011 } do
          local world = stn.world { dt = dt, solver = solver, integrator = "quasistatic" }
          world:ground {}
          world[kind](world, { radius = kind ~= "box" and r or nil, size = kind == "box" and { 2 * r, 2 * r, 2 * r } or nil, length = kind == "capsule" and r or nil,
            mass = 0.1, xyz = { 0, 0, r }, rpy = { kind == "capsule" and math.pi / 2 or 0, 0, 0.3 } })
          for step in world:run { steps = 6 } do
            assert(step.converged, ("%s of %g m, dt = %g s, step %d: %s"):format(kind, r, dt, step.index, step.status))
          end
          world:close()
        end
      end
    end
  end)
end

-- ------------------------------------------------------------------------------------------------- nothing is jumped over

local slider = '<robot name="finger"><link name="base"/>' .. link("tip", tip) .. joint("x", "prismatic", "base", "tip", "1 0 0", 200, "%s") .. "</robot>"
local lever = '<robot name="finger"><link name="base"/>' .. link("tip", tip:gsub("<geometry>", '<origin xyz="0 -0.5 0"/><geometry>'))
  .. joint("x", "revolute", "base", "tip", "0 0 1", 200, "%s") .. "</robot>"
local damping = { [0] = "", [2] = '<dynamics damping="2"/>' }

local function reach_through(solver, scale, dt, text, limited)
  local world = stn.world { dt = dt, solver = solver, gravity = { 0, 0, 0 }, integrator = { "quasistatic", unactuated_mass_scale = scale } }
  world:box { size = { 0.1, 2, 0.5 }, fixed = true, xyz = { 0.3, 0, 0 } } -- its face at 0.25 m
  local finger = world:load { files:write(".urdf", text), fixed = true }
  world:controller { "joint_pd", target = finger, kp = kp, kd = 0, effort_limits = limited }:set { position = { 2.5 } }
  return world:step(), finger, world
end

for _, scale in ipairs { 0, 1e-3, 1 } do
  for _, solver in ipairs(scale > 0 and regular or singular) do
    stn.test(("no finger goes through a wall, with and without a limit of effort: %s, mass scale %g"):format(solver, scale), function()
      for _, dt in ipairs { 1e-3, 0.1 } do
        for _, limited in ipairs { true, false } do
          for _, d in ipairs { 0, 2 } do
            for kind, text in pairs { slider = slider, lever = lever } do
              local step, finger, world = reach_through(solver, scale, dt, text:format(damping[d]), limited)
              local x = finger:joint "x":position()
              local what = ("%s, dt = %g s, limited %s, damping %g: at %g"):format(kind, dt, limited, d, x)
              -- a step follows the tangent of a lever's arc; under this force contacts of sap give way by some millimetres
              assert(not step.converged or x < (kind == "slider" and 0.22 + 0.02 or 0.22 / 0.5 + 0.05), what)
              world:close()
            end
          end
        end
      end
    end)
  end
end
