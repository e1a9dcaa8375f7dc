"""Shops that are held back: by their login, by their breaker, or because they finish nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from services.domain.gates import session
from services.domain.gates.breaker import Breaker
from services.domain.gates.session import ClosedSession
from services.domain.insight import cause
from services.domain.insight.shop import STUCK
from services.domain.task import classify
from services.domain.task.search.query import equals
from services.domain.text.message import Message
from services.monitor.attention.look import NAMED, Look
from services.monitor.attention.words import N_, Words
from services.monitor.overview import Attention

WORDS = {
    "attention.session_login": Words(N_("{shop} must be logged in again"), N_("{waiting_n} waiting for it")),
    "attention.session_captcha": Words(N_("{shop} shows a captcha"), N_("{waiting_n} waiting for it")),
    "attention.sessions": Words(N_("{shops_n} must be logged in again"), N_("{names}; {waiting_n} waiting for them")),
    "attention.sessions_more": Words(
        N_("{shops_n} must be logged in again"), N_("{names} and {more} more; {waiting_n} waiting for them")
    ),
    "attention.breaker": Words(
        N_("{shop} fails too often"), N_("{failed} of the last {of} attempts failed; next try in {left}")
    ),
    "attention.breaker_now": Words(
        N_("{shop} fails too often"), N_("{failed} of the last {of} attempts failed; one task may try now")
    ),
    "attention.breakers": Words(
        N_("{shops_n} fail too often"), N_("{names} and {more} more; the first tries again in {left}")
    ),
    "attention.breakers_now": Words(
        N_("{shops_n} fail too often"), N_("{names} and {more} more; one task of each may try now")
    ),
    "attention.shops_stuck": Words(N_("{shops_n} finished nothing for 30 min"), "{names}"),
    "attention.shops_stuck_more": Words(N_("{shops_n} finished nothing for 30 min"), N_("{names} and {more} more")),
}


def logins(look: Look) -> Iterable[Attention]:
    """Shops that wait for a login, in one, as old as the oldest; however many tasks wait."""
    found = sorted(look.snapshot.sessions, key=lambda one: one.since)
    if len(found) == 1:
        yield _login(found[0], look)
    elif found:
        more = max(0, len(found) - NAMED)
        waiting = look.at_gate(session.GATE, equals("shop", *(one.shop for one in found)))
        yield Attention(
            key="sessions",
            covers="session:",
            severity="login",
            code="attention.sessions_more" if more else "attention.sessions",
            params={
                "shops": len(found),
                "names": look.named([one.shop for one in found]),
                "more": more,
                "waiting": waiting.number,
            },
            facts=look.counted(waiting),
            since_ms=found[0].since,
            verbs=(("login_shops", "session"), ("open_tasks", f"gate:{session.GATE}")),
        )


def _login(one: ClosedSession, look: Look) -> Attention:
    waiting = look.at_gate(session.GATE, equals("shop", one.shop))
    return Attention(
        key=f"session:{one.shop}",
        severity="login",
        code="attention.session_captcha" if one.kind == classify.CAPTCHA else "attention.session_login",
        params={
            "shop": look.name(one.shop),
            "waiting": waiting.number,
            "task": one.task_id,
            "who": one.by,
            "reason": one.note,
        },
        facts=look.counted(waiting),
        since_ms=one.since,
        verbs=(
            ("login_shop", one.shop),
            ("open_tasks", f"shop:{one.shop} gate:{session.GATE}"),
            ("open_session", one.shop),
        ),
    )


def breakers(look: Look) -> Iterable[Attention]:
    """Shops whose tasks wait because too many attempts failed: each by its name, or many in one."""
    found = look.store.breakers()
    if len(found) > NAMED:
        yield Attention(
            key="breakers",
            covers="breaker:",
            severity="breaker",
            code="attention.breakers"
            if (left_ms := min(one.until for one in found) - look.now_ms) > 0
            else "attention.breakers_now",
            params={
                "shops": len(found),
                "names": look.named([one.shop for one in found]),
                "more": len(found) - NAMED,
                "left_ms": max(0, left_ms),
                "until": look.now_ms + left_ms,
            },
            facts=_why(found),
            since_ms=min(one.since for one in found),
            verbs=(("open_shops", "breaker"), ("open_tasks", "gate:breaker")),
        )
        return
    for one in found:
        yield Attention(
            key=f"breaker:{one.shop}",
            severity="breaker",
            code="attention.breaker" if one.until > look.now_ms else "attention.breaker_now",
            params={
                "shop": look.name(one.shop),
                "failed": one.failed,
                "of": len(one.outcomes),
                "left_ms": max(0, one.until - look.now_ms),
                "until": one.until,
            },
            facts=_why([one]),
            since_ms=one.since,
            verbs=(("open_shop", one.shop), ("open_tasks", f"shop:{one.shop} gate:breaker")),
        )


def _why(found: Sequence[Breaker]) -> tuple[Message, ...]:
    """What most of them failed with last."""
    kinds = Counter(one.kind for one in found if one.kind)
    return tuple(cause.title(kind) for kind, _number in kinds.most_common(1))


def stuck(look: Look) -> Iterable[Attention]:
    """Shops that have work and finish nothing, in one; a task that seems to hang is told for itself."""
    if found := [shop for shop in look.shops if shop.state == STUCK and not shop.hangs_at]:
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
