-- SPDX-License-Identifier: Apache-2.0
-- Our Panda, with and without its hand, is what models/panda/README.md says, and holds and follows postures. Frames, reach
-- and gravity torques are computed here from the published Denavit-Hartenberg table and the masses in the text of the file.
local stn = require "stiction"
local worse = require "worse"
local close = require "grip"

local file, hand_file = "models/panda/panda.urdf", "models/panda/panda_hand.urdf"

-- Craig's convention: turn by alpha about x, go a along x, turn by theta about z, go d along z.
local table_dh = {
  { a = 0, d = 0.333, alpha = 0 }, { a = 0, d = 0, alpha = -math.pi / 2 }, { a = 0, d = 0.316, alpha = math.pi / 2 },
  { a = 0.0825, d = 0, alpha = math.pi / 2 }, { a = -0.0825, d = 0.384, alpha = -math.pi / 2 },
  { a = 0, d = 0, alpha = math.pi / 2 }, { a = 0.088, d = 0, alpha = math.pi / 2 },
}
local lower = { -2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973 }
local upper = { 2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973 }
local ready = { 0, -math.pi / 4, 0, -3 * math.pi / 4, 0, math.pi / 2, math.pi / 4 }

local function joint_name(i)
  return "panda_joint" .. i
end

local function named(q)
  local values = {}
  for i = 1, 7 do
    values[joint_name(i)] = q[i]
  end
  return values
end

local function load_arm(options)
  local world = stn.world { dt = 2e-3, margin = options.margin, gravity = options.gravity, solver = { "sap", tolerance = 1e-10 } }
  local arm = world:load { options.file or file, fixed = true, joints = named(options.q or ready) }
  return world, arm
end

-- The point of link k (0: the foot) at `point`, from the table.
local function place(q, k, point)
  for i = k, 1, -1 do
    local row, c, s = table_dh[i], math.cos(q[i]), math.sin(q[i])
    local x, y, z = c * point[1] - s * point[2] + row.a, s * point[1] + c * point[2], point[3] + row.d
    local ca, sa = math.cos(row.alpha), math.sin(row.alpha)
    point = { x, ca * y - sa * z, sa * y + ca * z }
  end
  return point
end

-- Masses and centres of mass of the links in the text of the file.
local function weights(path)
  local folder = debug.getinfo(1, "S").source:match "^@(.*)robot_panda.lua$"
  local stream = assert(io.open(folder .. "../../" .. path))
  local text = stream:read "a"
  stream:close()
  local list = {}
  for name, body in text:gmatch '<link name="panda_link(%d)">(.-)</link>' do
    local x, y, z = body:match '<inertial><origin xyz="(%S+) (%S+) (%S+)"/>'
    list[#list + 1] = { link = tonumber(name), mass = tonumber(body:match '<mass value="(.-)"/>'),
                        centre = { tonumber(x), tonumber(y), tonumber(z) } }
  end
  assert(#list == 8)
  return list
end

-- Torques that hold the arm against gravity: the gradient of its potential energy, by central differences.
local function gravity_torques(list, q)
  local function potential(at)
    local sum = 0
    for _, part in ipairs(list) do
      sum = sum + 9.81 * part.mass * place(at, part.link, part.centre)[3]
    end
    return sum
  end
  local torques, h = {}, 1e-4
  for i = 1, 7 do
    local at = { table.unpack(q) }
    at[i] = q[i] + h
    local above = potential(at)
    at[i] = q[i] - h
    torques[i] = (above - potential(at)) / (2 * h)
  end
  return torques
end

local function largest(values)
  local most = 0
  for _, value in ipairs(values) do
    most = worse(most, math.abs(value))
  end
  return most
end

local function distance(a, b)
  return math.sqrt((a[1] - b[1]) ^ 2 + (a[2] - b[2]) ^ 2 + (a[3] - b[3]) ^ 2)
end

-- ------------------------------------------------------------------------------------------------------ figures

stn.test("the links stand where the published table puts them", function()
  local world, arm = load_arm {}
  for _ = 1, 20 do
    local q = {}
    for i = 1, 7 do
      q[i] = world:random(lower[i], upper[i])
    end
    arm:set_q(named(q))
    for k = 1, 7 do
      local pose = arm:link("panda_link" .. k):pose()
      for _, point in ipairs { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } do
        stn.near(pose * point, place(q, k, point), 1e-14, "link " .. k)
      end
    end
    stn.near(arm:link("panda_link8"):position(), place(q, 7, { 0, 0, 0.107 }), 1e-14, "flange")
  end
end)

stn.test("limits, efforts and speeds are the published ones", function()
  local _, arm = load_arm {}
  assert(#arm:joints() == 7)
  for i, joint in ipairs(arm:joints()) do
    local effort, speed = i <= 4 and 87 or 12, i <= 4 and 2.175 or 2.61
    local limits, dynamics = joint:limits(), joint:dynamics()
    assert(joint.name == joint_name(i) and joint.type == "revolute")
    assert(limits.lower == lower[i] and limits.upper == upper[i] and limits.effort == effort and limits.velocity == speed)
    -- three digits in the file
    stn.near(dynamics.damping / (0.01 * effort / speed), 1, 0.005, "damping")
    stn.near(dynamics.reflected_inertia / (0.015 * effort / speed), 1, 0.005, "rotor")
  end
end)

stn.test("arm and hand weigh what is published, and load without a finding", function()
  for path, mass in pairs { [file] = 18, [hand_file] = 18.73 } do
    assert(#stn.check_robot(path) == 0)
    local _, arm = load_arm { file = path }
    stn.near(arm:mass(), mass, 1e-12, path)
  end
end)

-- The published reach is 0.855 m; the table gives 3 mm more, at the angle of joint 4 that the manufacturer states.
stn.test("the flange reaches 0.858 m from the shoulder", function()
  local _, arm = load_arm {}
  local shoulder = arm:link("panda_link2"):position()
  local function reach(q4, q6)
    arm:set_q { panda_joint4 = q4, panda_joint6 = q6 }
    return distance(arm:link("panda_link8"):position(), shoulder)
  end
  local best, at, width = 0, { -1.5, 1.9 }, { 1.4, 1.8 }
  while width[1] > 1e-9 do -- ever finer grids about the best point so far
    local middle = { at[1], at[2] }
    for i = -10, 10 do
      for k = -10, 10 do
        local q4 = math.min(math.max(middle[1] + width[1] * i / 10, lower[4]), upper[4])
        local q6 = math.min(math.max(middle[2] + width[2] * k / 10, lower[6]), upper[6])
        local length = reach(q4, q6)
        if length > best then
          best, at = length, { q4, q6 }
        end
      end
    end
    width = { width[1] / 4, width[2] / 4 }
  end
  local function hypot(x, y)
    return math.sqrt(x * x + y * y)
  end
  stn.near(best, hypot(0.316, 0.0825) + hypot(0.384, 0.0825) + hypot(0.088, 0.107), 1e-12, "length of the parts")
  stn.near(at[1], -0.467002423653011, 1e-6, "joint 4")
  stn.near(best / 0.855, 1, 0.005, "published reach")
end)

-- Sweeps one joint after the other through its range, or up to the bound that is given for it.
local function least_clearance(path, margin, bounds)
  local world, arm = load_arm { file = path, margin = margin, gravity = { 0, 0, 0 } }
  local start, still = arm:q(), {}
  for i = 1, #start do
    still[i] = 0
  end
  for i = 1, 7 do
    local to = bounds[i] or upper[i]
    for step = 0, 60 do
      arm:set_q(start)
      arm:set_q { [joint_name(i)] = lower[i] + (to - lower[i]) * step / 60 }
      arm:set_v(still)
      local contact = world:step():contacts()[1]
      if contact then
        error(("joint %d, step %d: %s and %s are %.4f m apart"):format(i, step, contact.link_a, contact.link_b, contact.distance))
      end
    end
  end
end

stn.test("while one joint moves, no link comes near another", function()
  least_clearance(file, 0.02, {})
  -- with the hand the fingers reach the foot when joint 2 leans on
  least_clearance(hand_file, 0.002, { [2] = 1.0 })
  stn.fails(function()
    least_clearance(hand_file, 0, {})
  end, "panda_link0 and panda_leftfinger")
end)

-- ----------------------------------------------------------------------------------------------------- behaviour

-- Two seconds of holding; the arm must come to rest and touch nothing, itself least of all.
local function hold(options)
  local world, arm = load_arm { file = options.file }
  world:controller { "joint_pd", target = arm, kp = options.kp, kd = options.kd, gravity_compensation = options.compensated }
  for step in world:run { seconds = 2 } do
    assert(step.contact_count == 0 and step.converged)
  end
  assert(largest(arm:v()) < 1e-6, "still moving")
  return arm
end

stn.test("under PD alone the posture sags by gravity / kp", function()
  local arm = hold { kp = 600, kd = 60 }
  local q, sag, predicted = arm:q(), {}, {}
  local torques = gravity_torques(weights(file), q)
  for i = 1, 7 do
    sag[i], predicted[i] = ready[i] - q[i], torques[i] / 600
  end
  assert(largest(predicted) > 0.02, "joint 4 must sag visibly")
  stn.near(sag, predicted, 1e-8, "sag")
end)

stn.test("gravity compensation leaves no error", function()
  for _, path in ipairs { file, hand_file } do
    local arm = hold { file = path, kp = 600, kd = 60, compensated = true }
    for i = 1, 7 do
      stn.near(arm:joint(joint_name(i)):position(), ready[i], 1e-9, joint_name(i))
    end
  end
end)

stn.test("every joint follows a sine", function()
  local world, arm = load_arm {}
  local motor = world:controller { "joint_pd", target = arm, kp = 2000, kd = 200, gravity_compensation = true }
  local amplitude, omega, worst = 0.3, math.pi, 0
  local position, velocity = {}, {}
  for step in world:run { seconds = 2 } do
    local now, t = arm:q(), step.time
    for i = 1, 7 do
      if position[i] then
        worst = worse(worst, math.abs(now[i] - position[i]))
      end
      -- what holds at the end of the next step
      position[i] = ready[i] + amplitude * (1 - math.cos(omega * (t + world.dt))) / 2
      velocity[i] = amplitude * omega / 2 * math.sin(omega * (t + world.dt))
    end
    assert(step.contact_count == 0)
    motor:set { position = position, velocity = velocity }
  end
  stn.result("worst error", worst, "rad")
  -- acceleration 0.3 pi^2 / 2 rad/s^2 in every joint, at most 4 kg m^2 behind one, kp 2000
  assert(worst < 4 * amplitude * omega ^ 2 / 2 / 2000, worst)
end)

stn.test("the hand closes evenly and grips with its force", function()
  local world = stn.world { dt = 1e-3, gravity = { 0, 0, 0 } }
  local arm = world:load { hand_file, fixed = true, joints = named(ready) }
  local width = 0.03
  local box = world:box { size = { 0.04, width, 0.02 }, mass = 0.1, xyz = place(ready, 7, { 0, 0, 0.107 + 0.1034 }) }
  world:controller { "joint_pd", target = arm, joints = { "panda_joint1", "panda_joint2", "panda_joint3", "panda_joint4",
                                                          "panda_joint5", "panda_joint6", "panda_joint7" }, kp = 2000, kd = 200 }
  local grip = world:controller { "joint_pd", target = arm, joints = { "panda_finger_joint1" }, kp = 2e4, kd = 2e3 }
  grip:set { position = { -0.05 } }
  arm:set_q { panda_finger_joint1 = 0.04 }
  close(world, arm, { joints = { "panda_finger_joint1", "panda_finger_joint2" }, links = { "panda_leftfinger", "panda_rightfinger" },
                      seconds = 1.5, width = width, force = 70 })
  assert(box:speed() < 1e-6)
end)
