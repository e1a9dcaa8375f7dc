"""What is done to shops and limits: verbs behind card, menu and palette; each is audited and told with the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from services.commands.sheet import shop_file
from services.commands.sheet.shop_file import ShopFile
from services.domain.errors import OperatorError
from services.domain.fleet.shop import Shop
from services.domain.gates import breaker, paused
from services.domain.gates import limit as limits
from services.domain.gates.breaker import Rule
from services.domain.gates.limit import Limit
from services.domain.insight.shop import ShopNow
from services.domain.task.search import filter
from services.domain.task.search.query import GROUP, equals, excludes
from services.i18n import N_, _, ngettext
from services.monitor.shops.queries import ScopeRow, ShopRow, ShopsNow
from views.context import PageContext
from views.dialogs.confirm import ConfirmDialog, Finding, Question, confirm
from views.dialogs.file import FileDialog
from views.dialogs.quiet_hours import QuietHoursDialog
from views.dialogs.saving import SavingDialog
from views.dialogs.shop_login import ShopLogin
from views.dialogs.shops.edit import ShopDialog
from views.dialogs.shops.importing import ShopImportDialog
from views.dialogs.typed import KeepsTyped
from views.dialogs.work.dialog import Asked, WorkDialog
from views.kit.page_acts import PageActs
from views.kit.verb import LOOK, Place, Verb
from views.pages.shops import words
from views.support import safe, text
from views.support.look import Label
from views.support.operation import Operation, Start
from views.support.words import shop
from views.widgets.fields import Labelled, NumberField
from views.widgets.layout import in_row
from views.widgets.toggle import Toggle


@dataclass
class _Seen:
    """What an open question tells of a shop, and how it says it anew."""

    now: ShopNow
    changed: Callable[[], None] = lambda: None


class ShopActions(PageActs):
    """Signals:
    day_wanted: the runs of a shop along time are wanted: its row.
    refused: what was asked for is not done; what a control shows of it is not so.
    """

    day_wanted = Signal(object)
    refused = Signal()

    def __init__(self, context: PageContext, owner: QWidget) -> None:
        super().__init__(context, owner)
        self._reading, self._counting = Operation(self), Operation(self)
        self._breaking: _Seen | None = None
        self._login = ShopLogin(context, owner)
        self._login.changed.connect(self.changed)

    # shops

    def set_concurrency(self, row: ShopRow, number: int) -> None:
        """Change how many tasks of a shop run at once."""
        fleet = self._context.commands.fleet

        def said(_before: int) -> str:
            may = ngettext("{shop} may run {n} task at once now.", "{shop} may run {n} tasks at once now.", number)
            return may.format(shop=words.name(row), n=number)

        self._act(
            partial(fleet.set_concurrency, row.key, number),
            said,
            take_back=lambda before: partial(fleet.set_concurrency, row.key, before, instead=number),
        )

    def dedicate(self, row: ShopRow, *, on: bool) -> bool:
        """Give a shop a queue of its own, or let its tasks go through the lanes again; whether that is not done at
        once: it is asked first where tasks move then.
        """
        fleet = self._context.commands.fleet
        there, back = (fleet.dedicate, fleet.undedicate) if on else (fleet.undedicate, fleet.dedicate)
        now = N_("{shop} has a queue of its own now.") if on else N_("{shop} goes through the lanes again.")

        def said(_done: object) -> str:
            return _(now).format(shop=words.name(row))

        act = partial(self._act, partial(there, row.key), said, partial(back, row.key))
        if on:
            act()
            return False
        if not self._counting.busy:
            call = partial(self._context.limits.movable, [row.key])
            self._counting.start(call, partial(self._ask_back, row, act), self._fail)
        return True

    def _fail(self, error: BaseException, key: str = "") -> None:
        self.refused.emit()
        super()._fail(error, key)

    def _ask_back(self, row: ShopRow, act: Callable[[], None], moving: Sequence[int]) -> None:
        if not sum(moving):
            act()
            return

        def question() -> Question:
            return Question(
                title=N_("Queues of shops"),
                text=words.moves_back(sum(moving)),
                rows=((words.name(row), row.key),),
                verb=_("Bring it back to the lanes"),
            )

        confirm(question, self._owner, act)

    def new_task(self, row: ShopRow) -> None:
        """Make tasks for it, in a dialog."""
        self._context.new_task({"platform": row.shop.platform, "shops": [row.key]})

    def pause(self, row: ShopRow) -> None:
        """Let nothing of a shop start, or let it go on."""
        scope = f"shop:{row.key}"
        if words.is_paused(row):
            self.resume(row, scope)
            return
        self._pause(scope, partial(words.name, row))

    def resume(self, row: ShopRow, scope: str) -> None:
        """End a pause that holds a shop: its own, that of its platform, of a type or of everything; asked where it is
        somebody else's or has a note.
        """
        pause = next((one for one in row.now.pauses if (one.gate, one.scope) == (paused.GATE, scope)), None)
        self._end_pause(pause, scope, partial(words.paused_scope, row, scope))

    def pause_scope(self, row: ScopeRow) -> None:
        """Let nothing of a platform or a type start, or let it go on."""
        what = partial(words.scope_name, row)
        if row.pause is not None:
            self._end_pause(row.pause, row.key, what)
        else:
            self._pause(row.key, what)

    def close_breaker(self, row: ShopRow) -> None:
        """Forget the failures of a shop, after a look at them."""
        found = row.now.breaker
        if found is None:
            return
        seen = self._breaking = _Seen(row.now)

        def question() -> Question:
            return Question(
                title=N_("Let the shop run again"),
                rows=((_("shop"), words.name(row)), (_("waiting"), text.count(seen.now.waiting))),
                barred="" if seen.now.breaker is not None else _("It runs again already"),
                findings=(Finding("blocked", words.failures(found), words.last_failure(found)),),
                text=_(
                    "Its failures are forgotten and what waits starts at once. If nothing was put right, it fails"
                    " again."
                ),
                verb=_("Let it run again"),
                note=_("Note, kept in the audit trail"),
            )

        dialog = ConfirmDialog(question, self._owner)
        seen.changed = dialog.say
        dialog.finished.connect(self._look_away)
        dialog.confirmed.connect(lambda: self._close(row, dialog.note))
        dialog.open()

    def learn(self, shops: Sequence[ShopNow]) -> None:
        """Say anew what is asked about one of these, where it is otherwise now."""
        seen = self._breaking
        if seen is None:
            return
        now = next((one for one in shops if one.key == seen.now.key), seen.now)
        if (now.waiting, now.breaker) != (seen.now.waiting, seen.now.breaker):
            seen.now = now
            seen.changed()

    def _look_away(self) -> None:
        self._breaking = None

    def open_session(self, row: ShopRow) -> None:
        """Somebody has logged a shop in: note it, and let its tasks go on."""
        self._login.go_on(row.key)

    def log_in(self, row: ShopRow) -> None:
        """Open the shop's browser for a person."""
        self._login.begin(row.key)

    def _close(self, row: ShopRow, note: str) -> None:
        def said(was: bool) -> str:
            again = _("{shop} runs again.") if was else _("{shop} was not stopped any more; nothing was changed.")
            return again.format(shop=words.name(row))

        self._act(partial(self._context.commands.breakers.close, row.key, note=note), said)

    # what is known of them

    def edit(self, row: ShopRow) -> None:
        """Its names, group, tags and limits, in a dialog."""
        dialog = ShopDialog(row.shop, self.barred(), self._owner)
        dialog.chosen.connect(partial(self._change, dialog.start))
        dialog.open()

    def add_shop(self, now: ShopsNow) -> None:
        """A new one, in a dialog."""
        known = {one.platform for one in now.every}
        dialog = ShopDialog(None, self.barred(), self._owner, platforms_known=known)
        dialog.chosen.connect(partial(self._add, dialog.start))
        dialog.open()

    def _change(self, start: Start, opened: Shop, shop: Shop) -> None:
        fleet = self._context.commands.fleet

        def said(_found: object) -> str:
            return _("{shop} is changed.").format(shop=_called(shop))

        def take_back(found: tuple[Shop, Shop]) -> Callable[[], object]:
            before, now = found
            return partial(fleet.put_back_shops, [now], {now.key: before})

        self._act(partial(fleet.edit_shop, opened, shop), said, take_back=take_back, start=start)

    def _add(self, start: Start, _opened: None, shop: Shop) -> None:
        fleet = self._context.commands.fleet

        def add() -> None:
            if shop.key in {one.key for one in self._context.shops().values()}:
                raise OperatorError(_("{shop} is known already; edit it").format(shop=shop.key), field="shop_id")
            fleet.replace_shops([shop])

        self._act(add, lambda _done: _("{shop} is added.").format(shop=_called(shop)), start=start)

    def import_file(self, _now: ShopsNow) -> None:
        """Shops from a file: what would change is shown before."""
        tables, endings = _("Tables"), " ".join(f"*{ending}" for ending in shop_file.ENDINGS)
        kinds = f"{tables} ({endings})"
        FileDialog(self._owner, _("Shops from a file"), self.import_from, forms=[kinds]).open()

    def import_from(self, path: Path) -> None:
        """Show what a file would change."""

        def read() -> tuple[ShopFile, dict[str, Shop]]:
            known = dict(self._context.shops())
            return shop_file.read(path, known), known

        self._reading.start(read, partial(self._offer, path), self._fail)

    def _offer(self, path: Path, found: tuple[ShopFile, dict[str, Shop]]) -> None:
        file, known = found
        dialog = ShopImportDialog(path, file, known, self.barred(), self._owner)
        dialog.chosen.connect(partial(self._import, dialog.start))
        dialog.open()

    def _import(self, start: Start, wanted: Sequence[Shop]) -> None:
        fleet = self._context.commands.fleet
        number = len(wanted)

        def said(_before: object) -> str:
            return ngettext("{n} shop is imported.", "{n} shops are imported.", number).format(n=text.count(number))

        def take_back(before: dict[str, Shop]) -> Callable[[], object] | None:
            # a shop that is new stays: nothing is taken back that would be taken back in part
            whole = all(one.key in before and not before[one.key].unregistered for one in wanted)
            return partial(fleet.put_back_shops, wanted, before) if whole else None

        keep = partial(fleet.replace_shops, wanted)
        self._act(keep, said, take_back=take_back, start=start)

    # elsewhere

    def show_held(self, row: ShopRow) -> None:
        """Its tasks that wait for a person."""
        self.shown.emit("tasks", filter.format_terms((equals("shop", row.key), equals("status", "held"))))

    def show_day(self, row: ShopRow) -> None:
        """Its runs along time, in place of the list."""
        self.day_wanted.emit(row)

    def ask_work(self, row: ShopRow) -> None:
        """Whether something ran for it, in a dialog."""
        dialog = WorkDialog(self._context, Asked(shop=row.key), self.barred, self._owner)
        dialog.wanted.connect(self.shown)
        dialog.open()

    def show_tasks(self, row: ShopRow) -> None:
        """Its tasks."""
        self.shown.emit("tasks", filter.format_terms((equals("shop", row.key),)))

    def show_group(self, group: str, platform: str = "") -> None:
        """The tasks of a group of shops, of one platform or of all; "": of the shops that are in none."""
        where = (equals("platform", platform),) if platform else ()
        inside = equals(GROUP, group) if group else excludes(GROUP, "*")
        self.shown.emit("tasks", filter.format_terms((*where, inside)))

    def show_trail(self, row: ShopRow) -> None:
        """What was done to it, and by whom."""
        self.shown.emit("audit", f'target:"{row.key}","shop:{row.key}"')

    # rules and limits

    def edit_rule(self, now: ShopsNow) -> None:
        """When shops are stopped, in a dialog."""
        dialog = RuleDialog(now.rule, self.barred("admin"), self._owner)
        dialog.chosen.connect(partial(self.set_rule, dialog.start))
        dialog.open()

    def edit_quiet_hours(self, scope: str = "") -> None:
        """When nothing starts, in a dialog; ``scope``: of what, where that is chosen already."""
        dialog = QuietHoursDialog(self._context, self.barred(), self._owner, scope=scope)
        dialog.changed.connect(self.changed)
        dialog.open()

    def set_rule(self, start: Start, rule: Rule) -> None:
        """Change when breakers open."""
        breakers = self._context.commands.breakers

        def change() -> Rule:
            before = breakers.rule()
            breakers.set_rule(rule)
            return before

        def take_back(before: Rule) -> Callable[[], object]:
            return partial(breakers.set_rule, before)

        self._act(change, lambda _before: words.rule(rule), take_back=take_back, start=start)

    def set_limit(self, row: ScopeRow, concurrency: int, per_minute: int) -> None:
        """Limit a platform or a type; 0 is no limit."""
        wanted = Limit(scope=row.key, concurrency=concurrency, per_minute=per_minute)
        self._act(
            partial(self._limit, wanted),
            lambda _old: _("The limit of {name} is changed.").format(name=words.scope_name(row)),
            take_back=lambda old: partial(self._limit, old, wanted),
        )

    def _limit(self, wanted: Limit, instead: Limit | None = None) -> Limit:
        fleet = self._context.commands.fleet
        head, _colon, name = wanted.scope.partition(":")
        if head == limits.TYPE:
            numbers = {"concurrency": wanted.concurrency, "per_minute": wanted.per_minute}
            return fleet.limit_type(name, **numbers, instead=instead)
        return fleet.set_limit(wanted, instead=instead)


def _called(shop: Shop) -> str:
    return safe.one_line(shop.name or shop.key, 60)


WIDTH = 500


class RuleDialog(KeepsTyped, SavingDialog):
    """Signals:
    chosen: the ``Rule``; ``start`` takes what saves it.
    """

    chosen = Signal(object)

    def __init__(self, rule: Rule, reason: str = "", parent: QWidget | None = None) -> None:
        """``reason``: why it cannot be changed, "" when it can."""
        super().__init__(N_("When shops that fail are stopped"), icon="ph.hand-palm", width=WIDTH, parent=parent)
        self._rule, self._barred = rule, reason
        self.on = Toggle(N_("Stop shops that fail too often"), on=bool(rule.failures))
        self.failures = NumberField(rule.failures or Rule().failures, 1, breaker.MAX_WINDOW)
        self.of = NumberField(rule.of, 1, breaker.MAX_WINDOW)
        self.cooldown = NumberField(rule.cooldown_s, 1, breaker.MAX_COOLDOWN_S)
        self.most = NumberField(rule.max_cooldown_s, 1, breaker.MAX_COOLDOWN_S)
        self._build()
        for field in (self.failures, self.of, self.cooldown, self.most):
            field.valueChanged.connect(self._check)
        self.on.toggled.connect(self._check)
        self._check()

    def _build(self) -> None:
        words = _(
            "Too many failures of one shop in a row point at the shop: logged out, a captcha, risk control. Its tasks"
            " then wait, and one of them tries now and then until one succeeds."
        )
        self.body.addWidget(Label(words, "body", "text2", wrap=True))
        self.body.addLayout(in_row((Label(_("Let shops that fail wait"), "body"), 1), self.on))
        self._failures = Labelled(N_("Failed attempts"), self.failures)
        self._of = Labelled(N_("Of the last"), self.of)
        self._cooldown = Labelled(N_("First try after"), self.cooldown, hint=N_("seconds, then doubled"))
        self._most = Labelled(N_("At the latest after"), self.most, hint=N_("seconds"))
        for left, right in ((self._failures, self._of), (self._cooldown, self._most)):
            self.body.addLayout(in_row((left, 1), (right, 1), spacing=12))
        self.end_with_save(self._on_save)
        (self.cancel_button if self._barred else self.on).setFocus()

    def rule(self) -> Rule:
        """What the fields say."""
        return Rule(
            failures=self.failures.value() if self.on.isChecked() else 0,
            of=self.of.value(),
            cooldown_s=self.cooldown.value(),
            max_cooldown_s=self.most.value(),
        )

    def _check(self) -> None:
        on = self.on.isChecked()
        for field in (self.failures, self.of, self.cooldown, self.most):
            field.setEnabled(on and not self._barred)
        self.on.setEnabled(not self._barred)
        many = on and self.failures.value() > self.of.value()
        short = on and self.most.value() < self.cooldown.value()
        self._failures.set_error(_("At most as many as are looked at") if many else "")
        self._most.set_error(_("Not shorter than the first wait") if short else "")
        same = _("Nothing was changed yet") if self.rule() == self._rule else ""
        wrong = _("Correct the marked fields first") if many or short else ""
        self.forbid(self._barred or wrong or same)

    def _on_save(self) -> None:
        self.chosen.emit(self.rule())


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopVerb(Verb[ShopRow]):
    """Something that can be done to one shop."""

    do: Callable[[ShopActions, ShopRow], None]
    fits: Callable[[ShopRow], bool] = lambda _row: True  #: where it is offered
    short: str = ""  #: source text of its button, beside words that say the rest

    def offered(self, place: Place, chosen: ShopRow) -> bool:
        """Only what suits its state."""
        return place in self.places and self.fits(chosen)


class Pause(ShopVerb):
    """Its own pause; in a list of verbs the end of that stands among the ends of all pauses that hold it."""

    def offered(self, place: Place, chosen: ShopRow) -> bool:
        """The card has one button for both."""
        return place == Place.PANEL or not words.is_paused(chosen)

    def name(self, chosen: ShopRow) -> str:
        """What it would do."""
        return N_("Resume shop") if words.is_paused(chosen) else self.text

    def glyph(self, chosen: ShopRow) -> str:
        """What it would do."""
        return "ph.play" if words.is_paused(chosen) else self.icon


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(ShopVerb):
    """Ends one of the pauses that hold it."""

    scope: str

    def said(self, chosen: ShopRow) -> str:
        """What goes on then."""
        return shop.resume(self.scope)


def resume_key(scope: str) -> str:
    """The key of the verb that ends a pause."""
    return f"resume {scope}"


def verbs_of(row: ShopRow) -> tuple[ShopVerb, ...]:
    """What can be done to a shop: to end each pause that holds it stands before what is offered for any."""
    ends = [
        Resume(
            key=resume_key(one.scope), text=N_("Resume"), icon="ph.play", scope=one.scope,
            do=partial(ShopActions.resume, scope=one.scope),
        )
        for one in row.now.pauses
        if one.gate == paused.GATE
    ]  # fmt: skip
    return (*_ASKED, *ends, *_USUAL)


_LISTED = frozenset({Place.MENU, Place.PALETTE})
#: what a shop asks for
_ASKED = (
    ShopVerb(
        key="decide", text=N_("Show what is to decide"), icon="ph.list-bullets", role=LOOK,
        places=frozenset({Place.PANEL, Place.PALETTE}), fits=lambda row: bool(row.now.held), do=ShopActions.show_held,
    ),
    ShopVerb(
        key="login", text=N_("Open this shop's browser"), icon="ph.browser",
        fits=lambda row: row.now.session is not None, do=ShopActions.log_in,
    ),
    ShopVerb(
        key="session", text=N_("Logged in elsewhere: go on"), icon="ph.sign-in",
        fits=lambda row: row.now.session is not None, do=ShopActions.open_session,
    ),
    ShopVerb(
        key="close", text=N_("Let the shop run again"), icon="ph.shield-check",
        fits=lambda row: row.now.breaker is not None, do=ShopActions.close_breaker,
    ),
)  # fmt: skip
_USUAL = (
    Pause(key="pause", text=N_("Pause shop"), icon="ph.pause-circle", do=ShopActions.pause),
    ShopVerb(
        key="until", text=N_("Pause until a time"), icon="ph.moon", places=_LISTED,
        do=lambda acts, row: acts.edit_quiet_hours(f"shop:{row.key}"),
    ),
    ShopVerb(
        key="edit", text=N_("Edit shop"), short=N_("Edit"), icon="ph.pencil-simple", shortcut="shops.edit",
        do=ShopActions.edit,
    ),
    ShopVerb(
        key="work", text=N_("Did it run?"), short=N_("Ask for a day"), icon="ph.clock-counter-clockwise", role=LOOK,
        do=ShopActions.ask_work,
    ),
    ShopVerb(
        key="day", text=N_("Its runs along time"), short=N_("Its day"), icon="ph.chart-bar-horizontal",
        shortcut="shops.day", role=LOOK, do=ShopActions.show_day,
    ),
    # before its first task, too: else that one would have to fail first
    ShopVerb(
        key="browser", text=N_("Open this shop's browser"), icon="ph.browser", places=_LISTED,
        fits=lambda row: row.now.session is None, do=ShopActions.log_in,
    ),
    ShopVerb(key="new", text=N_("New task"), icon="ph.plus", places=_LISTED, do=ShopActions.new_task),
    ShopVerb(key="tasks", text=N_("Show tasks"), icon="ph.list-bullets", role=LOOK, do=ShopActions.show_tasks),
    ShopVerb(
        key="group", text=N_("Show tasks of its group"), icon="ph.folders", role=LOOK, places=_LISTED,
        fits=lambda row: bool(row.shop.group), do=lambda acts, row: acts.show_group(row.shop.group),
    ),
    ShopVerb(
        key="trail", text=N_("Who did what to it"), icon="ph.clipboard-text", role=LOOK, places=_LISTED,
        do=ShopActions.show_trail,
    ),
)  # fmt: skip
#: of the card
BUTTONS: tuple[ShopVerb, ...] = tuple(verb for verb in (*_ASKED, *_USUAL) if Place.PANEL in verb.places)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetVerb(Verb[ShopsNow]):
    """Something for all shops; a dialog that shows something, too, says there why nothing can be changed."""

    do: Callable[[ShopActions, ShopsNow], None]


FLEET_VERBS: tuple[FleetVerb, ...] = (
    FleetVerb(key="add", text=N_("Add shop"), icon="ph.plus", do=ShopActions.add_shop),
    FleetVerb(key="import", text=N_("Import"), icon="ph.download-simple", do=ShopActions.import_file),
    FleetVerb(
        key="quiet", text=N_("Quiet hours"), icon="ph.moon", role=LOOK, do=lambda acts, _now: acts.edit_quiet_hours()
    ),
    FleetVerb(key="rule", text=N_("When shops are stopped"), icon="ph.hand-palm", role=LOOK, do=ShopActions.edit_rule),
)
