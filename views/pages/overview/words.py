"""The summary of the fleet, and attention items in words: a title, a sentence, the names of their verbs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial

from msgspec.structs import replace

from services import messages
from services.domain.insight.forecast import flow
from services.domain.past import marks
from services.domain.past.marks import Mark
from services.domain.text.counting import counts
from services.domain.text.message import Message
from services.i18n import _, fill, ngettext
from services.messages import headline, with_names
from services.monitor.alerts import wording
from services.monitor.attention import WORDS
from services.monitor.attention.words import COUNTED
from services.monitor.overview import Attention, OverviewNow
from views.charts.legend import Marker
from views.support import elide, safe, shown, text
from views.support.words import type_names, way
from views.widgets.attention.list import AttentionRow
from views.widgets.heat_map.map import platform_name


def summary(now: OverviewNow) -> str:
    """What is true of the whole fleet, the decisive statement first."""
    return headline(flow.headline(now.flow), partial(_say, now))


def whole_and_brief(now: OverviewNow) -> tuple[str, str]:
    """The same, and on a line; "" where it is no shorter there."""
    clauses = flow.headline(now.flow)
    brief = flow.in_brief(clauses)
    say = partial(_say, now)
    return headline(clauses, say), headline(brief, say) if brief != clauses else ""


def _say(now: OverviewNow, message: Message) -> str:
    """A statement, with the shop in it as people call it."""
    return shown.say(
        with_names(message, lambda key: next((one.name for one in now.shops if one.key == key), "") or key)
    )


def summary_counts(now: OverviewNow) -> bool:
    """Whether the summary says something else as time goes by."""
    return any(counts(one) for clause in flow.headline(now.flow) for one in (clause.message, *clause.why))


#: parameters that somebody named, and how wide such a name may be beside words that decide
_NAMES, NAME_COLUMNS = frozenset({"shop", "worker", "node", "name"}), 28
FINE_UNTIL = timedelta(minutes=10)
#: what is said once the time has come of which an item tells, until somebody has asked anew
_OVER = {
    code: f"{code}_now"
    for code in ("attention.breaker", "attention.breakers", "attention.last_try", "attention.last_tries")
}


#: parameters of an item that are told as so far ahead or so long ago
_COUNTING = frozenset({"until", "since"})


def row_of(item: Attention, now_ms: int) -> AttentionRow:
    """An item in the language of the moment, counted to this instant."""
    title, sentence = _texts(item, now_ms)
    whole = _texts(item, now_ms, whole=True)
    return AttentionRow(
        key=item.key,
        severity=item.severity,
        title=title,
        sentence=sentence,
        whole="" if whole == (title, sentence) else "\n".join(whole),
        age=_age(item.since_ms, now_ms),
        verbs=tuple((verb, target, way.label(verb, target)) for verb, target in item.verbs),
        state=item.state,
        end_open=item.end_open,
        covers=item.covers,
    )


def row_again(item: Attention, before: AttentionRow, now_ms: int) -> AttentionRow:
    """The row of the same item a moment later: of most nothing moves on but the age."""
    told = (*item.facts, *(() if item.cause is None else (item.cause,)))
    if _COUNTING.isdisjoint(item.params) and not any(map(counts, told)):
        return replace(before, age=_age(item.since_ms, now_ms))
    return row_of(item, now_ms)


def _texts(item: Attention, now_ms: int, *, whole: bool = False) -> tuple[str, str]:
    """Title and sentence; ``whole``: with names that are not shortened."""
    until, since = int(item.params.get("until", 0)), int(item.params.get("since", 0))
    over = 0 < until <= now_ms
    words = WORDS.get(_OVER.get(item.code, item.code) if over else item.code)
    if words is None:
        return messages.render(Message(item.code, dict(item.params))), ""
    params: dict[str, object] = {name: _param(name, value, whole=whole) for name, value in item.params.items()}
    params |= {
        f"{name}_n": _counted(name, value)
        for name, value in item.params.items()
        if isinstance(value, int) and name in COUNTED
    }
    params["cause"] = _cause(item)
    if "left_ms" in item.params:
        params["left"] = text.seconds(shown.span(until - now_ms if until else int(item.params["left_ms"])))
    if "seconds" in item.params:
        late = shown.span(now_ms - since) if since else timedelta(seconds=int(item.params["seconds"]))
        params["late"] = text.coarse(late)
    sentence = fill(_said(words.sentence), params)
    if item.facts:
        of_promise = [fact for fact in item.facts if fact.code.startswith("promise.")]
        others = (_fact(fact) for fact in item.facts if fact not in of_promise)
        sentence = text.sentences((sentence, text.listed(map(_fact, of_promise), ";"), *others))
    noted = "{reason}" in words.sentence
    reason = "" if noted else _param("reason", item.params.get("reason", ""))
    return fill(_said(words.title), params), _("{name}: {value}").format(
        name=sentence, value=reason
    ) if reason else sentence


def _fact(message: Message) -> str:
    """A fact as a sentence; statements of the headline are made to follow a semicolon."""
    params = dict(message.params)
    if "platforms" in params:
        params["platforms"] = text.listed(map(platform_name, str(params["platforms"]).split(", ")))
    if "type" in params:
        params["type"] = type_names.name(str(params["type"]))
    words = shown.say(Message(message.code, params))
    return text.first_up(words) if message.code.startswith("flow.") else words


def _said(words: str) -> str:
    """A bare place-holder is the same in every language and in no catalogue."""
    return words if words.startswith("{") and words.endswith("}") and words.count("{") == 1 else _(words)


def _cause(item: Attention) -> str:
    """What failed, as the page of dead letters calls it, and in which flow where that matters."""
    if item.cause is None:
        return _("Unknown error")
    name = safe.one_line(shown.say(item.cause), 90)
    flow = str(item.params.get("type", ""))
    return _("{cause} in {flow}").format(cause=name, flow=type_names.name(flow)) if flow else name


def _param(name: str, value: str | int | float, *, whole: bool = False) -> str | float:
    """Numbers with thousands, platforms by their names, lanes by their words, names as a list."""
    if name == "platform":
        return text.listed(platform_name(platform.strip()) for platform in str(value).split(","))
    if name == "type":
        return type_names.name(str(value))
    if name == "lane":
        return shown.lane_word(str(value)).lower()
    if name in ("reason", "who"):
        return safe.one_line(messages.noted(str(value)), 120)
    if name == "names":
        return text.listed(_name(one, whole=whole) for one in str(value).split("\n"))
    if name in _NAMES:
        return _name(str(value), whole=whole)
    return f"{value:,}" if isinstance(value, int) else safe.one_line(str(value), 80)


def _name(name: str, *, whole: bool) -> str:
    shown_ = safe.one_line(name, 80)
    return shown_ if whole else elide.middle(shown_, NAME_COLUMNS)


def _counted(name: str, number: int) -> str:
    """A number with its noun: ``58 dead letters``."""
    noun = COUNTED[name]
    return ngettext(noun.one, str(noun), number).format(n=f"{number:,}")


def _age(since_ms: int, now_ms: int) -> str:
    if not since_ms:
        return ""
    span = shown.span(now_ms - since_ms)
    return text.duration(span) if timedelta(seconds=10) <= span < FINE_UNTIL else text.coarse(span)


#: the same matter as it stands now and as it was recorded lie so near to each other
SAME_MS, SAME_SHARE = 60_000, 100
_SILENT, _PAUSED, _BLOCKED = marks.SILENT, marks.PAUSE, "blocked"


def markers(now: OverviewNow, recorded: Sequence[Mark] = (), range_s: float = 0) -> tuple[Marker, ...]:
    """Instants worth a line in the charts: what holds now (a worker is silent, the broker blocks, something is paused)
    and what was recorded in ``range_s``: deploys and alerts, too.
    """
    present = list(_marked(now.attention, now.at_ms))
    near = max(SAME_MS, round(range_s * 1000 / SAME_SHARE))
    found = [marker for _kind, marker in present]
    for mark in recorded:
        told = any(kind == mark.kind and abs(marker.at_ms - mark.at_ms) < near for kind, marker in present)
        if not told or mark.number > 1:
            found.append(_recorded(mark))
    return tuple(found)


_MARK_ROLES = {marks.DEPLOY: "accent", marks.SILENT: "retrying", marks.PAUSE: "text2", marks.ALERT: "dead"}
MARK_CHARS = 26


def _recorded(mark: Mark) -> Marker:
    if mark.number > 1:
        words = {
            marks.DEPLOY: ngettext("{n} version", "{n} versions", mark.number),
            marks.SILENT: ngettext("{n} silent", "{n} silent", mark.number),
            marks.PAUSE: ngettext("{n} pause", "{n} pauses", mark.number),
            marks.ALERT: ngettext("{n} alert", "{n} alerts", mark.number),
        }[mark.kind].format(n=text.count(mark.number))
    elif mark.kind == marks.ALERT:
        words = wording.title(mark.words, shown.zone(), mark.at_ms) if mark.words is not None else mark.name
    elif mark.kind == marks.PAUSE:
        words = _("{what} paused").format(what=_scope(mark.name))
    else:
        words = _("{worker} silent").format(worker=mark.name) if mark.kind == marks.SILENT else mark.name
    return Marker(mark.at_ms, elide.middle(safe.one_line(words, 120), MARK_CHARS), _MARK_ROLES[mark.kind])


def _scope(scope: str) -> str:
    head, _colon, name = scope.partition(":")
    if head == "all":
        return _("Everything")
    if head == "shop":
        return name.partition(":")[2] or name
    return platform_name(name) if head == "platform" else type_names.name(name)


def _marked(items: Iterable[Attention], now_ms: int) -> Iterable[tuple[str, Marker]]:
    for item in items:
        if not item.since_ms:
            continue
        if item.key.startswith("silent:"):
            words = _("{worker} late") if item.code == "attention.worker_late" else _("{worker} silent")
            if "worker" not in item.params:  # the rest of many
                number = int(item.params["workers"])
                words = ngettext("{n} silent", "{n} silent", number).replace("{n}", text.count(number))
            yield _SILENT, Marker(item.since_ms, fill(words, dict(item.params)), "retrying")
        elif item.code.startswith("attention.publisher_blocked"):
            yield _BLOCKED, Marker(item.since_ms, _("broker takes no messages"), "retrying")
        elif item.code.startswith("attention.paused_"):
            yield _PAUSED, Marker(item.since_ms, _texts(item, now_ms)[0], "text2")
