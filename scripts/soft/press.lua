-- SPDX-License-Identifier: Apache-2.0
-- A soft fingertip is pressed down on a box that stands on the floor. The force that the tip's holder exerts, the one between tip and box
-- and the one between box and floor tell the same.
local stn = require "stiction"

local p = stn.params {
  size = 0.02,       -- edge of the tip [m]
  cells = 4,
  young = 2e5,       -- [Pa]
  depth = 0.004,     -- how far it is pressed in [m]
  mass = 0.2,        -- of the box [kg]
  dt = 0.005,        -- [s]
  seconds = 1.0,     -- [s]
}

local world = stn.world { dt = p.dt }
local floor = world:ground { name = "floor" }
local box = world:box { name = "box", size = { 0.06, 0.06, 0.03 }, mass = p.mass, xyz = { 0, 0, 0.015 }, color = { 0.55, 0.58, 0.62 } }
local holder = world:box { name = "holder", size = { p.size, p.size, 0.01 }, color = { 0.3, 0.3, 0.3 } }
local top = 0.03 + p.size + 0.001 -- of the tip, at the start
holder:kinematic(function(t)
  local s = math.min(t / 0.4, 1)
  return { xyz = { 0, 0, top + 0.005 - s * s * (3 - 2 * s) * (p.depth + 0.001) } }
end)
local tip = world:soft {
  name = "tip", box = { p.size, p.size, p.size }, cells = { p.cells, p.cells, p.cells }, young = p.young, poisson = 0.4, density = 1100,
  damping = 0.02, xyz = { 0, 0, top - p.size / 2 }, attach = { { link = holder, nodes = "z_max" } }, color = { 0.9, 0.55, 0.2 },
}

local unsolved = 0
for step in world:run { seconds = p.seconds } do
  unsolved = unsolved + (step.converged and 0 or 1)
end

local push, down = tip:contact_force(box), world:contact_force(box, floor)
local held = tip:attachment_force(holder)
local tip_weight, box_weight = tip:mass() * 9.81, p.mass * 9.81
print(string.format("the holder pushes %.6f N, the tip %.6f N, the floor carries %.6f N; unsolved steps %d", -held[3], push.force[3],
  down.force[3], unsolved))
stn.near(push.force[3], -held[3] + tip_weight, 1e-6, "between tip and box: what the holder pushes and the tip weighs [N]")
stn.near(down.force[3], push.force[3] + box_weight, 1e-6, "on the floor: the tip's push and the weight of the box [N]")
stn.check("the tip presses", push.force[3] > 1)
