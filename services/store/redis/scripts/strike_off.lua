-- KEYS workers; ARGV name of one, when it was last heard of as its judge saw it. 1 when it is off the list, 0 when it was heard of since.
local words = redis.call('HGET', KEYS[1], ARGV[1])
if words and tonumber(string.sub(words, 1, 13)) ~= tonumber(ARGV[2]) then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
return 1
