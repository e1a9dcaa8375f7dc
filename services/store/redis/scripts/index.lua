-- Indexes and counters: what differs between the record as the indexes know it and as it is.
-- Lua has room for 200 names of one chunk: what only this file uses is out of the others' way.
local shops, done, kinds, lots, remove, call_sliced, round, flush_sets, inner, status_key, fetch_shops, shop_of,
  count_task, index_unique, unheld, rank, home, index_parked, index_value, index_payload, batches, settle, delivered, flush
do
local adds, removes -- by key, what to write at the end; a member stands in one list of a key at most once
local NOTHING, noted = {} -- noted: by task, what the index of payloads keeps of it
every_batch(function(args)
  noted = args[5] ~= '' and unpack_value(args[5]) or NOTHING
  adds, removes, round = {}, {}, 1
  shops = {} -- by platform:shop_id: its slots and counters (n), and who holds a reservation, once that is known
  way.shops = shops
  done = {} -- type -> shop -> end of its last success in this batch
  kinds = {} -- changes of the counters: platform -> type -> lane -> status -> triage -> priority
  lots = nil -- whether anything is parked anywhere, once it is known
  unheld = {} -- queues of uniqueness keys of which it is known that nobody stands in them
  batches = {} -- false: has lost a record; true: has a new one
end)

local function add(key, score, member)
  local list = adds[key]
  if not list then
    list = { n = 0 }
    adds[key] = list
  end
  local n = list.n
  list[n + 1], list[n + 2], list.n = text(score), member, n + 2
end

function remove(key, member)
  local list = removes[key]
  if not list then
    list = { n = 0 }
    removes[key] = list
  end
  local n = list.n + 1
  list[n], list.n = member, n
end

-- A command with any number of arguments, in slices that fit the stack of Lua.
function call_sliced(command, key, list, n)
  for first = 1, n, C.slice do
    call(command, key, unpack(list, first, math.min(first + C.slice - 1, n)))
  end
end

-- The fields of a hash. Redis keeps a small one as a list, each question to which walks through it, until it was given a
-- long text once: with hundreds of shops that is what costs most of an end.
local WIDE = (' '):rep(65)
local function put_fields(key, list, n)
  for first = 1, n, C.slice do
    call('HSET', key, list[first], WIDE, unpack(list, first, math.min(first + C.slice - 1, n)))
  end
end

-- The members of a sorted set, of whose small form the same is true; of a few of them less than it costs to leave it.
local function put_members(key, list, n)
  local many = n > 2 * C.many
  if many then call('ZADD', key, '0', WIDE) end
  call_sliced('ZADD', key, list, n)
  if many then call('ZREM', key, WIDE) end
end

function flush_sets()
  round = round + 1
  for key, list in pairs(removes) do call_sliced('ZREM', key, list, list.n) end
  for key, list in pairs(adds) do put_members(key, list, list.n) end
  adds, removes = {}, {}
end

function inner(parent, name)
  local child = parent[name]
  if not child then
    child = {}
    parent[name] = child
  end
  return child
end

-- The status index is kept in parts by priority, queued tasks also by lane, dead ones by triage (keys.status).
local status_keys = {}
function status_key(status, lane, priority, triage)
  local part = status == 'queued' and lane or triage
  local known = inner(inner(status_keys, status), part)
  local key = known[priority]
  if not key then
    key = K.by_status .. status .. ':' .. part .. ':' .. math.min(math.max(priority, 1), C.max_priority)
    known[priority] = key
  end
  return key
end

local NUMBERS = '>I8I8I8I8I8I8I8I8I8' -- slots, then the counters; programs of before read just as many

-- Counted anew from the indexes: who would start at nought would let a second task of a shop run beside the first.
function way.count_anew(shop)
  local n, counted = { 0, 0, 0, 0, 0, 0, 0, 0, 0 }, {}
  flush_sets()
  for status, place in pairs(COUNTED) do
    for priority = 1, C.max_priority do
      for _, part in ipairs(status == 'queued' and { 'high', 'normal', 'low' } or { status == 'dead' and 'open' or '' }) do
        local name = K.by_status .. status .. ':' .. part .. ':' .. priority
        n[place] = n[place] + call('ZINTERCARD', '2', K.shop .. shop, name)
      end
    end
  end
  local good, known = pcall(unpack_value, call('HGET', K.shops, shop) or '')
  local slots = good and type(known) == 'table' and (known.concurrency or 1)
  n[1] = type(slots) == 'number' and slots >= 1 and slots < C.class and math.floor(slots) or 0
  return n
end

function way.numbers(shop, packed)
  if not packed then return { 0, 0, 0, 0, 0, 0, 0, 0, 0 } end
  if #packed < 72 then return way.count_anew(shop) end
  local a, b, c, d, e, f, g, h, i = unpack_lengths(NUMBERS, packed)
  -- none of them is below 0
  return a + b + c + d + e + f + g + h + i <= C.largest and { a, b, c, d, e, f, g, h, i } or way.count_anew(shop)
end

local function set_shop(shop, numbers)
  local s = {
    n = way.numbers(shop, numbers),
    new = not numbers, dirty = false, reserved = false, reservations = 0, way = false, way_dirty = false,
  }
  shops[shop] = s
  return s
end

-- The shops of all records of the batch, in one question.
function fetch_shops(fresh_ones)
  local names, n = {}, 0
  local function note(e)
    local shop = e.shop
    if shops[shop] == nil then
      n = n + 1
      names[n], shops[shop] = shop, false
    end
  end
  for _, e in pairs(records) do
    if e then note(e) end
  end
  for _, e in ipairs(fresh_ones) do note(e) end
  if n == 0 then return end
  local found = call('HMGET', K.by_shop, unpack(names))
  for i = 1, n do set_shop(names[i], found[i]) end
end

function shop_of(shop)
  return shops[shop] or set_shop(shop, call('HGET', K.by_shop, shop))
end

function count_task(lanes, shop, status, lane, priority, triage, change)
  local counts = inner(inner(inner(lanes, lane), status), triage)
  counts[priority] = (counts[priority] or 0) + change
  if ENDED[status] and not (status == 'dead' and triage == 'open') then return end
  local s = shop_of(shop)
  local place = COUNTED[status]
  s.n[place], s.dirty = s.n[place] + change, true
end

-- In the queue of a uniqueness key: running and held tasks first, then the waiting ones by age, last those that may not
-- start yet: scheduled ones, and those that wait for other tasks.
local function unique_score(status, created, gate)
  if status == 'running' or status == 'held' then return created - C.class end
  if status == 'scheduled' or gate == 'dependency' then return created + C.class end
  return created
end

function index_unique(e)
  local uniq, status, created = e[T.uniq], e[T.status], e[T.created_at]
  if not ledger.guards(uniq) then return end
  if ENDED[status] then
    if e.status then call('ZREM', K.unique .. uniq, e.id) end
    return
  end
  if e.sole then -- nobody to compare with: the first one to come beside it sets this right
    e.sole = false
    return
  end
  local score = unique_score(status, created, e[T.gate])
  if e.status and score == unique_score(e.status, created, e.gate) then return end
  local key = K.unique .. uniq
  unheld[key] = nil
  call('ZADD', key, text(score), e.id)
  if e.alone then
    e.alone = false
    return
  end
  if e.status or call('ZCARD', key) ~= 2 then return end
  for _, id in ipairs(call('ZRANGE', key, 0, -1)) do
    local other = id ~= e.id and load(id)
    if other then call('ZADD', key, text(unique_score(other[T.status], other[T.created_at], other[T.gate])), id) end
  end
end

-- The order of parked tasks: higher priority first, then older.
function rank(e)
  return text((C.max_priority - e[T.priority]) * C.class + e[T.created_at])
end

-- Where workers fetch parked tasks: those that need a capable one by lane and type, those that wait for the home of their
-- shop by its node too.
home = {}
function home.place(lane, kind, gate)
  if gate == 'no_worker' then return lane .. '|' .. kind end
  if sub(gate, 1, #C.home_at) == C.home_at then return lane .. '|' .. kind .. '@' .. sub(gate, #C.home_at + 1) end
end

local function index_unserved(e, kind, old)
  if old and old ~= kind then
    call('ZREM', K.unserved_of .. old, e.id)
    if call('EXISTS', K.unserved_of .. old) == 0 then call('SREM', K.unserved, old) end
  end
  if kind then
    call('ZADD', K.unserved_of .. kind, rank(e), e.id)
    call('SADD', K.unserved, kind)
  end
end

-- The lot of a shop, kept by type so that a paused type costs nothing.
local function index_lot(e, shop, now, before)
  local lot = K.lot .. shop .. '|' .. e.kind
  if now then
    if not before or e.priority ~= e[T.priority] then
      call('ZADD', lot, rank(e), e.id)
      call('SADD', K.lot_types .. shop, e.kind)
      call('SADD', K.lots, shop)
      lots = true
    end
  elseif before and call('ZREM', lot, e.id) == 1 and call('EXISTS', lot) == 0 then
    call('SREM', K.lot_types .. shop, e.kind)
    if call('EXISTS', K.lot_types .. shop) == 0 then call('SREM', K.lots, shop) end
  end
end

-- Who waits for other tasks stands in neither: no opening shop and no worker can let it go.
function index_parked(e, shop)
  local now = e[T.status] == 'blocked' and e[T.gate] ~= 'dependency'
  local before = e.status == 'blocked' and e.gate ~= 'dependency'
  local place, old = now and home.place(e[T.lane], e.kind, e[T.gate]), before and home.place(e.lane, e.kind, e.gate)
  if place or old then index_unserved(e, place, old) end
  index_lot(e, shop, now and not place, before and not old)
end

-- Sorted sets whose members come and go with a status, scored by a field.
local function index_time(e, key, status, score, before)
  if e[T.status] == status then
    if e.status ~= status or score ~= before then add(key, score, e.id) end
  elseif e.status == status then
    remove(key, e.id)
  end
end

function index_value(key, id, created, before, now)
  if before ~= '' then remove(key .. before, id) end
  if now ~= '' then add(key .. now, created, id) end
end

function index_payload(put, ...)
  local id = select(-1, ...)
  for _, term in ipairs(noted[id] or NOTHING) do put(K.payload .. term, ...) end
end

local function index_batch(batch, created, id)
  add(K.batch .. batch, created, id)
  if not batches[batch] then call('ZADD', K.batches, 'NX', text(created), batch) end
  batches[batch] = true
end

-- A batch of which nothing is left is none any more.
local function flush_batches()
  for batch, fresh_one in pairs(batches) do
    if not fresh_one and call('EXISTS', K.batch .. batch) == 0 then call('ZREM', K.batches, batch) end
  end
end

local function index_new(e, shop)
  local id, created = e.id, e[T.created_at]
  add(K.shop .. shop, created, id)
  add(K.type .. e.kind, created, id)
  if e[T.batch] ~= '' then index_batch(e[T.batch], created, id) end
  index_payload(add, created, id)
  local s = shop_of(shop)
  if s.new then
    s.new, s.dirty = false, true
    call('ZADD', K.shop_names, 0, shop)
    call('ZADD', K.platforms, 0, e.platform)
  end
end

local function index_status(e, shop)
  local status, lane, priority, triage = e[T.status], e[T.lane], e[T.priority], e[T.triage]
  local key = status_key(status, lane, priority, triage)
  local lanes = inner(inner(kinds, e.platform), e.kind)
  if not e.status then
    index_new(e, shop)
    add(key, e[T.created_at], e.id)
  else
    local before = status_key(e.status, e.lane, e.priority, e.triage)
    if key ~= before then
      remove(before, e.id)
      add(key, e[T.created_at], e.id)
    end
    count_task(lanes, shop, e.status, e.lane, e.priority, e.triage, -1)
  end
  count_task(lanes, shop, status, lane, priority, triage, 1)
  if status == 'succeeded' then
    shop_of(shop).success = true
    local of_kind = inner(done, e.kind)
    of_kind[shop] = math.max(of_kind[shop] or 0, e[T.ended_at])
  end
  way.follow(shop_of, shop, e.status, e.priority, status, priority)
  if quota.some and (status == 'running') ~= (e.status == 'running') then
    quota.count(e, status == 'running' and 1 or -1)
  end
  if status == 'blocked' or e.status == 'blocked' then index_parked(e, shop) end
  if e[T.uniq] ~= '' then ledger.follow(e) end
  index_unique(e)
end

-- Bring every index to the state of the record; called once at the end of an operation, before others look.
function settle(e)
  if e.settled == round then flush_sets() end -- a second change of one record: the first must be written before
  e.settled = round
  local id = e.id
  local status, was = e[T.status], e.status
  if status ~= was or e[T.lane] ~= e.lane or e[T.priority] ~= e.priority or e[T.triage] ~= e.triage then
    index_status(e, e.shop)
  end
  if e[T.updated_at] ~= e.at then add(K.updated, e[T.updated_at], id) end
  if status == 'running' or was == 'running' then index_time(e, K.leases, 'running', e[T.lease_until], e.lease) end
  if status == 'retrying' or was == 'retrying' then index_time(e, K.retries, 'retrying', e[T.due_at], e.due) end
  if status == 'scheduled' or was == 'scheduled' then index_time(e, K.planned, 'scheduled', e[T.due_at], e.due) end
  if e[T.worker] ~= e.worker then index_value(K.worker, id, e[T.created_at], e.worker, e[T.worker]) end
  if e[T.fingerprint] ~= e.print then index_value(K.fingerprint, id, e[T.created_at], e.print, e[T.fingerprint]) end
  local mark = e.mark
  if mark ~= 0 then
    if mark then
      add(K.outbox, NOW, id)
    elseif e.marked then
      remove(K.outbox, id)
    end
    if mark ~= e.marked then
      e.marked = mark
      touch(e)
    end
    e.mark = 0
  end
  e.behind = true -- what the indexes know is remembered when somebody asks for the record again
end
ledger.settle = settle

-- The leaves of the tree of changes as fields of the hash.
local function flush_kinds(tree, path)
  for name, below in pairs(tree) do
    local field = path and path .. '|' .. name or name
    if type(below) == 'table' then
      flush_kinds(below, field)
    elseif below ~= 0 and call('HINCRBY', K.by_kind, field, text(below)) == 0 then
      call('HDEL', K.by_kind, field)
    end
  end
end

local function flush_shops()
  local list, n, did, m, runs, r = {}, 0, {}, 0, {}, 0
  for shop, s in pairs(shops) do
    if s.dirty then list[n + 1], list[n + 2], n = shop, pack_lengths(NUMBERS, unpack(s.n, 1, 9)), n + 2 end
    if s.success then did[m + 1], did[m + 2], m = shop, NOW_TEXT, m + 2 end
  end
  call_sliced('HSET', K.by_shop, list, n)
  put_fields(K.successes, did, m)
  for shop, told in pairs(begun) do runs[r + 1], runs[r + 2], r = shop, told, r + 2 end
  put_fields(K.last_runs, runs, r)
end

-- One that was imported or comes late may be older than what is known.
local function flush_done()
  for kind, of_kind in pairs(done) do
    local key, list, n = K.successes_of .. kind, {}, 0
    for shop, at in pairs(of_kind) do
      if at >= NOW or at > (tonumber(call('HGET', key, shop) or 0) or 0) then
        list[n + 1], list[n + 2], n = shop, text(at), n + 2
      end
    end
    put_fields(key, list, n)
  end
end

-- The latest instant of queueing of what came out of a queue, by its name and the priority.
local watermarks, some_watermarks
every_batch(function() watermarks, some_watermarks = {}, false end)

-- A message published twice does not tell which of the two came; a foreign one, not when it was published.
function delivered(e)
  local at = e[T.queued_at]
  if e.status ~= 'queued' or at > e[T.updated_at] then return end
  local queue = e[T.queue]
  local place = (queue ~= '' and queue or e[T.lane]) .. '|' .. text(e[T.priority])
  if at > (watermarks[place] or 0) then watermarks[place], some_watermarks = at, true end
end

local function flush_watermarks()
  if not some_watermarks then return end
  local places, n = {}, 0
  for place in pairs(watermarks) do
    n = n + 1
    places[n] = place
  end
  local known = call('HMGET', K.watermarks, unpack(places))
  for i = 1, n do
    local at = watermarks[places[i]]
    if at >= (tonumber(known[i] or 0) or 0) + C.watermark_ms then call('HSET', K.watermarks, places[i], text(at)) end
  end
end

function flush()
  local values, n = {}, 0
  for i = 1, #changed do
    local e = changed[i]
    if not e.removed then values[n + 1], values[n + 2], n = e.key, packed(e), n + 2 end
  end
  for first = 1, n, C.slice do call('MSET', unpack(values, first, math.min(first + C.slice - 1, n))) end
  ledger.flush()
  flush_sets()
  flush_batches()
  flush_kinds(kinds)
  flush_shops()
  flush_done()
  way.flush(call_sliced, put_fields)
  flush_watermarks()
  quota.flush()
end
end
