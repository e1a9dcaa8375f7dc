-- KEYS sorted sets; ARGV[1] the command that reads them in order, then the scores from which and up to which, how many
-- members are enough, and whether the scores come too ('WITHSCORES'). Answers the score that this part of them ends with
-- ('' where it is the last one), then for each set that has any what stands there up to that score, all at one instant.
local command, from, last, enough = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
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

local found = { edge or '' }
for i, key in ipairs(held) do found[i + 1] = call(command, key, from, edge or last, unpack(ARGV, 5)) end
return found
