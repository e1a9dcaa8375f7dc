-- KEYS documents of a kind, or pauses; ARGV a name, the body it must still have and the one it gets, "" for none. Answers
-- whether it has.
if (call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  call('HDEL', KEYS[1], ARGV[1])
else
  call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
