-- SPDX-License-Identifier: Apache-2.0
-- A gripper with soft pads takes an egg, lifts and holds it, with pads of three stiffnesses: the softer they are, the
-- wider they bear and the less they press for one and the same travel of the jaws.
local stn = require "stiction"
local worse = require "worse"

local p = stn.params {
  softest = 2e4,     -- Young's moduli of the pads [Pa]
  middle = 6e4,
  stiffest = 2e5,
  mu = 0.6,          -- of pads and egg
  squeeze = 0.006,   -- how far each jaw goes on after it touches [m]
  strength = 20.0,   -- force at which the shell breaks [N]
  lift = 0.1,        -- [m]
  seconds = 0.5,     -- of holding [s]
  dt = 0.005,        -- [s]
}

local radii, mass = { 0.022, 0.022, 0.029 }, 0.058 -- of the egg [m, kg]
local pad = { 0.02, 0.04, 0.04 }                   -- of a pad [m]
local close, rise = 0.5, 0.6                       -- how long closing and lifting take [s]

local function grip(young)
  local world = stn.world { dt = p.dt }
  local table_top = world:ground { name = "table" }
  local egg = world:ellipsoid { name = "egg", radii = radii, mass = mass, mu = p.mu, xyz = { 0, 0, radii[3] }, color = { 0.93, 0.87, 0.78 } }
  local pads, half = {}, 0.004
  for i, side in ipairs { -1, 1 } do
    local start = radii[1] + 0.002 + pad[1] -- of the middle of a pad's back
    local jaw = world:box { name = side < 0 and "left" or "right", size = { 2 * half, pad[2], pad[3] }, color = { 0.55, 0.58, 0.62 },
      xyz = { side * (start + half), 0, radii[3] } }
    jaw:kinematic(function(t)
      local s, z = math.min(t / close, 1), math.min(math.max((t - close) / rise, 0), 1)
      s, z = s * s * (3 - 2 * s), z * z * (3 - 2 * z)
      return { xyz = { side * (start + half - s * (0.002 + p.squeeze)), 0, radii[3] + z * p.lift } }
    end)
    pads[i] = world:soft { name = side < 0 and "left pad" or "right pad", box = pad, cells = { 4, 6, 6 }, young = young, poisson = 0.4, density = 1100,
      damping = 0.02, xyz = { side * (radii[1] + 0.002 + pad[1] / 2), 0, radii[3] }, mu = p.mu, color = { 0.35, 0.6, 0.75 },
      attach = { { link = jaw, nodes = side < 0 and "x_min" or "x_max" } } }
  end
  local unsolved, most = 0, 0
  for step in world:run { seconds = close + rise + p.seconds } do
    unsolved = unsolved + (step.converged and 0 or 1)
    most = worse(most, world:contact_force(egg, pads[1]).normal_force)
  end
  local left, right, pose = world:contact_force(egg, pads[1]), world:contact_force(egg, pads[2]), egg:pose()
  local name = string.format("young %.0e Pa: ", young)
  print(string.format("%sthe pads press %.3f and %.3f N (at most %.3f) in %d and %d contacts and carry %.4f N; unsolved steps %d", name, left.normal_force,
    right.normal_force, most, left.sticking + left.slipping, right.sticking + right.slipping, left.force[3] + right.force[3], unsolved))
  stn.near(left.force[3] + right.force[3], mass * 9.81, { relative = 1e-2, tolerance = 0 }, name .. "the pads carry the egg [N]")
  stn.check(name .. "the egg went up with the jaws", pose.xyz[3] > radii[3] + 0.9 * p.lift)
  stn.check(name .. "it does not touch the table", world:contact_force(egg, table_top).normal_force == 0)
  return { press = left.normal_force, most = most }
end

local soft, middle, stiff = grip(p.softest), grip(p.middle), grip(p.stiffest)
stn.check("softer pads press less", soft.press < middle.press and middle.press < stiff.press)
stn.check("the shell holds between the softer pads", soft.most < p.strength and middle.most < p.strength)
stn.check("it breaks between the stiffest", stiff.most > p.strength)
