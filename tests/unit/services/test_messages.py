"""Sentences by code: every code has a text, whatever is in its parameters."""

from __future__ import annotations

from services import messages
from services.domain.message import Message


def test_a_message_becomes_its_sentence() -> None:
    message = Message("task.duplicate", {"id": "t1", "status": "queued"})
    assert messages.english(message) == "The same task is active already: t1 (queued)."


def test_an_unknown_code_shows_itself_and_a_missing_parameter_its_place() -> None:
    assert messages.english(Message("no.such.code")) == "no.such.code"
    assert messages.english(Message("task.unknown", {})) == "There is no task {id}."


def test_values_are_never_taken_for_templates() -> None:
    assert messages.english(Message("task.unknown", {"id": "{id} {0} %s"})) == "There is no task {id} {0} %s."
