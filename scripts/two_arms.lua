-- SPDX-License-Identifier: Apache-2.0
-- Two arms lift a box between the pads on their flanges: one file loaded twice, tools attached, friction alone holds.
--
-- The arms face each other, so both move through the same joint positions. These lie in a vertical plane: shoulder,
-- elbow and wrist give distance, height and direction of the flange, found by Newton's method on a copy that never runs.
local stn = require "stiction"
local solve_error = require "solve_error"
local worse = require "worse"

local p = stn.params {
  mu = 0.6,       -- of pads and box
  mass = 2.0,     -- of the box [kg]
  squeeze = 0.005, -- how far inside the box the pads are asked to be [m]
  lift = 0.25,    -- [m]
  kp = 3000.0,    -- [N m/rad]
  kd = 150.0,     -- [N m s/rad]
  dt = 0.002,     -- [s]
  seconds = 3.0,  -- [s]
}

local file = "models/iiwa14/iiwa14.urdf"
local apart, edge, grip = 0.75, 0.2, 0.12 -- bases from the box, its edge, height of the pads' centres [m]
local pad = { 0.12, 0.12, 0.02 }

-- ------------------------------------------------------------------- joint positions for a place of the flange

local ghost = stn.world {}:load { file, fixed = true }
local names = { "iiwa14_joint_2", "iiwa14_joint_4", "iiwa14_joint_6" }
local tip = ghost:link "iiwa14_flange"

-- Distance, height and pitch of the flange; its z axis points out of the arm.
local function place(q)
  ghost:set_q { [names[1]] = q[1], [names[2]] = q[2], [names[3]] = q[3] }
  local out = tip:pose():rotate { 0, 0, 1 }
  local at = tip:position()
  return { at[1], at[3], math.atan(out[1], out[3]) }
end

local function determinant(a, b, c)
  return a[1] * (b[2] * c[3] - b[3] * c[2]) + a[2] * (b[3] * c[1] - b[1] * c[3]) + a[3] * (b[1] * c[2] - b[2] * c[1])
end

-- Newton from `q`, with Cramer's rule and differences.
local function solve(q, target)
  for _ = 1, 30 do
    local here, columns, rest = place(q), {}, {}
    for i = 1, 3 do
      local moved = { q[1], q[2], q[3] }
      moved[i] = moved[i] + 1e-6
      local there = place(moved)
      columns[i] = { (there[1] - here[1]) / 1e-6, (there[2] - here[2]) / 1e-6, (there[3] - here[3]) / 1e-6 }
      rest[i] = target[i] - here[i]
    end
    local whole = determinant(columns[1], columns[2], columns[3])
    local change = { determinant(rest, columns[2], columns[3]) / whole, determinant(columns[1], rest, columns[3]) / whole,
                     determinant(columns[1], columns[2], rest) / whole }
    local largest = math.max(math.abs(change[1]), math.abs(change[2]), math.abs(change[3]))
    local scale = math.min(1, 0.3 / largest)
    q = { q[1] + scale * change[1], q[2] + scale * change[2], q[3] + scale * change[3] }
    if largest < 1e-9 then
      return q
    end
  end
  error("the arm cannot reach that far", 0)
end

-- Pad's face at `gap` from the box, its centre at `height`.
local guess = { 0.8, -1.6, -0.8 }
local function reach(gap, height)
  guess = solve(guess, { apart - edge / 2 - pad[3] - gap, height, math.pi / 2 })
  return guess
end

-- ------------------------------------------------------------------------------------------------- the world

local world = stn.world { dt = p.dt }
world:ground { mu = p.mu }
local box = world:box { name = "box", size = { edge, edge, edge }, mass = p.mass, xyz = { 0, 0, edge / 2 }, mu = p.mu,
                        color = { 0.85, 0.45, 0.15 } }
local start = reach(0.05, grip)
local arms, motors = {}, {}
for i, name in ipairs { "left", "right" } do
  local arm = world:load {
    file, name = name, fixed = true,
    base = { xyz = { i == 1 and -apart or apart, 0, 0 }, rpy = { 0, 0, i == 1 and 0 or math.pi } },
    joints = { [names[1]] = start[1], [names[2]] = start[2], [names[3]] = start[3] },
  }
  local tool = world:box { name = name .. "_pad", size = pad, mass = 0.3, mu = p.mu }
  arm:attach(tool, "iiwa14_flange", { xyz = { 0, 0, pad[3] / 2 } })
  arms[i] = { robot = arm, pad = tool }
end
for i, arm in ipairs(arms) do
  motors[i] = world:controller { "joint_pd", target = arm.robot, kp = p.kp, kd = p.kd, gravity_compensation = true }
end

-- -------------------------------------------------------------------------------------- close, lift, hold

-- From 0 to 1 while t goes from `from` to `to`, with no jump in speed.
local function ramp(t, from, to)
  local s = math.max(0, math.min(1, (t - from) / (to - from)))
  return s * s * (3 - 2 * s)
end

local slip = 0
local worst = solve_error.worst()
local held -- height of the box over the pads when the lift begins
for step in world:run { seconds = p.seconds } do
  local close, up = ramp(step.time, 0, 0.6), ramp(step.time, 0.8, 2.2)
  local q = reach(0.05 - (0.05 + p.squeeze) * close, grip + p.lift * up)
  for _, motor in ipairs(motors) do
    motor:set { position = { [names[1]] = q[1], [names[2]] = q[2], [names[3]] = q[3] } }
  end
  local over = box:position()[3] - (arms[1].pad:position()[3] + arms[2].pad:position()[3]) / 2
  held = step.time >= 0.8 and (held or over) or nil
  slip = worse(slip, held and math.abs(over - held) or 0)
  worst:add(step.certificate)
end

local below = world:raycast { from = box:position(), direction = { 0, 0, -1 }, exclude = box }
local height = below.distance - edge / 2
stn.result("height_m", height, "m")
stn.result("arms_apart_m", world:distance(arms[1].robot, arms[2].robot).distance, "m")
stn.result("squeeze_N", world:contact_force(box, "left_pad").normal_force, "N")
stn.check("lifted", { value = height, least = 0.9 * p.lift, unit = "m" })
stn.check("slips in the pads", { value = slip, limit = 5e-3, unit = "m" })
stn.check("at rest", { value = box:speed(), limit = 1e-2, unit = "m/s" })
worst:check(1e-5)
