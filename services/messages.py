"""Sentences for people by code: the only place that turns a ``Message`` into text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from services import called, i18n, spans
from services.broker import listed as brokers
from services.domain.alerts import rule as alert_rule
from services.domain.alerts import text as alert_text
from services.domain.fleet import holders
from services.domain.gates import listed
from services.domain.insight import (
    attempts,
    audit,
    drift,
    handover,
    known_issue,
    publisher,
    reach,
    same_work,
    schedule,
    shop,
    worker,
)
from services.domain.insight.forecast import drain, flow
from services.domain.insight.forecast.flow import Clause
from services.domain.past import turns
from services.domain.plans import load
from services.domain.promises import holds, promise
from services.domain.task import classify, own_words
from services.domain.text.message import Message, Param
from services.domain.text.refusals import REFUSALS
from services.domain.text.said import Said, words_of
from services.domain.text.sentences import N_, NN_, SENTENCES, Counted
from services.domain.text.sheet_faults import SHEET
from services.domain.upkeep import damage, health, repair, tuning

TEMPLATES: dict[str, str] = {
    **SENTENCES,
    **own_words.SENTENCES,
    **own_words.LINES,
    **own_words.FOREIGN,
    **health.SENTENCES,
    **damage.SENTENCES,
    **repair.SENTENCES,
    **tuning.SENTENCES,
    **flow.SENTENCES,
    **attempts.SENTENCES,
    **reach.SENTENCES,
    **drain.SENTENCES,
    **known_issue.SENTENCES,
    **drift.SENTENCES,
    **holders.SENTENCES,
    **audit.SENTENCES,
    **worker.SENTENCES,
    **publisher.SENTENCES,
    **same_work.SENTENCES,
    **schedule.SENTENCES,
    **load.SENTENCES,
    **turns.SENTENCES,
    **handover.SENTENCES,
    **promise.SENTENCES,
    **holds.SENTENCES,
    **REFUSALS,
    **SHEET,
    **shop.SENTENCES,
    **listed.SENTENCES,
    **alert_rule.SENTENCES,
    **alert_text.SENTENCES,
    **brokers.SENTENCES,
    "text.and": N_("{first}, {rest}"),
    "text.then": N_("{first}; {rest}"),
    "task.unknown": N_("There is no task {id}."),
    "task.duplicate": N_("The same task is active already: {id} ({status})."),
    "task.not_cancelled": N_("The task is {status}; only a cancelled one is created again."),
    "task.stopping": N_("It is still stopping; it can be created again once it has stopped."),
    "task.created_again": N_("Created again already, as {id}."),
    "task.not_readable": N_("Its payload cannot be read."),
    "task.done": N_("The same work has succeeded already as {id}; to do it again needs a reason."),
    "task.refused": N_("Not possible while the task is {status}."),
    "task.nothing_to_pass": N_("No pause, quiet hours or failing shop holds it back: there is nothing to pass."),
    "task.no_pass": N_("It was not let through, or an attempt has begun with it: there is nothing to take back."),
    "task.many_passes": N_("{most} tasks are let through already and have not begun; resume instead."),
    "queue.left": N_("It does not wait in {name} any more."),
    "task.already_cancelled": N_("Cancelled already."),
    "retry.use_duplicate": N_("The task is {status}; use Duplicate to run the same work again."),
    "retry.say_why": N_("Its work may be done already: decide about it by itself, and say why it is to run again."),
    "give_up.say_why": N_(
        "Its work may be done already: say why it is given up, for then others may do the same work again."
    ),
    "retry.not_failed": N_("The task is {status}; there is nothing to retry yet."),
    "dead.not_dead": N_("The task is {status}, not a dead letter."),
    "dead.already": N_("Already republished as {id}."),
    "dead.schema": N_("Its payload does not fit the task type of today: {problem}"),
    "dead.refused_field": N_("Its type refuses the payload now: {field} {problem}"),
    "dead.same_before": N_("The same work as {id}, which comes before it."),
    "bulk.left": N_("The window was closed; the rest stay dead letters."),
    "bulk.stopped": N_("Stopped; the rest stay dead letters."),
    "bulk.probe_same": N_("The same failure came back ({kind}, {id}); the rest stay dead letters."),
    "bulk.probe_failed": N_("A task that was tried first did not succeed ({kind}, {id}); the rest stay dead letters."),
    "bulk.probe_late": N_("What was tried first has not ended after {span}; the rest stay dead letters."),
    "bulk.probe_none": N_("None of them can be tried first: each is held back, active already or refused by its type."),
    "bulk.silent": N_("The store does not answer ({error}); the rest stay dead letters, run it again."),
    "bulk.aborted": N_("Aborted; the rest stay dead letters."),
    "bulk.taken": N_("Somebody else goes on with this run."),
    "bulk.failed": N_("Not possible: {error}"),
    "import.bad": N_("This record cannot be: look at its {error}."),
    "import.exists": N_("It is here already ({status})."),
    "import.differs": N_("Another task has its id here ({status}); compare both, and give one of them another id."),
    "import.masked": N_("Secrets of it are hidden by dots: export it again with --reveal."),
    "import.history": N_("It has ended ({status}); history stays where it was."),
    "import.uncertain": N_("It is {status} there; import it when its end is known."),
    "import.depends": N_("It waits for other tasks; create it again here."),
    "attention.worker_silent": NN_(
        "Worker {worker} is silent; {tasks} of its tasks is unconfirmed",
        "Worker {worker} is silent; {tasks} of its tasks are unconfirmed",
        by="tasks",
    ),
    "attention.no_workers": NN_(
        "No worker is running; {tasks} task waits", "No worker is running; {tasks} tasks wait", by="tasks"
    ),
    "attention.publisher_blocked": NN_(
        "The broker holds publishers back; {tasks} task is not sent yet",
        "The broker holds publishers back; {tasks} tasks are not sent yet",
        by="tasks",
    ),
    "attention.at_least": N_("not all were counted, there are at least so many"),
    "attention.no_leader": N_("Nobody reconciles the fleet; start a worker"),
    "attention.shops_stuck": NN_(
        "{shops} shop finished nothing for 30 min: {names}",
        "{shops} shops finished nothing for 30 min: {names}",
        by="shops",
    ),
    "attention.cause_shop": NN_(
        "{headline}: {count} dead letter in one shop", "{headline}: {count} dead letters in one shop", by="count"
    ),
    "attention.cause_platform": N_("{headline}: {count} dead letters in {shops} shops, all on {platform}"),
    "attention.cause_all": N_("{headline}: {count} dead letters in {shops} shops on every platform"),
    "attention.cause_some": N_("{headline}: {count} dead letters in {shops} shops"),
    "lost.screen_all": N_("Everything below is as it was then."),
    "lost.screen_broker": N_("What the broker holds is as it was then; tasks, shops and workers are live."),
    "lost.store": N_(
        "Workers finish what they hold and keep the outcomes on their own disk; nothing new starts until Redis is back."
    ),
    "lost.broker": N_("Workers finish what they hold and record it; nothing new starts until the broker is back."),
    "lost.refused": N_("Workers go on as usual; what is created here is recorded and sent a little later."),
    "lost.both": N_(
        "Workers finish what they hold and keep the outcomes on their own disk; nothing new starts until both are back."
    ),
    "lost.file": N_("The workers of this computer finish what they hold; nothing new starts until the file is back."),
    "broker.refused_doubt": N_("The broker refuses this program; what is created is recorded and sent later: {why}"),
    "broker.lost_doubt": N_("The broker does not answer, nothing new starts until it is back: {why}"),
    "lost.offline": N_(
        "This computer has no network. Workers elsewhere go on without it; what they do is not known here."
    ),
    "lost.perhaps": N_("If only this computer is cut off, workers go on as usual."),
    "lost.others": NN_(
        "It is not only this computer: {n} worker reports that it cannot reach the broker.",
        "It is not only this computer: {n} workers report that they cannot reach the broker.",
    ),
    "dead.not_a_task": N_("{id} never was a readable task; create a new one from its message."),
}


def english(message: Message) -> str:
    """The English sentence, for machines and logs."""
    return _fill(_form(message, lambda one, many, n: one if n == 1 else many), message, _English())


def in_one(told: Iterable[Message], say: Callable[[Message], str]) -> list[str]:
    """Sentences as parts of one."""
    return [say(one) if place == 0 else goes_on(one, say(one)) for place, one in enumerate(told)]


def goes_on(message: Message, words: str) -> str:
    """The words of a message behind a semicolon: they begin small, unless a name begins them. A translation may begin
    with a person or a platform where the English begins with a word.
    """
    source, first = TEMPLATES.get(message.code, ""), words.partition(" ")[0]
    begins = {one.partition(" ")[0] for one in (source, source.one if isinstance(source, Counted) else source)}
    known = first in begins and first[:1].isupper() and not first[1:2].isupper() and not first.startswith(_NAMES)
    return words[:1].lower() + words[1:] if known else words


#: with which sentences of ours begin
_NAMES = ("Fleetdeck", "Redis", "RabbitMQ", "Pulsar", "SQLite", "Chrome")


def english_headline(clauses: Iterable[Clause]) -> str:
    """The headline of the fleet for machines and logs."""
    return "; ".join(_statements(clauses, english, ", "))


def within(message: Message) -> Said:
    """A sentence that stands within another one, which window, command line and REST then say in theirs."""
    text = Said(english(message))
    text.message = message
    return text


def with_names(message: Message, shop_name: Callable[[str], str]) -> Message:
    """The sentence with the shop that it names, or that a pause in it covers, as people call it."""
    params = dict(message.params)
    if isinstance(shop := params.get("shop"), str):
        params["shop"] = shop_name(shop)
    head, _colon, key = str(params.get("scope", "")).partition(":")
    if head == "shop":
        params["scope"] = f"shop:{shop_name(key)}"
    return Message(message.code, params)


def headline_within(clauses: Iterable[Clause], shop_name: Callable[[str], str]) -> Said:
    """The headline of the fleet as a part of another sentence, shops as people call them."""
    said: list[Said] = []
    for clause in clauses:
        why = [within(with_names(one, shop_name)) for one in clause.why]
        message = with_names(clause.message, shop_name)
        said.append(
            within(Message(message.code, {**message.params, "why": _joined("text.and", why)}) if why else message)
        )
    return _joined("text.then", said)


def _joined(code: str, parts: Sequence[Said]) -> Said:
    """All of them in one, two by two."""
    found = parts[-1]
    for one in reversed(parts[:-1]):
        found = within(Message(code, {"first": one, "rest": found}))
    return found


def headline(clauses: Iterable[Clause], say: Callable[[Message], str] | None = None) -> str:
    """The headline of the fleet in the present language: statements, joined by semicolons. ``say`` puts one into words
    where they are called otherwise than here.
    """
    comma, semicolon = ("，", "；") if i18n.is_chinese() else (", ", "; ")
    return semicolon.join(_statements(clauses, say or render, comma))


def _statements(clauses: Iterable[Clause], say: Callable[[Message], str], comma: str) -> list[str]:
    said = ((clause.message, _filled_in(clause, say, comma)) for clause in clauses)
    return [words if place == 0 else goes_on(message, words) for place, (message, words) in enumerate(said)]


def _filled_in(clause: Clause, say: Callable[[Message], str], comma: str) -> str:
    why = comma.join(say(one) for one in clause.why)
    message = clause.message
    return say(Message(message.code, {**message.params, "why": why}) if why else message)


#: parameters that may be a sentence of the engine out of a record, and those that people wrote but for a few
_TOLD, _NOTED = frozenset({"why", "error"}), frozenset({"reason", "note", "by", "who"})


#: parameters that are codes, and how people call those
_CALLED: Mapping[str, Callable[[str], str]] = {
    "scope": called.scope,
    "gate": called.gate,
    "role": called.role,
    "needed": called.role,
    "column": called.column,
    "columns": called.columns,
}
#: sentences that name a kind of failure, which people know by its title
_NAMING = frozenset({"promise.failing", "promise.held"})


def render(message: Message) -> str:
    """The sentence in the present language."""
    inner: dict[str, Param] = {name: told(value) for name, value in message.params.items() if isinstance(value, Said)}
    inner |= {
        name: _within(name, value)
        for name, value in message.params.items()
        if name not in inner and isinstance(value, str)
    }
    if message.code in _NAMING and (kind := str(message.params.get("kind", ""))) in classify.KINDS:
        inner["kind"] = render(Message(f"cause.{kind}"))
    shown = Message(message.code, {**message.params, **inner}) if inner else message
    return _fill(_form(message, i18n.ngettext, i18n._), shown, _Present())


def told(what: BaseException | str) -> str:
    """What an error or a state says, in the present language where it is known by code, else as it is; of a refusal of
    the system in words, not by its number.
    """
    system = what.strerror if isinstance(what, OSError) else ""
    if system and (found := own_words.find(system)) is not None:
        return render(found)
    words = words_of(what) if isinstance(what, BaseException) else what
    message = words.message if isinstance(words, Said) else getattr(what, "message", None)
    return render(message) if isinstance(message, Message) else own(words)


def own(error: str) -> str:
    """An error of a record, in the present language as far as the engine wrote it; what others said stays theirs."""
    return "\n".join(_own(line) for line in error.split("\n")) if error and i18n.is_chinese() else error


def noted(words: str) -> str:
    """A note, a reason or who it was, in the present language where the program itself wrote it; what people wrote is
    theirs, whatever it says.
    """
    message = own_words.note(words) if words and i18n.is_chinese() else None
    return render(message) if message is not None else words


def logged(stream: str, text: str) -> str:
    """A line of a task's log, in the present language where its worker wrote it; what flows print is theirs, whatever
    it says.
    """
    ours = stream in own_words.OWN_STREAMS.values() and i18n.is_chinese()
    message = own_words.line(text) if ours else None
    return render(message) if message is not None else text


def of_files(note: str) -> str:
    """Why files of an attempt were left out, in the present language."""
    if not note or not i18n.is_chinese():
        return note
    return "；".join(render(found) if (found := own_words.file_note(one)) else one for one in note.split("; "))


def _within(name: str, value: str) -> str:
    """A text that stands in a sentence, by the name of its place."""
    if name in _TOLD:
        return own(value)
    if name in _NOTED:
        return noted(value)
    if name in _CALLED:
        return _CALLED[name](value)
    kind = own_words.kind(value) if name == "given" and i18n.is_chinese() else None
    return render(kind) if kind is not None else value


@functools.lru_cache(maxsize=4096)
def _own(line: str) -> str:
    if refused := own_words.of_field(line):
        return i18n._("{name}: {value}").format(name=refused[0], value=render(refused[1]))
    message = own_words.find(line)
    if message is None:
        return line
    return render(message)


def _form(message: Message, count: Callable[[str, str, int], str], say: Callable[[str], str] = str) -> str:
    """The template of a message, in the form that fits its number."""
    template = TEMPLATES.get(message.code)
    if isinstance(template, Counted):
        number = message.params.get(template.by)
        return count(template.one, str(template), int(str(number)) if str(number).isdecimal() else 0)
    return say(template) if template is not None else message.code


class _Numbers(Protocol):
    """How spans and rates are said in a language."""

    def span(self, seconds: float) -> str: ...
    def between(self, low: float, high: float) -> str: ...
    def rates(self, *per_second: float) -> tuple[str, ...]: ...
    def percent(self, share: float) -> str: ...
    def put(self, template: str, params: Mapping[str, object]) -> str: ...


class _English:
    span = staticmethod(spans.english)
    between = staticmethod(spans.english_between)
    rates = staticmethod(spans.english_rates)
    percent = staticmethod(spans.english_percent)
    put = staticmethod(str.format_map)


class _Present:
    span = staticmethod(spans.of_seconds)
    between = staticmethod(spans.between)
    rates = staticmethod(spans.rates)
    percent = staticmethod(spans.percent)
    put = staticmethod(i18n.put)


_PER_S = "_per_s"


def _fill(template: str, message: Message, say: _Numbers) -> str:
    """Numbers stay numbers for machines; a sentence says ``seconds`` as ``{span}``, ``low_s`` to ``high_s`` as
    ``{spread}``, ``usual_s`` and ``nearly_s`` as ``{usual}`` and ``{nearly}``, ``percent`` and ``progress`` as
    ``{share}`` and ``{done}``, and all rates (``in_per_s`` as ``{in}``) in one unit.
    """
    params = message.params
    said: dict[str, str] = {}
    if isinstance(number := params.get("seconds"), int | float):
        said["span"] = say.span(number)
    low, high = params.get("low_s"), params.get("high_s")
    if isinstance(low, int | float) and isinstance(high, int | float):
        said["spread"] = say.between(low, high)
    for name in ("usual", "nearly"):
        if isinstance(seconds := params.get(f"{name}_s"), int | float):
            said[name] = say.between(seconds, seconds)
    for name, place in (("percent", "share"), ("progress", "done")):
        if isinstance(share := params.get(name), int | float):
            said[place] = say.percent(share / 100)
    rates = {name: value for name, value in params.items() if name.endswith(_PER_S) and isinstance(value, int | float)}
    said |= zip((name.removesuffix(_PER_S) for name in rates), say.rates(*rates.values()), strict=True)
    try:
        return say.put(template, {**said, **params})
    except (KeyError, IndexError):
        return template
