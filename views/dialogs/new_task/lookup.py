"""What the New task dialog asks off the GUI thread: shops and types, and what is active already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import msgspec
from PySide6.QtCore import QObject, Signal

from services.domain.fleet.shop import Shop
from services.domain.insight.shop import ShopNow
from services.domain.task.record import Task
from services.domain.task.search import filter
from services.domain.task.search.query import Term, equals
from services.domain.text.ordering import as_read
from services.domain.types.task_type import TaskType
from views.context import PageContext
from views.dialogs.new_task.draft import Draft
from views.dialogs.new_task.twins import Twins, find
from views.support.operation import Operation

#: tasks that are offered while a person types; words that are looked for, and shops that one may name
OFFERED, MOST_WORDS, MOST_SHOPS = 12, 4, 40


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """Shops and task types there are."""

    shops: Mapping[str, Shop]
    types: Mapping[str, TaskType]
    states: Mapping[str, ShopNow] = msgspec.field(
        default_factory=dict
    )  #: what is true of each shop, by ``platform:shop_id``
    at_ms: int = 0  #: when that was, UTC

    @property
    def number(self) -> int | None:
        """How many shops there are, None before anybody has told: some types there always are."""
        return len(self.shops) if self.shops or self.types else None


class Lookup(QObject):
    """Signals:
    known: a ``Known``.
    unknown: the error of asking for it.
    checked: the ``Twins`` of the draft.
    measured: name of a type, and how long its tasks usually run (``Runs``).
    found: tasks that fit the words looked for, the newest first.
    """

    known = Signal(object)
    unknown = Signal(object)
    checked = Signal(object)
    measured = Signal(str, object)
    found = Signal(object)

    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._asking = Operation(self, latest=True)
        self._checking = Operation(self, latest=True)
        self._measuring = Operation(self, latest=True)
        self._finding = Operation(self, latest=True)

    @property
    def asking(self) -> bool:
        """Whether shops and types are on their way."""
        return self._asking.busy

    @property
    def checking(self) -> bool:
        """Whether duplicates are being looked up."""
        return self._checking.awaited

    def ask(self) -> None:
        """Read shops and types."""
        self._asking.start(self._read, self.known.emit, self.unknown.emit)

    def check(self, kind: TaskType, draft: Draft) -> None:
        """Look which of the tasks are active already, and which could not start."""
        later = bool(draft.at_ms or draft.delay_min)
        call = partial(self._look, kind, draft, later=later)
        self._checking.start(call, self.checked.emit, self._on_unchecked)

    def check_no_more(self) -> None:
        """There is nothing to look for: what is being looked up was asked about something else."""
        self._checking.drop()

    def measure(self, task_type: str) -> None:
        """Ask how long tasks of a type usually run."""
        # without an answer the forecast goes by what the type says
        told = partial(self.measured.emit, task_type)
        self._measuring.start(partial(self._context.tasks.usual, task_type), told, lambda _error: None)

    def find(self, words: str) -> None:
        """Look for tasks by id, shop or type."""
        self._finding.start(partial(self._fitting, words), self.found.emit, lambda _error: None)

    def _look(self, kind: TaskType, draft: Draft, *, later: bool) -> Twins:
        found = find(self._context.tasks, kind, draft.shops, draft.payload, draft.priority, later=later)
        if not draft.depends_on:
            return found
        return msgspec.structs.replace(found, after=self._context.commands.tasks.after(draft.specs("")))

    def _fitting(self, words: str) -> list[Task]:
        terms = tuple(self._term(word.casefold()) for word in words.split()[:MOST_WORDS])
        return list(self._context.tasks.page(filter.format_terms(terms), limit=OFFERED).tasks)

    def _term(self, word: str) -> Term:
        """A type by its title, shops by their name, else what stands in an id."""
        kinds = [code for code, kind in self._context.types().items() if _among(word, (code, *kind.title.values()))]
        if kinds:
            return equals("type", *kinds)
        shops = [key for key, shop in self._context.shops().items() if _among(word, (shop.name, shop.name_en))]
        return equals("shop", *shops[:MOST_SHOPS]) if shops else Term(field="text", op="~", values=(word,))

    def _read(self) -> Known:
        return Known(
            shops=dict(sorted(self._context.shops().items(), key=lambda one: as_read(one[0]))),
            types=self._context.types(),
            states={now.key: now for now in self._context.limits.states.look()},
            at_ms=self._context.feed.latest.at_ms,
        )

    def _on_unchecked(self, _error: BaseException) -> None:
        # The store refuses duplicates by itself; here they are only announced.
        self.checked.emit(Twins())


def _among(word: str, names: Iterable[str]) -> bool:
    return any(word in name.casefold() for name in names)
