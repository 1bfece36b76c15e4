-- SPDX-License-Identifier: Apache-2.0
-- Solvers of quasistatic steps, as { solver =, law =, integrator = } of stn.world, and what friction each has:
--   relaxed  Anitescu's, which holds what slides off the surface by dt mu times the slip; else Coulomb's
--   corners  on a pyramid with `directions` rays; else on the round cone
--   regular  needs A regular: a mass scale of 1e-3 unless one is asked for
local methods = {}

-- Contacts about as hard as digits allow. Tolerances are relative to free speeds, which a small mass scale makes large.
local hard = { "sap", beta = 3e-4, sigma = 1e-7 }

local known = {
  sap = { relaxed = true, law = hard, tolerance = 1e-10 },
  admm_split = { relaxed = true, law = { "sap", beta = 1e-3, sigma = 3e-7 }, tolerance = 1e-7 },
  ipm = { relaxed = true, law = hard, tolerance = 1e-10, regular = true },
  qp = { relaxed = true, corners = true, tolerance = 1e-10 },
  lemke = { corners = true, regular = true, tolerance = 1e-13 },
  newton_ncp = { tolerance = 1e-12, regular = true },
}

-- mass_scale: nil or below 0 for the default.
function methods.of(name, mass_scale, directions)
  local method = known[name] or error(("solvers: '%s' is none of qp, sap, admm_split, ipm, lemke, newton_ncp"):format(name), 0)
  local scale = mass_scale and mass_scale >= 0 and mass_scale or method.regular and 1e-3 or 0
  return {
    solver = { name, tolerance = method.tolerance, directions = method.corners and directions or nil }, law = method.law,
    integrator = { "quasistatic", unactuated_mass_scale = scale },
    relaxed = method.relaxed, corners = method.corners, mass_scale = scale,
  }
end

return methods
