"""A rule as it is changed: sentences with fields among them, and beside them what it would have told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QWidget

from services.commands.alerts import RuleChanged
from services.domain.alerts.dry_run import DryRun
from services.domain.alerts.rule import LONGEST_S, Rule
from services.i18n import N_, _
from services.messages import told
from views.dialogs.frame import MARGIN
from views.dialogs.saving import SavingDialog
from views.dialogs.typed import KeepsTyped
from views.pages.alerts import words
from views.pages.alerts.tried_chart import TriedChart
from views.support import safe, text
from views.support.language import on_language_changed
from views.support.look import Label
from views.support.operation import Operation
from views.theme import theme
from views.theme.tokens import QWIDGETSIZE_MAX
from views.widgets.buttons import Button
from views.widgets.fields import ChoiceField, Labelled, SpanField
from views.widgets.flow_row import Sentences, WordWidths
from views.widgets.layout import STRETCH, in_column, in_row
from views.widgets.scroll_pane import ScrollPane
from views.widgets.strip import Strip
from views.widgets.toggle import Toggle

LEAST_BESIDE = 860  #: px from which on fields and past stand side by side
TRY_MS = 300  #: after the last key a rule is tried on the past


class RuleStrip(KeepsTyped, SavingDialog):
    """A rule as it is changed or made, below the list of incidents or rules, with what it would have told beside its
    fields.

    What others make of the rule meanwhile is told in it, and taken in before anything is saved: what was not changed
    here is as they left it then, and what was stays as it was typed.

    Signals:
        saved: the ``Rule`` as it is now, and the one that it was made of.
    """

    saved = Signal(object, object)
    name: QLineEdit  #: of a new rule
    measure: ChoiceField  #: likewise

    def __init__(
        self,
        rule: Rule,
        save: Callable[..., Rule],
        tried: Callable[..., tuple[DryRun | None, ...]],
        receivers: Collection[str] = (),
        parent: QWidget | None = None,
        measures: Mapping[str, Rule] | None = None,
    ) -> None:
        """``save`` takes the rule, and ``instead`` of which one where it is kept. ``tried``: what the rule as it stands
        here, and as it is kept, would have told; blocking. ``receivers``: names of channels and of their groups.
        ``measures``: what a new rule can look at, each as its rule was delivered; None for one that is kept already.
        """
        super().__init__(
            N_("Change a rule") if measures is None else N_("New rule"),
            icon="ph.pencil-simple" if measures is None else "ph.plus",
            width=0,
            parent=parent,
        )  # it is as wide as the list
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setMinimumWidth(0)
        self.setMaximumWidth(QWIDGETSIZE_MAX)
        self._rule, self._save, self._tried, self._measures = rule, save, tried, measures
        self._called = words.Called(receivers)
        self._now: Rule | None = rule  #: what others have made of it by now, None where it is gone
        self._barred = ""
        self._found: tuple[DryRun | None, ...] | BaseException | None = None  #: what it would have told
        self._trying = Operation(self, latest=True)
        self._soon_tried = QTimer(self, singleShot=True, interval=TRY_MS)
        self._soon_tried.timeout.connect(self._try)
        self.changed, self.take_in = Strip("warning"), Button(N_("Take it in"), small=True)
        self.changed.add_action(self.take_in)
        self.on = Toggle(N_("Rule is on"), on=rule.enabled)
        self.limits: dict[str, QLineEdit] = {}
        self._limit_fields: dict[str, Labelled] = {}
        self._widths = WordWidths(self)
        self._make_limits(rule)
        self.spans = {name: SpanField(getattr(rule, name), LONGEST_S, none) for name, (_label, none) in _SPANS.items()}
        for name, (label, _none) in _SPANS.items():
            self.fields[name] = Labelled(label, self.spans[name], in_words=True)
        self.severity = ChoiceField()
        for name, (_glyph, word) in words.SEVERITIES.items():
            self.severity.addItem(_(word), name)
        self._show_severity(rule.severity)
        self.action, self.channels, self.escalate_to = (QLineEdit(self._line(name, rule)) for name in _LINES)
        self._lines = dict(zip(_LINES, (self.action, self.channels, self.escalate_to), strict=True))
        self.action.setToolTip("pause, pause:type:sync_order, mark, run:scale_out")
        self.fields["severity"] = Labelled(N_("Severity"), self.severity, in_words=True)
        self.fields["action"] = Labelled(N_("Does by itself"), self.action, in_words=True)
        self.fields["channels"] = Labelled(N_("Tells"), self.channels, in_words=True)
        self.fields["escalate_to"] = Labelled(N_("Escalates to"), self.escalate_to, in_words=True)
        self.severity.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToContents)
        if measures is not None:
            self._make_head(rule, measures)
        self._sentences = Sentences(len(words.in_fields(rule, new=measures is not None)))
        self.tried, self.when_tried = Label("", "strong", wrap=True), Label("", "label", "text2", wrap=True)
        self.past = TriedChart()
        self._lay_out()
        self.end_with_save(self._on_save)
        for part in (self.meanwhile, self.cancel_button, self.save_button):  # below them there is little room
            self.add_to_head(part)
        self.foot.setContentsMargins(0, 0, 0, 0)
        for line in self._lines.values():
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
        in_column(switch, self._sentences, self._versions, STRETCH, owner=left, spacing=6)
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
        for field in self.spans.values():
            self._widths.add(field, field.lineEdit())
        for line in self._lines.values():
            self._widths.add(line, line)

    def _make_head(self, rule: Rule, measures: Mapping[str, Rule]) -> None:
        """What a new rule is called, and what it looks at."""
        self.name, self.measure = QLineEdit(rule.name), ChoiceField()
        for name in measures:
            self.measure.addItem(words.measure(name), name)
        self.measure.setCurrentIndex(self.measure.findData(rule.measure))
        self.measure.setSizeAdjustPolicy(ChoiceField.SizeAdjustPolicy.AdjustToContents)
        self.fields["name"] = Labelled(N_("Name"), self.name, in_words=True)
        self.fields["measure"] = Labelled(N_("What it looks at"), self.measure, in_words=True)
        self._widths.add(self.name, self.name)
        self.name.textChanged.connect(self._on_edited)
        self.measure.currentIndexChanged.connect(self._on_measure)

    def _make_limits(self, rule: Rule) -> None:
        """A field for each number of this rule: by its measure there are others."""
        names = words.limit_names(rule)
        for name in [name for name in self.limits if name not in names]:
            self._widths.remove(self.limits.pop(name))
            gone = self._limit_fields.pop(name)
            gone.hide()
            gone.deleteLater()
        for name in [name for name in names if name not in self.limits]:
            self.limits[name] = field = QLineEdit(_figure(name, rule))
            self._limit_fields[name] = Labelled(words.LIMITS.get(name, name), field, in_words=True)
            self._widths.add(field, field)
            field.textChanged.connect(self._on_edited)
        self.fields.pop("limits", None)
        if self._limit_fields:
            self.fields["limits"] = next(iter(self._limit_fields.values()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the past below the fields where both are too narrow side by side."""
        super().resizeEvent(event)
        ways = QBoxLayout.Direction
        beside = self.width() >= round(LEAST_BESIDE * theme().growth)
        self._halves.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    def showEvent(self, event: QShowEvent) -> None:
        """A new one wants a name first."""
        super().showEvent(event)
        if self._is_new and not self.name.text():
            self.name.setFocus()

    def behind(self) -> None:
        """It covers no window."""
        return

    @property
    def _is_new(self) -> bool:
        return self._measures is not None

    def is_typed(self) -> bool:
        """Whether it says another thing than the rule does: what was taken in was typed by somebody else."""
        return not self.waiting and self._made() != self._rule

    def bar(self, reason: str) -> None:
        """Save nothing for this reason, already translated; "" allows it again."""
        self._barred = reason
        self._say_newer()

    def follow(self, rules: Iterable[Rule]) -> None:
        """Tell what others have made of it; not while it is being saved, which makes a version as well. Nobody can
        have made anything of a new one.
        """
        if self._is_new:
            return
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
        self._title.setText(_("New rule") if self._is_new else words.rule_name(self._rule))
        self._look.setText(_("Look for it and tell of it"))
        self._versions.setText(
            _("Beside the rules that came with the program; it can be removed again, and stays in Audit.")
            if self._is_new
            else _("Save makes a new version; open incidents keep theirs, and every version stays in Audit.")
        )
        for place, name in enumerate(self._measures or ()):
            self.measure.setItemText(place, words.measure(name))
        for place, (_glyph, word) in enumerate(words.SEVERITIES.values()):
            self.severity.setItemText(place, _(word))
        for span in self.spans.values():
            span.say_again()
        if self._is_new:
            self.name.setPlaceholderText(_("letters, digits, _ and -"))
        self.action.setPlaceholderText(_("nothing"))
        for names in (self.channels, self.escalate_to):
            names.setPlaceholderText(_("nobody"))
            names.setText(self._called.said(self._called.meant(names.text())))
        self._widths.fit()
        self._say_newer()
        self._on_edited()
        self._say_tried()

    def _say_sentences(self) -> None:
        """They are others where a span is none."""
        shown = replace(self._rule, **{name: span.value() for name, span in self.spans.items()})
        said = words.in_fields(shown, new=self._is_new)
        self._sentences.show_words(said, {**self._limit_fields, **self.fields}, before=self.on)

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
        if self._now is not None:
            self._begin_with(self._now)
            self.save_button.setFocus()

    def _on_measure(self) -> None:
        """What was not changed here is as a rule of that measure is delivered."""
        measure = self.measure.currentData()
        if self._measures is not None and measure != self._rule.measure:
            self._begin_with(replace(self._measures[measure], name=self._rule.name))

    def _begin_with(self, now: Rule) -> None:
        """Let what was not changed here be as this rule has it."""
        old, self._rule, self._now = self._rule, now, now
        if old.measure != now.measure:  # what that would have told says nothing of this one
            self._trying.drop()
            self._found = None
            self.tried.setText("")
            self.when_tried.setText("")
            self.past.show_runs(None, None)
        self._make_limits(now)
        for shows, says, put_there in self._values():
            if shows() == says(old):
                put_there(says(now))
        self._say()

    def _values(self) -> Iterator[tuple[Callable[[], Any], Callable[[Rule], Any], Callable[[Any], object]]]:
        """Of each field what it shows, what it would show of a rule, and what puts that there."""
        yield self.on.isChecked, lambda rule: rule.enabled, self.on.setChecked
        yield self.severity.currentData, lambda rule: rule.severity, self._show_severity
        for name, span in self.spans.items():
            yield span.value, attrgetter(name), span.setValue
        for name, field in self.limits.items():
            yield field.text, partial(_figure, name), field.setText
        for name, line in self._lines.items():
            yield partial(self._line_now, name), partial(self._line, name), line.setText

    def _line_now(self, name: str) -> str:
        """What stands in one of the fields of ``_LINES``, whichever way it is written there."""
        typed = self._lines[name].text()
        return typed.strip() if name == "action" else self._called.said(self._called.meant(typed))

    def _line(self, name: str, rule: Rule) -> str:
        """What stands in one of the fields of ``_LINES``."""
        return rule.action if name == "action" else self._called.said(getattr(rule, name))

    def _show_severity(self, severity: str) -> None:
        self.severity.setCurrentIndex(list(words.SEVERITIES).index(severity))

    def _on_edited(self) -> None:
        """Say the rule as it stands here, and what each changed field said."""
        self._say_sentences()
        rule = self._rule
        for name, field in self.limits.items():
            self._show_before(self._limit_fields[name], _figure(name, rule), field.text().strip())
        for name, span in self.spans.items():
            self._show_before(self.fields[name], words.seconds(getattr(rule, name)), words.seconds(span.value()))
        chosen = self.severity.currentData()
        self._show_before(self.fields["severity"], words.severity(rule), _(words.SEVERITIES[chosen][1]))
        for name in self._lines:
            self._show_before(self.fields[name], self._line(name, rule), self._line_now(name))
        made = self._made()
        if made is not None:
            self.setAccessibleDescription(words.whole(made))
            self.past.show_limit(made)
            self._soon_tried.start()
        said = [] if self._is_new else [_("version {n}").format(n=text.count(rule.version))]
        self.set_note(text.listed([*said, _("your change is not saved")], ";") if self.is_typed() else "".join(said))

    def _show_before(self, field: Labelled, before: str, now: str) -> None:
        """Mark what is changed, with what it was; of a new rule nothing was."""
        field.show_before("" if self._is_new else _was(before, now))

    def _try(self) -> None:
        made = self._made()
        if made is not None:
            rules = (made,) if self._is_new else (made, self._rule)
            self._trying.start(partial(self._tried, *rules), self._show_tried, self._show_tried)

    def _show_tried(self, found: tuple[DryRun | None, ...] | BaseException) -> None:
        self._found = found
        self._say_tried()

    def _say_tried(self) -> None:
        found = self._found
        if isinstance(found, BaseException):
            said, more = _("How often it would have told somebody is not known"), told(found)
            self.past.show_runs(None, None)
        elif found is not None:
            edited, saved = (*found, None)[:2]
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
            save = partial(self._save, made) if self._is_new else partial(self._save, made, instead=self._rule)
            self.start(save, partial(self._done, self._rule))

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
            name=self.name.text().strip() if self._is_new else self._rule.name,
            enabled=self.on.isChecked(),
            limits=limits,
            severity=self.severity.currentData(),
            action=self.action.text().strip(),
            channels=self._called.meant(self.channels.text()),
            escalate_to=self._called.meant(self.escalate_to.text()),
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


def _figure(name: str, rule: Rule) -> str:
    return f"{rule.limit(name):.12g}"


def _was(before: str, now: str) -> str:
    """What a field said that says something else now."""
    return _("was {value}").format(value=safe.one_line(before, 24) or "–") if before != now else ""
