-- KEYS shops, numbers of the shops, names of shops, platforms; ARGV for each shop its platform, its name
-- (platform:shop_id), its description and how many of its tasks may run at once.
local NUMBERS = '>I8I8I8I8I8I8I8I8I8'
for i = 1, #ARGV, 4 do
  local name = ARGV[i + 1]
  local known = call('HGET', KEYS[2], name)
  local numbers = known and #known == 72 and { struct.unpack(NUMBERS, known) } or { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
  numbers[1], numbers[10] = tonumber(ARGV[i + 3]), nil
  call('HSET', KEYS[1], name, ARGV[i + 2])
  call('HSET', KEYS[2], name, struct.pack(NUMBERS, unpack(numbers)))
  call('ZADD', KEYS[3], 0, name)
  call('ZADD', KEYS[4], 0, ARGV[i])
end
return 0
