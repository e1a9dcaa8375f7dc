-- KEYS[1] the lease of a role; ARGV[1] the holder that gives it up.
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
