-- SPDX-License-Identifier: Apache-2.0
-- A random world with soft bodies: soft_scene(seed) returns the world, its bodies, and what it is in words.
local stn = require "stiction"

local function pick(stream, list) return list[1 + math.floor(stream:random(0, #list))] end

local solvers = { "sap", "sap", "sap", "qp", "admm", "apgd", "auto", "bisection", "ipm", "lemke", "newton_ncp", "nsgs", "soft_step" }
local laws = { "sap", "sap", "lagged", "similar", "hertz" }
local integrators = { "implicit_euler", "implicit_euler", "midpoint", "symplectic_euler" }

local shapes = {
  function(stream, s, n) return "soft", { box = { s, pick(stream, { s, 0.3 * s }), pick(stream, { s, 2 * s }) }, cells = n } end,
  function(stream, s, n) return "soft", { ball = pick(stream, { s / 2, 0.4 * s }), cells = n } end,
  function(stream, s, n) return "soft", { cylinder = { radius = s / 2, length = pick(stream, { s, 0.4 * s }) }, cells = n } end,
  function(stream, s) return "soft", { finger = { size = { 2 * s, 0.5 * s, 0.4 * s }, chambers = 2, wall = 0.06 * s, floor = 0.1 * s }, cells = { 10, 3, 3 } } end,
  function(stream, s, n) return "cloth", { size = { 2 * s, 1.5 * s }, cells = { 2 * n, 2 * n }, thickness = pick(stream, { 1e-3, 4e-3 }) } end,
  function(stream, s) return "cable", { points = { { -s, 0, 0 }, { s, stream:random(-s, s), 0 } }, segments = 8, radius = pick(stream, { 2e-3, 8e-3 }) } end,
}

local function place(stream, height)
  return { stream:random(-0.1, 0.1), stream:random(-0.1, 0.1), height }, { stream:random(-1.5, 1.5), stream:random(-1.5, 1.5), stream:random(-3, 3) }
end

local function add_soft(world, stream, i, height, jaw)
  local s = stream:random(0.06, 0.2)
  local kind, d = pick(stream, shapes)(stream, s, math.floor(stream:random(1, 5)))
  d.name, d.xyz, d.rpy = "soft " .. i, place(stream, height)
  d.young, d.density = 10 ^ stream:random(4, kind == "soft" and 6.5 or 8), 10 ^ stream:random(2, 3.5)
  d.damping, d.mu = pick(stream, { 0, 0.01, 0.1 }), pick(stream, { 0, 0.3, 1 })
  if kind ~= "cable" then
    d.poisson = pick(stream, { 0, 0.3, 0.45 })
    d.self_collision = stream:random() < 0.3
  end
  if kind == "soft" then d.model = pick(stream, { "corotational", "neo_hookean" }) end
  local held = pick(stream, { "nothing", "nothing", "world", "jaw" })
  local where = kind == "cable" and "start" or "x_min"
  if held == "world" then
    d.pinned = where
  elseif held == "jaw" then
    d.attach = { { link = jaw, nodes = where } }
  end
  local body = world[kind](world, d)
  return body, d.finger and d.young * 10 ^ stream:random(-4, -1.5) or nil, ("%s %s, young %.1e, held by %s"):format(kind, d.box and "box" or d.ball and "ball" or d.cylinder and "cylinder" or d.finger and "finger" or "-", d.young, held)
end

local function add_rigid(world, stream, i, height)
  local s, o = stream:random(0.03, 0.08), { name = "rigid " .. i, mass = pick(stream, { 0.05, 0.5, 5 }), mu = pick(stream, { 0, 0.5 }) }
  o.xyz, o.rpy = place(stream, height)
  local kind = pick(stream, { "box", "sphere", "capsule", "cylinder", "ellipsoid" })
  if kind == "box" then
    o.size = { s, 2 * s, s }
  elseif kind == "ellipsoid" then
    o.radii = { s, s / 2, s }
  else
    o.radius, o.length = s / 2, kind ~= "sphere" and s or nil
  end
  world[kind](world, o)
end

--- Soft and rigid bodies above a ground, some overlapping at the start, some held by a plate that shakes.
return function(seed)
  local stream = stn.world { seed = seed }
  local solver = pick(stream, solvers)
  local o = { dt = pick(stream, { 1e-3, 5e-3, 1e-2 }), solver = solver, law = solver == "sap" and pick(stream, laws) or nil, integrator = pick(stream, integrators),
    stiction = stream:random() < 0.15, threads = pick(stream, { 1, 2 }) }
  local what = ("seed %d: %s, law %s, %s, dt %g s"):format(seed, o.solver, o.law or "-", o.integrator, o.dt)
  local world = stn.world(o)
  world:ground { mu = pick(stream, { 0, 0.5, 1 }) }
  local jaw = world:box { name = "jaw", size = { 0.2, 0.2, 0.02 }, xyz = { 0, 0, 0.5 } }
  local speed = pick(stream, { 0, 1, 8 })
  jaw:kinematic(function(t) return { xyz = { 0.1 * math.sin(speed * t), 0, 0.5 }, rpy = { 0, 0.3 * math.sin(speed * t), 0 } } end)
  local bodies, pressures = {}, {}
  for i = 1, math.floor(stream:random(1, 4)) do
    local is
    bodies[i], pressures[i], is = add_soft(world, stream, i, stream:random(0.02, 0.6), jaw)
    what = what .. "; " .. is
  end
  for i = 1, math.floor(stream:random(0, 4)) do
    add_rigid(world, stream, i, stream:random(0.02, 0.6))
  end
  for i, pressure in pairs(pressures) do -- which completes the world
    bodies[i]:set_pressure(pressure)
  end
  stream:close()
  return world, bodies, what
end
