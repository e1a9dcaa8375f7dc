-- Forget: the record of an ended task goes with all that belongs to it, and leaves a tombstone.
local function still_needed(e)
  if e.marked or call('SISMEMBER', K.needed, e.id) == 1 or call('SISMEMBER', K.untold, e.id) == 1 then return true end
  local later = e[T.triage] == 'republished' and load(e[T.successor])
  local status = later and later[T.status]
  return later and status ~= 'succeeded' and status ~= 'cancelled'
end

-- Out of every index. What an operation before it in the batch has not written yet is written first.
local function unindex(e)
  if e.settled == round then flush_sets() end
  local id, status, triage = e.id, e[T.status], e[T.triage]
  remove(status_key(status, e[T.lane], e[T.priority], triage), id)
  remove(K.shop .. e.shop, id)
  remove(K.type .. e.kind, id)
  remove(K.updated, id)
  index_value(K.batch, id, 0, e[T.batch], '')
  index_payload(remove, id)
  if e[T.batch] ~= '' then batches[e[T.batch]] = false end
  index_value(K.worker, id, 0, e[T.worker], '')
  index_value(K.fingerprint, id, 0, e[T.fingerprint], '')
  count_task(inner(inner(kinds, e.platform), e.kind), e.shop, status, e[T.lane], e[T.priority], triage, -1)
end

local function drop_papers(e)
  call('HDEL', K.letters, e.id)
  local names = {}
  for number = math.max(1, e[T.attempt] - C.slice / 2 + 1), e[T.attempt] do
    local name = K.log .. text(number) .. ':' .. e.id
    names[#names + 1], names[#names + 2] = name, name .. ':n'
  end
  call('UNLINK', K.notes .. e.id, unpack(names))
end

local function bury(e, keep_ms)
  if keep_ms <= 0 then return end
  local stone = table.concat({ e[T.status], text(e[T.ended_at]), e[T.successor], digest(e) }, '|')
  call('SET', K.tomb .. e.id, stone, 'PX', text(keep_ms))
  no_stone[e.id] = nil
  local batch = e[T.batch]
  if batch ~= '' then
    call('HINCRBY', K.buried .. batch, e[T.status], '1')
    call('PEXPIRE', K.buried .. batch, text(keep_ms))
  end
end

local function forget(o)
  local e = load(o[Forget.task_id])
  if not e then return 'missing' end
  if not ENDED[e[T.status]] or e[T.updated_at] ~= o[Forget.updated_at] then return 'stale', e end
  if still_needed(e) then return 'needed', e end
  unindex(e)
  drop_papers(e)
  bury(e, o[Forget.tomb_ms])
  ledger.forget(e, o[Forget.tomb_ms])
  call('UNLINK', e.key)
  append_event(e, e[T.status], '', '')
  records[e.id], e.removed = false, true
  return 'ok', e
end
