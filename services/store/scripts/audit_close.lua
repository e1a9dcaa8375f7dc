-- KEYS entries, their ends; ARGV id, end. Only an entry that is there and open is closed.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) end
return 0
