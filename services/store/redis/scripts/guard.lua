-- Every command of a script. A key that holds another kind of thing than it should must not end it halfway.
--
-- What is derived or only noted is set aside under K.aside, and the command is repeated on an empty place. What a person
-- wished, and what keeps work from being done twice, stays where it is for a person to look at (KEPT): until then it
-- answers as if it were closed, taken, or unknown, and whoever would write it is refused. A script that only reads (guard.reads)
-- sets nothing aside.
-- guard.spoilt: keys that are kept though they cannot be read.
local call
do
  local KEPT = {
    K.meta, K.pauses, K.sessions, K.limits, K.homes, K.shops, K.documents, K.schedules, K.schedule_versions, K.unique,
    K.tomb, K.needs, K.task, K.audit, K.work,
  }
  local EXACT = { [K.meta] = true, [K.pauses] = true, [K.sessions] = true, [K.limits] = true, [K.homes] = true,
    [K.shops] = true, [K.schedules] = true, [K.schedule_versions] = true, [K.audit] = true }
  local NOTHING = { HKEYS = {}, HGETALL = {}, HMGET = {}, ZRANGE = {}, ZRANGEBYSCORE = {}, ZREVRANGEBYSCORE = {}, SMEMBERS = {},
    HGET = false, GET = '', HEXISTS = 1, SISMEMBER = 1, ZCARD = 0, ZREM = 0, SREM = 0, SADD = 0, HSETNX = 0, HDEL = 0, LLEN = 0, LRANGE = {} }

  local function is_kept(key)
    for _, name in ipairs(KEPT) do
      if key == name or (not EXACT[name] and string.sub(key, 1, #name) == name) then return true end
    end
    return false
  end

  function guard.refuse(place)
    error({ err = 'FLEETDECK_BROKEN ' .. place })
  end

  function guard.set_aside(key)
    redis.call('RENAME', key, K.aside .. key)
    guard.spoilt[key] = nil
  end

  local function spoiled(reply, ...)
    local command, key, field = ...
    if string.find(reply.err, 'WRONGTYPE', 1, true) and key then
      if command == 'ZINTERCARD' then return 0 end -- its first word is no key
      if guard.reads or is_kept(key) then
        local nothing = NOTHING[command]
        if nothing == nil then guard.refuse(key) end
        guard.spoilt[key] = true
        return nothing
      end
      guard.set_aside(key)
      return call(...)
    end
    if command == 'HINCRBY' then -- a counter that is no number
      redis.call('HSET', K.aside .. key, field, redis.call('HGET', key, field))
      redis.call('HDEL', key, field)
      return call(...)
    end
    error(reply)
  end

  local ask = redis.pcall

  call = function(...)
    local reply = ask(...)
    if type(reply) == 'table' and reply.err then return spoiled(reply, ...) end
    return reply
  end
end
