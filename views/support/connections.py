"""The connections that a person may choose from, and what can be done with them."""

from __future__ import annotations

from typing import Protocol

import msgspec
from PySide6.QtCore import SignalInstance


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the list; words are already translated, no address has a password in it."""

    name: str
    title: str
    tag: str = ""
    production: bool = False
    local: bool = False
    read_only: bool = False
    address: str = ""
    places: tuple[str, ...] = ()  #: the same, a line for each part of it
    origin: str = ""  #: where it stands, when it was not made in the window
    fixed: str = ""  #: why it can be neither edited nor removed here, "" when it can
    opened: bool = False


class Connections(Protocol):
    """What menu and Settings page ask of the console. No call blocks."""

    @property
    def changed(self) -> SignalInstance:
        """The list is another one."""

    def rows(self) -> tuple[Connection, ...]:
        """All, in the order of their keys."""

    def choose(self, name: str) -> None:
        """Open another one."""

    def open_beside(self, name: str) -> None:
        """Open one in a window of its own, beside this one."""

    def add(self) -> None:
        """Ask for a new one."""

    def edit(self, name: str) -> None:
        """Show one to be changed."""

    def remove(self, name: str) -> None:
        """Strike one off, after a question."""
