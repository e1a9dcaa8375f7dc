-- Dependencies: who waits at the gate of this name for others to succeed, and who is told when they end.
--
-- K.needs .. id: what a task still waits for. K.dependants .. id: who waits for it, with score 1 those that are to be
-- cancelled if it fails. K.needed: ids that somebody waits for. All of them are the ids that were named at creation; a
-- task that was republished is found from there, and its dependants from it, by the links between the records.
local some_needs -- whether anybody waits for anybody, once it is known
local tell_left -- dependants that this round may still tell
local gone_with -- what the present operation has cancelled over a task that it depends on
every_batch(function() some_needs, tell_left, gone_with = nil, C.tell, {} end)

local REPLACED = { republished = true, overtaken = true } -- its successor stands for it

local function anybody_waits()
  if some_needs == nil then some_needs = call('EXISTS', K.needed) == 1 end
  return some_needs
end

local function waits(id)
  return anybody_waits() and call('EXISTS', K.needs .. id) == 1
end

-- What a record names, what becomes of it when one of them fails, and its deadline; they stand behind the attempts.
local function dependencies(e)
  return select(C.depends_on, take(e.back, C.tail, (e.an < 16 and 1 or 3) + e.al))
end

-- The record that stands for an id now; where it was removed, how it ended, and the id that it had.
local function stands_for(id)
  while true do
    local e, ended, later = load(id), nil, nil
    if e then
      later = REPLACED[e[T.triage]] and e[T.successor] or ''
    else
      ended, later = tombstone(id)
    end
    if not later or later == '' then return e, ended, id end
    id = later
  end
end

-- The ids under which somebody may wait for a task: its own and those that it was republished from.
local function names_of(e)
  local names = { e.id }
  while e and e[T.parent] ~= '' do
    local old = load(e[T.parent])
    if old and old[T.successor] ~= e.id then break end
    names[#names + 1] = e[T.parent]
    e = old
  end
  return names
end

local function failed(e)
  return ENDED[e[T.status]] and e[T.status] ~= 'succeeded'
end

-- What a new task that names others has to wait for, and the first of them that has failed; nil where one of them is
-- unknown.
local function find_needs(named)
  if not named[1] then return named end
  local needs, broken = {}, nil
  for _, id in ipairs(named) do
    local now, ended = stands_for(id)
    if not now and ended ~= 'succeeded' then return end
    if now and now[T.status] ~= 'succeeded' then needs[#needs + 1] = id end
    if now and not broken and failed(now) then broken = now end
  end
  return needs, broken
end

local function note_needs(e, needs)
  local _, policy = dependencies(e)
  for _, id in ipairs(needs) do
    call('SADD', K.needs .. e.id, id)
    call('ZADD', K.dependants .. id, policy == 'cancel' and 1 or 0, e.id)
    call('SADD', K.needed, id)
    some_needs = true
  end
end

local function strike(id, name)
  call('SREM', K.needs .. id, name)
  call('ZREM', K.dependants .. name, id)
  if call('EXISTS', K.dependants .. name) == 0 then call('SREM', K.needed, name) end
end

-- A task that has ended waits for nothing.
local function forget_needs(id)
  if not waits(id) then return end
  for _, name in ipairs(call('SMEMBERS', K.needs .. id)) do strike(id, name) end
end

local function let_go(e, released)
  e.mark = true
  transition(e, 'pending', '', '')
  settle(e)
  released[#released + 1] = e
end

local function met(id, name, released)
  strike(id, name)
  local e = not waits(id) and load(id)
  if not e or e[T.status] ~= 'blocked' or e[T.gate] ~= 'dependency' then return end
  let_go(e, released)
end

-- It stood in nobody's way.
local function drop(id, cause)
  local e = load(id)
  forget_needs(id)
  local status = e and e[T.status]
  if status ~= 'blocked' and status ~= 'scheduled' then return end
  set_rest(e, T.reason, 'dependency ' .. cause.id .. ' is ' .. cause[T.status])
  e.mark = false
  transition(e, 'cancelled', '', 'dependency')
  settle(e)
  gone_with[#gone_with + 1] = e
  return e
end

-- Tell the dependants of one ended task; those that were cancelled over it are left in dropped. False: not all of them.
local function tell(e, dropped, released)
  local good = e[T.status] == 'succeeded' or e[T.triage] == 'overtaken' -- another task has done its work
  if e[T.triage] == 'republished' then return true end
  for _, name in ipairs(names_of(e)) do
    local list = call('SISMEMBER', K.needed, name) == 1
      and call('ZRANGEBYSCORE', K.dependants .. name, good and '0' or '1', '1', 'LIMIT', 0, text(tell_left + 1)) or {}
    for _, id in ipairs(list) do
      if tell_left == 0 then return false end
      tell_left = tell_left - 1
      if good then
        met(id, name, released)
      else
        dropped[#dropped + 1] = drop(id, e)
      end
    end
  end
  return true
end

local function tell_dependants(e, released)
  if not anybody_waits() then return end
  local ended = { e }
  while #ended > 0 do
    local one = table.remove(ended)
    if not tell(one, ended, released) then call('SADD', K.untold, one.id) end
  end
end

-- What follows when a task leaves its slot: its dependants are told if it has ended, and its shop may go on.
local function conclude(e, released)
  if ENDED[e[T.status]] then tell_dependants(e, released) end
  open_shop(e.shop, released, nil, e)
  if quota.some then quota.freed(e, released) end
end

-- Where a plan goes when its time has come.
local function due_status(e)
  local gate = waits(e.id) and 'dependency' or not way.status[e[T.status]] and first_gate(e)
  if not gate then return 'pending' end
  e[T.gate] = gate
  return 'blocked'
end

-- Relink: what a task waits for by the records now, or by what is left of them, and the first of those that has failed.
local function find_waits(e, parked)
  local wanted, broken = {}, nil
  if not parked and e[T.status] ~= 'scheduled' then return wanted end
  for _, name in ipairs(dependencies(e)) do
    local now, ended, id = stands_for(name)
    if not now then now = ended and { id = id, [T.status] = ended } end
    if now and now[T.status] ~= 'succeeded' then
      wanted[name], broken = true, broken or (failed(now) and now)
    elseif not now and call('SISMEMBER', K.needs .. e.id, name) == 1 then
      wanted[name] = true
    end
  end
  return wanted, broken
end

local function relink(o, released)
  local e = load(o[Relink.task_id])
  if not e then return 'missing' end
  local id, parked = e.id, e[T.status] == 'blocked' and e[T.gate] == 'dependency'
  local wanted, broken = find_waits(e, parked)
  local cancels = select(2, dependencies(e)) == 'cancel'
  local list, wrong = {}, (broken and cancels) or (parked and next(wanted) == nil)
  for name in pairs(wanted) do
    list[#list + 1] = name
    wrong = wrong or call('SISMEMBER', K.needs .. id, name) == 0 or call('SISMEMBER', K.needed, name) == 0
      or call('ZSCORE', K.dependants .. name, id) ~= (cancels and '1' or '0')
  end
  local known = call('SMEMBERS', K.needs .. id)
  for _, name in ipairs(known) do wrong = wrong or not wanted[name] end
  if not wrong then return 'stale', e end
  if o[Relink.look] then return 'ok', e end
  some_needs = true -- the list that tells so may be what was lost
  for _, name in ipairs(known) do
    if not wanted[name] then strike(id, name) end
  end
  note_needs(e, list)
  local gone = broken and cancels and drop(id, broken)
  if gone then
    tell_dependants(gone, released)
  elseif parked and not list[1] then
    let_go(e, released)
  end
  return 'ok', e
end
