"""What the words of the command line lead to."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from services.cli import program
from services.cli.window import pages


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[program.ConsoleRequest]:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    return []


def test_no_word_at_all_opens_the_window(opened: list[program.ConsoleRequest]) -> None:
    assert program.run([], lambda request: opened.append(request) or 7) == 7
    assert [request.page for request in opened] == [""]


@pytest.mark.parametrize(
    ("link", "page", "told"),
    [
        ("fleetdeck://local/tasks?show=status%3Adead", "tasks", False),
        ("fleetdeck://local/nowhere", "", True),
        ("fleetdeck://attic/tasks", "", True),
        ("fleetdeck:", "", True),
    ],
)
def test_a_link_that_was_clicked_opens_the_window_wherever_it_leads(
    opened: list[program.ConsoleRequest], link: str, page: str, told: bool
) -> None:
    assert program.run([link], lambda request: opened.append(request) or 0) == 0
    assert [(one.page, one.link) for one in opened] == [(page, link if told else "")]


def test_an_option_without_its_value_is_refused(opened: list[program.ConsoleRequest]) -> None:
    assert program.run(["--page", ""], lambda request: opened.append(request) or 0) == 2
    assert not opened


@pytest.mark.parametrize("page", pages())
def test_every_page_can_be_named(opened: list[program.ConsoleRequest], page: str) -> None:
    assert program.run(["--page", page], lambda request: opened.append(request) or 0) == 0
    assert [request.page for request in opened] == [page]


def test_the_help_names_every_page(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["demo", "--help"]):
        with pytest.raises(SystemExit):
            program.run(words, lambda _request: 0)
        said = " ".join(capsys.readouterr().out.split())
        assert f"page to open: {', '.join(pages())}" in said


def test_a_page_that_is_none_is_told_with_those_there_are(
    opened: list[program.ConsoleRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.run(["--page", "shop"], lambda request: opened.append(request) or 0) == 2
    assert not opened
    assert f"--page takes {', '.join(pages())}, not 'shop'" in capsys.readouterr().err


def test_an_option_that_has_a_few_words_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.run(["task", "resolve", "x", "--as", "nope"], lambda _request: 0) == 2
    assert "--as takes again, dead, succeeded, not 'nope'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [("taks list", "task"), ("shop puase s1", "pause"), ("log --level waring", "warning"), ("xyzzy", "")],
)
def test_a_misspelt_word_is_answered_with_what_was_probably_meant(
    words: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    assert program.run(words.split(), lambda _: 0) == 2
    said = capsys.readouterr().err.strip()
    assert said.endswith(f"did you mean {meant}?") if meant else "did you mean" not in said


@pytest.mark.parametrize(
    ("words", "said", "field"),
    [
        ("task create sync_order --shop pdd:s1", "task create: nothing takes the word 'sync_order'", "sync_order"),
        ("task create --shp=pdd:s1", "task create: there is no option --shp; did you mean --shop?", "--shp"),
        ("dead list 5", "dead list: nothing takes the word '5'", "5"),
        ("--verson", "there is no option --verson; did you mean --version?", "--verson"),
    ],
)
def test_what_no_option_takes_is_told_by_the_command_that_was_meant(
    words: str, said: str, field: str, opened: list[program.ConsoleRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.run([*words.split(), "--json"], lambda request: opened.append(request) or 0) == 2
    assert not opened
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert (answer["error"].startswith(said), answer["field"]) == (True, field)
    assert err.startswith(f"usage: fleetdeck {said.partition(':')[0]}" if ":" in said else "usage: fleetdeck [")


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("task cancel --filter shop:pdd:* --filter status:queued --yes", "--filter"),
        ("shop pause pdd:s1 --note a --reason b", "--reason"),
        ("task create --shop pdd:s1 --type a --type=b", "--type"),
        ("worker --drain --slots 2 --slots 3", "--slots"),
    ],
)
def test_an_option_that_stands_there_twice_is_refused(
    words: str, field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last alone would count, and an act would be about more than was meant."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    assert program.run([*words.split(), "--json"], lambda _: 0) == 2
    answer = json.loads(capsys.readouterr().out)
    assert "twice" in answer["error"]
    assert answer["field"] == field


def test_what_may_stand_anywhere_may_do_so_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As over an alias that names a profile: the last one counts."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    assert program.run(["--profile", "gone", "--profile", "local", "stats", "--profile", "local"], lambda _: 0) == 0
    several = ["task", "create", "--shop", "pdd:s1", "--shop", "pdd:s2", "--type", "work", "--json"]
    assert program.run(several, lambda _: 0) == 0
    assert len(json.loads(capsys.readouterr().out.splitlines()[-1])["created"]) == 2


def test_a_shop_may_say_its_platform_beside_the_option_but_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    words = ["task", "create", "--shop", "pdd:s1", "--type", "work", "--json", "--platform"]
    assert program.run([*words, "pdd"], lambda _: 0) == 0
    assert json.loads(capsys.readouterr().out)["created"][0].startswith("pdd_work_s1_")
    assert program.run([*words, "temu"], lambda _: 0) == 2
    answer = json.loads(capsys.readouterr().out)
    assert (answer["field"], "'temu'" in answer["error"], "'pdd:s1'" in answer["error"]) == ("--platform", True, True)


def test_the_name_of_a_shop_leads_to_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    (tmp_path / "shops.csv").write_text("platform,shop_id,name\npdd,s1,丹宁旗舰店\npdd,s2,\n", encoding="utf-8")
    assert program.run(["shop", "import", str(tmp_path / "shops.csv")], lambda _: 0) == 0
    capsys.readouterr()
    assert program.run(["shop", "pause", "丹宁旗舰店"], lambda _: 0) == 2
    assert "the name of pdd:s1" in capsys.readouterr().err
    assert program.run(["shop", "show", ""], lambda _: 0) == 2
    assert "there is no shop ''" in capsys.readouterr().err


def test_a_schedule_begins_when_people_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    add = ["schedule", "add", "n", "--type", "work", "--every", "30m", "--all", "--zone", "UTC", "--dry-run", "--json"]
    assert program.run([*add, "--start", "tomorrow 9:00"], lambda _: 0) == 0
    first = json.loads(capsys.readouterr().out)["schedule"]["first_at"]
    assert datetime.fromisoformat(first).strftime("%H:%M") == "09:00"


def test_a_filter_may_begin_with_what_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    for shop in ("pdd:s1", "pdd:s2"):
        assert program.run(["task", "create", "--shop", shop, "--type", "work"], lambda _: 0) == 0
    capsys.readouterr()

    def found(*words: str) -> list[str]:
        assert program.run(["task", "list", *words, "--json"], lambda _: 0) == 0
        return [task["shop_id"] for task in json.loads(capsys.readouterr().out)["tasks"]]

    assert found("--filter", "-shop:s1") == found("--filter=-shop:s1") == found("--filter", "-s1") == ["s2"]
    assert found("--filter", "-status:queued") == []
    assert program.run(["task", "list", "--filter", "--json"], lambda _: 0) == 2
    assert json.loads(capsys.readouterr().out)["field"] == "--filter", "what is an option is none"


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (["--screenshot", "window.png", "task", "list"], "--screenshot"),
        (["--page", "shops", "doctor"], "--page"),
        (["--page", "shops", "worker", "list"], "--page"),
        (["demo", "--json", "--page", "shops"], "--page"),
        (["demo", "--json", "--size", "1280x720"], "--size"),
        (["--screenshot", "window"], "--screenshot"),
        (["demo", "--screenshot", "window.txt"], "--screenshot"),
    ],
)
def test_what_is_for_a_window_is_refused_where_none_opens(
    opened: list[program.ConsoleRequest], capsys: pytest.CaptureFixture[str], words: list[str], field: str
) -> None:
    asked = words if "--json" in words else [*words, "--json"]
    assert program.run(asked, lambda request: opened.append(request) or 0) == 2
    assert not opened
    assert json.loads(capsys.readouterr().out)["field"] == field


def test_with_json_a_picture_is_told_when_it_was_taken(
    opened: list[program.ConsoleRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.run(["--screenshot", "window.png", "--json"], lambda request: opened.append(request) or 0) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "screenshot": "window.png"}
    assert program.run(["--screenshot", "window.png", "--json"], lambda _request: 1) == 1
    assert json.loads(capsys.readouterr().out) == {"ok": False, "screenshot": ""}
