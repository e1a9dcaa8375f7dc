-- KEYS shops, numbers of the shops; ARGV for each shop its name, its description and how many tasks may run at once.
local NUMBERS = '>I8I8I8I8I8I8I8I8I8'
for i = 1, #ARGV, 3 do
  local known = redis.call('HGET', KEYS[2], ARGV[i])
  local numbers = known and { struct.unpack(NUMBERS, known) } or { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
  numbers[1], numbers[10] = tonumber(ARGV[i + 2]), nil
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  redis.call('HSET', KEYS[2], ARGV[i], struct.pack(NUMBERS, unpack(numbers)))
end
return 0
