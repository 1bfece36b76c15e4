-- A ball on the ground; the contact problem of the last step as a file of my_plugin: one tree of 6 dofs, one contact.
local stn = require "stiction"
local p = stn.params { file = os.tmpname() .. ".my_plugin" }

local world = stn.world {}
world:ground {}
world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 0, 0, 0.1 } }
for _ in world:run { seconds = 0.1 } do end
world:save_problem(p.file)

local words = {}
for line in io.lines(p.file) do
  local word = line:match("^%a+")
  words[word] = (words[word] or 0) + 1
end
os.remove(p.file)
stn.check("trees", { value = math.abs((words.tree or 0) - 1), limit = 0 })
stn.check("contacts", { value = math.abs((words.contact or 0) - 1), limit = 0 })
