"""The first run: two ways to begin, a look around with sample data, and the language."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from services.domain.insight.connection import BROKER, STORE, Answer
from services.i18n import N_, _, is_chinese
from services.profiles import check
from services.profiles.book import SavedProfile
from services.settings.reading import UNNAMED
from views.pages.first_run.checks import Check, CheckList
from views.support import safe
from views.support.language import say_in_language
from views.support.look import Label, paint_ground
from views.theme import theme
from views.theme.tokens import RADIUS_CARD
from views.widgets.buttons import Button, LinkLabel
from views.widgets.connection.address_field import AddressField, AddressRow
from views.widgets.connection.answer_line import AnswerLine
from views.widgets.layout import STRETCH, in_column, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.stepper import Stepper

CARD, GAP = 450, 20


class FirstRunPage(QWidget):
    """Nothing runs until a person says so.

    Signals:
        run_here: start on this machine with so many slots.
        connect_fleet: connect to broker and Redis.
        test_connection: try both addresses.
        sample: look around with sample data.
        language_chosen: ``en`` or ``zh_CN``.
        language_changed: the page speaks another language; texts that came translated are to be shown again.
    """

    run_here = Signal(int)
    connect_fleet = Signal(str, str)
    test_connection = Signal(str, str)
    sample = Signal()
    language_chosen = Signal(str)
    language_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        paint_ground(self, "page")
        self.local, self.fleet = LocalChoice(), FleetChoice()
        self._title, self._text = Label("", "kpi"), Label("", "body", "text2")
        self.sample_link = LinkLabel(N_("Look around with sample data"))
        self.sample_link.set_glyph("ph.monitor-play")
        self.language_link = LinkLabel()
        self.language_link.set_glyph("ph.translate")
        self._put_together()
        self.local.start_wanted.connect(self.run_here)
        self.fleet.test_wanted.connect(self.test_connection)
        self.fleet.connect_wanted.connect(self.connect_fleet)
        self.sample_link.activated.connect(self.sample)
        self.language_link.activated.connect(self._on_language)
        say_in_language(self._say)

    def show_checks(self, checks: Sequence[Check]) -> None:
        """Show what was found on this machine."""
        self.local.show_checks(checks)

    def show_test(self, answers: Sequence[Answer], addresses: tuple[str, str]) -> None:
        """Show what broker and Redis at these addresses answered."""
        self.fleet.show_test(answers, addresses)

    def show_error(self, text: str, addresses: tuple[str, str] | None = None) -> None:
        """Show why connecting failed; ``addresses``: to these."""
        self.fleet.show_error(text, addresses)

    def try_again(self) -> None:
        """Take another answer: what was chosen did not open, and the reason is shown elsewhere."""
        self.fleet.show_error("")

    def _put_together(self) -> None:
        cards = in_row(STRETCH, spacing=GAP)
        for card in (self.local, self.fleet):
            card.setMinimumWidth(CARD - 90)
            card.setMaximumWidth(CARD)
            cards.addWidget(card, 20)
        cards.addStretch(1)
        links = in_row(STRETCH, self.sample_link, self.language_link, STRETCH, spacing=24)
        pane = ScrollPane()
        column = pane.body
        column.setContentsMargins(24, 24, 24, 24)
        column.addStretch(2)
        column.addWidget(self._title, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(6)
        column.addWidget(self._text, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(28)
        column.addLayout(cards)
        column.addSpacing(22)
        column.addLayout(links)
        column.addStretch(3)
        in_column(pane, owner=self)

    def _on_language(self) -> None:
        self.language_chosen.emit("en" if is_chinese() else "zh_CN")

    def _say(self) -> None:
        self._title.setText(_("Where should your tasks run?"))
        self._text.setText(_("You can change this at any time. Nothing runs until you say so."))
        # The other language calls itself by its own name, for those who cannot read this one.
        self.language_link.set_count_text("English" if is_chinese() else "中文")
        self.setAccessibleName(self._title.text())
        self.language_changed.emit()


SLOTS, ICON_BOX = 4, 40
#: in so much room the words of a point are one line
WIDEST = 10_000
BROKER_EXAMPLE, REDIS_EXAMPLE = (
    "amqps://user:password@mq.example.com:5671",
    "rediss://:password@redis.example.com:6380/0",
)


class ChoiceCard(QFrame):
    """A card with an icon, a title, a sentence and points; add content to ``body``, buttons to ``foot``."""

    def __init__(self, icon: str, title: str, text: str, points: Sequence[str], parent: QWidget | None = None) -> None:
        """All texts are source texts."""
        super().__init__(parent)
        self._icon, self._texts = icon, (title, text)
        self._points = [(QLabel(), Label("", "body", "text", wrap=True), point) for point in points]
        paint_ground(self, "card")
        self._glyph = QLabel()
        self._glyph.setFixedSize(ICON_BOX, ICON_BOX)
        self._glyph.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._glyph.setProperty("panel", "code")
        self._title, self._text = Label("", "page"), Label("", "body", "text2", wrap=True)
        column = in_column(self._glyph, self._title, self._text, owner=self, margins=(24, 22, 24, 22), spacing=9)
        column.addSpacing(2)
        for glyph, label, _point in self._points:
            column.addLayout(in_row((glyph, 0, Qt.AlignmentFlag.AlignTop), (label, 1), spacing=8))
        column.addSpacing(4)
        self.body = in_column(spacing=10)
        self.foot = in_row(spacing=8)
        put(column, self.body, STRETCH, self.foot)
        theme().changed.connect(self._restyle)
        say_in_language(self._say_card)

    def _say_card(self) -> None:
        self._title.setText(_(self._texts[0]))
        self._text.setText(_(self._texts[1]))
        self.setAccessibleName(_(self._texts[0]))
        for _glyph, label, point in self._points:
            label.setText(_(point))
        self._restyle()

    def _restyle(self) -> None:
        self._glyph.setPixmap(theme().pixmap(self._icon, "accent", 22))
        for glyph, label, _point in self._points:
            glyph.setPixmap(theme().pixmap("ph.check", "succeeded", 13))
            # in the middle of the first line, which Chinese words make taller
            glyph.setFixedHeight(label.heightForWidth(WIDEST))


class LocalChoice(ChoiceCard):
    """Signals:
    start_wanted: how many slots.
    """

    start_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "ph.laptop",
            N_("Run on this machine"),
            N_("Everything in one place: queue, storage and workers run inside Fleetdeck."),
            (
                N_("Nothing else to install"),
                N_("For one machine; a fleet can grow out of it later"),
                N_("Your data stay on this computer, in one file"),
            ),
            parent,
        )
        self.checks = CheckList()
        self.slots = Stepper(N_("Task slots"), SLOTS, 1, 64)
        self._slots_title, self._slots_note = Label("", "label", "text2"), Label("", "label", "text3")
        self.button = Button(N_("Start local mode"), kind="primary", icon="ph.play-fill")
        self.button.clicked.connect(self._on_start)
        row = in_row(self._slots_title, self.slots, self._slots_note, STRETCH, spacing=10)
        self._error = Label("", "label", "dead", wrap=True)
        self._error.hide()
        put(self.body, self.checks, self._error, row)
        self.foot.addWidget(self.button)
        self.foot.addStretch(1)
        say_in_language(self._say)

    def show_checks(self, checks: Sequence[Check]) -> None:
        """Show what was found; an error keeps from starting and says how to put it right."""
        self.checks.show_checks(checks)
        wrong = self.checks.blocked()
        self._error.setText(safe.one_line(wrong))
        self._error.setVisible(bool(wrong))
        self.button.disable(wrong)

    def _say(self) -> None:
        self._slots_title.setText(_("Task slots"))
        self._slots_note.setText(_("tasks that run at once"))

    def _on_start(self) -> None:
        self.start_wanted.emit(self.slots.value())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the edge of the usual choice."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme().color("selline"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS_CARD, RADIUS_CARD)


class FleetChoice(ChoiceCard):
    """Signals:
    test_wanted: addresses of broker and Redis.
    connect_wanted: addresses of broker and Redis.
    """

    test_wanted = Signal(str, str)
    connect_wanted = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "ph.globe",
            N_("Connect to a fleet"),
            N_("Your company already runs the broker and the workers."),
            (
                N_("RabbitMQ carries the messages, Redis keeps the records"),
                N_("The same pages and commands as on one machine"),
            ),
            parent,
        )
        self.broker, self.redis = AddressField(BROKER_EXAMPLE), AddressField(REDIS_EXAMPLE)
        self._titles = (Label("", "label", "text2"), Label("", "label", "text2"))
        self._answers = (AnswerLine(), AnswerLine())
        self._error = Label("", "label", "dead", wrap=True)
        self._error.hide()
        self.test_button = Button(N_("Test connection"))
        self.connect_button = Button(N_("Connect"))
        grid = QGridLayout()
        grid.setVerticalSpacing(5)
        fields = zip(self._titles, (self.broker, self.redis), self._answers, strict=True)
        for row, (title, field, answer) in enumerate(fields):
            grid.addWidget(title, 3 * row, 0)
            grid.addWidget(AddressRow(field), 3 * row + 1, 0)
            grid.addWidget(answer, 3 * row + 2, 0)
        self.body.addLayout(grid)
        self.body.addWidget(self._error)
        put(self.foot, self.test_button, self.connect_button, STRETCH)
        for field in (self.broker, self.redis):
            field.edited.connect(self._on_text)
        self.test_button.clicked.connect(self._on_test)
        self.connect_button.clicked.connect(self._on_connect)
        say_in_language(self._say)
        self._on_text()

    def show_test(self, answers: Sequence[Answer], addresses: tuple[str, str]) -> None:
        """Show what both answered; nothing where other addresses are entered by now."""
        if addresses != self._addresses():
            return
        said = {answer.part: answer for answer in answers}
        for line, part in zip(self._answers, (BROKER, STORE), strict=True):
            line.show_answer(said[part])
        self._busy("")
        self._offer(all(answer.ok for answer in answers))

    def show_error(self, text: str, addresses: tuple[str, str] | None = None) -> None:
        """Show why connecting failed; nothing where it was to other ``addresses`` than are entered by now."""
        if addresses not in (None, self._addresses()):
            return
        self._error.setText(safe.one_line(text))
        self._error.setVisible(bool(text))
        self._busy("")

    def answers(self) -> tuple[str, str]:
        """What is shown of the last test."""
        return self._answers[0].words(), self._answers[1].words()

    def _addresses(self) -> tuple[str, str]:
        return self.broker.address(), self.redis.address()

    def _on_text(self) -> None:
        for answer in self._answers:
            answer.clear()
        self._error.hide()
        self._busy("")
        self._offer(False)

    def _on_test(self) -> None:
        if self._sound():
            self._busy(_("Waiting for an answer"))
            self.test_wanted.emit(*self._addresses())

    def _on_connect(self) -> None:
        if self._sound():
            self._busy(_("Connecting"))
            self.connect_wanted.emit(*self._addresses())

    def _sound(self) -> bool:
        """Whether both can be addresses; what cannot is told below its field."""
        broker, redis = self._addresses()
        wrong = dict(check.problems(SavedProfile(name=UNNAMED, broker=broker, redis=redis), (), local=False))
        for line, (field, part) in zip(self._answers, (("broker", BROKER), ("redis", STORE)), strict=True):
            line.clear()
            if field in wrong:
                line.show_answer(Answer(part=part, words=wrong[field]))
        return not wrong

    def _busy(self, reason: str) -> None:
        missing = "" if all(self._addresses()) else _("Enter both addresses first")
        for button in (self.test_button, self.connect_button):
            button.wait(reason or missing)

    def _offer(self, proven: bool) -> None:
        # One filled button per view: it moves here once this choice is known to work.
        self.connect_button.set_kind("primary" if proven else "plain")

    def _say(self) -> None:
        for title, field, name in zip(self._titles, (self.broker, self.redis), (_("Broker"), "Redis"), strict=True):
            title.setText(name)
            field.setAccessibleName(_("Address of {name}").format(name=name))
