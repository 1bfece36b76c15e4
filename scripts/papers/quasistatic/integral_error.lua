-- SPDX-License-Identifier: Apache-2.0
-- Figure 7 of the paper on quasistatic stepping [pang-2021]: how far the red cube of pick_and_place.lua is from where it ought to be,
-- integrated over the 20 s, over the step h: of quasistatic steps and of steps with inertia. The ground truth is a run with inertia and
-- h = 5e-5 s.
--
--     sum over steps of |(x_k + x_k+1)/2 - x_truth((t_k + t_k+1)/2)| h    [m s], and of the angle between the rotations [rad s]
--
--   stiction run scripts/papers/quasistatic/integral_error.lua --set truth=truth.csv --set table=error.csv --set plot=error.svg
--
-- Both as published, contacts know velocities only, and with `stiction`, where what sticks holds its place (docs/stiction.md). A last
-- line has explicit contacts: springs of `penalty` whose force is that of the step's start. Contacts of the others are implicit.
-- `truth`: the ground truth is kept there and read from there the next time. Times are medians of a step times the number of steps.
-- show: what the chart has, the error of the position or of the angle over h, or that of the position over the time of the run.
local stn = require "stiction"
local chart = require "chart"
local numbers = require "numbers"
local statistics = require "statistics"
local scene = require "pick_and_place_scene"

local p = scene.parameters {
  -- h, quasistatic and with inertia [s]
  steps = "0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001",
  inertia_steps = "0.4, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001",
  truth = "", truth_dt = 5e-5, -- file; [s]
  inertia_solver = "sap",
  explicit = 1e5,              -- stiffness of explicit contacts [N/m]
  show = stn.choice { "position", "angle", "time" },
  table = "", plot = "",
}

local truth = scene.truth(p, p.truth, p.truth_dt)

-- Where the ground truth is at a time; `hint`: a row before it.
local function truth_at(time, hint)
  local k = hint
  while k < #truth.t - 1 and truth.t[k + 1] < time do k = k + 1 end
  local x = math.min(1, math.max(0, (time - truth.t[k]) / (truth.t[k + 1] - truth.t[k])))
  return truth.pose[k]:interpolate(truth.pose[k + 1], x), k
end

local function integral_errors(trace)
  local position, angle, k = 0, 0, 1
  for i = 1, #trace.t - 1 do
    local dt, here, there = trace.t[i + 1] - trace.t[i], trace.pose[i]:interpolate(trace.pose[i + 1], 0.5), nil
    there, k = truth_at(0.5 * (trace.t[i] + trace.t[i + 1]), k)
    position, angle = position + here:distance(there) * dt, angle + here:angle(there) * dt
  end
  return position, angle
end

local function measure(h, kind)
  local trace = scene.trace(p, { dt = h, integrator = kind.integrator, solver = kind.solver, stiction = kind.stiction,
    penalty = kind.penalty or 0 })
  local row = { h = h, steps = trace.steps, succeeds = scene.succeeded(trace.outcome), unsolved = trace.unsolved, contacts = trace.contacts }
  row.position, row.angle = integral_errors(trace)
  row.solve_us, row.step_us = statistics.median(trace.solve_us), statistics.median(trace.step_us)
  row.time_s = row.step_us * row.steps * 1e-6
  io.stderr:write(("%-22s %8g %10.3e %10.3e  %-5s %6d %8.1f %9.1f %9.1f %9.4f\n"):format(kind.name, h, row.position, row.angle,
    tostring(row.succeeds), row.unsolved, row.contacts, row.solve_us, row.step_us, row.time_s))
  return row
end

local kinds = {
  { name = "quasistatic", integrator = "quasistatic", solver = p.solver, stiction = false, rows = {} },
  { name = "quasistatic, stiction", integrator = "quasistatic", solver = p.solver, stiction = true, rows = {} },
  { name = "inertia", integrator = "symplectic_euler", solver = p.inertia_solver, stiction = false, rows = {} },
  { name = "inertia, stiction", integrator = "symplectic_euler", solver = p.inertia_solver, stiction = true, rows = {} },
  -- shorter steps find nothing new, longer ones blow up even more
  { name = "inertia, explicit", integrator = "symplectic_euler", solver = "sap", stiction = false, penalty = p.explicit, from = 1e-4, to = 0.01, rows = {} },
}
io.stderr:write "steps                     h [s]  error [m s]    [rad s]  succeeds unsolved contacts solve [us] step [us]  all [s]\n"
for _, kind in ipairs(kinds) do
  local key = kind.integrator == "quasistatic" and "steps" or "inertia_steps"
  for _, h in ipairs(numbers(p[key], key)) do
    if h >= (kind.from or 0) and h <= (kind.to or math.huge) then table.insert(kind.rows, measure(h, kind)) end
  end
end

-- Of runs with inertia the quickest with at most this error.
local function quickest(error)
  local best
  for k = 3, 4 do
    for _, row in ipairs(kinds[k].rows) do
      if row.position <= error and not (best and best.time_s <= row.time_s) then best = row end
    end
  end
  return best
end

for k = 1, 2 do
  for _, row in ipairs(kinds[k].rows) do
    local other = quickest(row.position)
    if other then
      io.stderr:write(("%s, h = %g s: %.4f s for %.2e m s; with inertia h = %g s: %.4f s for %.2e m s, %.1f times as long\n"):format(kinds[k].name, row.h,
        row.time_s, row.position, other.h, other.time_s, other.position, other.time_s / row.time_s))
    end
  end
end

-- The row of a kind with a step.
local function row_of(kind, h)
  for _, row in ipairs(kind.rows) do
    if row.h == h then return row end
  end
end

for _, kind in ipairs(kinds) do
  local longest, explodes = 0, math.huge
  for _, row in ipairs(kind.rows) do
    stn.result(("%s, h = %g s"):format(kind.name, row.h), row.position, "m s")
    stn.result(("%s, h = %g s, angle"):format(kind.name, row.h), row.angle, "rad s")
    longest = row.succeeds and math.max(longest, row.h) or longest
    explodes = row.position > 1 and math.min(explodes, row.h) or explodes -- it is 5 cm off on average
  end
  stn.result(kind.name .. ", longest step that succeeds", longest, "s")
  if explodes < math.huge then stn.result(kind.name .. ", shortest step that explodes", explodes, "s") end
  local short, long = row_of(kind, 0.01), row_of(kind, 0.4)
  if short and long then stn.result(kind.name .. ", 0.4 s over 0.01 s", long.position / short.position, "1") end
  short, long = row_of(kind, 0.001), row_of(kind, 0.002)
  if short and long then stn.result(kind.name .. ", 2 ms over 1 ms", long.position / short.position, "1") end
end

-- What straight lines between the ends of steps leave, where the cube itself goes as the ground truth does.
for _, h in ipairs(numbers(p.steps, "steps")) do
  local sampled = { t = {}, pose = {} }
  for k = 0, math.floor(scene.duration / h + 0.5) do sampled.t[k + 1], sampled.pose[k + 1] = k * h, (truth_at(k * h, 1)) end
  stn.result(("ground truth every %g s"):format(h), (integral_errors(sampled)), "m s")
end

if p.table ~= "" then
  local lines = { "integrator,solver,stiction,penalty_N_per_m,h_s,error_m_s,error_rad_s,succeeds,unsolved,contacts_mean,solve_median_us,step_median_us,time_s" }
  for _, kind in ipairs(kinds) do
    for _, row in ipairs(kind.rows) do
      lines[#lines + 1] = ("%s,%s,%s,%g,%g,%.4g,%.4g,%s,%d,%.4g,%.4g,%.4g,%.4g"):format(kind.integrator, kind.solver, kind.stiction, kind.penalty or 0, row.h, row.position,
        row.angle, row.succeeds, row.unsolved, row.contacts, row.solve_us, row.step_us, row.time_s)
    end
  end
  local file <close> = assert(io.open(p.table, "w"))
  assert(file:write(table.concat(lines, "\n"), "\n"))
end
if p.plot ~= "" then
  local series = {}
  for _, kind in ipairs(kinds) do
    local line = { name = kind.name, x = {}, y = {} }
    for _, row in ipairs(kind.rows) do
      line.x[#line.x + 1], line.y[#line.y + 1] = p.show == "time" and row.time_s or row.h, math.min(p.show == "angle" and row.angle or row.position, 100)
    end
    if #line.x > 0 then series[#series + 1] = line end
  end
  chart.write(p.plot, { legend = "beside", series = series,
    title = "pick and place: integral error of the red cube's " .. (p.show == "angle" and "angle" or "position"),
    x = { label = p.show == "time" and "time of the run [s]" or "step h [s]", log = true }, y = { label = p.show == "angle" and "rad s" or "m s, 100 and more at the top", log = true } })
end

for k = 1, 2 do
  for _, row in ipairs(kinds[k].rows) do
    stn.check(("%s, h = %g s: the cube is on the stack"):format(kinds[k].name, row.h), row.succeeds)
    stn.check(("%s, h = %g s: steps not solved"):format(kinds[k].name, row.h), { value = row.unsolved, limit = 0, unit = "steps" })
  end
end
-- Drift in the grasp is of order 1 (pick_and_place.lua measures it against its cause); what sticks and holds its place does not drift.
local coarse, fine = row_of(kinds[1], 0.1), row_of(kinds[1], 0.01)
if coarse and fine then
  stn.check("quasistatic, 0.1 s over 0.01 s: of order 1", { value = coarse.position / fine.position, limit = 10, unit = "1" })
  local held, held_fine = row_of(kinds[2], 0.1), row_of(kinds[2], 0.01)
  stn.check("with stiction, 0.1 s over 0.01 s: flat", { value = held.position / held_fine.position, limit = 1.5, unit = "1" })
end
