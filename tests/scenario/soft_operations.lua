-- SPDX-License-Identifier: Apache-2.0
-- Random chains of operations on worlds with soft bodies, half of them with arguments that make no sense: what is refused is one line
-- that leaves the state as it was, what a snapshot or a file brings back is the same to the bit, and numbers stay finite.
local stn = require "stiction"
local files <close> = require "files"()

local nonsense = { 0, -0.0, -1, 1, 3, 0.5, 1e308, -1e308, math.huge, -math.huge, 0 / 0, 2 ^ 53, "", "all", "x_min", "chamber1", "world", "12",
  false, true, {}, { 1, 2 }, { { 0, 0, 0 } }, { nodes = {} }, { nodes = { 0 } }, { nodes = { 1 / 3 } }, { nodes = { 1, 1 } }, { box = 3 },
  { plane = { 0, 0, 0 } }, { plane = { 0, 0, 1 }, offset = math.huge }, print }

local function pick(stream, list) return list[1 + math.floor(stream:random(0, #list))] end

local function any(stream) -- nil too
  return nonsense[1 + math.floor(stream:random(0, #nonsense + 1))]
end

local keys = { "name", "mesh", "scale", "cells", "xyz", "rpy", "pose", "young", "poisson", "density", "damping", "drag", "material", "mu", "stiffness",
  "relaxation_time", "contact_thickness", "self_collision", "visual", "color", "category", "mask", "regions", "pinned", "attach", "box", "ball",
  "cylinder", "finger", "model", "size", "thickness", "bending", "points", "segments", "radius", "mass", "rest" }

local function describe(stream)
  local kind = pick(stream, { "soft", "cloth", "cable" })
  local spec = kind == "soft" and { box = { 0.1, 0.1, 0.1 }, cells = 1 } or kind == "cloth" and { size = { 0.2, 0.2 }, cells = 2 } or
    { points = { { 0, 0, 0 }, { 0.2, 0, 0 } }, segments = 4, radius = 0.005 }
  spec.xyz = { 0, 0, stream:random(0.5, 1.5) }
  for _ = 1, math.floor(stream:random(0, 3)) do spec[pick(stream, keys)] = any(stream) end
  return kind, spec
end

local function make(stream)
  local world = stn.world { dt = pick(stream, { 1e-3, 5e-3 }), integrator = pick(stream, { "implicit_euler", "midpoint", "symplectic_euler" }) }
  local bodies = {}
  world:ground {}
  local hand = world:box { name = "hand", size = { 0.05, 0.05, 0.05 }, xyz = { 0, 0, 0.5 } }
  hand:kinematic(function(t) return { xyz = { 0, 0.05 * math.sin(4 * t), 0.5 } } end)
  local crate = world:box { name = "crate", size = { 0.1, 0.1, 0.1 }, mass = 1, xyz = { 0.3, 0, 0.05 } }
  bodies[1] = world:soft { finger = { size = { 0.09, 0.02, 0.015 }, chambers = 2, wall = 0.002 }, cells = 10, pinned = "x_min", xyz = { 0, 0.3, 0.3 } }
  bodies[2] = world:soft { box = { 0.1, 0.05, 0.05 }, cells = { 2, 1, 1 }, young = 1e5, attach = { link = hand, nodes = "x_min" }, xyz = { 0.075, 0, 0.5 } }
  bodies[3] = world:cable { points = { { 0.3, 0, 0.6 }, { 0.3, 0, 0.1 } }, segments = 6, radius = 4e-3, young = 1e6, pinned = "start", attach = { link = crate, nodes = "end" } }
  bodies[4] = world:cloth { size = { 0.2, 0.2 }, cells = 2, young = 1e5, xyz = { 0, -0.3, 0.1 } }
  local refusals = 0
  for _ = 1, math.floor(stream:random(0, 12)) do
    local kind, spec = describe(stream)
    local count = #world:soft_bodies()
    local ok, body = pcall(world[kind], world, spec)
    if not ok then
      refusals = refusals + 1
      assert(not body:find "\n" and (body:find("world:" .. kind, 1, true) or body:find("key", 1, true)), body)
      assert(#world:soft_bodies() == count, "nothing of what was refused stays")
    end
  end
  return world, refusals
end

local queries = { "position", "velocity", "nodes", "output", "attachment_force", "contact_force", "set_pressure", "pressure", "chamber_volume" }

local function check_finite(world, what)
  for _, body in ipairs(world:soft_bodies()) do
    for i, x in ipairs(body:positions()) do
      assert(math.max(math.abs(x[1]), math.abs(x[2]), math.abs(x[3])) < math.huge and x[1] == x[1] and x[2] == x[2] and x[3] == x[3],
        ("%s: node %d of %s at (%g, %g, %g)"):format(what, i, body.name, x[1], x[2], x[3]))
    end
  end
end

local function check_same(a, b, what)
  for _, name in ipairs { "q", "v" } do
    for i, x in ipairs(b[name]) do
      assert(a[name][i] == x, ("%s%s[%d]"):format(what, name, i))
    end
  end
end

stn.test("random operations on soft bodies end well or are refused in one line", function()
  local worlds, length = table.unpack(({ quick = { 4, 40 }, full = { 100, 100 } })[os.getenv "STICTION_TEST_TIER"] or { 12, 60 })
  local path, done, refused = files:path "soft.state", 0, 0
  for seed = 1, worlds do
    local stream = stn.world { seed = seed }
    local world, refusals = make(stream)
    refused = refused + refusals
    local complete, text = pcall(world.hash, world)
    if not complete then
      assert(not text:find "\n", text)
    end
    local snapshot, kept, saved
    if complete then snapshot, kept = world:snapshot(), world:hash() end
    for k = 1, complete and length or 0 do
      local what, before, state = ("seed %d, operation %d"):format(seed, k), world:hash(), world:state()
      local body = pick(stream, world:soft_bodies())
      local operation = pick(stream, { "step", "step", "step", "snapshot", "restore", "reset", "clone", "save", "load", "place", "dt", "pressure", "query", "query", "query" })
      local ok, message = pcall(function()
        if operation == "step" then
          world:step()
        elseif operation == "snapshot" then
          snapshot, kept = world:snapshot(), before
        elseif operation == "restore" then
          world:restore(snapshot)
          assert(world:hash() == kept, "!restored")
        elseif operation == "reset" then
          world:reset()
        elseif operation == "clone" then
          local copy = world:clone()
          assert(copy:hash() == before, "!cloned")
          world:close()
          world, snapshot, kept = copy, copy:snapshot(), before
        elseif operation == "save" then
          world:save_state(path)
          saved = before
        elseif operation == "load" and saved then
          world:load_state(path)
          assert(world:hash() == saved, "!loaded")
        elseif operation == "place" then
          world:group "crate":set_pose { xyz = { 0.3, pick(stream, { 0, 0.01, 0 / 0, 1e308 }), 0.05 } }
        elseif operation == "dt" then
          world:set_dt(pick(stream, { 1e-3, 2e-3, 0, -1, 0 / 0, math.huge }))
        elseif operation == "pressure" then
          world:soft_bodies()[1]:set_pressure(pick(stream, { 1, 2, 3, 0 / 0 }), pick(stream, { 0, 100, -100, 0 / 0, math.huge }))
        elseif operation == "query" then
          local name = pick(stream, queries)
          body[name](body, any(stream), name == "set_pressure" and stream:random() < 0.5 and 50 or nil)
        end
      end)
      done = done + 1
      if not ok then
        refused = refused + 1
        message = tostring(message)
        assert(not message:find "!" and not message:find "\n" and message:find ": ", what .. ", " .. operation .. ": " .. message)
        if operation == "step" then -- kinematic bodies have been told their next pose, the rest stands
          check_same(world:state(), state, what .. ": a step that failed changed ")
          break
        end
        assert(world:hash() == before, what .. ": what was refused changed the state: " .. message)
      end
      check_finite(world, what .. ", " .. operation)
    end
    world:close()
  end
  print(("%d operations, %d refusals"):format(done, refused))
end)

local vtk = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n" ..
  "CELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10 10\n"
local msh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n" ..
  "$Elements\n2\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 3 4 5\n$EndElements\n"

--- Reads a body of a file: true, or the one line that says what is wrong and names the file.
local function read(ending, text)
  local path, world = files:write(ending, text), stn.world {}
  local ok, body = pcall(world.soft, world, { mesh = path })
  if ok then
    local volume = body:volume()
    assert(volume > 0 and volume < math.huge, volume)
  else
    assert(body:find(path, 1, true) and not body:find "\n", body)
  end
  world:close()
  os.remove(path)
  return ok, body
end

stn.test("mesh files that are cut or changed in one byte are read or refused in one line", function()
  local stream = stn.world { seed = 3 }
  local step = ({ quick = 7, full = 1 })[os.getenv "STICTION_TEST_TIER"] or 3
  for ending, text in pairs { [".vtk"] = vtk, [".msh"] = msh } do
    assert(read(ending, text))
    assert(read(ending, text:gsub("\n", "\r\n")))
    for length = 0, #text - 12, step do assert(not read(ending, text:sub(1, length)), length) end
    for at = 1, #text, step do
      read(ending, text:sub(1, at - 1) .. string.char(math.floor(stream:random(0, 256))) .. text:sub(at + 1))
    end
  end
end)

stn.test("mesh files that promise more than they hold, of other dialects, and of other elements are refused", function()
  local function refused(ending, text, part)
    local ok, message = read(ending, text)
    assert(not ok and message:find(part, 1, true), tostring(message))
  end
  refused(".vtk", vtk:gsub("POINTS 5", "POINTS 400000000"), "400000000")
  refused(".vtk", vtk:gsub("CELLS 2 10", "CELLS 400000000 2000000000"), "400000000")
  refused(".msh", msh:gsub("Nodes\n5", "Nodes\n400000000"), "400000000")
  refused(".msh", msh:gsub("Elements\n2", "Elements\n400000000"), "400000000")
  refused(".vtu", '<?xml version="1.0"?><VTKFile type="UnstructuredGrid"/>', "not the name of a mesh; supported are")
  refused(".vtk", vtk:gsub(".", "%0\0"), ":1: expected \"#\"")
  refused(".vtk", "", "the file is empty")
  refused(".vtk", vtk:gsub("10 10\n$", "24 24\n"), "quadratic tetrahedron")
  for _, flat in ipairs { "0 0 0 1 0 0 0 1 0 1 1 0", "0 0 0 1 0 0 0 0 0 0 0 1" } do -- the first tetrahedron has no volume: dropped, a warning tells
    local path, world = files:write(".vtk", (vtk:gsub("0 0 0 1 0 0 0 1 0 0 0 1", flat))), stn.world {}
    local body = world:soft { mesh = path }
    assert(#body:output "von_mises" == 1 and body.node_count == 4)
    world:close()
  end
  refused(".vtk", vtk:gsub("1 1 1\n", "nan 1 1\n", 1), "nan")
end)
