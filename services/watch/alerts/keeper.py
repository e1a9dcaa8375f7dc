"""Watches the fleet for people: every few seconds the rules look, incidents are judged, messages are written and sent.

It runs in every process that may lead, and one of them watches, by a lease of its own: who leads the engine gives that
up while the broker is lost (DECISIONS 15), which is when people most need to be told.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from msgspec import structs
from msgspec.structs import replace

from services.domain.alerts.incident import LINES_KEPT, ROLE, Finding, Incident, Line
from services.domain.alerts.judge import judge
from services.domain.alerts.rule import Rule
from services.domain.errors import ConsoleError
from services.domain.task.status import ACTIVE, Status
from services.domain.text.message import Message
from services.domain.upkeep.stored import Document
from services.engine.lead.duty import DutyThread, together
from services.ports import Clock, Store
from services.watch.alerts.book import Book
from services.watch.alerts.look import JUMP_MS, LED, STATE, Eyes, Gap, Led, Look, NotKnown
from services.watch.alerts.rules import BY_NAME
from services.watch.alerts.sender import Sender

log = logging.getLogger(__name__)
EVERY_S, SEND_S, PRUNE_S = 5.0, 1.0, 300.0
TTL_MS = 15_000
#: what looks or sends is waited for no longer before the watch is left to the next one
LEAVE_S = 1.0
#: a leader that is gone is replaced within 15 s; a longer time without one is a gap
GAP_MS, NOTE_MS, TOLD_MS = 20_000, 5_000, 30_000
_LED = Document(Led)
Act = Callable[[Incident], Message]


class AlertKeeper:
    """A duty of every candidate; ``tick`` and ``send`` are its two steps."""

    def __init__(
        self,
        store: Store,
        eyes: Eyes,
        sender: Sender,
        clock: Clock,
        holder: str,
        *,
        act: Act | None = None,
        every_s: float = EVERY_S,
    ) -> None:
        """``act`` takes the action of an incident's rule and says what it did."""
        self._store, self._eyes, self._sender, self._clock, self._holder = store, eyes, sender, clock, holder
        self._act, self._every_s = act, every_s
        self._book = Book(store)
        self._watching = False
        self._wrote = False  #: there are messages that nobody has begun to send
        self._turn = threading.Lock()
        self._gap_until = 0
        self._noted = 0
        self._looked_at = 0  #: UTC ms
        self._jumped_at = float("-inf")  #: when this machine woke, or its clock was set ahead; monotonic, ms
        self._answered_at = self._monotonic_ms()  #: when the store last took the lease, or was opened
        self._refused = False  #: it has not since
        self._away = 0.0, float("-inf")  #: for how long the store took nothing last, and when that ended; monotonic, ms
        self._prune_at = clock.monotonic() + PRUNE_S
        self._failing: set[str] = set()
        self._judging = DutyThread(self._judge_on, f"{holder}-alerts")
        self._sending = DutyThread(self._send_on, f"{holder}-alerts-out")

    def start(self) -> None:
        """Become a candidate."""
        self._judging.start()
        self._sending.start()

    def stop(self) -> None:
        """Leave it to the next one."""
        together((self._judging.stop, self._sending.stop), LEAVE_S)
        if self._watching:
            self._watching = False
            try:
                if self._eyes.alone:
                    self._store.remove_document(STATE, LED)  # switched off on purpose
                self._store.resign(ROLE, self._holder)
            except ConsoleError as exc:
                log.debug("the lease of the watch runs out by itself: %s", exc)

    def tick(self) -> bool:
        """Look and judge once, unless somebody else watches; whether this process does. Raises errors of the store."""
        with self._eyes.sleeps.work():
            self._notice_jump()  # also where somebody else watches: asleep, their lease runs out
            return self._watch()

    def _watch(self) -> bool:
        watches = self._lead()
        if watches and not self._watching:
            self._noted = 0
        self._watching = watches
        if not watches:
            return False
        look = self._eyes.look()
        self._notice_jump()
        self._watch_leader(look)
        rules = self._book.rules()
        findings, unknown = self._find(look, rules)
        if self._judging.stopped:
            return False  # looking may take long: somebody else watches by now
        raised: list[Incident] = []
        # what needs no patience is opened and raised in one look, in two steps: a crash between them changes nothing
        for _ in range(2):
            changes = judge(findings, self._book.incidents(), rules, look.now_ms, unknown, self._book.reaches)
            self._wrote = bool(self._book.commit(changes)) or self._wrote
            raised += [one for one in changes.changed if one.raised_at == look.now_ms]
            if not changes.opened:
                break
        for incident in raised:
            self._take_action(incident)
        if self._clock.monotonic() >= self._prune_at:
            self._prune_at = self._clock.monotonic() + PRUNE_S
            self._book.prune(look.now_ms)
        return True

    def send(self, stop: threading.Event) -> int:
        """Begin to send what is due, while this process watches. Raises errors of the store."""
        with self._eyes.sleeps.work(), self._turn:
            return self._sender.turn(stop) if self._watching else 0

    # ------------------------------------------------------------------------------------------------------- threads
    def _judge_on(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self.tick()
                if self._wrote:
                    self._wrote = False
                    self.send(stop)
            except ConsoleError as exc:
                if stop.is_set():
                    return  # what it asks may be closed by now
                log.warning("alerts wait: %s", exc)
            except Exception:  # the next look may go well, and nobody else watches while this process does
                log.exception("alerts")
            if self._clock.wait(stop, self._every_s):
                return

    def _send_on(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self.send(stop)
            except ConsoleError as exc:
                if stop.is_set():
                    return
                log.warning("alerts are not sent: %s", exc)
            except Exception:  # likewise
                log.exception("alerts are not sent")
            # what is new is sent as it is written; to look each second is for what is tried again
            if self._clock.wait(stop, SEND_S if self._sender.waits else self._every_s):
                return

    # --------------------------------------------------------------------------------------------------------- steps
    def _find(self, look: Look, rules: dict[str, Rule]) -> tuple[list[Finding], set[str]]:
        """What each rule sees, in their order, and those that could not look."""
        findings: list[Finding] = []
        unknown: set[str] = set()
        for rule in rules.values():
            measure = BY_NAME.get(rule.measure)
            if measure is None or not rule.enabled:
                continue
            try:
                found = measure.find(look, rule)
                findings += [structs.replace(one, words=look.eyes.titled(one.words)) for one in found]
                self._failing.discard(rule.name)
            except (NotKnown, ConsoleError) as exc:
                log.debug("rule %s cannot look: %s", rule.name, exc)
                unknown.add(rule.name)
            except Exception:  # a rule that fails must not silence the others
                if rule.name not in self._failing:
                    log.exception("rule %s", rule.name)
                self._failing.add(rule.name)
                unknown.add(rule.name)
        return findings, unknown

    def _notice_jump(self) -> None:
        """Note where time went by in which this process did not run; a clock that counts no sleep tells nothing of it,
        and others do count it (Windows).
        """
        before, self._looked_at = self._looked_at, self._clock.now_ms()
        if before and self._looked_at - before > JUMP_MS:
            self._jumped_at = self._monotonic_ms()

    def _lead(self) -> bool:
        """Ask to watch, and note for how long the store took nothing."""
        try:
            watches = self._store.lead(ROLE, self._holder, TTL_MS)
        except ConsoleError:
            self._refused = True
            raise
        now = self._monotonic_ms()
        if self._refused:
            self._away = now - self._answered_at, now
        self._answered_at, self._refused = now, False
        return watches

    def _no_store(self, gap_ms: int) -> bool:
        """Whether for most of a time that ends now nobody could lead, for the store took nothing."""
        lasted, ended = self._away
        return lasted * 2 >= gap_ms and self._monotonic_ms() - ended <= gap_ms

    def _watch_leader(self, look: Look) -> None:
        """Note that somebody leads, and since when nobody did."""
        now, leader = look.now_ms, look.snapshot.leader
        if now >= self._gap_until:
            self._eyes.gap = None
        last = self._led()
        # one machine that slept, or whose clock was set ahead, is no fleet without a leader
        jumped = self._eyes.alone and self._monotonic_ms() - self._jumped_at <= GAP_MS
        gone = bool(last.at) and now - last.at > GAP_MS and not jumped
        unfinished = sum(look.number(status) for status in ACTIVE - {Status.HELD})
        gap = Gap(last.at, now if leader else 0, unfinished, last.holder, self._no_store(now - last.at))
        if not leader:
            self._eyes.gap = gap if gone else None
            return
        if gone:
            self._eyes.gap, self._gap_until = gap, now + TOLD_MS
        if now - self._noted >= NOTE_MS - 500:
            self._noted = now
            note = Led(holder=leader, at=now)
            self._store.put_document(STATE, LED, _LED.dump(note))

    def _monotonic_ms(self) -> float:
        return self._clock.monotonic() * 1000

    def _led(self) -> Led:
        return _LED.read(self._store.documents(STATE).get(LED), Led())

    def _take_action(self, incident: Incident) -> None:
        if not incident.rule.action or self._act is None:
            return
        now = self._store.now_ms()
        try:
            did = self._act(incident)
        except ConsoleError as exc:
            params = {"rule": incident.rule.name, "action": incident.rule.action, "why": str(exc)}
            did = Message("alert.line_action_failed", params)
            log.warning("rule %s could not do %s: %s", incident.rule.name, incident.rule.action, exc)
        lines = (*incident.lines, Line(at=now, message=did))[-LINES_KEPT:]
        self._book.put(replace(incident, lines=lines))
