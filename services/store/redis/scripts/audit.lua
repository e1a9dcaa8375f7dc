-- KEYS entries, their order, heads; ARGV id, entry, mark ('' for none), marks that are heads no more. The same id again
-- changes nothing.
if call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then
  local last = call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  call('ZADD', KEYS[2], #last == 0 and 0 or tonumber(last[2]) + 1, ARGV[1])
  if ARGV[3] ~= '' then
    -- whatever lies there that is no set must not keep anybody from acting
    local kind = call('TYPE', KEYS[3]).ok
    if kind ~= 'set' and kind ~= 'none' then call('DEL', KEYS[3]) end
    for at = 4, #ARGV do call('SREM', KEYS[3], ARGV[at]) end
    call('SADD', KEYS[3], ARGV[3])
  end
end
return 0
