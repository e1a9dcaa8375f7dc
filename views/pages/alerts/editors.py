"""The dialogs of the Alerts page: until when an incident is muted, what a rule says, where a channel leads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QPainter, QPaintEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from services.commands.alerts import REASON_MOST, AnswerChanged, RuleChanged
from services.domain.alerts import channel as channels
from services.domain.alerts.channel import Channel
from services.domain.alerts.dry_run import DryRun
from services.domain.alerts.rule import LONGEST_S, Rule
from services.i18n import N_, _, is_chinese
from services.messages import told
from services.monitor.alerts.queries import IncidentNow
from views.charts import ticks
from views.dialogs.saving import SavingDialog
from views.dialogs.typed import KeepsTyped
from views.pages.alerts import words
from views.support import instant, safe, shown
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.support.paint import draw_line
from views.theme import theme
from views.theme.tokens import QWIDGETSIZE_MAX
from views.widgets.buttons import Button
from views.widgets.fields import ChoiceField, Labelled, NumberField
from views.widgets.flow_row import FlowRow
from views.widgets.layout import STRETCH, in_row, put
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip
from views.widgets.toggle import Toggle

WIDTH, FIELD_WIDTH = 560, 190
CHART_ROW, CHART_AXIS = 22, 16
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
        self.whole = Label("", "body", "text", wrap=True)
        self.on = Toggle(N_("Rule is on"), on=rule.enabled)
        self.limits = {name: QLineEdit(_figure(name, rule)) for name in rule.limits}
        self._limit_fields = {
            name: Labelled(words.LIMITS.get(name, name), field) for name, field in self.limits.items()
        }
        if self._limit_fields:
            self.fields["limits"] = next(iter(self._limit_fields.values()))
        self.spans = {name: NumberField(getattr(rule, name), 0, LONGEST_S) for name in _SPANS}
        for name, (label, hint) in _SPANS.items():
            self.fields[name] = Labelled(label, self.spans[name], hint=hint)
        self.severity = ChoiceField()
        for name, (_glyph, word) in words.SEVERITIES.items():
            self.severity.addItem(_(word), name)
        self._show_severity(rule.severity)
        self.action, self.channels, self.escalate_to = (QLineEdit(_line(name, rule)) for name in _LINES)
        self._lines = dict(zip(_LINES, (self.action, self.channels, self.escalate_to), strict=True))
        self.action.setPlaceholderText("pause, pause:type:sync_order, mark, run:scale_out")
        self.fields["severity"] = Labelled(N_("Severity"), self.severity)
        self.fields["action"] = Labelled(N_("Does by itself"), self.action, hint=N_("empty: nothing"))
        self.fields["channels"] = Labelled(N_("Tells"), self.channels, hint=N_("groups or channels"))
        self.fields["escalate_to"] = Labelled(N_("Escalates to"), self.escalate_to)
        self.tried, self.when_tried = Label("", "strong", wrap=True), Label("", "label", "text2", wrap=True)
        self.past = TriedChart()
        self._lay_out()
        self.end_with_save(self._on_save)
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
        """What it says on the left, what it would have told on the right."""
        left, right = ScrollPane(), ScrollPane()
        self._name, self._look, self._versions = (
            Label("", "strong"),
            Label("", "body"),
            Label("", "label", "text3", wrap=True),
        )
        switch = in_row(self._name, STRETCH, self._look, self.on)
        fields = FlowRow(across=12, down=8)
        rest = (one for name, one in self.fields.items() if name != "limits")
        for field in (*self._limit_fields.values(), *rest):
            field.setFixedWidth(round(FIELD_WIDTH * theme().growth))
            fields.addWidget(field)
        put(left.body, switch, self.whole, fields, STRETCH)
        put(right.body, self.tried, self.past, self.when_tried, self._versions, STRETCH)
        for pane in (left, right):
            pane.body.setSpacing(8)
        self.body.addWidget(self.changed)
        self.body.addLayout(in_row((left, 3), (right, 2), spacing=20))

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
        self.set_note(_("version {n}").format(n=self._rule.version))
        self._name.setText(words.rule_name(self._rule))
        self._look.setText(_("Look for it and tell of it"))
        self._versions.setText(
            _("Save makes a new version; open incidents keep theirs, and every version stays in Audit.")
        )
        for place, (_glyph, word) in enumerate(words.SEVERITIES.values()):
            self.severity.setItemText(place, _(word))
        self._say_newer()
        self._on_edited()
        self._say_tried()

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
            self.whole.setText(words.whole(made))
            self._soon_tried.start()

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


_SPANS = {
    "for_s": (N_("Told after"), N_("seconds that it holds")),
    "calm_s": (N_("Resolved after"), N_("seconds of calm")),
    "again_s": (N_("Told again after"), N_("seconds, 0 never")),
    "escalate_s": (N_("Escalates after"), N_("seconds, 0 never")),
}
_LINES = ("action", "channels", "escalate_to")


class TriedChart(QWidget):
    """When a rule would have told somebody: as it stands in its fields above, as it is saved below; nobody knows what
    was in a gap.
    """

    def __init__(self) -> None:
        super().__init__()
        self._runs: tuple[DryRun, ...] = ()
        self.setFixedHeight(2 * CHART_ROW + CHART_AXIS)
        self.hide()
        theme().changed.connect(self.update)

    def show_runs(self, edited: DryRun | None, saved: DryRun | None) -> None:
        """Show these; nothing where one of them is not known."""
        self._runs = (edited, saved) if edited is not None and saved is not None and edited.recorded else ()
        self.setVisible(bool(self._runs))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw both rows over one axis of time."""
        if not self._runs:
            return
        painter = QPainter(self)
        painter.setFont(theme().font("caption"))
        names = (_("as here"), _("saved"))
        left = max(painter.fontMetrics().horizontalAdvance(name) for name in names) + 10
        begin, end = self._runs[0].begin, self._runs[0].end

        def x_of(at: int) -> float:
            return left + (self.width() - left - 1) * (at - begin) / max(1, end - begin)

        for row, (name, run) in enumerate(zip(names, self._runs, strict=True)):
            top = row * CHART_ROW
            painter.setPen(theme().color("text3"))
            draw_line(painter, QRectF(0, top, left - 8, CHART_ROW - 4), name)
            room = QRectF(left, top + 2, self.width() - left - 1, CHART_ROW - 8)
            painter.fillRect(room, theme().color("raised"))
            painter.setPen(Qt.PenStyle.NoPen)
            for gap in run.gaps:
                part = QRectF(x_of(gap.begin), room.top(), x_of(gap.end) - x_of(gap.begin), room.height())
                painter.fillRect(part, QBrush(theme().color("line2"), Qt.BrushStyle.BDiagPattern))
            for one in run.told:
                wide = max(2.0, x_of(one.end) - x_of(one.begin))
                colour = theme().color("retrying" if row == 0 else "text3")
                painter.fillRect(QRectF(x_of(one.begin), room.top(), wide, room.height()), colour)
        painter.setPen(theme().color("text3"))
        axis = 2 * CHART_ROW
        for at, said in ticks.times(begin / 1000, end / 1000, max(1, int((self.width() - left) // 70)), shown.zone()):
            wide = painter.fontMetrics().horizontalAdvance(said)
            x = x_of(round(at * 1000)) - wide / 2
            if left <= x and x + wide <= self.width():
                draw_line(painter, QRectF(x, axis, wide + 2, CHART_AXIS), said)


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
