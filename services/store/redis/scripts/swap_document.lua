-- KEYS documents of a kind; ARGV a name, the body it must still have, the one it gets. Answers whether it has.
if call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
