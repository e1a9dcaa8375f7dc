"""Errors of the program: one root, five families; the text of each says what to do."""

from __future__ import annotations

from collections.abc import Iterable


class ConsoleError(Exception):
    """Root of everything that Fleetdeck raises on purpose."""


class BrokerError(ConsoleError):
    """The message broker did not do what was asked."""


class BrokerUnavailable(BrokerError):
    """The broker does not answer; try again later."""


class TopologyMismatch(BrokerError):
    """What is needed at the broker exists with other arguments; nothing was changed."""


class StoreError(ConsoleError):
    """The store did not do what was asked."""


class StoreUnavailable(StoreError):
    """The store does not answer; nothing was changed by the caller's knowledge, repeat the same call."""


class StoreClosed(StoreUnavailable):
    """This process has given the store back; whoever still asks is not wanted any more."""


class Forbidden(StoreError):
    """The account of this program lacks a right there; nothing was changed, repeat the same call once it has it."""


class Unreadable(StoreError):
    """Something in the store is none of ours and stands in the way; the doctor names it, repair sets it aside."""


class SchemaTooNew(StoreError):
    """The data was written by a newer program; open it read-only or update."""


class TaskError(ConsoleError):
    """A task or its message is not acceptable."""


class BadMessage(TaskError):
    """The bytes of a message are not a task."""

    def __init__(self, text: str, kind: str = "bad_message") -> None:
        super().__init__(text)
        self.kind = kind


class ArtifactError(ConsoleError):
    """A file of a task could not be kept or found; the task itself is what it is."""


class OperatorError(ConsoleError):
    """What a person asked for cannot be done; ``field`` names what to change, ``others`` what may be changed as well:
    they are wrong only together.
    """

    def __init__(self, text: str, field: str = "", others: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.field, self.others = field, tuple(others)


class NotAllowed(OperatorError):
    """The person's role does not permit it."""


class UsageError(OperatorError):
    """The input itself is wrong (exit code 2 on the command line)."""


class NotFound(UsageError):
    """What was named is not there."""
