"""Finds the indexes that answer a filter with the fewest candidates, and counts without reading them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from services.domain.lane import LANES
from services.domain.query import Term
from services.domain.status import Status, Triage
from services.store import keys
from services.store.redis_client import Command, Link
from services.store.redis_terms import condition, conditions

#: more indexes than this are not worth asking one by one
MOST_NAMES = 512
#: the attributes that the counters by kind tell apart
_KIND_FIELDS = frozenset({"platform", "type", "lane", "status", "triage"})
_DIRECT = {"type": keys.TYPE, "worker": keys.WORKER, "batch": keys.BATCH, "fp": keys.FINGERPRINT}


@dataclass(frozen=True, slots=True)
class Source:
    """Indexes that together hold every match, and how many members they have."""

    names: tuple[str, ...]
    size: int
    term: Term | None = None  #: the term that they answer alone; None for the parts of the status index


@dataclass(frozen=True, slots=True)
class _Kind:
    platform: str
    task_type: str
    lane: str
    status: str
    triage: str


def sources(link: Link, terms: Sequence[Term]) -> list[Source]:
    """Every way to find the candidates, the one with the fewest first; the parts of the status index are always one."""
    offers: list[tuple[tuple[str, ...], Term | None]] = [(_status_names(terms), None)]
    for term in terms:
        names = _names(link, term)
        if names is not None and len(names) <= MOST_NAMES:
            offers.append((names, term))
    commands: list[Command] = [("ZCARD", name) for names, _ in offers for name in names]
    sizes = iter(link.many(commands))
    found = []
    for names, answered in offers:
        counted = [(name, next(sizes)) for name in names]
        full = tuple(name for name, size in counted if size)
        found.append(Source(full, sum(size for _, size in counted), answered))
    return sorted(found, key=lambda source: source.size)


def count_by_kind(link: Link, terms: Sequence[Term]) -> int | None:
    """Exact number of matches, if the counters by kind know everything that the terms ask for."""
    if any(term.field not in _KIND_FIELDS or term.op != "=" for term in terms):
        return None
    wanted = conditions(terms)
    total = 0
    for field, number in link.call("HGETALL", keys.BY_KIND).items():
        kind = _Kind(*field.decode().split("|"))
        if all(fits(kind) for fits in wanted):
            total += int(number)
    return total


def count_pairs(link: Link, source: Source, terms: Sequence[Term]) -> int | None:
    """Exact number of matches of a source's term together with plain status terms, by intersecting the indexes."""
    others = [term for term in terms if term is not source.term]
    if not others or any(not _plain(term, "status") for term in others):
        return None
    states = _status_names(others)
    if len(states) * len(source.names) > MOST_NAMES:
        return None
    return int(sum(link.many([("ZINTERCARD", 2, name, state) for name in source.names for state in states])))


def _plain(term: Term, field: str) -> bool:
    return term.field == field and term.op == "=" and not term.negated


def _allowed(terms: Iterable[Term], field: str, known: Iterable[str]) -> tuple[str, ...]:
    """The values that terms on one field leave."""
    checks: list[Callable[[object], bool]] = [condition(term) for term in terms if _plain(term, field)]
    probe = {"status": 3, "lane": 2, "triage": 4}[field]
    left = []
    for value in known:
        kind = _Kind(*[value if place == probe else "" for place in range(5)])
        if all(check(kind) for check in checks):
            left.append(str(value))
    return tuple(left)


def _status_names(terms: Sequence[Term]) -> tuple[str, ...]:
    lanes, triages = _allowed(terms, "lane", LANES), _allowed(terms, "triage", Triage)
    names: list[str] = []
    for status in _allowed(terms, "status", Status):
        names += keys.status_keys(status, lanes=lanes, triages=triages)
    return tuple(names)


def _names(link: Link, term: Term) -> tuple[str, ...] | None:
    """The indexes of one term; None if there are none for it."""
    if term.negated or term.op != "=":
        return None
    if term.field == "shop":
        return _shop_names(link, term.values)
    if term.field in _DIRECT and all(value and not value.endswith("*") for value in term.values):
        return tuple(dict.fromkeys(_DIRECT[term.field] + value for value in term.values))
    return None


def _shop_names(link: Link, values: Sequence[str]) -> tuple[str, ...]:
    """Indexes of the shops that ``platform:shop_id``, bare ids and prefixes of either name."""
    platforms = [name.decode() for name in link.call("ZRANGE", keys.PLATFORMS, 0, -1)]
    names: list[str] = []
    commands: list[Command] = []
    for value in values:
        forms = [value, *(f"{platform}:{value}" for platform in platforms)]
        if value.endswith("*"):
            commands += [_with_prefix(form[:-1]) for form in forms]
        else:
            names += [form for form in forms if ":" in form]
    for found in link.many(commands):
        names += [name.decode() for name in found]
    return tuple(dict.fromkeys(keys.SHOP + name for name in names))


def _with_prefix(prefix: str) -> Command:
    if not prefix:
        return ("ZRANGE", keys.SHOP_NAMES, 0, -1)
    start = prefix.encode()
    return ("ZRANGEBYLEX", keys.SHOP_NAMES, b"[" + start, b"(" + start + b"\xff")
