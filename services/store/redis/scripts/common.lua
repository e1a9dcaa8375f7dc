-- KEYS sorted sets; ARGV[1] how many of them stand first. Answers how many members those have in common with the others,
-- each with each, at one instant.
local first, others, sum = tonumber(ARGV[1]), {}, 0
for i = first + 1, #KEYS do
  if call('ZCARD', KEYS[i]) > 0 then others[#others + 1] = KEYS[i] end
end
for i = 1, first do
  for _, other in ipairs(others) do sum = sum + call('ZINTERCARD', 2, KEYS[i], other) end
end
return sum
