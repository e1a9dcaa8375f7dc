"""Handover: on one page what who takes over must know, each number with the question that gives it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from services import act_words, called, i18n, messages, spans
from services.domain import audit
from services.domain.alerts import incident as incidents
from services.domain.audit import AuditEntry
from services.domain.gates.gate import sentence
from services.domain.insight import handover, worker
from services.domain.insight.handover import ACTS, BROKE, NEXT, NOW, PARTS, PROMISES, WAITS
from services.domain.past.lanes import Lanes
from services.domain.plans import recurrence
from services.domain.promises.judge import AT_RISK, BROKEN
from services.domain.task.search import filter as filters
from services.domain.task.search import filter_time
from services.domain.task.search.query import Query, Term, Total, equals
from services.domain.task.status import WAITING, Status, Triage
from services.domain.text import mask
from services.domain.text.message import Message, Param
from services.engine import fates
from services.engine.lead import leader
from services.engine.zone import DEFAULT_ZONE, fleet_zone
from services.monitor import attention
from services.monitor.alerts import wording
from services.monitor.alerts.queries import AlertQueries, IncidentNow
from services.monitor.audit import AuditQueries
from services.monitor.letters.causes import Cause, CauseQueries
from services.monitor.overview import Attention
from services.monitor.past.queries import PastQueries
from services.monitor.promises import PromiseQueries, PromiseRow
from services.ports import Store

#: what a line opens
TASKS, CAUSES, AUDIT, ALERTS, PROMISE, WORKERS = "tasks", "causes", "audit", "alerts", "promises", "workers"
MOST_CAUSES, MOST_INCIDENTS, MOST_ACTS, MOST_NEXT, MOST_SWITCHES, MOST_DRAINING = 8, 12, 20, 6, 8, 8
ENTRIES, SCAN = 2_000, 20_000
#: tasks of a number that are counted one by one where no index knows it: a second of a page that nobody waits for twice
COUNTED = 100_000
SHORTEST_MS, LONGEST_MS = 60_000, 7 * 86_400_000
#: states of acts by which nothing was done
NOT_DONE = "refused,failed"
#: workers are gone for a moment at every restart
QUIET_MS = 30_000


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence. ``number`` is what ``filter`` counts on the page ``page``, None where it holds none of those."""

    text: str
    number: int | None = None
    exact: bool = True  #: False: at least so many
    page: str = ""  #: what it opens: tasks, causes, audit, alerts, promises, workers; "" for nothing
    filter: str = ""  #: of that page's list
    target: str = ""  #: what is shown there, where that is one thing: a fingerprint, an incident, a promise, a worker
    verb: tuple[str, str] | None = None  #: the way there that an attention item offers


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and what stands under it. ``empty``: said in place of lines."""

    key: str
    title: str
    lines: tuple[Line, ...] = ()
    empty: str = ""


class Handover(msgspec.Struct, frozen=True, kw_only=True):
    """The page in one language; instants are UTC ms."""

    since: int
    until: int
    zone: str
    language: str
    title: str
    parts: tuple[Section, ...]
    doubts: tuple[str, ...] = ()  #: why it may not be as it says; then nothing is advised


class HandoverQueries(msgspec.Struct, frozen=True, kw_only=True):
    """Blocking; any thread."""

    store: Store
    causes: CauseQueries
    trail: AuditQueries
    alerts: AlertQueries
    promises: PromiseQueries
    past: PastQueries
    attention: Callable[[], Sequence[Attention]]  #: what needs a person now
    answers: Callable[[], bool]  #: whether the broker does
    name: Callable[[str], str]  #: turns ``platform:shop_id`` into the name of the shop
    fleet: Callable[[], str]  #: what it is called, in the language of the moment

    def page(self, since: int, language: str = "", until: int = 0) -> Handover:
        """What happened since an instant (UTC ms) and how it stands now, in a language, "" for the present one.

        ``until``: where the time it tells of ends, 0 for now. What stands under "now" is always of this moment.

        Raises:
            StoreUnavailable: the records do not answer; nothing is told from memory.
        """
        until = until or self.store.now_ms()
        with i18n.speaking(language or i18n.language()):
            return _Writer(self, max(since, until - LONGEST_MS), until).write()


def plain(page: Handover) -> Iterator[str]:
    """The page as lines of text, as it is copied and sent."""
    yield page.title
    yield from (f"! {doubt}" for doubt in page.doubts)
    for part in page.parts:
        yield ""
        yield part.title
        yield from (f"- {line.text}" for line in part.lines)
        if part.empty:
            yield f"- {part.empty}"


def _called(one: Cause) -> str:
    """The name that a person gave to a cause, else its title."""
    return one.rule.name or wording.inner(one.title)


class _Writer(msgspec.Struct):
    """Writes one page, in the language of the moment."""

    asked: HandoverQueries
    since: int
    until: int
    zone: str = DEFAULT_ZONE
    causes: Sequence[Cause] = ()

    def write(self) -> Handover:
        asked = self.asked
        self.zone = fleet_zone(asked.store) or DEFAULT_ZONE
        alerts, promises = asked.alerts.now(addresses=False), asked.promises.now()
        self.causes = asked.causes.causes().rows
        items = asked.attention()
        active = [one for one in alerts.incidents if one.incident.raised_at]
        doubts = list(self._doubts(alerts.watcher, promises.rows))
        parts = (
            self._part(NOW, [*self._now(), *self._of_switches(), *self._of_drained()]),
            self._part(BROKE, [*self._of_causes(), *self._of_incidents(active), *self._of_record()], "nothing_broke"),
            self._part(ACTS, self._of_people(), "nobody_acted"),
            self._part(WAITS, map(self._item, items), "nobody_needed"),
            self._of_promises(promises.rows),
            self._advice(active) if not doubts else self._part(NEXT, (), "no_advice"),
        )
        return Handover(
            since=self.since,
            until=self.until,
            zone=self.zone,
            language=i18n.language(),
            title=_say(
                "title", fleet=asked.fleet(), at=self._clock(self.since), until=self._clock(self.until), zone=self.zone
            ),
            parts=tuple(one for one in parts if one.lines or one.empty),
            doubts=tuple(doubts),
        )

    def _part(self, key: str, lines: Iterable[Line], empty: str = "") -> Section:
        found = tuple(lines)
        return Section(key=key, title=i18n._(PARTS[key]), lines=found, empty="" if found or not empty else _say(empty))

    def _doubts(self, watcher: str, rows: Sequence[PromiseRow]) -> Iterator[str]:
        if not self.asked.store.leader(leader.ROLE):
            yield _say("nobody_leads")
        elif old := max((one.age_ms for one in rows if one.stale), default=0):
            yield _say("promises_old", span=spans.of_seconds(old // 1000))
        if not watcher:
            yield _say("nobody_watches")
        if not self.asked.answers():
            yield _say("broker_lost")

    # how it stands

    def _now(self) -> Iterator[Line]:
        for code, terms in (
            ("waiting", (equals("status", *sorted(WAITING)),)),
            ("running", (equals("status", Status.RUNNING),)),
            ("retrying", (equals("status", Status.RETRYING),)),
            ("held", (equals("status", Status.HELD),)),
            ("dead", (equals("status", Status.DEAD), equals("triage", Triage.OPEN))),
            ("succeeded", (equals("status", Status.SUCCEEDED), *self._within())),
        ):
            line = self._counted(code, terms)
            if code == "running" and line.number:
                unheard = min(line.number, sum(len(one.unconfirmed) for one in fates.look(self.asked.store).workers))
                line = replace(line, text=_say("unheard", what=line.text, n=unheard)) if unheard else line
            if line.number or code in ("waiting", "succeeded"):
                yield line

    def _of_switches(self) -> Iterator[Line]:
        """What somebody lets nothing start of, the widest first: what waits there waits for no fault."""
        found = sorted(self.asked.store.switches(), key=lambda one: (one.scope.startswith("shop:"), -one.at, one.key))
        for one in found[:MOST_SWITCHES]:
            code = sentence("handover", one, handover.SENTENCES)
            words = {"scope": one.scope, "by": one.by, "at": self._clock(one.at), "reason": one.reason, **one.told}
            message = Message(code, words)
            yield Line(
                text=mask.masked_text(messages.render(messages.with_names(message, self.asked.name))),
                page=TASKS,
                filter=filters.format_terms((equals("gate", one.gate), *_within_scope(one.scope))),
            )
        if rest := found[MOST_SWITCHES:]:
            gates = sorted({one.gate for one in rest})
            words_of = filters.format_terms((equals("gate", *gates),))
            yield Line(text=_say("switches_more", n=len(rest)), page=TASKS, filter=words_of)

    def _of_drained(self) -> Iterator[Line]:
        workers = fates.look(self.asked.store).workers
        names = [one.info.worker for one in workers if one.state == worker.DRAINING]
        for name in names[:MOST_DRAINING]:
            yield Line(text=_say("draining", name=name), page=WORKERS, target=name)
        if rest := names[MOST_DRAINING:]:
            yield Line(text=_say("draining_more", n=len(rest)), page=WORKERS)

    def _within(self) -> tuple[Term, ...]:
        return (
            Term(field="updated", op=">=", number=float(self.since)),
            Term(field="updated", op="<=", number=float(self.until)),
        )

    def _counted(self, code: str, terms: tuple[Term, ...]) -> Line:
        """So many tasks: what is counted is what the filter says."""
        number = self.asked.store.query(Query(terms=terms, limit=1)).number
        if not number.exact:
            found = self.asked.store.grouped(terms, "type", COUNTED)
            number = Total(max(number.number, sum(one.total for one in found.groups)), exact=found.whole)
        words = filters.format_terms(terms, time_zone=self.zone)
        text = _say(code, n=number.number)
        if not number.exact:
            text = _say("at_least", what=text)
        return Line(text=text, number=number.number, exact=number.exact, page=TASKS, filter=words)

    # what broke

    def _of_causes(self) -> Iterator[Line]:
        found = [one for one in self.causes if self.since <= one.last_at <= self.until]
        found.sort(key=lambda one: (one.first_at < self.since, one.rank))
        yield from map(self._cause, found[:MOST_CAUSES])
        if rest := found[MOST_CAUSES:]:
            yield Line(text=_say("causes_more", n=len(rest)), page=CAUSES)

    def _cause(self, one: Cause) -> Line:
        """All its open letters, as they are counted where it opens."""
        new = one.first_at >= self.since
        where = _say("shops", n=one.shops)
        if len(one.shop_keys) == 1:
            where = _say("shop", shop=self.asked.name(one.shop_keys[0]))
        known = filters.is_fingerprint(one.fingerprint)
        terms = (
            equals("status", Status.DEAD),
            equals("triage", Triage.OPEN),
            *one.terms,
        )
        return Line(
            text=_say(
                "cause_new" if new else "cause_more",
                cause=_called(one),
                n=one.count,
                where=where,
                at=self._clock(one.first_at if new else one.last_at),
            ),
            number=one.count if known else None,
            page=CAUSES,
            filter=filters.format_terms(terms),
            target=one.fingerprint,
        )

    def _of_incidents(self, active: Sequence[IncidentNow]) -> Iterator[Line]:
        over = [
            one
            for one in self.asked.alerts.history()
            if one.incident.raised_at and self.since <= one.incident.resolved_at <= self.until
        ]
        lasting = [one for one in active if one.incident.raised_at <= self.until]
        for one in [*lasting, *over][:MOST_INCIDENTS]:
            incident, answer = one.incident, one.incident.answer
            state = one.state if f"handover.incident_{one.state}" in handover.SENTENCES else incidents.OPEN
            until = incident.resolved_at if state == incidents.RESOLVED else answer.muted_until
            if state == incidents.MUTED and answer.changes_from:
                state = f"{state}_changed"
            yield Line(
                text=_say(
                    f"incident_{state}",
                    id=incident.id,
                    title=wording.title(incident.words, self.zone, incident.first_at),
                    who=answer.answered_by,
                    at=self._clock(incident.first_at or incident.raised_at),
                    until=self._clock(until),
                ),
                page=ALERTS,
                target=incident.id,
            )

    def _of_record(self) -> Iterator[Line]:
        found: Lanes = self.asked.past.lanes(self.since, self.until)
        if len(found.gaps) == 1 and found.gaps[0].begin <= self.since and found.gaps[0].end >= self.until:
            yield Line(text=_say("no_record"))
            return
        for one in found.silent:
            if one.end - one.begin >= QUIET_MS or one.end >= self.until:
                code = "silent_now" if one.end >= self.until else "silent" if one.back else "silent_lost"
                yield Line(text=self._span(code, one.begin, one.end, one.name), page=WORKERS, target=one.name)
        for one in found.deploys:
            yield Line(text=self._span("deploy", one.begin, one.end, one.name))
        yield from self._of_gaps(found)

    def _of_gaps(self, found: Lanes) -> Iterator[Line]:
        for gap in found.gaps:
            if gap.end <= found.first_ms:  # a fleet that was not there yet lacks no record
                if self._is_older(found.first_ms):
                    yield Line(text=_say("recorded_since", at=self._clock(found.first_ms)))
            elif gap.end - gap.begin >= QUIET_MS:
                yield Line(text=self._span("gap", gap.begin, gap.end))

    def _is_older(self, at_ms: int) -> bool:
        """Whether the fleet had tasks before an instant, as far as they are kept."""
        before = Term(field="created", op="<", number=float(at_ms))
        return bool(self.asked.store.query(Query(terms=(before,), limit=1, want_total=False)).tasks)

    def _span(self, code: str, begin: int, end: int, name: str = "") -> str:
        return _say(code, name=name, at=self._clock(begin), until=self._clock(end))

    # who did what

    def _named(self, target: str, causes: Mapping[str, str]) -> str:
        """What people call what was acted on; ``causes``: names by fingerprint."""
        if target in causes:
            return causes[target]
        key = target.removeprefix("shop:")
        if target.startswith(("platform:", "type:")):
            return called.scope(target)
        return self.asked.name(key) if ":" in key else target

    def _of_people(self) -> Iterator[Line]:
        within = f"since:{filter_time.iso(self.since, self.zone)} until:{filter_time.iso(self.until, self.zone)}"
        found = self.asked.trail.entries(within, limit=ENTRIES, scan=SCAN)
        # what was refused or failed was not done; its filter leaves it out alike
        entries: Sequence[AuditEntry] = [
            one for one in found.entries if audit.state(one, self.until) not in NOT_DONE.split(",")
        ]
        causes = {one.fingerprint: _called(one) for one in self.causes}
        for acts in handover.of_people(entries)[:MOST_ACTS]:
            names = ", ".join(self._named(target, causes) for target in acts.targets)
            if acts.more:
                names = _say_of("alert.names_more", names=names, more=acts.more)
            yield Line(
                text=_say(
                    ("acts" if acts.count > 1 else "act") + ("" if names else "_alone"),
                    who=acts.who,
                    action=act_words.act(acts.action),
                    n=acts.count,
                    names=names,
                ),
                number=acts.count,
                page=AUDIT,
                filter=f'who:"{acts.who}" action:{acts.action} -state:{NOT_DONE} {within}',
            )
        if found.next and len(found.entries) >= ENTRIES:
            yield Line(text=_say("acts_cut", n=ENTRIES), page=AUDIT, filter=within)

    # what waits for whom, and what is promised

    def _item(self, item: Attention) -> Line:
        title, *_rest = attention.present(item)
        # a question ends itself
        between = "" if title.endswith("？") else " " if title.endswith("?") else "：" if i18n.is_chinese() else ": "
        asked = next((target for verb, target in item.verbs if verb == "open_tasks"), "")
        opens = next(((verb, target) for verb, target in item.verbs if verb.startswith(("open_", "triage"))), None)
        said = (part.replace(".; ", "; ").replace("。；", "；") for part in attention.present(item) if part)
        return Line(
            text=_say(
                "item",
                who=_say_of(handover.whose(item.code, str(item.params.get("kind", "")))),
                what=between.join(said),
            ),
            page=TASKS if asked else "",
            filter=asked,
            verb=opens,
        )

    def _of_promises(self, rows: Sequence[PromiseRow]) -> Section:
        judged = [one for one in rows if one.standing is not None]
        bad = [one for one in judged if one.state in (BROKEN, AT_RISK)]
        if bad:
            return self._part(
                PROMISES, map(self._promise, sorted(bad, key=lambda one: (one.state != BROKEN, one.name)))
            )
        kept = _say("promises_kept", n=len(judged)) if judged else _say("no_promises")
        return Section(key=PROMISES, title=i18n._(PARTS[PROMISES]), empty=kept)

    def _promise(self, one: PromiseRow) -> Line:
        standing = one.standing
        assert standing is not None
        broken = one.state == BROKEN
        why = wording.say(one.holds[0].message) if one.holds else _say("unknown_why")
        return Line(
            text=_say(
                "promise_broken" if broken else "promise_at_risk",
                name=one.name,
                n=standing.broken if broken else standing.at_risk,
                of=standing.total,
                at=self._clock(standing.first_break),
                why=why,
            ),
            page=PROMISE,
            target=one.name,
        )

    def _advice(self, active: Sequence[IncidentNow]) -> Section:
        order = [one for one in active if one.state == incidents.OPEN] + [
            one for one in active if one.state == incidents.ANSWERED
        ]
        steps = ((one.incident.id, wording.next_step(one.incident.words, self.zone)) for one in order)
        lines = [Line(text=_say("next", id=name, step=step), page=ALERTS, target=name) for name, step in steps if step]
        return self._part(NEXT, lines[:MOST_NEXT])

    def _clock(self, instant: int) -> str:
        """The time on the fleet's clocks, with the day where it is not that of the end."""
        if not instant:
            return "–"
        words, end = recurrence.iso(instant, self.zone), recurrence.iso(self.until, self.zone)
        return words[11:16] if words[:10] == end[:10] else f"{words[5:10]} {words[11:16]}"


def _within_scope(scope: str) -> tuple[Term, ...]:
    """The tasks of a scope: ``platform:pdd``, ``shop:pdd:1``, ``type:sync_order``, or ``all``."""
    field, _, name = scope.partition(":")
    return (equals(field, name),) if name else ()


def _say(code: str, **params: Param) -> str:
    return _say_of(f"handover.{code}", **params)


def _say_of(code: str, **params: Param) -> str:
    return mask.masked_text(messages.render(Message(code, params)))
