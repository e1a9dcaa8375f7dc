-- KEYS schedules, their versions, their next runs; ARGV name, version it must have (0: none), new version (0: strike it
-- off), next run (0: none), schedule. Answers 1 if this was done.
if (call('HGET', KEYS[2], ARGV[1]) or '0') ~= ARGV[2] then return 0 end
if ARGV[4] == '0' then
  call('ZREM', KEYS[3], ARGV[1])
else
  call('ZADD', KEYS[3], ARGV[4], ARGV[1])
end
if ARGV[3] ~= '0' then
  call('HSET', KEYS[1], ARGV[1], ARGV[5])
  call('HSET', KEYS[2], ARGV[1], ARGV[3])
  return 1
end
call('HDEL', KEYS[1], ARGV[1])
return call('HDEL', KEYS[2], ARGV[1])
