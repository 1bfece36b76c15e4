-- SPDX-License-Identifier: Apache-2.0
-- A scripted trot for scripts/quadruped.urdf: diagonal pairs of feet take turns, each moving back under its hip at the speed wanted
-- while it stands, and forward through the air while the other pair stands. Where a foot lands corrects the speed: a little farther
-- out in the direction in which the trunk goes too fast (Raibert, "Legged robots that balance", 1986).
--
--   local trot = require "trot"
--   motors:set { position = trot(time, 1.5, { vx, vy }, turn) }
local legs = { "LF", "RF", "LH", "RH" }
local segment, offset = 0.28, 0.06          -- of thigh and shank; from the hip's axis out to the leg [m]
local height, lift = 0.47, 0.07             -- of the hips over the feet's centres; of a foot in the air [m]
local frequency = 2.6                       -- strides [Hz]
local placement = { forward = 0.06, sideways = 0.10 } -- farther out per speed in excess [s]

-- Angles of HAA, HFE and KFE that bring the foot's centre to (x, y, z) from the hip, z < 0. side: 1 left, -1 right; fore: 1, -1 behind.
local function reach(x, y, z, side, fore)
  local out = side * offset
  local plane = math.sqrt(math.max(y * y + z * z - out * out, 1e-4)) -- length of the leg seen from the front
  local half = math.acos(math.min(math.sqrt(x * x + plane * plane) / (2 * segment), 1))
  return math.atan(z, y) - math.atan(-plane, out), math.atan(-x, plane) + fore * half, -2 * fore * half
end

-- Where a foot is, from its hip: `phase` in [0, 1), the first half of it on the ground. `land` = { x, y }: beside the hip, where it
-- comes down and, in the mean, was lifted.
local function foot(phase, speed, land)
  local stance = 0.5 / frequency
  if phase < 0.5 then
    return land.x - speed.x * stance * 2 * phase, land.y - speed.y * stance * 2 * phase, -height
  end
  local s = 2 * phase - 1
  local forward = (1 - math.cos(math.pi * s)) / 2
  local from_x, from_y = land.x - speed.x * stance, land.y - speed.y * stance
  return from_x + (land.x - from_x) * forward, from_y + (land.y - from_y) * forward, -height + lift * math.sin(math.pi * s) ^ 2
end

--- Angles of all joints by name at a time. `wanted`: speed [m/s]; `velocity`: of the trunk, forward and to the left, as it is; `turn`:
--- rate to the left [rad/s].
return function(time, wanted, velocity, turn)
  local q, stance = {}, 0.5 / frequency
  for i, leg in ipairs(legs) do
    local side, fore = leg:sub(1, 1) == "L" and 1 or -1, leg:sub(2) == "F" and 1 or -1
    local phase = (time * frequency + ((i == 1 or i == 4) and 0 or 0.5)) % 1
    local speed = { x = wanted - turn * side * 0.18, y = turn * fore * 0.28 }
    local land = {
      x = speed.x * stance / 2 + placement.forward * (velocity[1] - wanted),
      y = side * offset + speed.y * stance / 2 + placement.sideways * velocity[2],
    }
    local x, y, z = foot(phase, speed, land)
    q["quadruped_" .. leg .. "_HAA"], q["quadruped_" .. leg .. "_HFE"], q["quadruped_" .. leg .. "_KFE"] = reach(x, y, z, side, fore)
  end
  return q
end
