"""Shops that are held back: by their login, by their breaker, or because they finish nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.domain import classify
from services.domain.breaker import Breaker
from services.domain.insight.shop import STUCK
from services.domain.session import ClosedSession
from services.domain.status import Status
from services.monitor.attention.look import NAMED, Look
from services.monitor.overview import Attention

#: each shop that waits for a person is a matter of its own, until the list would be nothing else
NAMED_LOGINS = 8


def logins(look: Look) -> Iterable[Attention]:
    """Shops that wait for a login: each by its name, or many in one; one matter each, however many tasks wait."""
    found = look.snapshot.sessions
    if len(found) > NAMED_LOGINS:
        yield _many("session", found, look)
        return
    for one in found:
        yield Attention(
            key=f"session:{one.shop}",
            severity="blocked",
            code="attention.session_captcha" if one.kind == classify.CAPTCHA else "attention.session_login",
            params={
                "shop": look.name(one.shop),
                "waiting": look.snapshot.counts.shops.get(one.shop, {}).get(Status.BLOCKED, 0),
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


def breakers(look: Look) -> Iterable[Attention]:
    """Shops whose tasks wait because too many attempts failed: each by its name, or many in one."""
    found = look.store.breakers()
    if len(found) > NAMED:
        yield _many("breaker", found, look)
        return
    for one in found:
        yield Attention(
            key=f"breaker:{one.shop}",
            severity="blocked",
            code="attention.breaker",
            params={
                "shop": look.name(one.shop),
                "failed": one.failed,
                "of": len(one.outcomes),
                "left_ms": max(0, one.until - look.now_ms),
            },
            since_ms=one.since,
            verbs=(("open_shop", one.shop), ("open_tasks", f"shop:{one.shop} gate:breaker")),
        )


def stuck(look: Look) -> Iterable[Attention]:
    """Shops that have work and finish nothing, in one."""
    if found := [shop for shop in look.shops if shop.state == STUCK]:
        keys = ",".join(shop.key for shop in found[:20])
        yield Attention(
            key="stuck",
            severity="stuck",
            code="attention.shops_stuck" if len(found) <= NAMED else "attention.shops_stuck_more",
            params={
                "shops": len(found),
                "names": "\n".join(shop.name for shop in found[:NAMED]),
                "more": max(0, len(found) - NAMED),
            },
            since_ms=min(shop.since_ms for shop in found),
            verbs=(("open_tasks", f"shop:{keys} status:active"),),
        )


def _many(gate: str, found: Sequence[ClosedSession] | Sequence[Breaker], look: Look) -> Attention:
    """One matter for many shops that the same gate keeps waiting."""
    return Attention(
        key=f"{gate}s",
        severity="blocked",
        code=f"attention.{gate}s",
        params={
            "shops": len(found),
            "names": look.named([one.shop for one in found]),
            "more": len(found) - NAMED,
        },
        since_ms=min(one.since for one in found),
        verbs=(("open_shops", gate), ("open_tasks", f"gate:{gate}")),
    )
