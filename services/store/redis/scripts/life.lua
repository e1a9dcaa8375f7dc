-- Begins a life in an empty store, and says of another one than was known that it is.
--
-- KEYS meta, the documents that name earlier lives, then hashes of what holds work back; ARGV an epoch for an empty store,
-- its schema, the epoch that the caller knew ('' for none), under which name that is said ('' for not at all), since when
-- he has not seen it (UTC ms), how many lives he has seen before and those, then for each of those hashes how many words, and
-- fields and values in turns. Answers the epoch of what is there, and 1 where its loss is news; -1 where it is another
-- fleet's, which was there already when the caller met the one that he knew, and then nothing is changed.
local clock = call('TIME')
local now = string.format('%.0f', clock[1] * 1000 + math.floor(clock[2] / 1000))
local epoch = call('HGET', KEYS[1], 'epoch')
if not epoch then
  epoch = ARGV[1]
  for _, field in ipairs({ 'schema', 'writer' }) do call('HSETNX', KEYS[1], field, ARGV[2]) end
  call('HSET', KEYS[1], 'epoch', epoch, 'born', now)
end
local before, name = ARGV[3], ARGV[4]
if epoch == before or name == '' then return { epoch, 0 } end

local last = 6 + tonumber(ARGV[6])
local returned = false -- an earlier one has come back, as from a backup
for i = 7, last do returned = returned or ARGV[i] == epoch end
local born = tonumber(call('HGET', KEYS[1], 'born') or '') or 0
if before ~= '' and not returned and born > 0 and born < tonumber(ARGV[5]) then return { epoch, -1 } end
if KEYS[3] and (returned or born >= tonumber(ARGV[5])) and call('HSETNX', KEYS[1], 'held:' .. before, now) == 1 then
  local at = last + 1
  for number = 3, #KEYS do
    for i = at + 1, at + tonumber(ARGV[at]), 2 do call('HSETNX', KEYS[number], ARGV[i], ARGV[i + 1]) end
    at = at + 1 + tonumber(ARGV[at])
  end
end
if returned then return { epoch, 0 } end
local body = '{"noticed":' .. now .. '}'
for i = 7, last do call('HSETNX', KEYS[2], ARGV[i], body) end -- the newest last, as who keeps the newest reads them
return { epoch, call('HSETNX', KEYS[2], name, body) }
