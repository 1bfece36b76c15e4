-- SPDX-License-Identifier: Apache-2.0
-- Kinetic, potential and elastic energy together with what patches store. A step tells its patches as they were at its start, and of bodies
-- that close fast as they will be; so what is stored is asked of a second world, which takes each state over at rest and weightless.
local balance = {}
balance.__index = balance

--- Of a world that is described, before its first step.
function balance.new(world)
  local probe = world:clone()
  probe:set_gravity { 0, 0, 0 }
  local still = {}
  for i = 1, world.nv do still[i] = 0 end
  local self = setmetatable({ world = world, probe = probe, still = still, rise = 0, most_stored = 0 }, balance)
  self:add(world:energy().total)
  return self
end

--- What the patches of the present state store [J].
function balance:stored()
  self.probe:set_state { q = self.world:state().q, v = self.still }
  self.probe:step()
  local stored = 0
  for _, patch in ipairs(self.probe:patches()) do stored = stored + patch.elastic_J end
  return stored
end

--- Takes the energy without patches [J] of the present state; returns the whole and what patches store. .first, .lowest, .rise above the running
--- minimum and .most_stored are kept.
function balance:add(energy)
  local stored = self:stored()
  local total = energy + stored
  self.first = self.first or total
  self.lowest = math.min(self.lowest or total, total)
  self.rise = math.max(self.rise, total - self.lowest)
  self.most_stored = math.max(self.most_stored, stored)
  return total, stored
end

return balance
