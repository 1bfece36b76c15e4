-- SPDX-License-Identifier: Apache-2.0
-- How far a step is from the solution of its contact problem, whatever the solver. A solver of velocities has the contact law exact and
-- errs in momentum. A solver of impulses has the momentum exact, whatever its impulses are, and errs in the law. So both are looked at.
--
--   local worst = solve_error.worst()
--   for step in world:run { seconds = 1 } do worst:add(step.certificate) end
--   worst:check(1e-6)
local stn = require "stiction"
local worse = require "worse"

local solve_error = {}

--- Residual of the contacts in a certificate [m/s]: the lesser of the natural maps of Coulomb's problem and of the regularised convex one,
--- one of which each solver makes small. With a law that is neither of the two the law's own residual [1] counts, if that is less.
--- 0 where the certificate has none of these.
function solve_error.law(certificate)
  local least = math.huge
  for _, name in ipairs { "natural_ncp", "natural_ccp", "law_residual" } do
    local value = certificate[name]
    if value and not (value >= least) then least = value end -- NaN counts
  end
  return least < math.huge and least or least ~= least and least or 0
end

local mt = { __index = {} }

--- The largest errors of the steps that were added.
function solve_error.worst() return setmetatable({ momentum = 0, law = 0 }, mt) end

function mt.__index:add(certificate)
  local momentum, law = certificate.momentum or 0, solve_error.law(certificate)
  self.momentum = momentum <= self.momentum and self.momentum or momentum -- NaN stays
  self.law = law <= self.law and self.law or law
end

--- Checks that neither is larger than `limit`, which is relative for the momentum and in m/s for the law.
function mt.__index:check(limit)
  stn.check("momentum error", { value = self.momentum, limit = limit, unit = "1" })
  stn.check("impulses obey the contact law, off by", { value = self.law, limit = limit, unit = "m/s" })
end

--- Lets a world run, with nothing to do between its steps. Returns their largest errors, and the deepest overlap [m].
function solve_error.run(world, seconds)
  local worst, overlap = solve_error.worst(), 0
  for step in world:run { seconds = seconds } do
    overlap = worse(overlap, step.overlap_m)
    worst:add(step.certificate)
  end
  return worst, overlap
end

return solve_error
