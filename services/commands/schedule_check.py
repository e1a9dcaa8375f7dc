"""Whether what a schedule names is there: task type, payload, shops, platforms, groups."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec

from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.plans.schedule import Schedule
from services.domain.text.said import Said, said
from services.domain.types import task_type
from services.engine import recipe
from services.engine.registry import Registry
from services.ports import Store


class Checker:
    """A schedule runs unattended for months, so that a misspelt name is refused and not guessed."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store, self._registry = store, registry

    def named(self, schedule: Schedule) -> Schedule:
        """The same with every shop as ``platform:shop_id``.

        Raises:
            UsageError: a shop is not known, or a bare id is on several platforms.
        """
        known = self._registry.shops()
        return msgspec.structs.replace(schedule, shops=tuple(dict.fromkeys(_key(one, known) for one in schedule.shops)))

    def check(self, schedule: Schedule) -> None:
        """Look everything else up.

        Raises:
            UsageError: ``field`` names what to change.
        """
        shops = list(self._registry.shops().values())
        _check_known("platform", schedule.platforms, {shop.platform for shop in shops})
        _check_known("group", schedule.groups, {shop.group for shop in shops if shop.group})
        self._check_type(schedule)

    def _check_type(self, schedule: Schedule) -> None:
        name = schedule.task_type
        types = set(self._registry.types()) | {one for info in self._store.workers() for one in info.handlers}
        if name not in types:
            raise UsageError(_unknown("type.unknown", name, types, 70), field="type")
        recipe.payload_text(schedule.payload)
        problems = task_type.validate_payload(self._registry.task_type(name), schedule.payload)
        if problems:
            where = problems[0].path or "payload"
            raise UsageError(said("payload.bad", field=where, problem=problems[0].message), field=where)


def _key(text: str, known: dict[str, Shop]) -> str:
    if text in known:
        return text
    found = sorted(key for key, shop in known.items() if shop.shop_id == text)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(said("shop.several", name=repr(text), keys=", ".join(found)), field="shop")
    raise UsageError(_unknown("shop.unknown", text, known, 80), field="shop")


def _check_known(field: str, words: Iterable[str], known: set[str]) -> None:
    for word in words:
        if word not in known:
            raise UsageError(_unknown(f"shop.no_{field}", word, known, 70), field=field)


def _unknown(code: str, word: str, known: Iterable[str], most: int) -> Said:
    near = difflib.get_close_matches(word[:130], list(known), n=1, cutoff=0.6)
    name = repr(word)[:most]
    return said(f"{code}_near", name=name, near=near[0]) if near else said(code, name=name)
