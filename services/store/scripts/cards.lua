-- KEYS sorted sets; answers how many members each has.
local sizes = {}
for i = 1, #KEYS do sizes[i] = redis.call('ZCARD', KEYS[i]) end
return sizes
