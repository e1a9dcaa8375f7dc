-- The breaker of a shop (services.domain.gates.breaker says the same in Python): after too many failures its tasks wait.
--
-- K.breakers: by shop "outcomes until since times kind", only where a failure is remembered. K.breakers_open: shops whose
-- breaker is open by the instant from which a probe may start.
local breaker = {}
every_batch(function() breaker.known, breaker.some, breaker.set = {}, nil, nil end)

function breaker.rule()
  if not breaker.set then
    local body = call('HGET', K.fleet_documents, 'breaker')
    local good, set = pcall(cjson.decode, body or '{}') -- what cannot be read counts as never written
    set = good and type(set) == 'table' and set or {}
    local function number(name, default)
      local value = set[name]
      return type(value) == 'number' and value >= 0 and value < C.class and value or default
    end
    breaker.set = {
      failures = number('failures', C.breaker_failures), of = number('of', C.breaker_of),
      cooldown = number('cooldown_s', C.breaker_cooldown), most = number('max_cooldown_s', C.breaker_most),
    }
  end
  return breaker.set
end

function breaker.load(shop)
  local b = breaker.known[shop]
  if b ~= nil then return b end
  if breaker.some == nil then breaker.some = call('EXISTS', K.breakers) == 1 end
  local words = breaker.some and call('HGET', K.breakers, shop)
  b = false
  if words then
    local outcomes, until_, since, times, kind = string.match(words, '^(%d*) (%d+) (%d+) (%d+) (%S*)$')
    if outcomes then
      b = { outcomes = outcomes, until_ = tonumber(until_), since = since, times = tonumber(times), kind = kind }
    end
  end
  breaker.known[shop] = b
  return b
end

-- shut: nobody may start; probing: one at a time may.
function breaker.mark(shop, s)
  local b = breaker.load(shop)
  local open = b and b.until_ > 0
  s.shut, s.probing = open and b.until_ > NOW, open and b.until_ <= NOW
end

function breaker.save(shop, b)
  breaker.known[shop] = b
  if b then
    breaker.some = true
    call('HSET', K.breakers, shop,
      b.outcomes .. ' ' .. text(b.until_) .. ' ' .. b.since .. ' ' .. text(b.times) .. ' ' .. b.kind)
    if b.until_ > 0 then call('ZADD', K.breakers_open, text(b.until_), shop) end
  else
    call('HDEL', K.breakers, shop)
    call('ZREM', K.breakers_open, shop)
  end
  local s = shop_of(shop)
  if s.reserved then breaker.mark(shop, s) end
end

function breaker.cooldown(times)
  local rule = breaker.rule()
  return math.min(rule.cooldown * 2 ^ math.min(times - 1, 20), rule.most) * 1000
end

function breaker.probed(shop, b, failed, kind)
  if not failed then return breaker.save(shop, false) end
  b.times, b.kind = b.times + 1, kind
  b.until_ = NOW + breaker.cooldown(b.times)
  breaker.save(shop, b)
end

function breaker.seen(shop, b, failed, kind)
  local rule = breaker.rule()
  b.outcomes = (failed and '1' or '0') .. sub(b.outcomes, 1, rule.of - 1)
  local _, failures = string.gsub(b.outcomes, '1', '1')
  if failures == 0 then return breaker.save(shop, false) end
  if failed then b.kind = kind end
  if failures >= rule.failures then
    b.until_, b.since, b.times = NOW + breaker.cooldown(1), text(NOW), 1
  end
  breaker.save(shop, b)
end

local FAILED = { retrying = true, dead = true, held = true }

-- An attempt has ended so.
function breaker.finished(e, to, kind)
  local failed = FAILED[to] and OF_A_SHOP[kind]
  if not failed and to ~= 'succeeded' then return end
  local b = breaker.load(e.shop)
  if not b and not failed then return end
  if breaker.rule().failures == 0 then return b and breaker.save(e.shop, false) end
  b = b or { outcomes = '', until_ = 0, since = '0', times = 0, kind = '' }
  if b.until_ == 0 then return breaker.seen(e.shop, b, failed, kind) end
  if e[T.started_at] >= b.until_ then breaker.probed(e.shop, b, failed, kind) end
end
