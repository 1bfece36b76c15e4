-- SPDX-License-Identifier: Apache-2.0
-- Impact without collision, Painleve's paradox: a rod slides on its leading lower end, leans back and is stopped by friction that grows
-- with the force it causes; it jams, sticks for about 0.2 ms and is thrown up: paper ICF [castro-2023], section IX-C. The tip starts in
-- touch; glide=true raises it to where the law slides: mu U0 (dt + taud) with sap, mu U0 dt with similar. Without that their first
-- step is an impact. dissipation=false takes d = taud = 0.
-- study=true runs `laws` with the steps `dts` against the continuous solution, jams=true tells what each of them makes of the jam: how
-- fast the force oscillates before it, too, and with dissipation how much later it comes than without.
local stn = require "stiction"
local planar = require "planar"

local p = planar.parameters {
  law = stn.choice { "lagged", "sap", "similar", "lagged_regularized" },
  m = 0.3, L = 0.5, r = 0.005,  -- [kg], [m]
  phi0_deg = 30.0,              -- angle to the ground
  U0 = 10.0,                    -- along x [m/s]
  mu = 2.3,
  d = 0.2, taud = 4e-6,         -- [s/m], [s]
  dissipation = true,
  glide = false,
  jams = false,
  dt = 1e-5,                    -- [s]
  seconds = 0.0256,             -- [s]
  dts = "1e-6,1e-5,4e-5,1.6e-4,6.4e-4", -- of the study [s]
}
if not p.dissipation then
  p.d, p.taud = 0, 0
end

local a, angle = p.L / 2 - p.r, p.phi0_deg * stn.deg -- centre of mass to the sphere that touches

local function rod(law, dt)
  local above = p.glide and law and ({ sap = p.mu * p.U0 * (dt + p.taud), similar = p.mu * p.U0 * dt })[law] or 0
  local start = { 0, a * math.sin(angle) + p.r + above, 0, p.U0, 0, 0 }
  return {
    mass = p.m, inertia = p.m * (3 * p.r ^ 2 + p.L ^ 2) / 12, start = start, angle = angle + math.pi / 2, count = 1,
    lowest = function(theta)
      return { { x = a * math.cos(angle - theta), z = -a * math.sin(angle - theta) - p.r } }
    end,
    turn = function(theta, torque) -- easily about its axis
      local x, z = math.cos(angle - theta), -math.sin(angle - theta)
      local across, along = 12 / (p.m * (3 * p.r ^ 2 + p.L ^ 2)), 2 / (p.m * p.r ^ 2)
      local about = (along - across) * (torque[1] * x + torque[3] * z)
      return { across * torque[1] + about * x, across * torque[2], across * torque[3] + about * z }
    end,
    build = function(world)
      return world:compound {
        name = "rod", xyz = { 0, 0, start[2] }, rpy = { 0, angle + math.pi / 2, 0 }, velocity = { p.U0, 0, 0 },
        shapes = { { "cylinder", radius = p.r, length = p.L, mass = p.m, mask = 0 }, { "sphere", radius = p.r, xyz = { 0, 0, a } } },
      }
    end,
  }
end

-- The jam: the largest force, how long the tip sticks, and how fast the rod is thrown up. `first`: when the force,
-- which oscillates before it, has its first maximum.
local function jam_of(dt, run)
  local jam = { peak_force = 0, t_peak = 0 / 0, t_first_stick = 0 / 0, stiction_time = 0, max_vz = -math.huge, min_vx = math.huge }
  local before = 0
  run(function(s)
    local c = s.contacts[1]
    jam.first = jam.first or c.fn < before and s.t - dt or nil
    before = c.fn
    if c.fn > jam.peak_force then
      jam.peak_force, jam.t_peak = c.fn, s.t
    end
    if c.fn > 0 and math.abs(c.vt) < 10 * p.eps then
      jam.stiction_time = jam.stiction_time + dt
      jam.t_first_stick = jam.t_first_stick ~= jam.t_first_stick and s.t or jam.t_first_stick
    end
    jam.max_vz, jam.min_vx, jam.vz_end = math.max(jam.max_vz, s.vz), math.min(jam.min_vx, s.vx), s.vz
  end)
  jam.first = jam.first or 0 / 0
  return jam
end

local function single()
  local jam = jam_of(p.dt, function(visit) planar.run(p, rod(p.law, p.dt), visit) end)
  stn.result("t_peak", jam.t_peak, "s")
  stn.result("peak_force", jam.peak_force, "N")
  if jam.stiction_time > 0 then
    stn.result("t_first_stick", jam.t_first_stick, "s")
  end
  stn.result("stiction_time", jam.stiction_time, "s")
  stn.result("max_vz", jam.max_vz, "m/s")
  stn.result("vz_end", jam.vz_end, "m/s")
  stn.result("min_vx", jam.min_vx, "m/s")
end

-- What each law and step make of the jam. One that misses it lets the rod turn over its tip without throwing it up.
local function jams()
  io.stderr:write(("%-20s %9s %10s %12s %10s %14s %12s\n"):format("law", "dt [s]", "peak [s]", "peak [N]", "stick [s]", "upward [m/s]", "first [s]"))
  local function tell(law, dt)
    local jam = jam_of(dt, function(visit) planar.watch(p, rod(law, dt), law, dt, visit) end)
    io.stderr:write(("%-20s %9g %10.6f %12.5g %10.6f %14.4f %12.6f\n"):format(law, dt, jam.t_peak, jam.peak_force, jam.stiction_time, jam.max_vz,
      jam.first))
    return jam
  end
  local laws, dts = planar.compared(p)
  local lagged, later = {}, {}
  for _, law in ipairs(laws) do
    local caught = 0 -- the largest step up to which every one is thrown up
    for i, dt in ipairs(dts) do
      local jam, name = tell(law, dt), ("_%s_%g"):format(law, dt)
      lagged[dt] = law == "lagged" and jam or lagged[dt]
      caught = caught == (dts[i - 1] or 0) and jam.max_vz > 2 and dt or caught
      stn.result("upward" .. name, jam.max_vz, "m/s")
      stn.result("t_peak" .. name, jam.t_peak, "s")
      stn.result("peak_force" .. name, jam.peak_force, "N")
      stn.result("stiction_time" .. name, jam.stiction_time, "s")
      stn.result("first_maximum" .. name, jam.first, "s")
      if law ~= "lagged" and lagged[dt] then
        later[law] = later[law] or {}
        later[law][dt] = jam.t_peak - lagged[dt].t_peak
        stn.result("later_than_lagged" .. name, later[law][dt], "s")
        stn.result("force_over_lagged" .. name, jam.peak_force / lagged[dt].peak_force)
        stn.result("frequency_over_lagged" .. name, lagged[dt].first / jam.first)
      end
    end
    stn.result("jams_up_to_" .. law, caught, "s")
  end
  for _, dt in ipairs(dts) do
    if later.sap and later.similar then
      stn.result(("shift_of_sap_over_similar_%g"):format(dt), math.abs(later.sap[dt] / later.similar[dt]))
    end
  end
  if p.dissipation and lagged[dts[1]] then
    local d, taud = p.d, p.taud
    p.d, p.taud = 0, 0
    stn.result(("later_by_dissipation_lagged_%g"):format(dts[1]), lagged[dts[1]].t_peak - tell("lagged", dts[1]).t_peak, "s")
    p.d, p.taud = d, taud
  end
end

if p.study then
  local rows = planar.study(p, rod, "Sliding rod: error against the continuous solution")
  if rows.lagged and rows.lagged[1].dt <= 1e-6 then -- coarser ones do not resolve the jam
    planar.check_order(rows, "lagged", 0.9, 1.1)
  end
elseif p.jams then
  jams()
else
  single()
  if p.plot ~= "" then
    planar.draw(p, rod, ("Sliding rod, dt %g s"):format(p.dt))
  end
end
