-- The session of a shop: where its login has expired or a captcha asks for a person, its tasks wait.
--
-- K.sessions: by shop what closed its gate, only where it is closed (services.domain.gates.session.ClosedSession). K.logins: by
-- shop {instant, who} of the last login.
local session = {}
every_batch(function() session.known, session.some = {}, nil end)

function session.closed(shop)
  if session.some == nil then session.some = call('EXISTS', K.sessions) == 1 end
  if not session.some then return false end
  if session.known[shop] == nil then session.known[shop] = call('HEXISTS', K.sessions, shop) == 1 end
  return session.known[shop]
end

function session.save(shop, found)
  session.known[shop], session.some = true, true
  call('HSET', K.sessions, shop, pack_values(found))
end

-- An attempt says that its shop asks for a person; what becomes of the task. One that began before somebody logged in
-- says nothing about that.
function session.ended(e, o)
  local login = call('HGET', K.logins, e.shop)
  local good, known = pcall(unpack_value, login or '')
  local at = good and type(known) == 'table' and known[1]
  if type(at) == 'number' and at > e[T.started_at] then return 'pending' end
  if not session.closed(e.shop) then
    local attempt = unpack_value(o[Finish.attempt])
    session.save(e.shop, {
      shop = e.shop, kind = o[Finish.error_kind], since = NOW, task_id = e.id, attempt = attempt[Attempt.number],
      worker = attempt[Attempt.worker],
    })
  end
  return 'blocked'
end

function session.close(o)
  local shop = o[CloseSession.shop]
  if session.closed(shop) then return 'stale' end
  session.save(shop, {
    shop = shop, kind = o[CloseSession.kind], since = NOW, by = o[CloseSession.by], note = o[CloseSession.note],
  })
  return 'ok'
end

function session.open(o)
  local shop = o[OpenSession.shop]
  local was = session.closed(shop)
  call('HSET', K.logins, shop, pack_values({ NOW, o[OpenSession.by] }))
  session.known[shop] = false
  if not was then return 'stale' end
  call('HDEL', K.sessions, shop)
  return 'ok'
end
