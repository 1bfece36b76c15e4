-- SPDX-License-Identifier: Apache-2.0
-- A box of 0.5 kg is pushed over the floor, friction 0.2: paper COND [lee-2023], section V-B and Table I. Its corners are virtual nodes
-- tied to it by a damper k_v, so that they creep at a quarter of its weight over k_v: errors fall as 1/k_v. k_v = 0: no virtual nodes.
-- `table=true` runs all rows of the table, one world each. Its rows Penalty1 and Penalty2 are law/penalty, the explicit step of a spring and
-- dampers; Penalty2 has ten times the gains. The paper does not tell the gains. Those of Penalty1 here are chosen: a corner's spring such that
-- the box rests at the paper's error along z, the dampers such that errors come near the paper's. So only the shape can be compared: errors
-- are orders above those of virtual nodes and do not fall with the gains, because the box of Penalty2 bounces.
local stn = require "stiction"
local chart = require "chart"

local p = stn.params {
  k_v = stn.number { 1e4, min = 0, unit = "N s/m" },
  mass = stn.number { 0.5, min = 0.01, unit = "kg" },
  side = stn.number { 0.2, min = 0.01, unit = "m" },
  mu = stn.number { 0.2, min = 0, max = 0.9 }, -- a box with more would tip over
  force = stn.number { 2.0, min = 0, unit = "N" }, -- along y
  dt = stn.number { 0.01, min = 1e-5, max = 0.1, unit = "s" },
  T = stn.number { 1.0, min = 0.01, unit = "s" },
  solver = stn.choice { "cond", "cond_proximal" },
  integrator = "midpoint",
  table = false,        -- k_v from 1e3 to 1e5, without virtual nodes, then penalties
  plot = "",            -- an SVG file: how far the box is off along z, by row
}
local g = 9.81
if p.force <= p.mu * p.mass * g then
  error(("force = %g N does not move the box: friction holds up to %g N"):format(p.force, p.mu * p.mass * g), 0)
end
local ways = {} -- lines of the chart

--- Pushes the box in a world with these options; the mean errors of its place beside the exact one [m].
local function push(name, options, log)
  options.dt, options.gravity, options.integrator = p.dt, { 0, 0, -g }, p.integrator
  local world = stn.world(options)
  local k_v = options.solver.virtual_node_damping or 0
  -- phi = 0: no speed undoes the gap, which is what the table shows
  world:ground { mu = p.mu, relaxation_time = 1e12 }
  local box = world:box { name = "box", size = { p.side, p.side, p.side }, mass = p.mass, mu = p.mu, xyz = { 0, 0, p.side / 2 } }
  local acceleration = p.force / p.mass - p.mu * g
  local error, count, unsolved, way = { 0, 0, 0 }, 0, 0, { name = name, x = {}, y = {} }
  local function exact() return 0, acceleration * world.time ^ 2 / 2, p.side / 2 end
  if log then
    world:log { "t", "x", "y", "z", "vy", "y_symplectic_euler", values = function()
      local at, n = box:position(), world.steps
      return world.time, at[1], at[2], at[3], box:velocity().linear[2], p.dt ^ 2 * acceleration * n * (n + 1) / 2
    end }
  end
  local function measure()
    local at, x, y, z = box:position(), exact()
    for i, exactly in ipairs { x, y, z } do error[i] = error[i] + math.abs(at[i] - exactly) end
    count = count + 1
    way.x[count], way.y[count] = world.time, 1e3 * math.abs(at[3] - z)
  end
  box:apply_force { force = { 0, p.force, 0 } }
  measure()
  for step in world:run { seconds = p.T } do
    -- with k_v the certificate, which knows no virtual nodes, tells what they are off: that the solver converged is what counts
    unsolved = unsolved + ((step.converged or k_v > 0 and step.contradiction) and 0 or 1)
    measure()
  end
  for i = 1, 3 do error[i] = error[i] / count end
  ways[#ways + 1] = way
  return error, unsolved
end

print("k_v [N s/m]   error x [mm]   y [mm]    z [mm]    expected y, z [mm]")
for _, k_v in ipairs(p.table and { 1e3, 1e4, 1e5, 0 } or { p.k_v }) do
  local name = k_v > 0 and ("%g"):format(k_v) or "none"
  local error, unsolved = push("k_v " .. name, { exact_contacts = true, solver = { p.solver, tolerance = 1e-9, virtual_node_damping = k_v } }, not p.table)
  local z = k_v > 0 and p.mass * g / (8 * k_v) or 0 -- half of what the corners creep in T = 1 s
  local y = p.mu * z
  print(("%11s %13.4f %9.4f %9.4f     %.4f, %.4f"):format(name, 1e3 * error[1], 1e3 * error[2], 1e3 * error[3], 1e3 * y, 1e3 * z))
  stn.result(("error_y_%g"):format(k_v), error[2], "m")
  stn.result(("error_z_%g"):format(k_v), error[3], "m")
  if p.T == 1.0 and p.integrator == "midpoint" then
    stn.near(error[2], y, { relative = 0.05, tolerance = 1e-9 }, ("error along y at k_v = %g [m]"):format(k_v))
    stn.near(error[3], z, { relative = 0.05, tolerance = 1e-9 }, ("error along z at k_v = %g [m]"):format(k_v))
  end
  stn.check("the solver converged in every step", { value = unsolved, limit = 0 })
end

if p.table then
  local paper, first = { { 30.23, 12.24 }, { 63.87, 15.32 } }, nil
  for i, gain in ipairs { 1, 10 } do
    local name = "Penalty" .. i
    local error, unsolved = push(name, { solver = { "sap" },
      law = { "penalty", stiffness = 100 * gain, damping = 2.5 * gain, friction_damping = 1.5 * gain } })
    print(("%11s %13.4f %9.4f %9.4f     the paper: %.2f, %.2f"):format(name, 1e3 * error[1], 1e3 * error[2], 1e3 * error[3],
      table.unpack(paper[i])))
    stn.result(("error_y_penalty%d"):format(i), error[2], "m")
    stn.result(("error_z_penalty%d"):format(i), error[3], "m")
    first = first or error
    stn.check("every step of a penalty is solved", { value = unsolved, limit = 0 })
    if p.T == 1.0 and p.integrator == "midpoint" then
      stn.check("errors of a penalty do not fall with its gains", error[2] >= first[2] and error[3] >= first[3])
    end
  end
end
if p.plot ~= "" then
  chart.write(p.plot, { title = "A pushed box: error along z", x = { label = "t [s]" }, y = { label = "mm", log = true }, series = ways, legend = "beside" })
end
