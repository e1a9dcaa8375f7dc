-- Records: loaded once for a batch, changed in memory, written once at its end.
--
-- Stored: the lengths of the parts (C.prefix bytes), then the msgpack array in field order. What never changes (the identity
-- and the payload) and what only grows (steps, attempts) is kept as bytes, so that its size costs nothing:
-- head | identity | moment | rest | steps | attempts | tail. Fields stand in f one place behind their position, because
-- f[1] is the offset that cmsgpack answers first.
local records = {} -- by id; false: there is none
local stored = {} -- bytes fetched ahead, by id; false: there are none
local changed = {} -- ids that must be written, in the order of their first change

local function array_head(n)
  if n < 16 then return char(0x90 + n) end
  return char(0xdc, 0, n)
end

local function remember(e)
  local f = e.f
  e.status, e.lane, e.priority, e.triage = f[T.status], f[T.lane], f[T.priority], f[T.triage]
  e.worker, e.print, e.at = f[T.worker], f[T.fingerprint], f[T.updated_at]
  e.lease, e.due = f[T.lease_until], f[T.due_at]
end

local function parse(id, s)
  local a, b, c, st, at, sn, an = unpack_lengths('>I4I4I4I4I4BB', s)
  local f = { take(s, C.flat, C.prefix + 3) }
  local e = { id = id, f = f, packed = s, sn = sn, an = an, head = sub(s, C.prefix + 1, C.prefix + 3) }
  local p = C.prefix + 3
  e.identity = sub(s, p + 1, p + a)
  p = p + a + b
  e.rest = sub(s, p + 1, p + c)
  p = p + c + (sn < 16 and 1 or 3)
  e.steps = sub(s, p + 1, p + st)
  p = p + st + (an < 16 and 1 or 3)
  e.attempts = sub(s, p + 1, p + at)
  e.tail = sub(s, p + at + 1)
  remember(e)
  return e
end

-- The record of a task as Python packs it (adopted, created).
local function fresh(s)
  local f = { take(s, C.flat, 3) }
  local e = { id = f[T.task_id], f = f, new = true, head = sub(s, 1, 3) }
  local a = take(s, C.identity, 3)
  local b = take(s, C.moment, a)
  local c = f[1]
  local d, steps = take_one(s, c)
  local g, attempts = take_one(s, d)
  e.identity, e.rest = sub(s, 4, a), sub(s, b + 1, c)
  e.sn, e.an = #steps, #attempts
  e.steps = sub(s, c + #array_head(e.sn) + 1, d)
  e.attempts = sub(s, d + #array_head(e.an) + 1, g)
  e.tail = sub(s, g + 1)
  return e
end

local function packed(e)
  local s = e.packed
  if s then return s end
  local f = e.f
  local moment = pack_values(unpack(f, C.moment_first, C.moment_last))
  if e.rest_changed then
    e.rest = pack_values(unpack(f, C.rest_first, C.rest_last))
    e.rest_changed = nil
  end
  s = concat({
    pack_lengths('>I4I4I4I4I4BB', #e.identity, #moment, #e.rest, #e.steps, #e.attempts, e.sn, e.an),
    e.head, e.identity, moment, e.rest, array_head(e.sn), e.steps, array_head(e.an), e.attempts, e.tail,
  })
  e.packed = s
  return s
end

local function fetch(ids)
  local keys = {}
  for i, id in ipairs(ids) do keys[i] = K.task .. id end
  if #keys == 0 then return end
  for i, s in ipairs(call('MGET', unpack(keys))) do stored[ids[i]] = s end
end

local function load(id)
  local e = records[id]
  if e ~= nil then return e end
  local s = stored[id]
  if s == nil then s = call('GET', K.task .. id) end
  if s then
    local good, found = pcall(parse, id, s)
    if good and found.f[T.task_id] == id then
      e = found
    else
      call('RENAME', K.task .. id, K.broken .. id) -- not a record: kept aside, the task counts as unknown
    end
  end
  records[id] = e or false
  return e
end

-- Record fields behind the moment (reason, marks, triage …) change rarely.
local function set_rest(e, field, value)
  e.f[field] = value
  e.rest_changed = true
end

local function touch(e)
  e.packed = nil
  if not e.dirty then
    e.dirty = true
    changed[#changed + 1] = e.id
  end
end

local function add_mark(e, mark)
  local marks = e.f[T.marks]
  for _, present in ipairs(marks) do
    if present == mark then return end
  end
  marks[#marks + 1] = mark
  e.rest_changed = true
  touch(e)
end

-- A transition: one step in the record and one event with the same contents. What belongs to a status ends with it.
local function transition(e, to, worker, note)
  local f = e.f
  local from = e.new and '' or f[T.status]
  f[T.status], f[T.updated_at] = to, NOW
  if to ~= 'running' then f[T.lease_until], f[T.cancel] = 0, '' end
  if to ~= 'blocked' then f[T.gate] = '' end
  if to ~= 'scheduled' and to ~= 'retrying' then f[T.due_at] = 0 end
  if ENDED[to] and from ~= to and not (e.new and f[T.ended_at] > 0) then f[T.ended_at] = NOW end
  if e.sn >= C.history then
    local cut = take_one(e.steps, 0)
    e.steps, e.sn = sub(e.steps, cut + 1), e.sn - 1
  end
  e.steps = e.steps .. char(0x97) .. pack_values(NOW, from, to, worker, f[T.gen], f[T.attempt], note)
  e.sn = e.sn + 1
  call('XADD', K.events, 'MAXLEN', '~', C.events_kept, '*', 'task_id', e.id, 'shop_id', f[T.shop_id],
    'platform', f[T.platform], 'task_type', f[T.task_type], 'from', from, 'to', to, 'at', NOW, 'worker', worker,
    'gen', f[T.gen], 'attempt', f[T.attempt], 'lane', f[T.lane])
  touch(e)
end

local function add_attempt(e, bytes)
  while e.an >= C.history do
    local cut = take_one(e.attempts, 0)
    e.attempts, e.an = sub(e.attempts, cut + 1), e.an - 1
  end
  e.attempts = e.attempts .. bytes
  e.an = e.an + 1
  touch(e)
end
