-- SPDX-License-Identifier: Apache-2.0
-- How far a step is from the solution of its contact problem, whatever the solver. A solver of velocities has the contact law exact and
-- errs in momentum. A solver of impulses has the momentum exact, whatever its impulses are, and errs in the law. So both are looked at.
--
--   local worst = solve_error.worst()
--   for step in world:run { seconds = 1 } do worst:add(step.certificate) end
--   stn.check("momentum error", { value = worst.momentum, limit = 1e-6 })
--   stn.check("natural map of the contacts", { value = worst.law, limit = 1e-6, unit = "m/s" })
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

return solve_error
