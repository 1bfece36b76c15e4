-- SPDX-License-Identifier: Apache-2.0
-- What controllers are measured on: the iiwa 14 with a ball on its flange, and a table without friction under it.
local stn = require "stiction"
local plant = {}

plant.link = "iiwa14_flange"
plant.radius = 0.03                                      -- of the ball [m]
plant.start = { 0.3, 0.6, -0.2, -1.2, 0.4, 0.9, 0.1 }    -- [rad]

local reach = 0.08 -- of the ball's middle from the flange [m]
local down = { 0.55, 0.1 } -- where the ball presses [m]

-- { dt =, table = height of its surface [m], weight = mass of a loose ball [kg] }. Returns world, arm, ball, weight. The ball turns with the flange, and the table is smooth, so that a push is along its normal.
function plant.new(options)
  local world = stn.world { dt = options.dt or 1e-3, solver = { "sap", tolerance = 1e-10 } }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", fixed = true, name = "arm" }
  local ball = world:sphere { name = "ball", radius = plant.radius, mass = 0.2, mu = 0 }
  arm:attach(ball, plant.link, { xyz = { 0, 0, reach } })
  world:disable_collisions(arm)
  if options.table then
    world:box { name = "table", size = { 0.6, 0.6, 0.1 }, fixed = true, xyz = { 0.6, 0, options.table - 0.05 }, mu = 0 }
  end
  local weight = options.weight and world:sphere { name = "weight", radius = plant.radius, mass = options.weight, mu = 0, xyz = { 0, 0, 5 } }
  plant.place(arm, plant.start)
  return world, arm, ball, weight
end

-- Positions of the joints, as a list.
function plant.place(arm, positions)
  for i, joint in ipairs(arm:joints()) do
    joint:set_position(positions[i])
  end
end

-- Joint positions with the flange pointing down and the ball's lowest point at `height` [m]; from `seed`, so that near heights have near positions.
function plant.pointing_down(arm, height, seed)
  local names, by_name, list = {}, {}, {}
  for i, joint in ipairs(arm:joints()) do
    names[i], by_name[joint.name] = joint.name, seed[i]
  end
  local found = assert(arm:inverse_kinematics { link = plant.link, seeds = { by_name }, tolerance = 1e-12, angle_tolerance = 1e-12,
    pose = { xyz = { down[1], down[2], height + plant.radius + reach }, axes = { x = { 1, 0, 0 }, z = { 0, 0, -1 } } } })
  for i, name in ipairs(names) do
    list[i] = found[name]
  end
  return list
end

return plant
