"""Attention items in words: the source texts of a family, and one item told in plain English for machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from services import called, i18n, messages, spans
from services.domain.text.message import Message
from services.domain.text.sentences import N_, NN_, Counted
from services.i18n import _, fill, ngettext
from services.monitor.overview import Attention

__all__ = ["COUNTED", "NN_", "N_", "Words", "english", "present"]


class Words(msgspec.Struct, frozen=True):
    """Source texts of one kind of item. A number ``x`` is ``{x}``, with its noun ``{x_n}``."""

    title: str
    sentence: str = ""


#: numbers with their nouns, by the name of the parameter
COUNTED: dict[str, Counted] = {
    "tasks": NN_("{n} task", "{n} tasks"),
    "waiting": NN_("{n} task", "{n} tasks"),
    "shops": NN_("{n} shop", "{n} shops"),
    "workers": NN_("{n} worker", "{n} workers"),
    "others": NN_("{n} other shop", "{n} other shops"),
    "count": NN_("{n} dead letter", "{n} dead letters"),
    "causes": NN_("{n} more cause", "{n} more causes"),
}


def english(item: Attention, words: Words) -> str:
    """Title and sentence in one line."""
    params: dict[str, object] = {name: _plain(name, value) for name, value in item.params.items()}
    for name, value in item.params.items():
        if isinstance(value, int) and name in COUNTED:
            noun = COUNTED[name].one if value == 1 else COUNTED[name]
            params[f"{name}_n"] = noun.format(n=f"{value:,}")
    if "left_ms" in item.params:
        params["left"] = spans.english(float(item.params["left_ms"]) / 1000)
    if "seconds" in item.params:
        params["late"] = spans.english(float(item.params["seconds"]))
    if item.cause is not None:
        params["cause"] = messages.english(item.cause)
    parts = _parts(fill(words.sentence, params), item.facts, messages.english)
    more = "; ".join([*(one.rstrip(".") for one in parts[:-1]), *parts[-1:]])
    reason = "" if "{reason}" in words.sentence else str(item.params.get("reason", ""))
    told = [fill(words.title, params), more, reason]
    return ": ".join(one for one in told if one)


def present(item: Attention, words: Words) -> tuple[str, str]:
    """Title and sentence in the present language, for who has no window."""
    params: dict[str, object] = {name: _plain(name, value) for name, value in called.named(item.params).items()}
    for name, value in item.params.items():
        if isinstance(value, int) and name in COUNTED:
            params[f"{name}_n"] = ngettext(COUNTED[name].one, str(COUNTED[name]), value).format(n=f"{value:,}")
    for name, place, unit in (("left_ms", "left", 1000), ("seconds", "late", 1)):
        if name in item.params:
            params[place] = spans.of_seconds(float(item.params[name]) / unit)
    if item.cause is not None:
        params["cause"] = messages.render(item.cause)
    parts = _parts(fill(_(words.sentence), params), item.facts, _fact)
    if "{reason}" not in words.sentence:
        parts.append(str(item.params.get("reason", "")))
    between = "；" if i18n.is_chinese() else "; "
    return fill(_(words.title), params), between.join(part for part in parts if part)


def _parts(sentence: str, facts: Sequence[Message], say: Callable[[Message], str]) -> list[str]:
    """What is to be said after the title, in one sentence."""
    if not sentence:
        return messages.in_one(facts, say)
    return [sentence, *(messages.goes_on(one, say(one)) for one in facts)]


def _fact(fact: Message) -> str:
    return messages.render(Message(fact.code, called.named(fact.params)))


def _plain(name: str, value: str | int | float) -> str:
    if name == "names":
        return ", ".join(str(value).split("\n"))
    return f"{value:,}" if isinstance(value, int) else str(value)
