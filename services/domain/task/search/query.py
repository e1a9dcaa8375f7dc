"""A question about tasks, and one page of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from services.domain.task.record import Task

#: field of a term that holds where one of its lists of terms holds whole
ANY = "any"
#: what a field begins with that is one of the payload: ``payload.order_id``, ``payload.address.city``
PAYLOAD = "payload."
#: shops that stand together; no record has it, whoever asks puts the shops in its place (``shop_filter.of_groups``)
GROUP = "group"
#: words in a line that a task printed; only the store can tell
LOG = "log"
#: what a record was at an instant, as far as its steps tell; of a dead letter ``LETTER``: nobody had dealt with it
WAS, LETTER = "was", "open"
SORTS = ("created", "updated", "priority", "due")


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One condition of a filter: ``field op value``, all joined by AND.

    Fields: id, status, shop, platform, type, lane, worker, batch, fp, kind, triage, created, updated, age, attempts,
    priority, error, uniq, gate, text, log, was, and ``payload.NAME`` for a field of the payload. ``values`` of one
    ``=`` term are alternatives (``status:dead,held``); a value ending in ``*`` is a prefix. ``shop`` matches
    ``shop_id`` or ``platform:shop_id``. Operators: ``=``, ``<``, ``<=``, ``>``, ``>=``, and ``~`` for "contains, in any
    case". Instants (created, updated) are UTC ms in ``number``; ``age`` is turned into created by the parser. ``text``
    searches id, shop and error; ``was`` asks for one of the statuses at the instant ``number``. ``due`` (UTC ms, as
    created) and ``any`` are for questions that programs ask: ``any`` holds where all terms of one of ``any_of`` hold,
    none of which may be a scan.
    """

    field: str
    op: str
    values: tuple[str, ...] = ()
    number: float = 0.0
    negated: bool = False
    any_of: tuple[tuple[Term, ...], ...] = ()


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """Filter, order and place. Ties are broken by task id, so that paging never skips or repeats a row, also one whose
    status changes meanwhile; one that changes what the rows are ordered by may pass the place where paging stands.
    """

    terms: tuple[Term, ...] = ()
    sort: str = "created"
    descending: bool = True
    limit: int = 50
    cursor: str = ""  #: "" for the first page, else ``Page.next``
    want_total: bool = True


class Total(msgspec.Struct, frozen=True):
    """So many tasks; not ``exact``: at least so many, nobody counted on."""

    number: int
    exact: bool = True


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Rows in order. ``next`` is None at the end; ``total`` is None where counting would need a scan or take too long;
    then so many as ``at_least`` match for certain.
    """

    tasks: tuple[Task, ...]
    next: str | None = None
    total: int | None = None
    at_least: int = 0
    searched: tuple[str, ...] = ()  #: fields of the filter that no index knows: records are looked into for them
    among: int = 0  #: so many of them, as far as counters tell, where there are such fields
    looked: int = 0  #: at so many of those this answer has looked, where it looked into logs

    @property
    def number(self) -> Total:
        """How many match, as far as they were counted."""
        return Total(self.at_least, exact=False) if self.total is None else Total(self.total)


def pages(ask: Callable[[Query], Page], query: Query, most: int | None = None) -> Iterator[Page]:
    """One answer after the other, until so many tasks were told or there is no more; they may change meanwhile."""
    told = 0
    cursor: str | None = query.cursor
    while cursor is not None and (most is None or told < most):
        page = ask(replace(query, cursor=cursor))
        yield page
        told, cursor = told + len(page.tasks), page.next


def each(ask: Callable[[Query], Page], query: Query, most: int | None = None) -> Iterator[Task]:
    """The tasks of the same, one by one; of the last page all."""
    for page in pages(ask, query, most):
        yield from page.tasks


#: by what tasks are put into groups: the field of a filter that shows one group, and the attribute of the record
GROUPED: Mapping[str, str] = {"shop": "shop", "type": "task_type", "fp": "fingerprint", "batch": "batch"}


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks that have one value, "" for those that have none: by status, and the id of one of them."""

    value: str
    counts: Mapping[str, int]
    sample: str

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


class Groups(msgspec.Struct, frozen=True, kw_only=True):
    """The groups of a filter, the largest first; not ``whole``: only the first tasks were looked at."""

    groups: tuple[Group, ...] = ()
    whole: bool = True


def groups_of(counted: Mapping[tuple[str, str], tuple[int, str]], *, whole: bool) -> Groups:
    """The groups, of how many tasks there are by value and status, with an id each."""
    by_value: dict[str, dict[str, int]] = {}
    samples: dict[str, str] = {}
    for (value, status), (number, sample) in counted.items():
        by_value.setdefault(value, {})[status] = number
        samples[value] = max(samples.get(value, ""), sample)
    found = [Group(value=value, counts=counts, sample=samples[value]) for value, counts in by_value.items()]
    return Groups(groups=tuple(sorted(found, key=lambda one: (-one.total, one.value))), whole=whole)


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Counters kept with every transition; none of them needs a scan, and none is below 0."""

    status: dict[str, int] = msgspec.field(default_factory=dict)
    lanes: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)  #: lane -> status -> n (active statuses)
    shops: dict[str, dict[str, int]] = msgspec.field(
        default_factory=dict
    )  #: platform:shop_id -> status -> n (active, and open dead as "dead")
    triage: dict[str, int] = msgspec.field(default_factory=dict)  #: of dead tasks: open, archived, ignored, republished
    total: int = 0
    unsent: int = 0  #: recorded with a message that the broker has not confirmed, whatever their status
    cursor: str = ""  #: event cursor of the same instant
    lost: bool = False  #: counters were lost (some stand below 0), so all are too low until they are counted anew


def equals(field_name: str, *values: str) -> Term:
    """The term ``field:value,value``."""
    return Term(field=field_name, op="=", values=values)


def excludes(field_name: str, *values: str) -> Term:
    """The term ``-field:value,value``."""
    return Term(field=field_name, op="=", values=values, negated=True)


def any_of(*lists: tuple[Term, ...]) -> Term:
    """The term that holds where one of the lists holds whole."""
    return Term(field=ANY, op="=", any_of=lists)


def none_of(*lists: tuple[Term, ...]) -> Term:
    """The term that holds where none of the lists holds whole."""
    return Term(field=ANY, op="=", any_of=lists, negated=True)
