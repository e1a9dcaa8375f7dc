-- KEYS names that are waited for, who waits for one of them; ARGV that name. Strikes it off if nobody does.
if call('EXISTS', KEYS[2]) == 1 then return 0 end
return call('SREM', KEYS[1], ARGV[1])
