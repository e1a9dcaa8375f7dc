"""Finds the indexes that answer a filter with the fewest candidates, and counts without reading them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field as made

import msgspec

from services.domain.task.lane import LANES
from services.domain.task.search.match import conditions
from services.domain.task.search.payload_match import asked_of_index
from services.domain.task.search.query import PAYLOAD, Term
from services.domain.task.status import Status, Triage
from services.store.redis import keys
from services.store.redis.client import Command, Link
from services.store.redis.reads import read_kinds
from services.store.redis.script import load
from services.store.redis.upkeep import payloads
from services.store.unreadable import by_name, name_of, number, texts

#: more indexes than this are not worth asking one by one
MOST_NAMES = 512
#: members that are looked up to count what indexes have in common, about one a microsecond
MOST_LOOKED_UP = 60_000
#: tasks of several values of a payload that are told apart by their ids
MOST_IDS = 5_000
#: so many batches are counted in one call, with so many members, which takes Redis some milliseconds
BATCHES_AT_ONCE, MEMBERS_AT_ONCE = 50, 10_000
#: what the counters by kind, and what the parts of the status index tell apart
_KIND_FIELDS = frozenset({"platform", "type", "lane", "status", "triage", "priority"})
_PART_FIELDS = frozenset({"status", "triage", "priority"})
_DIRECT = {"type": keys.TYPE, "worker": keys.WORKER, "batch": keys.BATCH, "fp": keys.FINGERPRINT}
_CARDS = load("cards", reads=True)
_COMMON = load("common", reads=True)
_STANDING = load("standing", reads=True)


class IndexSlice(msgspec.Struct, frozen=True):
    """One part of the status index, seen by conditions as if it were a record."""

    name: str
    status: str
    priority: int
    lane: str = ""
    triage: str = ""


class Source(msgspec.Struct, frozen=True):
    """Indexes that together hold every match, and how many members they have."""

    names: tuple[str, ...]
    size: int
    term: Term | None = None  #: the term that they answer alone; None for the parts of the status index


class QueryPlan(msgspec.Struct, frozen=True):
    """The source with the fewest candidates, and the parts of the status index that can hold matches: also those that
    are empty, for a task may go there before it is read.
    """

    best: Source
    parts: tuple[IndexSlice, ...]
    size: int  #: members of those parts
    ids: tuple[str, ...] | None = None  #: the filter names its tasks
    sizes: Mapping[str, int] = made(default_factory=dict)  #: members of the indexes that were looked at
    known: frozenset[Term] = frozenset()  #: terms on payloads that an index answers


class _Kind(msgspec.Struct, frozen=True):
    platform: str
    task_type: str
    lane: str
    status: str
    triage: str
    priority: int


def make(link: Link, terms: Sequence[Term]) -> QueryPlan:
    """Look at the sizes of all indexes that could answer."""
    for term in terms:
        if term.field == "id" and _is_exact(term):
            return QueryPlan(Source((), len(term.values), term), (), 0, tuple(dict.fromkeys(term.values)))
    parts = _parts(terms)
    offers = [(names, term) for term in terms if (names := _names(link, term)) is not None and len(names) <= MOST_NAMES]
    of_payloads = _payload_names(link, terms)
    offers += [(names, term) for term, names in of_payloads.items()]
    link.before()
    asked = [part.name for part in parts] + [name for names, _ in offers for name in names]
    sizes = dict(zip(asked, link.run(_CARDS, asked) if asked else (), strict=True))
    names = tuple(part.name for part in parts)
    size = sum(sizes[name] for name in names)
    best = Source(names, size)
    for names, term in offers:
        count = sum(sizes[name] for name in names)
        if len(names) > 1 and term in of_payloads and count > MOST_IDS:
            continue  # a task may stand in several of these
        if count < best.size:
            best = Source(names, count, term)
    ids = None
    if best.term in of_payloads and len(best.names) > 1:
        found = link.many([("ZRANGE", name, 0, -1) for name in best.names])
        ids = tuple(dict.fromkeys(name_of(one) for members in found for one in members))
        best = Source((), len(ids), best.term)
    return QueryPlan(best, tuple(parts), size, ids, sizes=sizes, known=frozenset(of_payloads))


def _payload_names(link: Link, terms: Sequence[Term]) -> dict[Term, tuple[str, ...]]:
    """The indexes of those terms on payloads that one answers."""
    asked = {term: found for term in terms if term.field.startswith(PAYLOAD) and (found := asked_of_index(term))}
    if not asked:
        return {}
    states = payloads.states(link)
    whole = {f"{PAYLOAD}{name}" for name, state in states.items() if state == payloads.WHOLE}
    return {
        term: tuple(keys.PAYLOAD + one for one in found)
        for term, found in asked.items()
        if term.field in whole and len(found) <= MOST_NAMES
    }


def total(link: Link, plan: QueryPlan, terms: Sequence[Term]) -> int | None:
    """Exact number of matches, where counters or the sizes of indexes know it."""
    if plan.ids is not None:
        return None
    if all(term.field in _PART_FIELDS for term in terms):
        return plan.size
    if all(term.field in _KIND_FIELDS for term in terms):
        return sum(count_by_priority(link, terms).values())
    others = [term for term in terms if term is not plan.best.term]
    if plan.best.term is not None and not others:
        return plan.best.size
    return _count_pairs(link, plan) if all(term.field in _PART_FIELDS for term in others) else None


def count_by_priority(link: Link, terms: Sequence[Term]) -> dict[int, int]:
    """How many tasks of each priority match what the counters know of the filter."""
    wanted = conditions(term for term in terms if term.field in _KIND_FIELDS and term.op != "~")
    found: dict[int, int] = {}
    for (platform, task_type, lane, status, triage, priority), count in read_kinds(link.call("HGETALL", keys.BY_KIND)):
        kind = _Kind(platform, task_type, lane, status, triage, int(priority))
        if all(fits(kind) for fits in wanted):
            found[kind.priority] = found.get(kind.priority, 0) + count
    return found


def count_by_type(link: Link, terms: Sequence[Term]) -> dict[tuple[str, str], int] | None:
    """How many tasks there are by type and status, where the counters know all of the filter; else None."""
    if not all(term.field in _KIND_FIELDS and term.op != "~" for term in terms):
        return None
    wanted = conditions(terms)
    found: dict[tuple[str, str], int] = {}
    for (platform, task_type, lane, status, triage, priority), count in read_kinds(link.call("HGETALL", keys.BY_KIND)):
        kind = _Kind(platform, task_type, lane, status, triage, int(priority))
        if count > 0 and all(fits(kind) for fits in wanted):
            found[task_type, status] = found.get((task_type, status), 0) + count
    return found


def count_by_status(link: Link, pairs: Sequence[tuple[str, str]]) -> list[dict[str, int]]:
    """For each index with a hash of numbers: how many of its members stand in each status, at one instant, and those
    numbers added. An index that is not there is in common with nothing.
    """
    parts = list(all_parts())
    sizes = link.many([("ZCARD", name) for name, _removed in pairs])
    found: list[dict[str, int]] = []
    for some in _at_once(pairs, sizes):
        indexes, removed = [name for name, _ in some], [name for _, name in some]
        answers = link.run(_STANDING, [*indexes, *removed, *(part.name for part in parts)], len(some))
        for numbers, gone in answers:
            told = iter(gone)
            counts = by_name(number, dict(zip(told, told, strict=True)), "count of removed tasks")
            told = iter(numbers)
            for place, size in zip(told, told, strict=True):
                counts[parts[place].status] = counts.get(parts[place].status, 0) + size
            found.append(counts)
    return found


def _at_once(pairs: Sequence[tuple[str, str]], sizes: Sequence[int]) -> Iterator[list[tuple[str, str]]]:
    """As many neighbours as one call counts; one that is larger alone."""
    some: list[tuple[str, str]] = []
    members = 0
    for pair, size in zip(pairs, sizes, strict=True):
        if some and (len(some) == BATCHES_AT_ONCE or members + size > MEMBERS_AT_ONCE):
            yield some
            some, members = [], 0
        some.append(pair)
        members += size
    if some:
        yield some


def _count_pairs(link: Link, plan: QueryPlan) -> int | None:
    """What the indexes of one term have in common with the parts of the status index; None where that is much to do."""
    names, parts = plan.best.names, [part.name for part in plan.parts]
    pairs = [(name, part) for name in names for part in parts if plan.sizes[name] and plan.sizes[part]]
    if plan.best.term is None or len(pairs) > MOST_NAMES:
        return None
    if sum(min(plan.sizes[name], plan.sizes[part]) for name, part in pairs) > MOST_LOOKED_UP:
        return None
    return int(link.run(_COMMON, [*names, *parts], len(names)))


def _parts(terms: Sequence[Term]) -> list[IndexSlice]:
    """The parts of the status index that the terms on status, triage, priority and lane leave."""
    wanted = conditions(term for term in terms if term.field in _PART_FIELDS and term.op != "~")
    of_lane = conditions(term for term in terms if term.field == "lane" and term.op != "~")
    found = [part for part in all_parts() if all(fits(part) for fits in wanted)]
    return [part for part in found if not part.lane or all(fits(part) for fits in of_lane)]


def all_parts() -> Iterator[IndexSlice]:
    """Every part of the status index that there can be."""
    for status in map(str, Status):
        for priority in keys.PRIORITIES:
            if status == Status.QUEUED:
                for lane in map(str, LANES):
                    yield IndexSlice(keys.status(status, priority, lane), status, priority, lane=lane)
            elif status == Status.DEAD:
                for triage in map(str, Triage):
                    yield IndexSlice(keys.status(status, priority, triage), status, priority, triage=triage)
            else:
                yield IndexSlice(keys.status(status, priority), status, priority)


def _names(link: Link, term: Term) -> tuple[str, ...] | None:
    """The indexes of one term; None if there are none for it."""
    if term.negated or term.op != "=":
        return None
    if term.field == "shop":
        return _shop_names(link, term.values)
    if term.field in _DIRECT and _is_exact(term):
        return tuple(dict.fromkeys(_DIRECT[term.field] + value for value in term.values))
    return None


def _is_exact(term: Term) -> bool:
    """Whether a term names whole values that are not empty."""
    return term.op == "=" and not term.negated and all(value and not value.endswith("*") for value in term.values)


def _shop_names(link: Link, values: Sequence[str]) -> tuple[str, ...]:
    """Indexes of the shops that ``platform:shop_id``, bare ids and prefixes of either name."""
    platforms = texts(link.call("ZRANGE", keys.PLATFORMS, 0, -1))
    names: list[str] = []
    commands: list[Command] = []
    for value in values:
        # no id has a colon in it
        forms = [value] if ":" in value else [value, *(f"{platform}:{value}" for platform in platforms)]
        if value.endswith("*"):
            commands += [_with_prefix(form[:-1]) for form in forms]
        else:
            names += [form for form in forms if ":" in form]
    for found in link.many(commands):
        names += texts(found)
    return tuple(dict.fromkeys(keys.SHOP + name for name in names))


def _with_prefix(prefix: str) -> Command:
    if not prefix:
        return ("ZRANGE", keys.SHOP_NAMES, 0, -1)
    start = prefix.encode()
    return ("ZRANGEBYLEX", keys.SHOP_NAMES, b"[" + start, b"(" + start + b"\xff")
