-- Changes what is derived from records, each only if its record still is what it was when the change was thought out.
-- ARGV[1] a list (msgpack) of {key of the record, its stored bytes ('' for none), commands}. Answers how many were made.
local made = 0
for _, item in ipairs(cmsgpack.unpack(ARGV[1])) do
  local stored = call('GET', item[1]) or ''
  if stored == item[2] then
    for _, command in ipairs(item[3]) do call(unpack(command)) end
    made = made + 1
  end
end
return made
