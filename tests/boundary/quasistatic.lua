-- SPDX-License-Identifier: Apache-2.0
-- Quasistatic stepping, A = dt^2 K (fakes/quasistatic.c): a finger on a spring pushes a free box, whose A is zero, over the
-- floor. Each solver holds the balance of forces or is refused by name.
local stn = require "stiction"

local g, mu, kp, speed = 9.81, 0.5, 500, 0.02
local finger_file = os.tmpname()
os.remove(finger_file)
finger_file = finger_file .. ".urdf"
local file <close> = assert(io.open(finger_file, "w"))
file:write [[<robot name="finger">
  <link name="base"/>
  <link name="tip"><inertial><mass value="0.2"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial>
    <collision><geometry><sphere radius="0.02"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="tip"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="1000" velocity="10"/></joint>
</robot>]]
file:flush()

-- `options` of the integrator; `limited`: the spring of the finger is a row with a bound, else a part of A.
local function toy(solver, options, limited, floor)
  local integrator = { "fake_quasistatic" }
  for key, value in pairs(options or {}) do
    integrator[key] = value
  end
  local chosen = (solver == "qp" or solver == "lemke") and { solver, directions = 64 } or solver -- a pyramid is short by 1 - cos(pi/64)
  local world = stn.world { dt = 0.005, margin = 0.02, solver = chosen, integrator = integrator }
  if floor ~= false then
    world:ground { mu = mu }
  end
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 }, mu = mu }
  local finger = world:load { finger_file, base = { xyz = { floor ~= false and -0.08 or -1, 0, 0.05 } }, fixed = true, mu = 0 }
  local motor = world:controller { "joint_pd", target = finger, kp = kp, kd = 0, effort_limits = limited }
  return world, box, finger, motor
end

local able = { sap = true, auto_convex = true, qp = true, admm_split = true, admm_split_ncp = true, admm = true, admm_ncp = true, ipm = true, lemke = true, newton_ncp = true }
local solvers = { "sap", "auto_convex", "qp", "admm_split", "admm_split_ncp", "admm", "admm_ncp", "apgd", "nsgs", "pgs", "bisection", "ipm", "lemke", "newton_ncp", "auto" }

local push = mu * g -- the finger is smooth: it pushes with the friction of the floor

for _, solver in ipairs(solvers) do
  stn.test("a box is pushed by a quasistatic finger, or the solver is refused: " .. solver, function()
    for _, limited in ipairs { false, true } do
      local world, box, finger, motor = toy(solver, {}, limited)
      if not able[solver] then
        local text = stn.fails(function() world:step() end, "solver " .. solver .. " needs the inverse of A, but A of tree 0 (source 0) is singular at dof 0")
        assert(text:find("a solver that can: admm, admm_ncp, admm_split, admm_split_ncp, auto_convex, ipm, lemke, newton_ncp, qp, sap; tree 0, dof 0: group box, joint", 1, true), text)
        return
      end
      local converged = 0
      for step in world:run { seconds = 2.5 } do
        motor:set { position = { speed * step.time } }
        if step.converged then
          converged = converged + 1
          assert(step.certificate.momentum <= 1.1e-6, ("momentum %g at t = %g s"):format(step.certificate.momentum, step.time))
        end
      end
      assert(converged > 490, ("%d of 500 steps converged"):format(converged))
      stn.near(world:contact_force(box, finger).normal_force, push, 0.02, "the finger pushes")
      stn.near(kp * (speed * 2.5 - finger:joint("x"):position()), push, 0.1, "with its spring")
    end
  end)
end

stn.test("an indefinite A is an error that names integrator, group and joint", function()
  for _, solver in ipairs { "sap", "nsgs" } do
    local text = stn.fails(function() toy(solver, { extra = -1 }, true):step() end,
      "integrator fake_quasistatic: A of tree 0 (source 0) is indefinite: its elimination fails at dof 0")
    assert(text:find("tree 0, dof 0: group box, joint", 1, true), text)
  end
end)

stn.test("what nothing holds is named", function()
  for _, solver in ipairs { "sap", "qp", "admm_split", "admm_split_ncp" } do
    local text = stn.fails(function() toy(solver, {}, true, false):step() end, "nothing holds tree 0 (source 0) along dof 2: A is singular there")
    assert(text:find("tree 0, dof 2: group box, joint", 1, true), text)
  end
end)

stn.test("an integrator's own scale changes w, and no force", function()
  for _, scale in ipairs { 0, 4 } do
    local world, box, finger, motor = toy("sap", { own_scale = scale }, false)
    for step in world:run { seconds = 2.5 } do
      motor:set { position = { speed * step.time } }
    end
    stn.near(world:contact_force(box, finger).normal_force, push, 0.02, "the finger pushes")
  end
end)

os.remove(finger_file)
