-- SPDX-License-Identifier: Apache-2.0
-- Bodies on height fields and static meshes.
local stn = require "stiction"

local function flat() return 0 end

stn.test("bodies come to rest on a level height field at their height", function()
  local world = stn.world { dt = 1e-3 }
  world:ground { xyz = { 0, 0, -5 } } -- stands still like the field: these never touch
  world:height_field { name = "field", size = { 4, 4 }, rows = 33, columns = 33, heights = flat }
  local ball = world:sphere { radius = 0.1, xyz = { 0.03, 0.01, 0.12 } }
  local box = world:box { size = { 0.4, 0.3, 0.2 }, xyz = { 1.01, 0.02, 0.12 } }
  local can = world:cylinder { radius = 0.1, length = 0.3, xyz = { -1.02, 0.03, 0.17 } }
  for _ in world:run { seconds = 1 } do
  end
  stn.near(world:distance(ball, "field").distance, 0, 1e-4, "ball")
  stn.near(ball:pose().xyz[3], 0.1, 1e-4, "ball")
  stn.near(box:pose().xyz[3], 0.1, 1e-4, "box")
  stn.near(can:pose().xyz[3], 0.15, 1e-4, "can")
  stn.near(world:nearest { point = { -0.5, -1.5, 1 } }.distance, 1, 1e-12, "nearest point")
end)
