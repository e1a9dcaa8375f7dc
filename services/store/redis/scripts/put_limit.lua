-- KEYS limits, running tasks of each, counters by kind; ARGV a scope and its words ("slots starts", "" for none), or
-- nothing. Counts the running tasks of all limits anew.
if ARGV[1] then
  if ARGV[2] == '' then
    call('HDEL', KEYS[1], ARGV[1])
  else
    call('HSET', KEYS[1], ARGV[1], ARGV[2])
  end
end
local running = {}
for _, scope in ipairs(call('HKEYS', KEYS[1])) do running[scope] = 0 end
call('DEL', KEYS[2])
if next(running) == nil then return 0 end
local counters = call('HGETALL', KEYS[3])
for i = 1, #counters, 2 do
  local platform, kind, status = string.match(counters[i], '^([^|]*)|([^|]*)|[^|]*|([^|]*)|')
  if status == 'running' then
    for _, scope in ipairs({ 'platform:' .. platform, 'type:' .. kind }) do
      if running[scope] then running[scope] = running[scope] + (tonumber(counters[i + 1]) or 0) end
    end
  end
end
for scope, number in pairs(running) do call('HSET', KEYS[2], scope, number) end
return 0
