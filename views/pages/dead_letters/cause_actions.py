"""What is done about a cause as a whole: named, ignored for a while, archived, republished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from services.commands.outcome import Outcome
from services.domain.task.record import Task
from services.domain.task.status import Triage
from services.i18n import N_, _, ngettext
from services.monitor.causes import Cause
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, typed_count
from views.pages.dead_letters import words
from views.pages.dead_letters.actions import LetterActions
from views.pages.dead_letters.asking import Wanted, letters_of
from views.pages.dead_letters.cause_note import CauseNote
from views.support import shown, text
from views.support.offers import offer
from views.support.operation import Operation
from views.support.words import verdicts
from views.theme.tokens import platform_badge
from views.widgets.toast import ToastAction, ToastSpec, failure

HOUR_S, DAY_S = 3600, 86_400
UNDO_S = 10
PREVIEW_ROWS = 40
#: seconds, source text
SPANS = (
    (HOUR_S, N_("Ignore for 1 hour")),
    (DAY_S, N_("Ignore for 1 day")),
    (0, N_("Ignore until its text changes")),
)


class CauseActions(QObject):
    """Signals:
    acted: something was decided; causes may be asked again.
    """

    acted = Signal()

    def __init__(self, context: PageContext, letters: LetterActions, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._letters, self._owner = context, letters, owner
        self._operation = Operation(self)

    def fill_menu(self, menu: QMenu, cause: Cause, triage: str, barred: str = "") -> None:
        """Offer what suits a cause in this state; ``barred`` says why nothing may be changed now."""
        number = text.count(cause.count)
        wanted = Wanted(triage=triage, cause=cause.fingerprint)
        own = words.has_print(cause)
        if triage == Triage.OPEN:
            words_ = verdicts.republish_all(cause.worth).format(n=number)
            offer(menu, words_, partial(self.republish_all, wanted, cause), barred)
        if triage != Triage.ARCHIVED:
            offer(menu, _("Archive all {n}").format(n=number), partial(self.archive_all, wanted, cause), barred)
        if triage == Triage.OPEN and own:
            menu.addSeparator()
            for seconds, title in SPANS:
                offer(menu, _(title), partial(self.ignore, cause, seconds), barred)
        if triage == Triage.IGNORED and cause.rule.ignored:
            offer(menu, _("Stop ignoring it"), partial(self.lift, cause.fingerprint), barred)
        menu.addSeparator()
        if own:
            offer(menu, _("Name and note"), partial(self.describe, cause), barred)
        menu.addAction(_("Copy the error"), partial(self._copy, cause.headline))

    # the whole of it

    def republish_all(self, wanted: Wanted, cause: Cause) -> None:
        """Republish every letter, after a look at each."""
        call = partial(letters_of, self._context.tasks, wanted)
        self._operation.start(call, partial(self._go_on_republishing, cause), self._fail)

    def _go_on_republishing(self, cause: Cause, letters: Sequence[Task]) -> None:
        ids = [task.task_id for task in letters]
        self._letters.republish(ids, words.heading(cause), whole=True, worth=cause.worth)

    def archive_all(self, wanted: Wanted, cause: Cause) -> None:
        """Archive every letter, counted first."""
        call = partial(letters_of, self._context.tasks, wanted)
        self._operation.start(call, partial(self._ask_archive, wanted, cause), self._fail)

    def _ask_archive(self, wanted: Wanted, cause: Cause, letters: Sequence[Task]) -> None:
        ids = [task.task_id for task in letters]
        dialog = ConfirmDialog(preview(letters, words.heading(cause), self._context.environment), self._owner)
        dialog.confirmed.connect(partial(self._letters.triage, ids, Triage.ARCHIVED, wanted.triage))
        dialog.open()

    # for a while

    def ignore(self, cause: Cause, seconds: int) -> None:
        """Ignore it and what dies of it from now on."""
        call = partial(self._context.commands.causes.ignore, cause.fingerprint, seconds=seconds)
        self._operation.start(call, partial(self._tell_ignored, cause, seconds), self._fail)

    def _tell_ignored(self, cause: Cause, seconds: int, outcome: Outcome) -> None:
        self.acted.emit()
        number = ngettext("{n} dead letter ignored", "{n} dead letters ignored", len(outcome.done))
        self._context.toast(
            ToastSpec(
                text=number.format(n=text.count(len(outcome.done))),
                detail=_span(seconds),
                actions=(ToastAction(text=_("Undo"), call=partial(self.lift, cause.fingerprint)),),
                seconds=UNDO_S,
            )
        )

    def lift(self, fingerprint: str) -> None:
        """Ignore it no longer."""
        self._operation.start(partial(self._context.commands.causes.lift, fingerprint), self._tell_lifted, self._fail)

    def _tell_lifted(self, outcome: Outcome) -> None:
        self.acted.emit()
        number = len(outcome.done)
        done = ngettext("{n} dead letter open again", "{n} dead letters open again", number)
        self._context.toast(ToastSpec(text=done.format(n=text.count(number)), status="cancelled"))

    # its name

    def describe(self, cause: Cause) -> None:
        """Ask for a name and a note."""
        dialog = CauseNote(words.kind_title(cause), cause.rule.name, cause.rule.note, self._owner)
        dialog.saved.connect(partial(self._save, cause.fingerprint))
        dialog.open()

    def _save(self, fingerprint: str, name: str, note: str) -> None:
        call = partial(self._context.commands.causes.describe, fingerprint, name=name, note=note)
        self._operation.start(call, self._on_saved, self._fail)

    def _on_saved(self, _nothing: object) -> None:
        self.acted.emit()

    @staticmethod
    def _copy(words_: str) -> None:
        QGuiApplication.clipboard().setText(words_)

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))


def preview(letters: Sequence[Task], title: str, environment: str) -> Question:
    """What archiving will take, counted by shop."""
    shops = Counter((task.shop_id, task.platform) for task in letters)
    lines = [
        (f"{name}  {platform_badge(platform)}", text.count(count)) for (name, platform), count in shops.most_common()
    ]
    rest = len(lines) - PREVIEW_ROWS
    if rest > 0:
        more = ngettext("{n} more shop", "{n} more shops", rest).format(n=text.count(rest))
        lines = [*lines[:PREVIEW_ROWS], (more, "")]
    number = len(letters)
    count = text.count(number)
    return Question(
        title=N_("Archive dead letters"),
        number=ngettext("{n} dead letter", "{n} dead letters", number).format(n=count),
        text=title,
        rows=tuple(lines),
        verb=ngettext("Archive {n} dead letter", "Archive {n} dead letters", number).format(n=count),
        typed=typed_count(number, environment),
    )


def _span(seconds: int) -> str:
    if not seconds:
        return _("Whatever dies of it is ignored until its text changes.")
    return _("Whatever dies of it in the next {span} is ignored; then they come back.").format(
        span=text.coarse(shown.span(seconds * 1000))
    )
