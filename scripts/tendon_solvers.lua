-- SPDX-License-Identifier: Apache-2.0
-- The same motion by five solvers: a hoist whose rope goes slack and taut again, two boxes on a cable in free flight, and a
-- finger with one tendon round three joints. A table tells how far each solver is from the first one, and the boxes' momentum.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local p = stn.params {
  tolerance = 1e-11, -- of the solvers that have one
  seconds = 0.6,     -- [s]
  dt = 1e-3,         -- [s]
}
local solvers = { "sap", "nsgs", "newton_ncp", "ipm", "admm" }

local function box(world, mass, x, velocity)
  return world:box { size = { 0.1, 0.1, 0.1 }, mass = mass, xyz = { x, 0, 0 }, velocity = velocity, mask = 0 }
end

--- Each makes its scene, and returns the tendon and a list of numbers of the present state.
local scenes = {
  { name = "hoist", gravity = { 0, 0, -9.81 }, make = function(world)
    local a, b = box(world, 1, -0.2, { 0, 0, 1 }), box(world, 1.5, 0.2, { 0, 0, 0.5 })
    local wheel = world:cylinder { radius = 0.2, length = 0.1, mass = 1, xyz = { 0, 0, 1 }, rpy = { math.pi / 2, 0, 0 }, fixed = true, mask = 0 }
    return world:constraint { "tendon", stiffness = 2e3, damping = 20,
      path = { { a, { 0, 0, 0.05 } }, { wheel, "cylinder", radius = 0.2, side = { 0, 1, 0 } }, { b, { 0, 0, 0.05 } } } },
      function() return { a:position()[3], b:position()[3] } end
  end },
  { name = "boxes", gravity = { 0, 0, 0 }, make = function(world)
    local a, b = box(world, 1, 0, { 0.2, 0, 0 }), box(world, 3, 0.9, { 1, 0.1, 0 })
    return world:constraint { "tendon", stiffness = 300, length = 1, path = { { a, { 0, 0, 0.02 } }, { b, { 0, 0.03, 0 } } } },
      function() return { a:position()[1], a:position()[2], b:position()[1], b:position()[2] } end
  end },
  { name = "finger", gravity = { 0, 0, -9.81 }, make = function(world)
    local parts, parent = { '<robot name="finger"><link name="palm"/>' }, "palm"
    for i = 1, 3 do
      parts[#parts + 1] = ([[<link name="bone%d"><inertial><origin xyz="0.02 0 0"/><mass value="0.03"/>
        <inertia ixx="4e-6" iyy="6e-6" izz="6e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="joint%d" type="continuous"><parent link="%s"/><child link="bone%d"/><origin xyz="%g 0 0"/><axis xyz="0 -1 0"/></joint>]]):format(
        i, i, parent, i, i > 1 and 0.04 or 0)
      parent = "bone" .. i
    end
    local finger = load_text(world, ".urdf", table.concat(parts) .. "</robot>", { fixed = true })
    local path = { { "world", { -0.02, 0, 0 } } }
    for i = 1, 3 do
      path[#path + 1] = { { finger, "bone" .. i }, "cylinder", radius = 0.012 - 0.002 * i, rpy = { math.pi / 2, 0, 0 }, side = { 0, 1, 0 } }
      path[#path + 1] = { { finger, "bone" .. i }, { 0.02, 0, 0 } }
    end
    return world:constraint { "tendon", stiffness = 3000, damping = 3, path = path },
      function() return { finger:joint("joint1"):position(), finger:joint("joint2"):position(), finger:joint("joint3"):position() } end
  end },
}

local function run(scene, solver)
  local world <close> = stn.world { dt = p.dt, gravity = scene.gravity, solver = { solver, tolerance = p.tolerance, max_iterations = 5000 } }
  local tendon, state = scene.make(world)
  local out, slack = {}, 0
  for _ in world:run { seconds = p.seconds } do
    slack = slack + (tendon:slack() and 1 or 0)
    for _, value in ipairs(state()) do out[#out + 1] = value end
  end
  local momentum = world:momentum().linear
  return out, slack, math.abs(momentum[1] - 3.2) + math.abs(momentum[2] - 0.3)
end

print(("%-8s %-12s %14s %14s %16s"):format("scene", "solver", "differs by", "slack steps", "momentum lost"))
for _, scene in ipairs(scenes) do
  local first, worst, lost, loose = nil, 0, 0, {}
  for _, solver in ipairs(solvers) do
    local values, slack, momentum = run(scene, solver)
    first = first or values
    local difference = 0
    loose[#loose + 1] = slack
    for i, value in ipairs(values) do difference = worse(difference, math.abs(value - first[i])) end
    local free = scene.name == "boxes"
    print(("%-8s %-12s %14.1e %14d %16s"):format(scene.name, solver, difference, slack, free and ("%.1e kg m/s"):format(momentum) or "-"))
    worst, lost = math.max(worst, difference), math.max(lost, free and momentum or 0)
  end
  stn.check(scene.name .. ": the same motion", { value = worst, limit = 1e-6, unit = "m or rad" })
  table.sort(loose)
  stn.check(scene.name .. ": slack in the same steps", { value = loose[#loose] - loose[1], limit = 0, unit = "steps" })
  if scene.name == "boxes" then
    stn.check("boxes: momentum", { value = lost, limit = 1e-11, unit = "kg m/s" })
  end
end
