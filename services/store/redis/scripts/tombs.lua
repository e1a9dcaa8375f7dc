-- Tombstones: what is left of a removed record (services.domain.task.tombstone).
local no_stone -- ids of which it is known that they have none
every_batch(function() no_stone = {} end)

-- Mostly none of those that are to be created has one: one question for all of them.
local function look_for_stones(ids)
  if not ids[1] then return end
  local names = {}
  for place, id in ipairs(ids) do names[place] = K.tomb .. id end
  if call('EXISTS', unpack(names)) > 0 then return end
  for _, id in ipairs(ids) do no_stone[id] = true end
end

-- How it ended and, if it was republished, the task it lives on as; nil where nothing is known of it.
local function tombstone(id)
  if no_stone[id] then return end
  local stone = call('GET', K.tomb .. id)
  if not stone then return end
  local ended, later = string.match(stone, '^([^|]*)|[^|]*|([^|]*)')
  if ENDED[ended] then return ended, later end
  return 'unreadable', '' -- it ended, nobody knows how: nothing is made in its place
end

local function digest(e)
  return sub(redis.sha1hex(e.platform .. '\n' .. e.shop_id .. '\n' .. e.kind .. '\n' .. payload(e)), 1, C.digest)
end
