-- SPDX-License-Identifier: Apache-2.0
-- Clutter as in the SAP paper [castro-2022], section VI-C: with and without walls, boxes that touch by our own manifolds or
-- by the paper's 26 spheres (a box then lies on 9 points). Iterations, time and momentum error of every step: to the
-- summary, to plots in a recording, and to --log.
local stn = require "stiction"
local statistics = require "statistics"
local clutter = require "clutter_scene"

local p = clutter.parameters { tolerance = 1e-5, cases = stn.choice { "all", "one" } }

local function mean(values, from)
  local sum, count = 0, 0
  for i = from, #values do
    sum, count = sum + values[i], count + 1
  end
  return count > 0 and sum / count or 0
end

-- Force with which floor and walls carry the bodies, and their weight [N].
local function support(world, bodies)
  local names, carried, weight = {}, 0, 0
  for _, body in ipairs(bodies) do
    names[body.name], weight = true, weight + 9.81 * body:mass()
  end
  for _, contact in ipairs(world:contacts()) do
    if names[contact.a] ~= names[contact.b] then -- the impulse is that on b
      carried = carried + (names[contact.b] and 1 or -1) * contact.impulse[3] / p.dt
    end
  end
  return carried, weight
end

local function run()
  local world <close> = stn.world { dt = p.dt, solver = { "sap", tolerance = p.tolerance } }
  local bodies = clutter.build(world, p)
  local iterations, duration, worst, defect = {}, {}, 0, 0
  local contacts, penetration, unsolved = 0, 0, 0
  for step in world:run { seconds = p.seconds } do
    iterations[#iterations + 1], duration[#duration + 1] = step.iterations, step.step_us
    worst, defect = math.max(worst, step.certificate.momentum), math.max(defect, step.certificate.complementarity)
    contacts, penetration = step.contact_count, step.overlap_m
    unsolved = unsolved + (step.converged and 0 or 1)
  end
  local name = (p.walls and "walls" or "open floor") .. ", " .. p.box_contact
  io.stderr:write(("%-22s %9d %10.2f %12.2f %8d %10.0f %12.1e %12.1e\n"):format(name, contacts, mean(iterations, 1),
    mean(iterations, #iterations // 2), math.max(table.unpack(iterations)), statistics.median(duration), worst, penetration))
  local carried, weight = support(world, bodies)
  stn.check(name .. ": momentum error", { value = worst, limit = math.sqrt(2) * p.tolerance }) -- of islands that each keep the tolerance: README
  stn.result(name .. ": largest eps_mu", defect, "1")
  if p.seconds >= 5 then -- it is at rest
    stn.result(name .. ": support over weight", carried / weight, "1")
    stn.check(name .. ": floor and walls carry the weight, off by", { value = math.abs(carried / weight - 1), limit = 1e-4 })
  end
  stn.check(name .. ": steps that did not converge", { value = unsolved, limit = 0, unit = "1" })
  stn.result(name .. ": iterations per steady step", mean(iterations, #iterations // 2), "1")
end

io.stderr:write("                        contacts iterations  second half  largest   us median      worst eps_m  overlap [m]\n")
if p.cases == "one" then
  run()
else
  for _, walls in ipairs { true, false } do
    for _, box_contact in ipairs { "manifold", "spheres26" } do
      p.walls, p.box_contact = walls, box_contact
      run()
    end
  end
end
