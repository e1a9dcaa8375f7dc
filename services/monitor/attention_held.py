"""What needs a person about shops that are held back: by their session gate, or by their breaker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from services.domain import classify
from services.domain.breaker import Breaker
from services.domain.session import ClosedSession
from services.domain.status import Status
from services.monitor.live import Snapshot
from services.monitor.overview import Attention

Name = Callable[[str], str]  #: of ``platform:shop_id``
NAMED = 3
#: each shop that waits for a person is a matter of its own, until the list would be nothing else
NAMED_LOGINS = 8


def _many(gate: str, found: Sequence[ClosedSession] | Sequence[Breaker], name: Name) -> Attention:
    """One matter for many shops that the same gate keeps waiting."""
    return Attention(
        key=f"{gate}s",
        severity="blocked",
        code=f"attention.{gate}s",
        params={
            "shops": len(found),
            "names": "\n".join(name(one.shop) for one in found[:NAMED]),
            "more": len(found) - NAMED,
        },
        since_ms=min(one.since for one in found),
        verbs=(("open_shops", gate), ("open_tasks", f"gate:{gate}")),
    )


def sessions(snapshot: Snapshot, name: Name) -> Iterable[Attention]:
    """Shops that wait for a login: each by its name, or many in one; one matter each, however many tasks wait."""
    found = snapshot.sessions
    if len(found) > NAMED_LOGINS:
        yield _many("session", found, name)
        return
    for one in found:
        yield Attention(
            key=f"session:{one.shop}",
            severity="blocked",
            code="attention.session_captcha" if one.kind == classify.CAPTCHA else "attention.session_login",
            params={
                "shop": name(one.shop),
                "waiting": snapshot.counts.shops.get(one.shop, {}).get(Status.BLOCKED, 0),
                "task": one.task_id,
                "who": one.by,
                "reason": one.note,
            },
            since_ms=one.since,
            verbs=(
                ("login_shop", one.shop),
                ("open_tasks", f"shop:{one.shop} status:blocked"),
                ("open_session", one.shop),
            ),
        )


def breakers(snapshot: Snapshot, found: Sequence[Breaker], name: Name) -> Iterable[Attention]:
    """Shops whose tasks wait because too many attempts failed: each by its name, or many in one."""
    if len(found) > NAMED:
        yield _many("breaker", found, name)
        return
    for one in found:
        yield Attention(
            key=f"breaker:{one.shop}",
            severity="blocked",
            code="attention.breaker",
            params={
                "shop": name(one.shop),
                "failed": one.failed,
                "of": len(one.outcomes),
                "left_ms": max(0, one.until - snapshot.at_ms),
            },
            since_ms=one.since,
            verbs=(("open_shop", one.shop), ("open_tasks", f"shop:{one.shop} gate:breaker")),
        )
