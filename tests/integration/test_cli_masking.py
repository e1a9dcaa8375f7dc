"""No secret in anything that the command line prints: one stands in every text field of every kind of object, and every
command there is, found in the parser itself, is run with and without ``--json``.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from services import assembly, settings
from services.cli import program
from services.domain.alerts import channel as channels
from services.domain.alerts import incident as incidents
from services.domain.change import Annotate, Create
from services.domain.fleet import remote
from services.domain.fleet.remote import WorkerLog
from services.domain.fleet.shop import Pause, Shop
from services.domain.fleet.worker import LinkState, SlotState, WorkerInfo
from services.domain.gates.quiet_hours import QuietHours, Weekly
from services.domain.insight.cause_rule import CauseRule
from services.domain.plans.schedule import Schedule
from services.domain.promises import promise as promises
from services.domain.task.fingerprint import fingerprint
from services.domain.task.record import Attempt, Step, Task
from services.domain.task.search import shared_view
from services.domain.task.search.shared_view import SharedView
from services.domain.text import mask
from services.domain.text.message import Message
from services.engine import quiet
from services.ports import AuditEntry, Letter, Store
from services.ports.journals import LogLine
from services.ports.timetable import ScheduleEntry
from services.watch.alerts.rules import DEFAULTS
from tests.support.grammar import arguments, below, walk

MARK = "Hunter2Marker"
#: a secret as it stands in texts of people and programs
TEXT = f"login failed: password={MARK}, amqp://user:{MARK}@mq/v; Authorization: Bearer {MARK}"
#: and as the many others write it: each text field of what is stored holds the next of them
FORMS = [
    f"session_id={MARK}", f"?page=2&sign={MARK}&t=1", f"PIN: {MARK}7", f"curl -u ann:{MARK} https://shop.test",
    f"mysql -uroot -p{MARK} shops", f"see //ann:{MARK}@shop.test/x", f"password：{MARK}", f"pass\u200bword={MARK}",
    f"密码是 {MARK}", f"口令为{MARK}7", f"令牌“{MARK}”", f"pwd {MARK}", f'token "{MARK}"', f'password="a\\"{MARK}" b',
    f'Authorization: Digest username="ann", response="{MARK}"', f"Set-Cookie: a=1; b={MARK}; Path=/", f"otp%3D{MARK}7",
    f"&quot;password&quot;: &quot;{MARK}&quot;", f"tokens=['a', '{MARK}']", f"locator('#password').fill('{MARK}')",
    f"<sign><![CDATA[{MARK}]]></sign>", f"https://b.test/k?X-Amz-Signature={MARK}", f"password: |\n  {MARK}",
    f"a\u2028token={MARK}\u2029b", f"signature={MARK}", f"db_pass={MARK}", f"proxy ann:{MARK}@10.0.0.1:8080",
    f"eyJhbGciOiJIUzI1NiJ9.{MARK}.{MARK}", f"ghp_{MARK}0123456789abcdef", f"sk-{MARK}0123456789abcdef",
]  # fmt: skip
OBJECT: dict[str, Any] = {
    "password": MARK,
    "list": [{"api_key": MARK}, ["Set-Cookie", f"sid={MARK}"]],
    "headers": [{"name": "Authorization", "value": f"Basic {MARK}"}],
    "text": json.dumps({"inner": json.dumps({"token": MARK})}),
    "url": f"https://shop.test/?access_token={MARK}&page=2",
    "plain": "no secret",
    "passwordConfirm": MARK,
    "session_id": MARK,
    "sign": MARK,
    "forms": FORMS,
}
JSON = json.dumps(OBJECT)
#: fields that are names, words of ours or numbers as text: no secret gets there
NAMES = frozenset(
    """task_id shop_id platform task_type lane status gate queue fingerprint triage cancel uniq on_dependency_failure
    parent successor origin batch outcome error_kind content_type routing_key sha256 place entry_id at digest previous
    who action scope name uid priority cron zone missed overlap worker host version kind state owner created_by by
    stream updated_by from_ to node system auto""".split()  # noqa: SIM905
)
#: commands that go on until they are stopped, or open something for a person
ENDLESS = {"api", "demo", "worker", "shop login", ""}
#: the first words of what only looks
LOOKS = ("list", "show", "stats", "doctor", "export", "artifacts", "duplicates", "runs", "log", "causes")
ANSWERS = {
    "id": ["dead1", "waits1"], "ids": ["waits1"], "name": ["work", "nightly", "B1", "lane_depth"],
    "names": [["nightly"], ["work"]],
    "workers": [["desk-01/1"]], "shop": ["pdd:s1"], "scope": ["shop:pdd:s1"], "file": ["{out}"], "files": [["{out}"]],
    "text": [TEXT], "count": ["4"], "types": [["work"]], "who": ["somebody@desk"], "role": ["viewer"], "zone": ["UTC"],
    "shell": ["bash"],
    "shops": [["pdd:s1"]], "fingerprint": [""], "action": ["close"],
    "fingerprints": [["9ac19ac19ac19ac1"]], "type": ["work"], "when": ["1m"], "incident": ["INC-1"],
    "view": ["nightly"], "title": ["weekly"],
}  # fmt: skip
OPTIONS = {"--as": "succeeded", "--priority": "5", "--node": "desk-01", "--type": "work", "--into": "0b2d0b2d0b2d0b2d"}


_FILLED = itertools.cycle(range(0, len(FORMS), 3))


def filled(made: Any) -> Any:
    """The same object with the secret in every text that is no name."""
    changes: dict[str, Any] = {}
    forms = itertools.cycle([TEXT, *FORMS])
    for _ in range(next(_FILLED)):
        next(forms)
    for field in made.__struct_fields__:
        value = getattr(made, field)
        if field in NAMES or not isinstance(value, str):
            continue
        changes[field] = JSON if field in ("payload", "result", "extra", "headers", "detail") else next(forms)
    return msgspec.structs.replace(made, **changes)


def fill(engine: assembly.Engine) -> None:
    """One of everything."""
    store = engine.store
    base = Task(
        task_id="",
        shop_id="s1",
        platform="pdd",
        task_type="work",
        batch="B1",
        created_at=1_790_000_000_000,
        max_retries=1,
    )
    attempts = (filled(Attempt(1, "desk-01/1", 1, 2, "failed", "unknown")),)
    steps = (filled(Step(1, "pending", "dead")),)
    print_ = fingerprint("work", "unknown", TEXT)
    for number, (status, triage) in enumerate(
        [("pending", ""), ("blocked", ""), ("scheduled", ""), ("held", ""), ("dead", "open"), ("succeeded", "")]
    ):
        made = filled(msgspec.structs.replace(base, task_id=f"{status}{number}", status=status, triage=triage))
        made = msgspec.structs.replace(made, attempts=attempts, steps=steps, error_kind="unknown", fingerprint=print_)
        store.apply([Create(task=made)])
    store.apply([Create(task=filled(msgspec.structs.replace(base, task_id="waits1", shop_id="s9")))])
    dead = msgspec.structs.replace(base, task_id="dead1", status="dead", triage="open", error_kind="unknown")
    store.apply(
        [Create(task=msgspec.structs.replace(filled(dead), attempts=attempts, steps=steps, fingerprint=print_))]
    )
    store.put_letter(filled(Letter(task_id="dead1", body=JSON.encode())))
    store.apply([Annotate(task_id="dead1", note_id="n1", by="a@b", text=TEXT)])
    store.append_log("dead1", 1, [LogLine(1, "out", TEXT)])
    store.put_shops([filled(Shop(platform="pdd", shop_id="s1", name="x", group="g"))])
    store.put_shops([msgspec.structs.replace(Shop(platform="pdd", shop_id="s2"), name=TEXT, name_en=TEXT, group=TEXT)])
    store.set_pause(filled(Pause(scope="shop:pdd:s1", by="a@b")))
    schema = {
        "title": TEXT,
        "properties": {"password": {"type": "string", "default": MARK, "examples": [MARK], "description": TEXT}},
        "examples": [OBJECT],
    }
    kind = {"name": "work", "version": 2, "title": {"en": TEXT}, "description": {"en": TEXT}, "schema": schema}
    for name in ("work", "other"):
        store.put_document("type", name, json.dumps(kind | {"name": name}))
    store.put_document("type_version", "work@1", json.dumps(kind | {"version": 1, "schema": {}}))
    store.put_document("cause", print_, msgspec.json.encode(CauseRule(name=TEXT, note=TEXT, by="a@b")).decode())
    night = QuietHours(name="nightly", scope="type:other", weekly=(Weekly(days=(0,), start=60, end=120),))
    quiet.put(store, msgspec.structs.replace(night, reason=TEXT, by="a@b", at=1), "UTC")
    plan = filled(Schedule(name="nightly", task_type="work", payload=OBJECT, every_s=3600, shops=("pdd:s1",)))
    plan = msgspec.structs.replace(plan, cron="", zone="", priority="")
    store.put_schedule(
        ScheduleEntry(
            name="nightly", body=json.dumps({"schedule": msgspec.to_builtins(plan)}), next_at=4_000_000_000_000
        ),
        0,
    )
    slot = SlotState(task_id="waits1", shop="pdd:s1", task_type="work")
    info = WorkerInfo(worker="desk-01/1", host="desk-01", pid=1, slots=(filled(slot),), lacks={"rpa": TEXT})
    told = WorkerLog(worker=info.worker, at=store.now_ms(), lines=(remote.LogLine(store.now_ms(), "WARNING", TEXT),))
    store.put_document(remote.LOGS, info.worker, remote.dump(told).decode())
    store.heartbeat(msgspec.structs.replace(info, link=LinkState(error=TEXT, why=TEXT, blocked_at=1)))
    promised = filled(promises.Promise(name="nightly", task_type="work", limit_s=3600, shops=("pdd:s1",)))
    store.put_document(promises.KIND, "nightly", promises.DOCUMENT.dump(promised))
    seen = SharedView(key="nightly", title="nightly", filter=f'error~"password={MARK}"', version=1, by="a@b", at=1)
    store.put_document(shared_view.KIND, "nightly", msgspec.json.encode(seen).decode())
    fill_alerts(store)
    store.append_audit(
        filled(AuditEntry(entry_id="1", at=1, who="a@b", action="task.cancel", target=(TEXT,), detail=JSON))
    )
    store.close_audit("1", TEXT, 2)


def fill_alerts(store: Store) -> None:
    """An open incident and a channel."""
    words = incidents.Words(title=Message("alert.forgets"), cause=Message("cron.alias", {"known": TEXT, "text": TEXT}))
    answer = incidents.Answer(answered_by="a@b", answered_at=1, note=TEXT, reason=TEXT)
    made = incidents.Incident(
        id="INC-1", key="INC-1", rule=DEFAULTS[0], words=words, names=(TEXT,), raised_at=1, answer=answer
    )
    store.put_document(incidents.KIND, incidents.slot_of("INC-1"), incidents.DOCUMENT.dump(made))
    store.put_document(incidents.ANSWERS, "INC-1", incidents.DOCUMENT.dump(answer))
    named = channels.Channel(name="nightly", kind="mail", options={"to": "ops@example.com"})
    store.put_document(channels.KIND, "nightly", channels.DOCUMENT.dump(named))


@dataclass
class Line:
    """The command line of this process over a home with one of everything."""

    home: Path
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str) -> tuple[int, str]:
        code = program.run(words, lambda request: 0)
        caught = self.capsys.readouterr()
        return code, caught.out + caught.err


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Line:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    engine = assembly.open_engine(settings.load())
    fill(engine)
    assembly.commands(engine)
    engine.close()
    capsys.readouterr()
    return Line(tmp_path, capsys)


def unknown(parser: argparse.ArgumentParser) -> list[str]:
    """What a command asks for and nothing here answers."""
    return [action.dest for action in arguments(parser) if not action.option_strings and action.dest not in ANSWERS]


def calls(words: tuple[str, ...], parser: argparse.ArgumentParser, out: Path) -> Iterator[list[str]]:
    """The command with values for what it asks for."""
    needed = [
        action
        for action in arguments(parser)
        if not action.option_strings and action.dest not in ("help", "==SUPPRESS==")
    ]
    options = [action for action in arguments(parser) if action.option_strings and action.required]
    given = [
        word for action in options for word in (action.option_strings[0], OPTIONS.get(action.option_strings[0], TEXT))
    ]
    if any("--yes" in action.option_strings for action in arguments(parser)):
        given.append("--yes")
    variants: list[list[str]] = [[]]
    for action in needed:
        variants = [
            [*before, *([value] if isinstance(value, str) else value)]
            for before in variants
            for value in ANSWERS[action.dest]
        ]
    for variant in variants:
        yield [*words, *(word.replace("{out}", str(out)) for word in variant), *given]


# some 300 commands one after another, beside all other tests
@pytest.mark.deep
@pytest.mark.timeout(300)
def test_no_command_prints_a_secret(line: Line) -> None:
    out = line.home / "records.jsonl"
    commands = [each for each in walk() if not below(each[1]) or each[1].get_default("handler") is not None]
    found = [each for each in commands if " ".join(each[0]) not in ENDLESS]
    assert len(found) > 60, "the parser was walked"
    assert not [each for each in found if unknown(each[1])], "add an answer for what the new command asks for"
    assert line("export", "--out", str(out))[0] == 0
    assert MARK not in out.read_text(encoding="utf-8")
    told = 0
    for looking in (True, False):  # what changes things comes last
        for words, parser in found:
            if (words[-1] in LOOKS) != looking:
                continue
            good = False
            for call in calls(words, parser, out):
                for more in ([], ["--json"]):
                    code, shown = line(*call, *more)
                    assert MARK not in shown, (call, more, shown)
                    assert "Traceback" not in shown, (call, shown)
                    good |= code == 0 or call[0] == "doctor"
                    told += mask.DOTS in shown
            assert good or not looking, f"{words} was not seen at work"
    assert told > 25, "the secrets stood where they were looked for"


def test_no_file_that_a_command_writes_has_a_secret(line: Line) -> None:
    folder = line.home / "types"
    assert line("type", "export", "--out", str(folder))[0] == 0
    files = list(folder.iterdir())
    assert len(files) > 2
    assert all(MARK not in file.read_text(encoding="utf-8") for file in files)
    code, shown = line("type", "import", str(folder))
    assert code == 2
    assert "--reveal" in shown


def test_who_may_act_reveals_and_that_is_written_down(line: Line) -> None:
    for words in (("task", "show", "waits1"), ("dead", "show", "dead1"), ("export",), ("type", "export", "work")):
        code, shown = line(*words, "--reveal")
        assert code == 0
        assert MARK in shown
        assert MARK not in line(*words)[1], "only that run shows it"
    rows = json.loads(line("audit", "list", "--json")[1])["entries"]
    told = [row for row in rows if row["action"] == "reveal"]
    assert [row["outcome"] for row in told] == ["done"] * 4
    assert "dead show dead1" in json.dumps(told)


def test_who_only_looks_reveals_nothing_and_leaves_a_trace(line: Line) -> None:
    code, shown = line("task", "show", "waits1", "--reveal", "--read-only")
    assert code != 0
    assert MARK not in shown
    who = json.loads(line("role", "list", "--json")[1])["you"]["who"]
    assert line("role", "set", "other@desk", "admin")[0] == 0
    assert line("role", "set", who, "viewer")[0] == 0
    code, shown = line("task", "show", "waits1", "--reveal", "--json")
    assert code != 0
    assert MARK not in shown
    assert line("task", "show", "waits1")[0] == 0, "looking is permitted"
    entries = json.loads(line("audit", "list", "--json")[1])["entries"]
    assert any(row["action"] == "reveal" and row["outcome"].startswith("refused") for row in entries)


def test_an_export_with_dots_is_not_taken_for_the_work(
    line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, whole = tmp_path / "dots.jsonl", tmp_path / "whole.jsonl"
    assert line("export", "--out", str(out))[0] == 0
    assert line("export", "--out", str(whole), "--reveal")[0] == 0
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path / "other"))
    code, shown = line("import", str(out), "--yes", "--json")
    assert (code, json.loads(shown.splitlines()[0])["done"]) == (1, [])
    assert "import.masked" in shown
    code, shown = line("import", str(whole), "--yes", "--json")
    taken = json.loads(shown.splitlines()[0])["done"]
    assert {"waits1", "dead1"} <= set(taken), shown
    engine = assembly.open_engine(settings.load())
    (task,) = engine.store.get(["waits1"])
    letter = engine.store.get_letter("dead1")
    engine.close()
    assert task is not None
    assert json.loads(task.payload) == OBJECT
    assert letter is not None
    assert json.loads(letter.body) == OBJECT
