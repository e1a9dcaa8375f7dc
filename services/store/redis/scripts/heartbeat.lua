-- KEYS workers, orders of one, kinds of unserved tasks; ARGV its name, its own words, its node. Answers the instant, the orders,
-- which are gone then, those kinds that any may fetch, and those of its node.
local clock = call('TIME')
local seen = string.format('%013.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))
call('HSET', KEYS[1], ARGV[1], seen .. ARGV[2])
local orders = call('LRANGE', KEYS[2], 0, -1)
if #orders > 0 then call('DEL', KEYS[2]) end
-- now and then: forget the workers that have been silent for a day
if clock[2] % 64 == 0 then
  local oldest = clock[1] * 1000 - C.day_ms
  for _, name in ipairs(call('HKEYS', KEYS[1])) do
    local words = call('HGET', KEYS[1], name)
    local at = tonumber(string.sub(words, 1, 13))
    if at and at < oldest then call('HDEL', KEYS[1], name) end
  end
end
-- kinds that wait for the home of their shop carry its node: only those of this worker's own are its business
local any, own, mine = {}, {}, '@' .. ARGV[3]
for _, kind in ipairs(call('SMEMBERS', KEYS[3])) do
  local at = string.find(kind, '@', 1, true)
  if not at then
    any[#any + 1] = kind
  elseif string.sub(kind, at) == mine then
    own[#own + 1] = string.sub(kind, 1, at - 1)
  end
end
return { tonumber(seen), orders, any, own }
