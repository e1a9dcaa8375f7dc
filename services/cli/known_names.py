"""Names that a shell offers at a Tab: what there is in the fleet, of each kind."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable

from services.assembly import Engine, commands, queries
from services.domain.promises import promise

#: a shell is given words that mean nothing to it; another name is typed by hand
_SAFE = re.compile(r"\w[\w.:@-]{0,139}\Z")
MOST = 2000


def _shops(engine: Engine) -> Iterable[str]:
    """By their bare ids where those are unique: a colon ends a word for bash."""
    keys = {*engine.registry.shops(), *engine.store.counts().shops}
    ids = Counter(key.partition(":")[2] for key in keys)
    return (bare if ids[bare := key.partition(":")[2]] == 1 else key for key in keys)


def _channels(engine: Engine) -> Iterable[str]:
    """With the groups that they are in."""
    known = [one.channel for one in queries(engine).alerts.now().channels]
    return {name for one in known for name in (one.name, one.group)}


def _platforms(engine: Engine) -> Iterable[str]:
    return {key.partition(":")[0] for key in (*engine.registry.shops(), *engine.store.counts().shops)}


KINDS: dict[str, Callable[[Engine], Iterable[str]]] = {
    "shops": _shops,
    "platforms": _platforms,
    "types": lambda engine: engine.registry.types(),
    "workers": lambda engine: [info.worker for info in engine.store.workers()],
    "schedules": lambda engine: [entry.name for entry in engine.store.schedules()],
    "promises": lambda engine: engine.store.documents(promise.KIND),
    "incidents": lambda engine: [one.incident.id for one in queries(engine).alerts.now().incidents],
    "rules": lambda engine: [one.rule.name for one in queries(engine).alerts.rules()],
    "channels": _channels,
    "views": lambda engine: [one.title for one in commands(engine).views.known()],
}
_BY_PLACE = {
    "shop": "shops",
    "shops": "shops",
    "platform": "platforms",
    "type": "types",
    "types": "types",
    "task_type": "types",
    "workers": "workers",
    "incident": "incidents",
    "channel": "channels",
    "escalate_to": "channels",
    "view": "views",
}
#: what is called ``name`` or ``names`` there
_BY_NOUN = {
    "schedule": "schedules",
    "promise": "promises",
    "type": "types",
    "alert rule": "rules",
    "alert channel": "channels",
}


def kind_of(place: str, action: argparse.Action) -> str:
    """Which names an argument takes, "" for none of these. ``place``: nouns and verb, as ``alert rule set``."""
    if action.nargs == 0 or action.choices is not None:
        return ""
    if action.dest in ("name", "names") and not action.option_strings:
        return next((kind for noun, kind in _BY_NOUN.items() if f"{place} ".startswith(f"{noun} ")), "")
    return _BY_PLACE.get(action.dest, "")


def names(engine: Engine, kind: str) -> list[str]:
    """Those of a kind that a shell can offer, in order."""
    return sorted(one for one in set(KINDS[kind](engine)) if _SAFE.match(one))[:MOST]
