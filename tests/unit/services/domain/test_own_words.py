"""What the engine writes into records is found again, whatever stands in its places."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import services
from services import i18n, messages
from services.domain.task import own_words
from services.domain.text.message import Message
from services.domain.text.refusals import REFUSALS
from services.domain.text.said import said

_HOLE = re.compile(r"\{(\w+)\}")
#: three English words in a row are a sentence; a name, a code or a path is none
_ENGLISH = re.compile(r"\b[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}\b")
_ROOMS = ("engine", "workers", "executors", "scheduler")
#: what says in ``error`` how an attempt ended, and whose text becomes that
_ENDS = ("Outcome", "GiveUp", "Finish", "End")
_LOGS = ("log", "_log", "note")
_FAILURES = ("Failed", "Refused", "Unfillable", "NoBrowser", "NoneToLend", "NoWindow", "NoProfile", "_NotConnected")


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.set_language("zh_CN")
    yield
    i18n.set_language("en")


#: what can stand in the places that take no word
_PUT = {
    **dict.fromkeys(("seconds", "size", "most", "left", "of", "at", "number", "code"), "1,200"),
    "status": "503", "wanted": "200, 204", "code": "3", "url": "https://a.test/x", "step": "2 pay", "given": "a list",
    "lacking": "task_id, shop_id", "fingerprint": "9ac1" * 4,
}  # fmt: skip
_KINDS = ["own.an_object", "own.a_list", "own.text", "own.a_text", "own.true_or_false", "own.null", "own.a_number"]
_WITHIN = ["own.repair", "own.sample_fleet", *_KINDS]


@pytest.mark.parametrize("code", [code for code in own_words.SENTENCES if code not in _WITHIN])
def test_each_sentence_is_found_again_and_said_in_the_language_of_the_window(code: str, chinese: None) -> None:
    params = {name: _PUT.get(name, "sync_order") for name in _HOLE.findall(own_words.SENTENCES[code])}
    written = own_words.write(code, **params)
    found = own_words.find(written)
    assert found is not None
    assert (found.code, dict(found.params)) == (code, params)
    assert not _ENGLISH.search(messages.own(written))


@pytest.mark.parametrize("code", own_words.LINES)
def test_a_line_that_a_worker_wrote_into_a_log_is_said_in_the_language_of_the_window(code: str, chinese: None) -> None:
    put = {"host": "a.test", "kind": "alert", "why": "the page crashed"}
    params = {name: put.get(name, _PUT.get(name, "a b.csv")) for name in _HOLE.findall(own_words.LINES[code])}
    written = own_words.write(code, **params)
    found = own_words.line(written)
    assert found is not None
    assert (found.code, dict(found.params)) == (code, params)
    for stream in own_words.OWN_STREAMS.values():
        assert not _ENGLISH.search(messages.logged(stream, written))
    for stream in own_words.OWN_STREAMS:
        assert messages.logged(stream, written) == written, "a flow printed the same words"
    assert messages.own(written) == written, "as did whoever says it in an error"


@pytest.mark.parametrize("code", [code for code in REFUSALS if code.startswith("artifact.")])
def test_why_files_were_left_out_is_said_in_the_language_of_the_window(code: str, chinese: None) -> None:
    written = said(code, **dict.fromkeys(_HOLE.findall(REFUSALS[code]), "ab.png"))
    told = messages.of_files(f"{written}; {written}; by hand")
    assert told == "；".join([messages.render(written.message)] * 2 + ["by hand"])
    assert not _ENGLISH.search(told.replace("pip install 'fleetdeck[s3]'", ""))


@pytest.mark.parametrize("code", _KINDS)
def test_the_kind_of_a_value_is_said_within_a_sentence_only(code: str, chinese: None) -> None:
    given = own_words.SENTENCES[code]
    told = messages.own(own_words.write("own.msg_object", given=given))
    assert given not in told
    assert messages.own(given) == given


#: what flows and people say in words that the engine has too
THEIRS = [
    "Ann answered 3 times", "the buyer answered rudely: refund", "https://a.test answered politely",
    "order 12 has more than 3 entries", "the list has more than many entries", "step 2: click pay", "step one pay: ok",
    "text", "a text", "null", "a list", "an object", "a number", "true or false", "repair",
    "captcha at the login page", "redirected to login at noon", "it led to trouble: refunds",
    "the box cannot be opened: it is glued", "no answer within a day", "made way for the new order",
    "more than a few redirects", "all of the browsers are at work (Ann)", "3 of the tasks have not ended",
    "the server answered nothing", "the coupon is missing", "the price is too large",
    "the key must be text, not a picture",
]  # fmt: skip


@pytest.mark.parametrize("line", THEIRS)
def test_what_others_said_in_like_words_stays_theirs(line: str, chinese: None) -> None:
    assert messages.own(line) == line
    assert line in messages.render(Message("publisher.lost", {"why": line}))


@pytest.mark.parametrize(
    "note", [*THEIRS, "stopped on request", "the page crashed", "no end within 30 s", "the server answered 500"]
)
def test_notes_and_reasons_of_people_stay_theirs(note: str, chinese: None) -> None:
    if note != own_words.REPAIR:
        assert messages.noted(note) == note
        told = messages.render(Message("promise.paused_why", {"scope": "pdd", "by": note, "reason": note}))
        assert told.count(note) == 2


@pytest.mark.parametrize(
    "code",
    [
        "own.repair",
        "own.sample_fleet",
        "own.policy_aside",
        "own.entry_aside",
        "own.by_number",
        "own.dropped",
        "own.dropped_cancelled",
        "own.known_issue",
    ],
)
def test_what_the_program_itself_noted_is_translated(code: str, chinese: None) -> None:
    params = {name: _PUT.get(name, "ann@desk") for name in _HOLE.findall(own_words.SENTENCES[code])}
    note = own_words.write(code, **params)
    assert not re.search(r"[a-z]{3}", messages.noted(note).replace("ann@desk", ""))


def test_what_flows_said_stays_and_what_the_engine_said_below_it_is_translated(chinese: None) -> None:
    error = "Error: page closed by the other side\nno end within 30 s; it was killed"
    first, second = messages.own(error).split("\n")
    assert first == "Error: page closed by the other side"
    assert second == "30 秒内未结束；已强制结束"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            "step 3 pay: https://a.test cannot be opened: the host name is unknown (net::ERR_NAME_NOT_RESOLVED)",
            "步骤 3 pay：无法打开 https://a.test：主机名未知（net::ERR_NAME_NOT_RESOLVED）",
        ),
        (
            "step 1 goto: it led to an address that is not opened: a.test lies in a private network;"
            " executors.browser.hosts of this worker names those that may",
            "步骤 1 goto：跳转到了不允许打开的地址：a.test 位于私有网络；允许访问的主机写在该执行节点的"
            " executors.browser.hosts 中",
        ),
        (
            "no browser became free within 30 s: all 4 browsers are at work (pdd:s1); raise"
            " executors.browser.max_total, or lower worker.slots",
            "30 秒内没有空闲的浏览器：全部 4 个浏览器都在工作（pdd:s1）；请调高 executors.browser.max_total，或调低"
            " worker.slots",
        ),
        ("the server answered 500, wanted 200, 204: out of luck", "服务器返回 500，期望 200, 204：out of luck"),
        (
            "payload.items[2].shop_id: is missing, here and beside items",
            "payload.items[2].shop_id：缺失：此处和 items 旁都没有",
        ),
        (
            "the handler's process ended with exit code 3 before the handler returned",
            "处理函数返回之前，其进程以退出码 3 结束",
        ),
    ],
)
def test_what_executors_say_within_each_other_is_said_whole(chinese: None, error: str, told: str) -> None:
    assert messages.own(error) == told


def test_a_refusal_of_the_payload_names_its_field(chinese: None) -> None:
    told = messages.own("shops[0].since: is missing")
    assert "shops[0].since" in told
    assert "missing" not in told
    assert messages.own("Error: is anything else") == "Error: is anything else"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[Errno 111] Connection refused", "refused"),
        ("ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 5672)", "refused"),
        ("Error 111 connecting to localhost:6379. Connection refused.", "refused"),
        ("timed out", "late"),
        ("TimeoutError: The read operation timed out", "late"),
        ("Timeout reading from 127.0.0.1:6379", "late"),
        ("Timeout connecting to server", "late"),
        ("gaierror: [Errno -2] Name or service not known", "unknown_host"),
        ("Error -3 connecting to r:6379. Temporary failure in name resolution.", "unknown_host"),
        ("OSError: [Errno 113] No route to host", "no_route"),
        ("Error while reading from 127.0.0.1:6379 : (104, 'Connection reset by peer')", "closed"),
        ("ConnectionResetError(104, 'Connection reset by peer')", "closed"),
        ("Connection closed by server.", "closed"),
        ("320 CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'", "stopped"),
        ("403 ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN.", "login"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "login"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)", "no_tls"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate", "untrusted"),
        ("No space left on device", "no_room"),
        ("[Errno 13] Permission denied", "not_allowed"),
        ("The process cannot access the file because it is being used by another process", "not_allowed"),
        ("Read-only file system", "read_only"),
        ("[Errno 2] No such file or directory", "not_there"),
    ],
)
def test_the_usual_failures_of_connections_and_files_are_called_by_their_names(
    chinese: None, text: str, code: str
) -> None:
    found = own_words.find(text)
    assert found is not None
    assert found.code == f"foreign.{code}"
    why = found.params.get("why", "")
    assert not _ENGLISH.search(messages.own(text).replace(str(why), ""))
    told = messages.render(Message("publisher.lost", {"why": text}))
    assert messages.own(text) in told, "also where another sentence names it"


@pytest.mark.parametrize(
    "text", ["NetworkError: connect to api.example:443 timed out after 10000 ms", "order 111 Connection refused by ops"]
)
def test_what_a_flow_says_of_its_own_connections_stays_its_own(chinese: None, text: str) -> None:
    assert messages.own(text) == text


def test_records_stay_english_for_every_program_that_reads_them() -> None:
    assert own_words.write("own.lost") == "the worker that ran it fell silent"
    assert messages.own("the worker that ran it fell silent") == "the worker that ran it fell silent"


def test_no_sentence_is_written_into_a_record_beside_the_list() -> None:
    """Whoever adds one adds it to ``SENTENCES``, or a Chinese window shows it in English."""
    root = Path(services.__file__).parent
    files = [file for room in _ROOMS for file in sorted((root / room).rglob("*.py"))]
    beside = [f"{file.name}:{line}: {text}" for file in files for line, text in _literals(file)]
    assert beside == []


def _literals(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        told = [one.value for one in node.keywords if one.arg == "error" and name in _ENDS]
        kept = isinstance(node.func, ast.Attribute) and name in _LOGS
        for value in [*told, *(node.args if kept else node.args[:1] if name in _FAILURES else ())]:
            parts = [one.value for one in ast.walk(value) if isinstance(one, ast.Constant)]
            said = " … ".join(str(part) for part in parts)
            if isinstance(value, ast.Constant | ast.JoinedStr) and _ENGLISH.search(said):
                yield node.lineno, said


def test_the_sample_fleet_is_named_in_chinese_in_whatever_tells_who_did_it(chinese: None) -> None:
    done = messages.render(Message("sheet.done", {"span": "5 s", "id": "t1", "by": own_words.SAMPLE_FLEET}))
    assert "示例集群" in done
    assert own_words.SAMPLE_FLEET not in done
