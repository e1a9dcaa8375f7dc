-- What the guard against doing the same work twice has refused or held back: the latest ones, and how many in all.
local function suppress(e, outcome, holder)
  if call('ZADD', K.suppressed, 'NX', NOW_TEXT, e.id) == 0 then return end -- asked again
  call('HSET', K.suppressed_of, e.id, pack_values({ NOW, e.id, e.platform, e.shop_id, e.kind, e[T.created_by],
    e[T.origin], outcome, holder.id, holder[T.status] }))
  call('HINCRBY', K.suppressed_n, outcome .. '|' .. e.shop .. '|' .. e.kind, '1')
  local over = call('ZCARD', K.suppressed) - C.suppressed_kept
  if over <= 0 then return end
  local gone = call('ZPOPMIN', K.suppressed, text(over))
  for place = 1, #gone, 2 do call('HDEL', K.suppressed_of, gone[place]) end
end

-- At its gate: the first of its key is the reason.
local function wait_for_twin(e)
  add_mark(e, 'twin')
  local first = call('ZRANGE', K.unique .. e[T.uniq], 0, 0)[1]
  local holder = first and load(first)
  if holder then suppress(e, 'waits', holder) end
end
