"""All that closes gates, read from the SQLite file at once."""

from __future__ import annotations

from services.domain.gates import limit as limits
from services.domain.gates import passing
from services.domain.gates.closed import BEGUN, Closed
from services.domain.gates.limit import Limit, LimitNow
from services.domain.task.status import UNDER_WAY, Status
from services.store.sqlite.fleet import Fleet
from services.store.sqlite.gates.breakers import OpenBreakers
from services.store.sqlite.gates.limits import Limits, read_limit
from services.store.sqlite.gates.logins import Sessions
from services.store.sqlite.part import Part, words
from services.store.unreadable import all_sound

_OTHERS = tuple(map(str, sorted(UNDER_WAY)))
_OTHER = """coalesce((SELECT n FROM shop_tallies AS other WHERE other.shop_id = parked.shop_id
    AND other.platform = parked.platform AND other.status = '{}' AND other.triage = ''), 0)"""
#: by the index of shops with parked tasks, of which there are usually few, not along all shops
_PARKED = """SELECT platform || ':' || shop_id, n{others}
    FROM shop_tallies AS parked INDEXED BY shop_tallies_parked WHERE status = 'blocked' AND n > 0"""
#: statuses in which any task at all is: each costs a look at every shop with parked tasks
_ANY = "SELECT DISTINCT status FROM tallies WHERE status IN ({}) AND n > 0 ORDER BY 1"
_RUNNING = """SELECT platform || ':' || shop_id, count(*) FROM tasks INDEXED BY tasks_kind
    WHERE status = 'running' GROUP BY 1"""
_BEGUN = "SELECT held_uniq FROM tasks INDEXED BY tasks_updated WHERE status = ? ORDER BY updated_at DESC LIMIT ?"


class Quota(Part):
    """The calls are those of ``services.ports.Store``."""

    def put_limit(self, limit: Limit) -> None:
        """Set or take away."""
        row = (limit.scope, limit.concurrency, limit.per_minute)
        if limit.limits:
            sql = "INSERT OR REPLACE INTO limits (scope, concurrency, per_minute) VALUES (?, ?, ?)"
            self._write(lambda conn: conn.execute(sql, row))
        else:
            self._write(lambda conn: conn.execute("DELETE FROM limits WHERE scope = ?", (limit.scope,)))

    def limits(self) -> list[LimitNow]:
        """All limits with their numbers."""
        now = self.now_ms()
        with self._read() as conn:
            rows = conn.execute("SELECT scope, concurrency, per_minute FROM limits ORDER BY scope").fetchall()
            counted = Limits(conn, now, lambda: None)
            waits = dict(conn.execute("SELECT scope, count(*) FROM limit_waits GROUP BY scope").fetchall())
            promised = dict(
                conn.execute(
                    "SELECT scope, count(*) FROM limit_reservations WHERE until > ? GROUP BY scope", (now,)
                ).fetchall()
            )
            found = []
            rows = all_sound(read_limit, rows, "limit")
            for scope, slots, starts in rows:
                seconds = counted.starts_of(scope) if starts else {}
                found.append(
                    LimitNow(
                        limit=Limit(scope=scope, concurrency=slots, per_minute=starts),
                        running=counted.running_of(scope),
                        promised=promised.get(scope, 0),
                        started=sum(seconds.values()),
                        resets_at=(min(seconds) + limits.SECONDS) * 1000 if seconds else 0,
                        waiting=waits.get(scope, 0),
                    )
                )
        return found

    def recount_limits(self) -> None:
        """Nothing to do: running tasks are counted when somebody asks."""

    def waiting_limits(self) -> list[str]:
        """Scopes at whose limit somebody waits."""
        with self._read() as conn:
            return [words(scope) for (scope,) in conn.execute("SELECT DISTINCT scope FROM limit_waits ORDER BY scope")]

    def promised(self) -> int:
        """Released tasks that have not started yet."""
        with self._read() as conn:
            sql = "SELECT count(*) FROM reservations WHERE until > ?"
            return int(conn.execute(sql, (self.now_ms(),)).fetchone()[0])


class ClosedGates(Fleet, OpenBreakers, Quota, Sessions):
    """The call of ``services.ports.Store``."""

    def closed(self, begun: int = 0) -> Closed:
        """All that closes gates."""
        with self._read() as conn:
            running = conn.execute(_RUNNING).fetchall()
            others = [name for (name,) in conn.execute(_ANY.format(", ".join("?" * len(_OTHERS))), _OTHERS)]
            parked = conn.execute(
                _PARKED.format(others="".join(f", {_OTHER.format(name)}" for name in others))
            ).fetchall()
            held = [row for status in BEGUN for row in conn.execute(_BEGUN, (status, begun))] if begun else []
        run, names = str(Status.RUNNING), (str(Status.BLOCKED), *others)
        shops = {words(shop): {run: n} for shop, n in running}
        for shop, *row in parked:
            numbers = shops.setdefault(words(shop), {})
            for name, n in zip(names, row, strict=True):
                if type(n) is int and n:
                    numbers[name] = n
        return Closed(
            pauses=tuple(self.switches()),
            sessions=tuple(self.sessions()),
            breakers=tuple(self.breakers()),
            limits=tuple(self.limits()),
            workers=tuple(self.workers()),
            shops=shops,
            passes=passing.DOCUMENT.readable(self.documents(passing.KIND)),
            begun=frozenset(words(uniq) for (uniq,) in held if uniq),
        )
