-- KEYS lines, how many were ever written; ARGV[1] a place. Answers the place after the last line and what is there from
-- the asked place on.
local written = tonumber(call('GET', KEYS[2]) or 0) or 0
local gone = written - call('LLEN', KEYS[1])
return { written, call('LRANGE', KEYS[1], math.max(0, ARGV[1] - gone), -1) }
