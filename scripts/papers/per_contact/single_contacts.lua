-- SPDX-License-Identifier: Apache-2.0
-- Table I of the per-contact paper [hwangbo-2018]: one contact by itself, by every local solver. Contacts are drawn, with their exact
-- solutions (lib/contacts.lua): `count`, by `seed`. Or they come from a CSV as `stiction solve` takes it (id, mu, Wxx, Wxy, Wxz, Wyy,
-- Wyz, Wzz, cx, cy, cz), whose solutions may be there, too (mdp_lx, mdp_ly, mdp_lz, the same with coulomb_ and ccp_). The error is that
-- of the impulse [N s]; a solution has failed that is farther than 1e-8 of the exact one + twice the tolerance from it: the interval at
-- which a method ends is one of l_t, and l_n goes with it.
-- Under Coulomb's law there may be others: one that obeys the law to 1e-8 of |c| has not failed.
--
--   stiction run scripts/papers/per_contact/single_contacts.lua
--   stiction run scripts/papers/per_contact/single_contacts.lua --set file=contacts.csv --set command=build/release/bin/stiction
--
-- Times are the least of 5 batches of 16 solves each, preparation included; their mean over slips, and over all contacts. Of `repeats`
-- runs the median counts.
local stn = require "stiction"
local csv = require "csv"
local contacts = require "contacts"
local delassus = require "delassus"
local statistics = require "statistics"

local p = stn.params {
  count = stn.number { 1000, min = 10 }, seed = 1,
  file = "",
  command = "stiction",
  repeats = 5,
  tolerances = "1e-6 1e-10", -- [N s]
  table = "",
}

local function quoted(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

-- What `stiction solve` prints: kind, l, ns of each contact.
local function solve(path, how, tolerance)
  local command = ("%s solve %s --local %s --tolerance %s"):format(quoted(p.command), quoted(path), how, tolerance)
  local pipe <close> = assert(io.popen(command))
  local list = {}
  for line in pipe:lines() do
    local kind, x, y, z, ns = line:match '"kind":%s*"(%a+)".-"l":%s*%[([^,]+),([^,]+),([^%]]+)%].-"ns":%s*([%d.eE+-]+)'
    list[#list + 1] = { kind = assert(kind, line), l = { tonumber(x), tonumber(y), tonumber(z) }, ns = tonumber(ns) }
  end
  return list
end

-- Contacts of a CSV file, as contacts.draw has them.
local function read(path)
  local list = {}
  for i, row in ipairs(csv.read(path)) do
    list[i] = { id = row.id, mu = row.mu, c = { row.cx, row.cy, row.cz }, solutions = {},
      W = { { row.Wxx, row.Wxy, row.Wxz }, { row.Wxy, row.Wyy, row.Wyz }, { row.Wxz, row.Wyz, row.Wzz } } }
    for _, law in ipairs { "mdp", "coulomb", "ccp" } do
      if type(row[law .. "_lx"]) == "number" then list[i].solutions[law] = { row[law .. "_lx"], row[law .. "_ly"], row[law .. "_lz"] } end
    end
  end
  return list
end

local function norm(x, y, z) return math.sqrt(x * x + y * y + z * z) end

-- Largest error, how many have failed, how many are another solution; nil where nothing is known.
local function judge(list, found, law, tolerance)
  local worst, failed, other, known = 0, 0, 0, 0
  for i, one in ipairs(list) do
    local l, mine = one.solutions[law], found[i].l
    if l then
      known = known + 1
      local error = norm(mine[1] - l[1], mine[2] - l[2], mine[3] - l[3])
      local right = error <= 1e-8 * norm(l[1], l[2], l[3]) + 2 * tolerance
      if law == "coulomb" and not right and delassus.of_contact(one.mu, one.W, one.c):error({ mine }, law) <= 1e-8 * norm(table.unpack(one.c)) then
        other = other + 1
      else
        worst, failed = error <= worst and worst or error, failed + (right and 0 or 1) -- NaN stays
      end
    end
  end
  if known > 0 then return worst, failed, other end
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
local list = p.file ~= "" and read(p.file)
local path = p.file
if not list then
  local world <close> = stn.world { seed = p.seed }
  list, path = contacts.draw(p.count, function(low, high) return world:random(low, high) end), os.tmpname() .. ".csv"
  contacts.write(path, list)
end
local file = p.table ~= "" and assert(io.open(p.table, "w"))
if file then file:write "local,tolerance,slip_ns,all_ns,worst_error,failures\n" end
local first = {}
print(("%-10s %9s %9s %9s %12s %9s %9s"):format("local", "tolerance", "slips ns", "all ns", "worst error", "failures", "another"))
for tolerance in p.tolerances:gmatch "%S+" do
  for _, how in ipairs { "bisection", "golden", "quartic", "coulomb", "ccp" } do
    local runs = {}
    for r = 1, p.repeats do runs[r] = solve(path, how, tolerance) end
    assert(#runs[1] == #list, "single_contacts: stiction solve ended early")
    local slips, all = times(runs)
    first[tolerance] = first[tolerance] or slips
    local worst, failed, other = judge(list, runs[1], laws[how], tonumber(tolerance))
    print(("%-10s %9s %9.0f %9.0f %12s %9s %9s"):format(how, tolerance, slips, all, worst and ("%.2e"):format(worst) or "-", failed or "-", other or "-"))
    if file then file:write(("%s,%s,%.5g,%.5g,%s,%s\n"):format(how, tolerance, slips, all, worst or "", failed or "")) end
    local name = how .. " " .. tolerance
    stn.result(name .. " slip", 1e-3 * slips, "us")
    stn.result(name .. " slip_over_bisection", slips / first[tolerance], "1")
    if failed then
      stn.result(name .. " worst_error", worst, "N s")
      stn.check(name .. ": solutions that failed", { value = failed, limit = 0, unit = "1" })
    end
  end
end
if file then file:close() end
if p.file == "" then os.remove(path) end
