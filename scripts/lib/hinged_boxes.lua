-- SPDX-License-Identifier: Apache-2.0
-- Chains of hinged boxes of 0.04 x 0.02 m and given lengths, hanging down from the origin: joint i at the tip of link i-1.
-- hinged_boxes.run { l =, m =, axes =, q0 =, qd0 =, damping =, T =, dt = } logs t, q, qd and the energy.
local stn = require "stiction"
local worse = require "worse"
local load_text = require "robot_text"

local hinged_boxes = {}

local function link_text(i, l, m)
  local x, y = 0.04, 0.02
  return ([[<link name="link%d"><inertial><origin xyz="0 0 %.17g"/><mass value="%.17g"/>
    <inertia ixx="%.17g" iyy="%.17g" izz="%.17g" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 %.17g"/><geometry><box size="%g %g %.17g"/></geometry></visual></link>]]):format(i, -l / 2, m,
    m * (y * y + l * l) / 12, m * (x * x + l * l) / 12, m * (x * x + y * y) / 12, -l / 2, x, y, l)
end

local function joint_text(i, axis, length_above, damping)
  return ([[<joint name="joint%d" type="continuous"><parent link="%s"/><child link="link%d"/><origin xyz="0 0 %.17g"/>
    <axis xyz="%g %g %g"/><dynamics damping="%.17g"/></joint>]]):format(i, i == 0 and "base" or "link" .. i - 1, i, -length_above,
    axis[1], axis[2], axis[3], damping)
end

--- A world with the chain in it, at q0 and qd0.
function hinged_boxes.world(o)
  local parts = { '<robot name="chain"><link name="base"/>' }
  for i = 1, #o.l do
    parts[#parts + 1] = link_text(i - 1, o.l[i], o.m[i])
    parts[#parts + 1] = joint_text(i - 1, o.axes[i], i > 1 and o.l[i - 1] or 0, o.damping)
  end
  local world = stn.world { dt = o.dt, integrator = "midpoint" }
  local robot = load_text(world, ".urdf", table.concat(parts) .. "</robot>", { fixed = true })
  world:disable_collisions(robot)
  robot:set_q(o.q0)
  robot:set_v(o.qd0)
  return world, robot
end

function hinged_boxes.run(o)
  local world, robot = hinged_boxes.world(o)
  local columns = { "t" }
  for _, name in ipairs { "q", "qd" } do
    for i = 0, #o.l - 1 do columns[#columns + 1] = name .. i end
  end
  columns[#columns + 1] = "energy"
  columns.values = function()
    local row = { world.time, table.unpack(robot:q()) }
    table.move(robot:v(), 1, #o.l, #row + 1, row)
    row[#row + 1] = world:energy().total
    return table.unpack(row)
  end
  world:log(columns)
  local start, drift = world:energy().total, 0
  for step in world:run { seconds = o.T } do
    drift = worse(drift, math.abs(step.energy_J - start))
  end
  stn.result("energy_start", start, "J")
  stn.result("energy_end", world:energy().total, "J")
  return world, robot, drift
end

return hinged_boxes
