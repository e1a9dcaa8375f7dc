"""Sentences for people by code: the only place that turns a ``Message`` into text."""

from __future__ import annotations

from services import i18n
from services.domain.message import Message


def N_(text: str) -> str:  # noqa: N802 - the usual gettext marker for texts translated later
    """Mark a text for extraction."""
    return text


TEMPLATES: dict[str, str] = {
    "task.unknown": N_("There is no task {id}."),
    "task.duplicate": N_("The same task is active already: {id} ({status})."),
    "task.refused": N_("Not possible while the task is {status}."),
    "retry.use_duplicate": N_("The task is {status}; use Duplicate to run the same work again."),
    "retry.not_failed": N_("The task is {status}; there is nothing to retry yet."),
    "dead.not_dead": N_("The task is {status}, not a dead letter."),
    "dead.already": N_("Already republished as {id}."),
    "dead.not_a_task": N_("{id} never was a readable task; create a new one from its message."),
}


def register(more: dict[str, str]) -> None:
    """Add the sentences of another module."""
    TEMPLATES.update(more)


def english(message: Message) -> str:
    """The English sentence, for machines and logs."""
    return _fill(TEMPLATES.get(message.code, message.code), message)


def render(message: Message) -> str:
    """The sentence in the present language."""
    template = TEMPLATES.get(message.code)
    return _fill(i18n._(template) if template is not None else message.code, message)


def _fill(template: str, message: Message) -> str:
    try:
        return template.format(**message.params)
    except (KeyError, IndexError):
        return template
