-- SPDX-License-Identifier: Apache-2.0
-- Soft bodies and cloth: what they weigh, how they fall and hang, chambers under pressure, and what is refused.
local stn = require "stiction"
local worse = require "worse"
local files <close> = require "files"()

local function refused(action, ...)
  local message = stn.fails(action)
  assert(message:match "soft%.lua:%d+: ", "no file and line in: " .. message)
  assert(not message:find "\n", "more than one line: " .. message)
  for _, text in ipairs { ... } do
    assert(message:find(text, 1, true), ("expected '%s' in: %s"):format(text, message))
  end
  return message
end

local function block(world, change)
  local spec = { box = { 0.2, 0.1, 0.05 }, cells = { 4, 2, 1 }, young = 1e5, poisson = 0.3, density = 1200 }
  for key, value in pairs(change or {}) do
    spec[key] = value
  end
  return world:soft(spec)
end

stn.test("mass, volume and place are those of the shape", function()
  local world = stn.world { gravity = { 0, 0, 0 } }
  local box = block(world, { xyz = { 1, 2, 3 }, rpy = { 0.3, -0.2, 1 } })
  local ball = world:soft { ball = 0.1, cells = 10, xyz = { -2, 0, 0 }, density = 1000 }
  local cloth = world:cloth { size = { 0.4, 0.2 }, cells = { 8, 4 }, thickness = 1e-3, density = 300, young = 1e6 }
  stn.near(box:mass(), 1.2, 1e-14)
  stn.near(box:volume(), 1e-3, 1e-16)
  stn.near(box:position "all", { 1, 2, 3 }, 1e-14)
  assert(box.node_count == 30 and #box:positions() == 30 and #box:velocities() == 30)
  stn.near(ball:volume(), 4 / 3 * math.pi * 1e-3, { relative = 0.03, tolerance = 0 })
  stn.near(cloth:mass(), 0.4 * 0.2 * 1e-3 * 300, 1e-15)
end)

stn.test("a block in free fall keeps its shape and falls as a point does", function()
  local world = stn.world { dt = 1e-3 }
  local box = block(world, { xyz = { 0, 0, 5 }, rpy = { 0.5, 0.4, 0.3 } })
  for _ in world:run { steps = 200 } do end
  stn.near(box:velocity(), { 0, 0, -9.81 * 0.2 }, 1e-10)
  stn.near(box:volume(), 1e-3, 1e-12)
end)

stn.test("pinned nodes stay and carry the weight", function()
  local world = stn.world { dt = 5e-3 }
  local box = block(world, { xyz = { 0, 0, 1 }, pinned = "x_min", damping = 0.1 })
  local before = box:position "x_min"
  for _ in world:run { seconds = 3 } do end
  stn.near(box:position "x_min", before, 1e-15)
  assert(box:position("x_max")[3] < 1 - 1e-3, "the free end hangs lower")
  stn.near(box:attachment_force "world", { 0, 0, 1.2 * 9.81 }, { relative = 1e-6, tolerance = 1e-6 })
end)

stn.test("nodes that a body holds go with it, and it carries them", function()
  local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
  local hand = world:box { size = { 0.02, 0.1, 0.05 }, mass = 0.5, xyz = { -0.11, 0, 1 } }
  local box = block(world, { xyz = { 0, 0, 1 }, attach = { link = hand, nodes = "x_min" }, damping = 0.1 })
  hand:kinematic(function(t) return { xyz = { -0.11, 0, 1 + 0.1 * t } } end)
  for _ in world:run { seconds = 1 } do end
  stn.near(box:position("x_min")[3], 1.1, 1e-9)
  stn.near(box:velocity()[3], 0.1, 1e-6)
end)

stn.test("a body that is put elsewhere takes the soft one along", function()
  for _, after in ipairs { 0, 20 } do -- before the first step, and in a run
    local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
    local hand = world:box { size = { 0.02, 0.1, 0.05 }, mass = 0.5, xyz = { -0.11, 0, 1 } }
    local box = block(world, { xyz = { 0, 0, 1 }, attach = { link = hand, nodes = "x_min" } })
    for _ in world:run { steps = after } do end
    local before = box:positions()
    hand:set_pose { xyz = { 1, 2, 3 }, rpy = { 0, 0, math.pi / 2 } }
    for i, now in ipairs(box:positions()) do -- turned by 90 degrees about z, from (-0.11, 0, 1) to (1, 2, 3)
      local x, y, z = table.unpack(before[i])
      stn.near(now, { 1 - y, 2 + (x + 0.11), 3 + (z - 1) }, 1e-12)
    end
    for _, stress in ipairs(box:output "von_mises") do
      assert(stress < 1e-6, "it is not stretched")
    end
    world:step()
    stn.near(box:velocity(), { 0, 0, 0 }, 1e-9)
  end
end)

local arm = [[<robot name="arm"><link name="base"/>
  <link name="slider"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="slider"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/></joint></robot>]]

stn.test("joints of the start take attached nodes along, pinned ones stay", function()
  local path = files:write(".urdf", arm)
  for _, held in ipairs { false, true } do
    local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
    local robot = world:load { path, fixed = true, joints = { slide = 0.05 } }
    local box = block(world, { xyz = { 0.1, 0, 0 }, attach = { link = { robot, "slider" }, nodes = "x_min" },
      pinned = held and "x_max" or nil })
    stn.near(box:position("x_min"), { 0.05, 0, 0 }, 1e-15)
    stn.near(box:position("x_max"), { held and 0.2 or 0.25, 0, 0 }, 1e-15)
    robot:set_q { -0.02 }
    stn.near(box:position("x_min"), { -0.02, 0, 0 }, 1e-15)
    stn.near(box:position("x_max"), { held and 0.2 or 0.18, 0, 0 }, 1e-15)
    world:reset()
    stn.near(box:position("x_min"), { 0.05, 0, 0 }, 1e-15)
    stn.near(box:position("x_max"), { held and 0.2 or 0.25, 0, 0 }, 1e-15)
  end
end)

stn.test("a finger bends towards its floor under pressure, and comes back without", function()
  local world = stn.world { dt = 0.01, gravity = { 0, 0, 0 } }
  local finger = world:soft { finger = { size = { 0.09, 0.02, 0.015 }, chambers = 4, wall = 0.002, floor = 0.004 },
    cells = { 18, 4, 3 }, young = 5e5, poisson = 0.4, damping = 0.02, pinned = "x_min" }
  stn.near(finger:chamber_volume(4), 0.02 * 0.016 * 0.009, 1e-15)
  local rest = finger:position "x_max"
  finger:set_pressure(2e4)
  assert(finger:pressure(1) == 2e4 and finger:pressure(4) == 2e4)
  for _ in world:run { seconds = 0.5 } do end
  assert(finger:chamber_volume(4) > 0.02 * 0.016 * 0.009, "the chamber grows")
  local low = finger:position("x_max")[3]
  assert(low < rest[3] - 1e-3, "it bends to the floor")
  finger:set_pressure(2, 0)
  assert(finger:pressure(2) == 0 and finger:pressure(1) == 2e4)
  for _ in world:run { seconds = 0.5 } do end
  assert(finger:position("x_max")[3] > low)
  finger:set_pressure(0)
  for _ in world:run { seconds = 1 } do end
  stn.near(finger:position "x_max", rest, 1e-5)
end)

stn.test("the work of pressure is p dV with midpoint, too, and no energy comes of it", function()
  for _, integrator in ipairs { "midpoint", "symplectic_euler" } do
    local world = stn.world { dt = 3e-4, gravity = { 0, 0, 0 }, integrator = integrator }
    local finger = world:soft { finger = { size = { 0.09, 0.02, 0.015 }, chambers = 2, wall = 0.002, floor = 0.004 },
      cells = { 18, 4, 3 }, young = 5e5, poisson = 0.4, pinned = "x_min" }
    local before = finger:chamber_volume(1) + finger:chamber_volume(2)
    finger:set_pressure(1e4)
    local work, most, done = 0, 0, 0
    for step in world:run { seconds = 0.12 } do
      done = 1e4 * (finger:chamber_volume(1) + finger:chamber_volume(2) - before)
      work, most = work + step.input_work_J, math.max(most, step.energy_J - done)
    end
    stn.near(work, done, { relative = 2e-4, tolerance = 0 }, integrator .. ": work [J]")
    assert(most < 0.01 * done, ("%s: %g J more than %g J of p dV"):format(integrator, most, done))
  end
end)

stn.test("an evacuated chamber closes on itself, where the body collides with itself", function()
  local function volumes(own)
    local world = stn.world { dt = 2e-3, gravity = { 0, 0, 0 } }
    local finger = world:soft { finger = { size = { 0.04, 0.02, 0.012 }, chambers = 1, wall = 0.002, floor = 0.002 },
      cells = { 10, 5, 6 }, young = 5e4, poisson = 0.3, damping = 0.02, pinned = "x_min", self_collision = own }
    finger:set_pressure(-4e3)
    local full, least = finger:chamber_volume(1), math.huge
    for _ in world:run { seconds = 0.2 } do least = math.min(least, finger:chamber_volume(1)) end
    return full, least, finger:contact_force()
  end
  local full, least = volumes(true)
  assert(least > 0.1 * full and least < 0.5 * full, ("it holds %g of %g m^3"):format(least, full))
  full, least = volumes(false)
  assert(least < 0, "without it the walls pass through each other")
end)

stn.test("elements that are inside out are counted and told", function()
  local world = stn.world { dt = 2e-3 }
  world:ground {}
  local box = world:soft { box = { 0.1, 0.1, 0.1 }, cells = 4, xyz = { 0, 0, 0.05 }, young = 200, density = 1000, damping = 0.01 }
  local most = 0
  for step in world:run { seconds = 0.3 } do
    local counted = 0
    for _, ratio in ipairs(box:output "volume_ratio") do counted = counted + (ratio <= 0 and 1 or 0) end
    stn.near(step.inverted, counted, 0, "those of the state that the step made")
    most = worse(most, step.inverted)
  end
  assert(most > 0, "a body that weighs five times its modulus is crushed")
end)

stn.test("stress is told for every element", function()
  local world = stn.world { gravity = { 0, 0, 0 } }
  local box = block(world)
  local stress = box:output "von_mises"
  assert(#stress == 40)
  for _, value in ipairs(stress) do
    stn.near(value, 0, 1e-6)
  end
  refused(function() box:output "von_mise" end, "von_mises")
end)

stn.test("nodes are told by region, box, plane and number", function()
  local world = stn.world { gravity = { 0, 0, 0 } }
  local box = block(world)
  assert(#box:nodes "x_min" == 6 and #box:nodes "all" == 30 and #box:nodes { "x_min", "x_max" } == 12)
  assert(#box:nodes { box = { { 0, -1, -1 }, { 1, 1, 1 } } } == 18)
  assert(#box:nodes { box = { { -math.huge, -1, -1 }, { 0, 1, 1 } } } == 18)
  assert(#box:nodes { plane = { 0, 0, -1 }, offset = 0.025 } == 15)
  assert(#box:nodes { nodes = { 1, 30, 1 } } == 2 and #box:nodes { { nodes = { 1 } }, "x_max" } == 7)
  stn.near(box:position(1), { -0.1, -0.05, -0.025 }, 1e-15)
  refused(function() box:nodes "x_mim" end, "did you mean 'x_min'")
  refused(function() box:nodes { box = { { 5, 5, 5 }, { 6, 6, 6 } } } end, "none of the 30 nodes")
  refused(function() box:nodes { nodes = { 31 } } end, "node")
  refused(function() box:nodes { nodes = { 0.5 } } end, "whole number")
  refused(function() box:nodes { box = { { 0, 0, 0 } } } end, "two corners")
  refused(function() box:nodes { plane = { 0, 0, 1 }, nodes = { 1 } } end, "one of box, plane and nodes")
  refused(function() box:nodes(3) end, "got number")
  refused(function() box:position(31) end, "there is no node 31")
end)

stn.test("names, clones and snapshots", function()
  local world = stn.world {}
  local box = block(world, { name = "pad", xyz = { 0, 0, 1 } })
  refused(function() block(world, { name = "pad" }) end, "the name 'pad' is taken")
  assert(world:soft_body "pad" == box and #world:soft_bodies() == 1 and box.name == "pad")
  refused(function() world:soft_body "pod" end, "pad")
  world:step()
  local copy = world:clone()
  local kept = world:snapshot()
  for _ in world:run { steps = 10 } do end
  local there = box:position()
  world:restore(kept)
  for _ in world:run { steps = 10 } do end
  for _ in copy:run { steps = 10 } do end
  stn.near(box:position(), there, 0)
  stn.near(copy:soft_body("pad"):position(), there, 0)
  assert(tostring(box) == "soft body 'pad'")
end)

stn.test("what is wrong is one line with the script's line", function()
  local world = stn.world {}
  refused(function() world:soft { cells = 3 } end, "world:soft: its shape is missing; give box, ball")
  refused(function() world:soft { box = { 1, 1, 1 }, mesh = "a.vtk" } end, "box and mesh are two shapes")
  refused(function() world:soft { box = { 1, 0, 1 } } end, "box = {1, 0, 1} m must be > 0")
  refused(function() world:soft { box = { 1, -1, 1 } } end, "must be > 0")
  refused(function() world:soft { box = { 1, 1e60, 1 } } end, "size.y = 1e+60 m")
  refused(function() world:soft { ball = -1 } end, "ball")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 0 } end, "cells = 0 must be a whole number")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = { 1, 2 } } end, "cells has 2 numbers, it needs 3")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1000 } end, "5000000000 tetrahedra, at most")
  refused(function() world:soft { box = { 1, 1, 1 }, yung = 1e5 } end, "unknown key 'yung', did you mean 'young'?")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, poisson = 0.5 } end, "poisson = 0.5")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, poisson = -1 } end, "poisson = -1")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, young = -1 } end, "young")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, young = 0 } end, "young")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, density = -1 } end, "density")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, model = "linear" } end, "model", "corotational")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, pinned = "top" } end, "there is no region 'top'")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, pinned = { box = { { 5, 5, 5 }, { 6, 6, 6 } } } } end,
    "has none of the 8 nodes")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, attach = { { nodes = "x_min" } } } end,
    "attach[1]: link is missing")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, attach = { link = "hand", nodes = "x_min" } } end, "hand")
  refused(function() world:soft { mesh = "absent.vtk" } end, "absent.vtk")
  refused(function() world:soft { finger = { size = { 1, 1, 1 }, chambers = 3, wall = 0.4 } } end, "leave nothing of")
  refused(function() world:soft { finger = { size = { 1, 1, 1 } } } end, "give size {length, width, height}, chambers and wall")
  refused(function() world:soft { box = { 1, 1, 1 }, scale = 2 } end, "scale is for the mesh of a file")
  refused(function() world:cloth { size = { 1, 1 }, cells = 2, thickness = 0 } end, "thickness")
  refused(function() world:cloth { box = { 1, 1, 1 } } end, "unknown key 'box'")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, pinned = "x_min", attach = { { link = "a" } } } end, "a")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, mu = -1 } end, "mu = -1")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, mu2 = 0.2 } end, "unknown key 'mu2'")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, contact_thickness = -1 } end, "contact_thickness = -1")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, regions = { { nodes = "z_min", mu = 1 } } } end,
    "need a thickness of contact")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, contact_thickness = 1e-3, regions = { { mu = 1 } } } end,
    "regions[1]: nodes is missing")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, contact_thickness = 1e-3,
    regions = { { nodes = { nodes = { 1 } }, mu = 1 } } } end, "patch 'region1': no triangle")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, regions = "z_min" } end, "regions must be a list")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, name = "a/b" } end, "no '/'")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, color = { 2, 0, 0 } } end, "color[1] = 2")
  refused(function() world:soft { box = { 1, 1, 1 }, cells = 1, self_collision = 1 } end, "self_collision")
  assert(#world:soft_bodies() == 0, "nothing of what was refused stays")
  local good = world:soft { box = { 1, 1, 1 }, cells = 1, xyz = { 0, 0, 3 } }
  refused(function() good:set_pressure(1e3) end, "no chambers")
  refused(function() good:set_pressure(1, 1e3) end, "no chambers")
  refused(function() good:attachment_force "world" end, "none of the body's nodes is attached to 'world'")
  world:step()
  refused(function() world:soft { box = { 1, 1, 1 } } end, "the world was completed")
end)

stn.test("mesh files of tetrahedra are soft bodies, surfaces are cloth", function()
  local head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n" ..
    "0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n"
  local solid = files:write(".vtk", head .. "CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10 10\n")
  local sheet = files:write(".vtk", head .. "CELLS 2 8\n3 0 1 2\n3 1 3 2\nCELL_TYPES 2\n5 5\n")
  local other = files:write(".vtk", head .. "CELLS 1 9\n8 0 1 2 3 4 0 1 2\nCELL_TYPES 1\n12\n")
  local world = stn.world { gravity = { 0, 0, 0 } }
  local body = world:soft { mesh = solid, scale = 0.1, density = 1000 }
  local cloth = world:cloth { mesh = sheet, scale = 0.1, thickness = 1e-3, xyz = { 0, 0, 1 } }
  refused(function() world:soft { mesh = sheet } end, "has no tetrahedra", "world:cloth")
  refused(function() world:cloth { mesh = solid } end, "has tetrahedra", "world:soft")
  refused(function() world:soft { mesh = other } end, "12")
  refused(function() world:soft { mesh = solid, cells = 3 } end, "cells divide shapes")
  world:step()
  stn.near(body:volume(), 0.5e-3, 1e-15)
  assert(cloth.node_count == 4)
end)

stn.test("a soft ball rests on the ground with its weight", function()
  local world = stn.world { dt = 5e-3 }
  local floor = world:ground { mu = 0.8 }
  local ball = world:soft { ball = 0.05, cells = 4, young = 2e4, poisson = 0.3, density = 1000, damping = 0.02, mu = 0.8,
    xyz = { 0, 0, 0.05 }, name = "ball" }
  for _ in world:run { seconds = 1.5 } do end
  local weight = ball:mass() * 9.81
  local force = world:contact_force(ball)
  stn.near(force.force, { 0, 0, weight }, { relative = 1e-6, tolerance = 1e-6 * weight })
  stn.near(world:contact_force(floor, ball).force, { 0, 0, -weight }, { relative = 1e-6, tolerance = 1e-6 * weight })
  stn.near(ball:contact_force().normal_force, weight, { relative = 1e-6, tolerance = 0 })
  stn.near(ball:contact_force(floor).normal_force, weight, { relative = 1e-6, tolerance = 0 })
  assert(world:in_contact(ball, floor) and ball:position()[3] < 0.05)
  local contact = world:contacts()[1]
  assert((contact.a == "ball" and contact.b == "ground1") or (contact.b == "ball" and contact.a == "ground1"),
    contact.a .. " " .. contact.b)
  refused(function() world:contact_force(ball, ball) end, "'ball' is on both sides")
  refused(function() world:held(ball, floor) end, "is a soft body")
end)

stn.test("a cloth lies over a ball and does not fall through", function()
  local world = stn.world { dt = 5e-3 }
  world:sphere { radius = 0.1, fixed = true, mu = 0.8 }
  local cloth = world:cloth { size = { 0.4, 0.4 }, cells = 12, thickness = 2e-3, young = 1e5, density = 300, damping = 0.01,
    mu = 0.8, xyz = { 0, 0, 0.102 } }
  for _ in world:run { seconds = 0.6 } do end
  assert(cloth:position { box = { { -0.04, -0.04, -1 }, { 0.04, 0.04, 1 } } }[3] > 0.09, "it lies on the ball")
  assert(cloth:position("x_max")[3] < 0.05, "its border hangs")
end)

stn.test("a region has its own friction", function()
  local function slide(mu)
    local world = stn.world { dt = 2e-3, gravity = { 9.81 * math.sin(0.3), 0, -9.81 * math.cos(0.3) } }
    world:ground { mu = 0.6 }
    local pad = world:soft { box = { 0.1, 0.06, 0.03 }, cells = { 4, 2, 2 }, young = 1e5, density = 1000, damping = 0.01, mu = 0.05,
      contact_thickness = 1e-3, xyz = { 0, 0, 0.016 }, regions = { { nodes = { plane = { 0, 0, -1 } }, mu = mu, name = "sole" } } }
    for _ in world:run { seconds = 0.5 } do end
    local contact = world:contacts()[1]
    assert(contact.link_a == "sole" or contact.link_b == "sole")
    return pad:position()[1], pad:velocity()[1]
  end
  local held, slow = slide(0.6)         -- 0.6 > tan(0.3) = 0.309
  local slid, fast = slide(0.05)        -- of the pair 0.092
  assert(held < 5e-3 and math.abs(slow) < 1e-3, held)
  stn.near(fast, 9.81 * (math.sin(0.3) - 2 * 0.6 * 0.05 / 0.65 * math.cos(0.3)) * 0.5, { relative = 1e-4, tolerance = 0 })
  assert(slid > 0.1)
end)

-- Two cubes that share one edge: around it lie four triangles, which no surface may have.
local function ghost(path)
  local nodes, tets = {}, {}
  for x = 0, 2 do
    for y = 0, 2 do
      for z = 0, 1 do
        nodes[#nodes + 1] = ("%g %g %g"):format(0.1 * x, 0.1 * y, 0.1 * z)
      end
    end
  end
  local function at(x, y, z) return 6 * x + 2 * y + z end
  for _, cube in ipairs { { 0, 0 }, { 1, 1 } } do
    local x, y = cube[1], cube[2]
    for _, way in ipairs { { 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 } } do
      local p, corner = { x, y, 0 }, {}
      for k = 0, 3 do
        if k > 0 then p[way[k]] = p[way[k]] + 1 end
        corner[k + 1] = at(p[1], p[2], p[3])
      end
      tets[#tets + 1] = "4 " .. table.concat(corner, " ")
    end
  end
  local file <close> = assert(io.open(path, "w"))
  file:write("# vtk DataFile Version 3.0\ncubes\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS ", #nodes, " double\n", table.concat(nodes, "\n"), "\nCELLS ",
    #tets, " ", 5 * #tets, "\n", table.concat(tets, "\n"), "\nCELL_TYPES ", #tets, "\n", ("10\n"):rep(#tets))
end

stn.test("what a surface refuses leaves nothing behind", function()
  local world = stn.world { gravity = { 0, 0, -9.81 } }
  local path = files:path "cubes.vtk"
  ghost(path)
  refused(function() world:soft { name = "ghost", mesh = path, young = 1e5 } end, "has more than two triangles")
  local good = block(world, { name = "good" })
  for _ in world:run { steps = 5 } do end
  assert(#world:soft_bodies() == 1 and world:soft_body("good").node_count == good.node_count)
  stn.near(world:energy().kinetic, 0.5 * good:mass() * (5 * 0.002 * 9.81) ^ 2, 1e-9)
end)

stn.test("a state does not go into a body of another mesh", function()
  local function made(cells, change)
    local world = stn.world {}
    local spec = { cells = cells, pinned = "x_min" }
    for key, value in pairs(change or {}) do spec[key] = value end
    block(world, spec)
    for _ in world:run { steps = 1 } do end
    return world
  end
  local path = files:path "soft.state"
  made({ 4, 2, 3 }):save_state(path)
  made({ 4, 2, 3 }):load_state(path)
  refused(function() made({ 2, 4, 3 }):load_state(path) end, "belongs to another model")
  refused(function() made({ 4, 2, 3 }, { pinned = "x_max" }):load_state(path) end, "belongs to another model")
end)

stn.test("mistakes in selectors, chambers and names are errors", function()
  local world = stn.world {}
  refused(function() block(world, { pinned = { box = { 0, 1 } } }) end, "box[1] must be a corner { x, y, z }")
  refused(function() block(world, { pinned = { box = { { 0, 0, 0 }, { 1, 1 } } } }) end, "box[2] must be a corner")
  local regions = { { nodes = "z_min", mu = 1, name = "foot" }, { nodes = "z_max", mu = 0.1, name = "foot" } }
  refused(function() block(world, { contact_thickness = 1e-3, regions = regions }) end, "are both called 'foot'")
  regions[2].name = "a/b"
  refused(function() block(world, { contact_thickness = 1e-3, regions = regions }) end, "must have no '/'")
  local finger = world:soft { finger = { size = { 0.09, 0.02, 0.015 }, chambers = 3, wall = 0.002 }, pinned = "x_min" }
  for _ in world:run { steps = 1 } do end
  finger:set_pressure(5)
  refused(function() finger:set_pressure(3, nil) end, "must be a number [Pa]")
  for chamber = 1, 3 do stn.near(finger:pressure(chamber), 5, 0) end
  assert(world:soft_body(finger.name, 1).name == finger.name)
end)

stn.test("soft bodies and cables begin and end to touch by name", function()
  local world = stn.world { dt = 5e-3 }
  world:ground {}
  local box = world:box { name = "box", size = { 0.3, 0.3, 0.05 }, mass = 1, xyz = { 0, 0, 0.025 } }
  world:soft { name = "pad", box = { 0.1, 0.1, 0.04 }, cells = 2, young = 1e5, density = 500, xyz = { 0, 0, 0.072 } }
  world:soft { name = "ball", ball = 0.02, cells = 3, young = 1e5, density = 500, xyz = { 0, 0, 0.117 } }
  world:cable { name = "rope", points = { { 0.3, 0, 0.01 }, { 0.4, 0, 0.01 } }, radius = 4e-3, segments = 5 }
  local begun, ended = {}, {}
  local function note(pairs_of, into)
    for _, p in ipairs(pairs_of) do into[p.a .. " " .. p.b] = true end
  end
  for step in world:run { seconds = 0.2 } do
    note(step:begun(), begun)
    note(step:ended(), ended)
  end
  for _, pair in ipairs { "ground1 box", "box pad", "pad ball", "ground1 rope" } do
    assert(begun[pair], pair .. " is not told")
  end
  local snapshot = world:snapshot()
  box:set_pose { xyz = { 5, 0, 0.5 } }
  note(world:step():ended(), ended)
  assert(ended["box pad"] and ended["ground1 box"])
  world:restore(snapshot)
  assert(#world:step():begun() == 0, "what touched before goes on to touch")
end)

stn.test("one name is one thing, soft or rigid", function()
  local world = stn.world {}
  block(world, { name = "pad" })
  refused(function() world:box { name = "pad", size = { 1, 1, 1 }, mass = 1 } end, "a soft body of that name", "'pad_2'")
  world:box { name = "crate", size = { 1, 1, 1 }, mass = 1, xyz = { 3, 0, 0 } }
  refused(function() block(world, { name = "crate" }) end, "the name 'crate' is taken")
  world:box { name = "soft1", size = { 1, 1, 1 }, mass = 1, xyz = { 6, 0, 0 } }
  assert(block(world, {}).name == "soft2", "numbers that rigid bodies have are left out")
  for _, make in ipairs { function(name) block(world, { name = name }) end,
    function(name) world:cloth { size = { 1, 1 }, cells = 2, name = name } end,
    function(name) world:cable { points = { { 0, 0, 0 }, { 1, 0, 0 } }, radius = 0.01, name = name } end } do
    refused(function() make "world" end, "the name 'world' is that of the world itself")
  end
  assert(#world:soft_bodies() == 2)
end)

stn.test("attach to the world is pinned", function()
  local world = stn.world {}
  local a = block(world, { attach = { link = "world", nodes = "x_min" }, xyz = { 0, 0, 1 } })
  local b = block(world, { pinned = "x_min", xyz = { 0, 0, 1 }, category = 0 })
  for _ in world:run { steps = 10 } do end
  stn.near(a:attachment_force("world"), b:attachment_force("world"), 0)
  refused(function() block(stn.world {}, { attach = { link = "world", nodes = "x_min" }, pinned = { nodes = { 1 } } }) end,
    "node 0 (counted from 0)", "attachment 1 (pinned to the world)", "attachment 2 (pinned to the world)")
end)

stn.test("numbers of nodes in messages are those of Lua, or say that they are counted from 0", function()
  local world = stn.world {}
  local box = block(world, { pinned = "x_min" })
  refused(function() box:nodes { nodes = { 31 } } end, "nodes[1] = 31 must be a whole number from 1 to 30")
  refused(function() block(world, { pinned = { nodes = { 1, 31 } } }) end, "nodes[2] = 31", "from 1 to 30")
  refused(function() block(world, { attach = { link = "world", nodes = { nodes = { 0 } } } }) end, "nodes[1] = 0")
end)

stn.test("a mass that stiffness hides in rounding is said, with the node and the body", function()
  for _, change in ipairs { { young = 1e30 }, { young = 1e200 }, { damping = 1e30 }, { young = 1e22, model = "neo_hookean" } } do
    for _, solver in ipairs { "sap", "nsgs", "qp" } do
      local world = stn.world { solver = solver }
      world:ground {}
      local spec = { box = { 0.1, 0.1, 0.1 }, cells = 2, name = "pad", xyz = { 0, 0, 0.05 } }
      for key, value in pairs(change) do spec[key] = value end
      world:soft(spec)
      local text = refused(function() world:step() end, "of 'pad': A is singular, as the mass of", "lost in rounding", "smaller")
      assert(not text:find "nothing holds", text)
    end
  end
  for _, young in ipairs { 1e30, 1e200 } do -- a sheet, whose matrix can be factored all the same
    local world = stn.world {}
    world:cloth { size = { 0.1, 0.1 }, cells = 3, young = young, name = "sheet" }
    refused(function() world:step() end, "of 'sheet': A is singular, as the mass of")
  end
end)

stn.test("what becomes infinite is named", function()
  local world = stn.world { gravity = { 0, 0, -1e200 } }
  block(world, { name = "pad", pinned = "x_min" })
  refused(function() world:step() end, "the kinetic energy became inf J", "the fastest is node", "(counted from 0) of 'pad'")
end)

stn.test("reset and restore bring back nodes, pressure and gravity, and keep the time step", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, -9 } }
  local finger = world:soft { finger = { size = { 0.09, 0.02, 0.015 }, chambers = 2, wall = 0.002 }, cells = 12, pinned = "x_min" }
  local hand = world:box { size = { 0.02, 0.02, 0.02 }, xyz = { 0.2, 0, 0 } }
  hand:kinematic(function(t) return { xyz = { 0.2, 0, math.sin(5 * t) } } end)
  local held = block(world, { attach = { link = hand, nodes = "x_min" }, xyz = { 0.31, 0, 0 } })
  local start, begun = world:hash(), finger:positions()
  local function run(snapshot)
    finger:set_pressure(2, 1e4)
    world:set_gravity { 0, 0, -1 }
    world:set_dt(2e-3)
    for _ in world:run { steps = 20 } do end
    assert(finger:pressure(1) == 0 and finger:pressure(2) == 1e4 and held:position()[3] > 0)
    return world:hash()
  end
  local once = run()
  for _, back in ipairs { function() world:reset() end, function(s) world:restore(s) end } do
    world:reset()
    local snapshot = world:snapshot()
    run()
    back(snapshot)
    assert(world:hash() == start and finger:pressure(2) == 0 and world.gravity[3] == -9 and world.dt == 2e-3)
    for i, x in ipairs(finger:positions()) do stn.near(x, begun[i], 0) end
    assert(run() == once, "the same run once more")
  end
end)
