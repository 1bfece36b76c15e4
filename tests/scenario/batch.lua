-- SPDX-License-Identifier: Apache-2.0
-- stn.batch: worlds side by side have the bits of worlds alone; fields by row; resets, branches, visits; bad input.
local stn = require "stiction"
local files <close> = require "files"()

local function refuses(text, action) stn.fails(action, text) end

-- A ball over the ground beside an arm of seven joints under PD.
local function scene(options)
  local o = { dt = 0.002 }
  for key, value in pairs(options or {}) do o[key] = value end
  local world = stn.world(o)
  world:ground { mu = 0.5 }
  local ball = world:sphere { name = "ball", radius = 0.1, mass = 1, xyz = { 1, 0, 0.3 } }
  local arm = world:load { "models/iiwa14/iiwa14.urdf", name = "arm", fixed = true, base = { xyz = { 0, 0, 0.1 } } }
  local pd = world:controller { "joint_pd", target = arm, kp = 300, kd = 20, gravity_compensation = true }
  return world, ball, pd
end

local function random_rows(world, rows, columns, size)
  local list = {}
  for i = 1, rows do
    list[i] = {}
    for j = 1, columns do list[i][j] = world:random(-size, size) end
  end
  return list
end

for _, threads in ipairs { 1, 2, 4 } do
  stn.test(("worlds of a batch are worlds alone, %d threads"):format(threads), function()
    local world = scene()
    local count = 9
    local dice = scene()
    local v, commands = random_rows(dice, count, world.nv, 0.5), random_rows(dice, count, 7, 0.4)
    local batch = stn.batch { world, count = count, threads = threads }
    local alone = {}
    batch:set("v", v)
    batch:set("command", commands)
    for i = 1, count do
      local one, _, pd = scene { threads = 2 } -- of a step: those of a batch are its own
      alone[i] = one
      one:set_state { v = v[i] }
      pd:set { position = commands[i] }
    end
    assert(batch:step(150) == 0)
    for i = 1, count do
      for _ = 1, 150 do alone[i]:step() end
      assert(alone[i]:hash() == batch:hash(i), i)
    end
    local tally = batch:tally()
    assert(tally.steps == 150 * count and tally.not_converged == 0 and tally.failed == 0)
  end)
end

stn.test("rows in and out", function()
  local world, ball = scene()
  local batch = stn.batch { world, count = 3, outputs = { "body_pose", "contact_force", "certificate", "report", "energy" } }
  assert(batch.count == 3 and batch:columns("q") == world.nq and batch:columns("command") == 7)
  local q = batch:get "q"
  assert(#q == 3 and #q[1] == world.nq)
  local row = q[2]
  row[3] = 0.5 -- the ball
  batch:set("q", { row }, { 2 })
  assert(batch:get("q", 2)[3] == 0.5 and batch:get("q", 1)[3] == 0.3)
  batch:set("v", world:state().v) -- one row for all
  batch:set("command", { 0.1, 0.2, 0, -0.3, 0, 0, 0 })
  assert(batch:get("command", 3)[2] == 0.2)
  assert(batch:step(2000) == 0)
  local times, force = batch:get "time", batch:get("contact_force", 1)
  assert(math.abs(times[1] - 4) < 1e-9 and times[3] == times[1])
  local weight = force[2 * 6] -- of the first body after the world, its last number
  assert(math.abs(weight - 9.81) < 1e-3, weight)
  assert(#batch:get("certificate", 1) == batch:columns "certificate" and batch:get("certificate", 1)[1] < 1e-6)
  assert(math.abs(batch:get("body_pose", 2)[7 + 3] - 0.1) < 1e-3)
  batch:reset { 3 }
  assert(batch:get("time", 3) == 0 and batch:get("time", 2) > 0)
  batch:copy(2, { 1, 3 })
  assert(batch:hash(3) == batch:hash(2) and batch:hash(1) == batch:hash(2))
  assert(ball:position()[3] == 0.3) -- the world itself stays
end)

stn.test("a visit", function()
  local world = scene()
  local batch = stn.batch { world, count = 2 }
  local height, kept = batch:visit(2, function(w)
    w:group("ball"):set_pose { xyz = { 1, 0, 2 } }
    return w:group("ball"):position()[3], w
  end)
  assert(height == 2 and batch:get("q", 2)[3] == 2 and batch:get("q", 1)[3] == 0.3)
  refuses("this world was closed", function() return kept.time end)
  refuses("boom", function() batch:visit(1, function() error "boom" end) end)
  refuses("batch:visit", function() batch:visit(1, function(w) w:step() end) end)
  refuses("not inside another visit", function() batch:visit(1, function() batch:visit(2, function() end) end) end)
  refuses("batch:visit", function() batch:visit(1, function(w) w:set_dt(0.001) end) end)
  assert(batch:step() == 0)
end)

stn.test("a world that fails stands still", function()
  local world = scene()
  local batch = stn.batch { world, count = 4, threads = 2 }
  local effort = {}
  for i = 1, world.nv do effort[i] = 1e308 end
  batch:set("effort", { effort }, { 3 })
  assert(batch:step(5) == 1)
  assert(batch:error(3):find "not finite" or batch:error(3):find "inf" or batch:error(3):find "diverge", batch:error(3))
  assert(batch:error(1) == nil and batch:get("time", 1) > 0.009 and batch:get("time", 3) < 0.009)
  local path = files:path ".json"
  local hash, report = batch:hash(3), batch:error(3)
  batch:save_capsule(3, path)
  assert(batch:hash(3) == hash and batch:error(3) == report)
  local again = stn.capsule(path)
  assert(again:hash() == hash)
  stn.fails(function() again:step() end, "step 0")
  refuses("world 1 has not failed", function() batch:save_capsule(1, path) end)
  refuses("world 5 is not one of 1 to 4", function() batch:save_capsule(5, path) end)
  refuses("/nowhere/", function() batch:save_capsule(3, "/nowhere/x.json") end)
  batch:reset(3)
  assert(batch:step(1) == 0)
end)

stn.test("bad input is told", function()
  local world = scene()
  refuses("must be a world", function() stn.batch { count = 3 } end)
  refuses("count", function() stn.batch { world, count = 0 } end)
  refuses("did you mean 'count'", function() stn.batch { world, cuont = 3 } end)
  refuses("did you mean 'certificate'", function() stn.batch { world, outputs = { "certificat" } } end)
  local batch = stn.batch { world, count = 3 }
  refuses("world 4 is not one of 1 to 3", function() batch:get("q", 4) end)
  refuses("world 0 is not one of 1 to 3", function() batch:reset { 0 } end)
  refuses("world 1.5 is not one of", function() batch:reset { 1.5 } end)
  refuses("did you mean 'q'", function() batch:get "qq" end)
  refuses("2 rows for 3 worlds", function() batch:set("q", { {}, {} }) end)
  refuses("is not kept", function() batch:get "certificate" end)
  refuses("cannot be set", function() batch:set("time", { 1, 2, 3 }) end)
  refuses("row 2", function() batch:set("v", { batch:get("v", 1), { 1 }, batch:get("v", 1) }) end)
  local q = batch:get("q", 2)
  for i = 4, 7 do q[i] = 0 end -- the ball's quaternion
  refuses("batch:set q, world 2: ", function() batch:set("q", { q }, { 2 }) end)
  refuses("row 1", function() local v = batch:get("v", 1); v[2] = 0 / 0; batch:set("v", v) end)
  batch:close()
  refuses("this batch was closed", function() batch:step() end)
  local moved = stn.world {}
  moved:box { name = "lift", size = { 1, 1, 1 }, mass = 1 }:kinematic(function(t) return { xyz = { 0, 0, t } } end)
  refuses("kinematic motions", function() stn.batch { moved } end)
end)

-- What nobody named: each solver and integrator, sleep, soft bodies, a world without a body, one coordinate.
local function box_on_floor(options)
  local world = stn.world(options)
  world:ground { mu = 0.5 }
  world:box { name = "box", size = { 0.2, 0.2, 0.2 }, mass = 1, xyz = { 0, 0, 0.1 } }
  return world
end

local kinds = {
  sleep = { sleep_velocity = 0.05, sleep_time = 0.1 },
  xpbd = { integrator = "xpbd" }, midpoint = { integrator = "midpoint", stiction = true },
  quasistatic = { integrator = "quasistatic", dt = 0.02 },
  soft_step = { solver = "soft_step" }, newton_ncp = { solver = "newton_ncp" }, apgd = { solver = "apgd" },
}
for name, options in pairs(kinds) do
  stn.test("a batch of two beside one alone: " .. name, function()
    local alone, batch = box_on_floor(options), stn.batch { box_on_floor(options), count = 2, threads = 2 }
    for _ = 1, 30 do
      for _ = 1, 10 do alone:step() end
      batch:step(10)
      assert(batch:hash(1) == alone:hash() and batch:hash(2) == alone:hash())
    end
    if name == "sleep" then assert(alone:asleep "box") end
  end)
end

stn.test("soft bodies, nothing at all, one coordinate", function()
  local function soft()
    local world = stn.world {}
    world:ground {}
    world:soft { box = { 0.2, 0.2, 0.2 }, cells = 1, xyz = { 0, 0, 0.12 }, young = 1e5, poisson = 0.3, density = 1000 }
    return world
  end
  local alone, batch = soft(), stn.batch { soft(), count = 2, outputs = { "contact_force", "body_pose" } }
  for _ = 1, 60 do alone:step() end
  assert(batch:step(60) == 0 and batch:hash(2) == alone:hash())
  local empty = stn.batch { stn.world {}, count = 3, outputs = { "certificate" } }
  assert(empty:step(5) == 0 and #empty:get "q" == 3 and #empty:get("q", 1) == 0)
  local one = stn.world {}
  local slider = require "robot_text"(one, ".urdf", [[<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="prismatic"><parent link="a"/>
    <child link="b"/><axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="9" velocity="9"/></joint></robot>]], { name = "r", fixed = true })
  assert(slider)
  local batch_of_one = stn.batch { one, count = 2 }
  batch_of_one:set("v", { { 0.5 }, { -0.5 } })
  assert(batch_of_one:get("v")[2][1] == -0.5 and batch_of_one:get("v", 1)[1] == 0.5)
  batch_of_one:step(100)
  assert(math.abs(batch_of_one:get("q", 1)[1] + batch_of_one:get("q", 2)[1]) < 1e-12)
end)

stn.test("sensors of all worlds, as those of worlds alone read", function()
  local function sensed(seed)
    local world, _, pd = scene()
    local arm = world:group "arm"
    local noise = { force = { density = 0.01, walk = 0.002 }, torque = { density = 1e-4 } }
    return world, pd, {
      world:sensor { "force_torque", link = arm:link "iiwa14_link_7", seed = seed, noise = noise },
      world:sensor { "joint_torque", joint = arm:joint "iiwa14_joint_3" },
      world:sensor { "contact_force", on = world:group "ball" },
      world:sensor { "imu", link = world:group "ball" },
    }
  end
  local base = sensed(7)
  for _, threads in ipairs { 1, 3 } do
    local batch = stn.batch { base, count = 4, threads = threads, outputs = { "sensors", "body_pose" } }
    assert(batch:columns "sensors" == 6 + 1 + 6 + 6 and batch:get("sensors", 2)[7] == 0)
    batch:set("command", { { 0.1, 0, 0, 0, 0, 0, 0 }, { 0.2, 0, 0, 0, 0, 0, 0 }, { 0, 0.3, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0.4, 0, 0, 0 } })
    assert(batch:step(130) == 0)
    local rows = batch:get "sensors"
    for i = 1, 4, 3 do
      local one, pd, sensors = sensed(7)
      pd:set { position = batch:get("command", i) }
      for _ = 1, 130 do one:step() end
      local expected, column = {}, 0
      for k, parts in ipairs { { "force", "torque" }, { "torque" }, { "force", "torque" }, { "specific_force", "angular_velocity" } } do
        local read = i == 1 and sensors[k]:read() or sensors[k]:exact() -- the first world has the noise of the world alone, others their own
        for _, part in ipairs(parts) do
          for _, x in ipairs(type(read[part]) == "table" and read[part] or { read[part] }) do expected[#expected + 1] = x end
        end
      end
      for _, x in ipairs(expected) do
        column = column + 1
        local noisy = i ~= 1 and column <= 6
        assert(noisy and x ~= rows[i][column] and math.abs(x - rows[i][column]) < 2 or not noisy and x == rows[i][column],
          ("world %d, column %d: %.17g and %.17g"):format(i, column, x, rows[i][column]))
      end
    end
    assert(rows[1][16] > 5 or rows[1][10] > 5, "the ball lies on the floor, and its weight is carried")
    batch:copy(4, { 2 })
    assert(batch:get("sensors", 2)[1] == rows[4][1])
    batch:reset(4)
    assert(batch:get("sensors", 4)[1] == 0)
  end
  local plain = scene()
  refuses("has no sensors", function() stn.batch { plain, count = 2, outputs = { "sensors" } } end)
  local without = stn.batch { base, count = 2 }
  refuses("are not kept", function() without:get "sensors" end)
  refuses("cannot be set", function() without:set("sensors", { 1 }) end)
end)

stn.test("1,000 worlds by 1, 2 and 4 threads beside 1,000 alone", function()
  local world = scene()
  local v = random_rows(scene(), 1000, world.nv, 0.5)
  local hashes = {}
  for i = 1, 1000 do
    local alone <close> = world:clone()
    alone:set_state { v = v[i] }
    for _ = 1, 25 do alone:step() end
    hashes[i] = alone:hash()
  end
  for _, threads in ipairs { 1, 2, 4 } do
    local batch <close> = stn.batch { world, count = 1000, threads = threads }
    batch:set("v", v)
    for _ = 1, 5 do batch:step(5) end
    for i = 1, 1000 do assert(batch:hash(i) == hashes[i], i) end
  end
end)
