-- SPDX-License-Identifier: Apache-2.0
-- Soft bodies that come with robot files: by name, in clones, beside those of the script, and where the robot stands.
local stn = require "stiction"

local function with_file(ending, text, use)
  local path = os.tmpname()
  local file = assert(io.open(path .. ending, "w"))
  file:write(text)
  file:close()
  local good, problem = pcall(use, path .. ending)
  os.remove(path)
  os.remove(path .. ending)
  if not good then
    error(problem, 0)
  end
end

local two = [[
  <mujoco model="pads"><worldbody>
    <flexcomp name="bar" type="grid" dim="3" count="5 3 3" spacing=".02 .02 .02" mass=".45" radius=".001" pos="0 0 1">
      <elasticity young="1e6" poisson="0.3" damping="0.02"/><pin gridrange="0 0 0 0 2 2"/></flexcomp>
    <flexcomp name="sheet" count="4 4 1" spacing=".05 .05 .05" mass=".16" radius=".001" pos="0 0 2">
      <elasticity young="1e5" thickness=".001" elastic2d="both"/></flexcomp>
  </worldbody></mujoco>]]

stn.test("soft bodies of a file have their names, masses and nodes, beside those of the script", function()
  with_file(".xml", two, function(file)
    local world = stn.world { dt = 1e-3 }
    local before = world:soft { ball = 0.05, cells = 4, xyz = { 1, 0, 1 } }
    world:load { file, name = "left" }
    world:load { file, name = "right", base = { xyz = { 0, 0.5, 0 } } }
    local after = world:cloth { size = { 0.2, 0.2 }, thickness = 1e-3, xyz = { 1, 0, 2 } }
    assert(#world:soft_bodies() == 6)
    local bar, sheet = world:soft_body "left/bar", world:soft_body "right/sheet"
    assert(bar.name == "left/bar" and bar.node_count == 45 and #bar:nodes "x_min" == 9)
    stn.near(bar:position "x_max", { 0.04, 0, 1 }, 1e-15)
    stn.near(sheet:position(), { 0, 0.5, 2 }, 1e-15)
    stn.near(sheet:mass(), 0.16, 1e-15)
    stn.near(bar:volume(), 0.08 * 0.04 * 0.04, 1e-15)
    for _ = 1, 200 do
      world:step()
    end
    -- Symplectic Euler falls by g dt^2 n (n + 1)/2.
    local fallen = 9.81 * 1e-6 * 200 * 201 / 2
    stn.near(sheet:position()[3], 2 - fallen, 1e-9)
    stn.near(after:position()[3], 2 - fallen, 1e-9)
    stn.near(before:position()[3], 1 - fallen, 1e-9)
    local copy = world:clone()
    stn.near(copy:soft_body("right/sheet"):position()[3], 2 - fallen, 1e-9)
    assert(not pcall(world.soft_body, world, "bar"))
  end)
end)

stn.test("what holds pinned points carries all of them", function()
  with_file(".xml", (two:gsub('pos="0 0 2"', 'pos="1 0 2"')), function(file) -- the sheet falls beside the bar
    local world = stn.world { dt = 5e-3, integrator = "implicit_euler" }
    world:load { file }
    for _ in world:run { seconds = 2 } do end
    stn.near(world:soft_body("pads/bar"):attachment_force("world")[3], 0.45 * 9.81, 1e-6)
  end)
end)

-- A grid of nodes with 6 tetrahedra a cell: places, elements from 0, and the mass of each node, a quarter of those of its tetrahedra.
local function make_grid(counts, size, density)
  local nodes, elements, mass = {}, {}, {}
  local function at(i, j, k) return (i * counts[2] + j) * counts[3] + k end
  for i = 0, counts[1] - 1 do
    for j = 0, counts[2] - 1 do
      for k = 0, counts[3] - 1 do
        nodes[#nodes + 1] = { i * size, j * size, k * size }
        mass[#mass + 1] = 0
      end
    end
  end
  for i = 0, counts[1] - 2 do
    for j = 0, counts[2] - 2 do
      for k = 0, counts[3] - 2 do
        for _, o in ipairs { { 1, 2, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 1, 3, 2 }, { 2, 1, 3 }, { 3, 2, 1 } } do
          local c, element = { i, j, k }, { at(i, j, k) }
          for step = 1, 3 do
            c[o[step]] = c[o[step]] + 1
            element[#element + 1] = at(c[1], c[2], c[3])
          end
          elements[#elements + 1] = element
          for _, n in ipairs(element) do mass[n + 1] = mass[n + 1] + density * size ^ 3 / 24 end
        end
      end
    end
  end
  return nodes, elements, mass
end

local function joined(list, form)
  local texts = {}
  for i, entry in ipairs(list) do texts[i] = form:format(table.unpack(entry)) end
  return table.concat(texts, "\n")
end

local function make_vtk(nodes, elements)
  return "# vtk DataFile Version 3.0\ngrid\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS " .. #nodes .. " double\n" .. joined(nodes, "%.17g %.17g %.17g") ..
    ("\nCELLS %d %d\n"):format(#elements, 5 * #elements) .. joined(elements, "4 %d %d %d %d") .. ("\nCELL_TYPES %d\n"):format(#elements) .. ("10\n"):rep(#elements)
end

stn.test("a deformable link of SDFormat moves as the same mesh of the script does", function()
  local nodes, elements = make_grid({ 5, 3, 3 }, 0.02, 1000)
  with_file(".vtk", make_vtk(nodes, elements), function(mesh)
    local sdf = ([[<sdf version="1.9"><model name="m"><link name="bar"><pose>0 0 1 0.3 0.2 0.1</pose><collision name="c"><geometry><mesh><uri>%s</uri></mesh></geometry>
      <drake:proximity_properties><drake:mu_dynamic>0.3</drake:mu_dynamic></drake:proximity_properties></collision><drake:deformable_properties>
      <drake:youngs_modulus>2e5</drake:youngs_modulus><drake:poissons_ratio>0.3</drake:poissons_ratio><drake:mass_density>1000</drake:mass_density>
      <drake:stiffness_damping>0.02</drake:stiffness_damping><drake:mass_damping>0.5</drake:mass_damping></drake:deformable_properties>
      <drake:wall_boundary_condition><drake:point_on_plane>0.01 0 0</drake:point_on_plane><drake:outward_normal>1 0 0</drake:outward_normal></drake:wall_boundary_condition>
      </link></model></sdf>]]):format(mesh:match "[^/]+$")
    with_file(".sdf", sdf, function(file)
      local places, held = {}, {}
      for way = 1, 2 do
        local world = stn.world { dt = 2e-3 }
        local bar
        if way == 1 then
          world:load { file }
          bar = world:soft_body "m/bar"
        else
          local list = {} -- those with x < 0.01 m in the world
          for i in ipairs(nodes) do if places.start[i][1] < 0.01 then list[#list + 1] = i end end
          assert(#list > 2 and #list < 20, #list .. " nodes are held")
          bar = world:soft { mesh = mesh, xyz = { 0, 0, 1 }, rpy = { 0.3, 0.2, 0.1 }, young = 2e5, poisson = 0.3, density = 1000, damping = 0.02, drag = 0.5,
            mu = 0.3, pinned = { nodes = list } }
        end
        places.start = bar:positions()
        stn.near(bar:mass(), 0.128, 1e-14)
        for _ in world:run { seconds = 0.2 } do end
        places[way], held[way] = bar:positions(), bar:attachment_force "world"
      end
      stn.near(held[1], held[2], 1e-9)
      for i = 1, #nodes do
        stn.near(places[1][i], places[2][i], 1e-12)
      end
    end)
  end)
end)

stn.test("a flex over bodies hangs as the same mesh of the script does", function()
  local nodes, elements, mass = make_grid({ 5, 3, 3 }, 0.02, 1000)
  local vtk = make_vtk(nodes, elements)
  local bodies, names, vertices = {}, {}, {}
  for i, x in ipairs(nodes) do
    local held = x[1] == 0
    names[i] = held and "world" or "p" .. i
    vertices[i] = held and ("%.17g %.17g %.17g"):format(table.unpack(x)) or "0 0 0"
    bodies[i] = held and "" or ([[<body name="p%d" pos="%.17g %.17g %.17g"><inertial pos="0 0 0" mass="%.17g" diaginertia="1e-9 1e-9 1e-9"/>
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="slide" axis="0 0 1"/></body>]]):format(i, x[1], x[2], x[3], mass[i])
  end
  local mjcf = ([[<mujoco model="m"><worldbody>%s</worldbody><deformable><flex name="bar" dim="3" body="%s" vertex="%s" element="%s" radius="0">
    <elasticity young="2e5" poisson="0.3" damping="0.05"/></flex></deformable></mujoco>]]):format(table.concat(bodies), table.concat(names, " "), table.concat(vertices, " "), joined(elements, "%d %d %d %d"))
  local places = {}
  with_file(".vtk", vtk, function(mesh)
    with_file(".xml", mjcf, function(file)
      for way = 1, 2 do
        local world = stn.world { dt = 1e-2, integrator = "implicit_euler" }
        if way == 1 then world:load { file } end
        local bar = way == 1 and world:soft_body "m/bar" or world:soft { mesh = mesh, young = 2e5, poisson = 0.3, damping = 0.05, density = 1000, pinned = "x_min" }
        if way == 2 then stn.near(bar:mass(), 1000 * 0.08 * 0.04 * 0.04, 1e-14) end
        for _ in world:run { seconds = 4 } do end
        places[way] = bar:positions()
      end
    end)
  end)
  local sag = nodes[#nodes][3] - places[1][#nodes][3]
  assert(sag > 1e-3, "it sags by " .. sag .. " m")
  for i = 1, #nodes do
    stn.near(places[1][i], places[2][i], 1e-9 * 0.08)
  end
end)

local function cable_file(attributes, flat)
  return ([[<mujoco model="m"><worldbody><composite type="cable" initial="none" %s><plugin plugin="mujoco.elasticity.cable">
    <config key="bend" value="1e10"/><config key="twist" value="4e9"/><config key="flat" value="%s"/></plugin>
    <joint kind="main" damping="1"/><geom type="capsule" size="0.004" mass="0.002"/></composite></worldbody></mujoco>]]):format(attributes, flat)
end

stn.test("a composite cable moves as the same cable of the script does, and bends as a rod", function()
  local places, cable = {}
  local inertia, part = math.pi * 0.004 ^ 4 / 4, 0.5 / 40
  with_file(".xml", cable_file('curve="s" count="41" size="0.5" offset="0 0 1"', "false"), function(file)
    for way = 1, 2 do
      local world = stn.world { dt = 2e-3 }
      if way == 1 then world:load { file } end
      cable = way == 1 and world:soft_body "m/cable" or world:cable { points = { { 0, 0, 1 }, { 0.5, 0, 1 } }, segments = 40, radius = 4e-3, mass = 0.08,
        young = 1e10, poisson = 0.25, damping = part / (1e10 * inertia), pinned = "start", self_collision = true }
      stn.near(cable:mass(), 0.08, 1e-15)
      for _ in world:run { seconds = way == 1 and 2 or 0.2 } do
        if world.time < 0.2001 then places[way] = cable:positions() end
      end
      if way == 1 then -- at rest: sag w L^4/(8 E I) of a clamped rod, where it is small
        local sag = 0.08 * 9.81 * 0.5 ^ 3 / (8 * 1e10 * inertia)
        stn.near(1 - cable:position("end")[3], sag, { relative = 0.02, tolerance = 0 }, "sag [m]")
      end
    end
  end)
  for i = 1, 41 do
    stn.near(places[1][i], places[2][i], 1e-12)
  end
end)

stn.test("flat of a composite cable: straight at rest, else as it is drawn", function()
  for _, flat in ipairs { "true", "false" } do
    with_file(".xml", cable_file('curve="cos(s) sin(s)" count="41" size="1 0.5 1"', flat), function(file)
      local world = stn.world { dt = 1e-6, gravity = { 0, 0, 0 } }
      world:load { file }
      world:step()
      local moment = world:soft_body("m/cable"):output "bending_moment"
      local expected = flat == "true" and 1e10 * math.pi * 0.004 ^ 4 / 4 / 0.5 or 0 -- E I over the radius
      stn.near(moment[20], expected, 1e-3 * 4, "flat " .. flat)
    end)
  end
end)

stn.test("mass_factor, mu and stiffness of world:load, and settotalmass, count soft bodies", function()
  local function model(compiler, body)
    return ('<mujoco model="m">%s<worldbody><body pos="9 0 0"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><freejoint/></body>%s</worldbody></mujoco>'):format(compiler, body)
  end
  local bar = [[<flexcomp name="soft" type="grid" dim="3" count="3 3 3" spacing=".02 .02 .02" mass=".5" radius=".001" pos="0 0 0.021"><elasticity young="1e6" poisson="0.3" damping="0.05"/></flexcomp>]]
  local cable = cable_file('prefix="soft" curve="s" count="5" size="0.3" offset="0.2 0 0.0041"', "false"):match "<composite.*</composite>":gsub('"none"', '"free"')
  for _, body in ipairs { bar, cable } do
    with_file(".xml", model("", body), function(file)
      local function load(options)
        local world = stn.world { dt = 2e-3 }
        world:ground { mu = 1 }
        options[1] = file
        world:load(options)
        local soft, force = world:soft_bodies()[1], 0
        for step in world:run { steps = 200 } do
          force = 0
          for _, c in ipairs(step:contacts()) do force = force + math.abs(c.force[3]) end
        end
        return world:mass(), soft:mass(), force, world:contacts()[1].mu
      end
      local whole, soft, force, mu = load {}
      stn.near(whole, 1 + soft, 1e-12)
      local whole3, soft3, force3, mu3 = load { mass_factor = 3, mu = 0.1 }
      stn.near(whole3, 3 * whole, 1e-12)
      stn.near(soft3, 3 * soft, 1e-12)
      stn.near(force, 9.81 * soft, 1e-5 * force)
      stn.near(force3, 9.81 * soft3, 1e-5 * force3)
      stn.near(mu, 1, 1e-12)
      stn.near(mu3, 2 * 0.1 / 1.1, 1e-12)
      stn.fails(function() load { mu = -1 } end, "mu")
    end)
    with_file(".xml", model('<compiler settotalmass="5"/>', body), function(file)
      local world = stn.world {}
      world:load { file }
      stn.near(world:mass(), 5, 1e-12)
    end)
  end
end)

stn.test("what saves a robot says that its soft bodies are left out", function()
  local arm = [[<mujoco model="pads"><worldbody><body><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint/>
    <flexcomp name="bar" type="grid" dim="3" count="3 3 3" spacing=".02 .02 .02"><elasticity young="1e6"/></flexcomp></body></worldbody></mujoco>]]
  with_file(".xml", arm, function(file)
    local world = stn.world {}
    local robot = world:load { file }
    world:soft { ball = 0.05, name = "padstone", xyz = { 1, 0, 1 } }
    for _, format in ipairs { "urdf", "sdf", "mjcf" } do
      with_file("." .. format, "", function(saved)
        local told = 0
        for _, lost in ipairs(robot:save(saved, { format = format })) do
          told = told + (lost.where == "soft body bar" and 1 or 0)
          assert(not lost.where:find("padstone", 1, true))
        end
        assert(told == 1, format .. ": it is not told that the soft body is left out")
      end)
    end
  end)
end)
