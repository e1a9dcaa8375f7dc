"""Limits of platforms and types as the store's callers see them, on SQLite."""

from __future__ import annotations

from services.domain.gates import limit as limits
from services.domain.gates.limit import Limit, LimitNow
from services.store.sqlite.gates.limits import Limits, read_limit
from services.store.sqlite.part import Part, words
from services.store.unreadable import all_sound


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
