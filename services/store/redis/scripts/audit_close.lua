-- KEYS entries, their ends, the seals of those, heads; ARGV id, end, seal ('' for none), mark, marks that are heads no
-- more. Only an entry that is there and open is closed.
if call('HEXISTS', KEYS[1], ARGV[1]) == 1 and call('HSETNX', KEYS[2], ARGV[1], ARGV[2]) == 1 then
  if ARGV[3] ~= '' then
    call('HSET', KEYS[3], ARGV[1], ARGV[3])
    local kind = call('TYPE', KEYS[4]).ok
    if kind ~= 'set' and kind ~= 'none' then call('DEL', KEYS[4]) end
    for at = 5, #ARGV do call('SREM', KEYS[4], ARGV[at]) end
    call('SADD', KEYS[4], ARGV[4])
  end
end
return 0
