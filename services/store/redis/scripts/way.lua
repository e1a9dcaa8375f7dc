-- Tasks that a message is under way for (pending, queued), by shop and priority: who of a shop is parked waits for those
-- that are at least as urgent, and a new one does not need a message as long as they take all its slots.
--
-- How many there are in all the counters of the shop tell. K.under_way: by shop, for each priority but the usual one four
-- bytes; those are the rest, so that most tasks cost nothing here.
local way = { status = { pending = true, queued = true }, form = '>I4I4I4I4I4I4I4I4I4I4' }
way.nobody = char(0):rep(4 * C.max_priority)

-- Asked for all shops of the batch at once.
function way.of(s)
  if s.way then return s.way end
  local names, n = {}, 0
  for shop, other in pairs(way.shops) do
    if other and not other.way then
      n = n + 1
      names[n] = shop
    end
  end
  local found = call('HMGET', K.under_way, unpack(names))
  for i = 1, n do 
    local packed = found[i] or way.nobody
    way.shops[names[i]].way = { unpack_lengths(way.form, #packed == #way.nobody and packed or way.nobody) }
  end
  return s.way
end

function way.count(s, priority, change)
  if priority == C.usual then return end
  local counts, place = way.of(s), math.min(math.max(priority, 1), C.max_priority)
  counts[place], s.way_dirty = math.max(0, counts[place] + change), true
end

-- A record goes from one status (false: it is new) and priority to others.
function way.follow(shop_of, shop, from, before, to, priority)
  local was, is = way.status[from], way.status[to]
  if was == is and (not is or before == priority) then return end
  local s = shop_of(shop)
  if was then way.count(s, before, -1) end
  if is then way.count(s, priority, 1) end
end

function way.all(s)
  return s.n[COUNTED.pending] + s.n[COUNTED.queued]
end

-- How many of those are at least so urgent.
function way.urgent(s, priority)
  local all, n = way.all(s), 0
  if all == 0 then return 0 end
  local counts, usual = way.of(s), all
  for place = 1, C.max_priority do
    usual = usual - counts[place]
    if place >= priority then n = n + counts[place] end
  end
  if priority <= C.usual and usual > 0 then n = n + usual end
  return math.min(n, all)
end

-- Slots that are left behind what runs and so many that are on their way to a worker; below 0: what is on its way ahead
-- of time. Who holds a reservation is on its way, so the two are not added.
function way.left(s, under_way)
  return math.max(s.n[1], 1) - s.n[COUNTED.running] - math.max(s.reservations, under_way)
end

-- Whether a task of a shop that may be published now waits in the lot from the start: enough others of its shop go first,
-- and its message would be delivered only to be parked. As long as nobody is parked, some go ahead of time, so that short
-- tasks follow each other without the detour.
function way.crowded(shop, priority, shop_of, shop_state)
  local s = shop_of(shop)
  local ahead = s.n[COUNTED.blocked] > 0 and 0 or C.look_ahead
  local slots = math.max(s.n[1], 1)
  -- most often it need not be asked who holds a promise: there are no more promises than slots
  if slots - s.n[COUNTED.running] - math.max(way.all(s), slots) > -ahead then return false end
  shop_state(shop)
  return way.left(s, way.all(s)) <= -ahead and way.left(s, way.urgent(s, priority)) <= -ahead
end

-- Whether free slots of a shop will be taken by others that are on their way and at least as urgent as this parked one.
-- Who sweeps the lots does not believe so for ever: a message may be lost, or in a lane that nobody serves. back: a task
-- that was just given back; it waits behind the lot.
function way.later(e, s, sweeps, back)
  local left = way.left(s, way.urgent(s, e[T.priority]))
  if back and way.status[back[T.status]] and back[T.priority] >= e[T.priority] then left = left + 1 end
  return left <= 0 and not (sweeps and e[T.updated_at] <= NOW - C.believed_ms)
end

function way.flush(call_sliced, put_fields)
  local list, n, gone, m = {}, 0, {}, 0
  for shop, s in pairs(way.shops) do
    if s.way_dirty and way.all(s) > 0 and math.max(unpack(s.way, 1, C.max_priority)) > 0 then
      list[n + 1], list[n + 2], n = shop, pack_lengths(way.form, unpack(s.way, 1, C.max_priority)), n + 2
    elseif s.way_dirty then
      m = m + 1
      gone[m] = shop
    end
  end
  put_fields(K.under_way, list, n)
  call_sliced('HDEL', K.under_way, gone, m)
end
