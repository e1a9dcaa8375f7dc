-- What people ask for: Cancel, Move, SetTriage, Resolve; and repair: Nudge, GiveUp, Postpone, Route, OpenShop.
local function keep_reason(e, o)
  if o[Cancel.reason] ~= '' then set_rest(e, T.reason, o[Cancel.reason]) end
end

local function cancel(o, released)
  local e = load(o[Cancel.task_id])
  if not e then return 'missing' end
  local status = e[T.status]
  if status == 'cancelled' then return 'ok', e end
  if ENDED[status] then return 'refused', e end
  if status == 'running' then
    if e[T.cancel] == '' then
      e[T.cancel] = 'requested'
      keep_reason(e, o)
      transition(e, 'running', '', o[Cancel.by])
      settle(e)
    end
    return 'requested', e
  end
  keep_reason(e, o)
  unreserve(e)
  e.mark = false
  transition(e, 'cancelled', '', o[Cancel.by])
  settle(e)
  forget_needs(e.id)
  conclude(e, released)
  return 'ok', e
end

local function move(o, released)
  local e = load(o[Move.task_id])
  if not e then return 'missing' end
  local status = e[T.status]
  if ENDED[status] or status == 'running' or status == 'held' then return 'refused', e end
  e[T.gen], e[T.lane], e[T.priority] = e[T.gen] + 1, o[Move.lane], o[Move.priority]
  local stays = not o[Move.run_now] and (status == 'scheduled' or status == 'retrying')
  local to = (status == 'blocked' or stays) and status or due_status(e)
  if to ~= 'scheduled' then e.mark = to ~= 'blocked' end
  transition(e, to, '', o[Move.by])
  settle(e)
  if status == 'blocked' then open_shop(e.shop, released) end
  return 'ok', e
end

local function try_anyway(o, released)
  local e = load(o[Try.task_id])
  if not e then return 'missing' end
  if not CLAIMABLE[e[T.status]] then return 'refused', e end
  local s = shop_state(e.shop)
  if not pass.of(e) then
    if not switched(e.platform, e.shop, e.kind) and not s.shut and not s.probing then return 'open', e end
    if not pass.give(e, o[Try.by], o[Try.reason]) then return 'many', e end
    transition(e, e[T.status], '', C.noted .. o[Try.by] .. ': ' .. o[Try.reason])
    settle(e)
  end
  if e[T.status] == 'blocked' then pass.open(e.shop, released) end
  return 'ok', e
end

local function last_note(e)
  local place, step = 0, nil
  for _ = 1, e.sn do place, step = take_one(e.steps, place) end
  return step and step[Step.note]
end

local function take_back_try(o)
  local e = load(o[TakeBackTry.task_id])
  if not e then return 'missing' end
  local note = C.noted_back .. o[TakeBackTry.by]
  if not pass.of(e) then return last_note(e) == note and 'ok' or 'no_pass', e end
  pass.forget(e.id)
  transition(e, e[T.status], '', note)
  settle(e)
  return 'ok', e
end

local TRIAGES = { open = true, archived = true, ignored = true }

local function set_triage(o)
  local e = load(o[SetTriage.task_id])
  if not e then return 'missing' end
  local triage, note = o[SetTriage.triage], o[SetTriage.note]
  if e[T.status] ~= 'dead' or e[T.triage] == 'republished' or not TRIAGES[triage] then return 'refused', e end
  if e[T.triage] == triage and (note == '' or note == e[T.triage_note]) then return 'ok', e end
  if e[T.triage] == 'overtaken' then set_rest(e, T.successor, '') end
  set_rest(e, T.triage, triage)
  if note ~= '' then set_rest(e, T.triage_note, note) end
  transition(e, 'dead', '', o[SetTriage.by])
  settle(e)
  return 'ok', e
end

-- A note is no transition: it says nothing about the task, only about what people think of it.
local function annotate(o)
  local e = load(o[Annotate.task_id])
  if not e then return 'missing' end
  if e[T.status] ~= 'dead' then return 'refused', e end
  local key, note_id = K.notes .. e.id, o[Annotate.note_id]
  for _, note in ipairs(call('LRANGE', key, 0, -1)) do
    local good, known = pcall(unpack_value, note)
    if good and type(known) == 'table' and known[1] == note_id then return 'ok', e end
  end
  call('RPUSH', key, pack_values({ note_id, NOW, o[Annotate.by], o[Annotate.text] }))
  call('LTRIM', key, text(-C.notes_kept), '-1')
  append_event(e, 'dead', 'dead', '')
  return 'ok', e
end

-- Whether the last decision about a held task was this one.
local function decided(e, to, by)
  local place, last = 0, nil
  for _ = 1, e.sn do
    local step
    place, step = take_one(e.steps, place)
    if step[Step.from_] == 'held' then last = step end
  end
  return last and last[Step.to] == to and last[Step.note] == by
end

local DECISIONS = { pending = true, succeeded = true, dead = true }

local function resolve(o, released)
  local e = load(o[Resolve.task_id])
  if not e then return 'missing' end
  local to, by = o[Resolve.to], o[Resolve.by]
  if e[T.status] ~= 'held' or not DECISIONS[to] then
    return e[T.status] ~= 'held' and decided(e, to, by) and 'ok' or 'refused', e
  end
  if o[Resolve.note] ~= '' then set_rest(e, T.triage_note, o[Resolve.note]) end
  if to == 'dead' then set_rest(e, T.triage, 'open') end
  if to ~= 'succeeded' then e.mark = true end
  if to == 'pending' then add_mark(e, 'again') end
  transition(e, to, '', by)
  settle(e)
  conclude(e, released)
  return 'ok', e
end

local function nudge(o)
  local e = load(o[Nudge.task_id])
  if not e then return 'stale' end
  local status = e[T.status]
  if e[T.gen] ~= o[Nudge.gen] or e[T.attempt] ~= o[Nudge.attempt] then return 'stale' end
  local due = e[T.due_at] > 0 and e[T.due_at] <= NOW
  if due and (status == 'scheduled' or status == 'retrying') then
    local to = due_status(e)
    e.mark = to == 'pending'
    transition(e, to, '', e[T.gate])
  elseif status == 'pending' or status == 'queued' or status == 'retrying' then
    e.mark = true
  else
    return 'stale'
  end
  settle(e)
  return 'ok', e
end

local function give_up(o, released)
  local e = load(o[GiveUp.task_id])
  if not e or e[T.gen] ~= o[GiveUp.gen] or e[T.attempt] ~= o[GiveUp.attempt] then return 'stale' end
  local status, to = e[T.status], o[GiveUp.to]
  if (to == 'held' and status ~= 'queued') or (status ~= 'dead' and not CLAIMABLE[status]) then return 'stale' end
  e.mark = false
  if status ~= 'dead' then
    e[T.error], e[T.error_kind], e[T.fingerprint] = o[GiveUp.error], o[GiveUp.error_kind], o[GiveUp.fingerprint]
    if to == 'dead' then set_rest(e, T.triage, 'open') end
    take_mark(e, 'noticed')
    unreserve(e)
    forget_needs(e.id)
    transition(e, to, '', o[GiveUp.error_kind])
  end
  settle(e)
  if status ~= 'dead' then conclude(e, released) end
  return 'ok', e
end

local function postpone(o)
  local e = load(o[Postpone.task_id])
  if not e or not e.marked then return 'stale' end
  e.mark = true
  settle(e)
  return 'ok', e
end

local function route(o)
  local e = load(o[Route.task_id])
  if not e then return 'missing' end
  local status = e[T.status]
  if ENDED[status] or status == 'running' or status == 'held' then return 'refused', e end
  if e[T.queue] == o[Route.queue] then return 'ok', e end
  e[T.gen], e[T.queue] = e[T.gen] + 1, o[Route.queue]
  local to = status == 'queued' and 'pending' or status
  if to == 'pending' or to == 'retrying' then e.mark = true end
  transition(e, to, '', o[Route.by])
  settle(e)
  return 'ok', e
end

local function rehome(o)
  local e = load(o[Rehome.task_id])
  if not e then return 'missing' end
  local known = call('HGET', K.homes, e.shop)
  if e[T.status] ~= 'blocked' or sub(e[T.gate], 1, #C.home_at) ~= C.home_at
    or (known and e[T.gate] == C.home_at .. string.match(known, ' (.*)$')) then
    return 'stale', e
  end
  e[T.gen], e.mark = e[T.gen] + 1, true
  transition(e, 'pending', '', o[Rehome.by])
  settle(e)
  return 'ok', e
end

local function open(o, released)
  pass.open(o[OpenShop.shop], released, o[OpenShop.most] > 0 and o[OpenShop.most] or math.huge)
  open_shop(o[OpenShop.shop], released, o[OpenShop.most] > 0 and o[OpenShop.most] or math.huge)
  return 'ok'
end

local function open_limit(o, released)
  quota.open(o[OpenLimit.scope], o[OpenLimit.most], released)
  return 'ok'
end

local function close_breaker(o, released)
  local shop = o[CloseBreaker.shop]
  if not breaker.load(shop) then return 'stale' end
  breaker.save(shop, false)
  open_shop(shop, released)
  return 'ok'
end

local function tell_again(o, released)
  local id = o[TellDependants.task_id]
  call('SREM', K.untold, id) -- also of a record that is gone: it would be asked for again and again
  local e = load(id)
  if not e then return 'missing' end
  if not ENDED[e[T.status]] then return 'stale', e end
  tell_dependants(e, released)
  return 'ok', e
end
