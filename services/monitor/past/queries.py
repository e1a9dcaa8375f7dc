"""Questions about the past: the fleet at a moment, and what changed around it."""

from __future__ import annotations

import contextlib
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from services.domain.alerts.dry_run import DryRun, Past, Whole, dry_run
from services.domain.alerts.incident import Incident
from services.domain.alerts.rule import Rule
from services.domain.audit import AuditEntry
from services.domain.errors import StoreUnavailable
from services.domain.gates import paused
from services.domain.past import frame, lanes, marks, turns
from services.domain.past.frame import SWITCH, WORKER, Change, Gap, Numbers
from services.domain.past.lanes import Lanes, Span
from services.domain.past.marks import Mark
from services.domain.past.turns import Turn
from services.domain.plans import recurrence
from services.domain.task.search import filter_time
from services.domain.text.said import said
from services.monitor.audit import AuditQueries
from services.monitor.past.tape import ABSENT_MS, DAY_MS, MAX_CHANGES, Moment, Tape

AROUND_MS = 600_000
#: entries of the audit that are looked at and told
SCAN, ACTS = 20_000, 500
#: parts of a long stretch, and rows that each of them is made of, about
PARTS, FINER = 96, 16
#: and so many at least: 30 days of the coarsest rows, which would end in the middle of a part if several became one
LEAST_ROWS = 3_000
#: days that a rule is tried on
TRIED_MS = 7 * DAY_MS
#: rows of them: of the last day each five seconds, of the others each minute
TRIED_ROWS = 40_000
Incidents = Callable[[], Iterable[Incident]]


class PastNow(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a moment; instants in UTC ms."""

    asked_ms: int
    begin: int  #: what changed is told between these
    end: int
    moment: Moment | None = None  #: None: nobody recorded here then
    gap: Gap | None = None  #: in which the moment lies, as far as that is known
    first_ms: int = 0  #: of which anything is known here; 0: nothing was ever recorded here
    last_ms: int = 0
    latest: Numbers | None = None  #: as it is now, while it is recorded here
    before_ms: int = 0  #: when something changed the last time before that moment; 0: not known
    after_ms: int = 0  #: likewise after it
    before: Turn | None = None  #: what that was, where there are words for it
    after: Turn | None = None
    turns: tuple[Turn, ...] = ()
    complete: bool = True  #: whether all that changed is told


class PastQueries:
    """Blocking; any thread. The tape is opened for each question: it appears when somebody leads here, and may go."""

    def __init__(
        self,
        path: Path,
        trail: AuditQueries,
        told: Incidents,
        now_ms: Callable[[], int],
        holds: Mapping[str, Past] | None = None,
        besides: Callable[[int, int], tuple[list[Turn], bool]] = lambda _begin, _end: ([], True),
    ) -> None:
        """``told``: all incidents that are known; ``now_ms``: the store's time; ``holds``: measures of rules that what
        is recorded tells; ``besides``: what else changed between two instants, and whether that is all.
        """
        self._besides = besides
        self._path, self._trail, self._told, self._now_ms = path, trail, told, now_ms
        self._holds = holds or {}

    def at(self, instant: int, around_ms: int = AROUND_MS) -> PastNow:
        """The fleet at an instant, and what changed so long before and after it.

        Raises:
            StoreUnavailable: the file of the recorder cannot be read, or the store does not answer.
        """
        begin, end = instant - around_ms, min(instant + around_ms, self._now_ms())
        acts, more = self._acts(begin, end)
        others, whole = self._besides(begin, end)
        others += turns.of_alerts(self._told(), begin, end)
        with self._tape() as tape:
            if tape is None:
                told = turns.turns((), acts, moment_ms=instant, others=others)
                return PastNow(asked_ms=instant, begin=begin, end=end, turns=told)
            known = tape.span() or (0, 0)
            # the newest row is a few seconds old: until it is late that is no gap
            fresh = self._now_ms() - known[1] <= ABSENT_MS
            gaps = tape.gaps(begin, max(begin, min(end, known[1]))) if known[0] else []
            if known[0] and not fresh and known[1] < end:
                gaps.append(Gap(max(known[1], begin), end))
            changes = tape.changes(begin, end)
            moment = tape.at(min(instant, known[1]) if fresh else instant)
            latest = tape.newest() if fresh else None
            steps = [tape.step(instant, later=later) or 0 for later in (False, True)]
            before, after = (next(iter(turns.turns(tape.changes(at - 1, at))), None) for at in steps)
        return PastNow(
            asked_ms=instant,
            begin=begin,
            end=end,
            moment=moment,
            gap=next((gap for gap in gaps if gap.begin <= instant <= gap.end), None) if moment is None else None,
            first_ms=known[0],
            last_ms=known[1],
            latest=latest,
            before_ms=steps[0],
            after_ms=steps[1],
            before=before,
            after=after,
            turns=turns.turns(changes, acts, gaps, instant, others),
            complete=len(changes) < MAX_CHANGES and not more and whole,
        )

    def ends(self, begin: int, end: int) -> tuple[Moment | None, Moment | None]:
        """The fleet at two instants; None where nobody recorded here.

        Raises:
            StoreUnavailable: the file of the recorder cannot be read.
        """
        with self._tape() as tape:
            if tape is None:
                return None, None
            known = tape.span() or (0, 0)
            # as of ``at``: the newest row speaks until it is late
            last = known[1] if self._now_ms() - known[1] <= ABSENT_MS else end
            return tape.at(min(begin, last)), tape.at(min(end, last))

    def lanes(self, begin: int, end: int, parts: int = PARTS, *, step_ms: int = 0) -> Lanes:
        """What stood out between two instants, in so many parts, or in such of ``step_ms``, the last of them shorter.

        Raises:
            StoreUnavailable: the file of the recorder cannot be read, or the store does not answer.
        """
        step, now = step_ms or max(1, -(-(end - begin) // parts)), self._now_ms()
        parts = -(-(end - begin) // step)
        acts, more = self._acts(begin, min(end, now))
        made = Lanes(
            begin=begin,
            end=end,
            step_ms=step,
            acts=tuple(entry.at for entry in acts),
            more_acts=more,
            alerts=tuple(self._incidents(begin, min(end, now))),
            gaps=(Gap(begin, min(end, now)),),
        )
        with self._tape() as tape:
            if tape is None:
                return made
            known = tape.span()
            if known is None:
                return made
            last = now if now - known[1] <= ABSENT_MS else known[1]
            rows = tape.series(begin, end, max(LEAST_ROWS, parts * FINER))
            moment = tape.at(max(begin, known[0]))
            changes = tape.changes(begin, end, kind=WORKER)
        failed, waiting = lanes.in_parts(rows, begin, step, parts)
        silent, deploys = lanes.of_workers(moment.things if moment else {}, changes, begin, min(end, last))
        gaps = frame.gaps(rows, begin, min(end, last))
        if last < min(end, now):
            gaps.append(Gap(max(begin, last), min(end, now)))
        return replace(
            made,
            failed=failed,
            waiting=waiting,
            silent=tuple(silent),
            deploys=tuple(deploys),
            gaps=tuple(gaps),
            first_ms=known[0],
        )

    def marks(self, begin: int, end: int) -> list[Mark]:
        """What a chart of this time marks: deploys, pauses, silent workers, alerts; none where nobody recorded here.

        Raises:
            StoreUnavailable: the file of the recorder cannot be read, or the store does not answer.
        """
        found = [
            Mark(one.raised_at, marks.ALERT, one.rule.name, one.words)
            for one in self._told()
            if begin <= one.raised_at <= end
        ]
        with self._tape() as tape:
            if tape is None:
                return found
            known = tape.span()
            moment = tape.at(max(begin, known[0])) if known is not None else None
            workers = tape.changes(begin, end, kind=WORKER)
            switches = tape.changes(begin, end, kind=SWITCH)
        silent, deploys = lanes.of_workers(moment.things if moment else {}, workers, begin, end)
        found += [Mark(one.begin, marks.SILENT, one.name) for one in silent if one.begin > begin]
        found += [Mark(one.begin, marks.DEPLOY, one.name) for one in deploys]
        return [*found, *marks.pauses(switches, paused.GATE)]

    def _incidents(self, begin: int, end: int) -> Iterator[Span]:
        for one in sorted(self._told(), key=lambda one: one.raised_at):
            over = one.resolved_at or end
            if one.raised_at and one.raised_at <= end and over >= begin:
                yield Span(max(begin, one.raised_at), min(end, over), one.id)

    def series(self, begin: int, end: int, most: int = 2_000) -> list[Numbers]:
        """The numbers between two instants, oldest first; none where nobody recorded here.

        Raises:
            StoreUnavailable: the file of the recorder cannot be read.
        """
        with self._tape() as tape:
            if tape is None:
                return []
            return tape.series(begin, end, most)

    def dry_run(self, *rules: Rule) -> tuple[DryRun | None, ...]:
        """How often each of these would have told somebody in the last days; None where what is recorded does not tell.

        Raises:
            StoreUnavailable: the file of the recorder cannot be read, or the store does not answer.
        """
        found = [self._holds.get(rule.measure) for rule in rules]
        if not any(found):
            return (None,) * len(rules)
        end = self._now_ms()
        begin = end - TRIED_MS
        with self._tape() as tape:
            if tape is None:
                return tuple(
                    dry_run((), begin, end, rule, past) if past else None
                    for rule, past in zip(rules, found, strict=True)
                )
            rows = tape.series(begin, end, TRIED_ROWS)
            if rows and 0 <= end - rows[-1].at_ms <= ABSENT_MS:
                end = rows[-1].at_ms  # until the next row is late that is no gap
            pairs = list(zip(rules, found, strict=True))
            seen = {one.measure: _seen(tape, rows, begin, end, past) for one, past in pairs if past is not None}
        return tuple(
            dry_run(seen[rule.measure][0], begin, end, rule, past, seen[rule.measure][1]) if past is not None else None
            for rule, past in pairs
        )

    @contextlib.contextmanager
    def _tape(self) -> Iterator[Tape | None]:
        """What was recorded, while it is asked; None where nobody recorded here.

        Raises:
            StoreUnavailable: it cannot be read.
        """
        tape = None
        try:
            with contextlib.suppress(FileNotFoundError):
                tape = Tape(self._path, read_only=True)
            yield tape
        except (sqlite3.Error, OSError) as exc:
            raise StoreUnavailable(said("past.unreadable", path=str(self._path), why=str(exc))) from exc
        finally:
            if tape is not None:
                tape.close()

    def _acts(self, begin: int, end: int) -> tuple[tuple[AuditEntry, ...], bool]:
        """The newest of a stretch, the oldest first; whether there were more."""
        words = f"since:{_moment(begin)} until:{_moment(end + 999)}"
        found = self._trail.entries(words, limit=ACTS + 1, scan=SCAN)
        within = [entry for entry in found.entries if begin < entry.at <= end]
        # a filter takes whole seconds, so some may be newer than the end: those that were read do not make all of them
        reached = bool(found.entries) and found.entries[-1].at <= begin
        return tuple(reversed(within[:ACTS])), len(within) > ACTS or bool(found.next and not reached)


def _seen(
    tape: Tape, rows: Sequence[Numbers], begin: int, end: int, past: Past
) -> tuple[Sequence[Numbers], list[Whole | Change]]:
    """The rows that a measure can be tried on, and the states that it looks at: a whole wherever rows begin anew."""
    rows = [row for row in rows if past.told(row)]
    if not past.kind:
        return rows, []
    first = tape.states_since()
    told = [row for row in rows if first is not None and row.at_ms >= first]
    states: list[Whole | Change] = []
    known = 0
    for row in told:
        if row.since_ms > known or not known:
            at = max(row.since_ms, first or 0)
            states.append(Whole(at, tape.states(at)))
        known = max(known, row.at_ms)
    first_at = min([begin, *(one.at_ms for one in states[:1])])  # the first row may reach back beyond the begin
    states += tape.every_change(first_at, end, kind=past.kind, state=past.state)
    # of one instant the whole is what came of its changes
    return told, sorted(states, key=lambda one: (one.at_ms, isinstance(one, Whole)))


def instant(text: str, now_ms: int, zone: str) -> int | None:
    """The past instant that a person means, UTC ms: ``03:12`` (the last one), ``yesterday 18:00``, ``昨晚 8点``,
    ``2026-11-20T03:12``, ``90m`` ago; None where it is none, or not past.
    """
    word = " ".join(unicodedata.normalize("NFKC", text).split())
    times = filter_time.Times(now_ms, zone)
    span = filter_time.ago_ms(word)
    if span is not None:
        return now_ms - span
    clock = filter_time.clock_gone(word)
    if clock is None:
        found = times.span(word)
        return found[0] if found is not None and found[0] == found[1] and found[0] <= now_ms else None
    ago, time = clock
    today = times.span("today")
    for days in (0, 1) if ago is None else (ago,):
        date = _date((today[0] if today is not None else now_ms) - days * DAY_MS, zone)
        found = times.span(f"{date}T{time}")
        if found is not None and found[0] <= now_ms:
            return _last(found[0], now_ms, zone)
    return None


def _date(at: int, zone: str) -> str:
    noon = datetime.fromtimestamp(at / 1000 + 43_200, UTC)  # in a day of 23 or 25 hours that day, too
    return noon.astimezone(recurrence.zone_named(zone or "UTC")).date().isoformat()


def _last(at: int, now_ms: int, zone: str) -> int:
    """Of an hour that came twice the second one, once that is past."""
    local = datetime.fromtimestamp(at / 1000, recurrence.zone_named(zone or "UTC"))
    again = round(local.replace(fold=1).timestamp() * 1000)
    return again if at < again <= now_ms else at


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
