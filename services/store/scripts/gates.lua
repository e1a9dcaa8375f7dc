-- Gates: pauses, the slots of a shop, twins; and the lot, where tasks wait for a gate to open.
local paused -- scope -> true, loaded when first asked

local function is_paused(scope)
  if not paused then
    paused = {}
    for _, one in ipairs(call('HKEYS', K.pauses)) do paused[one] = true end
  end
  return paused[scope]
end

local function shop_paused(platform, shop)
  return is_paused('all') or is_paused('platform:' .. platform) or is_paused('shop:' .. shop)
end

-- Slots of a shop: how many it has, how many run, who holds a reservation, whether anything is parked.
local function shop_state(shop)
  local s = shops[shop]
  if s then return s end
  local slots = call('HGET', K.slots, shop)
  local field = shop .. '|running'
  s = {
    known = slots and true,
    slots = tonumber(slots) or 1,
    running = tonumber(call('HGET', K.by_shop, field) or 0) + (counters[K.by_shop][field] or 0),
    parked = call('SISMEMBER', K.lots, shop) == 1,
    reserved = {},
    reservations = 0,
  }
  for _, id in ipairs(call('ZRANGEBYSCORE', K.reserved .. shop, '(' .. NOW, '+inf')) do
    s.reserved[id] = true
    s.reservations = s.reservations + 1
  end
  shops[shop] = s
  return s
end

local function shop_of(e)
  return e.f[T.platform] .. ':' .. e.f[T.shop_id]
end

-- A shop that nobody has described gets a name tag when its first task is claimed.
local function register(e, shop, s)
  if s.known then return end
  s.known = true
  call('HSET', K.slots, shop, s.slots)
  call('HSETNX', K.shops, shop,
    pack_values({ platform = e.f[T.platform], shop_id = e.f[T.shop_id], unregistered = true }))
end

local function reserve(id, shop, s)
  call('ZADD', K.reserved .. shop, NOW + C.reserve_ms, id)
  call('PEXPIRE', K.reserved .. shop, 2 * C.reserve_ms)
  s.reserved[id] = true
  s.reservations = s.reservations + 1
end

local function unreserve(id, shop)
  local s = shop_state(shop)
  if not s.reserved[id] then return end
  call('ZREM', K.reserved .. shop, id)
  s.reserved[id] = nil
  s.reservations = s.reservations - 1
end

-- Whether another task of the same uniqueness key goes first. The record must be settled.
local function behind_twin(e)
  local uniq = e.f[T.uniq]
  return uniq ~= '' and call('ZRANK', K.unique .. uniq, e.id) ~= 0
end

local function closed_gate(e, shop, s)
  local f = e.f
  if shop_paused(f[T.platform], shop) or is_paused('type:' .. f[T.task_type]) then return 'paused' end
  local others = s.reservations - (s.reserved[e.id] and 1 or 0)
  if s.running + others >= s.slots then return 'shop_busy' end
  if behind_twin(e) then return 'twin' end
end

local function release(e, shop, s)
  e.mark = true
  transition(e, 'pending', '', '')
  settle(e)
  reserve(e.id, shop, s)
end

-- Release what may start of a shop's lot (OpenShop).
local function open_shop(shop, released)
  local s = shop_state(shop)
  if not s.parked then return end
  local first = 0
  while s.running + s.reservations < s.slots do
    local ids = call('ZRANGE', K.lot .. shop, first, first + C.look - 1)
    if #ids == 0 then return end
    for _, id in ipairs(ids) do
      local e = load(id)
      if not e then
        call('ZREM', K.lot .. shop, id)
      else
        if shop_paused(e.f[T.platform], shop) then return end
        if s.running + s.reservations >= s.slots then return end
        if is_paused('type:' .. e.f[T.task_type]) or behind_twin(e) then
          first = first + 1
        else
          release(e, shop, s)
          released[#released + 1] = e
        end
      end
    end
  end
end
