-- SPDX-License-Identifier: Apache-2.0
-- Reads JSON: local value = require "json"(text). null is nil; texts keep their escapes as they are written.

local value

local function skip(text, at)
  return text:find("[^%s]", at)
end

local function array(text, at)
  local result, n = {}, 0
  at = skip(text, at + 1)
  while text:sub(at, at) ~= "]" do
    n = n + 1
    result[n], at = value(text, at)
    at = skip(text, at)
    if text:sub(at, at) == "," then at = skip(text, at + 1) end
  end
  return result, at + 1
end

local function object(text, at)
  local result = {}
  at = skip(text, at + 1)
  while text:sub(at, at) ~= "}" do
    local key
    key, at = value(text, at)
    at = skip(text, at)
    assert(text:sub(at, at) == ":", "':' expected")
    result[key], at = value(text, skip(text, at + 1))
    at = skip(text, at)
    if text:sub(at, at) == "," then at = skip(text, at + 1) end
  end
  return result, at + 1
end

local words = { ["true"] = true, ["false"] = false, null = false }

function value(text, at)
  local first = text:sub(at, at)
  if first == "{" then return object(text, at) end
  if first == "[" then return array(text, at) end
  if first == '"' then
    local stop = at + 1
    while text:sub(stop, stop) ~= '"' do -- an escape is two characters, or begins with two
      stop = stop + (text:sub(stop, stop) == "\\" and 2 or 1)
      assert(stop <= #text, "a text does not end")
    end
    return text:sub(at + 1, stop - 1), stop + 1
  end
  local word = text:match("^%a+", at)
  if word then
    local result = words[word]
    if word == "null" then result = nil end
    return result, at + #word
  end
  local number = text:match("^[-+%d.eE]+", at)
  return assert(tonumber(number), "a number expected at byte " .. at), at + #number
end

return function(text)
  return (value(text, skip(text, 1)))
end
