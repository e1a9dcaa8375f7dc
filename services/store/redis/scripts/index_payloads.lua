-- What the index of payloads keeps of some records, and how far it is. ARGV[1] a list (msgpack) of {key of the record, its
-- id, its creation, terms}; ARGV[2] how far it was, ARGV[3] is, behind them the fields.
for _, item in ipairs(cmsgpack.unpack(ARGV[1])) do
  if call('EXISTS', item[1]) == 1 then
    for _, term in ipairs(item[4]) do call('ZADD', K.payload .. term, item[3], item[2]) end
  end
end
for place = 4, #ARGV do
  if call('HGET', K.indexed, ARGV[place]) == ARGV[2] then call('HSET', K.indexed, ARGV[place], ARGV[3]) end
end
return 'OK'
