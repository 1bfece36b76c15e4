-- SPDX-License-Identifier: Apache-2.0
-- Random worlds with soft bodies, of every solver, law and integrator, some inside each other at the start: numbers stay finite, a step
-- from a restored state is the same to the bit, and the few steps that fail say why and leave the world as it was. What flies apart
-- (bodies that begin deep inside each other, crushed until elements are inside out) was told: energy rose, as the verdict says.
local stn = require "stiction"
local soft_scene = require "soft_scene"

local function check_positions(bodies, what)
  for _, body in ipairs(bodies) do
    for i, x in ipairs(body:positions()) do
      assert(math.abs(x[1]) + math.abs(x[2]) + math.abs(x[3]) < 1e3, ("%s: node %d of %s is at (%g, %g, %g) m"):format(what, i, body.name, x[1], x[2], x[3]))
    end
  end
end

--- false: the step failed, which says what and leaves the state
local function step_of(world, what)
  local before = world:state()
  local ok, step = pcall(function() return world:step() end)
  if ok then
    assert(step.certificate.finite, what)
    return step
  end
  assert(step:find "step %d+, t = .*: integrator .*use a smaller dt" or step:find "step %d+, t = .*mass of .* is lost in rounding", what .. ": " .. step)
  local after = world:state()
  for _, name in ipairs { "q", "v" } do
    for i, x in ipairs(before[name]) do
      assert(after[name][i] == x, ("%s: a step that failed changed %s[%d]"):format(what, name, i))
    end
  end
end

stn.test("steps of random soft bodies end well, and the same again", function()
  local count = ({ quick = 8, full = 1000 })[os.getenv "STICTION_TEST_TIER"] or 16
  local steps, unsolved, failed = 0, 0, 0
  for seed = 1, count do
    local world, bodies, what = soft_scene(seed)
    local least, told = math.huge, false
    for k = 1, 20 do
      local again = k == 12 and world:snapshot() or nil
      local step = step_of(world, what)
      if not step then
        failed = failed + 1
        break
      end
      steps = steps + 1
      least = math.min(least, step.total_energy_J)
      told = told or step.total_energy_J > least + 1
      unsolved = unsolved + (step.converged and 0 or 1)
      if again then
        local hash = world:hash()
        world:restore(again)
        world:step()
        assert(world:hash() == hash, what .. ": a step from the restored state differs")
      end
    end
    if not told then check_positions(bodies, what) end
    world:close()
  end
  print(("%d worlds, %d steps, %d unsolved, %d worlds ended by a step that failed"):format(count, steps, unsolved, failed))
  assert(failed <= 0.1 * count)
end)
