-- Records: loaded once for a batch, changed in memory, written once at its end.
--
-- Stored: the lengths of the parts (C.prefix bytes), then the msgpack array in field order, in five parts: front (head
-- of the array, identity, payload), moment (what a transition changes), rest, steps, back (attempts and what newer
-- programs appended). Only the moment is unpacked and packed again; the others are cut out as bytes, so that their size
-- costs nothing. In memory one table: the fields of moment and rest by place (T.status), the identity, the parts and
-- what the indexes know of the record by name.
local records -- by id; false: there is none
local changed -- records that must be written, in the order of their first change
local begun -- by shop, when and by which worker a task was begun last in this batch
every_batch(function() records, changed, begun = {}, {}, {} end)

local LENGTHS = '>I4I4I4I4I4BBB'
local heads = {}
local function array_head(n)
  local head = heads[n]
  if not head then
    head = n < 16 and char(0x90 + n) or char(0xdc, 0, n)
    heads[n] = head
  end
  return head
end

local function parse(key, s)
  local a, b, c, st, at, sn, an, marked = unpack_lengths(LENGTHS, s)
  local p = C.prefix + 3 + a
  local q = p + b
  local t = q + c
  local u = t + st + (sn < 16 and 1 or 3)
  local _, own_id, shop_id, platform, kind = take(s, 4, C.prefix + 3)
  local C.values = take(s, C.fields, p)
  -- to compare a value of another kind is an error of its own
  if not (C.sound) then error('a number is none') end
  return {
    id = own_id, shop_id = shop_id, platform = platform, kind = kind, shop = platform .. ':' .. shop_id,
    key = key, packed = s, behind = false,
    front = sub(s, C.prefix + 1, p), rest = sub(s, q + 1, t), steps = sub(s, u - st + 1, u), back = sub(s, u + 1),
    sn = sn, an = an, al = at, settled = 0, mark = 0, marked = marked == 1,
    status = V.status, lane = V.lane, priority = V.priority, triage = V.triage, worker = V.worker, print = V.fingerprint,
    at = V.updated_at, lease = V.lease_until, due = V.due_at, gate = V.gate,
    C.values
  }
end

-- The fields that indexes are made from, as the indexes know them.
local function remember(e)
  e.status, e.lane, e.priority, e.triage = e[T.status], e[T.lane], e[T.priority], e[T.triage]
  e.worker, e.print, e.at = e[T.worker], e[T.fingerprint], e[T.updated_at]
  e.lease, e.due, e.gate, e.behind = e[T.lease_until], e[T.due_at], e[T.gate], false
end

-- The record of a task as Python packs it (adopted, created); no index knows it.
local function fresh(s)
  local a = take(s, C.identity, 3)
  local b = take(s, C.moment, a)
  local c = take(s, C.rest, b)
  local d, steps = take_one(s, c)
  local g, attempts = take_one(s, d)
  local sn, an = #steps, #attempts
  local dh = c + #array_head(sn)
  local lengths = pack_lengths(LENGTHS, a - 3, b - a, c - b, d - dh, g - d - #array_head(an), sn, an, 0)
  local e = parse(false, lengths .. s)
  e.key, e.packed, e.unborn = K.task .. e.id, false, true
  e.status, e.lane, e.priority, e.triage, e.worker, e.print, e.at = false, false, false, false, '', '', false
  return e
end

local function packed(e)
  local s = e.packed
  if s then return s end
  local moment = pack_values(unpack(e, C.moment_first, C.moment_last))
  if e.rest_changed then
    e.rest = pack_values(unpack(e, C.rest_first, C.rest_last)) .. sub(e.rest, take(e.rest, C.rest_named, 0) + 1)
    e.rest_changed = false
  end
  s = pack_lengths(LENGTHS, #e.front - 3, #moment, #e.rest, #e.steps, e.al, e.sn, e.an, e.marked and 1 or 0)
    .. e.front .. moment .. e.rest .. array_head(e.sn) .. e.steps .. e.back
  e.packed = s
  return s
end

local function read(id, key, s)
  if not s then
    records[id] = false
    return false
  end
  local good, e = pcall(parse, key, s)
  if not good or e.id ~= id then
    call('RENAME', key, K.broken .. id) -- not a record: kept aside, the task counts as unknown
    e = false
  elseif not COUNTED[e.status] and not ENDED[e.status] then -- another program may know it: left as it is
    guard.refuse(key .. ' (' .. e.status .. ' is no status that this version knows)')
  end
  records[id] = e
  return e
end

-- Read the records of a batch in one go.
local function fetch(ids)
  local names = {}
  for i = 1, #ids do names[i] = K.task .. ids[i] end
  if #ids == 0 then return end
  local found = call('MGET', unpack(names))
  for i = 1, #ids do
    if records[ids[i]] == nil then read(ids[i], names[i], found[i]) end
  end
end

local function load(id)
  local e = records[id]
  if e == nil then
    local key = K.task .. id
    return read(id, key, call('GET', key))
  end
  if e and e.behind then remember(e) end
  return e
end

local function payload(e)
  local _, _, _, _, _, bytes = take(e.front, C.identity, 3)
  return bytes
end

local function touch(e)
  e.packed = false
  if not e.dirty then
    e.dirty = true
    changed[#changed + 1] = e
  end
end

-- Fields behind the moment (reason, triage, uniq …) change rarely.
local function set_rest(e, field, value)
  e[field] = value
  e.rest_changed = true
end

-- Marks and losses stand behind the named fields of the rest and are unpacked only to be changed.
local function change_lists(e, change)
  local start = take(e.rest, C.rest_named, 0)
  local from, marks, losses = take(e.rest, 2, start)
  if change(marks, losses) then
    e.rest = sub(e.rest, 1, start) .. pack_values(marks, losses) .. sub(e.rest, from + 1)
    touch(e)
  end
end

local function add_mark(e, mark)
  change_lists(e, function(marks)
    for _, present in ipairs(marks) do
      if present == mark then return false end
    end
    marks[#marks + 1] = mark
    return true
  end)
end

local function has_mark(e, mark)
  local found = false
  change_lists(e, function(marks)
    for _, present in ipairs(marks) do found = found or present == mark end
    return false
  end)
  return found
end

-- Whether it had the mark.
local function take_mark(e, mark)
  local had = false
  change_lists(e, function(marks)
    for place, present in ipairs(marks) do
      if present == mark then
        table.remove(marks, place)
        had = true
        return true
      end
    end
    return false
  end)
  return had
end

local function add_loss(e)
  change_lists(e, function(_, losses)
    losses[#losses + 1] = NOW
    if #losses > C.history then table.remove(losses, 1) end
    return true
  end)
end

local append_event, packed_step
do
-- The stream is kept short by the first event of a batch.
local trims
every_batch(function() trims = true end)

local function add_event(...)
  if not trims then return call('XADD', K.events, ...) end
  trims = false
  call('XADD', K.events, 'MAXLEN', '~', EVENTS_KEPT, ...)
end

function append_event(e, from, to, worker)
  add_event('*', 'task_id', e.id, 'shop_id', e.shop_id,
    'platform', e.platform, 'task_type', e.kind, 'from', from, 'to', to, 'at', NOW_TEXT, 'worker', worker,
    'gen', text(e[T.gen]), 'attempt', text(e[T.attempt]), 'lane', e[T.lane])
end

-- Most transitions of a batch are the same one.
local last, last_from, last_to, last_worker, last_gen, last_attempt, last_note
every_batch(function() last = nil end)

function packed_step(from, to, worker, gen, attempt, note)
  if not last or to ~= last_to or from ~= last_from or worker ~= last_worker or gen ~= last_gen
    or attempt ~= last_attempt or note ~= last_note then
    last = '\151' .. pack_values(NOW, from, to, worker, gen, attempt, note)
    last_from, last_to, last_worker, last_gen, last_attempt, last_note = from, to, worker, gen, attempt, note
  end
  return last
end
end

-- A transition: one step in the record and one event with the same contents. What belongs to a status ends with it.
local function transition(e, to, worker, note)
  local from = e[T.status]
  local ends = ENDED[to] and from ~= to
  if e.unborn then
    from, e.unborn = '', false
    ends = ENDED[to] and e[T.ended_at] == 0
    if not ENDED[to] then e[T.ended_at] = 0 end
    if to ~= 'dead' and e[T.triage] ~= '' then set_rest(e, T.triage, '') end
  end
  e[T.status], e[T.updated_at] = to, NOW
  if ends then e[T.ended_at] = NOW end
  if to ~= 'running' then e[T.lease_until], e[T.cancel] = 0, '' end
  if to ~= 'blocked' then e[T.gate] = '' end
  if to ~= 'scheduled' and to ~= 'retrying' then e[T.due_at] = 0 end
  local steps, sn = e.steps, e.sn + 1
  if sn > C.history then
    steps, sn = sub(steps, take_one(steps, 0) + 1), C.history
  end
  e.steps = steps .. packed_step(from, to, worker, e[T.gen], e[T.attempt], note)
  e.sn = sn
  append_event(e, from, to, worker)
  if to == 'running' then begun[e.shop] = NOW_TEXT .. ' ' .. worker end
  touch(e)
end

-- Attempts as bytes, and what stands behind them.
local function cut_attempts(e)
  local first = e.an < 16 and 1 or 3
  return sub(e.back, first + 1, first + e.al), sub(e.back, first + e.al + 1)
end

local function add_attempt(e, bytes)
  local attempts, tail = cut_attempts(e)
  local an = e.an + 1
  if an > C.history then
    attempts, an = sub(attempts, take_one(attempts, 0) + 1), C.history
  end
  attempts = attempts .. bytes
  e.an, e.al, e.back = an, #attempts, array_head(an) .. attempts .. tail
  touch(e)
end

local function has_attempt(e, bytes)
  local attempts, place = cut_attempts(e), 0
  for _ = 1, e.an do
    local behind = take_one(attempts, place)
    if behind == -1 then behind = #attempts end
    if sub(attempts, place + 1, behind) == bytes then return true end
    place = behind
  end
  return false
end
