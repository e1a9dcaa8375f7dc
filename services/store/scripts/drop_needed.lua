-- KEYS names that are waited for, who waits for one of them; ARGV that name. Strikes it off if nobody does.
if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
return redis.call('SREM', KEYS[1], ARGV[1])
