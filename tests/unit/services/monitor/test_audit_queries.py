"""Questions to the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from services.commands.audit import Audit, undoing
from services.domain import audit
from services.domain.errors import OperatorError, UsageError
from services.monitor import audit as module
from services.monitor.audit import AuditQueries, TakenBack
from tests.unit.services.engine.room import Room, opened


@pytest.fixture
def trail(tmp_path: Path) -> Iterator[AuditQueries]:
    """Six acts, one an hour, by two people in turn."""
    with opened(tmp_path) as room:
        for number in range(6):
            acts(room, number)
            room.clock.advance(3600)
        yield AuditQueries(room.store)


def acts(room: Room, number: int) -> None:
    writer = Audit(room.store, "ann@desk" if number % 2 else "Bob@floor", via="window" if number % 2 else "cli")
    action = "dead.republish" if number < 3 else "task.cancel"
    with writer.act(action, [f"t{number}", "both"], {"reason": "stock taking"} if number == 4 else None) as act:
        act.counted(1, number % 3 // 2, "task.unknown")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", [5, 4, 3, 2, 1, 0]),
        ("who:ann*", [5, 3, 1]),
        ("who:ann", []),
        ("who:bob@floor action:dead.*", [2, 0]),
        ("-action:dead.*", [5, 4, 3]),
        ("target:t3", [3]),
        ("target:both outcome:partly", [5, 2]),
        ('detail:"stock taking"', [4]),
        ("STOCK", [4]),
        ("age<150m", [5, 4]),
        ("age>330m", [0]),
        ("nobody", []),
        ("who:ann@desk,bob@floor action:task.cancel,dead.archive", [5, 4, 3]),
        ('target:"t3",t5', [5, 3]),
        ("-target:t3,both", []),
        ("state:partly,refused", [5, 2]),
        ("since:150m", [5, 4]),
        ("until:330m", [0]),
        ("since:210m until:90m", [4, 3]),
        ("since:today", [5, 4, 3, 2, 1, 0]),
        ("until:yesterday", []),
        ("from:window", [5, 3, 1]),
        ("from:cli,rest -target:t4", [2, 0]),
        ("window", []),  # through what somebody acted is no word of the act
        ("-cli -detail:window -text:via", [5, 4, 3, 2, 1, 0]),
        ("stock detail:taking", [4]),
    ],
)
def test_filters(trail: AuditQueries, text: str, numbers: list[int]) -> None:
    found = trail.entries(text)
    assert [int(entry.target[0][1:]) for entry in found.entries] == numbers
    assert found.next == ""


def test_pages_follow_each_other(trail: AuditQueries) -> None:
    first = trail.entries("who:ann*", limit=2)
    assert [entry.target[0] for entry in first.entries] == ["t5", "t3"]
    assert first.next
    second = trail.entries("who:ann*", limit=2, before=first.next)
    assert ([entry.target[0] for entry in second.entries], second.next) == (["t1"], "")


def test_a_page_is_full_wherever_its_entries_lie(trail: AuditQueries, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.monitor.audit.PAGE", 1)
    monkeypatch.setattr("services.monitor.audit.SCAN_LIMIT", 1)
    assert trail.entries("target:t0").entries == ()
    assert [entry.target[0] for entry in trail.page("target:t0", limit=5).entries] == ["t0"]
    first = trail.page("who:ann*", limit=2)
    assert [entry.target[0] for entry in first.entries] == ["t5", "t3"]
    assert [entry.target[0] for entry in trail.page("who:ann*", limit=2, before=first.next).entries] == ["t1"]
    assert [entry.target[0] for entry in trail.each("action:task.*")] == ["t5", "t4", "t3"]


@pytest.mark.parametrize(
    "text",
    [
        *("colour:red", "undo:maybe", "undo<done", "who<ann", "age:2h", "age<soon", "since:soon", "until<1h"),
        *("state:refuesd", "from:window,phone", "ann who:", "action: dead.archive"),
    ],
)
def test_what_is_no_filter_is_refused(trail: AuditQueries, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        trail.entries(text)
    assert caught.value.field == "filter"


def pauses(room: Room, *, undone: int) -> AuditQueries:
    """Four pauses, of which the newest ones were taken back, the last first."""
    trail = AuditQueries(room.store, can_undo=lambda entry, _now: entry.action == "pause")
    writer = Audit(room.store, "ann@desk", via="window")
    for number in range(4):
        with writer.act("pause", [f"shop:{number}"]):
            pass
    for entry in trail.entries().entries[:undone]:
        room.clock.advance(60)
        with undoing([entry]), writer.act("resume", entry.target):
            pass
    return trail


def test_what_was_taken_back_is_told_of_apart_also_where_who_did_it_is_not_among_what_fits(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        trail = pauses(room, undone=2)
        whole = trail.entries()
        resumes = {audit.undoes(entry)[0]: entry.at for entry in whole.entries[:2]}
        assert whole.undone == resumes
        assert {audit.undone_act(entry) for entry in whole.entries[:2]} == {"pause"}
        done = trail.entries("undo:done action:pause")
        assert [entry.target[0] for entry in done.entries] == ["shop:3", "shop:2"]
        assert done.undone == resumes
        assert [entry.target[0] for entry in trail.entries("undo:possible").entries] == ["shop:1", "shop:0"]
        assert [entry.target[0] for entry in trail.entries("-undo:possible,done").entries] == ["shop:2", "shop:3"]
        # another program begins in the middle
        later = AuditQueries(room.store).entries(before=whole.entries[2].entry_id)
        assert later.entries[0].entry_id in later.undone


def test_what_took_an_act_back_and_was_taken_back_itself_leaves_it_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        trail = pauses(room, undone=1)
        resume, pause = trail.entries(limit=2).entries
        with undoing([resume]), Audit(room.store, "bob@desk").act("pause", pause.target):
            pass
        for queries in (trail, AuditQueries(room.store)):
            assert set(queries.entries().undone) == {resume.entry_id}


def test_what_only_tried_to_take_an_act_back_leaves_it_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        trail = pauses(room, undone=0)
        entry = trail.entries(limit=1).entries[0]
        with pytest.raises(OperatorError), undoing([entry]), Audit(room.store, "bob@desk").act("resume", entry.target):
            raise OperatorError("no")
        assert trail.entries().undone == {}


def test_what_was_done_in_part_and_taken_back_is_found_as_that(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        trail, writer = AuditQueries(room.store), Audit(room.store, "ann@desk")
        with writer.act("task.cancel", ["t1", "t2"]) as act:
            act.counted(1, 1)
        (entry,) = trail.entries().entries
        with undoing([entry]), writer.act("task.create_again", ["t1"]):
            pass
        assert [one.entry_id for one in trail.entries("undo:done").entries] == [entry.entry_id]


def test_what_was_taken_back_in_part_is_marked_so_until_the_rest_is(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        trail, writer = pauses(room, undone=0), Audit(room.store, "bob@desk")
        entry = trail.entries(limit=1).entries[0]
        with undoing([entry]), writer.act("resume", ["shop:3", "shop:4"]) as act:
            act.counted(1, 1)
        resumed = trail.entries(limit=1).entries[0]
        for queries in (trail, AuditQueries(room.store)):
            found = queries.entries()
            assert (set(found.undone), found.partly) == ({entry.entry_id}, {entry.entry_id})
            assert [one.entry_id for one in queries.entries("undo:done").entries] == [entry.entry_id]
        assert trail.page(limit=2).partly == {entry.entry_id}
        room.clock.advance(60)
        with undoing([entry]), writer.act("resume", ["shop:4"]):
            pass
        assert trail.entries().partly == frozenset()
        assert set(trail.entries().undone) == {entry.entry_id}
        with undoing([resumed]), writer.act("pause", ["shop:3", "shop:4"]) as act:
            act.counted(1, 1)
        assert {entry.entry_id, resumed.entry_id} <= set(AuditQueries(room.store).entries().undone)


def test_what_took_an_act_back_and_was_taken_back_in_part_leaves_that_act_taken_back_in_part(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        trail = pauses(room, undone=1)
        resumed, entry = trail.entries(limit=2).entries
        far = AuditQueries(room.store)
        assert far.entries(before=entry.entry_id).partly == frozenset()
        with undoing([resumed]), Audit(room.store, "bob@desk").act("pause", ["shop:3", "shop:4"]) as act:
            act.counted(1, 1)
        both = {entry.entry_id, resumed.entry_id}
        assert AuditQueries(room.store).entries().partly == both
        assert far.entries(before=entry.entry_id).partly == both, "also where only what is new is read"


def test_what_was_open_as_the_newest_entries_were_met_takes_back_an_act_once_it_is_done(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        entry = pauses(room, undone=0).entries(limit=1).entries[0]
        known = TakenBack()

        def undone() -> Mapping[str, int]:
            return AuditQueries(room.store, undone=known).entries(before=entry.entry_id).undone

        with ExitStack() as stack:
            with undoing([entry]):
                stack.enter_context(Audit(room.store, "bob@desk").act("resume", entry.target))
            assert undone() == {}
            room.clock.advance(3600)  # of very many tasks
            acts(room, 7)
            assert undone() == {}
        assert set(undone()) == {entry.entry_id}


class Counted:
    """A store that counts the pages which are read of its audit."""

    def __init__(self, store: object) -> None:
        self._store, self.pages = store, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def audit(self, limit: int, before: str = "") -> object:
        self.pages += 1
        return self._store.audit(limit, before)  # type: ignore[attr-defined]


def test_a_day_is_counted_on_from_what_was_counted_before(tmp_path: Path) -> None:
    with opened(tmp_path) as room:
        for number in range(450):
            acts(room, number)
        store = Counted(room.store)
        queries = AuditQueries(store)  # type: ignore[arg-type]
        day = queries.day()
        assert (sum(day.people), day.names) == (450, 2)
        first, store.pages = store.pages, 0
        with Audit(room.store, "rule x").act("pause", ["all"]) as act:
            day = queries.day()
            assert (sum(day.people), sum(day.programs), sum(day.refused)) == (450, 1, 0)
            act.outcome = "refused: no"
        day = queries.day()
        assert (sum(day.people), sum(day.programs), sum(day.refused)) == (450, 1, 1)
        assert first >= 3
        assert store.pages == 2
        room.clock.advance(86_400 + 600)
        day = queries.day()
        assert (sum(day.people), sum(day.programs), day.names) == (0, 0, 0)


def test_a_page_far_down_costs_no_more_than_the_first_whoever_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE", 20)
    with opened(tmp_path) as room:
        for number in range(200):
            room.clock.advance(30)
            with Audit(room.store, "ann@desk").act("pause", [f"shop:{number}"]):
                pass
        trail = AuditQueries(room.store)
        (deep,) = trail.entries(f"target:shop:{10}").entries
        store, known = Counted(room.store), TakenBack()
        before, spent = "", []
        for _ in range(30):
            store.pages = 0
            page = AuditQueries(store, undone=known).entries(limit=5, before=before)  # type: ignore[arg-type]
            before = page.next
            spent.append(store.pages)
        assert max(spent) <= 4, spent
        # what is done since is told of, also far down
        with undoing([deep]), Audit(room.store, "bob@desk").act("resume", deep.target):
            last = AuditQueries(store, undone=known).entries("target:shop:10", before=before)  # type: ignore[arg-type]
            assert (last.entries, last.undone) == ((deep,), {}), "it is not done yet"
        last = AuditQueries(store, undone=known).entries("target:shop:10", before=before)  # type: ignore[arg-type]
        assert set(last.undone) == {deep.entry_id}
