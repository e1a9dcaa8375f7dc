-- Create and Republish: new records.
-- Of the active tasks that hold a key the one that was created first, whatever its class.
local ONE_CLASS = format('%d', C.class)
local CLASSES = { { '-inf', '(0', C.class }, { '0', '(' .. ONE_CLASS, 0 }, { ONE_CLASS, '+inf', -C.class } }

local function first_holder(uniq)
  local key = K.unique .. uniq
  local ids = call('ZRANGE', key, 0, 1)
  if guard.spoilt[key] then guard.refuse(key) end
  if not ids[2] then return ids[1] end
  local best, least
  for _, class in ipairs(CLASSES) do
    local found = call('ZRANGEBYSCORE', key, class[1], class[2], 'WITHSCORES', 'LIMIT', 0, 1)
    local created = found[1] and found[2] + class[3]
    if created and (not best or created < least or (created == least and found[1] < best)) then
      best, least = found[1], created
    end
  end
  return best
end

-- Mostly nobody holds what those that are to be created ask for: one question for all of them.
local function look_for_holders(fresh_ones)
  local names, n = {}, 0
  for _, e in ipairs(fresh_ones) do
    if ledger.guards(e[T.uniq]) then
      n = n + 1
      names[n] = K.unique .. e[T.uniq]
    end
  end
  if n < 2 or call('EXISTS', unpack(names)) > 0 then return end
  for place = 1, n do unheld[names[place]] = true end
end

local function active_holder(uniq)
  while ledger.guards(uniq) do
    local id = not unheld[K.unique .. uniq] and first_holder(uniq)
    local e = id and load(id)
    if e or not id then return e end
    call('ZREM', K.unique .. uniq, id) -- its record is gone
  end
end

local function insert(e, on_duplicate, done_since)
  local status = e[T.status]
  local holder = not ENDED[status] and active_holder(e[T.uniq])
  e.alone = not holder and not ENDED[status]
  local told = holder and ({ queue = 'queued', force = 'forced', hold = 'held' })[on_duplicate]
  if holder and not told then
    suppress(e, 'refused', holder)
    return 'duplicate', holder
  end
  local done = ledger.done(e, done_since)
  if done == '' then return 'unsure' end
  if done then return 'done', load(done) end
  local named, policy, deadline = dependencies(e)
  local needs, broken = find_needs(named)
  if not needs then return 'unknown' end
  if holder then suppress(e, told, holder) end
  -- from here on it is a record: what is changed is written
  if holder and on_duplicate ~= 'queue' then set_rest(e, T.uniq, C.forced .. e[T.uniq]) end
  if holder then add_mark(e, on_duplicate == 'force' and 'forced' or 'twin') end
  if told == 'held' then status, e[T.error] = 'held', C.held_twin end
  if e[T.created_at] <= 0 or e[T.created_at] > NOW + C.ahead then e[T.created_at] = NOW end
  if not ENDED[status] then register(e, e.shop, shop_of(e.shop)) end
  if status == 'pending' and needs[1] then
    status, e[T.gate] = 'blocked', 'dependency'
  elseif status == 'pending' then
    local gate = first_gate(e)
    if gate then status, e[T.gate] = 'blocked', gate else e.mark = true end
  elseif status == 'dead' and e[T.triage] == '' then
    set_rest(e, T.triage, 'open')
  elseif status == 'queued' and e[T.queued_at] == 0 then
    e[T.queued_at] = NOW
  end
  records[e.id] = e
  transition(e, status, '', e[T.created_by])
  settle(e)
  if needs[1] then note_needs(e, needs) end
  if (deadline or 0) > 0 then call('ZADD', K.deadlines, text(deadline), e.id) end
  if broken and policy == 'cancel' then drop(e.id, broken) end
  return 'created', e
end

local function create(o)
  local e = o[Create.task] -- unpacked already
  local known = load(e.id)
  if not known then
    local ended = tombstone(e.id)
    if ended and (ended ~= 'dead' or e[T.status] == 'queued') then return 'exists' end
    if ended then call('DEL', K.tomb .. e.id) end
    return insert(e, o[Create.on_duplicate], o[Create.done_since])
  end
  local same = e[T.created_by] == known[T.created_by] and payload(e) == payload(known)
    and e[T.origin] == known[T.origin]
  return same and 'created' or 'exists', known
end

local function republish(o)
  local old = load(o[Republish.task_id])
  if not old then return 'missing' end
  local e = fresh(o[Republish.task])
  if old[T.status] ~= 'dead' or old[T.triage] == 'republished' then
    local known = old[T.successor] == e.id and load(e.id)
    if known then return 'ok', known end
    return 'refused', old
  end
  if load(e.id) then return 'refused', old end
  local code, made = insert(e, o[Republish.on_duplicate], o[Republish.done_since])
  if code ~= 'created' then return code, made end
  set_rest(old, T.triage, 'republished')
  set_rest(old, T.successor, e.id)
  transition(old, 'dead', '', o[Republish.by])
  settle(old)
  return 'ok', e
end
