-- Limits of platforms and types: how many may run at once, how many may start within a minute. Where nobody has set one
-- this costs one question a batch.
--
-- K.limits: "slots starts" by scope ("platform:pdd", "type:sync_order"), 0 for no limit. K.limit_running: running tasks
-- of such a scope. K.limit_reserved .. scope: tasks with a promised slot by the end of the promise. K.limit_starts ..
-- scope: starts by second.
local quota = { seconds = C.limit_seconds }

every_batch(function()
  quota.some, quota.known, quota.lists = false, {}, {}
  local set = call('HGETALL', K.limits)
  for place = 1, #set, 2 do
    local slots, starts = string.match(set[place + 1], '^(%d+) (%d+)$')
    local l = { scope = set[place], slots = tonumber(slots or 0), starts = tonumber(starts or 0), loaded = false }
    l.shut = not slots -- nobody knows how many: nobody starts
    quota.known[l.scope] = l
    quota.some = true
  end
end)

-- The running tasks of a scope, where the number that was kept is none.
function quota.recount(scope)
  local kept, n = call('HGETALL', K.by_kind), 0
  for i = 1, #kept, 2 do
    local platform, kind, status = string.match(kept[i], '^([^|]*)|([^|]*)|[^|]*|([^|]*)|')
    if status == 'running' and (scope == 'platform:' .. platform or scope == 'type:' .. kind) then
      n = n + (tonumber(kept[i + 1]) or 0)
    end
  end
  return n
end

-- The starts that still count, by second; those of a clock that was ahead do not.
function quota.load_starts(l)
  local this = math.floor(NOW / 1000)
  l.used, l.seconds = 0, {}
  local found = call('HGETALL', K.limit_starts .. l.scope)
  for i = 1, #found, 2 do
    local second, starts = tonumber(found[i]), tonumber(found[i + 1])
    if second and starts and second > this - quota.seconds and second <= this + 1 then
      l.seconds[second] = starts
      l.used = l.used + l.seconds[second]
    else
      call('HDEL', K.limit_starts .. l.scope, found[i])
    end
  end
end

-- A limit with its numbers; without one, what lets everything pass.
function quota.state(scope)
  local l = quota.known[scope]
  if not l then return { scope = scope, slots = 0, starts = 0, running = 0, reserved = 0 } end
  if not l.loaded then
    l.loaded, l.dirty = true, false
    l.running = tonumber(call('HGET', K.limit_running, scope) or 0) or quota.recount(scope)
    call('ZREMRANGEBYSCORE', K.limit_reserved .. scope, '-inf', NOW_TEXT)
    l.reserved = call('ZCARD', K.limit_reserved .. scope)
    l.waits = call('EXISTS', K.limit_waiting .. scope) == 1
    if l.starts > 0 then quota.load_starts(l) end
  end
  return l
end

-- The limits that a task counts for.
function quota.of(e)
  local place = e.platform .. '|' .. e.kind
  local list = quota.lists[place]
  if list then return list end
  local platform, kind = 'platform:' .. e.platform, 'type:' .. e.kind
  list = {}
  quota.lists[place] = list
  if quota.known[platform] then list[1] = quota.state(platform) end
  if quota.known[kind] then list[#list + 1] = quota.state(kind) end
  return list
end

-- How many more may start, promises counted; one more for the task that holds one of them.
function quota.room(l, id)
  local own = id and l.reserved > 0 and call('ZSCORE', K.limit_reserved .. l.scope, id) and 1 or 0
  if l.shut then return 0, own == 1 end
  local room = math.huge
  if l.slots > 0 then room = l.slots - l.running - l.reserved + own end
  if l.starts > 0 then room = math.min(room, l.starts - l.used - l.reserved + own) end
  return room, own == 1
end

function quota.count(e, change)
  for _, l in ipairs(quota.of(e)) do
    l.running, l.dirty = l.running + change, true
  end
end

function quota.started(e)
  for _, l in ipairs(quota.of(e)) do
    if l.starts > 0 then
      local second = math.floor(NOW / 1000)
      l.used, l.seconds[second], l.began = l.used + 1, (l.seconds[second] or 0) + 1, second
    end
  end
end

function quota.reserve(e, until_)
  for _, l in ipairs(quota.of(e)) do
    l.reserved = l.reserved + call('ZADD', K.limit_reserved .. l.scope, text(until_), e.id)
    call('PEXPIRE', K.limit_reserved .. l.scope, text(C.reserve_ms))
  end
end

function quota.unreserve(e)
  for _, l in ipairs(quota.of(e)) do
    if l.reserved > 0 then l.reserved = l.reserved - call('ZREM', K.limit_reserved .. l.scope, e.id) end
  end
end

function quota.flush()
  if not quota.some then return end
  for scope, l in pairs(quota.known) do
    if l.dirty then call('HSET', K.limit_running, scope, text(l.running)) end
    if l.began then
      call('HSET', K.limit_starts .. scope, text(l.began), text(l.seconds[l.began]))
      call('PEXPIRE', K.limit_starts .. scope, text(quota.seconds * 1000))
    end
  end
end
