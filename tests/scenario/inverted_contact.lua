-- SPDX-License-Identifier: Apache-2.0
-- Contact with one regularisation for all directions, impulses from velocities, and forces of elements, beside closed forms.
local stn = require "stiction"
local worse = require "worse"
local g = 9.81

stn.test("regularization of law sap: contacts that stick creep by their force times it, in all directions and for any dt", function()
  local regularization, mass = 2e-3, 2.0
  for _, dt in ipairs { 1e-3, 1e-2 } do
    for _, solver in ipairs { "sap", "cond_proximal", "ipm" } do
      local world <close> = stn.world { dt = dt, solver = { solver, tolerance = 1e-11 }, law = { "sap", regularization = regularization } }
      world:ground { mu = 0.8, relaxation_time = 1e12 } -- no speed undoes the gap
      local box = world:box { size = { 0.2, 0.2, 0.1 }, mass = mass, mu = 0.8, relaxation_time = 1e12, xyz = { 0, 0, 0.05 } }
      box:apply_force { force = { 5, 3, 0 } }
      for step in world:run { steps = 60 } do assert(step.converged) end
      local contacts, v, at = world:contacts(), box:velocity(), box:position()
      assert(#contacts >= 4)
      stn.near(v.linear[3], -regularization * mass * g / #contacts, 1e-6, solver .. ": the box sinks [m/s]")
      for _, contact in ipairs(contacts) do
        local r, w = {}, v.angular
        for axis = 1, 3 do r[axis] = contact.point[axis] - at[axis] end
        local u = { v.linear[1] + w[2] * r[3] - w[3] * r[2], v.linear[2] + w[3] * r[1] - w[1] * r[3], v.linear[3] + w[1] * r[2] - w[2] * r[1] }
        for axis = 1, 3 do
          stn.near(u[axis], -regularization * contact.force[axis], 1e-5, ("%s: creep of a contact along axis %d [m/s]"):format(solver, axis))
        end
      end
    end
  end
end)

stn.test("impulses of the law are those of the solver, as vectors, for sticking, slipping and parting contacts", function()
  local world <close> = stn.world { dt = 0.005, solver = { "cond_proximal", tolerance = 1e-10 }, law = { "sap", regularization = 1e-3 } }
  world:ground { mu = 0.3 }
  local bodies = {}
  for i = 1, 4 do
    bodies[i] = world:box { size = { 0.1, 0.1, 0.1 }, mass = 0.5 * i, mu = 0.3, xyz = { 0.3 * i, 0, 0.05 }, velocity = { 0.4 * (i - 1), 0, i == 4 and 0.05 or 0 } }
  end
  local jelly = world:soft { name = "jelly", box = { 0.1, 0.1, 0.05 }, cells = { 4, 4, 2 }, young = 5e4, poisson = 0.3, density = 1000, mu = 0.3, xyz = { 0, 1, 0.0255 } }
  local largest = 0
  for step in world:run { steps = 60 } do
    assert(step.converged)
    local inverse, contacts = world:law_impulses(), world:contacts()
    assert(#inverse == #contacts)
    for i, contact in ipairs(contacts) do
      for axis = 1, 3 do
        stn.near(inverse[i][axis], contact.force[axis] * 0.005, 1e-7, "impulse [N s]")
      end
      largest = worse(largest, contact.force[3] * 0.005)
    end
  end
  assert(largest > 1e-3, "nothing pressed")
  assert(jelly:position()[3] > 0)
end)

stn.test("what has no law to invert says so", function()
  local before <close> = stn.world { law = "sap" }
  before:box { size = { 0.1, 0.1, 0.1 } }
  stn.fails(function() before:law_impulses() end, "has not made a step yet")
  local coulomb <close> = stn.world { solver = "cond" }
  coulomb:box { size = { 0.1, 0.1, 0.1 } }
  coulomb:step()
  stn.fails(function() coulomb:law_impulses() end, "takes no law")
end)

stn.test("elastic forces balance weight where nodes hang at rest, and add up to nothing", function()
  for _, kind in ipairs { "solid", "sheet" } do
    local world <close> = stn.world { dt = 0.01, solver = { "cond", tolerance = 1e-10 } }
    local soft
    if kind == "solid" then
      soft = world:soft { name = "bar", box = { 0.02, 0.02, 0.1 }, cells = { 2, 2, 6 }, young = 2e5, poisson = 0.3, density = 1000, damping = 0.1, xyz = { 0, 0, 1 }, pinned = "z_max" }
    else
      soft = world:cloth { name = "sheet", size = { 0.1, 0.1 }, cells = { 4, 4 }, thickness = 1e-3, young = 2e5, poisson = 0.3, density = 500, damping = 0.1, rpy = { math.pi / 2, 0, 0 }, xyz = { 0, 0, 1 }, pinned = "y_max" }
    end
    for step in world:run { seconds = 6 } do assert(step.converged) end
    local total, held, forces = { 0, 0, 0 }, 0, soft:elastic_forces()
    assert(#forces == soft.node_count)
    for _, f in ipairs(forces) do
      for axis = 1, 3 do total[axis] = total[axis] + f[axis] end
    end
    for _, i in ipairs(soft:nodes(kind == "solid" and "z_max" or "y_max")) do held = held + forces[i][3] end
    for axis = 1, 3 do stn.near(total[axis], 0, 1e-9, kind .. ": sum of forces [N]") end
    -- the layer that is held has half a layer's mass
    local share = kind == "solid" and 11 / 12 or 7 / 8
    stn.near(held, -share * soft:mass() * g, 1e-4 * soft:mass() * g, kind .. ": what hangs pulls at the nodes that are held [N]")
  end
end)

stn.test("elastic forces have no damping in them: their work is what the elastic energy loses, while a body swings", function()
  local world <close> = stn.world { dt = 1e-3, solver = "cond", integrator = "midpoint" }
  local bar = world:soft { name = "bar", box = { 0.02, 0.02, 0.1 }, cells = { 2, 2, 6 }, young = 2e5, poisson = 0.3, density = 1000, damping = 0.02, xyz = { 0, 0, 1 }, pinned = "z_max" }
  local force, place, energy, work, lost, least = bar:elastic_forces(), bar:positions(), world:energy().elastic, 0, 0, 0
  for _ in world:run { steps = 40 } do
    local f, x, e = bar:elastic_forces(), bar:positions(), world:energy().elastic
    local done = 0
    for i = 1, #f do
      for axis = 1, 3 do done = done + (force[i][axis] + f[i][axis]) / 2 * (x[i][axis] - place[i][axis]) end
    end
    work, lost, least = work + math.abs(done), lost + math.abs(done - (energy - e)), math.min(least, done)
    force, place, energy = f, x, e
  end
  assert(least < 0 and work > 1e-5, "nothing was stretched")
  stn.check("work that energy does not account for", { value = lost, limit = 0.02 * work, unit = "J" })
end)

stn.test("step.stage_us is nil without a profile", function()
  local world <close> = stn.world {}
  world:box { size = { 0.1, 0.1, 0.1 } }
  assert(world:step().stage_us == nil)
end)
