"""What is done about dead letters and about a cause as a whole: two lists behind bar, panes, panel, menus and palette.

A few letters are republished after a moment in which that can be taken back, many only after a look at what becomes of
each; the rest is done at once and can be taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from services.commands.causes import CauseChanged
from services.commands.outcome import Outcome
from services.domain.fleet.shop import Shop
from services.domain.insight import known_issue
from services.domain.insight.cause import AGAIN, OF_CREATOR, OF_MAKER, Worth
from services.domain.insight.cause_rule import MAX_NAME, MAX_NOTE, CauseRule
from services.domain.task import classify
from services.domain.task.ids import is_unread
from services.domain.task.record import Task
from services.domain.task.status import Triage
from services.i18n import N_, _, ngettext
from services.monitor.files import export
from services.monitor.letters.causes import Cause
from services.monitor.tasks import TaskQueries
from views.context import PageContext
from views.dialogs.again import ask_why
from views.dialogs.confirm import Finding, Question, confirm, confirm_limit
from views.dialogs.file import ask_file
from views.dialogs.republish.dialog import RepublishDialog
from views.dialogs.republish.runner import BulkRunner
from views.dialogs.republish.telling import Telling, republished
from views.dialogs.saving import SharedForm, stands_there
from views.dialogs.shop_login import ShopLogin
from views.dialogs.typed import KeepsTyped
from views.kit.task_verb import FEW
from views.kit.verb import LOOK, Place, Verb
from views.pages.dead_letters import words
from views.pages.dead_letters.issue import Decided, KnownIssue, MergeInto, Other, SplitOff, decided_of
from views.pages.dead_letters.table import Wanted, ids_of, letters_of
from views.support import instant, safe, shown, text
from views.support.acting import REPUBLISH, UNDO_S, Acting, republishing, tell_done, unless_changed
from views.support.operation import Operation, Start
from views.support.words import cause as causes
from views.support.words import verdicts, way
from views.support.words.verdicts import VerdictWords
from views.theme.tokens import platform_badge
from views.widgets.fields import Labelled
from views.widgets.toast import ToastSpec, failure

HOUR_S, DAY_S = 3600, 86_400
PREVIEW_ROWS = 40
WIDTH, NOTE_HEIGHT = 460, 110


class Letters(msgspec.Struct, frozen=True, kw_only=True):
    """What a verb is about: the letters that are ticked, that of a row, or that of the panel."""

    ids: tuple[str, ...] = ()
    state: str = Triage.OPEN  #: where they stand, "" where that is not known
    note: str = ""  #: what they share
    worth: Worth | None = None  #: whether they would pass now, None where nobody has said
    told: VerdictWords | None = None  #: what the panel says of the one in it
    refused: Callable[[], str] = lambda: ""  #: why none of them could be republished as it is, translated
    then: Callable[[], None] = lambda: None  #: what follows once it is decided
    # of the one in the panel
    task: Task | None = None
    closed: str = ""  #: why nothing can be done about it, translated
    edited: bool = False  #: its message was changed
    invalid: bool = False  #: so that it cannot be sent
    reading: bool = False  #: its message is not there yet
    payload: Callable[[], dict[str, Any] | None] = lambda: None  #: that message, None while it is no JSON object

    @property
    def unread(self) -> bool:
        """Whether nobody could read the message, so that there is no record to make the task of."""
        return self.task is not None and is_unread(self.task.task_id)


class LetterActions(QObject):
    """Signals:
    acted: something was decided; lists may be asked again.
    tasks_wanted: a filter that the Tasks page shall show.
    runs_wanted: show how what was sent ends.
    exported: a file stands at this path (``Path``).
    """

    acted = Signal()
    tasks_wanted = Signal(str)
    runs_wanted = Signal()
    exported = Signal(object)

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._owner = context, owner
        self._acting = Acting(self, context.toast, context.pending)
        self._operation, self._exporting = Operation(self), Operation(self, lasting=True)
        self._previewing = Operation(self, lasting=True)
        self.runner = BulkRunner(lambda: context.commands.bulk, self)
        self.runner.changed.connect(self._note_run)
        self._telling = Telling(self.runner, context.toast, self.runs_wanted.emit, self)

    def again(self, letters: Letters) -> None:
        """Republish them as they are."""
        self.republish(letters.ids, letters.note, letters.then, worth=letters.worth, told=letters.told)

    def correct(self, letters: Letters) -> None:
        """Make a new task of the one in the panel, with its corrected message."""
        payload = letters.payload()
        if letters.task is not None and payload is not None:
            self._republish_edited(letters.task, payload)

    def renew(self, letters: Letters) -> None:
        """Fill the dialog of a new task with what can be read."""
        self._context.new_task({"payload": letters.payload() or {}})

    def reopen(self, letters: Letters) -> None:
        """Let them wait for a person again."""
        self._put(letters, Triage.OPEN)

    def ignore(self, letters: Letters) -> None:
        """Put them aside."""
        self._put(letters, Triage.IGNORED)

    def archive(self, letters: Letters) -> None:
        """Be done with them."""
        self._put(letters, Triage.ARCHIVED)

    def _put(self, letters: Letters, to: str) -> None:
        if len(letters.ids) > confirm_limit(self._context.environment):
            if not self._previewing.busy:  # who presses twice is asked once
                call = partial(_of_ids, self._context, letters.ids)
                self._previewing.start(call, partial(self._ask_to_put, letters, to), self._fail)
            return
        self._put_now(letters, to)

    def _ask_to_put(self, letters: Letters, to: str, found: Found) -> None:
        """Show what so many are first; the number of what can be taken back is not typed."""
        confirm(lambda: preview(found, letters.note, to), self._owner, partial(self._put_now, letters, to))

    def _put_now(self, letters: Letters, to: str) -> None:
        self.triage(letters.ids, to, letters.state)
        letters.then()

    def republish(
        self,
        ids: Sequence[str],
        note: str = "",
        then: Callable[[], None] = lambda: None,
        *,
        whole: bool = False,
        worth: Worth | None = None,
        told: VerdictWords | None = None,
    ) -> None:
        """Make new tasks; many, or the ``whole`` of a cause, only after a look at what becomes of each.

        ``note`` names what they share; ``then`` is called once it is decided. What is known to fail again by their
        ``worth`` is asked about however few they are, in the words of ``told`` where it was said already.
        """
        doubtful = verdicts.hopeless(worth)
        if doubtful and worth is not None and len(ids) == 1:
            if self._free(ids):
                said = told or VerdictWords(verdicts.look(worth).status, verdicts.word(worth, 1), verdicts.why(worth))
                self._ask_all_the_same(ids, said, then)
            return
        if len(ids) <= FEW and not ((whole or doubtful) and len(ids) > 1):
            self._hold(ids)
            then()
            return
        self.look_at(len(ids), lambda: ids, note, then)

    def look_at(
        self, number: int, find: Callable[[], Sequence[str]], note: str = "", then: Callable[[], None] = lambda: None
    ) -> None:
        """Show what would become of each of about so many; ``find`` tells their ids and may block."""
        dialog = RepublishDialog(self._context, find, self.runner, number=number, note=note, parent=self._owner)
        dialog.started.connect(then)
        dialog.open()

    def _ask_all_the_same(self, ids: Sequence[str], said: VerdictWords, then: Callable[[], None]) -> None:

        def question() -> Question:
            return Question(
                title=N_("Republish all the same?"),
                rows=((_("task id"), ids[0]),),
                findings=(Finding(said.status, said.lead, said.evidence),),
                verb=_("Republish all the same"),
            )

        def go() -> None:
            self._hold(ids)
            then()

        confirm(question, self._owner, go)

    def _republish_edited(self, task: Task, payload: Mapping[str, Any]) -> None:
        if self._free([task.task_id]):
            call = partial(self._context.commands.dead_letters.republish, [task.task_id], payload=dict(payload))
            about = [(REPUBLISH, task.task_id)]
            self._acting.delayed(
                lambda: _("Republishing with your changes in 5 s"),
                call,
                _republished,
                about=about,
                instead=partial(self._ask_why, call),
            )

    def ask_export(self, find: Callable[[], Iterable[Task]]) -> None:
        """Ask which file letters are written to; ``find`` tells them and may block."""
        ask_file(self._owner, _("Export dead letters"), "dead-letters", partial(self.export, find))

    def export(self, find: Callable[[], Iterable[Task]], path: Path) -> None:
        """Write them to a file, off the GUI thread."""
        call = partial(_write, self._context.tasks, find, path)
        self._exporting.start(call, partial(self._tell_exported, path), self._fail)

    def _tell_exported(self, path: Path, number: int) -> None:
        said = ngettext("{n} dead letter exported to {file}", "{n} dead letters exported to {file}", number)
        words_ = said.format(n=text.count(number), file=safe.one_line(path.name, 60))
        self._context.toast(ToastSpec(text=words_, seconds=UNDO_S))
        self.exported.emit(path)

    def reveal(self, task_id: str, then: Callable[[], None]) -> None:
        """Write down that somebody looks at the secrets of a letter; ``then`` shows them."""
        call = partial(self._context.commands.records.reveal, task_id)
        self._operation.start(call, lambda _none: then(), self._fail)

    def triage(self, ids: Sequence[str], to: str, before: str) -> None:
        """Ignore, archive or reopen at once; the toast offers to take it back."""
        call = partial(self._context.commands.dead_letters.set_triage, list(ids), to)
        self._operation.start(call, partial(self._tell_triage, to=to, before=before), self._fail)

    def _free(self, ids: Sequence[str]) -> list[str]:
        """Those that nobody republishes already, neither one by one nor with many."""
        return self._acting.free(REPUBLISH, ids)

    def _note_run(self) -> None:
        job = self.runner.job
        many = job.plan.items if job is not None and not job.options.probe_only else ()
        self._context.pending.put(self.runner, [(REPUBLISH, item.task_id) for item in many])

    def _hold(self, ids: Sequence[str]) -> None:
        ids = self._free(ids)
        if not ids:
            return
        call = partial(self._context.commands.dead_letters.republish, list(ids))
        about = [(REPUBLISH, one) for one in ids]
        self._acting.delayed(
            partial(republishing, len(ids)), call, _republished, about=about, instead=partial(self._ask_why, call)
        )

    def _ask_why(self, call: Callable[..., Outcome], outcome: Outcome, tell: Callable[[], None]) -> bool:
        """Of one whose work has succeeded since."""

        def go(why: str, start: Start) -> None:
            self._acting.at_once(partial(call, reason=why), _republished, start=start)

        return ask_why(outcome, go, tell, self._owner)

    def _tell_triage(self, outcome: Outcome, *, to: str, before: str) -> None:
        self.acted.emit()
        left = outcome.skipped
        undo = None
        if outcome.done and before != Triage.OVERTAKEN:  # only a success overtakes
            back = partial(self._context.commands.dead_letters.set_triage, list(outcome.done), before)
            call = unless_changed(self._context.audit, back)
            undo = partial(self._operation.start, call, self._tell_back, self._fail)

        def say() -> ToastSpec:
            return ToastSpec(
                text=_triaged(len(outcome.done), to) if outcome.done else _("Nothing was changed."),
                status="warning" if left else "healthy",
                detail=shown.say(left[0].why) if left else "",
                seconds=UNDO_S,
            )

        tell_done(self._context.toast, say, undo)

    def _tell_back(self, _outcome: Outcome) -> None:
        self.acted.emit()
        self._context.toast(ToastSpec(text=_("Taken back."), status="cancelled"))

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))


def _write(queries: TaskQueries, find: Callable[[], Iterable[Task]], path: Path) -> int:
    return export.write(find(), path, queries.shops(), shown.zone(), gates=queries.gates)


def _republished(outcome: Outcome) -> str:
    return republished(len(outcome.done))


def _triaged(number: int, to: str) -> str:
    count = text.count(number)
    if to == Triage.ARCHIVED:
        return ngettext("{n} dead letter archived", "{n} dead letters archived", number).format(n=count)
    if to == Triage.IGNORED:
        return ngettext("{n} dead letter ignored", "{n} dead letters ignored", number).format(n=count)
    return ngettext("{n} dead letter open again", "{n} dead letters open again", number).format(n=count)


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterVerb(Verb[Letters]):
    """Something that can be done about letters."""

    do: Callable[[LetterActions, Letters], None]

    def why_not(self, chosen: Letters) -> str:
        """That of the panel may be done with."""
        return chosen.closed


class Again(LetterVerb):
    """Sends them as they are."""

    def offered(self, place: Place, chosen: Letters) -> bool:
        """What nobody could read has nothing to be sent again."""
        return place in self.places and not chosen.unread

    def why_not(self, chosen: Letters) -> str:
        """What their rows tell."""
        return super().why_not(chosen) or chosen.refused()


class OfMessage(LetterVerb):
    """Takes the message of the one in the panel."""

    def why_not(self, chosen: Letters) -> str:
        """That must be there."""
        return super().why_not(chosen) or (_("It is still being read") if chosen.reading else "")


class Corrected(OfMessage):
    """Sends the one of the panel with its new message."""

    def offered(self, place: Place, chosen: Letters) -> bool:
        """Only with one."""
        return place in self.places and chosen.edited and not chosen.unread

    def why_not(self, chosen: Letters) -> str:
        """The message must be one."""
        return super().why_not(chosen) or (_("Correct the message first") if chosen.invalid else "")


class Renewed(OfMessage):
    """Makes a task of a message that nobody could read."""

    def offered(self, place: Place, chosen: Letters) -> bool:
        """Only of such a one."""
        return place in self.places and chosen.unread


class Put(LetterVerb):
    """Puts them into the state that it is named for."""

    def offered(self, place: Place, chosen: Letters) -> bool:
        """Not where they are; what is open, or was sent again, is not opened."""
        shut = chosen.state in (Triage.IGNORED, Triage.ARCHIVED, Triage.OVERTAKEN)
        return place in self.places and (shut if self.key == Triage.OPEN else chosen.state != self.key)


#: the key of what the panel offers first
PRESS = "dead_letters.main"
_OF_PANEL = frozenset({Place.PANEL, Place.PALETTE})
VERBS: tuple[LetterVerb, ...] = (
    Again(key="republish", text=N_("Republish"), icon="ph.arrow-clockwise", do=LetterActions.again),
    Corrected(
        key="correct", text=N_("Edit and republish"), icon="ph.pencil-simple", shortcut=PRESS, places=_OF_PANEL,
        do=LetterActions.correct,
    ),
    Renewed(
        key="renew", text=N_("New task from it"), icon="ph.plus", shortcut=PRESS, places=_OF_PANEL,
        do=LetterActions.renew,
    ),
    Put(key=Triage.OPEN, text=N_("Reopen"), icon="ph.arrow-counter-clockwise", do=LetterActions.reopen),
    Put(key=Triage.IGNORED, text=N_("Ignore"), icon="ph.eye-slash", do=LetterActions.ignore),
    Put(key=Triage.ARCHIVED, text=N_("Archive"), icon="ph.archive", do=LetterActions.archive),
)  # fmt: skip


class OfCause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause, and what is known around it."""

    cause: Cause
    wanted: Wanted  #: its letters as they are listed
    paused: frozenset[str] = frozenset()  #: scopes
    example: Task | None = None  #: one of its letters
    copied: bool = False  #: its report is on the clipboard
    others: tuple[Cause, ...] = ()  #: that it can be merged into

    @property
    def is_open(self) -> bool:
        """Whether its letters wait for a person."""
        return self.wanted.triage == Triage.OPEN

    @property
    def fails_again(self) -> bool:
        """Whether its letters would fail again, so that something must be put right first."""
        return self.is_open and self.cause.worth.level == AGAIN

    @property
    def holding(self) -> tuple[str, str]:
        """Whether what would die of it can be paused or, where it is, resumed; and the scope of that."""
        scope = self.cause.pause_scope
        return "resume" if scope in self.paused else "pause", scope

    @property
    def restricted(self) -> bool:
        """Whether the platform restricts an account: that is looked at in its shop, by a person."""
        return self.fails_again and self.cause.kind == classify.RISK_CONTROL


class CauseActions(QObject):
    """Signals:
    acted: something was decided; causes may be asked again.
    shop_wanted: the shop (``platform:shop_id``) that the Shops page shall show.
    """

    acted = Signal()
    shop_wanted = Signal(str)

    def __init__(self, context: PageContext, letters: LetterActions, owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._letters, self._owner = context, letters, owner
        self._operation, self._previewing = Operation(self), Operation(self, lasting=True)
        self._login = ShopLogin(context, owner)

    # the whole of it

    def republish_all(self, of: OfCause) -> None:
        """Republish every letter, after a look at each."""
        find = partial(ids_of, self._context.tasks, of.wanted)
        if of.cause.count > FEW:  # what is known to be many is read in sight
            self._letters.look_at(of.cause.count, find, words.heading(of.cause))
            return
        self._operation.start(find, partial(self._go_on_republishing, of.cause), self._fail)

    def _go_on_republishing(self, cause: Cause, ids: Sequence[str]) -> None:
        self._letters.republish(ids, words.heading(cause), whole=True, worth=cause.worth)

    def archive_all(self, of: OfCause) -> None:
        """Archive every letter, counted first."""
        if not self._previewing.busy:  # who presses twice is asked once
            call = partial(_of_cause, self._context, of.wanted)
            self._previewing.start(call, partial(self._ask_archive, of), self._fail)

    def _ask_archive(self, of: OfCause, found: Found) -> None:
        confirm(
            lambda: preview(found, words.heading(of.cause)),
            self._owner,
            partial(self._letters.triage, found.ids, Triage.ARCHIVED, of.wanted.triage),
        )

    # for a while

    def ignore(self, cause: Cause, seconds: int) -> None:
        """Ignore it and what dies of it from now on; asked first where that is more than is in sight, or many."""
        number = cause.among or cause.count
        if number == cause.count and number <= confirm_limit(self._context.environment):
            self._ignore(cause, seconds)
            return

        def question() -> Question:
            count = text.count(number)
            return Question(
                title=N_("Ignore a cause"),
                number=ngettext("{n} dead letter", "{n} dead letters", number).format(n=count),
                text="\n".join(part for part in (words.heading(cause), words.beyond(cause), _span(seconds)) if part),
                verb=ngettext("Ignore {n} dead letter", "Ignore {n} dead letters", number).format(n=count),
            )

        confirm(question, self._owner, partial(self._ignore, cause, seconds))

    def _ignore(self, cause: Cause, seconds: int) -> None:
        call = partial(self._context.commands.causes.ignore, cause.fingerprint, seconds=seconds)
        self._operation.start(call, partial(self._tell_ignored, cause, seconds), self._fail)

    def _tell_ignored(self, cause: Cause, seconds: int, outcome: Outcome) -> None:
        self.acted.emit()
        lift = unless_changed(self._context.audit, partial(self._context.commands.causes.lift, cause.fingerprint))

        def say() -> ToastSpec:
            number = ngettext("{n} dead letter ignored", "{n} dead letters ignored", len(outcome.done))
            return ToastSpec(text=number.format(n=text.count(len(outcome.done))), detail=_span(seconds))

        tell_done(self._context.toast, say, partial(self._operation.start, lift, self._tell_lifted, self._fail))

    def lift(self, fingerprint: str) -> None:
        """Ignore it no longer."""
        self._operation.start(partial(self._context.commands.causes.lift, fingerprint), self._tell_lifted, self._fail)

    def _tell_lifted(self, outcome: Outcome) -> None:
        self.acted.emit()
        number = len(outcome.done)
        done = ngettext("{n} dead letter open again", "{n} dead letters open again", number)
        self._context.toast(ToastSpec(text=done.format(n=text.count(number)), status="cancelled"))

    # its name

    def describe(self, of: OfCause) -> None:
        """Ask for a name and a note."""
        cause = of.cause
        dialog = CauseNote(words.kind_title(cause), cause.rule, self._owner)
        dialog.saved.connect(partial(self._save, dialog.start, cause.fingerprint))
        dialog.open()

    def _save(self, start: Start, fingerprint: str, seen: CauseRule, name: str, note: str) -> None:
        call = partial(self._context.commands.causes.describe, fingerprint, name=name, note=note, seen=seen)
        start(call, self._on_saved, self._fail)

    def known_issue(self, of: OfCause) -> None:
        """Ask who is at it, and what is to be done by itself."""
        shops = of.cause.shops if of.is_open else 0  # only those with open letters are paused
        dialog = KnownIssue(words.title(of.cause), of.cause.rule, shops, self._owner, beyond=words.beyond(of.cause))
        dialog.saved.connect(partial(self._decide, dialog.start, of.cause))
        dialog.open()

    def _decide(self, start: Start, cause: Cause, seen: CauseRule, decided: Decided) -> None:
        if any(decided):
            start(partial(self._knowing(cause.fingerprint, decided), seen=seen), self._on_saved, self._fail)
        else:
            self._forget(start, cause, seen)

    def _knowing(self, fingerprint: str, decided: Decided) -> Callable[..., object]:
        return partial(
            self._context.commands.causes.know,
            fingerprint,
            owner=decided.owner,
            park_s=decided.park_s,
            retry_at=decided.retry_at,
            alert_once=decided.alert_once,
            route=decided.route,
            link=decided.link,
        )

    def take(self, of: OfCause) -> None:
        """Let whoever sits here be at it; what is done by itself stays."""
        who = self._context.commands.operator.who
        rule = of.cause.rule
        self._decide(self._operation.start, of.cause, rule, decided_of(rule)._replace(owner=who))

    def follow(self, of: OfCause) -> None:
        """Open where it is followed up, in the browser of this person."""
        QDesktopServices.openUrl(QUrl(of.cause.rule.link))

    def forget(self, of: OfCause) -> None:
        """Do nothing about it by itself any more."""
        self._forget(self._operation.start, of.cause, of.cause.rule)

    def _forget(self, start: Start, cause: Cause, seen: CauseRule) -> None:
        def said() -> str:
            told = _("{cause} is no known issue any more.").format(cause=words.title(cause))
            return text.sentences([told, _("Shops that it has paused go on within seconds.")]) if seen.park_s else told

        back = self._knowing(cause.fingerprint, decided_of(seen))
        call = partial(self._context.commands.causes.forget, cause.fingerprint, seen=seen)
        start(call, partial(self._told, said, back), self._fail)

    def merge(self, of: OfCause) -> None:
        """Ask which cause it counts to."""
        others = [
            Other(fingerprint=one.fingerprint, name=words.heading(one), headline=words.detail(one), count=one.count)
            for one in of.others
        ]
        dialog = MergeInto(words.title(of.cause), words.detail(of.cause), others, self._owner)
        dialog.saved.connect(partial(self._merge, dialog.start, of))
        dialog.open()

    def _merge(self, start: Start, of: OfCause, into: str) -> None:
        fingerprint = of.cause.fingerprint
        other = next((words.heading(one) for one in of.others if one.fingerprint == into), into)

        def said() -> str:
            return _("{cause} counts to {other} now.").format(cause=words.title(of.cause), other=other)

        call = partial(self._context.commands.causes.merge, [fingerprint], into)
        back = partial(self._split, [fingerprint]) if not of.cause.rule.into else None
        start(call, partial(self._told, said, back), self._fail)

    def split(self, of: OfCause) -> None:
        """Let all that count to it stand by themselves again."""

        def said() -> str:
            return _("What counted to {cause} stands by itself again.").format(cause=words.title(of.cause))

        self._operation.start(partial(self._split, of.cause.parts), partial(self._told, said, None), self._fail)

    def _split(self, parts: Sequence[str]) -> None:
        for one in parts:
            self._context.commands.causes.split(one)

    def _told(self, said: Callable[[], str], back: Callable[[], object] | None, _nothing: object) -> None:
        self.acted.emit()
        undo = None if back is None else partial(self._back, unless_changed(self._context.audit, back))
        tell_done(self._context.toast, said, undo)

    def _back(self, back: Callable[[], object]) -> None:
        self._operation.start(back, partial(self._told, lambda: _("Taken back."), None), self._fail)

    def split_off(self, of: OfCause) -> None:
        """Ask which of its letters are a cause of their own."""
        named = of.cause.shop_names
        places = [(where, words.place_line(where, number, named.get(where, ""))) for where, number in of.cause.places]
        dialog = SplitOff(words.title(of.cause), places, self._owner)
        dialog.saved.connect(partial(self._split_off, dialog.start, of.cause))
        dialog.open()

    def _split_off(self, start: Start, cause: Cause, where: str) -> None:
        call = partial(self._context.commands.causes.split_off, cause.fingerprint, where)
        start(call, partial(self._tell_split, where, cause.shop_names.get(where, "")), self._fail)

    def _tell_split(self, where: str, name: str, part: str) -> None:
        back = partial(self._context.commands.causes.join, part)
        self._told(lambda: _("{place} is a cause of its own now.").format(place=causes.place(where, name)), back, part)

    def join(self, of: OfCause) -> None:
        """Let what was split off count to its cause again."""
        self._join(of.cause.fingerprint)

    def _join(self, part: str) -> None:
        self._operation.start(partial(self._context.commands.causes.join, part), self._on_saved, self._fail)

    def _on_saved(self, _nothing: object) -> None:
        self.acted.emit()

    # for somebody else

    def copy(self, of: OfCause) -> None:
        """Put the error on the clipboard."""
        QGuiApplication.clipboard().setText(of.cause.headline)

    def report(self, of: OfCause) -> None:
        """Put on the clipboard what whoever can put it right needs to know."""
        QGuiApplication.clipboard().setText(words.report(of.cause, of.example, instant.now_ms()))

    def log_in(self, of: OfCause) -> None:
        """Open the browser of its shop for a person."""
        self._login.begin(of.cause.shop_keys[0])

    def show_shops(self, of: OfCause) -> None:
        """Show the first of its shops among the others."""
        self.shop_wanted.emit(of.cause.shop_keys[0])

    def hold(self, of: OfCause) -> None:
        """Hold back what would die of it, or let that go on."""
        self._context.way_out(*of.holding)

    def _fail(self, error: BaseException) -> None:
        self._context.toast(failure(error))


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a preview says of letters: of a hundred thousand nobody holds the records."""

    ids: tuple[str, ...]
    by_shop: Mapping[str, int]
    shops: Mapping[str, Shop] = {}
    first: int = 0  #: when the first of them died, UTC ms
    last: int = 0


def found_of(letters: Iterable[Task], shops: Mapping[str, Shop]) -> Found:
    """Reads them once."""
    ids, by_shop, first, last = list[str](), Counter[str](), 0, 0
    for task in letters:
        ids.append(task.task_id)
        by_shop[task.shop] += 1
        first = min(first, task.ended_at) if len(ids) > 1 else task.ended_at
        last = max(last, task.ended_at)
    return Found(ids=tuple(ids), by_shop=by_shop, shops=shops, first=first, last=last)


def _of_cause(context: PageContext, wanted: Wanted) -> Found:
    """Letters of a cause. Blocking."""
    return found_of(letters_of(context.tasks, wanted), context.shops())


def _of_ids(context: PageContext, ids: Sequence[str]) -> Found:
    """Letters that were chosen one by one. Blocking."""
    return found_of(context.tasks.each_of(ids), context.shops())


def preview(found: Found, title: str = "", to: str = Triage.ARCHIVED) -> Question:
    """What is put aside or opened again: of what cause, when it died, and how many of each shop."""
    by_shop = sorted(found.by_shop.items(), key=lambda one: -one[1])
    lines = [(_called(shop, found.shops.get(shop)), text.count(count)) for shop, count in by_shop]
    rest = len(lines) - PREVIEW_ROWS
    if rest > 0:
        more = ngettext("{n} more shop", "{n} more shops", rest).format(n=text.count(rest))
        lines = [*lines[:PREVIEW_ROWS], (more, "")]
    number = len(found.ids)
    count = text.count(number)
    heading, verb = {
        Triage.ARCHIVED: (
            N_("Archive dead letters"),
            ngettext("Archive {n} dead letter", "Archive {n} dead letters", number),
        ),
        Triage.IGNORED: (
            N_("Ignore dead letters"),
            ngettext("Ignore {n} dead letter", "Ignore {n} dead letters", number),
        ),
        Triage.OPEN: (
            N_("Reopen dead letters"),
            ngettext("Reopen {n} dead letter", "Reopen {n} dead letters", number),
        ),
    }[Triage(to)]
    return Question(
        title=heading,
        number=ngettext("{n} dead letter", "{n} dead letters", number).format(n=count),
        text=" · ".join(part for part in (title, _died(found) if found.ids else "") if part),
        rows=tuple(lines),
        verb=verb.format(n=count),
    )


def _called(key: str, shop: Shop | None) -> str:
    """What people call a shop; its id where it has no name."""
    platform, _colon, shop_id = key.partition(":")
    name = shop.name if shop is not None else ""
    return f"{safe.one_line(name or shop_id, 60)}  {platform_badge(platform)}"


def _died(found: Found) -> str:
    """From when to when they died."""
    now = instant.now_ms()
    first, last = shown.clock(found.first, now), shown.clock(found.last, now)
    return first if first == last else _("{first} to {last}").format(first=first, last=last)


def _span(seconds: int) -> str:
    if not seconds:
        return _("Whatever dies of it is ignored until its text changes.")
    return _("Whatever dies of it in the next {span} is ignored; then they come back.").format(
        span=text.coarse(shown.span(seconds * 1000))
    )


class CauseNote(KeepsTyped, SharedForm):
    """Signals:
    saved: the ``CauseRule`` that stood there, name and note; ``start`` takes what keeps them.
    """

    saved = Signal(object, str, str)

    def __init__(self, kind: str, rule: CauseRule, parent: QWidget | None = None) -> None:
        """`kind` is what the cause is called without a name of its own."""
        super().__init__(N_("Name and note"), icon="ph.note-pencil", width=WIDTH, parent=parent)
        self._rule = rule
        self.name, self.note = QLineEdit(rule.name), QPlainTextEdit(rule.note)
        self.name.setMaxLength(MAX_NAME)
        self.name.setPlaceholderText(kind)
        self.note.setFixedHeight(NOTE_HEIGHT)
        self.note.setTabChangesFocus(True)
        self.note.setPlaceholderText(_("What was found out, who works on it, what helps"))
        self.fields = {"name": Labelled(N_("Name"), self.name), "note": Labelled(N_("Note"), self.note)}
        for part in self.fields.values():
            self.body.addWidget(part)
        self.cancel, self.save = self.end_with_save(self._on_save)
        self._theirs: tuple[str, ...] = ()  #: fields that somebody else changed meanwhile, too
        self.offer_to_take_over(tuple(self.fields), self._take_theirs)
        self.name.textChanged.connect(self._check)
        self.note.textChanged.connect(self._check)
        self.name.setFocus()

    def refused(self, error: BaseException) -> None:
        """Where somebody else changed the same, show what stands there now."""
        if not isinstance(error, CauseChanged):
            super().refused(error)
            return
        was, now = _described(self._rule), _described(error.now)
        self._rule = error.now
        self._theirs = tuple(name for name, words_ in self._typed().items() if words_ != was[name] != now[name])
        for name in self.fields:
            if name not in self._theirs:
                self._take_theirs(name)
        self._check()
        first = next(iter(self._over()), "")
        self.tell_changed(_("Somebody else changed this cause; nothing is saved."), first)

    def _typed(self) -> dict[str, str]:
        return {"name": self.name.text().strip(), "note": self.note.toPlainText().strip()}

    def _over(self) -> dict[str, str]:
        """The fields that say otherwise than what somebody else wrote meanwhile, and what that is."""
        typed, now = self._typed(), _described(self._rule)
        return {name: stands_there(now[name]) for name in self._theirs if typed[name] != now[name]}

    def _take_theirs(self, name: str) -> None:
        if name == "name":
            self.name.setText(self._rule.name)
        else:
            self.note.setPlainText(self._rule.note)

    def _check(self) -> None:
        long, over = len(self.note.toPlainText()) - MAX_NOTE, self._over()
        for name, part in self.fields.items():
            part.set_error(over.get(name, ""))
        self.show_over(over)
        self.forbid(_("The note is {n} characters too long").format(n=long) if long > 0 else "")

    def _on_save(self) -> None:
        self.saved.emit(self._rule, self.name.text(), self.note.toPlainText())


def _described(rule: CauseRule) -> dict[str, str]:
    return {"name": rule.name, "note": rule.note}


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseVerb(Verb[OfCause]):
    """Something that can be done about a cause."""

    do: Callable[[CauseActions, OfCause], None]
    fits: Callable[[OfCause], bool] = lambda _of: True  #: where it is offered
    called: Callable[[OfCause], str] | None = None  #: what it is called, translated

    def offered(self, place: Place, chosen: OfCause) -> bool:
        """Only what suits its state."""
        return place in self.places and self.fits(chosen)

    def said(self, chosen: OfCause) -> str:
        """With the number of its letters, or what it is about."""
        return self.called(chosen) if self.called is not None else _(self.text)


class Hold(CauseVerb):
    """Until it is put right, what would die of it can be held back: no wider than it reaches."""

    def glyph(self, chosen: OfCause) -> str:
        """What is held back can go on."""
        return "ph.play" if chosen.holding[0] == "resume" else self.icon


_LISTED = frozenset({Place.MENU, Place.PALETTE})


def _ignoring(key: str, title: str, seconds: int) -> CauseVerb:
    return CauseVerb(
        key=key, text=title, icon="ph.eye-slash", places=_LISTED, group=1,
        fits=lambda of: of.is_open and words.has_print(of.cause), do=lambda acts, of: acts.ignore(of.cause, seconds),
    )  # fmt: skip


def _to_creator(of: OfCause) -> bool:
    return of.cause.kind in OF_CREATOR


def _report(of: OfCause) -> str:
    return _("Copied") if of.copied else way.label("copy_creator" if _to_creator(of) else "copy_flow", "")


#: what must be put right elsewhere, by somebody who needs to be told
REPORT = "report"
CAUSE_VERBS: tuple[CauseVerb, ...] = (
    CauseVerb(
        key="republish_all", text=N_("Republish"), icon="ph.arrow-clockwise", fits=lambda of: of.is_open,
        called=lambda of: verdicts.republish_all(of.cause.worth).format(n=text.count(of.cause.count)),
        do=CauseActions.republish_all,
    ),
    CauseVerb(
        key="archive_all", text=N_("Archive"), icon="ph.archive", places=_LISTED,
        fits=lambda of: of.wanted.triage != Triage.ARCHIVED,
        called=lambda of: _("Archive all {n}").format(n=text.count(of.cause.count)), do=CauseActions.archive_all,
    ),
    CauseVerb(
        key="lift", text=N_("Stop ignoring it"), icon="ph.eye", places=_LISTED,
        fits=lambda of: of.wanted.triage == Triage.IGNORED and of.cause.rule.ignored,
        do=lambda acts, of: acts.lift(of.cause.fingerprint),
    ),
    _ignoring("ignore_hour", N_("Ignore for 1 hour"), HOUR_S),
    _ignoring("ignore_day", N_("Ignore for 1 day"), DAY_S),
    _ignoring("ignore", N_("Ignore until its text changes"), 0),
    CauseVerb(
        key="describe", text=N_("Name and note"), icon="ph.note-pencil", places=_LISTED, group=2,
        fits=lambda of: words.has_print(of.cause), do=CauseActions.describe,
    ),
    CauseVerb(
        key="take", text=N_("I take it"), icon="ph.hand", places=_LISTED, group=2,
        fits=lambda of: words.has_print(of.cause) and not of.cause.rule.owner, do=CauseActions.take,
    ),
    CauseVerb(
        key="follow", text=N_("Open its issue"), icon="ph.arrow-square-out", role=LOOK, places=_LISTED, group=2,
        fits=lambda of: known_issue.is_link(of.cause.rule.link), do=CauseActions.follow,
    ),
    CauseVerb(
        key="known", text=N_("Known issue…"), icon="ph.bookmark-simple", places=_LISTED, group=2,
        fits=lambda of: words.has_print(of.cause), do=CauseActions.known_issue,
    ),
    CauseVerb(
        key="forget", text=N_("Take the rule of the known issue away"), icon="ph.x", places=_LISTED, group=2,
        fits=lambda of: of.cause.rule.known, do=CauseActions.forget,
    ),
    CauseVerb(
        key="merge", text=N_("Merge into another cause…"), icon="ph.git-merge", places=_LISTED, group=2,
        fits=lambda of: words.has_print(of.cause) and bool(of.others) and not (of.cause.rule.where or of.cause.apart),
        do=CauseActions.merge,
    ),
    CauseVerb(
        key="split_off", text=N_("Split by shop, platform or worker…"), icon="ph.git-branch", places=_LISTED, group=2,
        fits=lambda of: of.is_open and words.has_print(of.cause) and bool(of.cause.places) and not of.cause.rule.where,
        do=CauseActions.split_off,
    ),
    CauseVerb(
        key="join", text=N_("Join to its cause again"), icon="ph.git-merge", places=_LISTED, group=2,
        fits=lambda of: bool(of.cause.rule.where), do=CauseActions.join,
    ),
    CauseVerb(
        key="split", text=N_("Split what was merged"), icon="ph.git-branch", places=_LISTED, group=2,
        fits=lambda of: bool(of.cause.parts), do=CauseActions.split,
    ),
    CauseVerb(
        key="copy", text=N_("Copy the error"), icon="ph.copy", role=LOOK, places=_LISTED, group=2,
        do=CauseActions.copy,
    ),
    CauseVerb(
        key=REPORT, text=way.VERBS["copy_flow"], icon="ph.copy", role=LOOK, places=_OF_PANEL, called=_report,
        fits=lambda of: of.fails_again and (of.cause.kind in OF_MAKER or _to_creator(of)), do=CauseActions.report,
    ),
    CauseVerb(
        key="login_shop", text=way.VERBS["login_shop"], icon="ph.browser", places=_OF_PANEL,
        fits=lambda of: of.restricted and len(of.cause.shop_keys) == 1, do=CauseActions.log_in,
    ),
    CauseVerb(
        key="open_shops", text=way.VERBS["open_shops"], icon="ph.browser", role=LOOK, places=_OF_PANEL,
        fits=lambda of: of.restricted and len(of.cause.shop_keys) > 1, do=CauseActions.show_shops,
    ),
    Hold(
        key="hold", text=way.VERBS["pause"], icon="ph.pause-circle", places=_OF_PANEL,
        fits=lambda of: of.fails_again and bool(of.cause.pause_scope), called=lambda of: way.label(*of.holding),
        do=CauseActions.hold,
    ),
)  # fmt: skip
