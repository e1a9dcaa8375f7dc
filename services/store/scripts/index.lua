-- Indexes and counters: what differs between the record as it was and as it is.
local function status_key(status, lane, priority, triage)
  if status == 'queued' then return K.by_status .. 'queued:' .. lane .. ':' .. priority end
  if status == 'dead' then return K.by_status .. 'dead:' .. triage end
  return K.by_status .. status
end

local shops = {} -- state of a shop's slots, see gates.lua

local function count_task(e, shop, status, lane, triage, change)
  count(K.by_kind, concat({ e.f[T.platform], e.f[T.task_type], lane, status, triage }, '|'), change)
  if not ENDED[status] then
    count(K.by_lane, lane .. '|' .. status, change)
    count(K.by_shop, shop .. '|' .. status, change)
    if status == 'running' and shops[shop] then shops[shop].running = shops[shop].running + change end
  elseif status == 'dead' and triage == 'open' then
    count(K.by_shop, shop .. '|dead', change)
  end
end

-- In the queue of a uniqueness key: running and held tasks first, then the waiting ones by age, scheduled ones last.
local function unique_score(status, created)
  if status == 'running' or status == 'held' then return created - C.class end
  if status == 'scheduled' then return created + C.class end
  return created
end

local function index_unique(e)
  local f = e.f
  local uniq, status = f[T.uniq], f[T.status]
  if uniq == '' then return end
  if ENDED[status] then
    if not e.new then call('ZREM', K.unique .. uniq, e.id) end
    return
  end
  local score = unique_score(status, f[T.created_at])
  if e.new or score ~= unique_score(e.status, f[T.created_at]) then call('ZADD', K.unique .. uniq, score, e.id) end
end

local function index_lot(e, shop)
  local f = e.f
  if f[T.status] == 'blocked' then
    if e.status ~= 'blocked' or e.priority ~= f[T.priority] then
      call('ZADD', K.lot .. shop, (C.max_priority - f[T.priority]) * C.class + f[T.created_at], e.id)
      call('SADD', K.lots, shop)
      if shops[shop] then shops[shop].parked = true end
    end
  elseif e.status == 'blocked' then
    call('ZREM', K.lot .. shop, e.id)
    if call('EXISTS', K.lot .. shop) == 0 then
      call('SREM', K.lots, shop)
      if shops[shop] then shops[shop].parked = false end
    end
  end
end

-- Sorted sets whose members come and go with the status, scored by a field.
local function index_time(e, key, status, score, before)
  if e.f[T.status] == status then
    if e.status ~= status or score ~= before then put(key, e.id, score) end
  elseif e.status == status then
    put(key, e.id, false)
  end
end

local function index_value(key, id, created, before, now)
  if before == now then return end
  if before and before ~= '' then put(key .. before, id, false) end
  if now ~= '' then put(key .. now, id, created) end
end

local function index_new(e, shop)
  local f = e.f
  local created = f[T.created_at]
  put(K.shop .. shop, e.id, created)
  put(K.type .. f[T.task_type], e.id, created)
  put(K.shop_names, shop, 0)
  put(K.platforms, f[T.platform], 0)
  if f[T.batch] ~= '' then put(K.batch .. f[T.batch], e.id, created) end
end

-- Bring every index to the state of the record; called once at the end of an operation, before others look.
local function settle(e)
  local f, id = e.f, e.id
  local status, lane, priority, triage = f[T.status], f[T.lane], f[T.priority], f[T.triage]
  local created = f[T.created_at]
  local shop = f[T.platform] .. ':' .. f[T.shop_id]
  if e.new then index_new(e, shop) end
  if status ~= e.status or lane ~= e.lane or priority ~= e.priority or triage ~= e.triage then
    local key = status_key(status, lane, priority, triage)
    local before = not e.new and status_key(e.status, e.lane, e.priority, e.triage)
    if key ~= before then
      if before then put(before, id, false) end
      put(key, id, created)
    end
    if before then count_task(e, shop, e.status, e.lane, e.triage, -1) end
    count_task(e, shop, status, lane, triage, 1)
    index_lot(e, shop)
    index_unique(e)
  end
  if f[T.updated_at] ~= e.at then put(K.updated, id, f[T.updated_at]) end
  index_time(e, K.leases, 'running', f[T.lease_until], e.lease)
  index_time(e, K.planned, 'scheduled', f[T.due_at], e.due)
  index_time(e, K.retries, 'retrying', f[T.due_at], e.due)
  index_value(K.worker, id, created, e.worker, f[T.worker])
  index_value(K.fingerprint, id, created, e.print, f[T.fingerprint])
  if e.mark ~= nil then
    put(K.outbox, id, e.mark and NOW)
    e.mark = nil
  end
  e.new = nil
  remember(e)
end

-- A command with any number of arguments, in slices that fit the stack of Lua.
local function call_sliced(command, key, list)
  for first = 1, #list, C.slice do
    local last = math.min(first + C.slice - 1, #list)
    if key then
      call(command, key, unpack(list, first, last))
    else
      call(command, unpack(list, first, last))
    end
  end
end

local function flush_zset(key, set)
  local add, remove = {}, {}
  for member, score in pairs(set) do
    if score then
      add[#add + 1] = score
      add[#add + 1] = member
    else
      remove[#remove + 1] = member
    end
  end
  call_sliced('ZREM', key, remove)
  call_sliced('ZADD', key, add)
end

local function flush_counter(key, fields)
  local gone = {}
  for field, change in pairs(fields) do
    if change ~= 0 and call('HINCRBY', key, field, change) == 0 then gone[#gone + 1] = field end
  end
  call_sliced('HDEL', key, gone)
end

local function flush()
  local values = {}
  for _, id in ipairs(changed) do
    values[#values + 1] = K.task .. id
    values[#values + 1] = packed(records[id])
  end
  call_sliced('MSET', nil, values)
  for key, set in pairs(zsets) do flush_zset(key, set) end
  for key, fields in pairs(counters) do flush_counter(key, fields) end
end
