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
  assert(free == false and why:match "^at 100 %% of the way 'boom/rod' is [%d.e-]+ m inside 'post'$", why)
  free, why = robot:path_is_free { from = { turn = 3 }, to = { turn = -3 }, step = 1e-3 }
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

stn.test("alone in the world every way is free; bad input is told in a line", function()
  local alone = load_text(stn.world {}, ".urdf", boom)
  assert(alone:path_is_free { to = { turn = 3 } })
  local world, robot = scene()
  local cases = {
    { {}, "path_is_free: to is missing" }, { { to = { turns = 1 } }, "did you mean 'turn'" },
    { { to = { 1, 2 } }, "path_is_free: to: the list for robot 'boom' has 2 numbers, it needs 1" },
    { { to = { turn = 0 / 0 } }, "turn = nan" }, { { to = { turn = 1 }, step = 0 }, "step = 0 rad or m must be > 0" },
    { { to = { turn = 1 }, step = 1e-9 }, "is too small" }, { { to = { turn = 1 }, margin = -1 }, "margin = -1 must be >= 0" },
    { { to = { turn = 1 }, exclude = "pest" }, "did you mean 'post'" },
  }
  for _, case in ipairs(cases) do
    local message = stn.fails(function() robot:path_is_free(case[1]) end, case[2])
    assert(message:match "^[^\n]*path_is_free%.lua:%d+: " and not message:find "\n", message)
  end
  world:close()
end)
