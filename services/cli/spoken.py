"""The language of a run: a person reads theirs, a program English. Every sentence that has a code is said here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta

from services import i18n, messages, settings, spans
from services.domain.insight.forecast.flow import Clause
from services.domain.task import own_words
from services.domain.text.message import Message
from services.domain.text.said import Said, words_of
from services.monitor import attention
from services.monitor.overview import Attention


def language(*, json: bool) -> str:
    """What this run speaks: English with ``--json``, else as ``FLEETDECK_LANGUAGE``, config.toml or the system says."""
    if json:
        return i18n.SOURCE_LANGUAGE
    return settings.language_asked_for() or settings.language_configured() or settings.system_language()


def say(message: Message) -> str:
    """A sentence in the language of the run."""
    return messages.render(message) if i18n.is_chinese() else messages.english(message)


def phrase(template: str, **params: object) -> str:
    """A sentence of the command line's own, which has no code, filled in."""
    return i18n.render(template, params)


def plural(one: str, many: str, n: int, /, **params: object) -> str:
    """The same with the form that so many take; ``n`` is filled in as ``{count}``."""
    return i18n.fill(i18n.ngettext(one, many, n), {"count": n, **params})


def meant(what: str, name: str) -> str:
    """A doubt with the name that was probably meant; "" for none."""
    return phrase("{what}; did you mean {name}?", what=what, name=name) if name else what


def told(what: BaseException | str) -> str:
    """What an error says, in the language of the run where it has a code, else as it is: phrases are said already."""
    words = words_of(what) if isinstance(what, BaseException) else what
    if isinstance(what, OSError | json.JSONDecodeError) and not isinstance(words, Said):
        why = (what.strerror if isinstance(what, OSError) else "") or str(what)
        return say(found) if (found := own_words.find(why)) is not None else why  # they are words of programmers
    message = words.message if isinstance(words, Said) else getattr(what, "message", None)
    return say(message) if isinstance(message, Message) and i18n.is_chinese() else str(what)


def error(words: str) -> str:
    """An error of a record, in the language of the run as far as the engine wrote it; what others said stays theirs."""
    return messages.own(words)


def span(seconds: float) -> str:
    """So long, in words."""
    if not i18n.is_chinese():
        return spans.english(seconds)
    return spans.duration(timedelta(seconds=seconds)).replace(spans.THIN, " ")


def between(low_s: float, high_s: float) -> str:
    """Between so long and so long, in words."""
    if not i18n.is_chinese():
        return spans.english_between(low_s, high_s)
    return spans.between(low_s, high_s).replace(spans.THIN, " ")


def item(one: Attention) -> str:
    """What needs a person, in one line."""
    if not i18n.is_chinese():
        return attention.english(one)
    title, sentence = attention.present(one)
    return "：".join(part for part in (title, sentence) if part)


def headline(clauses: Iterable[Clause]) -> str:
    """The headline of the fleet."""
    return messages.headline(clauses) if i18n.is_chinese() else messages.english_headline(clauses)
