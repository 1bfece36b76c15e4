-- SPDX-License-Identifier: Apache-2.0
-- Anchors of true stiction are part of the state; what breaks a contact, or puts a body elsewhere, ends them.
local stn = require "stiction"
local files <close> = require "files"()

local g, mu = 9.81, 0.6

local function box_on_slope(options)
  options = options or {}
  options.dt, options.stiction = options.dt or 1e-3, options.stiction ~= false
  local angle = 0.4
  local world = stn.world(options)
  world:ground { name = "slope", rpy = { 0, angle, 0 } }
  local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, rpy = { 0, angle, 0 },
    xyz = { 0.05 * math.sin(angle), 0, 0.05 * math.cos(angle) } }
  world:contact_material { mu = mu }
  return world, box
end

local function run(world, seconds)
  for _ in world:run { seconds = seconds } do end
end

stn.test("a state in the middle of sticking: restored, from a file, cloned, made again: the same bits", function()
  local world = box_on_slope()
  run(world, 0.2)
  local snapshot, path = world:snapshot(), files:path ".state"
  world:save_state(path)
  local twin = world:clone()
  assert(twin:hash() == world:hash(), "a clone has the anchors")
  run(world, 0.3)
  local after = world:hash()
  run(twin, 0.3)
  assert(twin:hash() == after, "clone")
  world:restore(snapshot)
  run(world, 0.3)
  assert(world:hash() == after, "restored")
  world:load_state(path)
  run(world, 0.3)
  assert(world:hash() == after, "from a file")
  local again = box_on_slope()
  run(again, 0.2)
  run(again, 0.3)
  assert(again:hash() == after, "made again")
  world:reset()
  run(world, 0.2)
  run(world, 0.3)
  assert(world:hash() == after, "reset")
end)

stn.test("a state with anchors fits no world without, and the other way round", function()
  local with, without = box_on_slope(), box_on_slope { stiction = false }
  run(with, 0.01)
  run(without, 0.01)
  stn.fails(function() without:restore(with:snapshot()) end, "only one of them holds by stiction")
  stn.fails(function() with:restore(without:snapshot()) end, "only one of them holds by stiction")
end)

stn.test("a box that is put elsewhere stays there, also when it is replayed", function()
  for _, law in ipairs { "sap", "lagged" } do
    local world, box = box_on_slope { law = law }
    run(world, 1)
    local pose = box:pose()
    pose.xyz = { pose.xyz[1], pose.xyz[2] + 0.01, pose.xyz[3] }
    box:set_pose(pose)
    run(world, 1)
    stn.near(box:position()[2], pose.xyz[2], 1e-12, law)
  end
end)

-- A box of 0.3 kg between two kinematic pads, pressed in by `squeeze(t)`.
local function gripper(squeeze, options)
  options.dt, options.stiction = 1e-3, true
  local world = stn.world(options)
  for side = -1, 1, 2 do
    world:box { name = "pad" .. side, size = { 0.02, 0.06, 0.06 } }:kinematic(function(t)
      return { xyz = { side * (0.03 - squeeze(t)), 0, 0 } }
    end)
  end
  local box = world:box { name = "box", size = { 0.04, 0.04, 0.04 }, mass = 0.3 }
  world:contact_material { mu = mu, stiffness = 1e6 }
  return world, box
end

stn.test("let go for 20 ms and grasped again: it falls g t^2/2, and is held where it is caught", function()
  local world, box = gripper(function(t) return t > 0.5 and t <= 0.52 and -1e-3 or 2e-5 end, {})
  run(world, 0.5)
  local held = box:position()[3]
  run(world, 0.1)
  local caught = box:position()[3]
  stn.near(held - caught, g * 0.02 ^ 2 / 2, 2e-4, "fallen, and slid while it was caught")
  run(world, 1)
  stn.near(box:position()[3], caught, 1e-12, "held again")
end)

-- An arm of 1 kg, 0.5 m, level, whose joint has friction of 6 N m: more than its weight's torque of 4.905.
local function arm(options)
  options.dt, options.stiction = 1e-3, options.stiction ~= false
  options.solver = { "sap", tolerance = 1e-12 }
  local world = stn.world(options)
  local file = files:write(".urdf", [[
    <robot name="arm"><link name="base"/><link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    <dynamics friction="6"/></joint></robot>]])
  local robot = world:load { file, fixed = true }
  return world, robot:joint "hinge"
end

stn.test("joint friction holds an arm at its angle", function()
  local world, hinge = arm {}
  run(world, 1)
  local before = hinge:position()
  stn.near(before, 1e-3 / 0.26 * 4.905e-6, 1e-10, "gives way by R torque dt^2, R = 1e-3/inertia")
  run(world, 20)
  stn.near(hinge:position(), before, 1e-14, "angle") -- 0.38 mrad without stiction
end)

stn.test("what stiction gives back it has taken: no cycle of pushing and letting go gains energy", function()
  for _, share in ipairs { 0.6, 1.3 } do
    local world = stn.world { dt = 1e-3, stiction = true, solver = { "sap", tolerance = 1e-12 } }
    world:ground { name = "floor" }
    local box = world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 } }
    world:contact_material { mu = mu }
    run(world, 0.5)
    for cycle = 1, 10 do
      local lost = world:energy().total -- by friction
      for k = 1, 200 do
        local push, speed = share * mu * g * math.sin(2 * math.pi * k / 200), box:velocity().linear[1]
        box:apply_force { force = { push, 0, 0 }, point = { box:position()[1], box:position()[2], 0 } }
        world:step()
        lost = lost + push * 1e-3 * (speed + box:velocity().linear[1]) / 2
      end
      lost = lost - world:energy().total
      assert(lost >= 0, ("cycle %d at %g of the cone: friction loses %g J"):format(cycle, share, lost))
    end
  end
end)
