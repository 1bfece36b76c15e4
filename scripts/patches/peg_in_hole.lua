-- SPDX-License-Identifier: Apache-2.0
-- A rigid round peg is pushed through a hole in a soft plate that is too narrow for it by x, and finds its way: it begins beside the
-- axis of the hole, on a carriage that gives way sideways. Pressure in the plate grows as E depth/H.
--   hole=square   four boxes, H half the width of each: each wall is pressed by (4/3) sqrt(2 r x) x E/H times the plate's thickness T
--   hole=round    one solid of tetrahedra with a hole, which the script makes; H is half of T or of its ring: pressed by 2 pi r T x E/H
-- While the peg slides through at a steady speed friction holds it back with mu times all of that.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"
local with_file = require "tetrahedra"

local p = stn.params {
  hole = stn.choice { "square", "round" },
  law = stn.choice { "lagged", "similar", "sap" }, -- sap holds what slides off by mu (dt + relaxation time) speed, an eighth of x here
  modulus = 2e5,            -- of the plate [Pa]
  interference = 0.5e-3,    -- x [m]
  beside = 2e-3,            -- the axis of the peg beside that of the hole at the start, in x and y [m]
  mu = 0.3,
  speed = 0.1,              -- of the push [m/s]
  resolution = 3e-3,        -- of the peg's surface [m]
  dt = 0.001,               -- [s]
}

local radius, length, plate, H = 0.01, 0.08, 0.02, 0.01 -- the peg has round ends; plate: thickness; H: half the width of a wall
local half = radius - p.interference                    -- of the hole

local world = stn.world { dt = p.dt, gravity = { 0, 0, 0 }, contact = "hydroelastic", law = p.law, solver = { "sap", tolerance = 1e-8 } }
local color = { 0.85, 0.72, 0.45 }
local function square_hole()
  for i, side in ipairs { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } } do
    local along = side[1] ~= 0
    world:box {
      name = "wall" .. i, fixed = true, size = { along and 2 * H or 0.1, along and 0.1 or 2 * H, plate }, modulus = p.modulus, color = color,
      xyz = { side[1] * (half + H), side[2] * (half + H), -plate / 2 },
    }
  end
end

-- A ring around the hole of cells of 6 tetrahedra each, thin beside the surfaces that are pressed or end there; its polygons have the areas
-- of the circles.
local function round_hole()
  local around, skin, vertices, tetrahedra = 32, 1.2 * p.interference / H, {}, {}
  local widths, depths = { 0, skin, 1, 2 }, { 0, skin, 1, 2 - skin, 2 } -- over H
  local across, down = #widths - 1, #depths - 1
  local scale = math.sqrt(2 * math.pi / around / math.sin(2 * math.pi / around))
  local function number(i, j, k) return 1 + k + (down + 1) * (j + (across + 1) * (i % around)) end
  for i = 0, around - 1 do
    local angle = 2 * math.pi * i / around
    for j = 0, across do
      local r = scale * (half + H * widths[j + 1])
      for k = 0, down do vertices[number(i, j, k)] = { r * math.cos(angle), r * math.sin(angle), -H * depths[k + 1] } end
    end
  end
  for i = 0, around - 1 do
    for j = 0, across - 1 do
      for k = 0, down - 1 do
        for _, order in ipairs { { 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 } } do -- along the cell's diagonal
          local at, corners = { i, j, k }, { number(i, j, k) }
          for _, axis in ipairs(order) do
            at[axis] = at[axis] + 1
            corners[#corners + 1] = number(table.unpack(at))
          end
          tetrahedra[#tetrahedra + 1] = corners
        end
      end
    end
  end
  with_file(vertices, tetrahedra, function(path)
    return world:mesh { name = "plate", file = path, fixed = true, modulus = p.modulus, color = color }
  end)
end

if p.hole == "round" then round_hole() else square_hole() end
local link = [[<link name="%s"><inertial><mass value="0.05"/><inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial>%s</link>]]
local slide = [[<joint name="%s" type="prismatic"><parent link="%s"/><child link="%s"/><axis xyz="%s"/>
  <limit lower="-1" upper="1" effort="1e3" velocity="10"/></joint>]]
local peg = ('<visual><geometry><capsule radius="%g" length="%g"/></geometry></visual><collision><geometry><capsule radius="%g" length="%g"/></geometry>'
  .. '<drake:proximity_properties><drake:rigid_hydroelastic/><drake:mesh_resolution_hint value="%g"/></drake:proximity_properties></collision>')
  :format(radius, length, radius, length, p.resolution)
local carriage = load_text(world, ".urdf", '<robot name="carriage"><link name="rail"/>' .. link:format("cross", "") .. link:format("saddle", "")
  .. link:format("peg", peg) .. slide:format("x", "rail", "cross", "1 0 0") .. slide:format("y", "cross", "saddle", "0 1 0")
  .. slide:format("z", "saddle", "peg", "0 0 1") .. "</robot>",
  { fixed = true, base = { xyz = { p.beside, p.beside, length / 2 + radius } } })
world:contact_material { mu = p.mu }
world:controller { "joint_pd", target = carriage, joints = { "x", "y" }, kp = 10, kd = 2 }
local drive = world:controller { "joint_pd", target = carriage, joints = { "z" }, kp = 1e5, kd = 500 }

local seconds = (length / 2 + 2 * radius + plate) / p.speed
local held, samples, most, unsolved = 0, 0, 0, 0
for step in world:run { seconds = seconds } do
  drive:set { position = { z = -p.speed * step.time }, velocity = { z = -p.speed } }
  local force = world:contact_force(carriage).force[3]
  if step.time > 0.8 * seconds then -- the round end is through, the straight part fills the plate
    held, samples = held + force, samples + 1
  end
  most = worse(most, force)
  world:plot("force [N]", force)
  world:plot("beside the axis [mm]", 1e3 * math.sqrt((p.beside + carriage:joint "x":position()) ^ 2 + (p.beside + carriage:joint "y":position()) ^ 2))
  world:plot("faces", step.face_count)
  unsolved = unsolved + (step.converged and 0 or 1)
end

local x = p.interference
local pressed = p.modulus / H * plate * (p.hole == "round" and 2 * math.pi * radius * x or 4 * 4 / 3 * math.sqrt(2 * radius * x) * x)
local closed = p.mu * pressed
held = held / samples
local off = math.max(math.abs(p.beside + carriage:joint "x":position()), math.abs(p.beside + carriage:joint "y":position()))
stn.result("force_of_sliding", held, "N")
stn.result("closed_form", closed, "N")
stn.result("largest_force", most, "N")
stn.result("beside_the_axis", off, "m")
stn.check("force of sliding: off the closed form", { value = math.abs(held / closed - 1), limit = 0.05 })
stn.check("the peg finds the axis", { value = off, limit = 0.1 * p.interference, unit = "m" })
stn.check("it is through", { value = carriage:joint "z":position(), limit = -(2 * radius + plate), unit = "m" })
stn.check("steps not solved", { value = unsolved, limit = 0 })
