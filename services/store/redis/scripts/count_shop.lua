-- KEYS numbers of the shops, then the index of one shop, then the parts of the status index; ARGV the shop, whether to
-- write (1), and for each part the place of its number. Answers whether the numbers differed.
local NUMBERS = '>I8I8I8I8I8I8I8I8I8'
local known = call('HGET', KEYS[1], ARGV[1])
local numbers = known and #known == 72 and { struct.unpack(NUMBERS, known) } or { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
numbers[10] = nil
local true_ones = { numbers[1], 0, 0, 0, 0, 0, 0, 0, 0 }
for i = 3, #KEYS do
  local place = tonumber(ARGV[i])
  true_ones[place] = true_ones[place] + call('ZINTERCARD', 2, KEYS[2], KEYS[i])
end
local same = true
for i = 2, 9 do same = same and numbers[i] == true_ones[i] end
if not same and ARGV[2] == '1' then call('HSET', KEYS[1], ARGV[1], struct.pack(NUMBERS, unpack(true_ones))) end
return same and 0 or 1
