-- Published, Claim, Finish, Renew, Progress: the way of a task through the broker and a worker.
local function published(o)
  local e = load(o[Published.task_id])
  if not e then return 'stale' end
  local status = e[T.status]
  if status ~= o[Published.status] or e[T.gen] ~= o[Published.gen] or e[T.attempt] ~= o[Published.attempt] then
    return 'stale'
  end
  e.mark = false
  if status == 'pending' then
    e[T.queued_at] = NOW
    transition(e, 'queued', '', '')
  elseif status == 'queued' and e.marked then
    e[T.queued_at] = NOW
    touch(e)
  end
  settle(e)
  return 'ok', e
end

local function adopt(o)
  if o[Claim.adopt] == '' then return end
  local e = fresh(o[Claim.adopt])
  if e[T.created_at] <= 0 or e[T.created_at] > NOW + C.ahead then e[T.created_at] = NOW end
  local status = e[T.status] == 'held' and 'held' or 'queued'
  if status == 'queued' and e[T.queued_at] == 0 then e[T.queued_at] = NOW end
  records[e.id] = e
  transition(e, status, '', e[T.created_by])
  index_unique(e)
  return e
end

local function park(e, shop, gate, limit, released)
  if gate == 'twin' then wait_for_twin(e) end
  local promised = false
  if home.place(e[T.lane], e.kind, gate) then hand_over(e) else promised = unreserve(e) end
  if e[T.status] == 'blocked' then
    if e[T.gate] ~= gate then
      e[T.gate] = gate
      touch(e)
      index_parked(e, shop)
      e.gate = gate
    end
  else
    e[T.gate] = gate
    e.mark = false
    transition(e, 'blocked', '', gate)
    settle(e)
  end
  if limit then quota.wait(limit, shop, e.kind, rank(e)) end
  if promised and quota.some then quota.freed(e, released) end
end

local function start(e, o, shop)
  e[T.attempt] = e[T.attempt] + 1
  e[T.owner], e[T.worker] = o[Claim.owner], o[Claim.worker]
  e[T.started_at], e[T.lease_until] = NOW, NOW + o[Claim.lease_ms]
  e[T.cancel], e[T.progress], e[T.note] = '', -1, ''
  e.mark = false
  unreserve(e)
  pass.used(e.id)
  transition(e, 'running', o[Claim.worker], '')
  settle(e)
  if quota.some then quota.started(e) end
  if o[Claim.home] ~= '' then call('HSETNX', K.homes, shop, NOW_TEXT .. ' ' .. o[Claim.home]) end
end

local function done_elsewhere(e, shop, released)
  e[T.worker] = 'foreign'
  e.mark = false
  unreserve(e)
  transition(e, 'succeeded', 'foreign', 'foreign')
  settle(e)
  forget_needs(e.id)
  conclude(e, released)
end

-- Since when its work must not have succeeded: the window of its type, and of what may not run twice since it was
-- created, for what came behind a twin was asked for before that one's success, whoever asked.
local function not_since(e, o)
  local since = o[Claim.done_since]
  if not o[Claim.once] or e.sn == 0 then return since end
  local _, step = take_one(e.steps, 0)
  return since == 0 and step[Step.at] or math.min(since, step[Step.at])
end

-- What another task has done already, or may have, waits for a person, unless one has given a reason.
local function hold_done(e, o, released)
  local done, by = ledger.done(e, not_since(e, o))
  if not done or e[T.reason] ~= '' or has_mark(e, 'forced') or has_mark(e, 'again') then return false end
  if done == '' then
    e[T.error], e[T.error_kind] = format(C.work_unreadable, ledger.work_of(e)), C.unsure_kind
  else
    e[T.error], e[T.error_kind] = format(C.already_done, done, by), C.done_kind
  end
  e.mark = false
  unreserve(e)
  forget_needs(e.id)
  transition(e, 'held', '', e[T.error_kind])
  settle(e)
  conclude(e, released)
  return true
end

local function claim(o, released)
  local e = load(o[Claim.task_id])
  if not e then
    if o[Claim.adopt] ~= '' and tombstone(o[Claim.task_id]) then return 'forgotten' end
    e = adopt(o)
  end
  if not e then return 'missing' end
  local status = e[T.status]
  local noticed = o[Claim.adopt] ~= '' and take_mark(e, 'noticed')
  if ENDED[status] then return noticed and 'stale' or 'ended', e end
  if status == 'running' then return e[T.owner] == o[Claim.owner] and 'run' or 'duplicate', e end
  if e[T.gen] ~= o[Claim.gen] or e[T.attempt] ~= o[Claim.attempt] or status == 'held' or status == 'scheduled' then
    if not e.status then settle(e) end
    return 'stale', e
  end
  if not noticed then delivered(e) end
  local shop = e.shop
  local s = shop_state(shop)
  register(e, shop, s)
  if o[Claim.foreign_done] then
    done_elsewhere(e, shop, released)
    return 'ended', e
  end
  local gate, limit = closed_gate(e, shop, s, released)
  if not gate and o[Claim.home] ~= '' then gate = home.gate(shop, o[Claim.home]) end
  if not gate and not o[Claim.able] then gate = 'no_worker' end
  if gate then
    park(e, shop, gate, limit, released)
    return 'blocked', e
  end
  if hold_done(e, o, released) then return 'stale', e end
  start(e, o, shop)
  return 'run', e
end

-- A record as it stood before a claim that was answered: the server went back in time. Nobody else's claim leads there,
-- so this one stands.
local function take_back(e, owner, number, worker, started, lease)
  if not CLAIMABLE[e[T.status]] or number == 0 or e[T.attempt] ~= number - 1 then return false end
  e[T.attempt], e[T.owner], e[T.worker], e[T.started_at], e[T.lease_until] = number, owner, worker, started, lease
  e[T.cancel], e[T.progress], e[T.note] = '', -1, ''
  e.mark = false
  unreserve(e)
  forget_needs(e.id)
  transition(e, 'running', worker, C.rolled_back)
  return true
end

-- A result for an attempt that is not running: said again, or too late. Then it is kept, once, as evidence.
local function late(e, o)
  if e[T.owner] == o[Finish.owner] and has_attempt(e, o[Finish.attempt]) then return 'ok', e end
  if not o[Finish.if_expired] then
    local attempt = unpack_value(o[Finish.attempt])
    attempt[Attempt.outcome] = 'fenced'
    local evidence = pack_values(attempt)
    if not has_attempt(e, evidence) then add_attempt(e, evidence) end
  end
  return 'fenced', e
end

local function outcome(e, o)
  local to = o[Finish.to]
  if to == 'blocked' then to = session.ended(e, o) end
  if e[T.cancel] ~= '' and (to == 'retrying' or to == 'pending' or to == 'blocked') then to = 'cancelled' end
  e[T.error], e[T.error_kind], e[T.fingerprint] = o[Finish.error], o[Finish.error_kind], o[Finish.fingerprint]
  e[T.result] = o[Finish.result]
  if o[Finish.lost] then add_loss(e) end
  if to == 'retrying' then
    e[T.due_at], e[T.retries] = NOW + o[Finish.delay_ms], e[T.retries] + (o[Finish.counted] and 1 or 0)
  elseif to == 'dead' then
    set_rest(e, T.triage, 'open')
  elseif to == 'blocked' then
    e[T.gate] = 'session'
  end
  if to == 'retrying' or to == 'dead' or to == 'pending' then e.mark = true end
  return to
end

local function finish(o, released)
  local e = load(o[Finish.task_id])
  if not e then return 'missing' end
  if e[T.status] ~= 'running' or e[T.owner] ~= o[Finish.owner] then
    local ended = not o[Finish.if_expired] and unpack_value(o[Finish.attempt])
    if not ended or not take_back(e, o[Finish.owner], ended[Attempt.number], ended[Attempt.worker],
      ended[Attempt.started_at], 0) then
      return late(e, o)
    end
  end
  if o[Finish.if_expired] and e[T.lease_until] > NOW then return 'fenced', e end
  local to = outcome(e, o)
  add_attempt(e, o[Finish.attempt])
  breaker.finished(e, to, o[Finish.error_kind])
  transition(e, to, e[T.worker], o[Finish.error_kind])
  settle(e)
  conclude(e, released)
  return 'ok', e
end

local function leased(id, owner)
  local e = load(id)
  return e, e and e[T.status] == 'running' and e[T.owner] == owner
end

local function renew(o)
  local e, mine = leased(o[Renew.task_id], o[Renew.owner])
  local lease = NOW + o[Renew.lease_ms]
  if not mine then
    if not e or not take_back(e, o[Renew.owner], o[Renew.attempt], o[Renew.worker], o[Renew.started_at], lease) then
      return 'fenced'
    end
  end
  e[T.lease_until] = lease
  touch(e)
  settle(e)
  return 'ok', e
end

local function progress(o)
  local e, mine = leased(o[Progress.task_id], o[Progress.owner])
  if not mine then return 'fenced' end
  if o[Progress.progress] >= 0 then e[T.progress] = o[Progress.progress] end
  if o[Progress.note] ~= '' then e[T.note] = o[Progress.note] end
  if o[Progress.stopping] then e[T.cancel] = 'stopping' end
  touch(e)
  return 'ok', e
end
