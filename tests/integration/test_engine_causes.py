"""A cause is split by where its letters died, on both pairs: the part has its own letters, filter and decisions."""

from __future__ import annotations

from services import assembly
from services.domain.task.search.filter import format_terms
from services.domain.task.status import Status
from tests.integration.fleet_rig import Fleet


def test_the_letters_of_one_worker_are_a_cause_of_their_own(fleet: Fleet) -> None:
    first = fleet.worker(1)
    ids = [fleet.create(f"s{n}", fail="page_changed", max_retries=0) for n in range(2)]
    fleet.wait_ended(ids)
    first.stop()
    second = fleet.worker(1)
    other = fleet.create("s9", fail="page_changed", max_retries=0)
    fleet.wait_ended([other])
    assert {fleet.task(one).status for one in (*ids, other)} == {Status.DEAD}
    questions, causes = assembly.queries(fleet.engine), fleet.commands().causes
    (whole,) = questions.causes.causes().rows
    assert dict(whole.places)[f"worker:{second.name}"] == 1
    part = causes.split_off(whole.fingerprint, f"worker:{second.name}")
    causes.know(part, owner="bob")
    rows = {one.fingerprint: one for one in questions.causes.causes().rows}
    assert {name: (one.count, one.rule.owner) for name, one in rows.items()} == {
        whole.fingerprint: (2, ""), part: (1, "bob"),
    }  # fmt: skip
    found = {
        name: sorted(task.task_id for task in questions.tasks.page(format_terms(one.terms)).tasks)
        for name, one in rows.items()
    }
    assert found == {whole.fingerprint: sorted(ids), part: [other]}
    entry = next(one for one in fleet.engine.store.audit(10) if one.action == "cause.split")
    assert entry.target[0] == whole.fingerprint
    assert causes.join(part) == whole.fingerprint
    assert [one.count for one in questions.causes.causes().rows] == [3]
