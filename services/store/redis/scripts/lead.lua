-- KEYS[1] the lease of a role; ARGV holder, ms. Answers 1 if the holder has it now.
local holder = call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
