-- Tasks that somebody lets through a pause, quiet hours or an open breaker, for one attempt (services.domain.gates.passing).
--
-- K.passes: by task {shop, attempt, by, at, reason}. One holds as long as the record has made no further attempt, so the
-- claim that starts one has used it up, whether or not it is taken away too.
local pass = {}
every_batch(function() pass.known, pass.shops, pass.n = nil, nil, nil end)

function pass.by_time(a, b)
  if a.at ~= b.at then return a.at < b.at end
  return a.id < b.id
end

-- What cannot be read lets nobody through.
function pass.load()
  if pass.known then return end
  pass.known, pass.shops, pass.n = {}, {}, 0
  local stored, found = call('HGETALL', K.passes), {}
  for place = 1, #stored, 2 do
    local good, one = pcall(cjson.decode, stored[place + 1])
    if good and type(one) == 'table' and type(one.shop) == 'string' and type(one.attempt) == 'number' then
      found[#found + 1] = { id = stored[place], shop = one.shop, attempt = one.attempt, at = tonumber(one.at) or 0 }
    end
  end
  table.sort(found, pass.by_time)
  for _, one in ipairs(found) do pass.note(one) end
end

function pass.note(one)
  pass.known[one.id], pass.n = one, pass.n + 1
  local list = pass.shops[one.shop] or {}
  pass.shops[one.shop] = list
  list[#list + 1] = one.id
end

-- The ids of a shop, the first to be let through first.
function pass.of_shop(shop)
  pass.load()
  return pass.shops[shop] or {}
end

function pass.holds(e)
  local one = pass.known[e.id]
  return one and one.shop == e.shop and one.attempt == e[T.attempt] and CLAIMABLE[e[T.status]] == true
end

-- Whether a task may start behind such a gate.
function pass.of(e)
  pass.load()
  return pass.holds(e)
end

-- Whether there was room for one more.
function pass.give(e, by, reason)
  if guard.spoilt[K.passes] then guard.refuse(K.passes) end
  if pass.n >= C.most_passes and not pass.known[e.id] then return false end
  pass.forget(e.id)
  local one = { shop = e.shop, attempt = e[T.attempt], by = by, at = NOW, reason = reason }
  call('HSET', K.passes, e.id, cjson.encode(one))
  pass.note({ id = e.id, shop = e.shop, attempt = one.attempt, at = NOW })
  return true
end

function pass.forget(id)
  if not pass.known[id] then return end
  pass.known[id], pass.n = nil, pass.n - 1
  call('HDEL', K.passes, id)
end

-- An attempt has begun. Where nobody has asked for passes none was needed; what is left over is void, and swept later.
function pass.used(id)
  if pass.known then pass.forget(id) end
end
