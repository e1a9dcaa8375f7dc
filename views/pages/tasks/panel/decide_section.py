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
from views.support.words import type_names, way
from views.support.words.shop import platform_name
from views.widgets.buttons import Button
from views.widgets.section import Section


class DecideSection(Section):
    """Signals:
    wanted: the ``TaskVerb`` that was chosen.
    look_wanted: the shop (``platform:shop_id``) in whose browser a person looks first.
    """

    wanted = Signal(object)
    look_wanted = Signal(str)

    def __init__(self, verbs: Sequence[TaskVerb] = (*DECISIONS, CANCEL)) -> None:
        super().__init__(N_("Did it run? A person must say"), foldable=False, divider=False)
        self._known = Label("", "body", "text2", wrap=True)
        self._first = Label("", "body", "text", wrap=True)
        self._shop, self._looked = "", ""  #: of the task shown, and the task for which somebody looked
        self._task_id = ""
        self.look_button = Button(kind="primary", icon="ph.browser", small=True)
        self.look_button.clicked.connect(self._on_look)
        self.buttons: dict[str, Button] = {}
        self._effects: dict[str, Label] = {}
        grid = QGridLayout()
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for place, verb in enumerate(verbs):
            # what was seen decides between the first ones; the last are for who could see nothing, or wants nothing
            button = Button(verb.text, icon=verb.icon, kind="ghost" if verb.danger else "plain", small=True)
            button.clicked.connect(partial(self.wanted.emit, verb))
            effect = Label("", "label", "text2", wrap=True)
            effect.setBuddy(button)
            self.buttons[str(verb.key)], self._effects[verb.effect] = button, effect
            grid.addWidget(button, place, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(effect, place, 1)
        self.body.addWidget(self._known)
        self.body.addWidget(self._first)
        self.body.addWidget(self.look_button, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addLayout(grid)

    def show_task(self, task: Task, shop: Shop | None, end: Unknown, now_ms: int) -> None:
        """Say what is known of its end and what to look at before an answer is chosen."""
        self._task_id, self._shop = task.task_id, task.shop
        self.look_button.set_count_text(way.label("login_shop", task.shop))
        self._lead()
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

    def _lead(self) -> None:
        """To look comes first; once that was done, which answer is right is for the person to say."""
        self.look_button.set_kind("plain" if self._looked == self._task_id else "primary")

    def _on_look(self) -> None:
        self._looked = self._task_id
        self._lead()
        self.look_wanted.emit(self._shop)
