-- Sets one entry of the ledger (scripts/ledger.lua) right by one record, if that still is what it was.
-- KEYS[1] the entry, KEYS[2] the record, KEYS[3] its tombstone; ARGV[1] the stored bytes of the record ('' for none),
-- ARGV[2] its id, ARGV[3] what it has done (msgpack { at, by, worker }, '' for nothing), ARGV[4] '1' if it is red.
-- Answers whether the record was the same.
local id = ARGV[2]
if (call('GET', KEYS[2]) or '') ~= ARGV[1] then return 0 end
local good, entry = pcall(cmsgpack.unpack, call('GET', KEYS[1]) or '')
if not good or type(entry) ~= 'table' or type(entry[5]) ~= 'table' then entry = { '', 0, '', '', {} } end
local did = ARGV[3] ~= '' and cmsgpack.unpack(ARGV[3])
local buried = not did and call('PTTL', KEYS[3]) or 0
if did and entry[2] < did[1] then
  entry = { id, did[1], did[2], did[3], entry[5] }
elseif not did and entry[1] == id and buried <= 0 then
  entry = { '', 0, '', '', entry[5] }
end
local red = {}
for _, other in ipairs(entry[5]) do
  if other ~= id then red[#red + 1] = other end
end
if ARGV[4] == '1' then red[#red + 1] = id end
entry[5] = red
if entry[1] == '' and not red[1] then
  call('DEL', KEYS[1])
elseif entry[1] == id and buried > 0 and not red[1] then
  call('SET', KEYS[1], cmsgpack.pack(entry), 'PX', string.format('%d', buried))
elseif red[1] then
  call('SET', KEYS[1], cmsgpack.pack(entry))
else
  call('SET', KEYS[1], cmsgpack.pack(entry), 'KEEPTTL')
end
return 1
