"""Machines: what works on each, and whose versions are not those of most."""

from __future__ import annotations

from services.domain.fleet.worker import WorkerInfo
from services.domain.insight import machines
from services.domain.insight import worker as insight

NOW = 1_000_000


def worker(name: str, node: str, **more: object) -> WorkerInfo:
    values: dict[str, object] = {"worker": name, "host": node, "node": node, "pid": 1, "seen_at": NOW, "version": "1.0"}
    return WorkerInfo(**{**values, **more})  # type: ignore[arg-type]


def look(*workers: WorkerInfo) -> dict[str, machines.MachineNow]:
    return {one.name: one for one in machines.look(insight.look(workers, NOW).workers)}


def test_what_most_machines_have_is_the_measure() -> None:
    found = look(
        worker("a1", "a", versions={"python": "3.11.9"}),
        worker("a2", "a", versions={"python": "3.11.9"}),
        worker("b", "b", versions={"python": "3.11.9"}),
        worker("c", "c", versions={"python": "3.9.2"}, version="1.1"),
        worker("gone", "d", seen_at=NOW - 900_000),
    )
    assert list(found) == ["a", "b", "c"]
    assert found["a"].workers == ("a1", "a2")
    assert found["a"].differs == found["b"].differs == ()
    assert [(one.part, one.own, one.others) for one in found["c"].differs] == [
        ("fleetdeck", ("1.1",), "1.0"),
        ("python", ("3.9.2",), "3.11.9"),
    ]


def test_of_equally_many_the_newest_counts_and_two_on_one_machine_differ() -> None:
    found = look(
        worker("a", "a", versions={"chromium": "99.0.1"}),
        worker("b", "b", versions={"chromium": "140.0.2"}),
        worker("c", "c"),
    )
    assert [one.part for one in found["a"].differs] == ["chromium"]
    assert found["b"].differs == found["c"].differs == (), "who tells no version does not differ"
    both = look(worker("a", "a"), worker("b", "a", version="1.1"))
    assert both["a"].version("fleetdeck") == "1.0, 1.1"
    assert [one.own for one in both["a"].differs] == [("1.0", "1.1")]
