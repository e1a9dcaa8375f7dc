"""What the command palette finds: commands of the page and the window, pages, views, shops, workers, queues and
tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from console.main_window import MainWindow
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.gates import limit
from services.domain.insight.shop import ShopNow
from services.domain.task import queues
from services.domain.task.record import Task
from services.domain.task.search.filter import format_terms
from services.domain.task.search.query import Term
from services.domain.text import view_link
from services.domain.text.said import said
from services.i18n import N_, SOURCE_LANGUAGE, _, is_chinese, speaking
from services.messages import render, told
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.work.asking import question
from views.kit.saved_views import SavedViews
from views.page import asked_by
from views.pages.tasks.views import BUILT_IN, numbers
from views.shell.palette import Group
from views.shell.palette_rows import Entry
from views.support import fuzzy, heard, safe, text
from views.support.keymap import GO
from views.support.operation import Operation
from views.support.pinyin import initials
from views.support.words import shop as shop_words
from views.theme.tokens import platform_badge, status
from views.widgets.buttons import shortcut_text

MOST, MOST_TASKS, MOST_LOOKED_AT = 6, 8, 3000
MOST_RECENT, MOST_USED = 5, 5
LEAST_TYPED = 3
#: what the page Queues shows
_QUEUES = frozenset({queues.LANE, queues.SHOP, queues.DELAY, "dead"})
_RECENT, _USED = "palette.recent", "palette.used"


class PaletteFinder(QObject):
    """Answers from what the window knows; task ids are asked for off the GUI thread.

    Signals:
        found: what was looked up (query), and groups of entries.
    """

    found = Signal(str, object)

    def __init__(
        self,
        window: MainWindow,
        context: PageContext,
        commands: Callable[[], Sequence[Entry]],
        ask_of_work: Callable[[str, str], object],
    ) -> None:
        """``commands`` are those of the window itself; ``ask_of_work`` opens *Did it run?* of a shop and a type."""
        super().__init__(window)
        self._window, self._context, self._own, self._ask_of_work = window, context, commands, ask_of_work
        self._tasks = Operation(self, latest=True)
        self._shops = Operation(self, latest=True)
        self._shop_entries: tuple[Entry, ...] = ()
        self._platforms: tuple[str, ...] = ()
        self._states: Mapping[str, ShopNow] = {}

    def refresh(self) -> None:
        """Ask for the shops again; the palette was opened."""
        # without an answer those of before stay, and the next opening asks again
        self._shops.start(self._ask_shops, self._take_shops, lambda _error: None)

    # at once

    def find(self, query: str, scope: str) -> Sequence[Group]:
        """Groups of what fits."""
        if not query and scope == "all":
            return self._remembered()
        if view_link.is_link(query):
            return [(_("Go to"), [self._link(query)])]
        groups: list[Group] = []
        if scope in ("all", "shops"):
            groups.append((_("Did it run?"), self._works(query)))
        if scope in ("all", "commands"):
            commands = also_english(lambda: [*self._commands(), *self._limits()])
            groups.append((_("Commands"), best(query, commands, 20 if scope == "commands" else MOST)))
        if scope in ("all", "shops"):
            shops = best(query, self._shop_entries, 50 if scope == "shops" else MOST)
            groups.append((_("Shops"), [self._stated(entry) for entry in shops]))
        if scope == "all":
            groups.append((_("Workers"), best(query, self._workers(), MOST)))
            groups.append((_("Queues"), best(query, self._queues(), MOST)))
            groups.append((_("Go to"), best(query, also_english(self._places), MOST)))
        return groups

    def used(self, entry: Entry) -> None:
        """Remember what was chosen, and on which page."""
        memory = self._context.memory
        if entry.kind == "task":
            return
        recent = [key for key in _texts(memory.get(_RECENT)) if key != entry.key]
        memory.put(_RECENT, [entry.key, *recent][:MOST_RECENT])
        used = memory.get(_USED, {})
        used = dict(used) if isinstance(used, dict) else {}
        here = Counter(used.get(self._window.current, {}))
        here[entry.key] += 1
        memory.put(_USED, {**used, self._window.current: dict(here.most_common(30))})

    def _remembered(self) -> Sequence[Group]:
        """Without a query: what was chosen lately, what is used most on this page, and where one can go."""
        commands, places = self._commands(), self._places()
        others = (*self._limits(), *self._shop_entries, *self._workers(), *self._queues())
        known = {entry.key: entry for entry in (*commands, *places, *others)}
        used = self._context.memory.get(_USED, {})
        here = used.get(self._window.current, {}) if isinstance(used, dict) else {}
        often = Counter(here if isinstance(here, dict) else {})
        recent = [known[key] for key in _texts(self._context.memory.get(_RECENT)) if key in known]
        told = {entry.key for entry in recent}
        fresh = [entry for entry in commands if entry.key not in told]
        # sorted keeps the order of the design among equals
        rest = sorted(fresh, key=lambda entry: (-often[entry.key], bool(entry.reason)))
        return [
            (_("Recent"), recent),
            (_("Commands"), rest[:MOST_USED]),
            (_("Go to"), [entry for entry in places if entry.key not in told]),
        ]

    def _commands(self) -> list[Entry]:
        page = self._window.page(self._window.current) if self._window.current else None
        entries = [
            Entry(
                key=one.key,
                kind="command",
                words=one.words,
                note=one.note,
                icon=one.icon,
                keys=one.keys,
                reason=one.reason,
                run=one.run,
            )
            for one in (page.commands() if page is not None else ())
        ]
        failed = Entry(
            key="shop.failed",
            kind="command",
            words=_("Failed tasks of a shop"),
            note=_("choose a shop next"),
            icon="ph.arrow-clockwise",
            then=lambda: [self._failed_of(entry) for entry in self._shop_entries],
        )
        return [*entries, *self._own(), failed]

    def _limits(self) -> list[Entry]:
        """Where a whole platform is paused, resumed and limited; found by typing alone, for there may be many."""
        return [
            Entry(
                key=f"limits.{platform}",
                kind="command",
                words=_("Pause or limit {name}").format(name=shop_words.platform_name(platform)),
                icon="ph.pause-circle",
                others=(platform,),
                run=partial(self._window.open_page, "shops", f"{shop_words.LIMITS_OF}{limit.PLATFORM}:{platform}"),
            )
            for platform in self._platforms
        ]

    def _works(self, query: str) -> list[Entry]:
        """``did SHOP TYPE``: the shops of which it can be asked; what follows their name is the type."""
        asks, rest = question(query)
        if not asks:
            return []
        for end in range(len(rest), 0, -1):
            if shops := best(" ".join(rest[:end]), self._shop_entries, MOST):
                kind = " ".join(rest[end:])
                every = Entry(
                    key="work",
                    kind="shop",
                    words=_("All works like this, an answer each"),
                    icon="ph.clock-counter-clockwise",
                    right=kind,
                    run=partial(self._ask_of_work, " ".join(rest[:end]), kind),
                )
                found = [
                    replace(
                        one,
                        key=f"work.{one.copy}",
                        icon="ph.clock-counter-clockwise",
                        right=kind,
                        run=partial(self._ask_of_work, one.copy, kind),
                    )
                    for one in shops
                ]
                return [*found, every] if len(shops) > 1 else found
        return []

    def _failed_of(self, entry: Entry) -> Entry:
        expression = f'status:dead triage:open shop:"{entry.copy}"'
        return replace(entry, run=partial(self._window.open_page, "tasks", expression))

    def _places(self) -> list[Entry]:
        places = [
            Entry(
                key=f"page.{spec.id}",
                kind="page",
                words=_(spec.title),
                icon=spec.icon,
                keys=shortcut_text(f"{GO}.{spec.id}") if spec.letter else "",
                run=partial(self._window.open_page, spec.id),
            )
            for spec in self._window.specs
        ]
        counts = numbers(self._context.feed.latest.counts)
        for view in SavedViews(self._context.memory, BUILT_IN, "tasks").all():
            number = counts.get(view.key)
            places.append(
                Entry(
                    key=f"view.{view.key}",
                    kind="page",
                    words=_("View {name}").format(name=view.shown),
                    note=_("Tasks, saved view"),
                    icon="ph.bookmark-simple",
                    right="" if number is None else text.compact(number),
                    run=partial(self._window.open_page, "tasks", view),
                )
            )
        return places

    def _link(self, query: str) -> Entry:
        """What a pasted link opens, or why it does not."""
        entry = Entry(key="link", kind="page", words=_("Open this link"), icon="ph.link")
        try:
            link = view_link.read(query)
        except UsageError as exc:
            return replace(entry, reason=told(exc))
        spec = next((one for one in self._window.specs if one.id == link.page), None)
        if spec is None:
            return replace(entry, reason=told(said("link.page", page=link.page)))
        note = text.listed(part for part in (_(spec.title), safe.one_line(link.show, 80)) if part)
        if link.profile.casefold() not in ("", self._context.profile.casefold()):
            return replace(entry, note=note, reason=told(said("link.elsewhere", name=safe.one_line(link.profile, 60))))
        return replace(entry, note=note, run=partial(self._window.open_page, link.page, asked_by(link)))

    def _workers(self) -> list[Entry]:
        return [
            Entry(
                key=f"worker.{one.name}",
                kind="worker",
                words=one.name,
                icon="ph.robot",
                right=_("{busy} of {slots} busy").format(busy=one.busy, slots=len(one.slots))
                if one.living
                else render(one.remark)
                if one.remark is not None
                else "",
                copy=one.name,
                run=partial(self._window.open_page, "workers", one.name),
            )
            for one in self._context.feed.latest.fleet().workers
        ]

    def _queues(self) -> list[Entry]:
        now = self._context.feed.latest
        return [
            Entry(
                key=f"queue.{one.name}",
                kind="queue",
                words=one.name,
                icon="ph.stack",
                # of dead letters the broker knows but the messages
                right="" if one.kind == "dead" or not now.told else _("{n} ready").format(n=text.count(one.ready)),
                copy=one.name,
                run=partial(self._window.open_page, "queues", one.name),
            )
            for one in now.depths
            if one.kind in _QUEUES
        ]

    # shops and tasks

    def _ask_shops(self) -> tuple[Mapping[str, Shop], Sequence[ShopNow]]:
        return self._context.shops(), self._context.limits.states.look()

    def _take_shops(self, found: tuple[Mapping[str, Shop], Sequence[ShopNow]]) -> None:
        shops, states = found
        self._states = {now.key: now for now in states}
        self._platforms = tuple(sorted({shop.platform for shop in shops.values()}))
        self._shop_entries = tuple(self._shop(key, shop) for key, shop in sorted(shops.items()))

    def _shop(self, key: str, shop: Shop) -> Entry:
        name = shop.called
        return Entry(
            key=f"shop.{key}",
            kind="shop",
            words=name,
            note=shop.shop_id if shop.name else "",
            icon="ph.storefront",
            others=(key, shop.shop_id, platform_badge(shop.platform), initials(name)),
            copy=key,
            run=partial(self._window.open_page, "shops", key),
        )

    def _stated(self, entry: Entry) -> Entry:
        """With what is true of the shop, as every screen says it."""
        now = self._states.get(entry.copy)
        if now is None:
            return entry
        glyph = status(now.state)
        why = shop_words.why(now, self._context.feed.latest.at_ms)
        return replace(
            entry,
            note=text.listed([part for part in (entry.note, why) if part]),
            right=text.listed([shop_words.state(now), platform_badge(now.platform)]),
            icon=glyph.glyph,
            role=glyph.role,
        )

    def look_up(self, query: str, scope: str) -> None:
        """Ask for tasks by a part of their id; ``found`` brings them."""
        if scope in ("all", "tasks") and len(query) >= LEAST_TYPED and " " not in query:
            self._tasks.start(partial(_tasks_of, self._context.tasks, query), partial(self._tell, query))

    def want_no_more(self) -> None:
        """What is looked up is about another query than the one that stands there now."""
        self._tasks.drop()

    def _tell(self, query: str, tasks: Sequence[Task]) -> None:
        self.found.emit(query, [(_("Tasks"), [self._task(query, task) for task in tasks])])

    def _task(self, query: str, task: Task) -> Entry:
        now = self._context.feed.latest.at_ms
        glyph = status(heard.glyph(task, now))
        name = f"{task.task_type}, {task.task_id}"
        match = fuzzy.match(query, name)
        return Entry(
            key=f"task.{task.task_id}",
            kind="task",
            words=name,
            icon=glyph.glyph,
            role=glyph.role,
            right=heard.word(task, now),
            copy=task.task_id,
            spans=match.spans if match is not None else (),
            run=partial(self._open_task, task.task_id),
        )

    def _open_task(self, task_id: str) -> None:
        self._window.open_page("tasks")
        show = getattr(self._window.page("tasks"), "show_task", None)
        if show is not None:
            show(task_id)


def also_english(ask: Callable[[], Sequence[Entry]]) -> Sequence[Entry]:
    """Entries which in Chinese are found by their English words and by the first letters of their pinyin, too."""
    entries = ask()
    if not is_chinese():
        return entries
    with speaking(SOURCE_LANGUAGE):
        english = {entry.key: entry.words for entry in ask()}
    return [
        replace(entry, others=(*entry.others, english.get(entry.key, ""), initials(entry.words))) for entry in entries
    ]


def best(query: str, entries: Sequence[Entry], most: int) -> list[Entry]:
    """The entries that fit best, their letters marked; without a query the first ones."""
    if not query:
        return list(islice(entries, most))
    scored = []
    for place, entry in enumerate(entries):
        match = fuzzy.match(query, entry.words, (*entry.others, entry.note))
        if match is not None:
            # what cannot be done now stands below what can
            scored.append((bool(entry.reason), -match.score, place, replace(entry, spans=match.spans)))
    scored.sort(key=lambda item: item[:3])
    return [entry for *_rank, entry in scored[:most]]


def _tasks_of(queries: TaskQueries, query: str) -> list[Task]:
    exact = queries.get([query])
    contains = format_terms((Term(field="id", op="~", values=(query,)),))
    found = [*exact]
    cursor: str | None = ""
    looked = 0
    while cursor is not None and len(found) < MOST_TASKS and looked < MOST_LOOKED_AT:
        page = queries.page(contains, limit=MOST_TASKS, cursor=cursor)
        found += [task for task in page.tasks if task.task_id != query]
        cursor = page.next
        looked += 1000
    return found[:MOST_TASKS]


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


WINDOW_COMMANDS = (
    ("window.new", N_("New task"), "ph.plus"),
    ("window.work", N_("Did it run?"), "ph.clock-counter-clockwise"),
    ("window.past", N_("Look back in time"), "ph.rewind"),
    ("window.handover", N_("Handover"), "ph.handshake"),
    ("window.another", N_("New window"), "ph.app-window"),
    ("window.quit", N_("Quit Fleetdeck"), "ph.sign-out"),
    ("window.save", N_("Save this view as PDF or picture"), "ph.file-arrow-down"),
    ("window.print", N_("Print this view"), "ph.printer"),
    ("window.refresh", N_("Refresh"), "ph.arrows-clockwise"),
    ("window.freeze", N_("Freeze view"), "ph.pause"),
    ("window.rail", N_("Collapse navigation"), "ph.layout"),
    ("window.link", N_("Copy a link to this view"), "ph.link"),
    ("window.help", N_("Help on this page"), "ph.question"),
    ("window.keys", N_("All keys"), "ph.keyboard"),
    ("window.guide", N_("Operator's guide"), "ph.book-open"),
)
