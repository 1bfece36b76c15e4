-- SPDX-License-Identifier: Apache-2.0
-- mutations.lua TREE [NAME...] [--list] [--no-rows]: does anything notice when the physics is wrong? Run by ./dev mutations.
--
-- Works on a copy of the tree in TREE/build/mutations, never on the tree itself. First the copy is built as it is: the tests
-- and rows of papers that list.lua names must all pass. Then, for each mistake of list.lua, the copy is edited and built, and
-- the mistake's test and row must fail. Prints a table; exit 1 when something passes that should not, or the reverse.
--   NAME        mistakes whose name contains it; without one all
--   --list      names, and what is wrong in each
--   --no-rows   tests alone
local root = arg[1]
package.path = root .. "/scripts/lib/?.lua;" .. root .. "/tests/mutations/?.lua;" .. package.path
local json = require "json"
local copy = root .. "/build/mutations/tree"
local built = copy .. "/build/release"

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function fail(...)
  io.stderr:write("mutations: ", string.format(...), "\n")
  os.exit(2)
end

-- Output of a command, stderr with it, and whether it ended with status 0.
local function run(command, ...)
  local pipe = assert(io.popen("{ " .. command:format(...) .. "; } 2>&1"))
  local output = pipe:read "a"
  return output, pipe:close() == true
end

local function read(path)
  local file = io.open(path, "rb")
  if file then
    local text = file:read "a"
    file:close()
    return text
  end
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  assert(file:close())
end

-- ---------------------------------------------------------------------------------------------------------- the copy

local function files_of_tree()
  local list, ok = run("cd %s && git ls-files -co --exclude-standard", quoted(root))
  if not ok then
    fail("%s is no git checkout: %s", root, list)
  end
  return list
end

-- Makes the copy what the tree is. Only what differs is written, so that only that is compiled.
local function refresh()
  local names, wanted = {}, {}
  for name in files_of_tree():gmatch "[^\n]+" do
    local text = read(root .. "/" .. name)
    wanted[name] = text ~= nil
    if text and read(copy .. "/" .. name) ~= text then
      names[#names + 1] = name
    end
  end
  local list = os.tmpname()
  write(list, table.concat(names, "\0"))
  local output, ok = run("mkdir -p %s && cd %s && xargs -0 -r cp --parents -t %s < %s", quoted(copy), quoted(root), quoted(copy), list)
  os.remove(list)
  if not ok then
    fail("cannot copy the tree: %s", output)
  end
  local there = run("cd %s && find . -path ./build -prune -o -type f -print", quoted(copy))
  for name in there:gmatch "%./([^\n]+)" do
    if not wanted[name] then
      os.remove(copy .. "/" .. name)
    end
  end
end

local function build(targets)
  local configure = read(built .. "/build.ninja") and "true" or ("cd %s && cmake --preset release --log-level=NOTICE"):format(quoted(copy))
  return run("export STN_VIEWER_SILENT=1; %s && ninja -C %s -j $(nproc) --quiet core/all plugins/all %s", configure, quoted(built),
    table.concat(targets, " "))
end

-- The program of a test that is one, as stn_add_test calls it; nil for scripts.
local function program_of(test)
  local target = "tests/test_" .. test:gsub("/", "_")
  return select(2, run("ninja -C %s -t query %s >/dev/null", quoted(built), target)) and target or nil
end

-- ------------------------------------------------------------------------------------------------------ what may notice

-- "passes", "fails", or why it cannot be told.
local function state_of_test(name)
  local output, ok = run("ctest --test-dir %s -R '^%s$' --no-tests=error --timeout 120", quoted(built), name)
  if output:find("No tests were found", 1, true) or output:find("***Not Run", 1, true) or output:find("***Skipped", 1, true) then
    return "no such test"
  end
  return ok and "passes" or "fails"
end

local function written(value)
  if type(value) ~= "table" then
    return type(value) == "string" and '"' .. value .. '"' or tostring(value)
  end
  local parts = {}
  for _, item in ipairs(value) do parts[#parts + 1] = written(item) end
  if #parts > 0 or next(value) == nil then
    return "[" .. table.concat(parts, ",") .. "]"
  end
  for key, item in pairs(value) do parts[#parts + 1] = ('"%s":%s'):format(key, written(item)) end
  return "{" .. table.concat(parts, ",") .. "}"
end

-- A paper with the rows alone that hold `part` and that a quick report compares, in a folder of its own with the paper's
-- scripts. Returns how many rows there are; nil: the paper has no file yet.
local function cut_paper(paper, part, folder)
  local text = read(("%s/scripts/papers/%s/paper.json"):format(copy, paper))
  if not text then
    return
  end
  local data, rows, runs = json(text), {}, {}
  for _, row in ipairs(data.rows) do
    local fits = not part or row.quantity:find(part, 1, true) or row.place:find(part, 1, true)
    local made = row.run and data.runs[row.run]
    if fits and made and not made.full and not row.not_comparable then
      rows[#rows + 1], runs[row.run] = row, made
    end
  end
  data.rows, data.runs = rows, runs
  run("rm -rf %s && mkdir -p %s && cp -r %s/scripts/papers/%s %s", folder, folder, quoted(copy), paper, folder)
  write(("%s/%s/paper.json"):format(folder, paper), written(data))
  return #rows
end

-- How many rows of the paper hold, and how many are compared; else why it cannot be told.
local function state_of_row(paper, part)
  local folder = os.tmpname()
  os.remove(folder)
  local count = cut_paper(paper, part, folder)
  local holding, why = 0, not count and "no paper.json" or count == 0 and "no such row" or nil
  if not why then
    local output = run("STICTION_CACHE=off %s/bin/stiction papers --from %s --keep %s/kept --quiet --timeout 300", quoted(built), folder, folder)
    for line in output:gmatch "[^\n]+" do
      holding = holding + (line:find "^  holds " and 1 or 0)
    end
    if not output:find "\n  %l" then
      why = output
    end
  end
  run("rm -rf %s", folder)
  return holding, count, why
end

-- --------------------------------------------------------------------------------------------------------- the whole

local chosen, with_rows, listing, parts = {}, true, false, {}
for k = 2, #arg do
  if arg[k] == "--no-rows" then
    with_rows = false
  elseif arg[k] == "--list" then
    listing = true
  elseif arg[k]:sub(1, 1) == "-" then
    fail("unknown option %s; see ./dev help", arg[k])
  else
    parts[#parts + 1] = arg[k]
  end
end
for _, mutation in ipairs(require "list") do
  local fits = #parts == 0
  for _, part in ipairs(parts) do fits = fits or mutation.name:find(part, 1, true) ~= nil end
  if fits then
    chosen[#chosen + 1] = mutation
  end
end
if #chosen == 0 then
  fail("no mistake is called %s; --list tells their names", table.concat(parts, ", "))
end
if listing then
  for _, mutation in ipairs(chosen) do
    print(("%-28s %s"):format(mutation.name, mutation.says))
    print(("%-28s   test %s%s"):format("", mutation.test, mutation.paper and ("; paper %s: %s"):format(mutation.paper, mutation.row or "any row") or ""))
  end
  os.exit(0)
end

-- The tree as it is.
refresh()
local output, ok = build {}
if not ok then
  fail("the tree does not build:\n%s", output)
end
local targets, seen = {}, {}
for _, mutation in ipairs(chosen) do
  local target = not seen[mutation.test] and program_of(mutation.test)
  targets[#targets + 1], seen[mutation.test] = target or nil, true
end
output, ok = build(targets)
if not ok then
  fail("the tree does not build:\n%s", output)
end
local before = {} -- by test, and by paper and row
for _, mutation in ipairs(chosen) do
  local test, row = mutation.test, mutation.paper and mutation.paper .. ": " .. (mutation.row or "any row")
  before[test] = before[test] or state_of_test(test)
  if with_rows and row and not before[row] then
    local holding, count, why = state_of_row(mutation.paper, mutation.row)
    before[row] = { holding = holding, count = count, why = why }
  end
end

-- Each mistake.
local missed = 0
print(("%-28s %-24s %-22s %s"):format("mistake", "test", "", "row of a paper"))
for _, mutation in ipairs(chosen) do
  refresh()
  local path = copy .. "/" .. mutation.file
  local text = read(path) or fail("%s: no file %s", mutation.name, mutation.file)
  local first, last = text:find(mutation.from, 1, true)
  if not first or text:find(mutation.from, last + 1, true) then
    fail("%s: %s holds its text %s: correct tests/mutations/list.lua", mutation.name, mutation.file, first and "twice" or "no more")
  end
  write(path, text:sub(1, first - 1) .. mutation.to .. text:sub(last + 1))
  output, ok = build(targets)
  local says = ok and before[mutation.test] or "DOES NOT BUILD"
  if not ok then
    io.stderr:write(output)
  elseif says == "passes" then
    local now = state_of_test(mutation.test)
    says = now == "fails" and "fails, as it must" or "STILL PASSES"
  elseif says == "fails" then
    says = "FAILS WITHOUT IT"
  end
  missed = missed + (says == "fails, as it must" and 0 or 1)
  local row = mutation.paper and mutation.paper .. ": " .. (mutation.row or "any row")
  local seen_by = mutation.paper and mutation.paper .. ": " .. (mutation.row or "any row") or "none shows it"
  if with_rows and row and ok then
    local then_, verdict = before[row], nil
    if then_.why then
      verdict = then_.why
    elseif then_.holding == 0 or (mutation.row and then_.holding < then_.count) then
      verdict, missed = "RED WITHOUT IT", missed + 1
    else
      local holding = state_of_row(mutation.paper, mutation.row)
      local red = then_.holding - holding
      verdict = red > 0 and ("%d of %d turn red"):format(red, then_.holding) or "STILL HOLDS"
      missed = missed + (red > 0 and 0 or 1)
    end
    seen_by = seen_by .. ": " .. verdict
  end
  print(("%-28s %-24s %-22s %s"):format(mutation.name, mutation.test, says, seen_by))
  io.stdout:flush()
end
refresh()
print(missed == 0 and "every mistake is noticed" or missed .. " not as they must be")
os.exit(missed == 0 and 0 or 1)
