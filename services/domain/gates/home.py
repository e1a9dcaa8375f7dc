"""The home of a shop: the machine on which its browser profile lives.

A *node* is a machine with one home folder, however many workers run there. A task that needs the profile and was
delivered elsewhere waits at this gate for its own node.
"""

from __future__ import annotations

import re

import msgspec

from services.domain.gates.dependency import GATE as DEPENDENCY
from services.domain.upkeep.stored import Instant

GATE = "home_node"
NO_WORKER = "no_worker"
_AT = f"{GATE}:"
_NODE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


class Home(msgspec.Struct, frozen=True, kw_only=True):
    """Where a shop is at home."""

    shop: str  #: platform:shop_id
    node: str
    since: Instant = 0  #: UTC ms: its first claim there, or the command that moved it


class HomeNow(msgspec.Struct, frozen=True, kw_only=True):
    """The home of a task's shop, as its workers tell of it."""

    node: str
    alive: int = 0  #: running workers there
    able: int = 0  #: those that can run the task, in its lane
    free: int = 0  #: their slots without a task
    seen_at: int = 0  #: when one was heard of last, UTC ms; 0: none that is remembered


def valid_node(text: object) -> bool:
    """Whether this can be the name of a node."""
    return isinstance(text, str) and _NODE.match(text) is not None


def gate_of(node: str) -> str:
    """What a record that waits for a node has as its gate."""
    return _AT + node


def node_of(gate: str) -> str:
    """The node that a gate names, "" for any other gate."""
    return gate[len(_AT) :] if gate.startswith(_AT) else ""


def name_of(gate: str) -> str:
    """The gate without the node."""
    return gate.partition(":")[0]


def is_fetched(gate: str) -> bool:
    """Whether workers fetch what waits at a gate by themselves: those that can run it, or those of its node."""
    return gate == NO_WORKER or gate.startswith(_AT)


def in_lot(gate: str) -> bool:
    """Whether a parked task stands in its shop's lot."""
    return gate != DEPENDENCY and not is_fetched(gate)
