-- Sets one entry of the ledger (scripts/ledger.lua) right, if all that was looked at still is what it was.
-- KEYS[1] the entry, KEYS[2] a record, KEYS[3] the days before; ARGV[1..3] the bytes that were read there ('' for none),
-- ARGV[4] the new entry ('' for none), ARGV[5] how long it is kept in ms ('' for as long as it was, '0' without an end),
-- ARGV[6] the new days before ('' for none), ARGV[7] how long those are kept. Answers whether it was the same.
for place = 1, 3 do
  if (call('GET', KEYS[place]) or '') ~= ARGV[place] then return 0 end
end
if ARGV[4] == '' then
  call('DEL', KEYS[1])
elseif ARGV[5] == '' then
  call('SET', KEYS[1], ARGV[4], 'KEEPTTL')
elseif ARGV[5] == '0' then
  call('SET', KEYS[1], ARGV[4])
else
  call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5])
end
if ARGV[6] == '' then
  call('DEL', KEYS[3])
elseif ARGV[6] ~= ARGV[3] then
  call('SET', KEYS[3], ARGV[6], 'PX', ARGV[7])
end
return 1
