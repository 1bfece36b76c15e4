-- SPDX-License-Identifier: Apache-2.0
-- Runs a script of scripts/ and writes the hash of the world's state after every step, then how the script ended and the
-- most contacts of a step: what determinism.sh and test_determinism.c compare.
--
--   stiction run hashes.lua --set hashed_scene=/path/clutter.lua --set hashes=/path/out.txt --set hashed_way=detour --set hashed_steps=100
--
-- The script's own parameters keep their values, because no script has names like these. Parameters of size are the
-- exception (FEWER).
local stn = require "stiction"
local worse = require "worse"
local p = stn.params {
  hashed_scene = "",
  hashes = "",
  hashed_steps = 0, -- of all worlds together, after which the script is left; 0: it runs to its end
  hashed_by_contacts = false, -- a step counts once more for each 100 contacts
  -- again: the script runs twice in one process. detour: before a step halfway every world is cloned, sent elsewhere and
  -- restored, and takes the way that it was on
  hashed_way = stn.choice { "straight", "again", "detour" },
}

local DETOUR_AT <const>, DETOUR <const> = p.hashed_steps > 0 and p.hashed_steps // 2 or 40, 7
local seen -- of the script's run at hand: hashes, most contacts, steps as hashed_steps counts them
local methods = {} -- of a world, as they were

-- Steps without what the script does between them. One that fails is a result like others.
local function go_on(world)
  local hashes = {}
  for i = 1, DETOUR do
    local good, step = pcall(methods.step, world)
    hashes[i] = good and world:hash() or tostring(step)
  end
  return table.concat(hashes, " ")
end

-- A clone goes ahead; another goes ahead, too, is restored from memory, and must take the same way. The world itself takes
-- the other's state from a file and gets its own back, and has made no step then: its runs end where they would.
local function make_detour(world)
  local path, hash, snapshot = p.hashes .. ".state", world:hash(), world:snapshot()
  local clone, other <close> = world:clone(), world:clone()
  assert(clone:hash() == hash, "a clone has another state")
  local ahead = go_on(clone)
  clone:close()
  go_on(other)
  other:save_state(path)
  world:load_state(path)
  assert(world:hash() == other:hash(), "a state from a file is another one")
  other:restore(snapshot)
  assert(other:hash() == hash, "restoring a snapshot gives another state")
  assert(go_on(other) == ahead, "steps from a snapshot differ from those of a clone")
  world:restore(snapshot)
  assert(world:hash() == hash, "restoring a snapshot gives another state")
  os.remove(path)
end

-- Makes a step by `step` and writes it down before the script sees it.
local function watched(world, step)
  local made = seen.made[world] or 0
  if p.hashed_way == "detour" and made >= DETOUR_AT and not seen.detours[world] and #world:tasks() == 0 then -- code that waits cannot be kept
    seen.detours[world] = true
    make_detour(world)
  end
  local result = step()
  if result == nil then return end
  seen[#seen + 1] = world:hash()
  seen.contacts = worse(seen.contacts, result.contact_count)
  local counts = p.hashed_by_contacts and 1 + result.contact_count // 100 or 1
  seen.made[world] = made + counts
  seen.steps = seen.steps + counts
  if p.hashed_steps > 0 and seen.steps >= p.hashed_steps then
    coroutine.yield("left after its steps")
  end
  return result
end

-- A world makes steps by world:step and world:run.
local function watch(class)
  methods.step, methods.run = class.step, class.run
  class.step = function(world)
    return watched(world, function() return methods.step(world) end)
  end
  class.run = function(world, options)
    local step = methods.run(world, options)
    return function() return watched(world, step) end
  end
end

-- Scripts find modules beside themselves.
local folder = p.hashed_scene:match "^(.*)/" or "."
package.path = ("%s/?.lua;%s/lib/?.lua;%s"):format(folder, folder, package.path)

local make = stn.world
stn.world = function(options)
  local world = make(options)
  if methods.step == nil then
    watch(getmetatable(world).__methods)
  end
  return world
end

-- Scenes of thousands of nodes are made of fewer: some solvers take minutes for a step of them.
local FEWER <const> = { cells = 6, links = 40, nodes = "200" }
local declare = stn.params
stn.params = function(list)
  for name, fewer in pairs(FEWER) do
    local own = list[name]
    if type(own) == type(fewer) and (type(own) == "string" or own > fewer) then list[name] = fewer end
  end
  return declare(list)
end

-- One run of the script, as text.
local function run()
  seen = { contacts = 0, steps = 0, made = {}, detours = {} }
  local good, ending = coroutine.resume(coroutine.create(dofile), p.hashed_scene)
  seen[#seen + 1] = good and (ending or "came to its end") or tostring(ending)
  seen[#seen + 1] = seen.contacts .. " contacts"
  return table.concat(seen, "\n") .. "\n"
end

local text = run()
if p.hashed_way == "again" then
  assert(run() == text, "the script, run again in one process, gives other states")
end
local out <close> = assert(io.open(p.hashes, "w"))
out:write(text)
