-- The ledger: what is known of a work, whichever task did it. K.work .. uniqueness key: { id, at, by, worker, red }, the
-- last success (id '' for none) and the ids of those whose end a person has still to decide about: held, or dead and
-- open. It is kept as long as the record of that success or its tombstone, and as long as anything is red.
local ledger = { overtaken = {} } -- overtaken: red ones of a work that the present operation has brought to a success

do
local function work_of(e)
  local uniq = e[T.uniq]
  return sub(uniq, 1, 1) == C.forced and sub(uniq, 2) or uniq
end

local function is_red(status, triage)
  return status == 'held' or (status == 'dead' and triage == 'open')
end

function ledger.guards(uniq)
  return uniq ~= '' and sub(uniq, 1, 1) ~= C.forced
end

local function entry_of(packed)
  local good, entry = pcall(unpack_value, packed or '')
  good = good and type(entry) == 'table' and type(entry[1]) == 'string' and type(entry[2]) == 'number'
    and type(entry[5]) == 'table'
  return good and entry or { '', 0, '', '', {} }
end

-- The task that has done the work of another one since an instant (0: nobody asks), and who had created it.
function ledger.done(e, since)
  if since == 0 or e[T.uniq] == '' then return end
  local entry = entry_of(call('GET', K.work .. work_of(e)))
  if entry[1] ~= '' and entry[1] ~= e.id and entry[2] >= since then return entry[1], entry[3] end
end

local function note_success(e)
  local key, at, by = K.work .. work_of(e), e[T.ended_at], e[T.created_by]
  if by == '' then by = e[T.origin] end
  local old = call('SET', key, pack_values({ e.id, at, by, e[T.worker], {} }), 'GET')
  if not old or old == '' then return end
  local entry = entry_of(old)
  local red = entry[5]
  if entry[2] <= at then entry = { e.id, at, by, e[T.worker], red } end -- one that was imported may be older
  if entry[1] ~= e.id or red[1] then call('SET', key, pack_values(entry)) end
  for _, id in ipairs(red) do ledger.overtaken[#ledger.overtaken + 1] = { id = id, by = e.id, at = at } end
end

-- How long a success that nothing red stands beside is kept: as its record (0), as its tombstone (ms), not at all.
local function keep_for(id)
  if call('EXISTS', K.task .. id) == 1 then return 0 end
  local left = call('PTTL', K.tomb .. id)
  return left > 0 and left or nil
end

local function put(key, entry)
  if entry[1] ~= '' and not entry[5][1] then
    local left = keep_for(entry[1])
    if left == 0 then
      call('SET', key, pack_values(entry))
    elseif left then
      call('SET', key, pack_values(entry), 'PX', text(left))
    else
      call('DEL', key)
    end
  elseif entry[5][1] then
    call('SET', key, pack_values(entry))
  else
    call('DEL', key)
  end
end

local function note_red(e, red)
  local key = K.work .. work_of(e)
  local entry = entry_of(call('GET', key))
  local others = {}
  for _, id in ipairs(entry[5]) do
    if id ~= e.id then others[#others + 1] = id end
  end
  if red then others[#others + 1] = e.id end
  entry[5] = others
  put(key, entry)
end

-- Called for a record whose status or triage has changed, before the indexes know it.
function ledger.follow(e)
  local status = e[T.status]
  if status == 'succeeded' and e.status ~= status then note_success(e) end
  local red = is_red(status, e[T.triage])
  if red ~= is_red(e.status, e.triage) then note_red(e, red) end
end

-- The record goes; that of a success leaves a tombstone for a time.
function ledger.forget(e, keep_ms)
  if e[T.uniq] == '' then return end
  if is_red(e[T.status], e[T.triage]) then note_red(e, false) end
  if e[T.status] ~= 'succeeded' then return end
  local key = K.work .. work_of(e)
  local entry = entry_of(call('GET', key))
  if entry[1] ~= e.id or entry[5][1] then return end
  if keep_ms > 0 then call('PEXPIRE', key, text(keep_ms)) else call('DEL', key) end
end

-- Close what the present operation has overtaken; its dependants are told of the success.
function ledger.close(released, tell, conclude)
  if not ledger.overtaken[1] then return end
  local list = ledger.overtaken
  ledger.overtaken = {}
  for _, one in ipairs(list) do
    local e = load(one.id)
    if e and is_red(e[T.status], e[T.triage]) and e[T.updated_at] <= one.at then
      local held = e[T.status] == 'held'
      set_rest(e, T.triage, 'overtaken')
      set_rest(e, T.successor, one.by)
      if held then e.mark = true end
      transition(e, 'dead', '', one.by)
      ledger.settle(e)
      if held then conclude(e, released) else tell(e, released) end
    end
  end
end
end
