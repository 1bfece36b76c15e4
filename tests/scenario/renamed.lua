-- SPDX-License-Identifier: Apache-2.0
-- Names of earlier versions are errors that tell the name of today.
local stn = require "stiction"

stn.test("a name of an earlier version is told with its name of today", function()
  local world = stn.world()
  local box = world:box { size = { 1, 1, 1 } }
  stn.fails(function() box:prescribe(function() return {} end) end, "'prescribe' is called 'kinematic' now")
  stn.fails(function() return box:link "robot" end, "has no 'robot'; it has: ")
  stn.fails(function() return world:robot "box" end, "'robot' is called 'group' now")
  stn.fails(function() return world:raycast { from = { 0, 0, 5 }, to = { 0, 0, -5 } }.robot end, "'robot' is called 'group' now")
end)
