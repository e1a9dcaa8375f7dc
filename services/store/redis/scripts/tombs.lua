-- Tombstones: what is left of a removed record (services.domain.task.tombstone).
-- How it ended and, if it was republished, the task it lives on as; nil where nothing is known of it.
local function tombstone(id)
  local stone = call('GET', K.tomb .. id)
  if not stone then return end
  local ended, later = string.match(stone, '^([^|]*)|[^|]*|([^|]*)')
  if ENDED[ended] then return ended, later end
  return 'unreadable', '' -- it ended, nobody knows how: nothing is made in its place
end

local function digest(e)
  return sub(redis.sha1hex(e.platform .. '\n' .. e.shop_id .. '\n' .. e.kind .. '\n' .. payload(e)), 1, C.digest)
end
