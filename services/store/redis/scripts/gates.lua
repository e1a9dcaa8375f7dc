-- Gates: switches (pauses, quiet hours), the slots of a shop, twins; and the lot, where tasks wait for a gate to open.
local SWITCHES = { 'paused', 'quiet_hours' }
local shut -- gate -> scope -> true, loaded when first asked
local some_shut
every_batch(function() shut, some_shut = nil, nil end)

local SCOPES = { '^all$', '^platform:[%w_-]+$', '^shop:[%w_-]+:[%w_-]+$', '^type:[%w_-]+$' }

-- The scope of a document of quiet hours, and whether one of its windows is open; false where it cannot be read.
local function quiet_now(body)
  local good, known = pcall(cjson.decode, body)
  if not good or type(known) ~= 'table' or type(known.scope) ~= 'string' or type(known.windows) ~= 'table' then return false end
  local open, fits = false, false
  for _, pattern in ipairs(SCOPES) do fits = fits or string.match(known.scope, pattern) end
  for place, window in pairs(known.windows) do
    if type(place) ~= 'number' or type(window) ~= 'table' or #window ~= 2 then return false end
    local from, to = window[1], window[2]
    if type(from) ~= 'number' or type(to) ~= 'number' then return false end
    open = open or (from <= NOW and NOW < to)
  end
  return fits and known.scope, open
end

-- What nobody can read counts as closed.
local function load_switches()
  shut = { paused = {}, quiet_hours = {} }
  for _, scope in ipairs(call('HKEYS', K.pauses)) do shut.paused[scope] = true end
  shut.paused.all = shut.paused.all or guard.spoilt[K.pauses] or guard.spoilt[K.limits]
  local windows = K.documents .. 'quiet_windows'
  local stored = call('HGETALL', windows)
  for place = 2, #stored, 2 do
    local scope, open = quiet_now(stored[place])
    if not scope or open then shut.quiet_hours[scope or 'all'] = true end
  end
  shut.quiet_hours.all = shut.quiet_hours.all or guard.spoilt[windows]
  some_shut = next(shut.paused) ~= nil or next(shut.quiet_hours) ~= nil
end

-- The gate of the first switch that is closed for a shop (kind: or for a type), nil for none.
local function switched(platform, shop, kind)
  if not shut then load_switches() end
  if not some_shut then return nil end
  for _, gate in ipairs(SWITCHES) do
    local by = shut[gate]
    if by.all or by['platform:' .. platform] or by['shop:' .. shop] or (kind and by['type:' .. kind]) then return gate end
  end
end

-- Asked after switched.
local function type_shut(kind)
  if not some_shut then return false end
  for _, gate in ipairs(SWITCHES) do
    if shut[gate]['type:' .. kind] then return true end
  end
  return false
end

-- Whether none of the tasks of a shop may start, however many slots are free.
local function shop_shut(platform, shop)
  return switched(platform, shop) or session.closed(shop)
end

-- Mostly nothing is parked and nothing is reserved: two questions for the whole batch instead of two for every shop.
local reserving
every_batch(function() reserving = nil end)

local function is_parked(shop)
  if lots == nil then lots = call('EXISTS', K.lots) == 1 end
  return lots and call('SISMEMBER', K.lots, shop) == 1
end

local function find_reservations(shop, s)
  s.reserved = {}
  if reserving == nil then
    call('ZREMRANGEBYSCORE', K.reserving, '-inf', text(NOW))
    reserving = call('EXISTS', K.reserving) == 1
  end
  if not reserving or not call('ZSCORE', K.reserving, shop) then return end
  for _, id in ipairs(call('ZRANGEBYSCORE', K.reserved .. shop, '(' .. text(NOW), '+inf')) do
    s.reserved[id] = true
    s.reservations = s.reservations + 1
  end
end

-- A shop with its reservations.
local function shop_state(shop)
  local s = shop_of(shop)
  if not s.reserved then
    find_reservations(shop, s)
    breaker.mark(shop, s)
  end
  return s
end

-- Slots that are neither taken nor promised; behind an open breaker there is none, or one to try. anyway: for a task that
-- passes the breaker.
local function free_slots(s, anyway)
  if s.shut and not anyway then return 0 end
  local slots = s.probing and not anyway and 1 or s.n[1]
  return (slots > 0 and slots or 1) - s.n[COUNTED.running] - s.reservations
end

-- The gate at which a task that may be published now waits from the start, if at any.
local function first_gate(e)
  if session.closed(e.shop) then return 'session' end
  return way.crowded(e.shop, e[T.priority], shop_of, shop_state) and 'shop_busy'
end

-- A shop that nobody has described gets a name tag when its first task is recorded.
local function register(e, shop, s)
  if s.n[1] > 0 then return end
  s.n[1], s.dirty = 1, true
  call('HSETNX', K.shops, shop,
    pack_values({ platform = e.platform, shop_id = e.shop_id, unregistered = true }))
end

local function reserve(e, shop, s)
  local until_ = text(NOW + C.reserve_ms)
  call('ZADD', K.reserved .. shop, until_, e.id)
  call('PEXPIRE', K.reserved .. shop, text(C.reserve_ms))
  call('ZADD', K.reserving, until_, shop)
  reserving = true
  s.reserved[e.id] = true
  s.reservations = s.reservations + 1
  if quota.some then quota.reserve(e, NOW + C.reserve_ms) end
end

-- Whether there was a reservation to give up.
local function unreserve(e)
  local s = shop_state(e.shop)
  if quota.some then quota.unreserve(e) end
  if not s.reserved[e.id] then return false end
  call('ZREM', K.reserved .. e.shop, e.id)
  s.reserved[e.id] = nil
  s.reservations = s.reservations - 1
  if s.reservations == 0 then call('ZREM', K.reserving, e.shop) end
  return true
end

-- A slot that is promised to a task stays so while a worker that can run it fetches it.
local function hand_over(e)
  if not shop_state(e.shop).reserved[e.id] then return end
  call('ZADD', K.reserved .. e.shop, text(NOW + C.handover_ms), e.id)
  if quota.some then quota.reserve(e, NOW + C.handover_ms) end
end

-- Whether another task of the same uniqueness key goes first.
local function behind_twin(e)
  local uniq = e[T.uniq]
  if not ledger.guards(uniq) then return false end
  while true do
    local first = call('ZRANGE', K.unique .. uniq, 0, 1)
    e.sole = first[1] == e.id and not first[2]
    if guard.spoilt[K.unique .. uniq] then return true end
    if not first[1] or first[1] == e.id then return false end
    if load(first[1]) then return true end
    call('ZREM', K.unique .. uniq, first[1]) -- its record is gone: it holds nothing
  end
end

-- The first closed gate of a task; for a limit, also that.
local function closed_gate(e, shop, s, released)
  if e[T.gate] == 'dependency' then return 'dependency' end
  local switch = switched(e.platform, shop, e.kind)
  local anyway = (switch or s.shut or s.probing) and pass.of(e)
  if switch and not anyway then return switch end
  if session.closed(shop) then return 'session' end
  local own = s.reserved[e.id] and 1 or 0
  if not anyway and (s.shut or (s.probing and free_slots(s) + own <= 0)) then return 'breaker' end
  if free_slots(s, anyway) + own <= 0 then return 'shop_busy' end
  if quota.some then
    local limit = quota.closed(e, released)
    if free_slots(s, anyway) + own <= 0 then return 'shop_busy' end -- somebody of the same shop went first
    if limit then return 'quota', limit end
  end
  if behind_twin(e) then return 'twin' end
end

-- The gate of a task that needs the profile of its shop, asked for by a node that is not the shop's home.
function home.gate(shop, node)
  local known = call('HGET', K.homes, shop)
  if guard.spoilt[K.homes] then return 'paused' end
  local lives = known and string.match(known, '^%d+ ([%w._-]+)$')
  if known and not lives then return 'paused' end -- it is at home somewhere, and nobody knows where
  if lives and lives ~= node then return C.home_at .. lives end
end

local function release(e, shop, s)
  e.mark = true
  transition(e, 'pending', '', '')
  settle(e)
  reserve(e, shop, s)
end

-- Whether a task stands in the lot of its shop, and not where a worker fetches it or another task lets it go.
function pass.is_parked(e)
  return e[T.status] == 'blocked' and e[T.gate] ~= 'dependency' and not home.place(e[T.lane], e.kind, e[T.gate])
end

-- Let go of a shop's lot whoever has a pass and waits for nothing else; what no attempt can use any more is forgotten. So
-- many at most.
function pass.open(shop, released, most)
  for _, id in ipairs(pass.of_shop(shop)) do
    if #released >= (most or math.huge) then return end
    local e = load(id)
    if not e or not pass.holds(e) then
      pass.forget(id)
    elseif pass.is_parked(e) then
      local s = shop_state(shop)
      local gate, limit = closed_gate(e, shop, s, released)
      if not gate and e[T.status] == 'blocked' then
        release(e, shop, s)
        released[#released + 1] = e
      else
        e.sole = false
        if limit then quota.wait(limit, shop, e.kind, rank(e)) end
      end
    end
  end
end

-- The first with a pass of one type in a shop's lot that may start, but for limits; somebody is logged in there.
function pass.first(shop, kind)
  if free_slots(shop_state(shop), true) <= 0 then return end
  for _, id in ipairs(pass.of_shop(shop)) do
    local e = load(id)
    if e and e.kind == kind and pass.holds(e) and pass.is_parked(e) then
      if not behind_twin(e) then return e, tonumber(rank(e)) end
      e.sole = false
    end
  end
end

local function by_rank(a, b)
  if a.rank ~= b.rank then return a.rank < b.rank end
  return a.id < b.id
end

-- The first tasks of every type of a lot that no switch closes, in order, and the rank up to which none is missing. shut:
-- types whose limit is closed.
local function heads_of_lot(shop, look, shut)
  local found, edge = {}, math.huge
  for _, kind in ipairs(call('SMEMBERS', K.lot_types .. shop)) do
    local list = (shut[kind] or type_shut(kind)) and {} or call('ZRANGE', K.lot .. shop .. '|' .. kind, 0, look - 1, 'WITHSCORES')
    for i = 1, #list, 2 do found[#found + 1] = { id = list[i], rank = tonumber(list[i + 1]), kind = kind } end
    if #list == 2 * look then edge = math.min(edge, tonumber(list[#list])) end
  end
  table.sort(found, by_rank)
  return found, edge
end

-- Release the heads that may start; true when there is nothing more to do.
local function release_heads(shop, s, heads, edge, seen, shut, most, released, back)
  for _, head in ipairs(heads) do
    if free_slots(s) <= 0 or #released >= (most or math.huge) then return true end
    if head.rank > edge then return false end
    if not seen[head.id] and not shut[head.kind] then
      seen[head.id] = true
      local e = load(head.id)
      if not e then
        call('ZREM', K.lot .. shop .. '|' .. head.kind, head.id)
      elseif way.later(e, s, most, back) then
        return true -- and so do those behind it
      elseif not behind_twin(e) then
        local limit = quota.some and quota.closed(e, released)
        if e[T.status] ~= 'blocked' then -- it was the one that went first at its limit
        elseif limit then
          shut[head.kind], e.sole = true, false
          quota.wait(limit, shop, head.kind, head.rank)
        elseif free_slots(s) <= 0 or #released >= (most or math.huge) then -- who goes first there has taken the room
          e.sole = false
          return true
        else
          release(e, shop, s)
          released[#released + 1] = e
        end
      end
    end
  end
  return edge == math.huge
end

-- Release what may start of a shop's lot (OpenShop). Only tasks that wait for a twin are passed over, so few are looked
-- at; behind very many of them a few are drawn by lot each time, so that no one waits for ever. most: of who sweeps the
-- lots; where there are so many released, it is enough.
local function open_shop(shop, released, most, back)
  if not is_parked(shop) then return end
  local s = shop_state(shop)
  switched(string.match(shop, '^[^:]*'), shop)
  if some_shut or s.shut or s.probing then pass.open(shop, released, most) end
  if free_slots(s) <= 0 or shop_shut(string.match(shop, '^[^:]*'), shop) then return end
  local seen, shut, look = {}, {}, C.look
  repeat
    local before = #released
    local heads, edge = heads_of_lot(shop, look, shut)
    if release_heads(shop, s, heads, edge, seen, shut, most, released, back) then return end
    local far = look == C.look_far
    look = C.look_far
  until far and #released == before
  for _, kind in ipairs(call('SMEMBERS', K.lot_types .. shop)) do
    local drawn = {}
    for _, id in ipairs((shut[kind] or type_shut(kind)) and {} or call('ZRANDMEMBER', K.lot .. shop .. '|' .. kind, C.look)) do
      drawn[#drawn + 1] = { id = id, rank = 0, kind = kind }
    end
    if release_heads(shop, s, drawn, math.huge, seen, shut, most, released, back) and free_slots(s) <= 0 then return end
  end
end
