-- SPDX-License-Identifier: Apache-2.0
-- Kinetic, potential and elastic energy together, with what patches store: that is told with the step that begins where the energy of motion
-- was told with the step before, so that a sum is known one step late.
local balance = {}
balance.__index = balance

--- Of a world before its first step.
function balance.new(world)
  return setmetatable({ world = world, before = world:energy().total, rise = 0, most_stored = 0 }, balance)
end

--- After a step: the sum at its start and what patches stored then [J]; .first, .rise above the running minimum and .most_stored are kept.
function balance:add(step)
  local stored = 0
  for _, patch in ipairs(self.world:patches()) do stored = stored + patch.elastic_J end
  local total = self.before + stored
  self.first = self.first or total
  self.lowest = math.min(self.lowest or total, total)
  self.rise = math.max(self.rise, total - self.lowest)
  self.most_stored = math.max(self.most_stored, stored)
  self.before = step.energy_J
  return total, stored
end

return balance
