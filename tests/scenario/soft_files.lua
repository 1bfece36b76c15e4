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
