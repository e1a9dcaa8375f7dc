"""What is done to the shops that are ticked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from services.domain.fleet.shop import MOST_AT_ONCE, Pause, Shop, tags_of
from services.domain.gates import paused
from services.i18n import N_, _, ngettext
from services.monitor.shops.queries import ShopRow
from views.context import PageContext
from views.dialogs.confirm import Asked, ConfirmDialog, Question, ask_for_note, confirm, confirm_limit
from views.dialogs.new_task.draft import ALL
from views.dialogs.resuming import ask_why_paused, needs_asking
from views.kit.each import KEPT, NAMED, Again, Each, Said
from views.kit.task_verb import FEW, many
from views.pages.shops import words
from views.support import text
from views.support.operation import Operation, Start
from views.widgets.fields import Labelled, NumberField
from views.widgets.toast import ToastAction, action, failure

Act = Callable[[ShopRow], object]


#: key, source text, icon
ACTS = (
    ("pause", N_("Pause"), "ph.pause-circle"),
    ("resume", N_("Resume"), "ph.play"),
    ("limit", N_("Tasks at once"), "ph.gauge"),
    ("dedicate", N_("Own queue"), "ph.star-four"),
    ("undedicate", N_("Back to the lanes"), "ph.git-merge"),
    ("group", N_("Group"), "ph.folders"),
    ("tag", N_("Tags"), "ph.tag"),
    ("new", N_("New task"), "ph.plus"),
)


def counted(number: int) -> str:
    """So many shops in words."""
    return ngettext("{n} shop", "{n} shops", number).format(n=text.count(number))


class BulkActs(QObject):
    """Does it to one after the other; what could not be done is named with its reason. It is asked once for all before,
    unless they are few and *Undo* gives all of it back, as with one shop.

    Signals:
        changed: something was done.
    """

    changed = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._each: Each[ShopRow] = Each(context, words.name, owner)
        self._each.changed.connect(self.changed)
        self._counting = Operation(self, latest=True)

    def ask(self, key: str, rows: Sequence[ShopRow]) -> None:
        """Do it to all of these, or ask first."""
        asks: dict[str, Callable[[Sequence[ShopRow]], None]] = {
            "pause": self._pause,
            "resume": self._resume,
            "limit": self._limit,
            "dedicate": partial(self._dedicate, on=True),
            "undedicate": partial(self._dedicate, on=False),
            "group": self._group,
            "tag": self._tag,
            "new": self._new,
        }
        if rows:
            asks[key](rows)

    def _pause(self, rows: Sequence[ShopRow]) -> None:
        if self._few(rows):
            self._pause_all(rows, "")
            return

        def question() -> Question:
            verb = ngettext("Pause {n} shop", "Pause {n} shops", len(rows))
            asked = _question(N_("Pause shops"), rows, verb, _("Nothing of them starts; running tasks go on."))
            return replace(asked, note=_("Note, kept in the audit trail"))

        ask_for_note(question, self._owner, lambda note, _start: self._pause_all(rows, note))

    def _pause_all(self, rows: Sequence[ShopRow], note: str) -> None:
        fleet = self._context.commands.fleet
        stood: dict[str, Pause | None] = {}

        def there(row: ShopRow) -> object:
            before = fleet.pause(f"shop:{row.key}", reason=note)
            if before is not None and not note:  # the pause of before stays: there is nothing to take back
                return KEPT
            stood[row.key] = before
            return None

        def back(row: ShopRow) -> None:
            fleet.take_back_pause(f"shop:{row.key}", stood[row.key])

        def why(unasked: Again) -> ToastAction:
            return action(N_("Write why"), lambda: self._ask_why(rows, stood, unasked))

        self._each.run(
            rows,
            there,
            back,
            lambda n: ngettext("{n} shop is paused.", "{n} shops are paused.", n),
            kept=lambda n: ngettext(
                "{n} shop was paused already; it stays so.", "{n} shops were paused already; they stay so.", n
            ),
            more=None if note else why,
        )

    def _ask_why(self, rows: Sequence[ShopRow], stood: Mapping[str, Pause | None], unasked: Again) -> None:
        """``stood``: by shop that was paused just now, the pause before, if any."""
        fleet, me = self._context.commands.fleet, self._context.commands.operator.who
        now = [row for row in rows if row.key in stood]

        def act(note: str, start: Start) -> None:
            self._each.run(
                now,
                lambda row: fleet.pause(f"shop:{row.key}", reason=note, instead=me),
                lambda row: fleet.take_back_pause(f"shop:{row.key}", stood[row.key]),
                lambda n: ngettext(
                    "Why {n} shop is paused stands with the pause.",
                    "Why {n} shops are paused stands with the pauses.",
                    n,
                ),
                start=start,
            )

        ask_why_paused(partial(_named, now), self._owner, act, unasked)

    def _few(self, rows: Sequence[ShopRow]) -> bool:
        return len(rows) <= confirm_limit(self._context.environment)

    def _resume(self, rows: Sequence[ShopRow]) -> None:
        fleet = self._context.commands.fleet
        me = self._context.commands.operator.who

        def question() -> Question:
            verb = ngettext("Resume {n} shop", "Resume {n} shops", len(rows))
            said = _("Their own pauses end; pauses of a platform, a type or of everything stay.")
            return _question(N_("Resume shops"), rows, verb, said)

        def done(number: int) -> str:
            return ngettext("{n} shop goes on.", "{n} shops go on.", number)

        def act(row: ShopRow) -> object:
            return fleet.resume(f"shop:{row.key}")

        # what waits there starts at once, which is no more to be taken back: of a few it is, as of one
        if len(rows) <= FEW and not any(needs_asking(_own_pause(row), me) for row in rows):
            self._each.run(rows, act, self._pause_again, done)
        else:
            self._open(question, rows, act, self._pause_again, done)

    def _pause_again(self, row: ShopRow) -> None:
        """Its own pause of before, with the reason of then, unless it is paused again by now."""
        before = _own_pause(row)
        if before is not None:
            self._context.commands.fleet.pause(before.scope, reason=before.reason, instead="")

    def _dedicate(self, rows: Sequence[ShopRow], *, on: bool) -> None:
        """First how many tasks move with it: what stands in the list may be some seconds old."""
        others = [row for row in rows if row.shop.dedicated != on]
        count = partial(self._context.limits.movable, [row.key for row in others])
        self._counting.start(
            count,
            lambda found: self._ask_dedicate(rows, dict(zip((row.key for row in others), found, strict=True)), on=on),
            lambda exc: self._context.toast(failure(exc)),
        )

    def _ask_dedicate(self, rows: Sequence[ShopRow], moving: Mapping[str, int], *, on: bool) -> None:
        fleet = self._context.commands.fleet
        there, back = (fleet.dedicate, fleet.undedicate) if on else (fleet.undedicate, fleet.dedicate)

        def done(number: int) -> str:
            if on:
                return ngettext(
                    "{n} shop has a queue of its own now.", "{n} shops have queues of their own now.", number
                )
            return ngettext("{n} shop goes through the lanes again.", "{n} shops go through the lanes again.", number)

        tasks = sum(moving.values())

        def undone(row: ShopRow) -> object:  # one that had it so before keeps it
            return back(row.key) if row.shop.dedicated != on else None

        # as with one shop: into queues of their own at once, back where nothing moves that would
        if self._few(rows) and (on or not tasks):
            self._each.run(rows, lambda row: there(row.key), undone, done)
        else:
            question = partial(_asked_to_dedicate, rows, moving, on=on)
            self._open(question, rows, lambda row: there(row.key), undone, done)

    def _limit(self, rows: Sequence[ShopRow]) -> None:
        fleet = self._context.commands.fleet
        number = NumberField(rows[0].shop.concurrency, 1, MOST_AT_ONCE)

        def question() -> Question:
            verb = ngettext("Limit {n} shop", "Limit {n} shops", len(rows))
            return _question(N_("Tasks at once"), rows, verb, _("So many tasks of each of them run at once."))

        dialog = ConfirmDialog(question, self._owner)
        _put(dialog, Labelled(N_("Tasks at once"), number))

        def done(number: int) -> str:
            return ngettext("The limit of {n} shop is changed.", "The limits of {n} shops are changed.", number)

        def act() -> None:
            wanted = number.value()  # read here: what is done runs in another thread
            before: dict[str, int] = {}

            def there(row: ShopRow) -> None:
                before[row.key] = fleet.set_concurrency(row.key, wanted)

            def back(row: ShopRow) -> None:
                fleet.set_concurrency(row.key, before[row.key], instead=wanted)

            self._each.run(rows, there, back, done)

        dialog.confirmed.connect(act)
        dialog.open()

    def _group(self, rows: Sequence[ShopRow]) -> None:
        field = QLineEdit(rows[0].shop.group if len({row.shop.group for row in rows}) == 1 else "")

        def question() -> Question:
            verb = (
                ngettext("Put {n} shop into the group", "Put {n} shops into the group", len(rows))
                if field.text().strip()
                else ngettext("Take {n} shop out of its group", "Take {n} shops out of their groups", len(rows))
            )
            return _question(N_("Group of shops"), rows, verb, _("An empty name takes them out of their groups."))

        dialog = ConfirmDialog(question, self._owner)
        _put(dialog, Labelled(N_("Group"), field))
        field.textChanged.connect(dialog.say)

        def act() -> None:
            group = field.text().strip()  # read here: what is done runs in another thread
            self._edit(
                rows,
                lambda row: replace(row.shop, group=group, unregistered=False),
                lambda n: ngettext("The group of {n} shop is changed.", "The groups of {n} shops are changed.", n),
            )

        dialog.confirmed.connect(act)
        dialog.open()

    def _tag(self, rows: Sequence[ShopRow]) -> None:
        shared = set(rows[0].shop.tags).intersection(*(row.shop.tags for row in rows))
        field = QLineEdit(", ".join(tag for tag in rows[0].shop.tags if tag in shared))

        def question() -> Question:
            verb = ngettext("Tag {n} shop", "Tag {n} shops", len(rows))
            said = _("The tags that all of them share; what else each has stays.")
            return _question(N_("Tags of shops"), rows, verb, said)

        dialog = ConfirmDialog(question, self._owner)
        _put(dialog, Labelled(N_("Tags"), field, hint=N_("any words, with commas between")))

        def tagged(wanted: tuple[str, ...], row: ShopRow) -> Shop:
            own = tuple(tag for tag in row.shop.tags if tag not in shared and tag not in wanted)
            return replace(row.shop, tags=(*wanted, *own), unregistered=False)

        def done(number: int) -> str:
            return ngettext("The tags of {n} shop are changed.", "The tags of {n} shops are changed.", number)

        dialog.confirmed.connect(lambda: self._edit(rows, partial(tagged, tags_of(field.text())), done))
        dialog.open()

    def _new(self, rows: Sequence[ShopRow]) -> None:
        """What they are given is asked for in the dialog, which shows all of it before."""
        platforms = {row.shop.platform for row in rows}
        platform = platforms.pop() if len(platforms) == 1 else ALL
        self._context.new_task({"platform": platform, "shops": [row.key for row in rows]})

    def _edit(self, rows: Sequence[ShopRow], changed: Callable[[ShopRow], Shop], done: Said) -> None:
        fleet = self._context.commands.fleet
        stood: dict[str, tuple[Shop, Shop]] = {}  #: how each was found and left

        def there(row: ShopRow) -> None:
            stood[row.key] = fleet.edit_shop(row.shop, changed(row))

        def back(row: ShopRow) -> None:
            before, now = stood[row.key]
            fleet.put_back_shops([now], {row.key: before})

        self._each.run(rows, there, back, done)

    def _open(self, question: Asked, rows: Sequence[ShopRow], act: Act, back: Act, done: Said) -> None:
        confirm(question, self._owner, lambda: self._each.run(rows, act, back, done))


def _question(title: str, rows: Sequence[ShopRow], verb: str, said: str) -> Question:
    return Question(title=title, text=said, rows=_named(rows), verb=verb.format(n=text.count(len(rows))))


def _asked_to_dedicate(rows: Sequence[ShopRow], moving: Mapping[str, int], *, on: bool) -> Question:
    """``moving``: how many tasks move with a shop, by its key; those with most of them are named."""
    tasks = sum(moving.values())
    verb = (
        ngettext("Give {n} shop a queue of its own", "Give {n} shops queues of their own", len(rows))
        if on
        else ngettext("Bring {n} shop back to the lanes", "Bring {n} shops back to the lanes", len(rows))
    )
    said = words.moves_there(tasks) if on else words.moves_back(tasks)
    most = sorted(rows, key=lambda row: -moving.get(row.key, 0))
    asked = _question(N_("Queues of shops"), most, verb, said if tasks else _("No task moves."))
    told = ((name, many(moving.get(key, 0)) if key else "") for name, key in asked.rows)
    return replace(asked, number=many(tasks), rows=tuple(told))


def _named(rows: Sequence[ShopRow]) -> tuple[tuple[str, str], ...]:
    """The first of them by name and id, and how many more there are."""
    named = [(words.name(row), row.key) for row in rows[:NAMED]]
    more = len(rows) - len(named)
    if more > 0:
        named.append((ngettext("{n} more shop", "{n} more shops", more).format(n=text.count(more)), ""))
    return tuple(named)


def _own_pause(row: ShopRow) -> Pause | None:
    scope = f"shop:{row.key}"
    return next((one for one in row.now.pauses if (one.gate, one.scope) == (paused.GATE, scope)), None)


def _put(dialog: ConfirmDialog, field: Labelled) -> None:
    """Nothing is lost by what is asked here, so the keyboard begins where something is to be typed."""
    dialog.body.addWidget(field)
    field.field.setFocus()
