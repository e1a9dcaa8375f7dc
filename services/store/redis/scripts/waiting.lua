-- Who waits at the limit of a platform or a type: not tasks but the lots ("shop|type") that may start but for it, by the
-- rank of their first task. A lot that is looked at either lets a task go, or leaves for where it is opened from next: its
-- shop (busy, paused), or its other limit. So no lot is looked at twice for nothing, however many shops there are.

-- The first task of a lot that may start if its shop may, and its rank.
function quota.first(shop, kind)
  local s = shop_state(shop)
  if session.closed(shop) then return end
  if s.shut or s.probing or switched(string.match(shop, '^[^:]*'), shop, kind) then
    local e, at = pass.first(shop, kind)
    if e then return e, at end
  end
  if free_slots(s) <= 0 or shop_shut(string.match(shop, '^[^:]*'), shop) or type_shut(kind) then return end
  local lot, seen = K.lot .. shop .. '|' .. kind, 0
  for _, look in ipairs({ 1, C.look, C.look_far }) do
    local list = call('ZRANGE', lot, 0, look - 1, 'WITHSCORES')
    for i = 2 * seen + 1, #list, 2 do
      local e = load(list[i])
      if not e then
        call('ZREM', lot, list[i])
      elseif not behind_twin(e) then
        return e, tonumber(list[i + 1])
      end
    end
    if #list < 2 * look then return end
    seen = look
  end
  for _, id in ipairs(call('ZRANDMEMBER', lot, C.look)) do -- behind very many twins, as in open_shop
    local e = load(id)
    if e and not behind_twin(e) then return e, tonumber(call('ZSCORE', lot, id)) end
  end
end

function quota.wait(l, shop, kind, at)
  l.waits = true
  call('ZADD', K.limit_waiting .. l.scope, 'LT', text(at), shop .. '|' .. kind)
  call('SADD', K.limit_scopes, l.scope)
end

-- The rank of the best that wait, nil for nobody.
function quota.best(l)
  if l.waits == false then return end
  return tonumber(call('ZRANGE', K.limit_waiting .. l.scope, 0, 0, 'WITHSCORES')[2])
end

-- The limit other than this one that stands in the way of a task: no room, or somebody who goes first.
function quota.other(e, at, this)
  for _, l in ipairs(quota.of(e)) do
    if l.scope ~= this and (quota.room(l) <= 0 or (quota.best(l) or math.huge) < at) then return l end
  end
end

-- Look at the best lot; how many tasks it has let go.
function quota.look(l, place, score, released)
  local shop, kind = string.match(place, '^(.*)|([^|]*)$')
  local waiting = K.limit_waiting .. l.scope
  local e, at = quota.first(shop, kind)
  if not e then
    call('ZREM', waiting, place)
    return 0
  end
  if at > score then -- who stood there is gone
    call('ZADD', waiting, text(at), place)
    e.sole = false
    return 0
  end
  local other = quota.other(e, at, l.scope)
  if other then
    call('ZREM', waiting, place)
    quota.wait(other, shop, kind, at)
    e.sole = false
    return 0
  end
  release(e, shop, shop_state(shop))
  released[#released + 1] = e
  local after, rank_after = quota.first(shop, kind)
  if after then
    call('ZADD', waiting, text(rank_after), place)
    after.sole = false
  else
    call('ZREM', waiting, place)
  end
  return 1
end

-- Release the best of those that wait for a limit, so many at most.
function quota.open(scope, most, released)
  local l, looks = quota.state(scope), C.look + most
  if l.waits == false and l.told then return end -- asked already for this batch
  l.told = true
  while most > 0 and looks > 0 and quota.room(l) > 0 do
    local best = call('ZRANGE', K.limit_waiting .. scope, 0, 0, 'WITHSCORES')
    if not best[1] then
      call('SREM', K.limit_scopes, scope)
      return
    end
    looks = looks - 1
    most = most - quota.look(l, best[1], tonumber(best[2]), released)
  end
end

-- The limit that keeps a task back, if any. Who waits there longer or is more urgent goes first, also before one whose
-- message has come.
function quota.closed(e, released)
  local at = tonumber(rank(e))
  for _, l in ipairs(quota.of(e)) do
    local room, own = quota.room(l, e.id)
    if room <= 0 then return l end
    if not own and (quota.best(l) or at) < at then
      quota.open(l.scope, 1, released)
      if quota.room(l) <= 0 or (quota.best(l) or at) < at then return l end
    end
  end
end

-- A task has left its slot: one more may start for each of its limits.
function quota.freed(e, released)
  for _, l in ipairs(quota.of(e)) do quota.open(l.scope, 1, released) end
end
