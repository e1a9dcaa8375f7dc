"""Which dead letters a filter means, cause by cause: they are looked for as tasks are, and besides by what their cause
is called and by who is at it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from msgspec.structs import replace

from services.domain.errors import UsageError
from services.domain.insight.cause_rule import PLACES, stands
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import PAYLOAD, Total
from services.domain.task.search.row_filter import Fields, words
from services.domain.task.status import Status
from services.domain.text.said import said
from services.monitor.letters.alike import key_of
from services.monitor.letters.book import SCAN_LIMIT
from services.monitor.letters.causes import Cause, Causes
from services.monitor.tasks import VALUES, TaskQueries

#: how its fields may be written: as those of tasks, and as what a cause is called and who is at it are headed
NAMES = filter.Names({**filter.CHINESE, "名称": "cause", "备注": "cause", "谁在处理": "owner"})


def fitting(queries: TaskQueries, causes: Causes, triage: str, text: str, called: Callable[[Cause], str]) -> Causes:
    """The causes with letters that fit, each with how many these are, of how many, and what filters them. ``called``:
    what a cause is called where it is shown: a word may stand there as well as in the letter. Blocking.

    Raises:
        FilterError, UsageError: it is no such filter, and what there is instead.
    """
    by_filter = _by_filter(causes, text, called)
    whole, shops, cause_of = by_filter.pop("", []), set[str](), _finder(causes.rows)
    rows = whole[:]
    shops.update(*(one.shop_keys for one in whole))
    for left, some in by_filter.items():
        numbers, wanted = Counter[str](), {one.fingerprint for one in some}
        for task in islice(queries.each(f"status:{Status.DEAD} triage:{triage} {left}"), SCAN_LIMIT):
            if (key := cause_of(task)) in wanted:
                numbers[key] += 1
                shops.add(task.shop)
        rows += [
            replace(one, count=numbers[one.fingerprint], among=one.count, filtered=left)
            for one in some
            if numbers[one.fingerprint]
        ]
    return replace(causes, rows=tuple(rows), shops=len(shops))


def within(
    queries: TaskQueries,
    causes: Causes,
    triage: str,
    text: str,
    called: Callable[[Cause], str],
    field: str,
    values: Sequence[str],
) -> dict[str, Total]:
    """How many of the letters that fit have each of these values of a field of theirs, or are with each owner.
    Blocking.

    Raises:
        FilterError, UsageError: it is no such filter, and what there is instead.
    """
    if field == "owner":
        numbers = Counter[str]()
        for one in fitting(queries, causes, triage, text, called).rows if text else causes.rows:
            numbers[one.rule.owner] += one.count
        return {value: Total(number) for value, number in numbers.items() if value}
    letters = f"status:{Status.DEAD} triage:{triage}"
    of_cause = any(piece.field in ("text", "owner", "cause") for piece in filter.pieces(text, NAMES))
    if not of_cause:
        return queries.within(f"{letters} {text}".strip(), field, values)
    shops, cause_of, numbers, exact = queries.shops(), _finder(causes.rows), Counter[str](), True
    for left, some in _by_filter(causes, text, called).items():
        wanted = {one.fingerprint for one in some}
        looked = 0
        for task in islice(queries.each(f"{letters} {left}".strip()), SCAN_LIMIT):  # none is kept: each may be large
            looked += 1
            numbers.update(VALUES[field](task, shops) if cause_of(task) in wanted else ())
        exact = exact and looked < SCAN_LIMIT
    return {value: Total(number, exact=exact) for value, number in numbers.items()}


def _by_filter(causes: Causes, text: str, called: Callable[[Cause], str]) -> dict[str, list[Cause]]:
    """The causes that may have such letters, by what is left to be asked of these."""
    found: dict[str, list[Cause]] = defaultdict(list)
    for cause, left in _asked(causes.rows, text, called):
        found[left].append(cause)
    return found


def _asked(causes: Iterable[Cause], text: str, called: Callable[[Cause], str]) -> Iterable[tuple[Cause, str]]:
    """The causes that may have such letters, with what is left to be asked of these."""
    of_cause = Fields(
        words={
            "owner": words(lambda one: (one.rule.owner,) if one.rule.owner else ()),
            "cause": words(lambda one: (called(one), one.rule.note)),
        },
        bare=("cause", "owner"),
        names=NAMES,
    )
    own: list[str] = []
    others: list[tuple[filter.Piece, str]] = []
    for piece in filter.pieces(text, NAMES):
        written = text[piece.at : piece.end]
        if piece.field in of_cause.words:
            own.append(written)
        elif piece.field and piece.field not in filter.FIELDS and not piece.field.startswith(PAYLOAD):
            known = ", ".join((*of_cause.words, *filter.FIELDS))
            raise UsageError(said("row_filter.field", where=repr(written)[:80], known=known), field="filter")
        else:
            others.append((piece, written))
    filter.parse(" ".join(written for _piece, written in others), now_ms=0)
    wanted = of_cause.parse(" ".join(own))
    tests = [
        (written, piece.negated, of_cause.parse(written.removeprefix("-")) if piece.field == "text" else None)
        for piece, written in others
    ]
    for cause in causes:
        if not wanted(cause):
            continue
        told = [(written, negated, test is not None and test(cause)) for written, negated, test in tests]
        if not any(negated and stands_there for _written, negated, stands_there in told):
            yield cause, " ".join(written for written, _negated, stands_there in told if not stands_there)


def _finder(causes: Iterable[Cause]) -> Callable[[Task], str]:
    """Tells to which of them a letter counts; of what was split off the narrowest place goes first."""
    by_print: dict[str, list[Cause]] = defaultdict(list)
    for cause in causes:
        for one in cause.prints:
            by_print[one].append(cause)

    def place(cause: Cause) -> int:
        where = cause.rule.where
        return PLACES.index(where.partition(":")[0]) if where else len(PLACES)

    for some in by_print.values():
        some.sort(key=place)

    def find(task: Task) -> str:
        some = by_print.get(key_of(task), ())
        return next((one.fingerprint for one in some if not one.rule.where or stands(task, one.rule.where)), "")

    return find
