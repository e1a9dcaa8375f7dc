"""What a person must say of a task whose outcome nobody knows: where to look first, each answer with what it does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout

from services.domain.fleet.shop import Shop
from services.domain.insight.attempts import Unknown
from services.domain.task.record import Task
from services.i18n import N_, _
from views.kit.task_verb import TaskVerb
from views.pages.tasks.verbs import CANCEL, DECISIONS
from views.support import safe, shown
from views.support.look import Label
from views.support.words import type_names
from views.support.words.shop import platform_name
from views.widgets.buttons import Button
from views.widgets.section import Section


class DecideSection(Section):
    """Signals:
    wanted: the ``TaskVerb`` that was chosen.
    """

    wanted = Signal(object)

    def __init__(self, verbs: Sequence[TaskVerb] = (*DECISIONS, CANCEL)) -> None:
        super().__init__(N_("Did it run? A person must say"), foldable=False, divider=False)
        self._known = Label("", "body", "text2", wrap=True)
        self._first = Label("", "body", "text", wrap=True)
        self.buttons: dict[str, Button] = {}
        self._effects: dict[str, Label] = {}
        grid = QGridLayout()
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for place, verb in enumerate(verbs):
            button = Button(verb.text, icon=verb.icon, kind="danger" if verb.danger else "plain", small=True)
            button.clicked.connect(partial(self.wanted.emit, verb))
            effect = Label("", "label", "text2", wrap=True)
            effect.setBuddy(button)
            self.buttons[str(verb.key)], self._effects[verb.effect] = button, effect
            grid.addWidget(button, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(effect, place, 1)
        self.body.addWidget(self._known)
        self.body.addWidget(self._first)
        self.body.addLayout(grid)

    def show_task(self, task: Task, shop: Shop | None, end: Unknown, now_ms: int) -> None:
        """Say what is known of its end and what to look at before an answer is chosen."""
        at, worker = shown.clock(end.at, now_ms), safe.one_line(end.worker, 60)
        words = _("Attempt {n} ended at {time} without an answer.")
        if worker:
            words = _("Attempt {n} on worker {worker} ended at {time} without an answer.")
        if worker and end.lost:
            words = _("Worker {worker} was lost while it ran; nobody knows anything of it since {time}.")
        if worker and end.sign_at:
            # the first page counts the silence of the worker from the same sign
            words = _("Worker {worker} was lost while it ran: its last sign came at {sign}, it was given up at {time}.")
        self._known.setText(words.format(n=task.attempt, worker=worker, time=at, sign=shown.clock(end.sign_at, now_ms)))
        name = safe.one_line(shop.name if shop is not None and shop.name else task.shop_id, 60)
        look = _("First look in the {platform} backend of {shop}: was “{type}” done after {time}?")
        started = shown.clock(end.started_at or task.created_at, now_ms)
        self._first.setText(
            look.format(
                platform=platform_name(task.platform), shop=name, type=type_names.name(task.task_type), time=started
            )
        )
        for effect, label in self._effects.items():
            label.setText(_(effect))
