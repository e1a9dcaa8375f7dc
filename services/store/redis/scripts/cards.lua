-- KEYS sorted sets; answers how many members each has.
local sizes = {}
for i = 1, #KEYS do sizes[i] = call('ZCARD', KEYS[i]) end
return sizes
