-- The batch: check every entry, apply one after the other, write, answer.
local HANDLERS = {
  Create = create, Published = published, Claim = claim, Finish = finish, Renew = renew, Progress = progress,
  Cancel = cancel, Move = move, Republish = republish, SetTriage = set_triage, Resolve = resolve, Nudge = nudge,
  GiveUp = give_up, Postpone = postpone, OpenShop = open, OpenLimit = open_limit, TellDependants = tell_again,
  Route = route, Forget = forget, Annotate = annotate, CloseBreaker = close_breaker,
  CloseSession = session.close, OpenSession = session.open,
  Relink = relink, Rehome = rehome, Try = try_anyway, TakeBackTry = take_back_try,
}

local function apply(_, args)
  for place = 1, #begins do begins[place](args) end
  local meta = call('HMGET', K.meta, 'writer', 'epoch', 'indexed', 'program')
  if guard.spoilt[K.meta] then guard.refuse(K.meta) end
  local writer = tonumber(meta[1] or 0)
  if not writer or writer ~= writer or writer < 0 or writer > C.most_schema then guard.refuse(K.meta .. ' writer') end
  if writer > C.schema then
    return redis.error_reply('FLEETDECK_SCHEMA ' .. string.format('%d', writer) .. ' ' .. (meta[4] or ''))
  end

  if args[6] ~= '' and args[6] ~= meta[2] then return redis.error_reply('FLEETDECK_LIFE') end
  if (meta[3] or '') ~= args[4] then return redis.error_reply('FLEETDECK_INDEXED') end

  local ops = unpack_value(args[1])
  local ids = {}
  for number, o in ipairs(ops) do
    local kind = type(o) == 'table' and o[1]
    if not HANDLERS[kind] or #o ~= LENGTH[kind] or type(o[2]) ~= 'string' then
      return redis.error_reply('FLEETDECK_ENTRY ' .. number)
    end
    ids[number] = o[2]
  end

  if not meta[2] then call('HSET', K.meta, 'epoch', args[2], 'born', NOW_TEXT) end
  if writer < C.base_schema then call('HSET', K.meta, 'schema', C.base_schema, 'writer', C.base_schema, 'program', C.program) end
  local new = {}
  for i, o in ipairs(ops) do
    if o[1] == 'Create' then
      local e = fresh(o[Create.task])
      new[#new + 1], ids[i], o[Create.task] = e, e.id, e
    end
  end
  fetch(ids)
  fetch_shops(new)
  local unknown = {}
  for _, e in ipairs(new) do
    if not records[e.id] then unknown[#unknown + 1] = e.id end
  end
  look_for_stones(unknown)
  look_for_holders(new)
  local ending = {}
  for _, o in ipairs(ops) do
    local e = o[1] == 'Finish' and o[Finish.to] == 'succeeded' and records[o[Finish.task_id]]
    if e and e[T.uniq] ~= '' then ending[#ending + 1] = e end
  end
  if #ending > 1 then ledger.fetch(ending) end

  local answers, n = { NOW }, 1
  local released = {}
  for _, o in ipairs(ops) do
    local code, e = HANDLERS[o[1]](o, released)
    ledger.close(released, tell_dependants, conclude)
    if gone_with[1] then -- whoever reads the answer tells them from the released ones by their status
      for _, gone in ipairs(gone_with) do released[#released + 1] = gone end
      gone_with = {}
    end
    answers[n + 1], answers[n + 2], answers[n + 3] = code, e and packed(e) or '', #released
    n = n + 3
    if #released > 0 then
      for i = 1, #released do answers[n + i] = packed(released[i]) end
      n = n + #released
      released = {}
    end
  end

  flush()
  return answers
end
