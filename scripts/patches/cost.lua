-- SPDX-License-Identifier: Apache-2.0
-- What patches cost: whole steps of the same scene with patches and with points, one after the other in turn, so that what else
-- the machine does meets both. Shares of a step's phases: stiction run --profile scripts/patches/cost.lua --set scene=box --set contact=patches
local stn = require "stiction"
local load_text = require "robot_text"

local p = stn.params {
  scene = stn.choice { "all", "box", "sphere", "gripper" },
  contact = stn.choice { "both", "patches", "points" },
  law = stn.choice { "sap", "lagged", "similar" },
  modulus = 1e7,      -- of what is soft [Pa]
  dt = 0.002,         -- [s]
  settle = 0.5,       -- before times are taken [s]
  steps = 500,        -- of which the median is taken
}

local finger = [[<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.02 0.04 0.04"/></geometry></collision></link>
  <joint name="%s_slide" type="prismatic"><parent link="hand"/><child link="%s"/><origin xyz="%g 0 0"/><axis xyz="%d 0 0"/>
  <limit lower="-1" upper="1" effort="1e4" velocity="100"/></joint>]]

local build = {
  box = function(world, soft)
    world:ground {}
    world:box { name = "box", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0, 0, 0.05 }, modulus = soft }
  end,
  sphere = function(world, soft)
    world:ground {}
    world:sphere { name = "sphere", radius = 0.05, mass = 1, xyz = { 0, 0, 0.05 }, modulus = soft }
  end,
  gripper = function(world, soft)
    local text = { '<robot name="gripper"><link name="hand"/>' }
    for _, f in ipairs { { "left", -0.03, 1 }, { "right", 0.03, -1 } } do
      text[#text + 1] = finger:format(f[1], f[1], f[1], f[2], f[3])
    end
    text[#text + 1] = "</robot>"
    local hand = load_text(world, ".urdf", table.concat(text), { fixed = true, modulus = soft })
    world:disable_collisions(hand)
    world:box { name = "held", size = { 0.04, 0.03, 0.1 }, mass = 0.2, modulus = soft }
    for _, name in ipairs { "left_slide", "right_slide" } do hand:joint(name):set_effort(20) end
  end,
}

local function world_of(scene, contact)
  local world = stn.world { dt = p.dt, contact = contact == "patches" and "hydroelastic_with_fallback" or "point", law = p.law }
  build[scene](world, contact == "patches" and p.modulus or nil)
  for _ in world:run { seconds = p.settle } do end
  return world
end

local function median(t)
  table.sort(t)
  return t[#t // 2 + 1]
end

io.stderr:write(string.format("%-8s %-8s %8s %10s %10s\n", "scene", "contact", "contacts", "step [us]", "solve [us]"))
for _, scene in ipairs { "box", "sphere", "gripper" } do
  if p.scene == "all" or p.scene == scene then
    local runs = {}
    for _, contact in ipairs { "patches", "points" } do
      if p.contact == "both" or p.contact == contact then
        runs[#runs + 1] = { contact = contact, world = world_of(scene, contact), step = {}, solve = {} }
      end
    end
    for _ = 1, p.steps do
      for _, run in ipairs(runs) do
        local step = run.world:step()
        run.step[#run.step + 1], run.solve[#run.solve + 1], run.count = step.step_us, step.solve_us, step.contact_count
      end
    end
    for _, run in ipairs(runs) do
      run.us = median(run.step)
      io.stderr:write(string.format("%-8s %-8s %8d %10.2f %10.2f\n", scene, run.contact, run.count, run.us, median(run.solve)))
    end
    if #runs == 2 then stn.result(scene .. "_ratio", runs[1].us / runs[2].us) end
  end
end
