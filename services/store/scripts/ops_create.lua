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
  local f = e.f
  local holder = f[T.uniq] ~= '' and first_holder(f[T.uniq])
  if holder then
    if on_duplicate == 'reject' then return 'duplicate', holder end
    if on_duplicate == 'force' then
      set_rest(e, T.uniq, '')
      add_mark(e, 'forced')
    else
      add_mark(e, 'twin')
    end
  end
  if f[T.created_at] == 0 then f[T.created_at] = NOW end
  local status = f[T.status]
  if status == 'pending' then
    e.mark = true
  elseif status == 'dead' and f[T.triage] == '' then
    set_rest(e, T.triage, 'open')
  end
  records[e.id] = e
  transition(e, status, '', f[T.created_by])
  settle(e)
  return 'created', e
end

local function create(o)
  local e = fresh(o[Create.task])
  local known = load(e.id)
  if not known then return insert(e, o[Create.on_duplicate]) end
  local f, k = e.f, known.f
  local same = f[T.created_by] == k[T.created_by] and f[T.payload] == k[T.payload] and f[T.origin] == k[T.origin]
  return same and 'created' or 'exists', known
end

local function republish(o)
  local old = load(o[Republish.task_id])
  if not old then return 'missing' end
  local f = old.f
  local e = fresh(o[Republish.task])
  if f[T.status] ~= 'dead' or f[T.triage] == 'republished' then
    local known = f[T.successor] == e.id and load(e.id)
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
