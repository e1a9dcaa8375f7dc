"""Causes of dead letters that nobody has looked at yet."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from services.domain.gates import paused
from services.domain.insight import cause, known_issue, reach
from services.domain.task import classify
from services.domain.task.search import filter
from services.domain.task.search.query import equals
from services.domain.task.status import Status, Triage
from services.domain.text.message import Message
from services.monitor.attention.look import Look
from services.monitor.attention.words import N_, Words
from services.monitor.letters.causes import Cause
from services.monitor.overview import Attention

MOST = 5  #: as many causes are told by themselves
WORDS = {
    "attention.dead_shop": Words("{cause}", N_("{count_n} in {shop}")),
    "attention.dead_platform": Words("{cause}", N_("{count_n} in {shops_n}, all on {platform}")),
    "attention.dead_all": Words("{cause}", N_("{count_n} in {shops_n}, on every platform")),
    "attention.dead_some": Words("{cause}", N_("{count_n} in {shops_n}")),
    "attention.dead_more": Words(N_("{causes_n} of dead letters"), N_("{count_n} in all")),
    "attention.dead_counting": Words("{count_n}", N_("Their causes are still being looked for")),
    "attention.dead_unread": Words("{count_n}", N_("Their causes could not be read; this is tried again by itself")),
}


def items(look: Look) -> Iterable[Attention]:
    """Causes with one reason as one item, what a person must do first, then most letters; beyond a few one for all."""
    if look.ungrouped:
        yield Attention(
            key="dead:counting",
            covers="dead:",
            severity="dead",
            code="attention.dead_unread" if look.failed else "attention.dead_counting",
            params={"count": look.ungrouped},
            verbs=(("triage", ""),),
        )
    matters = [
        (kind, flow, sorted(group, key=lambda one: -one.count))
        for (kind, flow, _), group in itertools.groupby(sorted(look.causes, key=_matter), key=_matter)
    ]
    matters.sort(key=lambda each: (cause.rank(each[0], _level(each[2]), sum(one.count for one in each[2])), each[:2]))
    most = MOST if len(matters) > MOST + 1 else len(matters)
    for kind, flow, group in matters[:most]:
        yield _item(kind, flow, group, look)
    if rest := [one for _kind, _flow, group in matters[most:] for one in group]:
        yield Attention(
            key="dead:more",
            covers="dead:",
            severity="dead",
            code="attention.dead_more",
            params={"causes": len(matters) - most, "count": sum(one.count for one in rest)},
            since_ms=min(one.first_at for one in rest),
            verbs=(("triage", ""),),
        )


def _matter(one: Cause) -> tuple[str, str, str]:
    kind = one.kind or classify.UNKNOWN
    flow = one.types[0] if kind in cause.OF_A_FLOW and one.types else ""
    return kind, flow, one.patterns[0] if one.patterns and kind in cause.OF_A_FLOW else ""


def _item(kind: str, flow: str, group: Sequence[Cause], look: Look) -> Attention:
    worst = group[0]
    shops = sorted({shop for one in group for shop in one.shop_keys})
    platforms = sorted({platform for one in group for platform in one.platforms})
    scopes = {one.scope for one in group}
    scope = "shop" if len(shops) == 1 else "all" if "all" in scopes else "platform" if len(platforms) == 1 else "some"
    terms = [equals("status", Status.DEAD), equals("triage", Triage.OPEN), equals("kind", kind)]
    if flow:
        terms.append(equals("type", flow))
    if scope == "shop":
        terms.append(equals("shop", shops[0]))
    patterns = list(dict.fromkeys(name for one in group for name in one.patterns))
    return Attention(
        key=f"dead:{kind}:{flow}:{_matter(worst)[2]}",
        severity="dead",
        code=f"attention.dead_{scope}",
        params={
            "kind": kind,
            "type": flow,
            "count": sum(one.count for one in group),
            "shops": len(shops),
            "shop": look.name(shops[0]) if scope == "shop" else "",
            "platform": ", ".join(platforms),
        },
        facts=tuple(
            one for one in (_told(group), _lies(worst, look), *known_issue.told(worst.rule)) if one is not None
        ),
        cause=cause.title(kind, patterns) if patterns else worst.title,
        again=worst.fingerprint if len(group) == 1 and cause.told_again(worst.worth) else "",
        since_ms=min(one.first_at for one in group),
        verbs=(
            ("triage_now" if _level(group) == cause.NOW else "triage", worst.fingerprint),
            *(((verb, ""),) if (verb := _report(kind)) and _level(group) == cause.AGAIN else ()),
            *_fitting(kind, flow, scope, shops, platforms, look),
            ("open_tasks", filter.format_terms(tuple(terms))),
        ),
    )


def _report(kind: str) -> str:
    """The verb that tells whoever must put it right elsewhere, "" where nobody has to."""
    return "copy_flow" if kind in cause.OF_MAKER else "copy_creator" if kind in cause.OF_CREATOR else ""


def _level(group: Sequence[Cause]) -> str:
    """Whether they would pass now, where that is the same for all."""
    levels = {one.worth.level for one in group}
    return levels.pop() if len(levels) == 1 else cause.UNKNOWN


def _told(group: Sequence[Cause]) -> Message | None:
    """Why they are worth it or not, where that is known."""
    return group[0].worth.message if _level(group) != cause.UNKNOWN else None


def _lies(worst: Cause, look: Look) -> Message | None:
    """Where it lies, as far as what ran tells."""
    return worst.reach.told(shop=look.name) if worst.reach.at not in (reach.NOTHING, reach.FEW) else None


def _fitting(
    kind: str, flow: str, scope: str, shops: Sequence[str], platforms: Sequence[str], look: Look
) -> Iterable[tuple[str, str]]:
    """What stops more of it, no wider than it reaches."""
    elsewhere = bool({shop.platform for shop in look.shops} - set(platforms))
    scope = cause.pause_scope(kind, flow, scope, shops, platforms, elsewhere=elsewhere)
    if len(shops) == 1:
        if kind in (classify.LOGIN_EXPIRED, classify.CAPTCHA):
            yield "login_shop", shops[0]
        yield _switch(scope, look)
        yield "open_shop", shops[0]
    elif scope:
        yield _switch(scope, look)


def _switch(scope: str, look: Look) -> tuple[str, str]:
    """Pause what goes on, resume what is paused."""
    is_paused = any((one.gate, one.scope) == (paused.GATE, scope) for one in look.snapshot.pauses)
    return ("resume" if is_paused else "pause"), scope
