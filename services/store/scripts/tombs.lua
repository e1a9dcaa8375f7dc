-- Tombstones: what is left of a removed record (services.domain.tombstone).
-- How it ended and, if it was republished, the task it lives on as; nil where nothing is known of it.
local function tombstone(id)
  local stone = call('GET', K.tomb .. id)
  if stone then return string.match(stone, '^([^|]*)|[^|]*|([^|]*)') end
end

local function digest(e)
  return sub(redis.sha1hex(e.platform .. '\n' .. e.shop_id .. '\n' .. e.kind .. '\n' .. payload(e)), 1, C.digest)
end
