-- SPDX-License-Identifier: Apache-2.0
-- Mass matrix, bias and Jacobians as scripts see them.
local stn = require "stiction"

local function multiply(rows, v)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = 0
    for j, x in ipairs(row) do
      out[i] = out[i] + x * v[j]
    end
  end
  return out
end

local function dot(a, b)
  local sum = 0
  for i, x in ipairs(a) do
    sum = sum + x * b[i]
  end
  return sum
end

-- An arm with a hand on its flange, somewhere, moving.
local function arm_with_hand()
  local world = stn.world { dt = 1e-4 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true }
  local hand = world:load { "models/wsg50/wsg50.urdf" }
  arm:attach(hand, "iiwa14_flange", { xyz = { 0, 0, 0.05 } })
  local q, v = {}, {}
  for i = 1, #arm:q() do
    q[i], v[i] = 0.4 * math.sin(i), 0.5 * math.cos(2 * i)
  end
  arm:set_q(q)
  arm:set_v(v)
  return world, arm, hand
end

stn.test("a free ball has m, 2 m r^2 / 5 and its weight", function()
  local world = stn.world {}
  local body = world:sphere { radius = 0.1, mass = 2, xyz = { 0, 0, 1 } }
  assert(#body:mass_matrix() == 6 and #body:bias() == 6)
  for i, row in ipairs(body:mass_matrix()) do
    for j, m in ipairs(row) do
      stn.near(m, i ~= j and 0 or i <= 3 and 2 or 0.4 * 2 * 0.01, 1e-15, "M")
    end
  end
  stn.near(body:bias(), { 0, 0, 2 * 9.81, 0, 0, 0 }, 1e-13, "weight")
end)

stn.test("v M v / 2 is the kinetic energy, and J v the velocity, of arm and hand", function()
  local world, arm, hand = arm_with_hand()
  local v = arm:v()
  local both = world:energy().kinetic
  local link = hand:links()[1]
  stn.near(dot(v, multiply(arm:mass_matrix(), v)) / 2, both, 1e-12 * both, "energy")
  local p = { 0.3, -0.2, 0.9 }
  local J = link:jacobian(p, arm)
  assert(#J == 6 and #J[1] == #v)
  local twist, own = multiply(J, v), link:velocity()
  local origin, w = link:position(), own.angular
  local r = { p[1] - origin[1], p[2] - origin[2], p[3] - origin[3] }
  stn.near({ twist[4], twist[5], twist[6] }, w, 1e-14, "angular")
  stn.near({ twist[1], twist[2], twist[3] }, {
    own.linear[1] + w[2] * r[3] - w[3] * r[2],
    own.linear[2] + w[3] * r[1] - w[1] * r[3],
    own.linear[3] + w[1] * r[2] - w[2] * r[1],
  }, 1e-14, "linear")
  stn.near(multiply(link:jacobian(), hand:v()), { 0, 0, 0, 0, 0, 0 }, 1e-14, "the fingers do not move the palm")
end)

stn.test("a Jacobian is the derivative of positions", function()
  local _, arm = arm_with_hand()
  local link, h = arm:link "iiwa14_flange", 1e-6
  local J, q = link:jacobian(), arm:q()
  for i = 1, #q do
    local x = {}
    for side = -1, 1, 2 do
      local moved = { table.unpack(q) }
      moved[i] = moved[i] + side * h
      arm:set_q(moved)
      x[side] = link:position()
    end
    for k = 1, 3 do
      stn.near(J[k][i], (x[1][k] - x[-1][k]) / (2 * h), 1e-9, "J")
    end
  end
end)

stn.test("M a + bias = tau is what a step does", function()
  local world = stn.world { dt = 1e-5 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true, joints = { 0.1, 0.7, -0.2, -1.1, 0.3, 0.6, 0.2 } }
  for _, joint in ipairs(arm:joints()) do
    assert(joint:dynamics().stiffness == 0)
  end
  local v, tau = { 0.5, -0.4, 0.3, 0.2, -0.6, 0.1, 0.7 }, {}
  arm:set_v(v)
  local M, bias = arm:mass_matrix(), arm:bias()
  for i, joint in ipairs(arm:joints()) do
    tau[i] = 3 * math.sin(i)
    joint:set_effort(tau[i])
  end
  world:step()
  local a = {}
  for i, x in ipairs(arm:v()) do
    a[i] = (x - v[i]) / world.dt
  end
  local left = multiply(M, a)
  for i, joint in ipairs(arm:joints()) do -- dampers and dry friction are on the right
    local d = joint:dynamics()
    left[i] = left[i] + bias[i] + d.damping * v[i] + d.friction * (v[i] > 0 and 1 or -1)
  end
  stn.near(left, tau, 2e-3, "efforts")
end)
