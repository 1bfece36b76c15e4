-- SPDX-License-Identifier: Apache-2.0
-- A world and a model in SDFormat, simulated.
local stn = require "stiction"

local function with_file(ending, text, use)
  local path = os.tmpname()
  local file = assert(io.open(path .. ending, "w"))
  file:write(text)
  file:close()
  local good, problem = pcall(use, path .. ending)
  os.remove(path)
  os.remove(path .. ending)
  if not good then
    error(problem, 0)
  end
end

local ball = [[
  <inertial><mass>0.5</mass><inertia><ixx>0.002</ixx><iyy>0.002</iyy><izz>0.002</izz></inertia></inertial>
  <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry>
    <surface><contact><ode><kp>1e5</kp><kd>1000</kd></ode></contact></surface></collision>]]

stn.test("balls of a world file fall onto its ground and come to rest there", function()
  with_file(".world", [[
    <sdf version="1.9"><world name="two_balls">
      <model name="ground"><static>true</static>
        <link name="link"><collision name="c"><geometry><plane/></geometry></collision></link></model>
      <model name="left"><pose>0 0 0.3 0 0 0</pose><link name="ball">]] .. ball .. [[</link></model>
      <model name="right"><pose relative_to="left">2 0 0.2 0 0 0</pose><link name="ball">]] .. ball .. [[</link></model>
    </world></sdf>]], function(file)
    local world = stn.world { dt = 1e-3 }
    local robot = world:load { file }
    stn.near(robot:link("right::ball"):position(), { 2, 0, 0.5 }, 1e-15, "start")
    for _ in world:run { steps = 1500 } do
    end
    local sunk = 0.5 * 9.81 / 1e5
    stn.near(robot:link("left::ball"):position(), { 0, 0, 0.1 - sunk }, 1e-6, "left")
    stn.near(robot:link("right::ball"):position(), { 2, 0, 0.1 - sunk }, 1e-6, "right")
  end)
end)

stn.test("a pendulum hangs on the world where its file puts it and swings as long as its length says", function()
  with_file(".sdf", [[
    <sdf version="1.9"><model name="pendulum"><pose>0 0 3 0 0 0</pose>
      <link name="bob"><pose>0 0 -1 0 0 0</pose>
        <inertial><mass>2</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial></link>
      <frame name="pivot"/>
      <joint name="hinge" type="revolute"><pose relative_to="pivot"/><parent>world</parent><child>bob</child>
        <axis><xyz>0 1 0</xyz></axis></joint>
    </model></sdf>]], function(file)
    local world = stn.world { dt = 1e-4 }
    local robot = world:load { file, joints = { hinge = 0.01 } }
    local angle = 0.01
    stn.near(robot:link("bob"):position(), { -math.sin(angle), 0, 3 - math.cos(angle) }, 1e-15, "start")
    local quarter = 0.5 * math.pi * math.sqrt(1 / 9.81)
    for _ in world:run { steps = math.floor(quarter / 1e-4 + 0.5) } do
    end
    stn.near(robot:link("bob"):position(), { 0, 0, 2 }, 1e-5, "after a quarter of its period")
  end)
end)
