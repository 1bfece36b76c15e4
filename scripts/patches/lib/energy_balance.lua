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
  local start = { q = world:state().q, energy = world:energy().total }
  return setmetatable({ world = world, probe = probe, still = still, start = start, rise = 0, most_stored = 0 }, balance)
end

local function stored_at(self, q)
  self.probe:set_state { q = q, v = self.still }
  self.probe:step()
  local stored = 0
  for _, patch in ipairs(self.probe:patches()) do stored = stored + patch.elastic_J end
  return stored
end

local function note(self, total)
  self.first = self.first or total
  self.lowest = math.min(self.lowest or total, total)
  self.rise = math.max(self.rise, total - self.lowest)
end

--- Takes the energy without patches [J] after a step; returns the whole and what patches store. .first, .lowest, .rise above the running minimum
--- and .most_stored are kept.
function balance:add(energy)
  if self.start then -- not before the first step: recordings and tables belong to the world that steps first
    note(self, self.start.energy + stored_at(self, self.start.q))
    self.start = nil
  end
  local stored = stored_at(self, self.world:state().q)
  note(self, energy + stored)
  self.most_stored = math.max(self.most_stored, stored)
  return energy + stored, stored
end

return balance
