"""Republish many dead letters: everything in sight before anything happens, and a few tried first if wanted."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from services import whole_file
from services.commands.bulk.options import Probe
from services.commands.bulk.plan import DONE
from services.commands.bulk.republish import Ended, Plan, Progress
from services.domain.fleet.shop import Shop
from services.domain.insight.cause import Worth
from services.domain.insight.forecast import outlook
from services.domain.insight.shop import ShopNow
from services.domain.task.lane import Lane
from services.domain.task.status import Status
from services.domain.text.cells import guarded
from services.domain.types.task_type import TaskType
from services.i18n import N_, _, ngettext
from services.messages import told
from views.context import PageContext
from views.dialogs.confirm import typed_count
from views.dialogs.file import FileDialog
from views.dialogs.notice import DoneStrip, Notice
from views.dialogs.republish.changes import ChangesPane
from views.dialogs.republish.numbers import NumbersPane
from views.dialogs.republish.runner import HOLD_S, BulkRunner, RunRequest
from views.dialogs.republish.sorting import CLOSED, RULES, Choice, Sorted, reason, sort_out
from views.dialogs.republish.speed import SpeedPane
from views.dialogs.typed import KeepsTyped
from views.support import heard, shown, text
from views.support.keys import Shortcut
from views.support.language import say_in_language
from views.support.load import USUAL_S, load_of
from views.support.look import Label, line
from views.support.operation import HowFar, Operation
from views.support.throttle import Throttle
from views.support.words import kinds, verdicts
from views.widgets.buttons import Button
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (920, 690), (820, 480)
LEFT = 430
LOOK_MS = 1000
#: the letters are looked at again so long after an answer, later where that took long: so many times what it took
AGAIN_MS, REST = 10_000, 20
PROBES = 3


class RepublishDialog(KeepsTyped):
    """Open it with ``open()``; what it starts goes on without it.

    Signals:
        started: the run is held for a moment, then goes.
    """

    started = Signal()

    def __init__(
        self,
        context: PageContext,
        find: Callable[[], Sequence[str]],
        runner: BulkRunner,
        *,
        number: int,
        note: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """``find``: the ids of the letters, called in a thread; ``number``: how many they are thought to be."""
        super().__init__(N_("Republish dead letters"), icon="ph.arrow-clockwise", parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._context, self._runner = context, runner
        self._find, self._number = find, number
        self._ids: tuple[str, ...] = ()
        self.looked: Looked | None = None
        self._sorted = Sorted()
        self._skip = frozenset(RULES)
        self._trial: RunRequest | None = None
        self._tried: tuple[Progress | None, Ended | None] = (None, None)
        self._asking, self._how_far = Operation(self, latest=True), HowFar(self)
        self._writing = Operation(self)
        self._fresh = Throttle(self._show_outlook, LOOK_MS, self)
        self._asked = 0.0
        self._again = QTimer(self, singleShot=True)
        self._again.timeout.connect(self._look_again)
        self.set_note(note)
        self._build()
        self._connect()
        say_in_language(self._say)
        self._ask()

    # putting together

    def _build(self) -> None:
        self.error = ErrorStrip()
        self.numbers, self.changes, self.speed, self.trial = NumbersPane(), ChangesPane(), SpeedPane(), TrialNote()
        left, right = ScrollPane(), ScrollPane()
        left.setFixedWidth(LEFT)
        left.body.setContentsMargins(20, 16, 18, 12)
        left.body.setSpacing(14)
        put(left.body, self.numbers, self.changes, STRETCH)
        right.body.setContentsMargins(20, 16, 20, 0)
        right.body.addWidget(self.speed, 1)
        said = in_row(self.trial, margins=(20, 12, 20, 12))  # what it comes to is seen in a low window, too
        row = in_row(left, line("v"), (in_column((right, 1), said, spacing=0), 1), spacing=0)
        self.confirm, self.notice = ConfirmRow(self._context.environment), DoneStrip()
        self.fill(self.error, row, self.notice, line(), self.confirm, size=SIZE, least=LEAST)
        self.copy_button = Button(icon="ph.copy")
        self.export_button = Button(N_("Export preview"), icon="ph.export")
        self.cancel_button = Button(N_("Cancel"), hint="Esc")
        self.try_button = Button(icon="ph.flask")
        self.verb_button = Button(icon="ph.arrow-clockwise")
        self._enter = Shortcut("dialog.main", self, self._on_enter)
        for button in (self.copy_button, self.export_button):
            self.foot.addWidget(button)
        self.foot.addStretch(1)
        for button in (self.cancel_button, self.try_button, self.verb_button):
            self.foot.addWidget(button)

    def _connect(self) -> None:
        self._how_far.told.connect(self.numbers.show_busy)
        self.numbers.skip_changed.connect(self._on_skip)
        self.changes.changed.connect(self._show_outlook)
        self.changes.fields_changed.connect(self._ask)
        self.speed.rate_changed.connect(self._show_outlook)
        self.try_button.clicked.connect(self._on_try)
        self.confirm.changed.connect(self._say_verbs)
        self.error.retry.connect(self._ask)
        self.copy_button.clicked.connect(self._on_copy)
        self.export_button.clicked.connect(self._on_export)
        self.cancel_button.clicked.connect(self.reject)
        self.verb_button.clicked.connect(self._on_go)
        self._runner.progressed.connect(self._on_progress)
        self._runner.ended.connect(self._on_ended)
        self._runner.failed.connect(self._on_failed)
        self._runner.changed.connect(self._say_verbs)
        self._context.feed.looked.connect(self._on_looked)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin where nothing happens."""
        super().showEvent(event)
        self.cancel_button.setFocus()

    # asking

    def _ask(self) -> None:
        self.numbers.show_busy()
        self.looked = None
        self._look(self._how_far.begin())
        self._say_verbs()

    def _look(self, *told: Callable[[int, int], None]) -> None:
        self._asked = time.monotonic()
        call = partial(look, self._context, self._find, self.changes.fields(), *told)
        self._asking.start(call, self._take, self._on_unknown)

    def _look_again(self) -> None:
        """What held letters back may have ended meanwhile, and what was free may be taken."""
        if self.isVisible() and self.looked is not None and self._runner.job is None:
            self._look()
        else:
            self._again.start(AGAIN_MS)

    def _take(self, looked: Looked) -> None:
        took_ms = (time.monotonic() - self._asked) * 1000
        self._again.start(max(AGAIN_MS, round(took_ms * REST)))
        self.error.clear()
        self.looked, self._ids = looked, looked.ids
        self._find, self._number = partial(tuple, looked.ids), len(looked.ids)
        self._sort()
        if self.focusWidget() is None:  # a few were tried, and their button is gone
            self._primary().setFocus()

    def _on_unknown(self, error: BaseException) -> None:
        self._again.start(AGAIN_MS)
        self.error.show_error(told(error), lead=_("The letters could not be looked at."))

    def _on_looked(self) -> None:
        if self.isVisible():
            self._fresh()
            self._show_trial()  # who runs them may have become silent

    # what is shown

    def is_typed(self) -> bool:
        """What is set in every payload is written by hand; all else of it is chosen again in a moment. Once a few were
        tried with it, it is known what comes of it.
        """
        return bool(self.changes.fields()) and self._tried == (None, None)

    def choice(self) -> Choice:
        """What was chosen."""
        return Choice(
            skip=self._skip,
            lane=self.changes.lane.current(),
            attempts=self.changes.chosen_attempts(),
            rate=self.speed.rate(),
        )

    def _sort(self) -> None:
        looked = self.looked
        if looked is None:
            return
        self._sorted = sort_out(looked.plan, looked.now, self._skip)
        self.numbers.show_sorted(self._sorted, self._skip, looked.shops)
        self.changes.show_sorted(self._sorted, looked.types)
        self._show_trial()
        self._show_outlook()
        self._say()

    def _show_trial(self) -> None:
        progress, ended = self._tried
        looked = self.looked
        if progress is None and ended is None:
            self.trial.show_sorted(self._sorted, looked.worth if looked is not None else Worth())
        else:
            probes = ended.probes if ended is not None else progress.probes if progress is not None else ()
            self.trial.show_probes(probes, ended, looked.shops if looked is not None else {})

    def _show_outlook(self) -> None:
        found, looked = self._sorted, self.looked
        if looked is None:
            return
        number = len(found.going)
        lane = self.changes.lane.current() or next(iter(found.counts("lane")), Lane.NORMAL.value)
        load = load_of(
            self._context.feed.latest, lane, usual_s(found, looked.types), next(iter(found.counts("task_type")), "")
        )
        told = outlook.forecast(load, number, per_minute=self.speed.rate(), most_per_shop=found.most_per_shop())
        self.speed.show_outlook(told, number)

    # slots

    def _on_skip(self, rule: str, on: bool) -> None:
        self._skip = self._skip | {rule} if on else self._skip - {rule}
        self._sort()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._ids))
        self.notice.tell(_("Copied"))

    def _on_export(self) -> None:
        forms = [_("Tables") + " (*.csv)"]
        FileDialog(self, _("Export preview"), self.export, forms=forms).write("dead-letters.csv")

    def export(self, path: Path) -> None:
        """Write what becomes of each letter into a file."""
        looked = self.looked
        if looked is not None:
            call = partial(write_preview, path, self._sorted, looked.now)
            self._writing.start(call, partial(self._tell_export, path), self._on_unwritten)

    def _tell_export(self, path: Path, number: int) -> None:
        words = ngettext("{n} row written to {file}", "{n} rows written to {file}", number)
        self.notice.tell(words.format(n=text.count(number), file=path.name))

    def _on_unwritten(self, error: BaseException) -> None:
        self.error.show_error(told(error), lead=_("The file could not be written."))

    # a few first

    def _on_try(self) -> None:
        if self.looked is None or self._runner.job is not None:
            return
        self._trial = RunRequest(plan=self._sorted.to_send(), options=self.choice().options(probe=PROBES))
        self._runner.begin(self._trial)
        self._show_trial()

    def done(self, result: int) -> None:
        """Leave; those that are being tried run on, but nobody waits for their ends any more."""
        if self._trial is not None and self._runner.job is self._trial:
            self._runner.stop()
        super().done(result)

    def _on_progress(self, progress: Progress) -> None:
        if self._trial is not None and self._runner.job is self._trial:
            self._tried = (progress, None)
            self._show_trial()

    def _on_ended(self, job: RunRequest, ended: Ended) -> None:
        if job is not self._trial:
            return
        self._trial, self._tried = None, (None, ended)
        gone = set(ended.outcome.done)
        self._find = partial(tuple, [task_id for task_id in self._ids if task_id not in gone])
        self._ask()

    def _on_failed(self, job: RunRequest, error: BaseException) -> None:
        if job is self._trial:
            self._trial, self._tried = None, (None, None)
            self.error.show_error(told(error), lead=_("That did not work."))
            self._show_trial()

    # all

    def _primary(self) -> Button:
        """The one filled button: what is most likely right now."""
        ended = self._tried[1]
        if all_failed(ended):
            return self.cancel_button
        passed = ended is not None and bool(ended.probes) and all(probe.passed for probe in ended.probes)
        worth = self.looked.worth if self.looked is not None else Worth()
        few = len(self._sorted.going) <= PROBES
        return self.verb_button if passed or few or not worth.probe_first else self.try_button

    def _on_enter(self) -> None:
        self._primary().click()

    def _on_go(self) -> None:
        if self._problem():
            return
        job = RunRequest(plan=self._sorted.to_send(), options=self.choice().options())
        if self._runner.hold(job):
            self.accept()
            self.started.emit()

    def _problem(self) -> str:
        """What keeps it from going, "" for nothing."""
        if self._runner.job is not None:
            return _("A few are being tried first") if self._trial else _("Another republish is still under way")
        if self.looked is None:
            return _("Still looking at the letters")
        return self.confirm.problem() if self._sorted.going else _("All of them are skipped")

    # words

    def _say(self) -> None:
        self.copy_button.set_count_text(_("Copy list of {n}").format(n=text.count(self._number)))
        if self.looked is not None:
            self.numbers.show_sorted(self._sorted, self._skip, self.looked.shops)
            self._show_trial()
        self._say_verbs()

    def _say_verbs(self) -> None:
        number = len(self._sorted.going)
        looking = self.looked is None and not self._sorted.total
        told = self._number if looking else number  # not "0 tasks" while nobody knows
        words = ngettext("Republish {n} task", "Republish {n} tasks", told)
        self.verb_button.set_count_text(words.format(n=text.count(told)))
        self.confirm.ask_for(number, always=any(item.state == DONE for item in self._sorted.going))
        self.verb_button.disable(self._problem())
        self.try_button.set_count_text(ngettext("Try {n} first", "Try {n} first", PROBES).format(n=PROBES))
        tries = number > PROBES and not all_failed(self._tried[1])
        if not tries and self.focusWidget() is self.try_button:
            self.try_button.clearFocus()  # else the keyboard went on to the cross
        self.try_button.setVisible(tries)
        busy = _("A few are being tried first") if self._trial else _("Another republish is still under way")
        unknown = _("Still looking at the letters") if self.looked is None else ""
        self.try_button.disable(busy if self._runner.job is not None else unknown)
        self.cancel_button.set_source(N_("Leave the rest") if all_failed(self._tried[1]) else N_("Cancel"))
        primary = self._primary()
        for button in (self.cancel_button, self.try_button, self.verb_button):
            button.set_kind("primary" if button is primary else "plain")
        for button in (self.copy_button, self.export_button):
            button.disable("" if self.looked is not None else _("Still looking at the letters"))


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """One look at everything."""

    ids: tuple[str, ...] = ()
    plan: Plan = msgspec.field(default_factory=Plan)
    now: Mapping[str, ShopNow] = msgspec.field(default_factory=dict)
    shops: Mapping[str, Shop] = msgspec.field(default_factory=dict)
    types: Mapping[str, TaskType] = msgspec.field(default_factory=dict)
    worth: Worth = msgspec.field(default_factory=Worth)  #: whether they would pass now


def look(
    context: PageContext,
    find: Callable[[], Sequence[str]],
    fields: Mapping[str, Any],
    told: Callable[[int, int], object] = lambda _done, _of: None,
) -> Looked:
    """Ask for all of it; ``told`` how many letters are looked at, of how many. Blocking."""
    ids = tuple(find())
    plan = context.commands.bulk.plan(ids, fields=fields, told=told)
    shops = list(plan.counts("shop"))
    return Looked(
        ids=ids,
        plan=plan,
        now=context.tasks.shops_now(shops),
        shops=context.shops(),
        types=context.types(),
        worth=context.causes.worth_of(ids),
    )


def usual_s(found: Sorted, types: Mapping[str, TaskType]) -> float:
    """Seconds that one of those that go usually takes."""
    spans = [(types[name].expected_s or USUAL_S, n) for name, n in found.counts("task_type").items() if name in types]
    total = sum(n for _span, n in spans)
    return sum(span * n for span, n in spans) / total if total else USUAL_S


def write_preview(path: Path, found: Sorted, now: Mapping[str, ShopNow]) -> int:
    """Write what becomes of each letter as CSV; tell how many. Blocking.

    Raises:
        OSError: the file cannot be written.
    """
    going = {item.task_id for item in found.going}
    with whole_file.written(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("task_id", "platform", "shop", "type", "lane", "published", "reason", "detail"))
        for item in found.plan.items:
            sent = "yes" if item.task_id in going else "no"
            why = shown.say(item.why) if item.why is not None else ""
            cells = (item.task_id, item.platform, item.shop, item.task_type, item.lane, sent, reason(item, now), why)
            rows.writerow([guarded(cell) for cell in cells])
    return found.total


class TrialNote(Notice):
    """Try a few first: what all of them have in common, and what came of those that were tried.

    Whether it would help, then how those that were tried stand.
    """

    def __init__(self) -> None:
        super().__init__("warning")

    def show_sorted(self, found: Sorted, worth: Worth) -> None:
        """Say whether they would pass now, and what they have in common."""
        self.set_status(verdicts.look(worth).status)
        lines = [verdicts.why(worth), text.run_on((_common(found), _shops(found)))]
        self.show_words(_(verdicts.look(worth).word), "\n".join(line for line in lines if line))

    def show_probes(self, probes: Sequence[Probe], ended: Ended | None, shops: Mapping[str, Shop]) -> None:
        """Say how those that were tried stand; ``ended`` once that is settled."""
        passed = sum(1 for probe in probes if probe.passed)
        failed = sum(1 for probe in probes if probe.passed is False)
        over = ended is not None
        self.set_status("dead" if failed else "healthy" if over and passed else "warning" if over else "running")
        lines = [_probe_line(probe, shops) for probe in probes]
        if ended is not None and ended.why is not None and (failed or not probes):
            lines.append(shown.say(ended.why))
        self.show_words(_lead(probes, passed, failed), "\n".join(lines))


def all_failed(ended: Ended | None) -> bool:
    """Whether everything that was tried has failed."""
    return ended is not None and bool(ended.probes) and all(probe.passed is False for probe in ended.probes)


def _lead(probes: Sequence[Probe], passed: int, failed: int) -> str:
    number = len(probes)
    if number and failed == number and all(probe.same for probe in probes):
        words = ngettext(
            "{n} of {n} failed again with the same error", "{n} of {n} failed again with the same error", number
        )
        return words.format(n=number)
    if number and failed == number:
        return _("{n} of {n} failed again").format(n=number)
    count = ngettext("{n} tried", "{n} tried", number).format(n=number)
    words = _("{tried}: {passed} succeeded, {failed} failed")
    return words.format(tried=count, passed=passed, failed=failed)


def _probe_line(probe: Probe, shops: Mapping[str, Shop]) -> str:
    shop = shops.get(probe.shop)
    name = shop.name if shop is not None and shop.name else probe.shop
    # one that waits for its next attempt after the same failure counts as failed here
    status = Status.DEAD if probe.passed is False and probe.same else probe.status
    state = shown.status_word(status).lower() if status else _("lost")
    if probe.status == Status.RUNNING and heard.silent(probe.worker):
        state = _("Unconfirmed: its worker is not heard of").lower()
    if probe.passed is False and probe.kind:
        state = _("{name}: {value}").format(name=state, value=kinds.title(probe.kind) or probe.kind)
    return f"{name}  {state}"


def _common(found: Sorted) -> str:
    prints = {item.fingerprint for item in found.plan.items if item.fingerprint}
    if len(prints) == 1:
        words = ngettext("{n} failed for the same reason.", "{n} failed for the same reason.", found.total)
        return words.format(n=text.count(found.total))
    words = ngettext("They failed for {n} reason.", "They failed for {n} reasons.", len(prints))
    return words.format(n=text.count(len(prints)))


def _shops(found: Sorted) -> str:
    closed = len({item.shop for item in found.reasons.get(CLOSED, ())})
    if not closed:
        return _("Whether it is put right shows best in a few.")
    rest = len({item.shop for item in found.plan.items if item.shop}) - closed
    shut = ngettext("{n} shop is still logged out", "{n} shops are still logged out", closed)
    back = ngettext("the other {n} is back or not known", "the other {n} are back or not known", rest)
    return _("{closed}; {rest}.").format(closed=shut.format(n=text.count(closed)), rest=back.format(n=text.count(rest)))


class ConfirmRow(QWidget):
    """Above the limit the number must be typed; how it can be taken back stands beside it.

    Signals:
    changed: another text was typed.
    """

    changed = Signal()

    def __init__(self, environment: str) -> None:
        super().__init__()
        self._environment, self._wanted = environment, ""
        self._ask, self._hint = Label("", "body"), Label("", "label", "text3")
        self.field = QLineEdit()
        self.field.setFixedWidth(84)
        self.field.textChanged.connect(self.changed)
        in_row(self._ask, self.field, STRETCH, self._hint, owner=self, margins=(20, 8, 20, 10), spacing=10)
        say_in_language(self._say)

    def ask_for(self, number: int, *, always: bool = False) -> None:
        """Ask for this number where it is large, or ``always``: where work is done once more."""
        self._wanted = typed_count(number, self._environment) or (str(number) if always and number else "")
        self._say()

    def problem(self) -> str:
        """What is still to be typed, "" for nothing."""
        if not self._wanted or self.field.text().strip().replace(",", "") == self._wanted:
            return ""
        return _("Type {text} first").format(text=self._wanted)

    def _say(self) -> None:
        for widget in (self._ask, self.field):
            widget.setVisible(bool(self._wanted))
        ask = _("Type {text} to go on").format(text=self._wanted)
        self._ask.setText(ask)
        self.field.setAccessibleName(ask)
        hint = _("Can be undone for {span}, then each task can be cancelled")
        self._hint.setText(hint.format(span=text.seconds(timedelta(seconds=HOLD_S))))
