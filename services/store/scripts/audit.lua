-- KEYS entries, their order; ARGV id, entry. The same id again changes nothing.
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then
  redis.call('ZADD', KEYS[2], redis.call('ZCARD', KEYS[2]), ARGV[1])
end
return 0
