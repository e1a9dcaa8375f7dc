"""What waits for what in a batch, as boxes: what stands before and behind the one that is looked at."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from services.domain.insight.batch import Box, Edge, Story
from views.pages.batches.bar import Boxes

pytestmark = pytest.mark.one_pair

ORDERS, GOODS, STOCK, REPORT = (("orders", "pdd"), ("goods", "pdd"), ("stock", "temu"), ("report", ""))


def test_the_mouse_lights_all_that_a_box_waits_for_and_all_that_waits_for_it(qtbot: QtBot) -> None:
    depths = {ORDERS: 0, STOCK: 0, GOODS: 1, REPORT: 2}
    boxes = Boxes()
    qtbot.addWidget(boxes)
    boxes.show_story(
        Story(
            boxes=tuple(Box(*key, {"done": 1}, depth) for key, depth in depths.items()),
            edges=(Edge(ORDERS, GOODS), Edge(GOODS, REPORT), Edge(STOCK, REPORT)),
        )
    )
    boxes.resize(900, 300)
    boxes.show()
    qtbot.waitExposed(boxes)
    boxes.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # of the mouse alone
    assert boxes.lit() == ()

    def lit(key: tuple[str, str]) -> set[tuple[str, str]]:
        qtbot.mouseMove(boxes, boxes.place(key).center().toPoint())
        return set().union(*boxes.lit())

    assert lit(ORDERS) == {ORDERS, GOODS, REPORT}
    assert lit(GOODS) == {ORDERS, GOODS, REPORT}, "what else the report waits for has nothing to do with it"
    assert lit(REPORT) == {ORDERS, GOODS, STOCK, REPORT}
    assert lit(STOCK) == {STOCK, REPORT}
    QApplication.sendEvent(boxes, QEvent(QEvent.Type.Leave))
    assert boxes.lit() == (), "no box is under the mouse any more"
