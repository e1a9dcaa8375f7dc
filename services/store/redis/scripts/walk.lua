-- KEYS sorted sets; ARGV[1] the command that reads them in order, then the scores from which and up to which, the member
-- of the first score that was the last one to be met ('' for none), how many members are enough, and whether the scores
-- come too ('WITHSCORES'). Answers the score that this part of them ends with ('' where it is the last one), where far
-- more than enough have that score the member to go on behind, else '', then for each set that has any what stands there
-- up to that score, or a little further, all at one instant.
local command, from, last, met, enough = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local down = command == 'ZREVRANGEBYSCORE'
local held = {}
for i = 1, #KEYS do
  if call('ZCARD', KEYS[i]) > 0 then held[#held + 1] = KEYS[i] end
end

local function up_to(edge)
  local n = 0
  for _, key in ipairs(held) do n = n + call('ZCOUNT', key, down and edge or from, down and from or edge) end
  return n
end

-- The first one of these scores, which stand in order, up to which there are enough.
local function find(edges)
  local low, high = 1, #edges + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if up_to(edges[middle]) >= enough then high = middle else low = middle + 1 end
  end
  return edges[low]
end

local function before(left, right)
  left, right = tonumber(left), tonumber(right)
  if down then return left > right end
  return left < right
end

-- The score that stands so deep in one of the sets that there are enough up to it in all of them.
local depth, edge = math.ceil(enough / math.max(1, #held)), nil
while not edge do
  local edges = {}
  for _, key in ipairs(held) do
    edges[#edges + 1] = call(command, key, from, last, 'WITHSCORES', 'LIMIT', depth - 1, 1)[2]
  end
  if not edges[1] then break end
  table.sort(edges, before)
  edge, depth = find(edges), math.min(4 * depth, enough)
end

-- Redis orders members of one score by their bytes, Lua strings by the language of the machine.
local function less(left, right)
  for i = 1, math.min(#left, #right) do
    local a, b = string.byte(left, i), string.byte(right, i)
    if a ~= b then return a < b end
  end
  return #left < #right
end

local function beyond(member, other)
  if down then return less(member, other) end
  return less(other, member)
end

-- How many members of the first score were met, of those that stand from a rank on.
local function behind_met(key, first, step)
  local low, high = 0, met == '' and 0 or call('ZCOUNT', key, from, from)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local rank = first + step * middle
    if beyond(call('ZRANGE', key, rank, rank)[1], met) then high = middle else low = middle + 1 end
  end
  return low
end

-- Enough of each set, whatever their scores; where a set has more, all of them together are known up to its last one.
local function take_some(found)
  local score, member
  for _, key in ipairs(held) do
    local step = down and -1 or 1
    local first = down and call('ZCOUNT', key, '-inf', from) - 1 or call('ZCARD', key) - call('ZCOUNT', key, from, '+inf')
    local skipped = behind_met(key, first, step)
    local left = call('ZCOUNT', key, down and last or from, down and from or last) - skipped
    local n = math.min(enough, left)
    if n > 0 then
      local at, to = first + step * skipped, first + step * (skipped + n - 1)
      local some = call('ZRANGE', key, math.min(at, to), math.max(at, to), 'WITHSCORES')
      found[#found + 1] = some
      if left > n then
        local place = down and 1 or #some - 1
        local m, s = some[place], some[place + 1]
        if not score or before(s, score) or (s == score and beyond(member, m)) then score, member = s, m end
      end
    end
  end
  found[1], found[2] = score or '', member or ''
  return found
end

if edge and ARGV[6] and up_to(edge) > 4 * enough + 100 then return take_some({ '', '' }) end
local found = { edge or '', '' }
for i, key in ipairs(held) do found[i + 2] = call(command, key, from, edge or last, unpack(ARGV, 6)) end
return found
