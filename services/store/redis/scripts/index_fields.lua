-- From now on these fields of payloads are indexed (ARGV): what is new is to be built, what is no more is to be forgotten.
-- A program that does not know of the index must not write beside it.
local wanted, names = {}, {}
for _, name in ipairs(ARGV) do wanted[name] = true end
local known = call('HGETALL', K.indexed)
for place = 1, #known, 2 do
  local name, state = known[place], known[place + 1]
  local forgotten = string.sub(state, 1, 6) == 'forget'
  if not wanted[name] and not forgotten then call('HSET', K.indexed, name, 'forget 0') end
  if wanted[name] and not forgotten then names[#names + 1] = name end
  wanted[name] = false
end
for _, name in ipairs(ARGV) do
  if wanted[name] then
    call('HSET', K.indexed, name, 'build 0')
    names[#names + 1] = name
  end
end
table.sort(names)
call('HSET', K.meta, 'indexed', table.concat(names, ','))
if #names > 0 then
  local writer = tonumber(call('HGET', K.meta, 'writer') or 0) or 0
  if writer < C.schema then call('HSET', K.meta, 'schema', C.schema, 'writer', C.schema, 'program', C.program) end
end
return 'OK'
