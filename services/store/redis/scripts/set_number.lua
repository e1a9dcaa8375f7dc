-- KEYS a hash of counters; ARGV a field, the number it must still have, the one it gets (0: none). Answers whether it has.
if (call('HGET', KEYS[1], ARGV[1]) or '0') ~= ARGV[2] then return 0 end
if ARGV[3] == '0' then
  call('HDEL', KEYS[1], ARGV[1])
else
  call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
