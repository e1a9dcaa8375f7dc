"""What an import of task types would change: the next version of each, or why it cannot be taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from services.domain.errors import UsageError
from services.domain.text.mask import is_masked
from services.domain.text.said import said, words_of
from services.domain.types import task_type
from services.domain.types.task_type import TaskType

CREATED, CHANGED, UNCHANGED = "created", "changed", "unchanged"
HISTORY = task_type.HISTORY


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One type: ``what`` happens to it and which version it has then. ``fields`` differ from the stored ones."""

    kind: TaskType
    what: str
    replaced: str = ""  #: the stored document that it takes the place of
    replaced_version: int = 0
    fields: tuple[str, ...] = ()


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a document cannot be taken; ``place`` is its number in the list that was given, from 0."""

    place: int
    field: str
    error: str


def plan(stored: Mapping[str, str], bodies: Sequence[str], *, force: bool = False) -> tuple[list[Change], list[Fault]]:
    """What these documents would change.

    A document that names a version was made from that one: if the stored type has moved on since, it is refused, so
    that nobody's change is lost unseen; ``force`` takes it all the same. Without a version (0) nothing is compared.
    """
    changes: list[Change] = []
    faults: list[Fault] = []
    seen: dict[str, int] = {}
    for place, body in enumerate(bodies):
        try:
            kind = task_type.parse(body)
            if is_masked(kind.schema):
                raise UsageError(said("type.masked"), field="schema")
            if kind.name in seen:
                raise UsageError(said("policy.twice", name=kind.name), field="name")
            seen[kind.name] = place
            changes.append(_change(kind, stored.get(kind.name, ""), force=force))
        except UsageError as exc:
            faults.append(Fault(place=place, field=exc.field, error=words_of(exc)))
    return changes, faults


def _change(kind: TaskType, stored: str, *, force: bool) -> Change:
    old = _readable(stored)
    if old is None:
        fresh = msgspec.structs.replace(kind, version=max(1, kind.version))
        return Change(kind=fresh, what=CHANGED if stored else CREATED, replaced=stored)
    if kind.version and kind.version != old.version and not force:
        raise UsageError(
            said("policy.changed", name=kind.name, version=kind.version, stored=old.version),
            field="version",
        )
    names = [name for name in TaskType.__struct_fields__ if name != "version"]
    fields = tuple(name for name in names if getattr(kind, name) != getattr(old, name))
    if not fields:
        return Change(kind=old, what=UNCHANGED, replaced_version=old.version)
    fresh = msgspec.structs.replace(kind, version=old.version + 1)
    return Change(kind=fresh, what=CHANGED, replaced=stored, replaced_version=old.version, fields=fields)


def _readable(stored: str) -> TaskType | None:
    if not stored:
        return None
    try:
        return task_type.stored(stored)
    except UsageError:  # somebody wrote it by hand; it is replaced, and kept
        return None
