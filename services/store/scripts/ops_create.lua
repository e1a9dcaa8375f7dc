-- Create and Republish: new records.
local function first_holder(uniq)
  while true do
    local id = call('ZRANGE', K.unique .. uniq, 0, 0)[1]
    if not id then return end
    local e = load(id)
    if e then return e end
    call('ZREM', K.unique .. uniq, id)
  end
end

local function insert(e, on_duplicate)
  local holder = e[T.uniq] ~= '' and first_holder(e[T.uniq])
  if holder then
    if on_duplicate == 'reject' then return 'duplicate', holder end
    if on_duplicate == 'force' then
      set_rest(e, T.uniq, '')
      add_mark(e, 'forced')
    else
      add_mark(e, 'twin')
    end
  end
  if e[T.created_at] == 0 then e[T.created_at] = NOW end
  local status = e[T.status]
  if status == 'pending' then
    e.mark = true
  elseif status == 'dead' and e[T.triage] == '' then
    set_rest(e, T.triage, 'open')
  end
  records[e.id] = e
  transition(e, status, '', e[T.created_by])
  settle(e)
  return 'created', e
end

local function create(o)
  local e = o[Create.task] -- unpacked already
  local known = load(e.id)
  if not known then return insert(e, o[Create.on_duplicate]) end
  local same = e[T.created_by] == known[T.created_by] and e[T.payload] == known[T.payload]
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
  local code, made = insert(e, o[Republish.on_duplicate])
  if code ~= 'created' then return code, made end
  set_rest(old, T.triage, 'republished')
  set_rest(old, T.successor, e.id)
  transition(old, 'dead', '', o[Republish.by])
  settle(old)
  return 'ok', e
end
