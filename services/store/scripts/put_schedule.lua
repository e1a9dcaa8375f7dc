-- KEYS schedules, their versions, their next runs; ARGV name, version it must have (0: none), new version (0: strike it
-- off), next run (0: none), schedule. Answers 1 if this was done.
if (redis.call('HGET', KEYS[2], ARGV[1]) or '0') ~= ARGV[2] then return 0 end
if ARGV[4] == '0' then
  redis.call('ZREM', KEYS[3], ARGV[1])
else
  redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
end
if ARGV[3] ~= '0' then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
  return 1
end
redis.call('HDEL', KEYS[1], ARGV[1])
return redis.call('HDEL', KEYS[2], ARGV[1])
