-- SPDX-License-Identifier: Apache-2.0
-- The whole table: runs the programs below, gathers the rows that they write (bench_row.h) and prints them, a block for
-- each part, a column for each engine. Run by ./dev bench; by itself:
--   lua5.4 tests/bench/table.lua PROGRAMS [--csv FILE] [--json FILE] [--compare FILE] [--rows FILE]
-- --csv, --json: the rows go there too; --compare: a column with ours over ours of an earlier --csv; --rows: prints such
-- a file and runs nothing.

-- Arguments keep each short; seconds: what it takes on two free cores, for the time that remains.
local programs = {
  { "peers", "", 110 },
  { "collision", "10", 15 }, { "collision", "100", 12 }, { "collision", "1000", 16 },
  { "contact_point", "", 13 },
  { "dynamics", "", 2 }, { "dynamics_mujoco", "", 2 },
  { "problem", "", 1 }, { "factor", "", 6 },
  { "fclib", "--timeout 1", 150 },
  { "urdf", "", 7 }, { "recording", "", 12 }, { "creep", "", 7 },
}

-- Blocks in the order of print, and what the figures of each are.
local parts = {
  { "step", "whole steps; settled: median of the last fifth; momentum: largest residual over the run; overlap at its end" },
  { "collision", "broad and narrow phase; 1/body: points found" },
  { "pair", "narrow phase of one pair that touches, and near it" },
  { "dynamics", "of one tree" },
  { "problem", "around a solver" },
  { "factor", "numeric factorisation of sparse and dense matrices" },
  { "fclib", "to natural_scaled 1e-8, cold; the fastest solver of either side" },
  { "load", "a robot file without a cache, and again" },
  { "recording", "a page of HTML, and a table of every step" },
  { "creep", "speed of objects held by friction, where they stay to the end; settled: offset; accuracy, not speed" },
}
local engines = { "Stiction", "MuJoCo", "ODE", "Bullet", "Siconos", "CHOLMOD" } -- ours first, then peers

local function fail(text)
  io.stderr:write("bench: ", text, "\n")
  os.exit(2)
end

local function parse(arguments)
  local options, words = { csv = false, json = false, compare = false, rows = false }, {}
  local i = 1
  while arguments[i] do
    local name = arguments[i]:match "^%-%-(.*)"
    if not name then
      words[#words + 1] = arguments[i]
    elseif options[name] == nil or not arguments[i + 1] then
      fail(("%s: unknown, or its FILE is missing; options are --csv, --json, --compare and --rows, each with a FILE"):format(arguments[i]))
    else
      options[name], i = arguments[i + 1], i + 1
    end
    i = i + 1
  end
  if #words ~= 1 then fail "needs the folder of the programs" end
  return words[1], options
end

-- ------------------------------------------------------------------------------------------------------------- rows

local function read_rows(path)
  local file = io.open(path) or fail(path .. ": cannot be read")
  local rows = {}
  for line in file:lines() do
    local part, what, engine, quantity, unit, value = line:match '^([^,]*),"([^"]*)",([^,]*),([^,]*),([^,]*),([^,]*)$'
    if part and part ~= "part" then -- the head of --csv
      rows[#rows + 1] = { part = part, what = what, engine = engine, quantity = quantity, unit = unit, value = tonumber(value) }
    end
  end
  file:close()
  return rows
end

local function write_file(path, text)
  local file, problem = io.open(path, "w")
  if not file then fail(problem) end
  file:write(text)
  file:close()
end

local function to_csv(rows)
  local lines = { "part,what,engine,quantity,unit,value" }
  for _, r in ipairs(rows) do
    lines[#lines + 1] = ('%s,"%s",%s,%s,%s,%s'):format(r.part, r.what, r.engine, r.quantity, r.unit, r.value or "nan")
  end
  return table.concat(lines, "\n") .. "\n"
end

local function to_json(rows)
  local lines = {}
  for _, r in ipairs(rows) do
    lines[#lines + 1] = ('  {"part": "%s", "what": "%s", "engine": "%s", "quantity": "%s", "unit": "%s", "value": %s}'):format(
      r.part, r.what, r.engine, r.quantity, r.unit, r.value or "null")
  end
  return "[\n" .. table.concat(lines, ",\n") .. "\n]\n"
end

-- ---------------------------------------------------------------------------------------------------------- programs

local function exists(path)
  local file = io.open(path)
  return file and file:close()
end

-- What they print goes to a log beside the rows. Returns the rows.
local failed = false -- some program

local function run_programs(folder)
  local path = os.tmpname()
  local log = path .. ".log"
  local left, begin, planned = 0, os.time(), 0
  for _, p in ipairs(programs) do left = left + p[3] end
  for i, p in ipairs(programs) do
    local pace = planned > 0 and math.max(1, (os.time() - begin) / planned) or 1
    local seconds = math.ceil(left * pace)
    io.stderr:write(("bench: %2d of %d, %s %s; about %d:%02d left\n"):format(i, #programs, p[1], p[2], seconds // 60, seconds % 60))
    local program = folder .. "/" .. p[1]
    if not exists(program) then
      io.stderr:write("bench: ", p[1], " is left out: it is not built; if it measures a peer, ./dev bench --peers installs that\n")
    elseif not os.execute(("STICTION_BENCH_ROWS='%s' '%s' %s >'%s' 2>&1"):format(path, program, p[2], log)) then
      io.stderr:write("bench: ", p[1], " failed:\n", exists(log) and io.open(log):read "a" or "", "\n")
      failed = true
    end
    left, planned = left - p[3], planned + p[3]
  end
  local rows = read_rows(path)
  os.remove(path)
  os.remove(log)
  return rows
end

-- ------------------------------------------------------------------------------------------------------------- print

local function number(x)
  if not x or x ~= x then return "-" end
  if x == 0 then return "0" end
  local size = math.abs(x)
  if size < 1e-3 or size >= 1e7 then return ("%.1e"):format(x) end
  return size >= 100 and ("%.0f"):format(x) or ("%.3g"):format(x)
end

-- Of the rows of one part: lines in order of appearance, and which engines and further quantities there are.
local function gather(rows, part)
  local block = { lines = {}, engines = {}, quantities = {} }
  for _, r in ipairs(rows) do
    if r.part == part then
      local line = block.lines[r.what]
      if not line then
        line = { what = r.what }
        block.lines[r.what], block.lines[#block.lines + 1] = line, line
      end
      local cell = line[r.engine] or {}
      line[r.engine], cell[r.quantity] = cell, r.value
      if r.quantity == "" then line.unit = r.unit end
      block.engines[r.engine] = true
      if r.quantity ~= "" and r.quantity ~= "cut" and not block.quantities[r.quantity] then
        block.quantities[r.quantity] = r.unit
        block.quantities[#block.quantities + 1] = r.quantity
      end
    end
  end
  return block
end

local function figure(line, engine)
  return line and line[engine] and line[engine][""]
end

-- The least of the peers over ours (a creep has a sign); nothing without both.
local function ratio(line)
  local best
  for i = 2, #engines do
    local value = figure(line, engines[i])
    if value and (not best or math.abs(value) < best) then best = math.abs(value) end
  end
  local ours = figure(line, engines[1])
  return best and ours and best / math.abs(ours)
end

local function main_cell(cell)
  if cell and cell.cut then return ("cut (%s)"):format(number(cell.cut)) end
  return number(cell and cell[""])
end

local function cells_of(line, block, old)
  local cells = { line.what }
  local present = {}
  for _, engine in ipairs(engines) do
    if block.engines[engine] then
      cells[#cells + 1] = main_cell(line[engine])
      present[#present + 1] = engine
    end
  end
  if block.compared then cells[#cells + 1] = number(ratio(line)) end
  cells[#cells + 1] = line.unit or ""
  for _, quantity in ipairs(block.quantities) do
    local values = {}
    for _, engine in ipairs(present) do
      values[#values + 1] = number(line[engine] and line[engine][quantity])
    end
    cells[#cells + 1] = table.concat(values, " / ")
  end
  if old then
    local before, now = figure(old.lines[line.what], engines[1]), figure(line, engines[1])
    cells[#cells + 1] = number(now and before and now / before)
  end
  return cells
end

local function heads_of(block, old)
  local heads = { "" }
  for _, engine in ipairs(engines) do
    if block.engines[engine] then heads[#heads + 1] = engine end
  end
  if block.compared then heads[#heads + 1] = "ratio" end
  heads[#heads + 1] = "unit"
  for _, quantity in ipairs(block.quantities) do
    heads[#heads + 1] = ("%s [%s]"):format(quantity, block.quantities[quantity])
  end
  if old then heads[#heads + 1] = "over before" end
  return heads
end

local function print_block(title, text, block, old)
  for engine in pairs(block.engines) do block.compared = block.compared or engine ~= engines[1] end
  local grid, widths = { heads_of(block, old) }, {}
  for _, line in ipairs(block.lines) do grid[#grid + 1] = cells_of(line, block, old) end
  for _, cells in ipairs(grid) do
    for i, cell in ipairs(cells) do widths[i] = math.max(widths[i] or 0, #cell) end
  end
  print(("\n%s: %s"):format(title, text))
  for _, cells in ipairs(grid) do
    for i, cell in ipairs(cells) do
      cells[i] = (" "):rep(i > 1 and widths[i] - #cell or 0) .. cell .. (i == 1 and (" "):rep(widths[i] - #cell) or "")
    end
    print("  " .. table.concat(cells, "  "))
  end
end

local function print_table(rows, old_rows)
  print "ratio: the fastest peer over ours, above 1 ours is faster; further columns: engines in the same order, - where there is none"
  for _, part in ipairs(parts) do
    local block = gather(rows, part[1])
    if #block.lines > 0 then print_block(part[1], part[2], block, old_rows and gather(old_rows, part[1])) end
  end
end

local folder, options = parse(arg)
local old_rows = options.compare and read_rows(options.compare)
local begin = os.time()
for _, name in ipairs { "csv", "json" } do
  local file, reason = nil, nil
  if options[name] then file, reason = io.open(options[name], "a") end -- told before the minutes, not after them
  if reason then
    io.stderr:write("bench: --", name, " ", reason, "\n")
    os.exit(2)
  end
  if file then file:close() end
end
local rows = options.rows and read_rows(options.rows) or run_programs(folder)
print_table(rows, old_rows)
if not options.rows then print(("\nmeasured in %d s"):format(os.time() - begin)) end
if options.csv then write_file(options.csv, to_csv(rows)) end
if options.json then write_file(options.json, to_json(rows)) end
os.exit(not failed)
