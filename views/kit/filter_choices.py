"""What filters know: fields that several pages have, and the values offered there, with how many tasks each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from types import MappingProxyType

import msgspec
from PySide6.QtCore import QObject

from services import i18n
from services.called import GATE_WORDS, STATUS_WORDS, TRIAGE_WORDS
from services.domain.fleet.shop import Shop
from services.domain.task.lane import LANES
from services.domain.task.search import filter
from services.domain.task.search.filter_time import Times
from services.domain.task.search.query import LETTER, Counts, Total
from services.domain.text.ordering import as_read
from services.domain.types.task_type import TaskType
from services.i18n import N_, _
from services.monitor.letters.causes import Called
from services.monitor.live import Snapshot
from views.context import PageContext
from views.support import instant, safe, shown
from views.support.operation import Operation
from views.support.words.cause import called
from views.widgets.filter.bar import FilterBar
from views.widgets.filter.field import FilterField, FilterValue

_STATUSES = (
    ("flight", N_("In flight")),
    ("active", N_("Not ended")),
    ("waiting", N_("All waiting")),
    *STATUS_WORDS.items(),
)
_TRIAGE = tuple(TRIAGE_WORDS.items())
_LANES = {"high": N_("High"), "normal": N_("Normal"), "low": N_("Low")}

_WERE = dict(_STATUSES) | {"waiting": N_("Waiting"), LETTER: N_("Open dead letter")}


def _was(value: str) -> str:
    """``waiting@2026-11-20T03:12`` in words."""
    word, _at, when = value.rpartition("@")
    span = Times(instant.now_ms(), shown.zone()).span(when) if word else None
    if span is None:
        return _(_WERE.get(value, value))
    return _("{state} at {time}").format(state=_(_WERE.get(word, word)), time=_clock(span[0]))


def _when(value: str) -> str:
    """``2026-11-20T03:12:00.000+08:00`` in words; what is no moment, as ``today`` and ``2h``, as it stands."""
    span = Times(instant.now_ms(), shown.zone()).span(value)
    return _clock(span[0]) if span is not None and span[0] == span[1] else value


def _clock(at_ms: int) -> str:
    """Without seconds where there are none."""
    if at_ms % 60_000:
        return shown.clock(at_ms, instant.now_ms())
    return shown.minute(at_ms, instant.now_ms())


FIELDS = (
    FilterField("status", N_("Status"), tuple(FilterValue(value, word) for value, word in _STATUSES)),
    FilterField(
        "platform",
        N_("Platform"),
        (FilterValue("pdd", "Pinduoduo"), FilterValue("temu", "TEMU"), FilterValue("tiktok", "TikTok Shop")),
        free=True,
    ),
    FilterField("type", N_("Type")),
    FilterField("lane", N_("Lane"), tuple(FilterValue(lane, _LANES[lane]) for lane in LANES)),
    FilterField("shop", N_("Shop")),
    FilterField("group", N_("Group")),
    FilterField("worker", N_("Worker")),
    FilterField("gate", N_("Waits at"), tuple(FilterValue(gate, word) for gate, word in GATE_WORDS.items())),
    FilterField("error", N_("Error contains"), single=True),
    FilterField("fp", N_("Cause")),
    FilterField("triage", N_("Dead letter"), tuple(FilterValue(value, word) for value, word in _TRIAGE)),
    FilterField("batch", N_("Batch"), free=True, offered=False),
    FilterField("was", N_("Was then"), free=True, say=_was, offered=False),
    FilterField("created", N_("Created"), free=True, say=_when, bound=True, offered=False),
    FilterField("updated", N_("Changed last"), free=True, say=_when, bound=True, offered=False),
)


def some_of(*keys: str) -> tuple[FilterField, ...]:
    """Those of these fields, in this order."""
    by_key = {field.key: field for field in FIELDS}
    return tuple(by_key[key] for key in keys)


#: of the rest of a filter, a field and its values: what asks, in a thread, how many have each of these within the rest
Within = Callable[[str, str, Sequence[str]], Callable[[], Mapping[str, Total]]]
#: a list longer than this is searched by typing, not by scrolling
MOST_SHOPS, FOUND = 300, 50


class FilterChoices(QObject):
    """Fills the popovers of a filter bar."""

    def __init__(
        self,
        context: PageContext,
        bar: FilterBar,
        owner: QObject,
        fields: tuple[FilterField, ...] = FIELDS,
        within: Within | None = None,
    ) -> None:
        """``fields``: those of the bar; ``within``: counts their values, None: nobody does but for what is told."""
        super().__init__(owner)
        self._context, self._bar, self._fields = context, bar, fields
        self._ask, self._counting, self._counted = Operation(self, latest=True), Operation(self), ""
        self._known = _named({}, {}, {})
        self._workers: tuple[str, ...] = ()
        self._others: dict[str, tuple[str, ...]] = {}
        self._causes: dict[str, Called] = {}
        self._naming = Operation(self, latest=True)
        self._shown = fields
        self._within = within
        self._told: dict[str, Mapping[str, int]] = {}  #: of all, as pages and looks at the fleet tell
        self._rests: dict[str, str] = {}  #: by field, within which rest of the filter the numbers shown are counted
        #: what nobody tells, and what is asked within other chips, is counted once its popover stands open
        self._recounting = {field.key: Operation(self, latest=True) for field in fields}
        bar.opened.connect(self._recount)

    def refresh(self) -> None:
        """Ask for types and shops again; what is offered meanwhile stays."""
        # no person waits for it, and the list beside it says that nothing can be read
        counts = self._context.feed.latest.counts.shops
        self._ask.start(partial(_look, self._context, counts), self._take, lambda _error: self._show())

    def offer(self, field: str, counts: Mapping[str, int] | None, others: Collection[str] = ()) -> None:
        """The values of a field of which the page knows by itself, with how many each has, None where nobody has
        counted; ``others``: values that are offered at any rate.
        """
        if counts is not None:
            self.tell(field, counts)
        values = tuple(sorted({*(counts or ()), *others}, key=as_read))
        if values != self._others.get(field, ()):
            self._others[field] = values
            self._show()

    def name_causes(self, expression: str) -> None:
        """Say what the causes that a filter asks for are called: nobody knows a fingerprint."""
        asked = [value for piece in filter.pieces(expression) if piece.field == "fp" for value, _quoted in piece.values]
        unknown = [one for one in asked if filter.is_fingerprint(one) and one not in self._causes]
        if unknown:
            # without an answer the fingerprint stands there, as before
            self._naming.start(partial(self._context.causes.called, unknown), self._take_causes, lambda _error: None)

    def _take_causes(self, found: Mapping[str, Called]) -> None:
        self._causes.update(found)
        self._show()

    def tell(self, field: str, counts: Mapping[str, int]) -> None:
        """Say how many there are at all of each value: they stand there while nothing else is filtered for."""
        self._told[field] = counts
        if not self._rests.get(field):
            self._bar.set_counts(field, counts)

    def _recount(self, field: str) -> None:
        """Count within the other chips; the numbers stay as they were where nobody answers."""
        rest, asked = self._bar.without(field), next((one for one in self._shown if one.key == field), None)
        if rest != self._rests.get(field, ""):
            self._bar.set_counts(field, {} if rest else self._told.get(field, {}))
        self._rests[field] = rest
        if self._within is None or asked is None or (not rest and field in self._told):
            return
        values = [one.value for one in asked.values]
        call = self._within(rest, field, values)
        self._recounting[field].start(call, partial(self._show_numbers, field, rest), lambda _error: None)

    def _show_numbers(self, field: str, rest: str, found: Mapping[str, Total]) -> None:
        if rest == self._rests.get(field):
            least = [value for value, number in found.items() if not number.exact]
            self._bar.set_counts(field, {value: number.number for value, number in found.items()}, least)

    def on_looked(self, snapshot: Snapshot) -> None:
        """Count from the same look as everything else."""
        if snapshot.counts.cursor != self._counted and not self._counting.busy:
            self._counted = snapshot.counts.cursor
            # beside this thread: there may be ten thousand shops, several times a second
            self._counting.start(partial(counted, snapshot.counts, self._known.shops), self._show_counts)
        workers = tuple(sorted(info.worker for info in snapshot.workers))
        if workers != self._workers:
            self._workers = workers
            self._show()

    def _show_counts(self, found: Mapping[str, Mapping[str, int]]) -> None:
        for field, numbers in found.items():
            self.tell(field, numbers)

    def retranslate(self) -> None:
        """Say the names of types in the language of the moment."""
        self._show()

    def _take(self, found: _Known) -> None:
        self._known = found
        self._show()

    def _show(self) -> None:
        self._say_anew()
        values: dict[str, Callable[[], Iterable[FilterValue]]] = {
            "type": lambda: self._known.of_types,
            "shop": lambda: self._known.of_shops,
            "group": lambda: self._known.of_groups,
            "worker": lambda: map(_plain, self._workers),
            **{key: partial(self._worded, key, some) for key, some in self._others.items()},
            "fp": lambda: (
                FilterValue(key, called(one.name, one.title, one.where, one.place_name))
                for key, one in self._causes.items()
            ),
        }
        found = {"shop": self._find_shops} if len(self._known.shops) > MOST_SHOPS else {}
        fields = tuple(
            replace(field, values=tuple(values[field.key]()), free=True, find=found.get(field.key))
            if field.key in values
            else field
            for field in self._fields
        )
        if fields != self._shown:
            self._shown = fields
            self._bar.set_fields(fields)

    def _worded(self, field: str, values: Iterable[str]) -> Iterable[FilterValue]:
        """In the words that the field has for some of its own."""
        own = {one.value: one for each in self._fields if each.key == field for one in each.values}
        return (own.get(value) or _plain(value) for value in values)

    def _say_anew(self) -> None:
        """Put into words what is said in another language, or was said before anybody had counted which of too many
        shops are the busiest; an answer that is on its way is looked at once it is there.
        """
        known, counts = self._known, self._context.feed.latest.counts.shops
        stale = known.language != i18n.language() or (not known.counted and bool(counts))
        if stale and not self._ask.awaited:
            self._ask.start(partial(_named, known.types, known.shops, counts), self._take, lambda _error: None)

    def _find_shops(self, typed: str) -> list[FilterValue]:
        """The first of all shops whose name or id has this in it."""
        wanted = typed.casefold()
        fitting = (one for one in self._known.shops.items() if wanted in f"{one[1].name} {one[0]}".casefold())
        return [FilterValue(key, _shop_word(shop)) for key, shop in islice(fitting, FOUND)]


def counted(counts: Counts, known: Mapping[str, Shop] = MappingProxyType({})) -> dict[str, dict[str, int]]:
    """Per field and value how many tasks there are; of lanes, shops, their groups and platforms those not over yet."""
    shops = {key: sum(by.values()) for key, by in counts.shops.items()}
    platforms: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    for key, number in shops.items():
        platforms[key.partition(":")[0]] += number
        if key in known:
            groups[known[key].group] += number
    together = {
        name: sum(counts.status.get(status, 0) for status in some) for name, some in filter.STATUS_GROUPS.items()
    }
    return {
        "status": {**counts.status, **{name: number for name, number in together.items() if number}},
        "triage": dict(counts.triage),
        "lane": {lane: sum(by.values()) for lane, by in counts.lanes.items()},
        "shop": shops,
        "group": dict(groups),
        "platform": dict(platforms),
    }


class _Known(msgspec.Struct, frozen=True):
    """What is offered of types and shops, in the words of a language."""

    types: Mapping[str, TaskType]
    shops: Mapping[str, Shop]
    of_types: tuple[FilterValue, ...]
    of_shops: tuple[FilterValue, ...]  #: of very many shops the busiest
    of_groups: tuple[FilterValue, ...]
    counted: bool  #: whether it was known which are the busiest, where that is asked
    language: str


def _look(context: PageContext, counts: Mapping[str, Mapping[str, int]]) -> _Known:
    """With the words of each: there may be thousands, and each is looked through for secrets."""
    return _named(context.types(), context.shops(), counts)


def _named(types: Mapping[str, TaskType], shops: Mapping[str, Shop], counts: Mapping[str, Mapping[str, int]]) -> _Known:
    language = i18n.language()
    keys: Iterable[str] = shops
    if len(shops) > MOST_SHOPS:
        busiest = Counter({key: sum(by.values()) for key, by in counts.items()}).most_common(MOST_SHOPS)
        keys = [key for key, _number in busiest if key in shops]
    return _Known(
        types,
        shops,
        tuple(FilterValue(name, _type_word(name, kind)) for name, kind in sorted(types.items())),
        tuple(FilterValue(key, _shop_word(shops[key])) for key in sorted(keys)),
        tuple(map(_plain, sorted({shop.group for shop in shops.values() if shop.group}, key=as_read))),
        len(shops) <= MOST_SHOPS or bool(counts),
        language,
    )


def _plain(name: str) -> FilterValue:
    return FilterValue(name, safe.one_line(name, 60))


def within_tasks(context: PageContext, rest: str, field: str, values: Sequence[str]) -> Mapping[str, Total]:
    """How many tasks have each of these values of a field within the rest of their filter. Blocking."""
    if field == "gate" and not rest:
        return context.tasks.gate_counts()
    return context.tasks.within(rest, field, values)


def _type_word(name: str, kind: TaskType) -> str:
    title = shown.title_of(dict(kind.title), name, i18n.language())
    return name if title == name else f"{name}  {safe.one_line(title, 40)}"


def _shop_word(shop: Shop) -> str:
    return f"{safe.one_line(shop.name, 40)}  {shop.shop_id}" if shop.name else shop.shop_id
