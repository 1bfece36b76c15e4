-- SPDX-License-Identifier: Apache-2.0
-- Grasps, and how fast objects creep out of them. A scene is a table:
--
--   name, about       what it is called, and in a line what it shows
--   parameters        defaults of its own parameters
--   build(world, p)   adds everything to an empty world; returns
--     object          the robot that creeps
--     travel()        how far it has crept along the load, measured at the contacts [m]
--     loads           tangential force that all contacts carry together [N]: a list, over one period when it changes
--     normal          sum of their normal forces [N]
--     force           what they do to the object on average [N]
--     added           by robot's name: what implicit gains add to the inertia of its joints [kg]
--     drive(t), start, period   optional: called before each step; when a periodic motion begins and how long one takes [s]
--     spins           optional: turning about z is creep, no tilt
--     at_contacts(c)  optional: loads as the contacts at the end make them, and travel over slip at the contacts
--
-- grasp.measure runs it with a law and a solver; grasp.main is the end of a scene's file: run as a script it measures and checks itself,
-- loaded by `require` it hands out the scene.
local stn = require "stiction"
local theory = require "slip_theory"

local grasp = { gravity = 9.81 }

local common = {
  law = "sap", solver = "sap",
  tolerance = 1e-9,       -- of the solver
  max_iterations = 5000,  -- of the solver in a step: Gauss-Seidel takes hundreds where 8 contacts hold one body
  stiction = false,       -- contacts that stick are anchored
  clearance = -1.0,       -- between the object and what holds it at the start [m]; -1: as the law needs
  dt = 0.002,             -- [s]
  seconds = 60.0,         -- [s]; creep is measured from 1 s on, in shorter runs in the second half
}

--- The parameters of a scene with some of them changed.
function grasp.parameters(scene, changes)
  local p = {}
  for _, from in ipairs { common, scene.parameters, changes or {} } do
    for name, value in pairs(from) do p[name] = value end
  end
  return p
end

-- A line through points that come one by one, by least squares: means and centred sums.
local function new_line()
  return { n = 0, t = 0, x = 0, tt = 0, tx = 0 }
end

local function add_point(line, t, x)
  line.n = line.n + 1
  local from_t = t - line.t
  line.t = line.t + from_t / line.n
  line.x = line.x + (x - line.x) / line.n
  line.tt = line.tt + from_t * (t - line.t)
  line.tx = line.tx + from_t * (x - line.x)
end

local function slope(line)
  return line.tx / line.tt
end

local apart = { barrier = 1e-3 } -- laws under which bodies must not touch at the start: how far apart they begin [m]

local known = {}
--- Does that solver take a law, or has it friction of its own?
function grasp.takes_law(solver)
  if known[solver] == nil then
    local probe <close> = stn.world { solver = solver }
    probe:sphere { radius = 1 }
    known[solver] = probe:plugin "law" ~= nil
  end
  return known[solver]
end

--- The world of a scene and what its `build` says. Gives p.clearance a value.
function grasp.begin(scene, p)
  p.clearance = p.clearance >= 0 and p.clearance or apart[p.law] or 0
  local world = stn.world {
    dt = p.dt, gravity = { 0, 0, -grasp.gravity }, solver = { p.solver, tolerance = p.tolerance, max_iterations = p.max_iterations }, stiction = p.stiction or nil,
    law = grasp.takes_law(p.solver) and p.law or nil, certificate = "light",
  }
  return world, scene.build(world, p)
end

-- Force on the object and sum of the normal forces, of the last step.
local function forces(world, object)
  local normal = 0
  for _, contact in ipairs(world:contacts()) do normal = normal + contact.normal_force end
  return world:contact_force(object).force, normal
end

-- The window of the measurement: from when on, how long; whole periods when there are any.
local function window(g, p)
  local start = g.start or math.min(1, p.seconds / 2)
  local length = p.seconds - start
  if g.period then
    length = g.period * math.floor(length / g.period + 1e-9)
    start = p.seconds - length
  end
  assert(length > 0, ("seconds = %g is too short: the measurement begins at %g s"):format(p.seconds, start))
  return start, length
end

-- Angle between two orientations [rad]; that about z left out when asked.
local function tilt(a, b, spins)
  local turned = stn.pose { quat = a }:relative({ quat = b }).quat
  local sine = math.sqrt(turned[2] ^ 2 + turned[3] ^ 2 + (spins and 0 or turned[4] ^ 2))
  return 2 * math.asin(math.min(1, sine))
end

local look_every = 10 -- steps between looks at the forces

--- Runs a scene. Returns creep (whole window), early and late (its halves) [m/s], settled: travel before the creep began [m], moved: from
--- the first to the last point of the window [m], predicted creep [m/s] (nil: of a law that is not known), means of forces, tilt [rad], steps that did not converge, iterations a step.
function grasp.measure(scene, p)
  local world <close>, g = grasp.begin(scene, p)
  local start, length = window(g, p)
  local whole, early, late = new_line(), new_line(), new_line()
  local mean = { force = { 0, 0, 0 }, normal = 0, looks = 0 }
  local upright = g.object:pose().quat
  local unsolved, iterations, count = 0, 0, 0
  local sample = g.period and math.floor(g.period / p.dt + 0.5) or 1 -- steps from one point of the line to the next
  local first = math.floor(start / p.dt + 0.5)
  local from, to = nil, nil
  for step in world:run { seconds = p.seconds } do
    if g.drive then g.drive(step.time + p.dt) end
    local t, x = step.time - start, g.travel()
    count, iterations = count + 1, iterations + step.iterations
    unsolved = unsolved + (step.converged and 0 or 1)
    if step.index >= first then
      if (step.index - first) % sample == 0 then
        add_point(whole, t, x)
        from, to = from or x, x
        add_point(t < length / 2 and early or late, t, x)
      end
      if step.index > first and step.index % look_every == 0 then
        local force, normal = forces(world, g.object)
        for k = 1, 3 do mean.force[k] = mean.force[k] + force[k] end
        mean.normal, mean.looks = mean.normal + normal, mean.looks + 1
      end
    end
  end
  local error = 0
  for k = 1, 3 do error = error + (mean.force[k] / mean.looks - g.force[k]) ^ 2 end
  local contacts, loads, ratio = world:contacts(), g.loads, 1
  if g.at_contacts then loads, ratio = g.at_contacts(contacts) end
  local predicted = p.stiction and 0 or theory.creep(world, contacts, loads, g.added or {})
  return {
    creep = slope(whole), moved = to - from, early = slope(early), late = slope(late), settled = whole.x - slope(whole) * (whole.t + start), predicted = predicted and predicted * ratio,
    force_error = math.sqrt(error), normal = mean.normal / mean.looks, normal_expected = g.normal, force = g.force,
    tilt = tilt(upright, g.object:pose().quat, g.spins), unsolved = unsolved, iterations = iterations / count,
    contacts = #contacts, hold = math.max(table.unpack(g.loads)) / (p.mu * g.normal),
  }
end

local function report(p, m)
  stn.result("creep_um_per_s", 1e6 * m.creep, "um/s")
  if m.predicted and m.hold < 1 then
    stn.result("predicted_um_per_s", 1e6 * m.predicted, "um/s")
  end
  stn.result("creep_early_um_per_s", 1e6 * m.early, "um/s")
  stn.result("creep_late_um_per_s", 1e6 * m.late, "um/s")
  stn.result("moved_um", 1e6 * m.moved, "um")
  stn.result("settled_um", 1e6 * m.settled, "um")
  stn.result("load_over_limit", m.hold, "1")
  stn.result("tilt_deg", m.tilt / stn.deg, "deg")
  if m.hold > 1 then
    stn.check("it slips: the load is beyond the limit", { value = 1e6 * m.creep, least = 1e3, unit = "um/s" })
    return
  end
  local weight = math.sqrt(m.force[1] ^ 2 + m.force[2] ^ 2 + m.force[3] ^ 2)
  stn.check("friction carries the load", { value = m.force_error, limit = 1e-3 * weight, unit = "N" })
  stn.check("the grip has its force", { value = math.abs(m.normal / m.normal_expected - 1), limit = 1e-3, unit = "1" })
  stn.check("the object does not tilt", { value = m.tilt / stn.deg, limit = 0.1, unit = "deg" })
  stn.check("every step is solved", { value = m.unsolved, limit = 0, unit = "steps" })
  if m.predicted then
    stn.check("it creeps as the law says: off by", { value = 1e6 * math.abs(m.creep - m.predicted), limit = 2e3 * m.predicted + 1e-3, unit = "um/s" })
  end
end

--- The end of a scene's file: `return grasp.main(scene, ...)`.
function grasp.main(scene, module)
  if module == nil then
    local p = stn.params(grasp.parameters(scene))
    report(p, grasp.measure(scene, p))
  end
  return scene
end

return grasp
