"""What is done to promises and about what holds them: one list behind panel, menu, keys and palette; all audited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal

from services.domain.promises.promise import Promise
from services.domain.promises.standing import Row, SharedCause
from services.domain.task.search import filter
from services.domain.task.search.query import Term, equals
from services.i18n import N_, _
from services.monitor.promises import PromiseRow
from views.dialogs.confirm import Question, ask_for_note
from views.kit.page_acts import PageActs
from views.kit.verb import LOOK, Place, Verb
from views.page import FromPast
from views.pages.promises import words
from views.pages.promises.editor import PromiseDialog
from views.support import instant, safe, text
from views.support.operation import Start
from views.support.words import way
from views.widgets.attention.item import CHANGING

#: causes whose way out stands among the verbs of a promise
WAYS = 3


class PromiseActions(PageActs):
    """Signals:
    made: name of a promise that was kept.
    """

    made = Signal(str)

    # promises

    def create(self, like: Promise | None = None) -> None:
        """Promise something new, in a dialog; ``like`` fills its fields."""
        self._open(PromiseDialog(self._context, None, like, self._owner))

    def edit(self, row: PromiseRow) -> None:
        """Promise something else, in a dialog."""
        self._open(PromiseDialog(self._context, row.promise, None, self._owner))

    def _open(self, dialog: PromiseDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self.made)
        dialog.saved.connect(lambda _name: self.changed.emit())
        dialog.open()

    def switch(self, row: PromiseRow) -> None:
        """Judge it no longer, or again."""
        name, enabled = row.name, not row.promise.enabled
        said = N_("{name} is judged again.") if enabled else N_("{name} is judged no longer.")
        there = partial(self._context.commands.promises.enable, name, enabled=enabled)
        back = partial(self._context.commands.promises.enable, name, enabled=not enabled)
        self._act(there, lambda _done: _(said).format(name=name), back)

    def remove(self, row: PromiseRow) -> None:
        """Take one away, after a look at it."""

        def question() -> Question:
            return Question(
                title=N_("Remove a promise"),
                rows=((_("promise"), words.sentence(row.promise)),),
                text=_(
                    "Nobody judges it any more, and its strip and its breaks are forgotten. What it was stays in the"
                    " audit."
                ),
                verb=_("Remove"),
                note=_("Note, kept in the audit trail"),
                danger=True,
            )

        ask_for_note(question, self._owner, partial(self._remove, row.promise))

    def _remove(self, promise: Promise, note: str, start: Start) -> None:
        commands = self._context.commands.promises
        again = partial(commands.set, promise)
        call = partial(commands.remove, promise.name, note=note)
        self._act(call, lambda _was: _("{name} is removed.").format(name=promise.name), again, start=start)

    # what holds it

    def help(self, cause: SharedCause | Row, about: str) -> None:
        """Do what helps, or show where; ``about`` is copied where it is for somebody else."""
        copies = cause.verb.startswith("copy_")
        self._context.way_out(cause.verb, safe.masked(about) if copies else cause.target)

    def help_row(self, row: PromiseRow, cause: SharedCause) -> None:
        """The same for a cause of a whole promise."""
        said = words.say(cause.message)
        self.help(
            cause, f"{words.sentence(row.promise)}\n{words.shops(cause.shops)}: {said}\n{text.listed(cause.named)}"
        )

    def show_tasks(self, row: PromiseRow, begins: int = 0, ends: int = 0, *, past: bool = False) -> None:
        """The tasks of its type, of its platforms where it has some; of a time (UTC ms) what changed in it last.
        ``past``: that is so long ago that the list must say what it is of.
        """
        terms = [equals("type", row.promise.task_type)]
        terms += [equals("platform", *row.promise.platforms)] if row.promise.platforms else []
        now = shows = filter.format_terms(tuple(terms))
        if ends:
            terms += [Term(field="updated", op=">=", number=begins), Term(field="updated", op="<", number=ends)]
            shows = filter.format_terms(tuple(terms))
        said = partial(_said_then, begins, ends)
        self.shown.emit("tasks", FromPast(at_ms=begins, said=said, show=shows, now=now) if past else shows)

    def show_work(self, row: PromiseRow, shop: str) -> None:
        """The tasks of its type in one shop (``platform:shop_id``)."""
        self.shown.emit("tasks", filter.format_terms((equals("type", row.promise.task_type), equals("shop", shop))))

    def show_trail(self, row: PromiseRow) -> None:
        """Who did what to it."""
        self.shown.emit("audit", f'target:"{row.name}"')

    def show_shop(self, key: str) -> None:
        """One shop on its page."""
        self.shown.emit("shops", key)

    # acting


def _said_then(begins: int, ends: int) -> str:
    now = instant.now_ms()
    begin, end = words.minute(begins, now), words.minute(min(ends, now), now)
    said = _("These tasks changed last from {begin} to {end}.").format(begin=begin, end=end)
    return " ".join(
        [said, _("Their states and all else of them are of now; tasks that were removed since are missing.")]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromiseVerb(Verb[PromiseRow]):
    """Something that can be done to a promise."""

    do: Callable[[PromiseActions, PromiseRow], None]


class Switch(PromiseVerb):
    """Disables what is enabled and the other way about."""

    def name(self, chosen: PromiseRow) -> str:
        """What it would do."""
        return N_("Disable") if chosen.promise.enabled else N_("Enable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way(PromiseVerb):
    """What helps against one of the causes that hold its shops."""

    cause: SharedCause

    def said(self, chosen: PromiseRow) -> str:
        """What it does."""
        return words.verb(self.cause)

    def entry(self, chosen: PromiseRow) -> str:
        """What it does, and for how many shops."""
        return _("{verb} ({shops})").format(verb=words.verb(self.cause), shops=words.shops(self.cause.shops))


def role_of(verb: str) -> str:
    """The least that may do what helps: what only opens a page everybody may."""
    return "operator" if verb in CHANGING else LOOK


def ways_of(row: PromiseRow) -> tuple[Way, ...]:
    """What helps against the causes that hold most of its shops; nothing where the judgement is too old."""
    found: list[Way] = []
    for cause in () if row.stale else row.holds:
        known = any((one.cause.verb, one.cause.target) == (cause.verb, cause.target) for one in found)
        if cause.verb in way.VERBS and not known:
            do = partial(_help, cause)
            key = f"{cause.verb} {cause.target}".strip()
            found.append(
                Way(key=key, text=way.VERBS[cause.verb], special=True, role=role_of(cause.verb), cause=cause, do=do)
            )
    return tuple(found[:WAYS])


def _help(cause: SharedCause, actions: PromiseActions, row: PromiseRow) -> None:
    actions.help_row(row, cause)


_LISTED = frozenset({Place.MENU, Place.PALETTE})
#: of any promise, in their order
USUAL: tuple[PromiseVerb, ...] = (
    PromiseVerb(
        key="tasks", text=N_("Show tasks"), icon="ph.list-bullets", role=LOOK, do=PromiseActions.show_tasks,
    ),
    PromiseVerb(
        key="edit", text=N_("Edit promise"), icon="ph.pencil-simple", shortcut="promises.edit", do=PromiseActions.edit,
    ),
    Switch(key="switch", text=N_("Disable"), icon="ph.power", do=PromiseActions.switch),
    PromiseVerb(
        key="trail", text=N_("Who did what to it"), icon="ph.clipboard-text", role=LOOK, places=_LISTED,
        do=PromiseActions.show_trail,
    ),
    PromiseVerb(
        key="remove", text=N_("Remove"), icon="ph.trash", shortcut="promises.remove", danger=True, places=_LISTED,
        group=1, do=PromiseActions.remove,
    ),
)  # fmt: skip


def verbs_of(row: PromiseRow) -> tuple[PromiseVerb, ...]:
    """What can be done to a promise: what helps against what holds it stands first."""
    return (*ways_of(row), *USUAL)
