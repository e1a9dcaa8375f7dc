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

_HOLE = re.compile(r"\{(\w+)\}")
#: three English words in a row are a sentence; a name, a code or a path is none
_ENGLISH = re.compile(r"\b[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}\b")
_ROOMS = ("engine", "workers", "executors", "scheduler")


@pytest.fixture
def chinese() -> Iterator[None]:
    i18n.set_language("zh_CN")
    yield
    i18n.set_language("en")


@pytest.mark.parametrize("code", list(own_words.SENTENCES))
def test_each_sentence_is_found_again_and_said_in_the_language_of_the_window(code: str, chinese: None) -> None:
    params = dict.fromkeys(_HOLE.findall(own_words.SENTENCES[code]), "sync_order")
    written = own_words.write(code, **params)
    found = own_words.find(written)
    assert found is not None
    assert (found.code, dict(found.params)) == (code, params)
    assert not _ENGLISH.search(messages.own(written))


def test_what_flows_said_stays_and_what_the_engine_said_below_it_is_translated(chinese: None) -> None:
    error = "Error: page closed by the other side\nno end within 30 s; it was killed"
    first, second = messages.own(error).split("\n")
    assert first == "Error: page closed by the other side"
    assert second == "30 秒内未结束；已强制结束"


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
    ],
)
def test_the_usual_failures_of_connections_are_called_by_their_names(chinese: None, text: str, code: str) -> None:
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
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in ("Outcome", "GiveUp", "Finish", "End"):
            continue
        for keyword in node.keywords:
            if keyword.arg == "error":
                parts = [one.value for one in ast.walk(keyword.value) if isinstance(one, ast.Constant)]
                said = " … ".join(str(part) for part in parts)
                if isinstance(keyword.value, ast.Constant | ast.JoinedStr) and _ENGLISH.search(said):
                    yield node.lineno, said
