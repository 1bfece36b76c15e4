-- SPDX-License-Identifier: Apache-2.0
-- Table I of the per-contact paper [hwangbo-2018]: one contact by itself, by every local solver. Contacts come from a CSV as `stiction
-- solve` takes it (id, mu, Wxx, Wxy, Wxz, Wyy, Wyz, Wzz, cx, cy, cz). Where that has exact solutions as well (mdp_lx, mdp_ly, mdp_lz, the
-- same with coulomb_ and ccp_), the error is that of the impulse [N s]; to 1e-10 N s and better, a solution has failed that is
-- farther than 1e-8 of the exact one + 1e-10 N s from it.
--
--   stiction run scripts/papers/per_contact/single_contacts.lua --set file=contacts.csv --set command=build/release/bin/stiction
--
-- A CSV beside it, `others`, may list more solutions of Coulomb's law where there are several: id, lx, ly, lz.
-- Times are the least of 5 batches of 16 solves each, preparation included; their mean over slips, and over all contacts. Of `repeats`
-- runs the median counts.
local stn = require "stiction"
local csv = require "csv"
local statistics = require "statistics"

local p = stn.params {
  file = "", others = "",
  command = "stiction",
  repeats = 5,
  tolerances = "1e-6 1e-10", -- [N s]
  table = "",
}
assert(p.file ~= "", "single_contacts: give the CSV: --set file=contacts.csv")

local function quoted(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

-- What `stiction solve` prints: kind, l, ns of each contact.
local function solve(how, tolerance)
  local command = ("%s solve %s --local %s --tolerance %s"):format(quoted(p.command), quoted(p.file), how, tolerance)
  local pipe <close> = assert(io.popen(command))
  local list = {}
  for line in pipe:lines() do
    local kind, x, y, z, ns = line:match '"kind":%s*"(%a+)".-"l":%s*%[([^,]+),([^,]+),([^%]]+)%].-"ns":%s*([%d.eE+-]+)'
    list[#list + 1] = { kind = assert(kind, line), l = { tonumber(x), tonumber(y), tonumber(z) }, ns = tonumber(ns) }
  end
  return list
end

local contacts = csv.read(p.file)
local more = {}
if p.others ~= "" then
  for _, row in ipairs(csv.read(p.others)) do
    more[row.id] = more[row.id] or {}
    table.insert(more[row.id], { row.lx, row.ly, row.lz })
  end
end

local function exact_solutions(row, law)
  if type(row[law .. "_lx"]) ~= "number" then return {} end
  local list = { { row[law .. "_lx"], row[law .. "_ly"], row[law .. "_lz"] } }
  if law == "coulomb" then table.move(more[row.id] or {}, 1, #(more[row.id] or {}), 2, list) end
  return list
end

local function norm(x, y, z) return math.sqrt(x * x + y * y + z * z) end

-- Largest error and the number of failures; nil where nothing is known.
local function judge(list, law)
  local worst, failed, known = 0, 0, 0
  for i, found in ipairs(list) do
    local error, allowed = math.huge, 0
    for _, l in ipairs(exact_solutions(contacts[i], law)) do
      local e, size = norm(found.l[1] - l[1], found.l[2] - l[2], found.l[3] - l[3]), norm(l[1], l[2], l[3])
      if e < error then error, allowed = e, 1e-8 * size + 1e-10 end
    end
    if allowed > 0 then
      known, worst, failed = known + 1, math.max(worst, error), failed + (error <= allowed and 0 or 1)
    end
  end
  if known > 0 then return worst, failed end
end

-- Mean times over slips and over all contacts [ns]: medians of the runs.
local function times(runs)
  local slips, all = {}, {}
  for r, list in ipairs(runs) do
    local sum, count, total = 0, 0, 0
    for _, found in ipairs(list) do
      total = total + found.ns
      if found.kind == "slip" then sum, count = sum + found.ns, count + 1 end
    end
    slips[r], all[r] = sum / math.max(1, count), total / #list
  end
  return statistics.median(slips), statistics.median(all)
end

local laws = { bisection = "mdp", golden = "mdp", quartic = "mdp", coulomb = "coulomb", ccp = "ccp" }
local file = p.table ~= "" and assert(io.open(p.table, "w"))
if file then file:write "local,tolerance,slip_ns,all_ns,worst_error,failures\n" end
print(("%-10s %9s %9s %9s %12s %9s"):format("local", "tolerance", "slips ns", "all ns", "worst error", "failures"))
for _, how in ipairs { "bisection", "golden", "quartic", "coulomb", "ccp" } do
  for tolerance in p.tolerances:gmatch "%S+" do
    local runs = {}
    for r = 1, p.repeats do runs[r] = solve(how, tolerance) end
    assert(#runs[1] == #contacts, "single_contacts: stiction solve ended early")
    local slips, all = times(runs)
    local worst, failed = judge(runs[1], laws[how])
    local judged = failed and tonumber(tolerance) <= 1e-10
    print(("%-10s %9s %9.0f %9.0f %12s %9s"):format(how, tolerance, slips, all, worst and ("%.2e"):format(worst) or "-", judged and failed or "-"))
    if file then file:write(("%s,%s,%.5g,%.5g,%s,%s\n"):format(how, tolerance, slips, all, worst or "", judged and failed or "")) end
    if judged then
      stn.check(how .. ": solutions that failed", { value = failed, limit = 0, unit = "1" })
    end
  end
end
if file then file:close() end
