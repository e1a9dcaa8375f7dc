"""Views that several people share and change in the same moment."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import msgspec
import pytest

from services import i18n
from services.commands.audit import Audit
from services.commands.operator import Operator
from services.commands.views import ViewCommands
from services.domain.errors import UsageError
from services.domain.task.search import shared_view
from services.domain.task.search.shared_view import VERSIONS, SharedView
from services.messages import told
from tests.unit.services.engine.room import Room

PEOPLE = 6
MINE = SharedView(key="", title="Mine", filter="status:dead")


def views(room: Room, who: str = "ann") -> ViewCommands:
    return ViewCommands(room.store, Audit(room.store, who), Operator(who=f"{who}@desk", role="operator"))


def at_once(room: Room, act: Callable[[ViewCommands, int], SharedView]) -> tuple[list[SharedView], list[UsageError]]:
    barrier = Barrier(PEOPLE)

    def one(number: int) -> SharedView | UsageError:
        mine = views(room, f"p{number}")
        barrier.wait()
        try:
            return act(mine, number)
        except UsageError as exc:
            return exc

    with ThreadPoolExecutor(PEOPLE) as pool:
        found = list(pool.map(one, range(PEOPLE)))
    return [one for one in found if isinstance(one, SharedView)], [one for one in found if isinstance(one, UsageError)]


def test_of_several_who_change_a_view_at_once_one_does_and_the_others_hear_it(room: Room) -> None:
    made = views(room).share(MINE)
    for _ in range(4):
        kept, refused = at_once(
            room, lambda mine, number, made=made: mine.share(msgspec.structs.replace(made, filter=f"shop:s{number}"))
        )
        assert len(kept) == 1
        assert {one.field for one in refused} == {"version"}
        assert views(room).known() == kept
        assert f"{made.key}@{made.version}" in room.store.documents(VERSIONS)
        made = kept[0]


def test_of_several_who_share_under_one_name_at_once_one_does(room: Room) -> None:
    kept, refused = at_once(room, lambda mine, _number: mine.share(MINE))
    assert len(kept) == 1
    assert {one.field for one in refused} == {"title"}
    assert views(room).known() == kept


def test_a_name_is_free_again_when_its_view_is_called_otherwise(room: Room) -> None:
    first = views(room).share(MINE)
    views(room).share(msgspec.structs.replace(first, title="Yours"))
    second = views(room).share(MINE)
    assert second.key != first.key
    assert [one.title for one in views(room).known()] == ["Mine", "Yours"]


def test_a_view_that_is_shared_again_does_not_pass_for_the_one_that_was_removed(room: Room) -> None:
    first = views(room).share(MINE)
    second = views(room).share(msgspec.structs.replace(first, filter="shop:s1"))
    views(room).remove(second.key)
    again = views(room).share(MINE)
    assert again.key == first.key
    for old in (first, second):
        with pytest.raises(UsageError, match="changed the view Mine meanwhile"):
            views(room, "bo").share(msgspec.structs.replace(old, filter="shop:s2"))
    views(room).share(msgspec.structs.replace(again, filter="shop:s3"))
    kept = room.store.documents(VERSIONS)
    assert sorted(kept) == [f"{first.key}@{number}" for number in (1, 2, 3)]
    assert [shared_view.DOCUMENT.load(kept[f"{one.key}@{one.version}"]) for one in (first, second, again)] == [
        first,
        second,
        again,
    ]


def test_a_refusal_is_said_in_the_language_of_the_window(room: Room) -> None:
    views(room).share(MINE)
    with pytest.raises(UsageError, match="there is a shared view named Mine already") as refused:
        views(room, "bo").share(MINE)
    with i18n.speaking("zh_CN"):
        assert told(refused.value) == "已经有名为 Mine 的共享视图；请换一个名字"
