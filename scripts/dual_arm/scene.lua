-- SPDX-License-Identifier: Apache-2.0
-- The scene of the two arms: a table, a jar with its lid and 16 marbles in it, a bowl, two arms with hands. 160 degrees of
-- freedom: 2 x (7 + 16), 3 x 6 and 16 x 6, as in the dual-arm study of the SAP paper (section VI-E), with our own robots.
local stn = require "stiction"
local add_pads = require "dual_arm.pads"

local scene = {
  bowl = { 0.1, -0.2 }, marble_count = 16, marble_radius = 0.0125, marble_mass = 0.05, layer = 0.0176, -- [m], [kg], from layer to layer [m]; where the bowl stands
  jar_radius = 0.036, jar_floor = 0.006, jar_height = 0.150,     -- inside, and the rim [m]
  lid_seat = 0.138,                                              -- of the lid's origin over the jar's when its plate lies on the rim [m]
  bowl_radius = 0.110, bowl_height = 0.066,                      -- at the rim [m]
}

--- Joint positions of an iiwa by number.
local function posture(...)
  local q = {}
  for k, value in ipairs { ... } do q["iiwa14_joint_" .. k] = value end
  return q
end

scene.posture = { -- of the arms before they begin [rad]: elbows up, hands before the chest
  left = posture(-0.37, 1.05, -0.25, -1.95, -0.50, -1.50, -1.25),
  right = posture(0.00, 0.48, 0.26, -1.95, -0.35, -0.84, 0.10),
}

--- How high so many marbles stand over the jar's origin [m].
function scene.heap(count)
  return scene.jar_floor + 2 * scene.marble_radius + scene.layer * ((count - 1) // 4)
end

--- Layers of four, each turned by 45 degrees: a marble lies in the dip between four others.
local function add_marbles(world, jar_pose, count, mass, mu)
  local marbles, ring = {}, scene.jar_radius - scene.marble_radius - 1e-4
  for i = 0, count - 1 do
    local layer, angle = i // 4, math.pi / 2 * (i % 4) + math.pi / 4 * (i // 4)
    marbles[i + 1] = world:sphere {
      name = "marble" .. i + 1, radius = scene.marble_radius, mass = mass, mu = mu, color = { 0.2, 0.45, 0.7 },
      xyz = jar_pose * { ring * math.cos(angle), ring * math.sin(angle), scene.jar_floor + scene.marble_radius + scene.layer * layer },
    }
  end
  return marbles
end

local BASE = { left = { xyz = { -0.65, 0.35, 0 } }, right = { xyz = { -0.65, -0.35, 0 } } }
local GRIPPING = { left = { "index", "middle", "ring" }, right = { "index", "middle", "thumb" } } -- the fingers whose tips press

--- An arm with a hand on its flange; without `joints` these are where the files put them.
local function load_arm(world, side, mu, joints)
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = side, fixed = true, joints = joints and scene.posture[side], base = BASE[side] }
  local hand = world:load { ("models/allegro/allegro_%s.urdf"):format(side), name = side .. "_hand", mu = mu,
                            joints = joints and { allegro_thumb_joint_0 = 1.2 } }
  arm:attach(hand, "iiwa14_flange")
  return arm, hand
end

local function add_arm(world, side, mu, pads)
  local arm, hand = load_arm(world, side, mu, true)
  world:disable_collisions(arm)
  world:disable_collisions(arm, hand)
  local robot = { side = side, arm = arm, hand = hand, world = world, pads = {} }
  if pads then
    local rest <close> = stn.world {}
    local _, hand_at_rest = load_arm(rest, side)
    robot.pads = add_pads(robot, hand_at_rest, GRIPPING[side], pads, mu)
  end
  return robot
end

--- Servos that hold an arm and its hand; `options.arm` and `options.hand` are parameters of joint_pd.
local function add_servos(robot, options)
  local function servo(target, parameters)
    local keys = { "joint_pd", target = target }
    for key, value in pairs(parameters) do keys[key] = value end
    return robot.world:controller(keys)
  end
  robot.motors, robot.fingers = servo(robot.arm, options.arm), servo(robot.hand, options.hand)
end

--- A value for every thing, or a table with one for each.
local function of(value, thing)
  if type(value) == "table" then return value[thing] end
  return value
end

--- What the table looks like, and the floor below it. Contacts use the half space `ground` alone, whose plane is the top of the
--- board: these shapes collide with nothing (category and mask 0).
local function draw_table(world)
  local function board(name, size, xyz, color) world:box { name = name, size = size, xyz = xyz, color = color, fixed = true, category = 0, mask = 0 } end
  local wood, steel, height = { 0.80, 0.68, 0.52 }, { 0.35, 0.37, 0.40 }, 0.72
  board("table_top", { 1.25, 1.30, 0.04 }, { -0.275, 0, -0.02 }, wood)
  for _, x in ipairs { -0.83, 0.28 } do
    for _, y in ipairs { -0.58, 0.58 } do
      board(("table_leg_%d_%d"):format(x > 0 and 1 or 0, y > 0 and 1 or 0), { 0.06, 0.06, height - 0.04 }, { x, y, -0.04 - (height - 0.04) / 2 }, steel)
    end
  end
  world:ground { name = "floor", xyz = { 0, 0, -height }, category = 0, mask = 0 }
end

--- Everything in its place. `options`: `world` (as of stn.world), the number of `marbles`, poses of `jar` and `bowl` and of the `lid` as seen from the jar, `arm` and
--- `hand` (parameters of their servos); `pads`, the material of soft fingertips (pads.lua), nil: rigid ones; `mu` and `mass`, times which the masses of the files are taken: a number, or one each for
--- table, jar, lid, bowl, marbles and hands.
function scene.build(options)
  local mass = options.mass or 1
  local world = stn.world(options.world)
  local function vessel(name, base)
    return world:load { ("models/vessels/%s.urdf"):format(name), mu = of(options.mu, name), mass_factor = of(mass, name), base = base }
  end
  local ground = world:ground { name = "table", mu = of(options.mu, "table"), visual = false }
  local jar_pose = stn.pose(options.jar or {})
  local jar = vessel("jar", jar_pose)
  local lid = vessel("lid", jar_pose * (options.lid or { xyz = { 0, 0, scene.lid_seat } }))
  local bowl = vessel("bowl", options.bowl or { xyz = { 0.1, -0.2, 0 } })
  local marbles = add_marbles(world, jar_pose, options.marbles or scene.marble_count, scene.marble_mass * of(mass, "marbles"), of(options.mu, "marbles"))
  local left, right = add_arm(world, "left", of(options.mu, "hands"), options.pads), add_arm(world, "right", of(options.mu, "hands"), options.pads)
  draw_table(world)
  add_servos(left, options)
  add_servos(right, options)
  return { world = world, table = ground, jar = jar, lid = lid, bowl = bowl, marbles = marbles, left = left, right = right }
end

return scene
