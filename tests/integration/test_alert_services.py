"""What chat services say of a message, by their own words; a webhook of this machine answers in their place."""

from __future__ import annotations

import email
import email.policy
import importlib
import socketserver
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from services.domain.alerts.channel import DINGTALK, FEISHU, MAIL, WECOM, Channel
from services.watch.alerts.channels import carrier
from tests.integration import hook as hooks
from tests.integration.hook import Hook

TOKEN = "0123456789abcdef"
#: by kind: its address, where its plugin keeps the address of the service, and what it says of a message it took
SERVICES = {
    DINGTALK: (f"dingtalk://{TOKEN}", ("dingtalk", "NotifyDingTalk", "notify_url"), '{"errcode": 0, "errmsg": "ok"}'),
    WECOM: (f"wecombot://{TOKEN}", ("wecombot", "NotifyWeComBot", "notify_url"), '{"errcode": 0, "errmsg": "ok"}'),
    FEISHU: (f"feishu://{TOKEN}", ("feishu", "NotifyFeishu", "notify_url"), '{"code": 0, "msg": "success"}'),
}


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooks.listening() as found:
        yield found


def send(kind: str, hook: Hook, monkeypatch: pytest.MonkeyPatch, body: str = "b") -> str:
    address, (module, plugin, place), _ok = SERVICES[kind]
    found = getattr(importlib.import_module(f"apprise.plugins.{module}"), plugin)
    monkeypatch.setattr(found, place, hook.url.replace("json:", "http:"))
    monkeypatch.setattr(found, "request_rate_per_sec", 0)
    return carrier.send(Channel(name="ops", kind=kind), address, "INC-1 标题", body, "critical")


def text_of(told: dict[str, Any]) -> str:
    found: Any = told.get("text") or told.get("content")
    return str(found.get("content") or found.get("text"))


@pytest.mark.parametrize("kind", SERVICES)
def test_a_service_that_takes_it_has_it(kind: str, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    hook.says = SERVICES[kind][2]
    assert send(kind, hook, monkeypatch) == ""
    assert "INC-1 标题" in text_of(hook.told[0])


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (DINGTALK, '{"errcode": 310000, "errmsg": "keywords not in content"}'),
        (WECOM, '{"errcode": 45009, "errmsg": "api freq out of limit"}'),
        (FEISHU, '{"code": 19024, "msg": "Key Words Not Found"}'),
        (FEISHU, '{"StatusCode": 9499, "StatusMessage": "too fast"}'),
    ],
)
def test_a_refusal_in_the_body_of_an_answer_is_one(
    kind: str, says: str, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook.says = says
    why = send(kind, hook, monkeypatch)
    assert any(number in why for number in ("310000: keywords", "45009: api freq", "19024: Key", "9499: too fast"))
    assert TOKEN not in why
    hook.says = SERVICES[kind][2]
    assert send(kind, hook, monkeypatch) == "", "what was said of one message is not said of the next"


def test_a_long_page_goes_in_parts_that_the_service_takes(hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    hook.says = SERVICES[WECOM][2]
    lines = [f"第 {number} 家店铺需要重新登录，等待处理" for number in range(100)]
    assert send(WECOM, hook, monkeypatch, "\n".join([*lines, "长" * 3_000])) == ""
    texts = [text_of(one) for one in hook.told]
    assert 1 < len(texts) <= carrier.MOST_PARTS
    assert all(len(text.encode()) <= 2_048 for text in texts)
    assert f"(1/{len(texts)})" in texts[0]
    assert all(line in "\n".join(texts) for line in lines)


class Post(socketserver.StreamRequestHandler):
    """A mail server that takes everything."""

    SAYS: ClassVar = {b"EHLO": b"250-here\r\n250 AUTH PLAIN\r\n", b"AUTH": b"235 in\r\n"}
    got: list[bytes]

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        letter: list[bytes] | None = None
        for line in self.rfile:
            word = line[:4].upper()
            if letter is not None:
                if line.rstrip() == b".":
                    self.got.append(b"".join(letter))
                    letter = None
                    self.wfile.write(b"250 taken\r\n")
                else:
                    letter.append(line)
            elif word == b"DATA":
                letter = []
                self.wfile.write(b"354 go on\r\n")
            else:
                self.wfile.write(self.SAYS.get(word, b"250 well\r\n"))
                if word == b"QUIT":
                    return


def test_mail_keeps_its_lines_and_is_no_page() -> None:
    """What stands in a name of a shop is text: no picture is fetched, no link is made."""
    got: list[bytes] = []
    body = "待登录：<img src=http://127.0.0.1/x>\n下一步：打开 *店铺*"
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), type("Kept", (Post,), {"got": got})) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        channel = Channel(name="boss", kind=MAIL, options={"to": "a+night@b.example"})
        address = f"mailto://u:p@127.0.0.1:{server.server_address[1]}?from=fleet@b.example"
        assert carrier.send(channel, address, "INC-1 标题", body, "critical") == ""
        server.shutdown()
    (letter,) = [email.message_from_bytes(one, policy=email.policy.default) for one in got]
    assert (letter["to"], letter["subject"]) == ("a+night@b.example", "INC-1 标题")
    assert letter.get_content_type() == "text/plain"
    assert letter.get_content().splitlines() == body.splitlines()
