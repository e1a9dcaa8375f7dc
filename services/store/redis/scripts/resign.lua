-- KEYS[1] the lease of a role; ARGV[1] the holder that gives it up.
if call('GET', KEYS[1]) == ARGV[1] then call('DEL', KEYS[1]) end
return 0
