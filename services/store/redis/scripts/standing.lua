-- KEYS indexes of batches, then for each the hash of what was removed of it, then the parts of the status index; ARGV[1]
-- how many batches. Answers for each the places of the parts that it has members in, each with how many, one after the
-- other, and the hash; all at one instant.
local batches, parts, found = tonumber(ARGV[1]), {}, {}
for i = 2 * batches + 1, #KEYS do
  local size = call('ZCARD', KEYS[i])
  if size > 0 then parts[#parts + 1] = { i - 2 * batches - 1, KEYS[i], size } end
end
table.sort(parts, function(a, b) return a[3] > b[3] end) -- a task is in one of them: mostly in a large one
for i = 1, batches do
  local counts, left = {}, call('ZCARD', KEYS[i])
  for _, part in ipairs(parts) do
    if left <= 0 then break end
    local both = call('ZINTERCARD', 2, KEYS[i], part[2])
    if both > 0 then
      counts[#counts + 1], counts[#counts + 2] = part[1], both
      left = left - both
    end
  end
  found[i] = { counts, call('HGETALL', KEYS[batches + i]) }
end
return found
