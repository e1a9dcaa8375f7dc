-- Applies a batch of operations (services.domain.change) in one atomic step.
--
-- KEYS[1] the meta key, ARGV[1] the operations (msgpack), ARGV[2] an epoch for an empty store, ARGV[3] when the fleet's
-- day begins and when the next one does, ARGV[4] the indexed fields of payloads as the caller knows them, ARGV[5] by task what the index keeps of it
-- (msgpack, '' for nothing), ARGV[6] the epoch that the caller knows, '' for none: with another one nothing is changed.
-- Names such as T.status, Claim.owner, K.task and C.history are replaced by positions, keys and numbers when the script
-- is loaded (script.py), so that Lua and Python cannot drift apart.
--
-- What stands here outside of functions runs once where Redis keeps the script as a function, at its first batch; what
-- belongs to one batch is set in what a file gives to ``every_batch``, called with the arguments.
local begins = {}
local function every_batch(begin)
  begins[#begins + 1] = begin
end

local pack_values, unpack_value = cmsgpack.pack, cmsgpack.unpack
local take, take_one = cmsgpack.unpack_limit, cmsgpack.unpack_one
local pack_lengths, unpack_lengths = struct.pack, struct.unpack
local char, format, sub = string.char, string.format, string.sub
local unpack = unpack

local NOW, NOW_TEXT
-- Redis writes a number argument with all its digits by the slow way of floating point: give it texts of whole numbers.
local texts
local function text(number)
  local known = texts[number]
  if not known then
    known = format('%d', number)
    texts[number] = known
  end
  return known
end

local ENDED = { succeeded = true, dead = true, cancelled = true }
local CLAIMABLE = { pending = true, queued = true, blocked = true, retrying = true } -- a delivery may start these
local EVENTS_KEPT = format('%d', C.events_kept)

every_batch(function()
  guard.spoilt, texts = {}, {}
  -- A write that is denied while memory is short (or on a replica) fails here, before anything has changed.
  call('SETRANGE', K.meta .. ':probe', 0, '')
  local clock = call('TIME')
  NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
  NOW_TEXT = text(NOW)
end)
