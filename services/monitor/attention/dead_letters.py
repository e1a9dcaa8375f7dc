"""Causes of dead letters that nobody has looked at yet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from services.domain import classify, filter
from services.domain.query import equals
from services.domain.status import Status, Triage
from services.monitor.attention.look import Look
from services.monitor.causes import Cause
from services.monitor.overview import Attention

#: Kinds whose reason lies with a flow, so equal ones of two task types are two matters; the others lie with a shop.
OF_A_FLOW = frozenset(
    {
        classify.ELEMENT_NOT_FOUND,
        classify.TIMEOUT,
        classify.CRASHED,
        classify.BAD_PAYLOAD,
        classify.UNKNOWN_TYPE,
        classify.NO_COMMAND,
        classify.UNKNOWN,
    }
)


def items(look: Look) -> Iterable[Attention]:
    """Causes with one reason as one item; a type that is paused can be resumed instead."""
    paused = {pause.scope for pause in look.snapshot.pauses}
    for (kind, flow, _), group in itertools.groupby(sorted(look.causes, key=_matter), key=_matter):
        yield _with_resume(_item(kind, flow, sorted(group, key=lambda cause: -cause.count), look.name), paused)


def _matter(cause: Cause) -> tuple[str, str, str]:
    kind = cause.kind or classify.UNKNOWN
    flow = cause.types[0] if kind in OF_A_FLOW and cause.types else ""
    return kind, flow, cause.headline if kind == classify.UNKNOWN else ""


def _item(kind: str, flow: str, group: Sequence[Cause], name: Callable[[str], str]) -> Attention:
    worst = group[0]
    shops = {shop for cause in group for shop in cause.shop_keys}
    platforms = sorted({platform for cause in group for platform in cause.platforms})
    scopes = {cause.scope for cause in group}
    scope = "shop" if len(shops) == 1 else "all" if "all" in scopes else "platform" if len(platforms) == 1 else "some"
    terms = [equals("status", Status.DEAD), equals("triage", Triage.OPEN), equals("kind", kind)]
    if flow:
        terms.append(equals("type", flow))
    verbs = [("triage", worst.fingerprint), ("open_tasks", filter.format_terms(tuple(terms)))]
    if flow:
        verbs.append(("pause", f"type:{flow}"))
    return Attention(
        key=f"dead:{kind}:{flow}:{worst.headline if kind == classify.UNKNOWN else ''}",
        severity="dead",
        code=f"attention.dead_{scope}",
        params={
            "kind": kind,
            "headline": worst.headline,
            "type": flow,
            "count": sum(cause.count for cause in group),
            "shops": len(shops),
            "shop": name(min(shops)) if len(shops) == 1 else "",
            "platform": ", ".join(platforms),
        },
        since_ms=min(cause.first_at for cause in group),
        verbs=tuple(verbs),
    )


def _with_resume(item: Attention, paused: set[str]) -> Attention:
    if not any(verb == "pause" and target in paused for verb, target in item.verbs):
        return item
    return replace(item, verbs=tuple(("resume" if verb == "pause" else verb, target) for verb, target in item.verbs))
