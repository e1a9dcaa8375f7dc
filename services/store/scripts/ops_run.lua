-- Published, Claim, Finish, Renew, Progress: the way of a task through the broker and a worker.
local function published(o)
  local e = load(o[Published.task_id])
  if not e then return 'stale' end
  local f = e.f
  local status = f[T.status]
  if status ~= o[Published.status] or f[T.gen] ~= o[Published.gen] or f[T.attempt] ~= o[Published.attempt] then
    return 'stale', e
  end
  e.mark = false
  if status == 'pending' then
    f[T.queued_at] = NOW
    transition(e, 'queued', '', '')
  end
  settle(e)
  return 'ok', e
end

local function adopt(o)
  local bytes = o[Claim.adopt]
  if bytes == '' then return end
  local e = fresh(bytes)
  local f = e.f
  if f[T.created_at] == 0 then f[T.created_at] = NOW end
  if f[T.queued_at] == 0 then f[T.queued_at] = NOW end
  records[e.id] = e
  transition(e, 'queued', '', f[T.created_by])
  settle(e)
  return e
end

local function park(e, shop, gate)
  local f = e.f
  if gate == 'twin' then add_mark(e, 'twin') end
  if f[T.status] == 'blocked' then
    if f[T.gate] ~= gate then
      f[T.gate] = gate
      touch(e)
    end
    return
  end
  f[T.gate] = gate
  e.mark = false
  unreserve(e.id, shop)
  transition(e, 'blocked', '', gate)
  settle(e)
end

local function start(e, o, shop)
  local f = e.f
  f[T.attempt] = f[T.attempt] + 1
  f[T.owner], f[T.worker] = o[Claim.owner], o[Claim.worker]
  f[T.started_at], f[T.lease_until] = NOW, NOW + o[Claim.lease_ms]
  f[T.cancel], f[T.progress], f[T.note] = '', -1, ''
  e.mark = false
  unreserve(e.id, shop)
  transition(e, 'running', o[Claim.worker], '')
  settle(e)
end

local function claim(o, released)
  local e = load(o[Claim.task_id]) or adopt(o)
  if not e then return 'missing' end
  local f = e.f
  local status = f[T.status]
  if ENDED[status] then return 'ended', e end
  if status == 'running' then return f[T.owner] == o[Claim.owner] and 'run' or 'duplicate', e end
  if f[T.gen] ~= o[Claim.gen] or f[T.attempt] ~= o[Claim.attempt] or status == 'held' or status == 'scheduled' then
    return 'stale', e
  end
  local shop = shop_of(e)
  local s = shop_state(shop)
  register(e, shop, s)
  if o[Claim.foreign_done] then
    f[T.worker] = 'foreign'
    unreserve(e.id, shop)
    e.mark = false
    transition(e, 'succeeded', 'foreign', 'foreign')
    settle(e)
    open_shop(shop, released)
    return 'ended', e
  end
  local gate = closed_gate(e, shop, s)
  if gate then
    park(e, shop, gate)
    return 'blocked', e
  end
  start(e, o, shop)
  return 'run', e
end

local function has_attempt(e, bytes)
  local place = 0
  for _ = 1, e.an do
    local next_place = take_one(e.attempts, place)
    if next_place == -1 then next_place = #e.attempts end
    if sub(e.attempts, place + 1, next_place) == bytes then return true end
    place = next_place
  end
  return false
end

-- A result for an attempt that is not running: said again, or too late. Then it is kept, once, as evidence.
local function late(e, o)
  if e.f[T.owner] == o[Finish.owner] and has_attempt(e, o[Finish.attempt]) then return 'ok', e end
  if not o[Finish.if_expired] then
    local attempt = unpack_value(o[Finish.attempt])
    attempt[Attempt.outcome] = 'fenced'
    local evidence = pack_values(attempt)
    if not has_attempt(e, evidence) then add_attempt(e, evidence) end
  end
  return 'fenced', e
end

local function outcome(e, o)
  local f = e.f
  local to = o[Finish.to]
  if f[T.cancel] ~= '' and (to == 'retrying' or to == 'pending') then to = 'cancelled' end
  f[T.error], f[T.error_kind], f[T.fingerprint] = o[Finish.error], o[Finish.error_kind], o[Finish.fingerprint]
  f[T.result] = o[Finish.result]
  if o[Finish.lost] then
    local losses = f[T.losses]
    losses[#losses + 1] = NOW
    if #losses > C.history then table.remove(losses, 1) end
    e.rest_changed = true
  end
  if to == 'retrying' then
    f[T.due_at], f[T.retries] = NOW + o[Finish.delay_ms], f[T.retries] + 1
  elseif to == 'dead' then
    set_rest(e, T.triage, 'open')
  end
  if to == 'retrying' or to == 'dead' or to == 'pending' then e.mark = true end
  return to
end

local function finish(o, released)
  local e = load(o[Finish.task_id])
  if not e then return 'missing' end
  local f = e.f
  if f[T.status] ~= 'running' or f[T.owner] ~= o[Finish.owner] then return late(e, o) end
  if o[Finish.if_expired] and f[T.lease_until] > NOW then return 'fenced', e end
  local shop = shop_of(e)
  local to = outcome(e, o)
  add_attempt(e, o[Finish.attempt])
  transition(e, to, f[T.worker], o[Finish.error_kind])
  settle(e)
  open_shop(shop, released)
  return 'ok', e
end

local function leased(id, owner)
  local e = load(id)
  if e and e.f[T.status] == 'running' and e.f[T.owner] == owner then return e, true end
  return e, false
end

local function renew(o)
  local e, mine = leased(o[Renew.task_id], o[Renew.owner])
  if not mine then return 'fenced', e end
  e.f[T.lease_until] = NOW + o[Renew.lease_ms]
  touch(e)
  settle(e)
  return 'ok', e
end

local function progress(o)
  local e, mine = leased(o[Progress.task_id], o[Progress.owner])
  if not mine then return 'fenced', e end
  local f = e.f
  if o[Progress.progress] >= 0 then f[T.progress] = o[Progress.progress] end
  if o[Progress.note] ~= '' then f[T.note] = o[Progress.note] end
  if o[Progress.stopping] then f[T.cancel] = 'stopping' end
  touch(e)
  return 'ok', e
end
