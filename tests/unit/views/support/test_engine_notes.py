"""What the engine writes beside the errors of tasks (notes of its pauses and closed shops, what connections meet), in a
Chinese window: no English is left in it but ids, names and what servers said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from services import i18n, messages
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.gates.session import ClosedSession
from services.domain.insight import shop as shops
from services.domain.insight import wait
from services.domain.insight.shop import ShopFacts
from services.domain.task import own_words
from services.domain.task.record import Task
from services.domain.task.status import Status
from services.domain.text.message import Message
from services.monitor.overview import Attention
from views.dialogs.confirm import ConfirmDialog
from views.dialogs.resuming import ask_to_resume
from views.pages.overview.words import row_of
from views.pages.shops import words as shop_page
from views.pages.tasks.panel.detail import facts
from views.pages.workers import nodes
from views.support import shown
from views.support.words import shop as shop_words

NOW = 10_000_000
#: ids and names that stand in what is made here, and what no language translates
NAMES = {"work", "pdd", "s1", "w1", "RabbitMQ", "mq", "Fleetdeck", "Redis", "SQLite", "rpa", "gen", "attempt", "task",
         "normal", "t1", "consumer_timeout"}  # fmt: skip
POLICY, ENTRY = own_words.write("own.policy_aside"), own_words.write("own.entry_aside")
PAUSES = (
    Pause(scope="type:work", by=own_words.REPAIR, at=NOW - 60_000, reason=POLICY),
    Pause(scope="shop:pdd:s1", by=own_words.REPAIR, at=NOW - 60_000, reason=ENTRY),
)
CLOSED = ClosedSession(shop="pdd:s1", kind="login_expired", since=NOW - 60_000, by=own_words.REPAIR, note=ENTRY)
#: said within a sentence only
KINDS = {"own.an_object", "own.a_list", "own.text", "own.a_text", "own.true_or_false", "own.null", "own.a_number"}
TASK = Task(task_id="t1", platform="pdd", shop_id="s1", task_type="work", status=Status.BLOCKED, created_at=1)


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    """The language of the window."""
    i18n.set_language("zh_CN")
    yield
    i18n.set_language("en")


def english_in(words: str) -> list[str]:
    """Words that nobody translated."""
    return [one for one in re.findall(r"[A-Za-z][A-Za-z_]+[0-9]*|[A-Za-z]+[0-9]+", words) if one not in NAMES]


@pytest.mark.parametrize("pause", PAUSES, ids=lambda one: one.scope)
def test_a_pause_of_the_repair(pause: Pause, qtbot: QtBot) -> None:
    facts_ = wait.Facts(now_ms=NOW, pauses=(pause,))
    told = wait.closed(wait.why_waiting(TASK, facts_))
    assert told is not None
    shop = Shop(platform="pdd", shop_id="s1", name="店")
    now = shops.judge(ShopFacts(shop=shop, pauses=(pause,), paused_types=("work",)), NOW)
    item = Attention(
        key="p", severity="paused", code="attention.paused_type_noted", since_ms=1,
        params={"type": "店", "who": pause.by, "reason": pause.reason, "waiting": 2},
    )  # fmt: skip
    owner = QWidget()
    qtbot.addWidget(owner)
    ask_to_resume(pause, lambda: "店", ("ann@desk", NOW), owner, lambda: None)
    (dialog,) = owner.findChildren(ConfirmDialog)
    asked = " ".join(one.text() for one in dialog.findChildren(QLabel))
    row = row_of(item, NOW)
    for words in (shown.say(told.message), shop_words.why(now, NOW), row.title, row.sentence, asked):
        assert words
        assert english_in(words) == [], words
    assert "修复" in row.sentence


def test_a_shop_that_the_repair_closed() -> None:
    told = wait.closed(wait.why_waiting(TASK, wait.Facts(now_ms=NOW, session=CLOSED)))
    assert told is not None
    for words in (shown.say(told.message), shop_page.told_by(CLOSED)):
        assert "修复" in words
        assert english_in(words) == [], words


@pytest.mark.parametrize(
    "error",
    [
        "Connection to RabbitMQ at mq:5672 lost: the connection was lost.",
        "Connection to RabbitMQ at mq:5672 lost: no heartbeat came from the broker.",
        "Connection to RabbitMQ at mq:5672 lost: the broker held publishers back for too long.",
        "Nothing listens at mq:5672: start RabbitMQ or correct the broker address.",
        "RabbitMQ at mq:5672 did not answer within 5 s: check the address and the server.",
        own_words.write("own.broker_holds", place="mq:5672", why="低"),
        own_words.write("own.queues_away", names="rpa"),
        own_words.write("own.channel_closed", why="404"),
        own_words.write("own.channel_shops", why="404"),
        own_words.write("own.held_too_long", why="406"),
    ],
)
def test_what_the_connections_of_a_worker_meet(error: str) -> None:
    link = LinkState(error=error, lost_at=NOW)
    info = WorkerInfo(worker="w1", host="h", pid=1, seen_at=NOW, slots=(SlotState(),), link=link)
    assert [one for one in english_in(nodes.abilities(info)) if one != "s"] == [], nodes.abilities(info)
    assert english_in(messages.told(error)) == [], "as the pill of the top bar says it"


@pytest.mark.parametrize("code", sorted(own_words.SENTENCES))
def test_every_sentence_of_the_engine_is_found_again(code: str) -> None:
    put = {
        "url": "/7",
        "status": "777",
        "step": "7 gen",
        "given": "null",
        "lacking": "task_id",
        "fingerprint": "7" * 16,
    }
    words = own_words.write(
        code, **{name: put.get(name, "7") for name in re.findall(r"{(\w+)}", own_words.SENTENCES[code])}
    )
    told = messages.render(Message("own.msg_object", {"given": words})) if code in KINDS else messages.own(words)
    told = messages.noted(words) if words in (own_words.REPAIR, own_words.SAMPLE_FLEET) else told
    assert told != words
    known = {
        "JSON", "HTTP", "MB", "ASCII", "UTF", "utf", "ISO", "T08", "application", "json", "http", "https", "method",
        "strict_types", "consumer_timeout", "fleetdeck", "browser", "Chromium", "chromium", "sandbox",
        "ConnectionResetError", "download",
        "task_id", "shop_id", "payload", "priority", "high", "low", "created_at", "content_type", "content_encoding",
    }  # fmt: skip
    names = re.compile(r"[a-z]+(?:\.\w+)+", re.ASCII)  # of settings and of fields
    assert set(english_in(names.sub("", told))) <= known, told


@pytest.mark.parametrize("origin", ["console", "cli", "file", "import", "schedule", "foreign", "again", "demo"])
def test_by_what_a_task_was_made(origin: str) -> None:
    task = Task(task_id="t1", platform="pdd", shop_id="s1", task_type="work", created_at=1, origin=origin)
    assert english_in(dict(facts(task, None, NOW))["来源"]) == []


def test_what_a_person_wrote_stays_as_it_is() -> None:
    pause = Pause(scope="shop:pdd:s1", by="ann@desk", at=NOW, reason="call Ann first")
    told = wait.closed(wait.why_waiting(TASK, wait.Facts(now_ms=NOW, pauses=(pause,))))
    assert told is not None
    assert "call Ann first" in shown.say(told.message)
    assert "ann@desk" in shown.say(told.message)
