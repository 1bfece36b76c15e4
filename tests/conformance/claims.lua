-- SPDX-License-Identifier: Apache-2.0
-- Solvers that say "converged" of spoilt answers (wrong_claims.c): every such step is reported as not converged, with what was
-- said and what was found, and no honest step is.
local stn = require "stiction"

local lies = {
  sap = { "zero", "before", "twice", "negative", "velocity", "impulse", "stalled" },
  nsgs = { "zero", "before", "twice", "negative", "stalled" },
}

-- A box that falls on the floor at an angle, slides, and comes to rest beside one that rests all the time.
local function scene(solver, mass)
  local world = stn.world { dt = 0.01, solver = solver, margin = 1e-3 }
  world:ground { mu = 0.5 }
  local box = world:box { name = "box", size = { 0.1, 0.2, 0.1 }, mass = 2, xyz = { 0, 0, 0.08 }, mu = 0.5 }
  world:box { name = "rest", size = { 0.1, 0.1, 0.1 }, mass = mass or 1000, xyz = { 5, 0, 0.05 }, mu = 0.5 }
  box:set_velocity { linear = { 1, 0.3, 0 } }
  return world
end

local function differs(a, b)
  local most, size = 0, 0
  for i = 1, #a do
    for k = 1, 3 do
      most, size = math.max(most, math.abs(a[i][k] - b[i][k])), math.max(size, math.abs(b[i][k]))
    end
  end
  return size > 0 and most / size or most
end

for base, words in pairs(lies) do
  for _, word in ipairs(words) do
    local liar = "lie_" .. base .. "_" .. word
    stn.test("a spoilt answer is not converged, a right one is: " .. liar, function()
      local world, caught, right = scene(base), 0, 0
      for step in world:run { steps = 60 } do
        assert(step.contradiction == nil and step.converged, step.contradiction)
        local truth, said = world:solve_problem { base }, world:solve_problem { liar }
        assert(truth.contradiction == nil)
        -- impulses tell, but of velocities only the momentum does
        local moved = word == "velocity" and said.certificate.momentum or differs(said.impulses, truth.impulses)
        if moved > 0.02 then
          caught = caught + 1
          assert(not said.converged and said.status == "not_converged" and said.contradiction, ("t = %g s: %g"):format(step.time, moved))
        elseif moved < 1e-9 then
          right = right + 1
        end
        if said.contradiction then
          local claim = word == "stalled" and "says 'stalled at round%-off'" or "says 'ok'"
          assert(said.contradiction:find("^" .. claim .. " at tolerance 1e%-06, but its [nm]%a+ %a+ is [%d.e-]+, bound [%d.e-]+$"), said.contradiction)
        end
      end
      assert(caught >= (word == "before" and 1 or 10), ("%d steps were spoilt"):format(caught))
    end)

    stn.test("a world says it, and its run: " .. liar, function()
      local world, contradicted = scene(liar), 0
      for step in world:run { steps = 8 } do
        assert(step.converged == (step.contradiction == nil))
        contradicted = contradicted + (step.contradiction and 1 or 0)
      end
      assert(contradicted >= 1)
    end)
  end

  stn.test("an honest solver behind the same wrapper is believed: " .. base, function()
    for step in scene("lie_" .. base .. "_truth"):run { steps = 60 } do
      assert(step.converged and step.contradiction == nil, step.contradiction)
    end
  end)

  stn.test("a part that is NaN is an error that names the solver: " .. base, function()
    stn.fails(function() for _ in scene("lie_" .. base .. "_part"):run { steps = 8 } do end end, "solver lie_" .. base .. "_part: ")
  end)
end

stn.test("a small wrong island shows beside a large right one", function()
  local world = scene("lie_sap_small", 1e9)
  for step in world:run { steps = 20 } do
    -- of all momentum next to nothing is wrong
    assert(step.contact_count == 4 or step.contradiction)
    assert(step.certificate.momentum < 1e-3, step.certificate.momentum)
  end
end)

stn.test("an approximate solver claims nothing, so nothing contradicts it", function()
  for step in scene("lie_nsgs_approximate"):run { steps = 20 } do
    assert(step.contradiction == nil and (not step.converged or step.island_count == 0))
  end
end)
