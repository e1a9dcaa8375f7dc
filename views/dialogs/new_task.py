"""The New task dialog: what, for which shops, with which parameters, how urgent; the result always in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from services.commands.tasks import Submitted, TaskSpec  # type: ignore[attr-defined]
from services.domain import filter
from services.domain.query import equals
from services.domain.shop import Shop
from services.domain.task_type import TaskType
from services.i18n import N_, _, ngettext
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Question, typed_count
from views.dialogs.created import Created
from views.dialogs.creator import Creator
from views.dialogs.delivery import Delivery
from views.dialogs.draft import ALL, Draft, from_prefill
from views.dialogs.forecast import Forecast, tasks
from views.dialogs.frame import DialogFrame
from views.dialogs.json_text import pretty
from views.dialogs.parameters import Parameters
from views.dialogs.shops_part import ShopsPart
from views.dialogs.twins import Twins, find
from views.dialogs.what_part import WhatPart
from views.support import text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.throttle import Debounce
from views.widgets.buttons import Button
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import ErrorStrip

SIZE, LEAST = (1098, 850), (900, 560)
CHECK_MS = 350


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Shops and task types there are."""

    shops: Mapping[str, Shop]
    types: Mapping[str, TaskType]


class NewTaskDialog(DialogFrame):
    """Open it with ``open()``; closed, it keeps its draft until ``start_over`` or until the tasks are created.

    Signals:
        created: the ``Submitted`` of a creation.
        tasks_wanted: a filter that the Tasks page shall show.
    """

    created = Signal(object)
    tasks_wanted = Signal(str)

    def __init__(
        self, context: PageContext, prefill: Mapping[str, object] | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(N_("New task"), icon="ph.plus-circle", parent=parent)
        self._context = context
        self._known = Known(shops={}, types={})
        self._prefill: Draft | None = from_prefill(prefill or {})
        self._queue = False
        self._twins = Twins()
        self._asking = Operation(self, latest=True)
        self._checking = Operation(self, latest=True)
        self._creator = Creator(context, self)
        self._check_soon = Debounce(self._check_twins, CHECK_MS, self)
        self.set_note(" · ".join(part for part in (context.profile, context.environment) if part))
        self._build()
        self._connect()
        on_language_changed(self._say)
        self._asking.start(self._ask, self._take, self._on_unknown)
        self._say()

    # the draft

    def draft(self) -> Draft:
        """Everything as it stands now."""
        return Draft(
            platform=self.what.platform(),
            task_type=self.what.type_name(),
            shops=self.shops.picker.chosen(),
            payload=self.parameters.document(),
            priority=self.delivery.priority.value(),
            delay_min=self.delivery.delay_min(),
            attempts=self.delivery.chosen_attempts(),
            if_duplicate="queue" if self._queue else "reject",
        )

    def resume(self, prefill: Mapping[str, object] | None = None) -> None:
        """Go on with the draft, or with what another page filled in."""
        if prefill:
            self._prefill = from_prefill(prefill)
        self._asking.start(self._ask, self._take, self._on_unknown)

    def start_over(self) -> None:
        """Throw the draft away."""
        self._queue, self._twins = False, Twins()
        self.shops.picker.model.untick_all()
        self.shops.picker.paste.field.clear()
        self.parameters.show_kind(self.what.kind(), {})
        self.delivery.set_priority(6)
        self._pages.setCurrentWidget(self._form)
        self._say()

    # putting together

    def _build(self) -> None:
        self.what, self.shops = WhatPart(1), ShopsPart(2)
        self.parameters, self.delivery = Parameters(3), Delivery(4)
        self.forecast, self.outcome, self.error = Forecast(), Created(), ErrorStrip()
        self._form = ScrollPane()
        for part in (self.what, self.shops, self.parameters, self.delivery):
            self._form.body.addWidget(part)
        self._form.body.addStretch(1)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._form)
        self._pages.addWidget(self.outcome)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._pages, 1)
        row.addWidget(self.forecast)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(0)
        self.body.addWidget(self.error)
        self.body.addLayout(row, 1)
        self._build_foot()
        self.setMinimumSize(*LEAST)
        self.resize(*SIZE)

    def _build_foot(self) -> None:
        self.discard_button = Button(N_("Discard"), icon="ph.trash")
        self.copy_button = Button(N_("Copy as JSON"), icon="ph.copy")
        self.cancel_button = Button(N_("Cancel"), hint="Esc")
        self.create_button = Button(kind="primary", icon="ph.plus", shortcut="Ctrl+Return")
        self.create_button.set_count_text(_("Create"))
        self.again_button = Button(N_("Back to the form"))
        self._missing = Label("", "label", "dead")
        for button in (self.discard_button, self.copy_button, self.again_button):
            self.foot.addWidget(button)
        self.foot.addStretch(1)
        self.foot.addWidget(self._missing)
        self.foot.addWidget(self.cancel_button)
        self.foot.addWidget(self.create_button)

    def _connect(self) -> None:
        # the form
        self.what.platform_chosen.connect(self._on_platform)
        self.what.type_chosen.connect(self._on_type)
        self.shops.picker.changed.connect(self._on_changed)
        self.shops.picker.mixed.connect(self._on_mixed)
        self.parameters.changed.connect(self._on_changed)
        self.delivery.changed.connect(self._on_changed)
        self.forecast.queue_chosen.connect(self._on_queue)
        self.forecast.show_twins.connect(self._on_show_twins)
        # the foot
        self.discard_button.clicked.connect(self._on_discard)
        self.copy_button.clicked.connect(self._on_copy)
        self.cancel_button.clicked.connect(self.reject)
        self.again_button.clicked.connect(self._on_back)
        self.create_button.clicked.connect(self._on_create)
        # the result
        self.outcome.watch_wanted.connect(self._watch)
        self.outcome.queue_wanted.connect(self._queue_one)
        self.outcome.force_wanted.connect(self._force_one)
        self._creator.done.connect(self._done)
        self._creator.settled.connect(self.outcome.settle)
        self._creator.failed.connect(self._failed)
        self._creator.tasks_wanted.connect(self.tasks_wanted)
        self.error.retry.connect(self.resume)
        QShortcut(QKeySequence("F8"), self, self.parameters.go_to_problem)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit into the window behind."""
        owner: QWidget | None = self.parentWidget()
        if owner is not None:
            room = owner.window().size()
            self.resize(min(SIZE[0], room.width() - 60), min(SIZE[1], room.height() - 60))
        super().showEvent(event)
        self.what.types.setFocus()

    # what there is

    def _ask(self) -> Known:
        return Known(shops=self._context.shops(), types=self._context.types())

    def _take(self, known: Known) -> None:
        self.error.clear()
        self._known = known
        wish, self._prefill = self._prefill, None
        self.what.show_choices(known.shops, known.types)
        self.shops.picker.set_shops(known.shops)
        if wish is not None:
            self._fill(wish)
        self._on_type()

    def _fill(self, wish: Draft) -> None:
        self.what.choose(wish.platform, wish.task_type)
        self.shops.picker.set_platform(self.what.platform())
        self.shops.picker.tick(tuple(shop for shop in wish.shops if shop in self._known.shops))
        self.parameters.show_kind(self.what.kind(), wish.payload)
        self.delivery.set_priority(wish.priority)

    def _on_unknown(self, error: BaseException) -> None:
        self.error.show_error(str(error), lead=_("Shops and task types could not be read."))

    # slots of the form

    def _on_platform(self, platform: str) -> None:
        self.shops.picker.set_platform(platform)

    def _on_mixed(self) -> None:
        self.what.choose(ALL, "")
        self.shops.picker.set_platform(self.what.platform())

    def _on_type(self) -> None:
        kind = self.what.kind()
        self.parameters.show_kind(kind)
        if kind is not None:
            self.delivery.set_defaults(kind.max_retries + 1)
        self._on_changed()

    def _on_changed(self) -> None:
        self._check_soon()
        self._say()

    def _on_queue(self, queue: bool) -> None:
        self._queue = queue
        self._say()

    def _on_show_twins(self) -> None:
        ids = tuple(task.task_id for task in self._twins.by_shop.values())
        self.tasks_wanted.emit(filter.format_terms((equals("id", *ids[:100]),)))
        self.hide()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(pretty(self.draft().message()))

    def _on_discard(self) -> None:
        self.start_over()
        self.reject()

    def _on_back(self) -> None:
        self._pages.setCurrentWidget(self._form)
        self._check_twins()
        self._say()

    # duplicates

    def _check_twins(self) -> None:
        self._check_soon.cancel()
        draft, kind = self.draft(), self.what.kind()
        if kind is None or not draft.shops or self.parameters.problems():
            self._take_twins(Twins())
            return
        call = partial(find, self._context.tasks, kind, draft.shops, draft.payload)
        self._checking.start(call, self._take_twins, self._on_unchecked)
        self._say()

    def _take_twins(self, twins: Twins) -> None:
        self._twins = twins
        self.shops.picker.set_active(frozenset(twins.by_shop))
        self._say()

    def _on_unchecked(self, _error: BaseException) -> None:
        # The store refuses duplicates by itself; here they are only announced.
        self._take_twins(Twins())

    # creating

    def _problem(self) -> str:
        """What is missing before tasks can be created, "" for nothing."""
        draft = self.draft()
        if not draft.task_type:
            return _("Choose a task type")
        wrong = self.parameters.problems()
        if wrong:
            return ngettext("Fix {n} error first", "Fix {n} errors first", wrong).format(n=wrong)
        if self.delivery.problem():
            return self.delivery.problem()
        return "" if draft.shops else _("Tick a shop")

    def _count(self) -> int:
        draft = self.draft()
        return len(draft.shops) - (0 if self._queue else sum(1 for shop in draft.shops if shop in self._twins.by_shop))

    def _on_create(self) -> None:
        if self._creator.busy or self._problem() or self._pages.currentWidget() is not self._form:
            return
        number = self._count()
        typed = typed_count(number, self._context.environment)
        if not typed:
            self._create()
            return
        verb = ngettext("Create {n} task", "Create {n} tasks", number).format(n=text.count(number))
        question = Question(title=N_("Create tasks"), number=tasks(number), verb=verb, typed=typed)
        dialog = ConfirmDialog(question, self)
        dialog.confirmed.connect(self._create)
        dialog.open()

    def _create(self) -> None:
        self._creator.create(self.draft())
        self._say()

    def _done(self, result: Submitted) -> None:
        self.created.emit(result)
        if result.errors and not result.created and not result.duplicates and self._tell_field(result):
            self._say()
        elif result.errors or result.duplicates:
            self.outcome.show_result(result)
            self._pages.setCurrentWidget(self.outcome)
            self._say()
        else:
            self.start_over()
            self.accept()

    def _tell_field(self, result: Submitted) -> bool:
        """Put a refusal that all tasks share at its field."""
        spots = {(field, sentence) for _spec, field, sentence in result.errors}
        if len(spots) != 1:
            return False
        field, sentence = spots.pop()
        return self.parameters.tell(field, sentence.removeprefix(f"{field}: "))

    def _failed(self, error: BaseException) -> None:
        self.error.show_error(str(error), lead=_("Nothing was created."))
        self._say()

    # duplicates one by one

    def _watch(self, task_id: str) -> None:
        self.tasks_wanted.emit(filter.format_terms((equals("id", task_id),)))
        self.hide()

    def _queue_one(self, spec: TaskSpec) -> None:
        self._creator.create_one(self.draft(), spec, if_duplicate="queue")

    def _force_one(self, spec: TaskSpec, reason: str) -> None:
        self._creator.create_one(self.draft(), spec, if_duplicate="force", reason=reason)

    # words

    def _say(self) -> None:
        if not hasattr(self, "outcome"):
            return
        on_form = self._pages.currentWidget() is self._form
        problem = self._problem()
        number = self._count()
        self.shops.say(len(self._known.shops))
        errors = problem if self.parameters.problems() or self.delivery.problem() else ""
        self.forecast.show_draft(
            self.draft(), self.what.kind(), self._shown_twins(), checking=self._checking.busy, errors=errors
        )
        self.create_button.set_count_text(
            ngettext("Create {n} task", "Create {n} tasks", number).format(n=text.count(number))
        )
        busy = _("Creating") if self._creator.busy else ""
        nothing = "" if number or problem else _("All of them are active already")
        self.create_button.disable(busy or problem or nothing)
        self._missing.setText(problem or nothing if on_form else "")
        self.forecast.setVisible(on_form)
        for widget in (self.create_button, self.discard_button, self.copy_button):
            widget.setVisible(on_form)
        self.again_button.setVisible(not on_form)
        self.cancel_button.set_source(N_("Cancel") if on_form else N_("Close"))

    def _shown_twins(self) -> Twins:
        chosen = set(self.shops.picker.chosen())
        return Twins(by_shop={shop: task for shop, task in self._twins.by_shop.items() if shop in chosen})
