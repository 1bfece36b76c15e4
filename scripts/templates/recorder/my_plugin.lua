-- A ball falls; my_plugin writes its height, a line a step, and the start.
local stn = require "stiction"
local p = stn.params { file = os.tmpname() }

local world = stn.world { dt = 0.002 }
world:ground {}
world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 0, 0, 1 } }
world:record(p.file, { "my_plugin" })
for _ in world:run { seconds = 0.2 } do end
world:close_recordings()

local lines, last = 0, ""
for line in io.lines(p.file) do
  lines, last = lines + 1, line
end
local height = tonumber(last:match(",(.*)")) or 0 / 0 -- another table: NaN, which fails below
stn.check("lines: names, start, steps", { value = math.abs(lines - 102), limit = 0 })
stn.check("height after 0.2 s", { value = math.abs(height - (1 - 9.81 / 2 * 0.2 ^ 2)), limit = 0.01, unit = "m" })
