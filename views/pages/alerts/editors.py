"""The dialogs of the Alerts page: until when an incident is muted, what a rule says, where a channel leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFocusEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QBoxLayout, QDialog, QLineEdit, QToolTip, QWidget

from services.commands.alerts import REASON_MOST, AnswerChanged, RuleChanged
from services.domain.alerts import channel as channels
from services.domain.alerts.channel import Channel
from services.domain.alerts.dry_run import DryRun
from services.domain.alerts.rule import LONGEST_S, Rule
from services.domain.past.lanes import Span
from services.i18n import N_, _, is_chinese
from services.messages import told
from services.monitor.alerts.queries import IncidentNow
from views.charts import ticks
from views.dialogs.frame import MARGIN
from views.dialogs.saving import SavingDialog
from views.dialogs.typed import KeepsTyped
from views.pages.alerts import words
from views.support import instant, safe, shown, text
from views.support.keys import beside
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.paint import draw_box, draw_line
from views.support.spoken import Role, spoken
from views.support.spoken import told as told_to_listeners
from views.theme import theme
from views.theme.tokens import QWIDGETSIZE_MAX
from views.widgets.buttons import Button
from views.widgets.fields import ChoiceField, Labelled, NumberField, SpanField
from views.widgets.flow_row import FlowRow
from views.widgets.layout import STRETCH, in_column, in_row
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip
from views.widgets.toggle import Toggle

WIDTH = 560
CHART_ROW, CHART_AXIS, CURVE = 22, 16, 150
#: px of a field in a sentence: at least, at most, and around its words
LEAST_FIELD, MOST_FIELD, ROUND_FIELD, ROUND_SPAN = 44, 260, 24, 44
LEAST_BESIDE = 860  #: px from which on fields and past stand side by side
TRY_MS = 300  #: after the last key a rule is tried on the past
HOUR_S = 3_600
#: hour of the day at which a night's mute ends
MORNING = 8
MUTES: tuple[tuple[int, str], ...] = (
    (HOUR_S // 2, N_("30 minutes")),
    (HOUR_S, N_("1 hour")),
    (4 * HOUR_S, N_("4 hours")),
    (0, N_("Until 08:00")),
    (24 * HOUR_S, N_("24 hours")),
    (7 * 24 * HOUR_S, N_("7 days")),
)


class MuteDialog(KeepsTyped, SavingDialog):
    """Signals:
    chosen: until when (UTC ms), why, the answer of people that stood there; ``start`` takes what does it.
    """

    chosen = Signal(object, str, object)

    def __init__(self, one: IncidentNow, parent: QWidget | None = None) -> None:
        super().__init__(N_("Mute an incident"), icon="ph.bell-slash", width=WIDTH, parent=parent)
        self._seen = one.incident.answer
        self.changed = Strip("warning", stacked=True)
        self.changed.hide()
        self.leave_theirs = Button(N_("Take it over"), small=True)
        self.leave_theirs.clicked.connect(partial(self.done, QDialog.DialogCode.Rejected))
        self.changed.add_action(self.leave_theirs)
        self.body.addWidget(self.changed)
        self.body.addWidget(Label(words.title(one), "strong", wrap=True))
        said = _("Nobody is told of it until then, and it does not escalate. It goes on being watched.")
        self.body.addWidget(Label(said, "body", "text2", wrap=True))
        self.span, self.reason = ChoiceField(), QLineEdit()
        for number, word in MUTES:
            self.span.addItem(_(word), number)
        self.span.setCurrentIndex(1)
        self.reason.setMaxLength(REASON_MOST)
        self._until = Labelled(N_("Until"), self.span)
        self.body.addWidget(self._until)
        self.body.addWidget(Labelled(N_("Why"), self.reason, hint=N_("who is on duty reads it")))
        self.ends = Label("", "label", "text3")
        self.body.addWidget(self.ends)
        self.end_with_save(self._on_save)
        self.save_button.set_source(N_("Mute"))
        self.reason.textChanged.connect(self._check)
        self.reason.returnPressed.connect(self._on_save)
        self.span.currentIndexChanged.connect(self._check)
        self._check()
        self.reason.setFocus()

    def until(self) -> int:
        """The instant chosen, UTC ms."""
        now = instant.now_ms()
        if seconds := int(self.span.currentData()):
            return now + seconds * 1000
        local = shown.moment(now).astimezone(shown.zone())
        morning = local.replace(hour=MORNING, minute=0, second=0, microsecond=0)
        if morning <= local:
            morning += timedelta(days=1)
        return round(morning.timestamp() * 1000)

    def _check(self) -> None:
        self.ends.setText(_("It is told again from {time} on.").format(time=words.clock(self.until())))
        self.forbid("" if self.reason.text().strip() else _("Say why first"))

    def _on_save(self) -> None:
        if self.save_button.isEnabled():
            self.chosen.emit(self.until(), self.reason.text().strip(), self._seen)

    def refused(self, error: BaseException) -> None:
        """Where somebody else muted it meanwhile, show until when and why: that stays, or is written over."""
        if not isinstance(error, AnswerChanged):
            super().refused(error)
            return
        self._seen = now = error.now
        said = _("Now there: until {time}, {why}").format(
            time=words.clock(now.muted_until), why=safe.one_line(now.reason, 200)
        )
        lead = _("{who} muted it meanwhile; nothing is saved.").format(who=safe.one_line(now.muted_by, 60))
        self.changed.show_text(said, lead)
        self.save_button.set_source(N_("Overwrite"))


class _Editor(KeepsTyped, SavingDialog):
    """A form whose fields are checked by the command."""

    def __init__(self, title: str, icon: str, parent: QWidget | None) -> None:
        super().__init__(title, icon=icon, width=WIDTH, parent=parent)

    def _rows(self, *rows: Iterable[Labelled]) -> None:
        for parts in rows:
            row = in_row(spacing=12)
            for part in parts:
                row.addWidget(part, 1, Qt.AlignmentFlag.AlignTop)  # an error below one moves no other
            self.body.addLayout(row)


class RuleStrip(_Editor):
    """A rule as it is changed, below the list of incidents or rules, with what it would have told beside its fields.

    What others make of the rule meanwhile is told in it, and taken in before anything is saved: what was not changed
    here is as they left it then, and what was stays as it was typed.

    Signals:
        saved: the ``Rule`` as it is now, and the one that it was made of.
    """

    saved = Signal(object, object)

    def __init__(
        self,
        rule: Rule,
        save: Callable[..., Rule],
        tried: Callable[[Rule, Rule], tuple[DryRun | None, ...]],
        parent: QWidget | None = None,
    ) -> None:
        """``save`` takes the rule, and ``instead`` of which one. ``tried``: what the rule as it stands here, and as it
        is kept, would have told; blocking.
        """
        super().__init__(N_("Change a rule"), "ph.pencil-simple", parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.set_width(0)  # it is as wide as the list
        self.setMinimumWidth(0)
        self.setMaximumWidth(QWIDGETSIZE_MAX)
        self._rule, self._save, self._tried = rule, save, tried
        self._now: Rule | None = rule  #: what others have made of it by now, None where it is gone
        self._barred = ""
        self._found: tuple[DryRun | None, ...] | BaseException | None = None  #: what it would have told
        self._trying = Operation(self, latest=True)
        self._soon_tried = QTimer(self, singleShot=True, interval=TRY_MS)
        self._soon_tried.timeout.connect(self._try)
        self.changed, self.take_in = Strip("warning"), Button(N_("Take it in"), small=True)
        self.changed.add_action(self.take_in)
        self.on = Toggle(N_("Rule is on"), on=rule.enabled)
        self.limits = {name: QLineEdit(_figure(name, rule)) for name in words.limit_names(rule)}
        self._limit_fields = {
            name: Labelled(words.LIMITS.get(name, name), field, in_words=True) for name, field in self.limits.items()
        }
        if self._limit_fields:
            self.fields["limits"] = next(iter(self._limit_fields.values()))
        self.spans = {name: SpanField(getattr(rule, name), LONGEST_S, none) for name, (_label, none) in _SPANS.items()}
        for name, (label, _none) in _SPANS.items():
            self.fields[name] = Labelled(label, self.spans[name], in_words=True)
        self.severity = ChoiceField()
        for name, (_glyph, word) in words.SEVERITIES.items():
            self.severity.addItem(_(word), name)
        self._show_severity(rule.severity)
        self.action, self.channels, self.escalate_to = (QLineEdit(_line(name, rule)) for name in _LINES)
        self._lines = dict(zip(_LINES, (self.action, self.channels, self.escalate_to), strict=True))
        self.action.setToolTip("pause, pause:type:sync_order, mark, run:scale_out")
        self.fields["severity"] = Labelled(N_("Severity"), self.severity, in_words=True)
        self.fields["action"] = Labelled(N_("Does by itself"), self.action, in_words=True)
        self.fields["channels"] = Labelled(N_("Tells"), self.channels, in_words=True)
        self.fields["escalate_to"] = Labelled(N_("Escalates to"), self.escalate_to, in_words=True)
        self.severity.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToContents)
        self._said: tuple[str, ...] = ()
        self._sentences = [_Sentence() for _sentence in words.in_fields(rule)]
        self.tried, self.when_tried = Label("", "strong", wrap=True), Label("", "label", "text2", wrap=True)
        self.past = TriedChart()
        self._lay_out()
        self.end_with_save(self._on_save)
        for part in (self.meanwhile, self.cancel_button, self.save_button):  # below them there is little room
            self.add_to_head(part)
        self.foot.setContentsMargins(0, 0, 0, 0)
        for line in (*self.limits.values(), *self._lines.values()):
            line.textChanged.connect(self._on_edited)
        for span in self.spans.values():
            span.valueChanged.connect(self._on_edited)
        self.severity.currentIndexChanged.connect(self._on_edited)
        self.take_in.clicked.connect(self._take_in)
        on_language_changed(self._say)
        self._say()
        self._try()

    def _lay_out(self) -> None:
        """What it says on the left, what it would have told on the right; below that where there is no room beside."""
        self._look, self._versions = Label("", "body"), Label("", "label", "text3", wrap=True)
        left, right = QWidget(), QWidget()
        switch = in_row(self.on, self._look, STRETCH)
        in_column(switch, *self._sentences, self._versions, STRETCH, owner=left, spacing=6)
        in_column(self.tried, self.past, self.when_tried, STRETCH, owner=right, spacing=8)
        self._halves = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._halves.setSpacing(24)
        self._halves.addWidget(left, 1)
        self._halves.addWidget(right, 1)
        pane = ScrollPane()
        pane.body.addLayout(self._halves)
        self.body.setContentsMargins(MARGIN, 10, MARGIN, 8)
        self.body.addWidget(self.changed)
        self.body.addWidget(pane, 1)
        self._typed: dict[QWidget, QLineEdit] = {field: field.lineEdit() for field in self.spans.values()}
        self._typed |= {field: field for field in (*self.limits.values(), *self._lines.values())}
        for field, line in self._typed.items():
            line.textChanged.connect(partial(self._fit, field, line))
        theme().changed.connect(self._fit_all)

    def _fit(self, field: QWidget, line: QLineEdit, _text: str = "") -> None:
        """As wide as what stands in it: a sentence has no columns."""
        wide = field.fontMetrics().horizontalAdvance(line.text() or line.placeholderText())
        around = ROUND_FIELD if field is line else ROUND_SPAN
        least, most, around = (round(one * theme().growth) for one in (LEAST_FIELD, MOST_FIELD, around))
        field.setFixedWidth(min(most, max(least, wide + around)))

    def _fit_all(self) -> None:
        for field, line in self._typed.items():
            self._fit(field, line)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the past below the fields where both are too narrow side by side."""
        super().resizeEvent(event)
        ways = QBoxLayout.Direction
        beside = self.width() >= round(LEAST_BESIDE * theme().growth)
        self._halves.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    def behind(self) -> None:
        """It covers no window."""
        return

    def is_typed(self) -> bool:
        """Whether it says another thing than the rule does: what was taken in was typed by somebody else."""
        return not self.waiting and self._made() != self._rule

    def bar(self, reason: str) -> None:
        """Save nothing for this reason, already translated; "" allows it again."""
        self._barred = reason
        self._say_newer()

    def follow(self, rules: Iterable[Rule]) -> None:
        """Tell what others have made of it; not while it is being saved, which makes a version as well."""
        now = next((one for one in rules if one.name == self._rule.name), None)
        if now != self._now and not self.waiting:
            self._now = now
            self._say_newer()

    def refused(self, error: BaseException) -> None:
        """Where somebody else was first, tell what they made of it."""
        if isinstance(error, RuleChanged):
            self._now = error.now
            self._say_newer()
        else:
            super().refused(error)

    def _say(self) -> None:
        """Say everything, in the language of the moment."""
        self._title.setText(words.rule_name(self._rule))
        self._look.setText(_("Look for it and tell of it"))
        self._versions.setText(
            _("Save makes a new version; open incidents keep theirs, and every version stays in Audit.")
        )
        for place, (_glyph, word) in enumerate(words.SEVERITIES.values()):
            self.severity.setItemText(place, _(word))
        for span in self.spans.values():
            span.say_again()
        self.action.setPlaceholderText(_("nothing"))
        for names in (self.channels, self.escalate_to):
            names.setPlaceholderText(_("nobody"))
        self._fit_all()
        self._say_newer()
        self._on_edited()
        self._say_tried()

    def _say_sentences(self) -> None:
        """They are others where a span is none."""
        said = words.in_fields(replace(self._rule, **{name: span.value() for name, span in self.spans.items()}))
        if said == self._said:
            return
        self._said, order = said, list[QWidget]([self.on])
        for sentence, one in zip(self._sentences, said, strict=True):
            order += sentence.show_words(one, {**self._limit_fields, **self.fields})
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _say_newer(self) -> None:
        now, lead, held = self._now, "", ""
        if now is None:
            lead = held = _("Somebody removed this rule meanwhile.")
        elif now != self._rule:
            lead = _("Somebody set this rule back meanwhile.")
            if now.by:
                lead = _("{who} made version {n} of this rule meanwhile.").format(
                    who=safe.one_line(now.by, 60), n=now.version
                )
            held = _("Take in first what was changed meanwhile")
        kept = _("What you changed here stays as it is.") if held and now is not None else ""
        self.changed.show_text(kept, lead)
        self.take_in.setVisible(now is not None)
        self.forbid(self._barred or held)

    def _take_in(self) -> None:
        """Let what was not changed here be as others made it."""
        old, now = self._rule, self._now
        if now is None:
            return
        self._rule = now
        for shows, says, put_there in self._values():
            if shows() == says(old):
                put_there(says(now))
        self._say()
        self.save_button.setFocus()

    def _values(self) -> Iterator[tuple[Callable[[], Any], Callable[[Rule], Any], Callable[[Any], object]]]:
        """Of each field what it shows, what it would show of a rule, and what puts that there."""
        yield self.on.isChecked, lambda rule: rule.enabled, self.on.setChecked
        yield self.severity.currentData, lambda rule: rule.severity, self._show_severity
        for name, span in self.spans.items():
            yield span.value, attrgetter(name), span.setValue
        for name, field in self.limits.items():
            yield field.text, partial(_figure, name), field.setText
        for name, line in self._lines.items():
            yield line.text, partial(_line, name), line.setText

    def _show_severity(self, severity: str) -> None:
        self.severity.setCurrentIndex(list(words.SEVERITIES).index(severity))

    def _on_edited(self) -> None:
        """Say the rule as it stands here, and what each changed field said."""
        self._say_sentences()
        rule = self._rule
        for name, field in self.limits.items():
            self._limit_fields[name].show_before(_was(_figure(name, rule), field.text().strip()))
        for name, span in self.spans.items():
            self.fields[name].show_before(_was(words.seconds(getattr(rule, name)), words.seconds(span.value())))
        chosen = self.severity.currentData()
        self.fields["severity"].show_before(_was(words.severity(rule), _(words.SEVERITIES[chosen][1])))
        for name, line in self._lines.items():
            self.fields[name].show_before(_was(_line(name, rule), line.text().strip()))
        made = self._made()
        if made is not None:
            self.setAccessibleDescription(words.whole(made))
            self.past.show_limit(made)
            self._soon_tried.start()
        version = _("version {n}").format(n=rule.version)
        self.set_note(text.listed([version, _("your change is not saved")], ";") if self.is_typed() else version)

    def _try(self) -> None:
        made = self._made()
        if made is not None:
            self._trying.start(partial(self._tried, made, self._rule), self._show_tried, self._show_tried)

    def _show_tried(self, found: tuple[DryRun | None, ...] | BaseException) -> None:
        self._found = found
        self._say_tried()

    def _say_tried(self) -> None:
        found = self._found
        if isinstance(found, BaseException):
            said, more = _("How often it would have told somebody is not known"), told(found)
            self.past.show_runs(None, None)
        elif found is not None:
            edited, saved = found
            said, more = words.dry_run(edited, saved, self._rule.measure)
            self.past.show_runs(edited, saved)
            self.past.show_limit(self._made() or self._rule)
        else:
            return
        self.tried.setText(said)
        self.when_tried.setText(more)

    def _number(self, name: str) -> float | None:
        try:
            number = float(self.limits[name].text())
        except ValueError:
            return None
        return number if 0 <= number <= 1e12 else None

    def _on_save(self) -> None:
        for name, labelled in self._limit_fields.items():
            right = self._number(name) is not None
            labelled.set_error("" if right else _("A number from 0 on"))
            if not right:
                return
        made = self._made()
        if made is not None:
            self.start(partial(self._save, made, instead=self._rule), partial(self._done, self._rule))

    def _made(self) -> Rule | None:
        """The rule as it stands here, None where a field holds none of its values."""
        limits = dict(self._rule.limits)
        for name in self.limits:
            number = self._number(name)
            if number is None:
                return None
            if number or name in limits:  # one that it lacks counts as 0
                limits[name] = number
        return replace(
            self._rule,
            enabled=self.on.isChecked(),
            limits=limits,
            severity=self.severity.currentData(),
            action=self.action.text().strip(),
            channels=_names(self.channels.text()),
            escalate_to=_names(self.escalate_to.text()),
            **{name: field.value() for name, field in self.spans.items()},
        )

    def _done(self, before: Rule, made: Rule) -> None:
        self.saved.emit(made, before)


#: what each is called, and what none of it is, "" for no seconds
_SPANS = {
    "for_s": (N_("Told after"), ""),
    "calm_s": (N_("Resolved after"), ""),
    "again_s": (N_("Told again after"), N_("never")),
    "escalate_s": (N_("Escalates after"), N_("never")),
}
_LINES = ("action", "channels", "escalate_to")


class _Sentence(QWidget):
    """Words with fields among them, which go on in the next line as words do."""

    def __init__(self) -> None:
        super().__init__()
        self._flow = FlowRow(self, across=4, down=4)
        self._words: list[Label] = []

    def show_words(self, said: str, fields: Mapping[str, QWidget]) -> list[QWidget]:
        """Show this, translated, with a field in place of its name in braces; those, in their order."""
        while self._flow.count():
            self._flow.takeAt(0)
        for label in self._words:
            label.hide()
            label.deleteLater()
        self._words, order = [], []
        for place, part in enumerate(_FIELD.split(said)):
            if place % 2:
                self._flow.addWidget(fields[part])
                order.append(fields[part])
                continue
            for word in part.split():
                label = Label(word, "body")
                self._words.append(label)
                self._flow.addWidget(label)
        return [one.field if isinstance(one, Labelled) else one for one in order]


_FIELD = re.compile(r"\{(\w+)\}")


class TriedChart(QWidget):
    """What was measured, the limit over it, and when a rule would have told somebody. Of a measure without a number it
    is only when: as it stands in its fields above, as it is saved below. Nobody knows what was in a gap.

    Signals:
        opened: the instant (UTC ms) of one of these is wanted.
    """

    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[DryRun, ...] = ()
        self._limit = 0.0
        self._current = -1
        self.setMouseTracking(True)
        self.hide()
        spoken(self, Role.Chart, self.accessibleDescription)
        theme().changed.connect(self.update)

    @property
    def curve(self) -> Sequence[tuple[int, float]]:
        """What is drawn: instants in UTC ms, and the highest that was measured about each."""
        return self._runs[0].curve if self._runs else ()

    @property
    def limit(self) -> float:
        """Where the line across it is drawn."""
        return self._limit

    def show_runs(self, edited: DryRun | None, saved: DryRun | None) -> None:
        """Show these; nothing where one of them is not known."""
        self._runs = (edited, saved) if edited is not None and saved is not None and edited.recorded else ()
        self._go_to(len(self._told()) - 1 if self.hasFocus() else -1)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if self._told() else Qt.FocusPolicy.NoFocus)
        self.setFixedHeight(CURVE if self.curve else 2 * CHART_ROW + CHART_AXIS)
        self.setAccessibleName(_("What was measured in the last 7 days"))
        self.setVisible(bool(self._runs))
        self.update()

    def show_limit(self, rule: Rule) -> None:
        """Draw the limit of a rule as it stands now, before that was tried."""
        self._limit = rule.limit(self._runs[0].limit) if self._runs else 0.0
        self.update()

    def _told(self) -> Sequence[Span]:
        return self._runs[0].told if self._runs else ()

    def _x(self, at: int) -> float:
        begin, end, room = self._runs[0].begin, self._runs[0].end, self._room()
        return room.left() + room.width() * (at - begin) / max(1, end - begin)

    def _room(self) -> QRectF:
        """Where time goes from left to right."""
        metrics = QFontMetrics(theme().font("caption"))
        if not self.curve:
            left = max(metrics.horizontalAdvance(name) for name in (_("as here"), _("saved"))) + 10
            return QRectF(left, 0, self.width() - left - 1, 2 * CHART_ROW)
        left = max(metrics.horizontalAdvance(text.count(round(one))) for one in self._heights()) + 8
        return QRectF(left, CHART_ROW, self.width() - left - 6, self.height() - CHART_ROW - CHART_AXIS)

    def _top(self) -> float:
        return max(1.0, self._limit, *(value for _at, value in self.curve)) * ticks.HEADROOM

    def _heights(self) -> list[float]:
        return ticks.values(self._top(), 3)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it over one axis of time."""
        if not self._runs:
            return
        painter = QPainter(self)
        painter.setFont(theme().font("caption"))
        if self.curve:
            self._paint_curve(painter)
        else:
            self._paint_rows(painter)
        room, begin, end = self._room(), self._runs[0].begin / 1000, self._runs[0].end / 1000
        painter.setPen(theme().color("text3"))
        for at, said in ticks.times(begin, end, max(1, int(room.width() // 70)), shown.zone()):
            wide = painter.fontMetrics().horizontalAdvance(said)
            x = self._x(round(at * 1000)) - wide / 2
            if room.left() <= x and x + wide <= self.width():
                draw_line(painter, QRectF(x, room.bottom() + 2, wide + 2, CHART_AXIS - 2), said)

    def _paint_rows(self, painter: QPainter) -> None:
        current = self._focused()
        for row, (name, run) in enumerate(zip((_("as here"), _("saved")), self._runs, strict=True)):
            room, top = self._room(), row * CHART_ROW
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, top, room.left() - 8, CHART_ROW - 4), name)
            line = QRectF(room.left(), top + 2, room.width(), CHART_ROW - 8)
            painter.fillRect(line, theme().color("raised"))
            self._paint_gaps(painter, line, run)
            for one in run.told:
                colour = theme().color("retrying" if row == 0 else "text3")
                spot = QRectF(self._x(one.begin), line.top(), self._wide(one), line.height())
                painter.fillRect(spot, colour)
                if row == 0 and one is current:
                    draw_box(painter, spot.adjusted(-3, -2, 3, 2), 4, theme().color("focus"), None, 2)

    def _paint_gaps(self, painter: QPainter, line: QRectF, run: DryRun) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for gap in run.gaps:
            part = QRectF(self._x(gap.begin), line.top(), self._x(gap.end) - self._x(gap.begin), line.height())
            painter.fillRect(part, QBrush(theme().color("line2"), Qt.BrushStyle.BDiagPattern))

    def _wide(self, one: Span) -> float:
        return max(2.0, self._x(one.end) - self._x(one.begin))

    def _paint_curve(self, painter: QPainter) -> None:
        run, room, top = self._runs[0], self._room(), self._top()

        def y_of(value: float) -> float:
            return room.bottom() - room.height() * value / top

        for value in self._heights():
            y = round(y_of(value)) + 0.5
            painter.setPen(QPen(theme().color("line"), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, y - 8, room.left() - 6, 16), text.count(round(value)), right=True)
        self._paint_gaps(painter, room, run)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground, line = QColor(theme().color("accent")), QPen(theme().color("accent"), 1.2)
        ground.setAlphaF(0.14)
        for piece in _pieces(run):
            points = [QPointF(self._x(at), y_of(value)) for at, value in piece]
            below = [QPointF(points[-1].x(), room.bottom()), QPointF(points[0].x(), room.bottom())]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ground)
            painter.drawPolygon(QPolygonF([*points, *below]))
            painter.setPen(line)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(QPolygonF(points))
        self._paint_told(painter, room)
        y = round(y_of(self._limit)) + 0.5
        painter.setPen(QPen(theme().color("retrying"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
        said = _("limit {n}").format(n=f"{self._limit:,.12g}")
        wide = painter.fontMetrics().horizontalAdvance(said)
        painter.fillRect(QRectF(room.left() + 4, y - 16, wide + 4, 15), theme().color("surface"))
        painter.setPen(theme().color("retrying"))
        draw_line(painter, QRectF(room.left() + 6, y - 16, wide + 2, 15), said)
        painter.setPen(theme().color("text3"))
        draw_line(painter, QRectF(0, 0, self.width(), CHART_ROW - 6), words.limit_name(run.limit))

    def _paint_told(self, painter: QPainter, room: QRectF) -> None:
        colour = QColor(theme().color("retrying"))
        for one in self._told():
            x = self._x(one.begin)
            colour.setAlphaF(0.2)
            painter.fillRect(QRectF(x, room.top(), self._wide(one), room.height()), colour)
            colour.setAlphaF(1.0)
            painter.setPen(QPen(colour, 1))
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(x, room.top()), 4, 4)
            if one is self._focused():
                draw_box(painter, QRectF(x - 8, room.top() - 8, 16, 16), 4, theme().color("focus"), None, 2)

    # each of these is a door

    def _focused(self) -> Span | None:
        return self._told()[self._current] if self.hasFocus() and self._current >= 0 else None

    def _go_to(self, place: int) -> None:
        """Be at one of them, which Enter opens; -1 at none."""
        self._current = place
        self.setAccessibleDescription(_told_span(self._told()[place]) if place >= 0 else "")
        told_to_listeners(self)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Be at the last of them."""
        super().focusInEvent(event)
        if self._current < 0:
            self._go_to(len(self._told()) - 1)

    def _at(self, x: float) -> Span | None:
        return next((one for one in self._told() if self._x(one.begin) - 6 <= x <= self._x(one.end) + 6), None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show what a click would open."""
        found = self._at(event.position().x()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the moment at which somebody would have been told."""
        found = self._at(event.position().x())
        if found is not None and event.button() == Qt.MouseButton.LeftButton:
            with beside(event):
                self.opened.emit(found.begin)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from one to the next, and open one."""
        key, last = Qt.Key(event.key()), len(self._told()) - 1
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and last >= 0:
            self._go_to(min(max(0, self._current + (1 if key == Qt.Key.Key_Right else -1)), last))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and 0 <= self._current <= last:
            self.opened.emit(self._told()[self._current].begin)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Say what was when."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._runs:
            QToolTip.showText(event.globalPos(), safe.tooltip(self.said_at(event.pos().x())), self)
            return True
        return super().event(event)

    def said_at(self, x: float) -> str:
        """What was measured at a place, and that somebody would have been told."""
        found = self._at(x)
        lines = [_told_span(found), _("Look back at it")] if found is not None else []
        if self.curve:
            at, value = min(self.curve, key=lambda one: abs(self._x(one[0]) - x))
            if abs(self._x(at) - x) < 8:
                lines.insert(0, _("{name}: {value}").format(name=words.clock(at), value=text.count(round(value))))
        return "\n".join(lines)


def _told_span(one: Span) -> str:
    span = text.duration(shown.span(one.end - one.begin))
    return _("{time} for {span}").format(time=words.clock(one.begin), span=span)


def _pieces(run: DryRun) -> Iterator[list[tuple[int, float]]]:
    """What was measured, without a line across what nobody knows."""
    piece: list[tuple[int, float]] = []
    for point in run.curve:
        if piece and any(piece[-1][0] <= gap.begin < point[0] for gap in run.gaps):
            yield piece
            piece = []
        piece.append(point)
    if piece:
        yield piece


class ChannelDialog(_Editor):
    """Signals:
    saved: the ``Channel``, and what it was (None for a new one).
    """

    saved = Signal(object, object)

    def __init__(
        self,
        channel: Channel | None,
        save: Callable[[Channel], Channel | None],
        parent: QWidget | None = None,
    ) -> None:
        title = N_("Change a channel") if channel is not None else N_("New channel")
        super().__init__(title, "ph.paper-plane-tilt", parent)
        self._channel, self._save = channel or _new_channel(), save
        now = self._channel
        self.name = QLineEdit(now.name if channel is not None else "")
        self.name.setEnabled(channel is None)
        self.kind, self.language = ChoiceField(), ChoiceField()
        for name, word in words.KINDS.items():
            self.kind.addItem(_(word), name)
        for name, word in words.LANGUAGES.items():
            self.language.addItem(word, name)
        self.kind.setCurrentIndex(list(words.KINDS).index(now.kind))
        self.language.setCurrentIndex(list(words.LANGUAGES).index(now.language))
        self.group, self.secret, self.to = (
            QLineEdit(now.group),
            QLineEdit(now.secret),
            QLineEdit(now.options.get("to", "")),
        )
        self.rate = NumberField(now.rate, 1, channels.MOST_RATE)
        self.fields = {
            "name": Labelled(N_("Name"), self.name),
            "kind": Labelled(N_("Kind"), self.kind),
            "language": Labelled(N_("Language"), self.language),
            "group": Labelled(N_("Group"), self.group, hint=N_("duty is told first, lead when it escalates")),
            "rate": Labelled(N_("A minute at most"), self.rate, hint=N_("messages")),
            "secret": Labelled(N_("Name of its address"), self.secret, hint=N_("empty: as the channel")),
            "options": Labelled(N_("To"), self.to, hint=N_("mail addresses")),
        }
        self._rows(
            (self.fields["name"], self.fields["kind"]),
            (self.fields["group"],),
            (self.fields["language"], self.fields["rate"]),
            (self.fields["secret"], self.fields["options"]),
        )
        self.hint = Label("", "label", "text3", wrap=True)
        self.body.addWidget(self.hint)
        self.end_with_save(self._on_save)
        for field in (self.name, self.secret):
            field.textChanged.connect(self._check)
        self.kind.currentIndexChanged.connect(self._check)
        self._check()

    def made(self) -> Channel:
        """What the fields say."""
        to = self.to.text().strip()
        return replace(
            self._channel,
            name=self.name.text().strip(),
            kind=self.kind.currentData(),
            language=self.language.currentData(),
            group=self.group.text().strip(),
            secret=self.secret.text().strip(),
            rate=self.rate.value(),
            options={"to": to} if to and self.kind.currentData() == channels.MAIL else {},
        )

    def _check(self) -> None:
        made = self.made()
        self.fields["options"].setEnabled(made.kind == channels.MAIL)
        said = _("Its address is never kept here, but on the machines that lead: in their environment or keyring.")
        if made.name:
            named = _(
                "Its address is never kept here: set {variable} on the machines that lead, or keep it in their keyring."
            )
            said = named.format(variable=made.variable)
        self.hint.setText(said)
        self.forbid("" if made.name else _("Type a name first"))

    def _on_save(self) -> None:
        made = self.made()
        self.start(partial(self._save, made), partial(self._done, made))

    def _done(self, made: Channel, before: object) -> None:
        self.saved.emit(made, before)


def _figure(name: str, rule: Rule) -> str:
    return f"{rule.limit(name):.12g}"


def _line(name: str, rule: Rule) -> str:
    """What stands in one of the fields of ``_LINES``."""
    return rule.action if name == "action" else ", ".join(getattr(rule, name))


def _was(before: str, now: str) -> str:
    """What a field said that says something else now."""
    return _("was {value}").format(value=safe.one_line(before, 24) or "–") if before != now else ""


def _new_channel() -> Channel:
    """What a new one begins with: who makes it reads the language of the window."""
    return Channel(name="duty", kind=channels.WECOM, language=channels.ZH if is_chinese() else channels.EN)


def _names(given: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.strip() for one in given.replace("，", ",").split(",") if one.strip()))
