-- The ledger: what is known of a work, whichever task did it. K.work .. uniqueness key is an array (places below): the
-- last success (id '' for none), the ids of those whose end a person has still to decide about (held, or dead and open),
-- the ends of the day of the last one, the last run that failed. Who has only succeeded, and only once, is kept without what
-- stands behind the ids. It is kept as long as the record of success or failure or its tombstone, and as long as anything
-- is red. K.past .. uniqueness key: the days before (store/redis/ledger.py), so that an end writes only its own one.
-- The decisions about days stand in domain/task/ledger.py too. The third argument: first instant of
-- the fleet's day that is now.
local ledger = {} -- overtaken: red ones of a work that the present operation has brought to a success

do
local ID, AT, BY, WORKER, RED, WON, LOST, FIRST_AT, FIRST = 1, 2, 3, 4, 5, 6, 7, 8, 9
local FAILED, FAILED_AT, KIND, FAILED_BY, FAILED_WORKER = 10, 11, 12, 13, 14
local BEGINS, ENDS
local known -- what is kept of works as it is or is to be, false for nothing
local unsaved -- of which works that is yet to be written, all at once at the end
local byte, FORCED = string.byte, string.byte(C.forced)
local DAY, MOST_DAYS, MOST_ENDS = 86400000, 40, 16777215
every_batch(function(args)
  local first, last = string.match(args[3] or '', '^(%d+) (%d+)$')
  ledger.overtaken, BEGINS, ENDS = {}, tonumber(first or 0), tonumber(last or DAY)
  known, unsaved = {}, {}
end)

local function kept(key)
  local found = known[key]
  if found == nil then
    found = call('GET', key)
    known[key] = found
  end
  return found
end

-- For as long as something is red or a record is there.
local function keep(key, value)
  known[key], unsaved[key] = value, true
end

local function keep_until(key, value, left)
  known[key], unsaved[key] = value, nil
  call('SET', key, value, 'PX', text(left))
end

local function drop(key)
  known[key], unsaved[key] = false, nil
  call('DEL', key)
end

-- The works that tasks are about to have done: mostly nothing is kept of them, or all of it can be read.
function ledger.fetch(tasks)
  local names = {}
  for place, e in ipairs(tasks) do names[place] = K.work .. ledger.work_of(e) end
  if not names[1] then return end
  local found, there = call('MGET', unpack(names)), 0
  for place = 1, #names do
    if found[place] then there = there + 1 end
  end
  if there ~= call('EXISTS', unpack(names)) then return end -- one holds something else
  for place, key in ipairs(names) do known[key] = found[place] end
end

function ledger.flush()
  local values, n = {}, 0
  for key in pairs(unsaved) do values[n + 1], values[n + 2], n = key, known[key], n + 2 end
  for first = 1, n, C.slice do call('MSET', unpack(values, first, math.min(first + C.slice - 1, n))) end
end

local function work_of(e)
  local uniq = e[T.uniq]
  return byte(uniq) == FORCED and sub(uniq, 2) or uniq
end
ledger.work_of = work_of

local function is_red(status, triage)
  return status == 'held' or (status == 'dead' and triage == 'open')
end

function ledger.guards(uniq)
  return uniq ~= '' and byte(uniq) ~= FORCED
end

local function is_number(value)
  return type(value) == 'number' and value >= 0 and value <= C.largest
end

-- What is kept, and whether that is something nobody can read: a success is written over it, all else leaves it there.
local function entry_at(key)
  local packed = kept(key)
  local good, e = pcall(unpack_value, packed or '')
  good = good and type(e) == 'table' and type(e[ID]) == 'string' and is_number(e[AT]) and type(e[BY]) == 'string'
    and type(e[WORKER]) == 'string' and type(e[RED]) == 'table'
  if not good then e = { '', 0, '', '', {} } end
  if not is_number(e[WON]) or not is_number(e[LOST]) or not is_number(e[FIRST_AT]) or type(e[FIRST]) ~= 'string' then
    e[WON], e[LOST], e[FIRST_AT], e[FIRST] = e[ID] ~= '' and 1 or 0, 0, 0, ''
  end
  if type(e[FAILED]) ~= 'string' or not is_number(e[FAILED_AT]) or type(e[FAILED_WORKER]) ~= 'string' then
    e[FAILED], e[FAILED_AT], e[KIND], e[FAILED_BY], e[FAILED_WORKER] = '', 0, '', '', ''
  end
  return e, guard.spoilt[key] or (not good and packed and packed ~= '')
end

local function pack_entry(e)
  local last = FAILED_WORKER
  if e[FAILED] == '' then last = (e[WON] == (e[ID] ~= '' and 1 or 0) and e[LOST] == 0) and RED or FIRST end
  if last > RED and e[WON] + e[LOST] == 1 then e[FIRST_AT], e[FIRST] = 0, '' end
  for place = last + 1, FAILED_WORKER do e[place] = nil end
  return pack_values(e)
end

-- The task that has done the work of another one since an instant (0: nobody asks), and who had created it; '' where
-- that is not known.
function ledger.done(e, since)
  if since == 0 or e[T.uniq] == '' then return end
  local entry, spoilt = entry_at(K.work .. work_of(e))
  if spoilt then return '' end
  if entry[ID] ~= '' and entry[ID] ~= e.id and entry[AT] >= since then return entry[ID], entry[BY] end
end

local DAY_HEAD = '>I6I4I3I3BB'

local function unpack_days(s)
  local days, at = {}, 1
  while at <= #s do
    local first_at, span, won, lost, length, same, behind = unpack_lengths(DAY_HEAD, s, at)
    local first = sub(s, behind, behind + length - 1)
    local rest = string.byte(s, behind + length)
    at = behind + length + 1 + rest
    if at > #s + 1 then error('a day is cut short') end
    days[#days + 1] = { first_at, first_at + span, won, lost, first, sub(first, 1, same) .. sub(s, at - rest, at - 1) }
  end
  return days
end

local function pack_days(days)
  local parts = {}
  for n, day in ipairs(days) do
    local first, last, same = sub(day[5], 1, 255), sub(day[6], 1, 255), 0
    while same < #first and same < #last and sub(first, same + 1, same + 1) == sub(last, same + 1, same + 1) do
      same = same + 1
    end
    local span = math.min(day[2] - day[1], 4294967295)
    parts[n] = pack_lengths(DAY_HEAD, day[1], span, math.min(day[3], MOST_ENDS), math.min(day[4], MOST_ENDS), #first, same)
      .. first .. char(#last - same) .. sub(last, same + 1)
  end
  return table.concat(parts)
end

-- Today goes on until the next day begins, 25 hours where clocks are set back; that may have begun since it was asked.
local function day_of(at)
  if at >= ENDS then return 1 + math.floor((at - ENDS) / DAY) end
  return math.min(0, math.floor((at - BEGINS) / DAY))
end

local function join(day, other)
  if other[1] < day[1] then day[1], day[5] = other[1], other[5] end
  if other[2] >= day[2] then day[2], day[6] = other[2], other[6] end
  day[3], day[4] = day[3] + other[3], day[4] + other[4]
end

-- A day that is over; one that was imported belongs to one that may be there.
local function add_past(work, day, imported)
  local key = K.past .. work
  local good, days = pcall(unpack_days, call('GET', key) or '')
  local kept, found = {}, false
  for _, one in ipairs(good and days or {}) do
    if imported and not found and day_of(one[1]) == day_of(day[1]) then
      join(one, day)
      found = true
    end
    if one[2] >= NOW - C.ledger_ms then kept[#kept + 1] = one end
  end
  if not found and day[2] >= NOW - C.ledger_ms then kept[#kept + 1] = day end
  table.sort(kept, function(one, other) return one[1] < other[1] end)
  while #kept > MOST_DAYS do table.remove(kept, 1) end
  if kept[1] then call('SET', key, pack_days(kept), 'PX', text(C.ledger_ms)) end
end

-- An end goes into its day; called before it becomes the last of its kind.
local function add_end(work, entry, id, at, won, lost)
  local last_at, last = entry[AT], entry[ID]
  if entry[FAILED] ~= '' and entry[FAILED_AT] >= last_at then last_at, last = entry[FAILED_AT], entry[FAILED] end
  local known = last ~= '' and entry[WON] + entry[LOST] > 0
  local apart = known and day_of(at) - day_of(last_at) or 1
  if known and entry[FIRST] == '' then entry[FIRST_AT], entry[FIRST] = last_at, last end
  if apart < 0 then
    add_past(work, { at, at, won, lost, id, id }, true)
  elseif apart > 0 then
    if known then add_past(work, { entry[FIRST_AT], last_at, entry[WON], entry[LOST], entry[FIRST], last }) end
    entry[WON], entry[LOST], entry[FIRST_AT], entry[FIRST] = won, lost, at, id
  else
    entry[WON], entry[LOST] = entry[WON] + won, entry[LOST] + lost
    if at < entry[FIRST_AT] then entry[FIRST_AT], entry[FIRST] = at, id end
  end
end

local function creator(e)
  local by = e[T.created_by]
  return by == '' and e[T.origin] or by
end

local function note_success(e)
  local work, at, by = work_of(e), e[T.ended_at], creator(e)
  local key = K.work .. work
  local old = kept(key)
  if not old or old == '' then
    if guard.spoilt[key] then guard.set_aside(key) end
    keep(key, pack_values({ e.id, at, by, e[T.worker], {} }))
    return
  end
  local entry = entry_at(key)
  add_end(work, entry, e.id, at, 1, 0)
  if entry[AT] <= at then -- one that was imported may be older
    entry[ID], entry[AT], entry[BY], entry[WORKER] = e.id, at, by, e[T.worker]
  end
  for _, id in ipairs(entry[RED]) do ledger.overtaken[#ledger.overtaken + 1] = { id = id, by = e.id, at = at } end
  keep(key, pack_entry(entry))
end

-- How long an end is known that nothing red stands beside: as its record (0), as its tombstone (ms), not at all.
local function keep_for(id)
  if id == '' then return end
  if records[id] or call('EXISTS', K.task .. id) == 1 then return 0 end
  local left = call('PTTL', K.tomb .. id)
  return left > 0 and left or nil
end

local function put(key, entry)
  local left = entry[RED][1] and 0 or keep_for(entry[ID])
  if left ~= 0 then
    local other = keep_for(entry[FAILED])
    if other and (other == 0 or other > (left or 0)) then left = other end
  end
  if not left then
    drop(key)
  elseif left == 0 then
    keep(key, pack_entry(entry))
  else
    keep_until(key, pack_entry(entry), left)
  end
end

local function set_red(entry, id, red)
  local others = {}
  for _, one in ipairs(entry[RED]) do
    if one ~= id then others[#others + 1] = one end
  end
  if red then others[#others + 1] = id end
  entry[RED] = others
end

local function note_red(e, red)
  local key = K.work .. work_of(e)
  local entry, spoilt = entry_at(key)
  if spoilt then return end
  set_red(entry, e.id, red)
  put(key, entry)
end

local function note_failure(e, red)
  local work, at = work_of(e), e[T.ended_at]
  local key = K.work .. work
  local entry, spoilt = entry_at(key)
  if spoilt then return end
  add_end(work, entry, e.id, at, 0, 1)
  set_red(entry, e.id, red)
  if entry[FAILED_AT] <= at then
    entry[FAILED], entry[FAILED_AT], entry[KIND] = e.id, at, e[T.error_kind]
    entry[FAILED_BY], entry[FAILED_WORKER] = creator(e), e[T.worker]
    keep(key, pack_entry(entry))
  else
    put(key, entry)
  end
end

-- Called for a record whose status or triage has changed, before the indexes know it. A letter that no worker began is no
-- run that failed.
function ledger.follow(e)
  local status = e[T.status]
  local ended, red = e.status ~= status, is_red(status, e[T.triage])
  if ended and status == 'succeeded' then note_success(e) end
  if ended and status == 'dead' and e[T.attempt] > 0 then
    note_failure(e, red)
  elseif red ~= is_red(e.status, e.triage) then
    note_red(e, red)
  end
end

-- The record goes; that of an end leaves a tombstone for a time.
function ledger.forget(e, keep_ms)
  if e[T.uniq] == '' then return end
  if is_red(e[T.status], e[T.triage]) then note_red(e, false) end
  if e[T.status] ~= 'succeeded' and e[T.status] ~= 'dead' then return end
  local key = K.work .. work_of(e)
  local entry = entry_at(key)
  if (entry[ID] ~= e.id and entry[FAILED] ~= e.id) or entry[RED][1] then return end
  local other = keep_for(entry[ID] == e.id and entry[FAILED] or entry[ID])
  local left = math.max(other or 0, keep_ms)
  if other == 0 then
    return
  elseif left > 0 and unsaved[key] then
    keep_until(key, known[key], left)
  elseif left > 0 then
    call('PEXPIRE', key, text(left))
  else
    drop(key)
  end
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
