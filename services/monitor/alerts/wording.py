"""A message of an incident in the language of its channel: what is wrong, the numbers, the cause, what to do."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

import msgspec

from services import called, i18n, messages, spans
from services.domain.alerts import channel as channels
from services.domain.alerts import outbox, text
from services.domain.alerts.incident import AGAIN, ESCALATED, RESOLVED, Words
from services.domain.alerts.outbox import Letter
from services.domain.past.turns import Turn
from services.domain.plans import recurrence
from services.domain.text import mask
from services.domain.text.message import Message, Param
from services.domain.text.said import Said

LANGUAGES = {channels.EN: "en", channels.ZH: "zh_CN"}
NAMED = 5
#: beside a parameter that names task types: their titles in Chinese. English says their codes, as flows and logs do
TITLED = "_zh"
Zone = str | tzinfo  #: of instants in a sentence, or its name


class Text(msgspec.Struct, frozen=True):
    """What a channel gets."""

    title: str
    body: str


def letter_text(letter: Letter, language: str, zone: Zone) -> Text:
    """The message in ``en`` or ``zh``; instants on the clocks of ``zone``. Holds no secret that this process knows."""
    if letter.what == outbox.HANDOVER:  # written in the language of its channel
        page = letter.words.title.params
        return Text(mask.masked_text(str(page.get("title", ""))), mask.masked_text(str(page.get("text", ""))))
    with i18n.speaking(LANGUAGES.get(language, "en")):
        said = title(letter.words, zone, letter.first_at)
        head = say(Message(f"alert.head_{letter.what}", {"id": letter.incident, "title": said}))
        lines = list(_lines(letter, zone))
    return Text(mask.masked_text(head), mask.masked_text("\n".join(lines)))


def test_text(channel: str, who: str, machine: str, language: str) -> Text:
    """What a test of a channel says."""
    with i18n.speaking(LANGUAGES.get(language, "en")):
        return Text(
            say(Message("alert.head_test", {"channel": channel})),
            say(Message("alert.test_body", {"who": who, "machine": machine})),
        )


def title(words: Words, zone: Zone, began: int = 0) -> str:
    """What is wrong, in the present language. ``began``: when that was (UTC ms); instants of its day go without it."""
    return _told(words.title, words, zone, began)


def of_turn(turn: Turn, zone: Zone) -> Message:
    """What changed, where that is an alert with what it told, of a cause with what it is called."""
    if turn.title is not None:
        return Message(turn.message.code, {**turn.message.params, "what": say(turn.title)})
    if turn.alert is None:
        return turn.message
    return Message(turn.message.code, {"what": title(turn.alert, zone, turn.at_ms)})


def facts(words: Words, zone: Zone, began: int = 0) -> list[str]:
    """What is true of it besides, in the present language; ``began`` as in ``title``."""
    return [_told(fact, words, zone, began) for fact in words.facts]


def next_step(words: Words, zone: Zone) -> str:
    """What a person does now, "" where nobody can say."""
    return _told(words.next, words, zone, 0) if words.next is not None else ""


def say(message: Message) -> str:
    """One sentence in the present language, with platforms, lanes and task types as people call them."""
    return messages.render(_named(message))


def _named(message: Message) -> Message:
    params = called.named(message.params)
    if i18n.is_chinese():
        params |= {name: title for name in message.params if (title := message.params.get(name + TITLED))}
    if message.code == "alert.next_pause_platform":
        params["name"] = called.platform(str(params["name"]))
    return Message(message.code, params)


def _told(message: Message, words: Words, zone: Zone, began: int) -> str:
    params: dict[str, Param] = dict(message.params)
    params["cause"] = inner(words.cause) if words.cause is not None else ""
    for name in ("from_at", "to_at"):
        if isinstance(instant := params.get(name), int):
            params[name] = _near(instant, zone, began)
    if isinstance(role := params.get("role"), str):
        params["role"] = say(Message(role))
    return say(Message(message.code, params)).strip(" :：")


def inner(message: Message) -> Said:
    """A sentence as a parameter of another one."""
    said = Said(messages.english(message))
    said.message = _named(message)
    return said


def _lines(letter: Letter, zone: Zone) -> list[str]:
    lasted = spans.of_seconds(max(0, letter.at - letter.first_at) // 1000)
    told = _near(letter.at, zone, letter.first_at)
    since: dict[str, Param] = {"at": _clock(letter.first_at, zone), "span": lasted, "told": told}
    over = letter.what == RESOLVED
    found = [say(Message("alert.lasted" if over else "alert.since", since))]
    if letter.worst > letter.count:
        found.append(say(Message("alert.worst", {"n": letter.worst})))
    if letter.what in (AGAIN, ESCALATED):
        found.append(say(Message("alert.unanswered", {"span": lasted})))
    if letter.names:
        names = ("、" if i18n.is_chinese() else ", ").join(letter.names[:NAMED])
        if letter.count > NAMED and len(letter.names) > NAMED:
            more = max(letter.count, len(letter.names)) - NAMED
            names = say(Message("alert.names_more", {"names": names, "more": more}))
        code = "alert.extent" if letter.of else "alert.extent_names"
        found.append(say(Message(code, {"count": letter.count, "of": letter.of, "names": names})))
    if letter.words.cause is not None:
        found.append(say(Message("alert.cause", {"cause": inner(letter.words.cause)})))
    if not over:
        found += facts(letter.words, zone, letter.first_at)
        if step := next_step(letter.words, zone):
            found.append(say(Message("alert.next", {"step": step})))
        found.append(say(Message("alert.answer", {"id": letter.incident})))
    found.append(say(Message("alert.of_rule", {"rule": _rule(letter), "severity": letter.severity})))
    return found


def _rule(letter: Letter) -> str:
    """What its rule looks at; one that people added goes by its own name."""
    here = text.MEASURES_HERE if letter.words.title.code in text.TITLES_HERE else {}
    said = here.get(letter.rule) or text.MEASURES.get(letter.rule, "")
    return i18n._(said) if said else letter.rule


def _near(instant: int, zone: Zone, began: int) -> str:
    """As ``_clock``, without the day or the year that it shares with ``began``, which is said beside it."""
    words, other = _clock(instant, zone), _clock(began, zone)
    if words[:10] == other[:10] and began:
        return words[11:] or words
    return words[5:] if words[:5] == other[:5] else words


def _clock(instant: int, zone: Zone) -> str:
    """Day, hour and minute on the clocks of a zone."""
    if not instant:
        return "-"
    if isinstance(zone, str):
        return recurrence.iso(instant, zone)[:16].replace("T", " ")
    return f"{datetime.fromtimestamp(instant / 1000, UTC).astimezone(zone):%Y-%m-%d %H:%M}"
