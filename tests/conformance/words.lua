-- SPDX-License-Identifier: Apache-2.0
-- What plugins say of themselves, in worlds: an adhesive law pulls (wrong_laws.c), a quasistatic integrator has no energy to keep
-- (wrong_integrators.c), an approximate solver never converges.
local stn = require "stiction"

-- The law pulls with 0.05 N on each contact nearer than 1 mm; a ball has one.
local function ball(lift)
  local world = stn.world { dt = 0.002, law = "wrong_adhesive_pull", gravity = { 0, 0, 0 } }
  local ground = world:ground { mu = 0.5 }
  local ball = world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 0, 0, 0.1 }, mu = 0.5 }
  ball:apply_force { force = { 0, 0, lift } }
  return world, ball, ground
end

stn.test("an adhesive contact holds below its pull, and says that it does", function()
  local world, body = ball(0.04)
  for step in world:run { steps = 200 } do
    assert(step.converged, step.contradiction)
    local contact = world:contacts()[1]
    assert(contact.state ~= "open", contact.state)
    assert(step.certificate.cone == nil, "there is no cone")
  end
  local contact = world:contacts()[1]
  stn.near(contact.normal_force, -0.04, 1e-6, "it pulls with what lifts")
  assert(body:position()[3] - 0.1 < 1e-3)
end)

stn.test("above its pull it lets go", function()
  local world, body = ball(0.06)
  for _ in world:run { steps = 1500 } do end
  assert(body:position()[3] > 0.15, body:position()[3])
  assert(#world:contacts() == 0)
end)

stn.test("a solver that keeps impulses in cones is refused beside an adhesive law", function()
  stn.fails(function()
    local world = stn.world { law = "wrong_adhesive_pull", solver = "apgd" }
    world:ground {}
    world:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.1 } }
    world:step()
  end, "law wrong_adhesive_pull pulls, and solver apgd keeps impulses in cones that do not: take solver sap")
end)

stn.test("auto says why an approximate solver is no part of its chain", function()
  stn.fails(function()
    local world = stn.world { solver = { "auto", chain = "soft_step:10" } }
    world:ground {}
    world:step()
  end, "chain: solver soft_step is approximate")
end)

stn.test("steps of an approximate solver say so", function()
  local world = stn.world { solver = "soft_step" }
  world:ground {}
  world:sphere { radius = 0.1, mass = 1, xyz = { 0, 0, 0.1 } }
  for step in world:run { steps = 10 } do
    assert(step.approximate and not step.converged and step.contradiction == nil)
  end
  for step in stn.world {}:run { steps = 2 } do
    assert(not step.approximate)
  end
end)
