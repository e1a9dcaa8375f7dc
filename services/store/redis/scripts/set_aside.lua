-- Takes one entry that cannot be read out of its key, if it still is what was found. KEYS the key, where it goes; ARGV its
-- shape, field or member, what was found there, what takes its place ('' for nothing). Answers whether it was moved.
local shape, member, found = ARGV[1], ARGV[2], ARGV[3]
local key, aside = KEYS[1], KEYS[2]
if shape == 'whole' or shape == 'string' then
  if redis.call('EXISTS', key) == 0 then return 0 end
  if shape == 'string' and redis.call('GET', key) ~= found then return 0 end
  redis.call('RENAME', key, aside)
  return 1
end
if redis.call('EXISTS', aside) == 1 and redis.call('TYPE', aside).ok ~= 'hash' then redis.call('RENAME', aside, aside .. ':whole') end
if shape == 'hash' then
  if redis.call('HGET', key, member) ~= found then return 0 end
  redis.call('HSET', aside, member, found)
  if ARGV[4] == '' then redis.call('HDEL', key, member) else redis.call('HSET', key, member, ARGV[4]) end
elseif shape == 'copy' then
  if redis.call('HGET', key, member) ~= found then return 0 end
  redis.call('HSET', aside, member, found)
elseif shape == 'zset' then
  local score = redis.call('ZSCORE', key, member)
  if not score then return 0 end
  redis.call('HSET', aside, member, score)
  redis.call('ZREM', key, member)
elseif shape == 'set' then
  if redis.call('SREM', key, member) == 0 then return 0 end
  redis.call('HSET', aside, member, '')
elseif shape == 'list' then
  if redis.call('LREM', key, 0, found) == 0 then return 0 end
  redis.call('HSET', aside, redis.sha1hex(found), found)
end
return 1
