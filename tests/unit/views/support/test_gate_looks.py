"""Every gate has its word in the window, and every switch its look there."""

from __future__ import annotations

from services import called
from services.domain.gates import listed
from services.domain.insight.gates import GATES
from views.theme.tokens import STATUSES
from views.widgets.heat_map.paint import LOOKS


def test_lists_offer_the_gates_in_their_order() -> None:
    assert tuple(called.GATE_WORDS) == GATES


def test_a_shop_behind_a_switch_has_a_look_of_its_own_everywhere() -> None:
    for gate in listed.SWITCHES:
        assert gate in STATUSES
        assert gate in LOOKS
