-- SPDX-License-Identifier: Apache-2.0
-- robot:path_is_free: a boom that turns past a post, and a car that drives towards a wall, where the place is known.
local stn = require "stiction"
local load_text = require "robot_text"

-- A boom of 1 m that turns about z from x = 0.05 on, thick 0.02 m; on its end a hook without a joint.
local boom = [[<robot name="boom"><link name="world"/>
  <link name="rod"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><origin xyz="0.5 0 0"/><geometry><box size="0.9 0.02 0.02"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="world"/><child link="rod"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="9" velocity="1"/></joint></robot>]]

local function scene()
  local world = stn.world {}
  local robot = load_text(world, ".urdf", boom)
  local post = world:sphere { name = "post", radius = 0.1, fixed = true, xyz = { 0, 0.6, 0 } }
  return world, robot, post
end

stn.test("it is free as far as the post, and the text says where it meets it", function()
  local world, robot, post = scene()
  local touch = math.pi / 2 - math.asin((0.1 + 0.01) / 0.6) -- the rod's side touches the ball
  assert(robot:path_is_free { to = { turn = touch - 1e-3 } } == true)
  local free, why = robot:path_is_free { to = { turn = touch + 1e-3 } }
  assert(free == false and why:match "^at 9?9?[%d.]+ %% of the path 'boom/rod' is [%d.e-]+ m inside 'post'$", why)
  free, why = robot:path_is_free { from = { turn = 3 }, to = { turn = -3 }, resolution = 1e-4 }
  local at = tonumber(why:match "^at ([%d.]+) %%")
  assert(free == false)
  stn.near(3 - 6 * at / 100, math.pi - touch, 4e-3, "where it meets the post, coming from the other side")
  free, why = robot:path_is_free { to = { turn = touch - 1e-3 }, margin = 0.01 }
  assert(free == false and why:find(" m from 'post'", 1, true), why)
  assert(robot:path_is_free { to = { turn = 3 }, exclude = post })
end)

stn.test("it changes nothing", function()
  local world, robot = scene()
  for _ in world:run { steps = 3 } do end
  local hash = world:hash()
  robot:path_is_free { to = { turn = 3 } }
  assert(world:hash() == hash)
end)

stn.test("what hangs on the robot goes along, what its joints do not move does not count", function()
  local world = stn.world {}
  world:ground {}
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true } -- its base stands on the ground
  local tool = world:box { name = "tool", size = { 0.02, 0.02, 0.4 }, mass = 0.1 }
  arm:attach(tool, "iiwa14_flange", { xyz = { 0, 0, 0.2 } })
  local down = { iiwa14_joint_2 = 1.9 }
  local free, why = arm:path_is_free { to = down }
  assert(not free and why:match "'tool' is [%d.e-]+ m inside '.*ground.*'$", why)
  assert(arm:path_is_free { to = { iiwa14_joint_2 = 1 } })
end)

-- A wire of 0.2 mm that the rod crosses on a way of 6 rad.
stn.test("what is thin is not stepped over", function()
  local world = stn.world {}
  local robot = load_text(world, ".urdf", boom)
  world:capsule { name = "wire", radius = 1e-4, length = 1, fixed = true, xyz = { 0, 0.93, 0 } }
  for i = 1, 20 do
    local free, why = robot:path_is_free { from = { turn = -3 + 0.01 * i }, to = { turn = 3 - 0.013 * i }, margin = 2e-3 }
    assert(free == false and why:find("'wire'", 1, true), i)
  end
  assert(robot:path_is_free { from = { turn = 2 }, to = { turn = 3 } })
end)

-- Random ways of an arm among balls and boxes, beside distances at 200 places of each that world:distance tells.
stn.test("random ways: free as dense samples say, the robot itself included", function()
  local world = stn.world { seed = 3 }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true }
  local function around() return { world:random(-0.9, 0.9), world:random(-0.9, 0.9), world:random(0, 1.2) } end
  for i = 1, 7 do
    world:sphere { name = "ball" .. i, radius = world:random(0.03, 0.1), fixed = true, xyz = around() }
    world:box { name = "box" .. i, size = { 0.1, 0.2, 0.05 }, fixed = true, xyz = around() }
  end
  local margin, self_margin, links = 0.01, 0.005, {} -- those with shapes, the base first
  for i = 0, 7 do links[i + 1] = arm:link("iiwa14_link_" .. i) end
  local function least(q) -- what is left of the margins
    arm:set_q(q)
    local left = math.huge
    for i = 1, 7 do
      for _, name in ipairs { "ball" .. i, "box" .. i } do
        for k = 2, #links do -- the base does not move
          local d = world:distance(links[k], name, { max = 0.1 })
          left = d and math.min(left, d.distance - margin) or left
        end
      end
    end
    for i = 1, #links do
      for k = i + 2, #links do
        local d = world:distance(links[i], links[k], { max = 0.1 })
        left = d and math.min(left, d.distance - self_margin) or left
      end
    end
    return left
  end
  local agreed, free_ways = 0, 0
  for _ = 1, 40 do
    local from, to, left = {}, {}, math.huge
    for _, joint in ipairs(arm:joints()) do
      local limits = joint:limits()
      from[joint.name] = world:random(limits.lower, limits.upper)
      to[joint.name] = from[joint.name] + world:random(-0.4, 0.4)
    end
    local free, why = arm:path_is_free { from = from, to = to, margin = margin, self_margin = self_margin }
    for n = 0, 200 do
      local q = {}
      for name, a in pairs(from) do q[name] = a + (to[name] - a) * n / 200 end
      left = math.min(left, least(q))
    end
    if math.abs(left) > 1.5e-3 then -- else both are right: the resolution is 1 mm
      assert(free == (left > 0), ("%s %s %g"):format(free, why, left))
      agreed, free_ways = agreed + 1, free_ways + (free and 1 or 0)
    end
  end
  assert(agreed > 30 and free_ways > 5 and free_ways < 35, ("%d %d"):format(agreed, free_ways))
end)

stn.test("alone in the world every way is free; bad input is told in a line", function()
  local alone = load_text(stn.world {}, ".urdf", boom)
  assert(alone:path_is_free { to = { turn = 3 } })
  local world, robot = scene()
  local cases = {
    { {}, "path_is_free: to is missing" }, { { to = { turns = 1 } }, "did you mean 'turn'" },
    { { to = { 1, 2 } }, "path_is_free: to: the list for group 'boom' has 2 numbers, it needs 1" },
    { { to = { turn = 0 / 0 } }, "turn = nan" }, { { to = { turn = 1 }, resolution = 0 }, "resolution = 0 m must be > 0" },
    { { to = { turn = 1 }, self_margin = -1 }, "self_margin = -1 must be >= 0" }, { { to = { turn = 1 }, margin = -1 }, "margin = -1 must be >= 0" },
    { { to = { turn = 1 }, exclude = "pest" }, "did you mean 'post'" },
  }
  for _, case in ipairs(cases) do
    local message = stn.fails(function() robot:path_is_free(case[1]) end, case[2])
    assert(message:match "^[^\n]*path_is_free%.lua:%d+: " and not message:find "\n", message)
  end
  world:close()
end)
