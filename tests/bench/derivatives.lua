-- SPDX-License-Identifier: Apache-2.0
-- How many of 200 quasistatic pushes of a free box, by a finger that touches it or does not, have derivatives, why the others have none,
-- and whether those told are differences of predictions, where modes meet of one side or of a mode between. straight (not askew): the
-- finger stands before the middle of the box, where modes meet in the coordinates of the start.
--   stiction run tests/bench/derivatives.lua [--set solver=qp --set directions=4 --set by_q=false --set askew=false]
local stn = require "stiction"
local load_text, sliding_finger = require "robot_text", require "sliding_finger"

local p = stn.params { solver = "qp", directions = 4, pushes = 200, by_q = false, list = false, askew = false, seed = 1 }

local solver = p.solver == "qp" and { "qp", directions = p.directions } or { p.solver, tolerance = 1e-10 }
local world = stn.world { dt = 0.1, solver = solver, integrator = "quasistatic", seed = p.seed }
world:ground { mu = 0.5 }
world:box { size = { 0.1, 0.1, 0.06 }, mass = 0.5, mu = 0.5, xyz = { 0, 0, 0.03 }, rpy = { 0, 0, p.askew and 0.07 or 0 } }
local robot = load_text(world, ".urdf", sliding_finger(0.02), { name = "finger", base = { xyz = { p.askew and -0.073 or -0.071, p.askew and 0.007 or 0, 0.03 } }, fixed = true, mu = 0.8 })
world:controller { "joint_pd", target = robot, kp = 1000, kd = 0, gravity_compensation = true }
world:step()

local function copy(list) return table.move(list, 1, #list, 1, {}) end

-- The start moved along velocity j: of the box 6, of the finger 3; small rotations are taken to first order.
local function moved(q, j, by)
  local out = copy(q)
  if j > 3 and j <= 6 then
    local w = { 0, 0, 0 }
    w[j - 3] = by
    local turned = (stn.pose { rotation_vector = w } * stn.pose { quat = { q[4], q[5], q[6], q[7] } }).quat
    for n = 1, 4 do out[3 + n] = turned[n] end
  else
    local at = j <= 3 and j or j + 1
    out[at] = out[at] + by
  end
  return out
end

-- The velocities from a to b in unit time.
local function difference(a, b)
  local out = {}
  for k = 1, 3 do out[k], out[6 + k] = b[k] - a[k], b[7 + k] - a[7 + k] end
  local turn = (stn.pose { quat = { b[4], b[5], b[6], b[7] } } * stn.pose { quat = { a[4], a[5], a[6], a[7] } }:inverse()).rotation_vector
  for k = 1, 3 do out[3 + k] = turn[k] end
  return out
end

local q, h = world:state().q, 1e-6
local told, meet, between, wrong, reasons = 0, 0, 0, 0, {}

-- Is column j the slopes on one of its sides?
local function compare(at, c, here, slopes, j, predict)
  local sides = { difference(predict(-h), here.q), difference(here.q, predict(h)) }
  local off, apart = { 0, 0 }, 0
  for row, slope in ipairs(slopes) do
    for side = 1, 2 do off[side] = math.max(off[side], math.abs(sides[side][row] / h - slope[j])) end
    apart = math.max(apart, math.abs(sides[1][row] - sides[2][row]) / h)
  end
  meet = meet + (apart > 1e-3 and 1 or 0)
  if math.min(off[1], off[2]) > 1e-3 and apart > 1e-3 then
    between = between + 1
  elseif math.min(off[1], off[2]) > 1e-3 then
    wrong = wrong + 1
    print(("push %d, command %.6g %.6g, column %d: off by %g and %g of its sides, which are %g apart"):format(at, c[1], c[2], j, off[1], off[2], apart))
  end
end

for at = 1, p.pushes do
  local c = { world:random(0, 0.02), world:random(-0.02, 0.02), 0 }
  local r = world:predict(q, c, { derivatives = p.by_q or "command" })
  if r.derivatives_error then
    reasons[r.derivatives_error] = (reasons[r.derivatives_error] or 0) + 1
    if p.list then print(at, c[1], c[2], r.derivatives_error) end
  else
    told = told + 1
    for j = 1, 3 do
      compare(at, c, r, r.dq_dcommand, j, function(by)
        local d = copy(c)
        d[j] = d[j] + by
        return world:predict(q, d, { contacts = false }).q
      end)
    end
    for j = 1, p.by_q and 9 or 0 do
      compare(at, c, r, r.dq_dq, j, function(by) return world:predict(moved(q, j, by), c, { contacts = false }).q end)
    end
  end
end
print(("%s, %d directions: %d of %d pushes have derivatives, %d columns where modes meet, %d of neither side, %d wrong"):format(p.solver, p.directions, told, p.pushes, meet, between, wrong))
for text, count in pairs(reasons) do print(("  %3d  %s"):format(count, text)) end
world:close()
