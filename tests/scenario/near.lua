-- SPDX-License-Identifier: Apache-2.0
-- What stn.near says of numbers, lists and poses that are too far from what is expected.
local stn = require "stiction"

local function refused(text, ...)
  local arguments = table.pack(...)
  local message = stn.fails(function() stn.near(table.unpack(arguments, 1, arguments.n)) end, text)
  assert(message:find("near.lua:", 1, true), message)
end

stn.test("numbers are told with their unit, the difference and what is allowed", function()
  stn.near(1.505, 1.5, { tolerance = 0.01, unit = "N" }, "force")
  refused("force = 1.7 N, expected 1.5 N: off by 0.2 N, allowed 0.01 N", 1.7, 1.5, { tolerance = 0.01, unit = "N" }, "force")
  refused("value = 1, expected 2: off by -1, allowed 0.5", 1, 2, 0.5)
  refused("force = nan N, expected 1 N: off by nan N, allowed 1 N", 0 / 0, 1, { tolerance = 1, unit = "N" }, "force")
  stn.near(math.huge, math.huge, 0)
end)

stn.test("relative tolerances count from what is expected and join absolute ones", function()
  stn.near(1010, 1000, { relative = 0.01 })
  stn.near(1010.4, 1000, { relative = 0.01, tolerance = 0.5 })
  refused("off by 10.6, allowed 10.5", 1010.6, 1000, { relative = 0.01, tolerance = 0.5 })
end)

stn.test("of lists the first number that is off is named", function()
  stn.near({ 1, 2, 3 }, { 1, 2, 3 }, 0)
  refused("force[2] = 2.5 N, expected 2 N: off by 0.5 N, allowed 0.1 N", { 1, 2.5, 9 }, { 1, 2, 3 },
    { tolerance = 0.1, unit = "N" }, "force")
  refused("force has 2 numbers, expected 3", { 1, 2 }, { 1, 2, 3 }, 0.1, "force")
end)

stn.test("poses are compared in metres and radians", function()
  local a = stn.pose { xyz = { 1, 2, 3 }, rpy = { 0.1, 0.2, 0.3 } }
  local turned = a * stn.pose { rpy = { 0, 0, 0.02 } }
  stn.near(a, stn.pose { xyz = { 1, 2, 3.001 }, rpy = { 0.1, 0.2, 0.3 } }, 0.002, "hand")
  stn.near(turned, a, { tolerance = 1e-9, angle = 0.0201 }, "hand")
  refused("hand: turned by 0.02 rad from what is expected, allowed 0.01 rad", turned, a, { tolerance = 1, angle = 0.01 }, "hand")
  refused("hand: xyz = {1, 2, 3} m, expected {1, 2, 3.5} m: off by 0.5 m, allowed 0.1 m", a, { xyz = { 1, 2, 3.5 } }, 0.1, "hand")
end)

stn.test("what is no tolerance is refused", function()
  refused("stn.near: give tolerance, relative or both", 1, 1, { unit = "N" })
  refused("stn.near: the tolerance must be a number >= 0, got -1", 1, 1, -1)
  refused("stn.near: the tolerance must be a number >= 0, got nil", 1, 1)
  refused("unknown key 'tolerence', did you mean 'tolerance'?", 1, 1, { tolerence = 1 })
  refused("value must be a number, got string", "1", 1, 0)
end)
