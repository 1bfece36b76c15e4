-- SPDX-License-Identifier: Apache-2.0
-- Single contacts of mixed difficulty, v = W l + c, whose solutions are known exactly: each is drawn first, and c follows from it.
--
--   stick   l inside of the cone, v = 0                                            the same under all three laws
--   open    l = 0, v_n >= mu |v_t|                                                 likewise
--   slip    l on the cone along u, s > 0 and
--             mdp       v_n = 0, v_t = -s (u + mu W_nt/W_nn)    (8): against the outward normal of the conic v_n = 0 of the cone
--             coulomb   v_n = 0, v_t = -s u                     (6)
--             ccp       v_n = mu s, v_t = -s u                  (7)
--
-- Under (7) and (8) the problem is strictly convex, so that this is the only solution; under (6) there may be more. What parts by itself,
-- c_n > 0, has l = 0 under (8), whatever was drawn: the paper's first case.
-- W has eigenvalues of 0.1 to 10 kg^-1 along axes of any direction (of every fourth 0.01 to 100), mu is 0.05 to 2, the speed that slips
-- 1e-5 to 10 m/s: between what barely slips and what slips all the way. One in ten is open, two in ten stick.
local contacts = {}

local laws = { "mdp", "coulomb", "ccp" }

-- A rotation, from a quaternion of four normal numbers, as rows.
local function rotation(normal)
  local w, x, y, z = normal(), normal(), normal(), normal()
  local s = 2 / (w * w + x * x + y * y + z * z)
  return {
    { 1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y) },
    { s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x) },
    { s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y) },
  }
end

--- A list of `count` contacts { id, mu, W, c, kind, solutions = { mdp =, coulomb =, ccp = } }; `random(low, high)` draws.
function contacts.draw(count, random)
  local function decades(low, high) return 10 ^ random(low, high) end
  local function normal() return math.sqrt(-2 * math.log(1 - random(0, 1))) * math.cos(2 * math.pi * random(0, 1)) end
  local list = {}
  for id = 0, count - 1 do
    local wide = id % 4 == 3 and 2 or 1
    local Q, scale, W = rotation(normal), { decades(-wide, wide), decades(-wide, wide), decades(-wide, wide) }, {}
    for i = 1, 3 do
      W[i] = {}
      for j = 1, 3 do
        W[i][j] = 0
        for k = 1, 3 do W[i][j] = W[i][j] + Q[i][k] * scale[k] * Q[j][k] end
      end
    end
    local mu, angle, s, n = decades(-1.3, 0.3), random(-math.pi, math.pi), decades(-5, 1), decades(-2, 1)
    local u = { math.cos(angle), math.sin(angle) }
    local one = { id = id, mu = mu, W = W, c = {}, solutions = {} }
    local l, v = { mu * n * u[1], mu * n * u[2], n }, { -s * u[1], -s * u[2], 0 }
    if id % 10 == 0 then
      one.kind, l, v[3] = "open", { 0, 0, 0 }, mu * s * random(1, 3)
    elseif id % 10 <= 2 then
      local share = random(0, 0.99)
      one.kind, l, v = "stick", { share * l[1], share * l[2], n }, { 0, 0, 0 }
    else
      one.kind, one.law = "slip", laws[id % 3 + 1]
      if one.law == "mdp" then
        for i = 1, 2 do v[i] = -s * (u[i] + mu * W[3][i] / W[3][3]) end
      elseif one.law == "ccp" then
        v[3] = mu * s
      end
    end
    for i = 1, 3 do one.c[i] = v[i] - W[i][1] * l[1] - W[i][2] * l[2] - W[i][3] * l[3] end
    for _, law in ipairs(laws) do
      if not one.law or one.law == law then one.solutions[law] = law == "mdp" and one.c[3] > 0 and { 0, 0, 0 } or l end
    end
    list[#list + 1] = one
  end
  return list
end

--- Writes them as `stiction solve` takes them.
function contacts.write(path, list)
  local file <close> = assert(io.open(path, "w"))
  file:write "id,mu,Wxx,Wxy,Wxz,Wyy,Wyz,Wzz,cx,cy,cz\n"
  for _, one in ipairs(list) do
    local W, c = one.W, one.c
    file:write(("%d"):format(one.id), (",%.17g"):rep(10):format(one.mu, W[1][1], W[1][2], W[1][3], W[2][2], W[2][3], W[3][3], c[1], c[2], c[3]), "\n")
  end
end

return contacts
