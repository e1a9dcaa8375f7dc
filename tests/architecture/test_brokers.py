"""A broker is a folder and a line: nobody else asks which one is there, or speaks one protocol's words."""

from __future__ import annotations

import ast
import re

from services.broker.listed import KINDS
from tests.architecture.source import ROOT, imported, modules

DRIVERS = {path.parent.name for path in (ROOT / "services" / "broker").glob("*/broker.py")}
#: what only one protocol has, in names and texts of the domain, the engine and what works and asks over them
WORDS = re.compile(r"amqp|x-death|x-first-death|exchanges?\b|\bvhost", re.IGNORECASE)
NEUTRAL = ("domain", "engine", "ports", "workers", "watch", "commands")
#: the sentences of refusals of all drivers stand together
SPOKEN = {"services/domain/text/refusals.py"}


def test_every_driver_of_a_server_is_in_the_list() -> None:
    listed = {kind.open.__module__.split(".")[2] for kind in KINDS}
    assert listed == DRIVERS - {"sqlite"}
    schemes = [scheme for kind in KINDS for scheme in kind.schemes]
    assert len(schemes) == len(set(schemes))
    assert all(kind.secure in kind.schemes and kind.like.startswith(kind.schemes) for kind in KINDS)


def test_only_the_list_and_who_assembles_name_a_driver() -> None:
    named = {
        str(path)
        for path, tree in modules()
        for name in imported(tree)
        if name.startswith(tuple(f"services.broker.{driver}" for driver in DRIVERS))
        and not str(path).startswith(tuple(f"services/broker/{driver}/" for driver in DRIVERS))
    }
    assert named == {"services/assembly.py", "services/broker/listed.py"}


def test_nobody_asks_which_broker_it_is() -> None:
    asked = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for one in (node.left, *node.comparators)
        if isinstance(one, ast.Constant) and one.value in {kind.name.lower() for kind in KINDS}
    ]
    assert not asked, "ask Broker.capabilities what it can"


def test_what_is_decided_for_all_brokers_speaks_the_words_of_none() -> None:
    spoken = [
        f"{path}: {found[0]}"
        for path, _ in modules()
        if path.parts[:1] == ("services",) and path.parts[1] in NEUTRAL and str(path) not in SPOKEN
        if (found := WORDS.search((ROOT / path).read_text(encoding="utf-8")))
    ]
    assert not spoken
