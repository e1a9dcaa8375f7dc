"""Bad values for every verb and option of the command line: refused with the reason and what to do, never a traceback.

In this process, for there are many. A test compares the table with the parser: only a few new verbs may be missing.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import openpyxl
import pytest

from services import assembly, settings
from services.cli import context, program
from services.domain.plans.schedule import Schedule
from tests.support.grammar import arguments, leaves

#: texts of people, and what any value is right for
ANY = " "
FREE = {
    "--task",
    "--worker",
    "--request",
    "--reason",
    "--note",
    "--screenshot",
    "--resume",
    "--save",
    "--version",
    "text",
}
LONG, HUGE = "x" * 5000, "9" * 30
WHOLE = ("-1", "NaN", HUGE)
SPAN = ("-1", "NaN", "inf", HUGE, "soon")
INSTANT = ("soon", "2001-01-01T00:00", "2026-13-45T99:00", "2026-11-22T10:00Mars/City")
LEVEL = ("0", "11", "urgent", "5.5")
FILTERS = ("status:nonsense", "nonsense:1", "age>x", 'error~"', ":")
SHOPS = ("pdd:", "a:b:c", "pdd:high", LONG)
NAMES = ("nobody", "../x")
IDS = ("nobody", LONG)
FILES = ("nothing.csv", ".", "empty.csv", "binary.csv", "binary.json", "unknown.doc")
OBJECTS = ("{", "[]", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 3000)
CAUSE = "9ac1" * 4
ADD = ("schedule", "add", "n", "--type", "work", "--shop", "pdd:s1")
EVERY = ("--every", "30m")
NIGHT = ("--weekly", "daily 22:00-06:00", "--note", "x")
PROMISE = ("--type", "work", "--all", "--by", "08:00")
CREATE = ("task", "create", "--shop", "pdd:s1", "--type", "work")


@dataclass(frozen=True)
class Row:
    """``option`` "" is the first positional; ``code`` is 1 where a bulk tells item by item."""

    words: tuple[str, ...]
    option: str
    values: tuple[str, ...]
    code: tuple[int, ...] = (2,)
    names: str = ""  #: what the refusal must name, by default the option
    then: tuple[str, ...] = ()  #: what stands behind the value


def row(words: str | tuple[str, ...], option: str, values: tuple[str, ...], **more: object) -> Row:
    return Row(tuple(words.split()) if isinstance(words, str) else words, option, values, **more)  # type: ignore[arg-type]


def bulk(verb: str) -> list[Row]:
    yes = (*verb.split(), "--yes")
    more = {"task resolve": ("--as", "dead"), "task prioritize": ("--priority", "5")}.get(verb, ())
    return [
        row((*yes, *more), "", IDS, code=(1,), names=": "),
        row((*yes, *more), "--filter", FILTERS[:2], names="nonsense"),
    ]


def named(verb: str, values: tuple[str, ...] = NAMES) -> Row:
    return row(verb, "", values, names="there is no")


ACTS_ON_ALERTS = ("show", "answer", "unanswer", "mute --until 2h --reason x", "unmute", "escalate")
TABLE: list[Row] = [
    row(CREATE[:2] + CREATE[4:], "--shop", SHOPS, names="shop"),
    row(CREATE, "--platform", ("a b", LONG)),
    row((*CREATE[:4],), "--type", ("a b", "a/b", LONG), names="type"),
    row(CREATE, "--payload", OBJECTS),
    row(CREATE, "--priority", LEVEL),
    row(CREATE, "--delay", SPAN),
    row(CREATE, "--not-before", INSTANT),
    row(CREATE, "--deadline", INSTANT),
    row(CREATE, "--depends-on", IDS, names="depends_on"),
    row(CREATE, "--after", IDS, names="depends_on"),
    row(CREATE, "--on-dependency-failure", ("x",)),
    row(CREATE, "--batch", ("a b", LONG)),
    row(CREATE, "--if-duplicate", ("x",)),
    row(CREATE, "--if-duplicate", ("force",), names="reason"),
    row("task create", "--file", FILES, names=ANY),
    row("task create --file shops.csv", "--map", ("x", "=", "平台=", "nowhere=shop", LONG), names="COLUMN=FIELD"),
    row("task create --file shops.csv", "--map", ("platform=nonsense",), names="there is no field nonsense"),
    row("task create --file shops.csv", "--encoding", ("latin-1", "UTF-8", LONG)),
    row("task create --file book.xlsx", "--sheet", ("nobody", "../x", LONG), names="it has Orders"),
    row("task list", "--filter", FILTERS, names=ANY),
    row("task list", "--limit", WHOLE),
    row("task list", "--sort", ("x",)),
    row("task list", "--cursor", ("x", LONG), names="first page"),
    named("task show", IDS),
    named("view show"),
    named("view remove --yes"),
    row("view rename", "", NAMES, names="there is no view", then=("x",)),
    row("view share", "", (LONG, " "), names="name of a view"),
    row("view share x", "--filter", FILTERS, names=ANY),
    row("log", "--level", ("x", "WARNING")),
    row("log", "--program", ("x", "../api")),
    row("log", "--since", SPAN),
    row("log", "--limit", WHOLE),
    row("completion", "--values", ("x", "secrets")),
    row("task log", "", IDS, names="no task"),
    row("task log a", "--attempt", WHOLE),
    row("task log a", "--start", WHOLE),
    row("task artifacts", "", IDS, names="no task"),
    row("task duplicates", "--limit", WHOLE),
    *bulk("task resolve"),
    row("task resolve a --yes", "--as", ("x",)),
    *bulk("task cancel"),
    *bulk("task retry"),
    *bulk("task run-now"),
    *bulk("task create-again"),
    row("task try --reason x", "id", IDS, names="no task", code=(1,)),
    *bulk("task prioritize"),
    row("task prioritize a --yes", "--priority", LEVEL),
    row("batch list", "--limit", ("0", *WHOLE)),
    row("batch list", "--cursor", ("x", "1", HUGE + "/x")),
    named("batch show"),
    named("batch cancel"),
    named("batch retry"),
    named("batch raise"),
    row("dead list", "--filter", FILTERS[:1], names="nonsense"),
    row("dead list", "--limit", WHOLE),
    row("dead list", "--cursor", ("x", LONG), names="first page"),
    row("dead list", "--triage", ("x",)),
    named("dead show", IDS),
    row("causes", "", ("nobody", LONG), names="no cause"),
    row("causes", "--triage", ("x", "all")),
    row("cause know --owner ann", "", ("nobody", LONG), names="no cause"),
    row(f"cause know {CAUSE}", "--owner", (LONG,), names="owner"),
    row(f"cause know {CAUSE}", "--park", (*SPAN, "9d", "10s"), names="park"),
    row(f"cause know {CAUSE}", "--retry-at", ("25:00", "6", "soon"), names="retry_at"),
    row(f"cause know {CAUSE}", "--to", ("a b", "../x", LONG), names="channel"),
    row("cause name", "", ("nobody", LONG), names="no cause"),
    row(f"cause name {CAUSE}", "--name", (LONG,), names="name"),
    row("cause ignore", "", ("nobody", LONG), names="no cause"),
    row(f"cause ignore {CAUSE}", "--span", SPAN),
    row(f"cause merge --into {CAUSE}", "", ("nobody", LONG), names="no cause"),
    row(f"cause merge {CAUSE}", "--into", ("nobody", CAUSE), names="--into"),
    *(row(f"cause {verb}", "", ("nobody", LONG), names="no cause") for verb in ("forget", "lift", "split", "join")),
    row(f"cause know {CAUSE} --owner ann", "--link", ("x", "ftp://x", "javascript:x", "https://" + LONG), names="link"),
    row(f"cause split {CAUSE}", "--shop", ("pdd:", "a:b:c", "pdd:nobody"), names="no open letter"),
    row(f"cause split {CAUSE}", "--platform", ("../x", "nobody"), names="no open letter"),
    row("shop list", "--filter", ("nonsense:1", "state:nonsense", "dead>x", "paused:maybe", 'name~"'), names=ANY),
    *bulk("dead republish"),
    row("dead republish a --yes", "--payload", OBJECTS),
    row("dead republish a --yes", "--probe", WHOLE),
    row("dead republish a --yes", "--probe-wait", WHOLE),
    row("dead republish a --yes", "--rate", WHOLE),
    row("dead republish a --yes", "--skip", ("x",)),
    row("dead republish a --yes", "--overtaken", WHOLE),
    row("dead republish a --yes", "--if-duplicate", ("x",)),
    *bulk("dead archive"),
    *bulk("dead ignore"),
    *bulk("dead restore"),
    row("dead note", "", IDS, code=(1, 2), names=ANY),
    *[named(f"shop {verb}", SHOPS) for verb in ("show", "pause", "resume", "dedicate", "undedicate", "breaker")],
    named("shop limit --concurrency=3", SHOPS),
    row("shop limit pdd:s1", "--concurrency", (*WHOLE, "0", "65")),
    *[named(f"shop {verb}", SHOPS) for verb in ("login", "session open", "session close", "move --node=n1")],
    row(
        "shop login pdd:s1",
        "--url",
        ("x", "ftp://x.example", "file:///etc/passwd", "http://", "https:///x", "http://[", LONG),
    ),
    row("shop session close pdd:s1", "--kind", ("x", "throttled")),
    row("shop move pdd:s1", "--node", ("../x", "a b", LONG, "nobody"), names="node"),
    row("shop import", "", FILES, names=ANY),
    row("shop breaker", "--failures", WHOLE),
    row("shop breaker", "--of", ("0", *WHOLE)),
    row("shop breaker", "--cooldown", ("0", *SPAN), names="cooldown"),
    row("shop breaker", "--max-cooldown", ("0", *SPAN), names="cooldown"),
    row("type show", "", NAMES, names="type list"),
    row("type import", "", ("nothing.json", "empty.csv", "binary.json", "."), names=ANY),
    row("type export", "", NAMES, names="type list"),
    row("type export sync_order", "--out", ("empty.csv",), names="not a folder"),
    row((*ADD[:2], *ADD[3:], *EVERY), "", ("a b", "../x", LONG), names="name"),
    row((*ADD[:3], *ADD[5:], *EVERY), "--type", ("a b", "a/b"), names="type"),
    row((*ADD, *EVERY), "--payload", OBJECTS),
    row((*ADD, *EVERY), "--priority", LEVEL),
    row(ADD, "--cron", ("x", "* * * *", "61 * * * *", "*/0 * * * *", "0 0 31 2 *", LONG), names="cron"),
    row(ADD, "--every", ("0", "1ms", *SPAN)),
    row((*ADD, *EVERY), "--start", (INSTANT[0], *INSTANT[2:])),
    row((*ADD, *EVERY), "--zone", ("Mars/City", "UTC+99", "../../etc/passwd"), names="time zone"),
    row((*ADD, *EVERY), "--missed", ("x",)),
    row((*ADD[:5], *EVERY), "--shop", SHOPS, names="shop"),
    row((*ADD[:5], *EVERY), "--platform", ("a b", "nobody"), names="platform"),
    row((*ADD[:5], *EVERY), "--group", ("nobody",), names="group"),
    row((*ADD, *EVERY), "--jitter", SPAN, names="--spread"),
    row((*ADD, *EVERY), "--overlap", ("x",)),
    *[named(f"schedule {verb}") for verb in ("show", "enable", "disable", "skip")],
    row("schedule show n", "--next", WHOLE),
    named("schedule remove --yes"),
    named("schedule run --yes"),
    row("schedule backfill --since 2026-11-20 --yes", "name", NAMES, names="there is no"),
    row("schedule backfill nightly --yes", "--since", ("x", "2001-13-01")),
    row("schedule backfill nightly --since 2026-11-20 --yes", "--until", ("x", "2001-13-01")),
    row("schedule zone", "", ("Mars/City", "../x"), names="time zone"),
    row("queue pause --yes", "", ("x", "platform:", "type:a b", "shop:pdd:s1", "all:x"), names="pause"),
    row("queue resume --yes", "", ("x", "platform:", "shop:pdd:s1", "high"), names="resume"),
    row("queue peek", "", ("x", "rpa_delay_7s", "single_shop_nobody", LONG), names="queue list"),
    row("queue held", "", ("x", "single_shop_nobody", LONG), names="queue list"),
    row("queue peek low", "--limit", ("0", *WHOLE)),
    row("queue purge --dry-run", "", ("x", "single_shop_nobody", LONG), names="queue list"),
    row("queue purge low", "--export", (".", "empty.csv"), names=ANY),
    row("queue purge low --no-export", "--confirm", ("low", "rpa_tasks_high", LONG), names="rpa_tasks_low"),
    row("completion", "", ("csh", "Bash", LONG), names="bash"),
    row("quiet set", "", ("a b", "../x", LONG), names="name", then=("all", *NIGHT)),
    row("quiet set night", "", ("x", "platform:", "lane:high", "type:a b"), names="scope", then=NIGHT),
    row("quiet set night all --note x", "--weekly", ("x", "mon 24:01-25:00", "daily 10:60-11:00"), names="mon-fri"),
    row("quiet set night all --note x", "--once", ("x", "2001-01-01T00:00"), then=("2h",)),
    row("quiet show", "", NAMES, names="there are none"),
    row("quiet remove", "", NAMES, names="there are none"),
    *[row(f"alert {verb}", "", ("INC-0", "x y", LONG), names="no open incident") for verb in ACTS_ON_ALERTS],
    row("alert mute INC-1 --reason x", "--until", ("x", "2001-01-01T00:00", ""), names="--until"),
    row("alert history", "--limit", ("0", *WHOLE)),
    *[row(f"alert rule {verb}", "", NAMES, names="there is no rule") for verb in ("show", "set", "reset")],
    row("alert rule set lane_depth", "--limit", ("x", "tasks", "tasks=x", "tasks=-1"), names="NAME=NUMBER"),
    row("alert rule set lane_depth", "--limit", ("weight=1",), names="it has tasks"),
    *[row("alert rule set lane_depth", f"--{span}", WHOLE) for span in ("for", "calm", "again", "escalate")],
    row("alert rule set lane_depth", "--for", ("99999999", "8d"), names="at most"),
    row("alert rule set lane_depth", "--for", ("0.5s", "5 lanes"), names="a span such as 5m"),
    row(
        "alert rule set lane_depth",
        "--action",
        ("stop", "pause:", "pause:lane:high", "mark:x", "run", "run:rm -rf", LONG),
        names="pause",
    ),
    row("alert rule set lane_depth", "--severity", ("x",)),
    row("alert rule set lane_depth", "--channel", ("a b", LONG), names="name"),
    row("alert rule set lane_depth", "--escalate-to", ("a b", LONG), names="name"),
    row("alert rule set mine", "--measure", ("nothing", LONG), names="no rule measures"),
    row("alert rule set lane_depth", "--measure", ("drift",), names="looks at lane_depth"),
    row("alert channel set", "", ("a b", "../x", LONG), names="name"),
    row("alert channel set ops", "--kind", ("pigeon",)),
    row("alert channel set ops", "--language", ("de",)),
    row("alert channel set ops", "--group", ("a b", LONG), names="name"),
    row("alert channel set ops", "--secret", ("https://example.com/hook", "wecombot://0123"), names="never kept"),
    row("alert channel set ops", "--to", ("ops@example.com",), names="option"),
    row("alert channel set ops --kind mail", "--to", ("mailto://a:b@example.com",), names="never kept"),
    row("alert channel set ops", "--rate", ("0", *WHOLE)),
    *[row(f"alert channel {verb}", "", NAMES, names="there is no channel") for verb in ("remove", "test")],
    row("promise set", "", ("a b", "../x", LONG), names="name", then=PROMISE),
    row("promise set p --all --by 08:00", "--type", ("a b", "nothing"), names="type"),
    row("promise set p --type work --all", "--never-older-than", SPAN),
    row("promise set p --type work --all", "--never-older-than", ("10s", "40d"), names="31 days"),
    row("promise set p --type work --all", "--by", ("8", "25:00", "08:61", "x"), names="08:00"),
    row("promise set p --type work --all --by 08:00", "--from", ("8", "x", "08:00"), names=ANY),
    row("promise set p --type work --all --by 08:00", "--days", ("x", "mon-x"), names="mon-fri"),
    row("promise set p --type work --all --never-older-than 1h", "--hours", ("x", "08:00", "08:00-08:00"), names=ANY),
    row("promise set p --type work --by 08:00", "--shop", SHOPS, names="shop"),
    row("promise set p --type work --by 08:00", "--platform", ("a b", "nobody"), names="platform"),
    row("promise set p --type work --by 08:00", "--group", ("nobody",), names="group"),
    row("promise set p --type work --all --by 08:00", "--owner", (LONG,), names="at most"),
    *[row(f"promise {verb}", "", NAMES, names="promise list") for verb in ("show", "enable", "disable", "remove")],
    row("queue limit --concurrency 2", "", ("x", "shop:pdd:s1", "platform:", "all"), names=ANY),
    row("queue limit platform:pdd", "--concurrency", ("0", *WHOLE)),
    row("queue limit platform:pdd", "--per-minute", ("0", *WHOLE)),
    row("stats", "--batch", NAMES, names="batch list"),
    row("work pdd:s1 work", "--day", ("x", "2026-13-40"), names="yesterday"),
    row("work pdd:s1 work", "--payload", OBJECTS[:2]),
    row("work", "shop", (*NAMES, LONG), names="shop list", then=("work",)),
    row("work pdd:s1", "type", ("a b", LONG, "nothing"), names="type"),
    row(
        "role set", "who", ("nobody", "@", "ann@", "@desk", "ann@de\nsk", LONG), names="account@host", then=("viewer",)
    ),
    row("role set ann@desk", "role", ("x", "Viewer", LONG), names="there are viewer, operator, admin"),
    row("role remove", "who", (*NAMES, "ann@desk", LONG), names="has no role of their own"),
    row("role default", "role", ("x", "admin", LONG), names="there are viewer, operator"),
    row("token create", "name", ("a b", "../x", LONG), names="token"),
    row("token create t", "--role", ("x", "Viewer")),
    row("token create t", "--expires", ("0", "x", "-1d")),
    row("token revoke --yes", "", (*NAMES, LONG), names="token list"),
    row("api", "--host", ("0.0.0.0", "fleet example", LONG), names="--cert"),
    row("api", "--port", ("-1", "65536", "x")),
    row("api --cert nothing.pem", "--key", ("nothing.key", "binary.csv")),
    row("api", "--cert", ("nothing.pem", "binary.csv", ".")),
    row("api", "--host-name", ("a b", "http://x/", LONG)),
    row("at", "when", ("soon", "25:00", "2026-13-45T99:00", "-5m", LONG), names=ANY),
    row("at 1m", "--around", SPAN),
    row("handover show", "--since", ("soon", "30d", "10s", "2099-01-01T00:00", LONG)),
    row("handover show", "--language", ("fr", LONG)),
    row("handover set", "--at", ("8:00", "24:00", "noon", LONG)),
    row("handover set --at 08:00", "--to", ("a b", "../x", LONG), names="name of a channel"),
    row("handover send", "--since", ("soon", "30d", LONG)),
    row("handover send", "--to", NAMES, names="there is no channel"),
    row("audit list", "--limit", WHOLE),
    row("audit list", "--filter", ("nonsense:1", "age<x"), names=ANY),
    row("audit list", "--before", ("x", LONG)),
    row("export --yes", "--filter", FILTERS, names=ANY),
    row("export --yes", "--out", ("missing/folder/x.json", "."), names="cannot be written"),
    row("repair", "--export-aside", ("missing/folder/x.json", "."), names="cannot be written"),
    row("import --yes", "", ("nothing.json", ".", "empty.csv", "binary.json"), names=ANY),
    *[row(f"worker {verb} --yes", "", NAMES, names="worker list") for verb in ("drain", "resume", "stop")],
    *[row(f"worker {verb}", "", (*NAMES, LONG), names="worker list") for verb in ("show", "forget")],
    row("worker log", "", (*NAMES, LONG), names="worker list"),
    row("worker log nobody", "--limit", ("0", *WHOLE)),
    row("worker browser", "action", ("x", "Restart"), names="restart", then=("nobody", "pdd:s1")),
    row("worker browser open", "workers", NAMES, names="worker list", then=("pdd:s1",)),
    row("worker browser open nobody", "shop", SHOPS, names=ANY),
    row("worker browser open nobody pdd:s1", "--wait", SPAN),
    row("worker window", "shop", SHOPS, names=ANY),
    row("worker window pdd:s1", "--save", ("../x",), names=ANY),
    row("worker stop nobody --yes", "--grace", ("-1", "NaN", "soon")),
    row("worker refuse nobody", "", ("work",), names="worker list"),
    row("worker slots", "", ("nobody 4",), names="worker list"),
    row("worker slots w1", "count", ("0", "-1", "x", HUGE, "8,low=9-1", "8,mid=1"), names="count"),
    row("worker", "--slots", ("0", "-1", "x", HUGE, "8,low=9-1")),
    row("worker", "--lanes", ("x", "high,x")),
    row("worker", "--handlers", ("no_such_module", "tests.integration.handlers,no_such_module"), names="PYTHONPATH"),
    row("worker", "--handlers", ("no_such_module.py", "no_such_module:work"), names="without .py"),
    row("demo", "--shops", ("-1", "x")),
    row("demo", "--seconds", ("-1", "NaN", "inf", "x")),
    row("demo", "--slots", ("0", "x")),
    row("demo", "--rate", ("-1", "NaN", "x")),
    row("demo", "--page", ("x",)),
    row(
        "demo",
        "--open",
        ("x", "https://local/tasks", "fleetdeck://local/nowhere", "fleetdeck://local/tasks?show=" + LONG),
    ),
    row("demo", "--size", ("x", "0x0")),
]
IDS_OF_ROWS = [f"{' '.join(one.words[:2])} {one.option}".strip() for one in TABLE]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fleet of one shop, and files that are none."""
    folder = tmp_path_factory.mktemp("refusals")
    for name in ("empty.csv", "empty.json"):
        (folder / name).touch()
    for name in ("binary.csv", "binary.json", "unknown.doc"):
        (folder / name).write_bytes(bytes(range(256)) * 20)
    book = openpyxl.Workbook()
    book.worksheets[0].title = "Orders"
    book.worksheets[0].append(["shop", "type"])
    book.save(folder / "book.xlsx")
    (folder / "shops.csv").write_text("platform,shop_id\npdd,s1\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLEETDECK_HOME", str(folder / "home"))
        patch.chdir(folder)
        assert run("shop", "import", "shops.csv")[0] == 0
        engine = assembly.open_engine(settings.load())
        schedule = Schedule(name="nightly", task_type="work", every_s=86_400, shops=("pdd:s1",))
        assembly.commands(engine).schedules.add(schedule)
        parser = program.grammar()
        patch.setattr(program, "grammar", lambda **_said: parser)
        # one for all but those that go on, for there are hundreds of commands
        patch.setattr(context.Context, "engine", lambda _, **_looking: contextlib.nullcontext(engine))
        yield folder
    engine.close()


def run(*words: str) -> tuple[int, str]:
    """Exit code, and everything that was printed."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        code = program.run(list(words), lambda _: 0)
    return code, told.getvalue()


def _words(one: Row, value: str) -> list[str]:
    if not one.option.startswith("--"):
        return [*one.words, *(value.split(" ") if one.words[-1] == "slots" else ["--", value]), *one.then]
    return [*one.words, f"{one.option}={value}"]


@pytest.mark.parametrize("one", TABLE, ids=IDS_OF_ROWS)
def test_a_bad_value_is_refused_and_named(home: Path, one: Row) -> None:
    for value in one.values:
        code, told = run(*_words(one, value))
        assert code in one.code, (value[:80], told[-500:])
        assert "Traceback" not in told
        wanted = one.names if one.names or not one.option.startswith("--") else one.option
        if one.names or one.option.startswith("--"):
            assert wanted.lstrip("-").replace("-", "_") in told.replace("-", "_"), (value[:80], told[-500:])
        assert len(told) > 20, (value[:80], told[-500:])


def test_the_table_is_complete() -> None:
    wanted: set[tuple[str, str]] = set()
    common = {action.dest for action in arguments(program.common_options())}
    for words_, parser in leaves():
        verb = " ".join(words_)
        for action in arguments(parser):
            if action.dest in common | {"help"} or action.nargs == 0:
                continue
            wanted.add((verb, action.option_strings[-1] if action.option_strings else action.dest))
    rows = {(" ".join(word for word in one.words if not word.startswith("-")), one.option) for one in TABLE}
    missing = []
    for verb, option in sorted(wanted):
        known = {found for words, found in rows if words == verb or words.startswith(verb + " ")}
        exempt = option in FREE or (verb == "worker slots" and option == "workers")
        if not exempt and option not in known and (option.startswith("-") or "" not in known):
            missing.append(f"{verb} {option}")
    assert not missing


@pytest.mark.parametrize(
    "words",
    ["task create --shop pdd:s1 --type work --not-before=", "task create --shop pdd:s1 --type work --deadline|",
     "worker --lanes|", "task prioritize a --priority=", "export --yes --out|", "schedule add n --every|"],
)  # fmt: skip
def test_an_empty_value_is_not_taken_for_none(home: Path, words: str) -> None:
    """As a script gives it whose variable is not set."""
    given = [word for part in words.split(" ") for word in ([part[:-1], ""] if part.endswith("|") else [part])]
    code, told = run(*given)
    name = next(word.rstrip("=") for word in given if word.endswith("=") or word + "|" in words)
    assert code == 2
    assert f"{name} is empty; give it a value, or leave it out" in told


def test_an_option_given_twice_is_refused_as_by_the_server(home: Path) -> None:
    code, told = run("task", "list", "--limit", "1", "--limit", "5")
    assert (code, "twice" in told) == (2, True), told
    code, told = run("stats", "--profile", "local", "--profile", "local", "--json")
    assert code == 0, told


def test_a_huge_file_is_refused_by_its_rows(home: Path) -> None:
    (home / "huge.csv").write_text("shop,type\n" + '"never closed\n' * 1000, encoding="utf-8")
    code, told = run("task", "create", "--file", "huge.csv")
    assert (code, "Traceback" in told) == (2, False)
    assert "huge.csv" in told or "line" in told
