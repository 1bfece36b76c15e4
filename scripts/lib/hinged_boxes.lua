-- SPDX-License-Identifier: Apache-2.0
-- Chains of hinged boxes of 0.04 x 0.02 m and given lengths, hanging down from the origin: joint i at the tip of link i-1.
-- hinged_boxes.run { l =, m =, axes =, q0 =, qd0 =, damping =, T =, dt = } logs t, q, qd and the energy.
local stn = require "stiction"
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

-- Steps a chain up to o.T: the largest error of the balance of energy, what the dampers took counted, and the positions at the end.
local function advance(o, world, robot)
  local start, lost, worst, before = world:energy().total, 0, 0, robot:v()
  for step in world:run { steps = math.floor(o.T / world.dt + 0.5) } do
    local now = robot:v()
    for i, v in ipairs(now) do lost = lost + o.damping * ((v + before[i]) / 2) ^ 2 * world.dt end
    before = now
    local off = math.abs(step.energy_J + lost - start)
    worst = off <= worst and worst or off -- NaN stays
  end
  return worst, robot:q()
end

-- Runs the chain, and once more with twice dt: errors must fall with dt by the order of the integrator. `exact`, where the case knows them, are the
-- positions at the end; their error must be what the difference of both runs promises.
function hinged_boxes.run(o, exact)
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
  stn.result("energy_start", world:energy().total, "J")
  local off, q = advance(o, world, robot)
  stn.result("energy_end", world:energy().total, "J")
  stn.result("energy_off_balance", off, "J")

  local coarse <close>, its_robot = hinged_boxes.world(setmetatable({ dt = 2 * o.dt }, { __index = o }))
  local coarse_off, coarse_q = advance(o, coarse, its_robot)
  local order = world.integrator == "midpoint" and 2 or 1
  stn.check("balance of energy: order in dt", { value = math.log(coarse_off / off, 2), least = order - 0.1 })
  for i, value in ipairs(exact or {}) do
    stn.result(("error_q%d"):format(i - 1), q[i] - value, "rad")
    stn.check(("q%d at the end: error over what the run with 2 dt promises"):format(i - 1),
      { value = math.abs(q[i] - value) / (math.abs(coarse_q[i] - q[i]) / (2 ^ order - 1)), limit = 1.2 })
  end
end

return hinged_boxes
