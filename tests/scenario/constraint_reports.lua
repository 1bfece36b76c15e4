-- SPDX-License-Identifier: Apache-2.0
-- What is told of constraints of plugins: line, length, force, slack; in Lua and in the columns of a log.
local stn = require "stiction"
local files <close> = require "files"()

local g = 9.81

--- Columns of a table by name: lists of numbers, "" for empty fields.
local function read(path)
  local columns, names = {}, {}
  for line in io.lines(path) do
    local k = 0
    for field in (line .. ","):gmatch("([^,]*),") do
      k = k + 1
      if not names[k] then
        names[k] = field
        columns[field] = {}
      else
        table.insert(columns[names[k]], tonumber(field) or field)
      end
    end
  end
  return columns
end

local function hung()
  local world = stn.world { dt = 1e-3, solver = { "sap", tolerance = 1e-10 } }
  local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2, xyz = { 0, 0, 0 } }
  local rope = world:constraint { "tendon", name = "rope", stiffness = 1000, damping = 90,
    path = { { box, { 0, 0, 0 } }, { "world", { 0, 0, 1 } }, { "world", { 3, 4, 1 } } } }
  return world, box, rope
end

stn.test("a line runs through the points, also before the first step, and its length follows the bodies", function()
  local world, box, rope = hung()
  local points = rope:path()
  assert(#points == 3)
  stn.near(points[1], { 0, 0, 0 }, 1e-12, "first")
  stn.near(points[2], { 0, 0, 1 }, 1e-12, "second")
  stn.near(points[3], { 3, 4, 1 }, 1e-12, "third")
  stn.near(rope:length(), 6, 1e-12, "length")
  assert(not rope:slack(), "nothing is known before a step")
  box:set_pose { xyz = { 0, 0, 0.5 } }
  stn.near(rope:length(), 5.5, 1e-12, "follows the state without a step")
end)

stn.test("a cable is slack while its box falls towards it, and taut when it hangs", function()
  local world, box, rope = hung()
  box:set_pose { xyz = { 0, 0, 0.2 } }
  world:step()
  assert(rope:slack())
  stn.near(rope:force(), 0, 0, "force")
  for _ in world:run { seconds = 3 } do end
  assert(not rope:slack())
  stn.near(rope:force(), -2 * g, 1e-6, "force")
  stn.near(rope:length(), 6 + 2 * g / 1000, 1e-6, "length")
end)

stn.test("joints alone draw no line", function()
  local world = stn.world { dt = 1e-3 }
  local arm = world:load { files:write(".urdf", [[<robot name="arm"><link name="base"/>
    <link name="rod"><inertial><mass value="1"/><origin xyz="0 0 -0.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>]]), fixed = true }
  local cable = world:constraint { "tendon", stiffness = 10, joints = { { arm, "hinge", 0.1 } } }
  world:step()
  assert(#cable:path() == 0 and cable:length() == nil)
end)

stn.test("a log has length, force, error and slack of every constraint, named or numbered", function()
  local world, box = hung()
  world:constraint { "spring", a = box, b_point = { 0, 3, 0 }, stiffness = 50, length = 2.5 }
  for k = 1, 2 do
    world:constraint { "bushing", name = "twin", a = box, force_stiffness = { 1, 2, 3 }, torque_stiffness = { 1, 1, 1 } }
  end
  world:constraint { "spring", name = "band, slack", a = box, b_point = { 0, 3, 0 }, stiffness = 50, length = 9, tension_only = true }
  local all, declared = files:path ".csv", files:path ".csv"
  world:record(all, { "csv" })
  world:record(declared, { "csv", constraints = false })
  for _ in world:run { steps = 5 } do end
  world:close()
  local columns = read(all)
  stn.near(columns["constraint[rope].length"][1], 6, 1e-12, "length at the start")
  assert(columns["constraint[rope].force"][1] == "", "no force before the first step")
  local stretch = columns["constraint[rope].length"][5] - 6
  stn.near(columns["constraint[rope].phi"][6], stretch, 1e-12, "the error at a step's start is that of the step before")
  stn.near(columns["constraint[rope].slack"][6], 0, 0, "taut")
  stn.near(columns["constraint[2].phi"][2], 0.5, 1e-12, "the spring without a name is the second")
  for _, name in ipairs { "constraint[3/twin]", "constraint[4/twin]" } do
    for row = 1, 6 do
      assert(columns[name .. ".force_" .. row] and columns[name .. ".phi_" .. row])
    end
    assert(not columns[name .. ".force_7"] and not columns[name .. ".force"])
  end
  local text = io.lines(all)()
  assert(text:find('"constraint[band, slack].slack"', 1, true), "a comma is in quotes")
  assert(not io.lines(declared)():find("constraint", 1, true))
end)

stn.test("a log has what a constraint tells of itself", function()
  local world = stn.world { dt = 1e-3 }
  local box = world:box { size = { 0.1, 0.1, 0.1 }, mass = 2, xyz = { 0, 0, 1 } }
  local grip = world:constraint { "weld_at_runtime", name = "grip", a = "world", a_pose = { xyz = { 0, 0, 1 } }, b = box }
  local log = files:path ".csv"
  world:record(log, { "csv" })
  for _ in world:run { steps = 3 } do end
  grip:attach()
  for _ in world:run { steps = 200 } do end
  world:close()
  local columns = read(log)
  local holding, force = columns["constraint[grip].holding"], columns["constraint[grip].force_N_3"]
  stn.near(holding[3], 0, 0, "not yet")
  stn.near(holding[#holding], 1, 0, "holds")
  stn.near(force[#force], 2 * g, 1e-6, "carries the box")
  assert(columns["constraint[grip].torque_Nm_1"] and columns["constraint[grip].why"])
end)
