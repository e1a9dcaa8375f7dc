"""Where a cause lies, told from who ran the same work: patterns of failures and their verdicts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from services.domain.insight import reach
from services.domain.insight.reach import Ran
from services.messages import english

HOUR = 3_600_000


def runs(
    platform: str,
    count: int,
    failed: int,
    *,
    nodes: Sequence[str] = ("",),
    version: str = "",
    proxy: str = "",
    first: int = 0,
) -> list[Ran]:
    """One run each of so many shops, of which the first so many failed, on these machines in turn."""
    return [
        Ran(
            shop=f"{platform}:s{number}",
            platform=platform,
            node=nodes[number % len(nodes)],
            version=version,
            proxy=proxy,
            failed=number - first < failed,
        )
        for number in range(first, first + count)
    ]


ABC = ("a", "b", "c")
#: name, what ran, kind of the failure, where it lies, the sentence
PATTERNS: tuple[tuple[str, list[Ran], str, tuple[str, tuple[str, ...]], str], ...] = (
    (
        "a page", [*runs("temu", 15, 14), *runs("pdd", 20, 0)], "", ("platform", ("temu",)),
        "14 of 15 TEMU shops that ran it: page or risk control",
    ),
    (
        "a page, on all machines", [*runs("temu", 15, 14, nodes=ABC), *runs("pdd", 20, 0, nodes=ABC)],
        "element_not_found", ("platform", ("temu",)), "14 of 15 TEMU shops that ran it: its page",
    ),
    (
        "risk control", [*runs("temu", 9, 8, nodes=ABC), *runs("jd", 9, 0, nodes=ABC)], "risk_control",
        ("platform", ("temu",)), "8 of 9 TEMU shops that ran it: risk control",
    ),
    (
        "servers of a platform", [*runs("temu", 9, 9, nodes=ABC), *runs("jd", 9, 0, nodes=ABC)], "network",
        ("platform", ("temu",)), "9 of 9 TEMU shops that ran it: its servers, or the way there",
    ),
    (
        "a machine", [*runs("pdd", 2, 2, nodes=("desk-02",)), *runs("pdd", 10, 0, nodes=("desk-01",), first=2)], "",
        ("node", ("desk-02",)), "2 of 2 shops on node desk-02: that machine",
    ),
    (
        "a machine, several platforms",
        [
            *runs("pdd", 3, 3, nodes=("desk-02",)), *runs("temu", 3, 3, nodes=("desk-02",)),
            *runs("pdd", 6, 0, nodes=("desk-01",), first=9), *runs("temu", 6, 0, nodes=("desk-01",), first=9),
        ],
        "", ("node", ("desk-02",)), "6 of 6 shops on node desk-02: that machine",
    ),
    (
        "a machine, where the same shops go well on another",
        [*runs("pdd", 6, 6, nodes=("desk-02",)), *runs("pdd", 6, 0, nodes=("desk-01",))], "network",
        ("node", ("desk-02",)), "6 of 6 shops on node desk-02: that machine",
    ),
    (
        "a machine, with one failure elsewhere",
        [
            *runs("pdd", 9, 8, nodes=("desk-02",)), *runs("temu", 5, 5, nodes=("desk-02",)),
            *runs("pdd", 30, 1, nodes=("desk-01",), first=20), *runs("temu", 12, 0, nodes=("desk-01",), first=20),
        ],
        "", ("node", ("desk-02",)), "13 of 14 shops on node desk-02: that machine",
    ),
    (
        "two machines",
        [*runs("pdd", 12, 12, nodes=("a", "b")), *runs("pdd", 12, 0, nodes=("c", "d"), first=12)], "",
        ("node", ("a", "b")), "12 of 12 shops on the nodes a, b: those machines",
    ),
    (
        "a version on two machines",
        [
            *runs("pdd", 6, 6, nodes=("a", "b"), version="1.4.2"),
            *runs("temu", 6, 6, nodes=("a", "b"), version="1.4.2"),
            *runs("pdd", 6, 0, nodes=("c", "d"), version="1.4.1", first=9),
            *runs("temu", 6, 0, nodes=("c", "d"), version="1.4.1", first=9),
        ],
        "", ("version", ("1.4.2",)), "12 of 12 shops on workers of version 1.4.2: that version",
    ),
    (
        "a proxy",
        [*runs("pdd", 5, 5, nodes=("a", "b"), proxy="10.0.0.1:80"),
         *runs("temu", 5, 5, nodes=("a", "b"), proxy="10.0.0.1:80"),
         *runs("pdd", 8, 0, nodes=("a", "b"), proxy="10.0.0.2:80", first=9)],
        "network", ("proxy", ("10.0.0.1:80",)), "10 of 10 shops through the proxy 10.0.0.1:80: that proxy",
    ),
    (
        "the flow itself", [*runs("pdd", 10, 10), *runs("temu", 10, 9), *runs("shopee", 5, 5)], "crashed", ("all", ()),
        "24 of 25 shops that ran it, on every platform: the flow itself, or what all share",
    ),
    (
        "the network of all", [*runs("pdd", 5, 5, nodes=ABC), *runs("temu", 5, 5, nodes=ABC)], "network", ("all", ()),
        "10 of 10 shops that ran it, on every platform: the network that all share",
    ),
    (
        "one platform alone runs it", runs("pdd", 15, 15, nodes=("a", "b")), "", ("platform", ("pdd",)),
        "15 of 15 PDD shops that ran it, and no other did: page, risk control or the flow",
    ),
    (
        "two platforms of four",
        [*runs("pdd", 8, 8), *runs("temu", 8, 8), *runs("jd", 8, 0), *runs("shopee", 8, 0)], "",
        ("platform", ("pdd", "temu")), "16 of 16 PDD, TEMU shops that ran it: page or risk control",
    ),
    (
        "half of a platform", [*runs("temu", 20, 10), *runs("pdd", 20, 0)], "captcha", ("platform", ("temu",)),
        "10 of 20 TEMU shops that ran it: risk control",
    ),
    (
        "one shop", [*runs("pdd", 12, 1, nodes=ABC), *runs("temu", 5, 0, nodes=ABC)], "", ("shop", ("pdd:s0",)),
        "1 of 17 shops that ran it: pdd:s0 itself",
    ),
    (
        "one shop on each of its machines",
        [*runs("pdd", 1, 1, nodes=("a",)), *runs("pdd", 1, 1, nodes=("b",)),
         *runs("pdd", 9, 0, nodes=("a", "b"), first=1)],
        "", ("shop", ("pdd:s0",)), "1 of 10 shops that ran it: pdd:s0 itself",
    ),
    (
        "single shops of a platform", [*runs("pdd", 13, 3), *runs("temu", 27, 0)], "", ("single", ()),
        "3 of 40 shops that ran it, with nothing else in common: single shops",
    ),
    (
        "single shops of two platforms", [*runs("pdd", 9, 2), *runs("temu", 9, 2)], "", ("single", ()),
        "4 of 18 shops that ran it, with nothing else in common: single shops",
    ),
    (
        "many shops, with noise",
        [*runs("temu", 150, 140, nodes=ABC), *runs("pdd", 300, 4, nodes=ABC), *runs("jd", 50, 1, nodes=ABC)], "",
        ("platform", ("temu",)), "140 of 150 TEMU shops that ran it: page or risk control",
    ),
    (
        "nobody else ran it", runs("pdd", 2, 2), "", ("few", ()),
        "2 of 2 shops that ran it: too few ran it to tell where it lies",
    ),
    ("nothing is known of what ran", [], "", ("nothing", ()), "what ran meanwhile is not known any more"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("ran", "kind", "where", "said"), [one[1:] for one in PATTERNS], ids=[one[0] for one in PATTERNS]
)
def test_where_a_cause_lies(ran: list[Ran], kind: str, where: tuple[str, tuple[str, ...]], said: str) -> None:
    found = reach.judge(ran, kind)
    assert (found.at, tuple(sorted(found.values))) == where
    assert english(found.message) == said
    again = reach.judge(reversed(ran), kind)
    assert (again.at, sorted(again.values), again.failed, again.ran) == (
        found.at, sorted(found.values), found.failed, found.ran,
    ), "the order in which they are told does not matter"  # fmt: skip


def test_what_cannot_be_told_apart_is_named_beside_it() -> None:
    ran = [*runs("temu", 6, 6, nodes=("desk-02",)), *runs("pdd", 8, 0, nodes=("desk-01",))]
    found = reach.judge(ran)
    assert (found.at, found.beside) == ("platform", (("node", "desk-02"),))
    assert [english(one) for one in found.rest] == ["or the machine desk-02: all of them ran there"]


def test_what_failed_elsewhere_is_said() -> None:
    found = reach.judge([*runs("temu", 15, 14), *runs("pdd", 20, 1)])
    assert [english(one) for one in found.rest] == ["elsewhere 1 of 20"]


def test_the_matrix_counts_shops_and_not_attempts() -> None:
    ran = [*runs("temu", 2, 1, nodes=("a",)), *runs("temu", 2, 1, nodes=("a",)), *runs("pdd", 3, 0, nodes=("b",))]
    found = reach.judge(ran)
    assert {name: [(one.value, one.failed, one.ran) for one in rows] for name, rows in found.tables.items()} == {
        "platform": [("temu", 1, 2), ("pdd", 0, 3)],
        "node": [("a", 1, 2), ("b", 0, 3)],
    }
    assert [(one.value, one.failed, one.ran) for one in found.shops[:2]] == [("temu:s0", 2, 2), ("temu:s1", 0, 2)]


@pytest.mark.parametrize(
    ("hours_ago", "goes"),
    [
        ((0.9, 0.5, 0.1), reach.NEW),
        ((5, 4, 3, 2, 0.9, 0.8, 0.5, 0.1), reach.GROWING),
        ((5.5, 4.5, 3.5, 2.5, 1.5, 0.5), reach.STEADY),
        ((5, 4.9, 4.5, 4, 3.9, 3, 2.5), reach.FADING),
        ((30, 20, 7), reach.OVER),
        ((), reach.OVER),
    ],
)
def test_how_a_cause_goes(hours_ago: tuple[float, ...], goes: str) -> None:
    now = 1_000 * HOUR
    assert reach.trend([now - round(one * HOUR) for one in hours_ago], now) == goes


def test_the_rest_of_a_verdict_names_each_dimension_it_may_be() -> None:
    every = [*reach.DIMENSIONS, reach.SHOP]
    for one, other in itertools.permutations(every, 2):
        found = reach.Reach(at=one, values=("x",), failed=1, ran=1, beside=((other, "y"),))
        assert "y" in english(found.rest[0]).lower()
        assert english(found.message)
