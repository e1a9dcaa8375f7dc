"""Tells how a bulk republish goes: held with Undo, under way with Pause and Stop, over with what came of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from PySide6.QtCore import QObject, QTimer

from services.commands.bulk.republish import Ended, Progress
from services.i18n import N_, _, ngettext
from views.dialogs.republish.runner import HOLD_S, BulkRunner, RunRequest
from views.support import shown, text
from views.support.throttle import Throttle
from views.widgets.toast import ToastAction, ToastSpec, action, failure, lasting, undo_action

KEY = "bulk-republish"
#: a run that is over sooner is told only once
SLOW_MS, PACE_MS = 800, 500


class Telling(QObject):
    """Turns what the runner does into toasts."""

    def __init__(
        self, runner: BulkRunner, toast: Callable[[ToastSpec], None], open_runs: Callable[[], None], parent: QObject
    ) -> None:
        """``open_runs`` shows how the tasks that were sent end."""
        super().__init__(parent)
        self._runner, self._toast, self._open = runner, toast, open_runs
        self._slow = QTimer(self, singleShot=True, interval=SLOW_MS)
        self._slow.timeout.connect(self._tell_running)
        self._update = Throttle(self._tell_update, PACE_MS, self)
        runner.changed.connect(self._on_changed)
        runner.progressed.connect(self._update)
        runner.ended.connect(self._on_ended)
        runner.failed.connect(self._on_failed)
        runner.taken_back.connect(self._on_taken_back)

    def _on_changed(self) -> None:
        job = self._runner.job
        if job is None or job.options.probe_only:
            self._slow.stop()
        elif self._runner.delayed:
            number = job.number
            actions = (undo_action(self._runner.undo), action(N_("Send now"), self._runner.send_now))

            def say() -> ToastSpec:
                words = ngettext("Republishing {n} task in {span}", "Republishing {n} tasks in {span}", number).format(
                    n=text.count(number), span=text.seconds(timedelta(seconds=HOLD_S))
                )
                return ToastSpec(text=words, status="scheduled", actions=actions, seconds=HOLD_S, key=KEY)

            self._toast(lasting(say))
        elif self._runner.progress is None:
            self._slow.start()
        else:
            self._tell_running()

    def _tell_running(self) -> None:
        job = self._runner.job
        if job is None or job.options.probe_only:
            return
        self._toast(lasting(partial(self._running, job)))

    def _running(self, job: RunRequest) -> ToastSpec:
        hand = (
            ToastAction(text=_("Resume"), call=self._runner.resume)
            if self._runner.paused
            else ToastAction(text=_("Pause"), call=self._runner.pause)
        )
        stop = ToastAction(text=_("Stop"), call=self._runner.stop)
        return ToastSpec(
            text=headline(job, self._runner.progress),
            detail=detail(self._runner.progress),
            status="paused" if self._runner.paused else "running",
            actions=(hand, stop),
            sticky=True,
            key=KEY,
        )

    def _tell_update(self, progress: Progress) -> None:
        job = self._runner.job
        if job is not None and not job.options.probe_only:
            self._toast(ToastSpec(text=headline(job, progress), detail=detail(progress), key=KEY, update=True))

    def _on_taken_back(self, _job: RunRequest) -> None:
        self._toast(ToastSpec(text=_("Taken back; nothing was changed."), status="cancelled", key=KEY))

    def _on_failed(self, _job: RunRequest, error: BaseException) -> None:
        self._slow.stop()
        self._toast(failure(error, key=KEY))

    def _on_ended(self, job: RunRequest, ended: Ended) -> None:
        self._slow.stop()
        if job.options.probe_only:
            return
        number, skipped = len(ended.outcome.done), ended.outcome.skipped
        parts = _left(ended)
        if skipped:
            alone = ngettext("{n} task left alone", "{n} tasks left alone", len(skipped)).format(n=len(skipped))
            parts.append(_("{name}: {value}").format(name=alone, value=shown.say(skipped[0].why)))
        show = ToastAction(text=_("See how they end"), call=self._open)
        self._toast(
            ToastSpec(
                text=republished(number),
                detail=text.run_on(parts),
                # what was sent has not succeeded yet
                status="running" if not parts else "warning",
                actions=(show,) if ended.outcome.made else (),
                copy="\n".join(f"{one.task_id}\t{shown.say(one.why)}" for one in skipped),
                seconds=10,
                key=KEY,
            )
        )


def _left(ended: Ended) -> list[str]:
    """Why it ended before all were sent, and how many that leaves."""
    number = len(ended.left)
    if number and ended.why is not None and ended.why.code == "bulk.stopped":
        stopped = ngettext("Stopped; {n} stays a dead letter", "Stopped; {n} stay dead letters", number)
        return [stopped.format(n=text.count(number))]
    parts = [shown.say(ended.why)] if ended.why is not None else []
    if number:
        left = ngettext("{n} stays a dead letter", "{n} stay dead letters", number)
        parts.append(left.format(n=text.count(number)))
    return parts


def republished(number: int) -> str:
    """How many became tasks."""
    if not number:
        return _("Nothing was changed.")
    return ngettext("{n} task republished", "{n} tasks republished", number).format(n=text.count(number))


def headline(job: RunRequest, progress: Progress | None) -> str:
    """How far it is."""
    done = progress.done if progress is not None else 0
    words = _("Republishing: {done} of {n}")
    return words.format(done=text.count(done), n=text.count(len(job.plan.items)))


def detail(progress: Progress | None) -> str:
    """What it waits for."""
    if progress is None:
        return ""
    if progress.phase == "paused":
        return _("Paused; the rest are still dead letters.")
    if progress.phase == "silent":
        return _("The store does not answer; asking again.")
    if progress.next_s >= 1:
        return _("The next one goes {when}.").format(when=text.until(shown.span(progress.next_s * 1000)))
    return ""
