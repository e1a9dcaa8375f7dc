"""How an action goes: held for a moment with Undo where that is due, run off the GUI thread, told in a toast."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import QObject, QTimer, Signal

from services.commands.back.ways import Trail, unchanged
from services.commands.outcome import Outcome
from services.domain.audit import AuditEntry
from services.domain.errors import UsageError
from services.i18n import N_, _, ngettext
from services.messages import within
from views.support import shown, text
from views.support.operation import Operation, Start, act_number, taking_back, written
from views.widgets.toast import ToastAction, ToastSpec, action, failure, lasting, undo_action

HOLD_S, HOLD_MANY_S, UNDO_S, TELL_S = 5, 10, 10, 6
#: an act on more than these is told while it goes on, where it takes longer than this
MANY, SOON_MS = 500, 1500
T = TypeVar("T")
Toast = Callable[[ToastSpec], None]
#: takes an outcome up instead of the toast, and tells whether it did; the second tells it by the toast after all
Instead = Callable[[Outcome, Callable[[], None]], bool]
#: the verb of dead letters, whether a page calls it so or retry
REPUBLISH = "republish"
#: of messages about what goes on, for all pages: a key that came again would take another's message away
_NUMBERS = itertools.count(1)


class Reverse(msgspec.Struct, frozen=True, kw_only=True):
    """What the toast offers once something is done: its words, the act, and the sentence when that is done."""

    call: Callable[[Outcome], Outcome]
    text: str = N_("Undo")
    told: Callable[[Outcome], str] = lambda _outcome: _("Taken back.")
    #: of what was to be taken back, and what came of that, what is worth another try: it is offered again. With it,
    #: what an act only asked for is offered as well
    later: Callable[[Outcome, Outcome], Outcome] | None = None


def unless_changed(trail: Trail, back: Callable[[], T]) -> Callable[[], T]:
    """Take back what the run did whose answer is being delivered, unless somebody changed it since: what they decided
    is not written over. The call blocks, and raises ``UsageError`` where they did.
    """
    entries = written()

    def call() -> T:
        unchanged(trail, entries)
        return back()

    return call


class AboutToHappen:
    """What is held on any page: pairs of verb and id. The same letter stands on two pages, and is republished once."""

    def __init__(self) -> None:
        self._by: dict[QObject, frozenset[tuple[str, str]]] = {}

    def put(self, holder: QObject, about: Iterable[tuple[str, str]]) -> None:
        """Replace what a holder is about to do; nothing ends it."""
        found = frozenset(about)
        if found:
            self._by[holder] = found
        else:
            self._by.pop(holder, None)

    def free(self, verb: str, ids: Iterable[str]) -> list[str]:
        """Those for which nobody is about to do this."""
        promised = [found for found in self._by.values() if found]
        return [one for one in ids if not any((verb, one) in found for found in promised)]


class Acting(QObject):
    """Runs the commands of one page; every outcome is told, item by item where something was left out.

    Signals:
        ended: a command has run, or has failed.
    """

    ended = Signal()

    def __init__(self, owner: QObject, toast: Toast, pending: AboutToHappen | None = None) -> None:
        """``pending`` is shared by pages that may act on the same tasks."""
        super().__init__(owner)
        self._toast = toast
        self._operation = Operation(self)
        self._delayed: list[QTimer] = []
        self._pending = pending if pending is not None else AboutToHappen()
        #: of the act that was made last, while that is offered; an older one may end later and offers its own by mouse
        self._take_back: Callable[[], None] | None = None
        self._made = 0

    @property
    def busy(self) -> bool:
        """Whether a command is under way."""
        return self._operation.busy

    def at_once(
        self,
        call: Callable[[], Outcome],
        done: Callable[[Outcome], str],
        reverse: Reverse | None = None,
        instead: Instead = lambda _outcome, _tell: False,
        meanwhile: str = "",
        start: Start | None = None,
    ) -> None:
        """Run now; ``done`` makes the sentence of the toast, ``reverse`` is what its Undo sends.

        ``instead`` may take the outcome up itself: then nothing is told until it calls what it was given.
        ``meanwhile``: of an act on many, what is told while it goes on; its outcome is always told by the toast.
        ``start``: of the dialog that asks for it and shows why nothing was done.
        """
        call = call if start is None else partial(_unless_refused, call)
        self._run(self._next(), call, done, reverse, instead, meanwhile, start=start)

    def _next(self) -> int:
        """Number of an act that is made now: what was made before is not what the key is for."""
        self._take_back = None
        self._made = act_number()
        return self._made

    def _run(
        self,
        number: int,
        call: Callable[[], Outcome],
        done: Callable[[Outcome], str],
        reverse: Reverse | None,
        instead: Instead,
        meanwhile: str,
        held: str = "",
        start: Start | None = None,
        ask_again: Callable[[], None] | None = None,
        partly: Callable[[], bool] = lambda: False,
    ) -> None:
        """``held``: key of the message that offered to take it back until now; what is told takes its place."""
        key, over = self._say_meanwhile(meanwhile, held)

        def tell(outcome: Outcome) -> None:
            over()
            say = partial(self._tell, outcome, done, reverse, key, number, ask_again=ask_again, partly=partly())
            if not instead(outcome, say):
                say()
            self.ended.emit()

        def fail(error: BaseException) -> None:
            over()
            self._fail(error, key, ask_again)

        (start or self._operation.start)(call, tell, fail)

    def free(self, verb: str, ids: Iterable[str]) -> list[str]:
        """Those that do not wait for the same verb already; that none is left is told.

        Held twice, an Undo of one would leave the other, and the task would go although it was taken back.
        """
        left = self._pending.free(verb, ids)
        if not left:
            self.tell_waiting()
        return left

    def tell_waiting(self) -> None:
        """Say that the same is about to happen already."""
        words = _("That is about to happen already.")
        self._toast(ToastSpec(text=words, detail=_("Undo takes it back."), status="scheduled", key="waiting"))

    def delayed(
        self,
        announce: Callable[[], str],
        call: Callable[[], Outcome],
        done: Callable[[Outcome], str],
        seconds: int = HOLD_S,
        *,
        now: str = N_("Send now"),
        about: Iterable[tuple[str, str]] = (),
        reverse: Reverse | None = None,
        instead: Instead = lambda _outcome, _tell: False,
        meanwhile: str = "",
        ask_again: Callable[[], None] | None = None,
        partly: Callable[[], bool] = lambda: False,
    ) -> None:
        """Wait a few seconds in which it can be taken back, then run; ``announce``: said in the language of the
        moment; ``now``: source text of the verb that ends the wait; `about`: pairs of verb and
        id, see ``free``; ``reverse``: what is offered when it is done; ``instead``, ``meanwhile``: as of
        ``at_once``; ``ask_again``: shows what was asked for with all that was typed, for where nothing was done;
        ``partly``: whether some of it failed, once it is done, where the outcome does not name what did.
        """
        timer = QTimer(self, singleShot=True, interval=seconds * 1000)
        key, number = f"held-{next(_NUMBERS)}", self._next()

        def go() -> None:
            # the message stands as long as the mouse is on it: what it offers may be pressed when that is over
            if timer in self._delayed:
                self._forget(timer, undo)
                self._run(number, call, done, reverse, instead, meanwhile, key, ask_again=ask_again, partly=partly)

        def undo() -> None:
            if timer not in self._delayed:
                words = _("Too late: it is done, or under way.")
                self._toast(ToastSpec(text=words, detail=_("Nothing was taken back."), status="warning"))
                return
            self._forget(timer, undo)
            self._toast(ToastSpec(text=_("Taken back; nothing was changed."), status="cancelled", key=key))

        timer.timeout.connect(go)
        self._delayed.append(timer)
        self._pending.put(timer, about)
        self._take_back = undo
        timer.start()
        actions = (undo_action(undo, lambda: self._take_back is undo, number), action(now, go))

        def say() -> ToastSpec:
            return ToastSpec(text=announce(), status="scheduled", actions=actions, seconds=seconds, key=key)

        self._toast(lasting(say))

    def undo(self, after: int = 0) -> bool:
        """Take the newest action back while its Undo is offered; tell whether there was one.

        ``after``: number of an act; only what was made after it.
        """
        if self._made <= after:
            return False
        take_back, self._take_back = self._take_back, None
        if take_back is None:
            return False
        take_back()
        return True

    def send_delayed(self) -> None:
        """Run everything that is still held, e.g. before the window closes."""
        for timer in list(self._delayed):
            timer.timeout.emit()  # it is struck off by this

    def _forget(self, timer: QTimer, undo: Callable[[], None]) -> None:
        self._offer_no_more(undo)
        timer.stop()
        self._pending.put(timer, ())
        if timer in self._delayed:
            self._delayed.remove(timer)

    def _offer_no_more(self, undo: Callable[[], None]) -> None:
        if self._take_back is undo:
            self._take_back = None

    def _tell(
        self,
        outcome: Outcome,
        done: Callable[[Outcome], str],
        reverse: Reverse | None = None,
        key: str = "",
        number: int = 0,
        offered: Outcome | None = None,
        ask_again: Callable[[], None] | None = None,
        entries: tuple[AuditEntry, ...] = (),
        partly: bool = False,
    ) -> None:
        """``offered``: what the reverse is for, unless it is all that was done; ``entries``: of what it takes back,
        unless that is told now.
        """
        left = (*outcome.skipped, *outcome.failed)
        went = bool(outcome.done or outcome.pending)
        due = bool(outcome.done or (reverse is not None and reverse.later is not None and outcome.pending))
        undo = (
            self._offer_undo(offered or outcome, reverse, number, entries or written())
            if reverse is not None and (due or offered is not None)
            else None
        )

        def say() -> ToastSpec:
            detail = ""
            if left:
                count = ngettext("{n} task left alone", "{n} tasks left alone", len(left)).format(n=len(left))
                detail = _("{name}: {value}").format(name=count, value=shown.say(left[0].why))
            if not went and ask_again is not None:
                actions: tuple[ToastAction, ...] = (ToastAction(text=_("Ask again"), call=ask_again),)
            elif undo is not None and reverse:
                keyed = ToastAction(text=_(reverse.text), call=undo, keyed=lambda: self._take_back is undo, act=number)
                actions = (keyed,)
            else:
                actions = ()
            return ToastSpec(
                text=done(outcome) if went else _("Nothing was changed."),
                status="healthy" if went and not left and not partly else "warning",
                detail=detail,
                copy="\n".join(f"{one.task_id}\t{shown.say(one.why)}" for one in left),
                actions=actions,
                seconds=UNDO_S if actions or reverse is not None else TELL_S,
                key=key,
            )

        self._toast(lasting(say))

    def _offer_undo(
        self, outcome: Outcome, reverse: Reverse, number: int, entries: tuple[AuditEntry, ...]
    ) -> Callable[[], None]:
        """The reverse is offered for ten seconds, in the toast and, of the act that was made last, by Ctrl+Z."""

        def undo() -> None:
            self._offer_no_more(undo)
            key, over = self._say_meanwhile(under_way(_(reverse.text), len(outcome.done)))

            def tell(found: Outcome) -> None:
                over()
                rest = reverse.later(outcome, found) if reverse.later is not None else Outcome()
                if rest.done or rest.pending:
                    self._tell(found, reverse.told, reverse, key, number, rest, entries=entries)
                else:
                    self._tell(found, reverse.told, key=key)

            def fail(error: BaseException) -> None:
                over()
                self._fail(error, key)

            with taking_back(entries):
                self._operation.start(partial(reverse.call, outcome), tell, fail)

        if number == self._made:
            self._take_back = undo
        QTimer.singleShot(round(UNDO_S * 1000), self, partial(self._offer_no_more, undo))
        return undo

    def _say_meanwhile(self, words: str, key: str = "") -> tuple[str, Callable[[], None]]:
        """Tell that it goes on unless it is over soon; the key of that message, and what to call when it is over."""
        if not words:
            return key, lambda: None
        timer = QTimer(self, singleShot=True, interval=SOON_MS)
        key = key or f"meanwhile-{next(_NUMBERS)}"
        timer.timeout.connect(lambda: self._toast(ToastSpec(text=words, status="running", sticky=True, key=key)))
        timer.start()

        def over() -> None:
            timer.stop()
            timer.deleteLater()

        return key, over

    def _fail(self, error: BaseException, key: str = "", ask_again: Callable[[], None] | None = None) -> None:
        self._toast(failure(error, key=key, again=ask_again))
        self.ended.emit()


def _unless_refused(call: Callable[[], Outcome]) -> Outcome:
    """What a dialog waits for: where nothing was done, why."""
    outcome = call()
    left = (*outcome.skipped, *outcome.failed)
    if left and not (outcome.done or outcome.pending):
        raise UsageError(within(left[0].why))
    return outcome


def tell_done(
    toast: Toast,
    say: Callable[[], str | ToastSpec],
    back: Callable[[], None] | None = None,
    *,
    opens: ToastAction | None = None,
    more: Callable[[Callable[[], None]], ToastAction] | None = None,
) -> None:
    """Tell what was done here at once, in the language of the moment, with what can be done about it.

    ``say``: its sentence, or all of the message but its verbs; ``back`` takes it back, None where nothing does;
    ``opens``: shows what was made; ``more``: makes of what tells it again what else can be done.
    """

    def told() -> ToastSpec:
        said = say()
        spec = said if isinstance(said, ToastSpec) else ToastSpec(text=said)
        return replace(spec, actions=actions, seconds=UNDO_S if actions else spec.seconds)

    def tell() -> None:
        toast(lasting(told))

    undo = undo_action(back) if back is not None else None
    offered = (opens, undo, more(tell) if more is not None else None)
    actions = tuple(one for one in offered if one is not None)
    tell()


def republishing(number: int) -> str:
    """What is told while so few dead letters are held."""
    words = ngettext("Republishing {n} task in 5 s", "Republishing {n} tasks in 5 s", number)
    return words.format(n=text.count(number))


def under_way(verb: str, count: int) -> str:
    """What is told while this is done to so many, "" where they are few; ``verb`` is translated."""
    if count <= MANY:
        return ""
    return _("{verb}: {n} tasks are under way; you may go on working.").format(verb=verb, n=text.count(count))
