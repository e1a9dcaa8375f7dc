"""Settings: the file, the environment over it, the command line over both; every fault names its field."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from services import settings as config
from services.domain.errors import UsageError
from services.profiles.book import Book, SavedProfile
from services.settings.declared import everything


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("FLEETDECK_")]:
        monkeypatch.delenv(name)


def written(home: Path, text: str) -> Path:
    (home / "config.toml").write_text(text, encoding="utf-8")
    return home


def fault(home: Path, **words: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        config.load(home=home, **words)
    return caught.value


# --------------------------------------------------------------------------------------------------------------- values
def test_without_anything_the_embedded_engine_runs_with_defaults(tmp_path: Path) -> None:
    settings = config.load(home=tmp_path)
    assert settings.embedded
    assert settings.database == tmp_path / "local.sqlite"
    assert (settings.worker.slots, settings.lease.seconds) == (5, 60.0)
    assert settings.delays == (30, 60, 120)
    assert settings.executors.rpa.command[0] == "youdao_rpa_cli"


def test_the_file_the_variables_and_the_words_lie_over_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "language = 'en'\n[worker]\nslots = 3\nlanes = ['high']\n[retry]\nbase_seconds = 10\n")
    monkeypatch.setenv("FLEETDECK_WORKER__SLOTS", "7")
    monkeypatch.setenv("FLEETDECK_RETRY__CAP_SECONDS", "40")
    monkeypatch.setenv("FLEETDECK_STRICT_SHOPS", "true")
    monkeypatch.setenv("FLEETDECK_EXECUTORS__RPA__COMMAND", '["run", "{param}"]')
    settings = config.load(home=tmp_path)
    assert (settings.worker.slots, settings.worker.lanes) == (7, ("high",))
    assert settings.delays == (10, 20, 40)
    assert settings.strict_shops is True
    assert settings.executors.rpa.command == ("run", "{param}")


def test_lists_may_be_words_with_commas_in_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEETDECK_WORKER__LANES", "high, low")
    assert config.load(home=tmp_path).worker.lanes == ("high", "low")


def test_so_may_every_list_of_names_and_each_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "WORKER__HANDLERS": "mine, more",
        "EXECUTORS__RPA__PASS_ENVIRONMENT": "ERP_*,ZONE",
        "EXECUTORS__RPA__BROWSER_TYPES": "crawl",
        "EXECUTORS__HTTP__HOSTS": "erp.local,*.corp.example",
        "EXECUTORS__BROWSER__HOSTS": '["erp.local"]',
        "EXECUTORS__BROWSER__ALLOWED_SCHEMES": "https",
    }.items():
        monkeypatch.setenv(f"FLEETDECK_{name}", text)
    found = config.load(home=tmp_path)
    assert found.worker.handlers == ("mine", "more")
    assert (found.executors.rpa.pass_environment, found.executors.rpa.browser_types) == (("ERP_*", "ZONE"), ("crawl",))
    assert found.executors.http.hosts == ("erp.local", "*.corp.example")
    assert (found.executors.browser.hosts, found.executors.browser.allowed_schemes) == (("erp.local",), ("https",))
    monkeypatch.setenv("FLEETDECK_EXECUTORS__RPA__COMMAND", "flow,x")
    assert fault(tmp_path).field == "executors.rpa.command", "a word of a command may hold a comma"


def test_the_shares_of_lanes_are_texts_or_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "[worker]\nslots = 4\n[worker.lane_slots]\nlow = 1\nhigh = '-3'\n")
    monkeypatch.setenv("FLEETDECK_WORKER__LANE_SLOTS__NORMAL", "1-2")
    assert config.load(home=tmp_path).worker.lane_slots == {"low": 1, "high": "-3", "normal": "1-2"}


def test_secrets_and_variables_of_tests_are_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FLEETDECK_SECRET__PDD_S1", "FLEETDECK_SAMPLE_URL", "FLEETDECK_TEST_AMQP_URL", "FLEETDECK_HOME"):
        monkeypatch.setenv(name, "x")
    assert config.load(home=tmp_path) == config.load(home=tmp_path)


@pytest.mark.parametrize(
    ("base", "cap", "levels"),
    [(30, 120, (30, 60, 120)), (1, 4, (1, 2, 4)), (5, 5, (5,)), (50, 120, (50, 100, 120)), (1, 1, (1,))],
)
def test_the_delays_double_up_to_the_cap(tmp_path: Path, base: int, cap: int, levels: tuple[int, ...]) -> None:
    written(tmp_path, f"[retry]\nbase_seconds = {base}\ncap_seconds = {cap}\n")
    assert config.load(home=tmp_path).delays == levels


def test_a_refusal_names_another_setting_only_where_both_are_wrong_together(tmp_path: Path) -> None:
    written(tmp_path, "[retry]\nbase_seconds = 60\ncap_seconds = 30\n")
    with pytest.raises(UsageError) as together:
        config.load(home=tmp_path)
    assert (together.value.field, together.value.others) == ("retry.base_seconds", ("retry.cap_seconds",))
    written(tmp_path, "[retry]\nbase_seconds = 'soon'\ncap_seconds = 30\n")
    with pytest.raises(UsageError) as alone:
        config.load(home=tmp_path)
    assert (alone.value.field, alone.value.others) == ("retry.base_seconds", ())


def test_a_named_profile_leads_to_its_fleet(tmp_path: Path) -> None:
    written(tmp_path, "[profiles.prod]\nbroker = 'amqp://b'\nredis = 'redis://r'\nmanagement = 'http://m'\n")
    settings = config.load(home=tmp_path, profile="prod")
    assert (settings.broker.url, settings.broker.management_url, settings.store.url) == (
        "amqp://b",
        "http://m",
        "redis://r",
    )
    assert not settings.embedded
    assert config.load(home=tmp_path).embedded


FLEETS = """
[broker]
url = 'amqp://b'
[store]
url = 'redis://s'
[profiles.shops]
broker = 'amqp://shops'
redis = 'redis://shops'
environment = 'production'
read_only = true
"""


def test_a_profile_that_is_named_beats_the_addresses_of_the_file(tmp_path: Path) -> None:
    written(tmp_path, FLEETS)
    settings = config.load(home=tmp_path, profile="shops")
    assert (settings.broker.url, settings.environment, settings.read_only) == ("amqp://shops", "production", True)
    assert config.load(home=tmp_path, profile="local").embedded
    unnamed = config.load(home=tmp_path)
    assert (unnamed.broker.url, unnamed.environment, unnamed.read_only) == ("amqp://b", "", False)


def test_a_word_lowers_and_nothing_raises(tmp_path: Path) -> None:
    written(tmp_path, FLEETS)
    assert config.load(home=tmp_path, read_only=True).read_only
    elsewhere = config.load(home=tmp_path, profile="shops", broker="amqp://c", redis="redis://c")
    assert (elsewhere.broker.url, elsewhere.read_only) == ("amqp://c", True)


def test_a_profile_of_this_machine_has_a_file_of_its_own(tmp_path: Path) -> None:
    written(tmp_path, "[profiles.tryout]\nenvironment = 'test'\n")
    settings = config.load(home=tmp_path, profile="tryout")
    assert settings.embedded
    assert (settings.environment, settings.database.name) == ("test", "tryout.sqlite")


def test_a_name_that_nobody_knows_is_refused_with_those_that_are(tmp_path: Path) -> None:
    written(tmp_path, FLEETS)
    with pytest.raises(UsageError, match="there is no profile 'shop'; known: local, shops"):
        config.load(home=tmp_path, profile="shop")


def test_addresses_on_the_command_line_win(tmp_path: Path) -> None:
    written(tmp_path, "[broker]\nurl = 'amqp://b'\n[store]\nurl = 'redis://r'\n")
    settings = config.load(home=tmp_path, broker="amqp://c", redis="redis://s")
    assert (settings.profile, settings.broker.url, settings.store.url) == ("fleet", "amqp://c", "redis://s")


def test_bom_and_windows_lines_are_read(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbf[worker]\r\nslots = 2\r\n")
    assert config.load(home=tmp_path).worker.slots == 2


def test_the_home_is_named_by_a_variable_or_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.default_home().name == "fleetdeck"
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))
    assert config.default_home() == tmp_path


# --------------------------------------------------------------------------------------------------------------- faults
@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[worker]\nslots = 'many'\n", "worker.slots"),
        ("[worker]\nslots = 0\n", "worker.slots"),
        ("[worker.lane_slots]\nurgent = 1\n", "worker.lane_slots.urgent"),
        ("[worker.lane_slots]\nlow = '3-1'\n", "worker.lane_slots.low"),
        ("[worker]\nslots = 2\n[worker.lane_slots]\nlow = 3\n", "worker.lane_slots"),
        ("[worker]\npreemptions = 21\n", "worker.preemptions"),
        ("[broker]\nlifo_lanes = ['urgent']\n", "broker.lifo_lanes"),
        (
            "profile = 'p'\n[broker]\nlifo_lanes = ['low']\n[profiles.p]\nbroker = 'amqp://b'\nredis = 'redis://r'\n",
            "broker.lifo_lanes",
        ),
        ("[broker]\nurl = 'amqp://b'\nlifo_lanes = ['low']\n[store]\nurl = 'redis://r'\n", "broker.lifo_lanes"),
        ("[worker]\nslots = 513\n", "worker.slots"),
        ("[worker]\nlanes = ['fast']\n", "worker.lanes"),
        ("[worker]\nlanes = []\n", "worker.lanes"),
        ("[worker]\ngrace_seconds = -1\n", "worker.grace_seconds"),
        ("[retry]\nbase_seconds = 0\n", "retry.base_seconds"),
        ("[retry]\ncap_seconds = 0\n", "retry.cap_seconds"),
        ("[retry]\ncap_seconds = 86401\n", "retry.cap_seconds"),
        ("[retry]\nbase_seconds = 60\ncap_seconds = 30\n", "retry.base_seconds"),
        ("[retry]\nmax_retries = 21\n", "retry.max_retries"),
        ("[retry]\nmax_retries = -1\n", "retry.max_retries"),
        ("[lease]\nseconds = 0.5\n", "lease.seconds"),
        ("[lease]\nseconds = nan\n", "lease.seconds"),
        ("[retention]\nfinished_days = 0.01\n", "retention.finished_days"),
        ("[retention]\nfinished_count = 10\n", "retention.finished_count"),
        ("[retention]\ntombstone_days = 0\n", "retention.tombstone_days"),
        ("[retention]\nopen_days = -1\n", "retention.open_days"),
        ("[retention]\narchived_days = nan\n", "retention.archived_days"),
        ("[confirm]\nproduction = 0\n", "confirm.production"),
        ("theme = 'pink'\n", "theme"),
        ("language = 'kl'\n", "language"),
        ("time_zone = 'Mars/Olympus'\n", "time_zone"),
        ("worker = 3\n", "worker"),
        ("[broker]\nurl = 'amqp://b'\n", "broker.url"),
    ],
)
def test_a_value_that_cannot_be_names_its_field(tmp_path: Path, text: str, field: str) -> None:
    found = fault(written(tmp_path, text))
    assert found.field == field
    assert field.rpartition(".")[2] in str(found)


def test_an_unknown_key_is_named(tmp_path: Path) -> None:
    found = fault(written(tmp_path, "[worker]\nsloots = 3\n"))
    assert (found.field, "did you mean slots?" in str(found)) == ("worker.sloots", True)
    found = fault(written(tmp_path, "[lease]\n'x\u202e' = 3\n"))
    assert "lease.x<U+202E>; known there: seconds" in str(found)
    found = fault(written(tmp_path, "[profiles.a]\nbroker = 'amqp://b'\n[profiles.b]\nbrokr = ''\n"))
    assert (found.field, "did you mean broker?" in str(found)) == ("profiles.b.brokr", True)


def test_the_folder_is_not_set_in_the_file_that_lies_in_it(tmp_path: Path) -> None:
    found = fault(written(tmp_path, 'home = "/elsewhere"\n'))
    assert (found.field, "FLEETDECK_HOME" in str(found)) == ("home", True)
    assert "home" not in str(fault(written(tmp_path, "nothing_like_it = 1\n")))


def test_what_is_missing_of_one_of_many_is_named(tmp_path: Path) -> None:
    text = (
        "[foreign_queues.a]\ntask_type = 't'\nplatform = 'pdd'\nshop_id = '{s}'\n[foreign_queues.b]\ntask_type = 't'\n"
    )
    found = fault(written(tmp_path, text))
    assert (found.field, str(found).endswith("foreign_queues.b.platform is missing")) == (
        "foreign_queues.b.platform",
        True,
    )


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("command = ['rpa', '{param}', '--shop={shop}']", "executors.rpa.command"),
        ("commands.send = ['rpa', '{parm}']", "executors.rpa.commands.send"),
        ("command = ['rpa', '{type}']", "executors.rpa.command"),
    ],
)
def test_a_place_of_a_command_that_nothing_fills_is_refused(tmp_path: Path, text: str, field: str) -> None:
    found = fault(written(tmp_path, f"[executors.rpa]\n{text}\n"))
    assert found.field == field
    assert "{task_id}" in str(found)
    good = (
        "command = ['rpa', '{platform}_{task_type}', '{\"a\": 1}', '{}', '{12ab-34}', '{debug_port}', '${HOME} {main}']"
    )
    assert len(config.load(home=written(tmp_path, f"[executors.rpa]\n{good}\n")).executors.rpa.command) == 7


def test_a_value_of_a_wrong_type_names_which_of_many_it_is(tmp_path: Path) -> None:
    text = "[profiles.a]\nread_only = true\n[profiles.b]\nread_only = 'perhaps'\n"
    found = fault(written(tmp_path, text))
    assert found.field == "profiles.b.read_only"
    assert "profiles.b.read_only must be true or false, not a text" in str(found)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[executors.rpa]\ncwd = 'A'\n", "executors.rpa.cwd"),
        ("[executors.rpa]\ncommand = ['run', 'A']\n", "executors.rpa.command"),
        ("[executors.rpa.environment]\nX = 'A'\n", "executors.rpa.environment.X"),
        ("[artifacts]\nplace = 'A'\n", "artifacts.place"),
        ("[executors.browser]\npath = 'A'\n", "executors.browser.path"),
        ("environment = 'A'\n", "environment"),
    ],
)
@pytest.mark.parametrize("char", ["\\u0000", "\\u001b", "\\u009b"])
def test_no_text_holds_control_characters(tmp_path: Path, text: str, field: str, char: str) -> None:
    """No path and no word of a command can; the worker would meet them with the first task."""
    found = fault(written(tmp_path, text.replace("'A'", f'"a{char}"')))
    assert (found.field, "control character" in str(found)) == (field, True)
    config.load(home=written(tmp_path, text.replace("'A'", '"two\\nlines\\tand a tab"')))


@pytest.mark.parametrize(
    ("place", "meant"),
    [
        ("s3:/x", "s3://x"),
        ("S3://x", "s3://x"),
        ("s3:x/y", "s3://x/y"),
        ("s3//x", "s3://x"),
        ("s3:///x", "s3://x"),
        (" s3://x", "s3://x"),
        ("s3:\\x", "s3://x"),
        ("Off", "off"),
        ("none", "off"),
        ("s3://", ""),
        ("s3://a b/c", ""),
        ("http://x", ""),
        ("file:/tmp", ""),
        ("gs://x", ""),
        ("/tmp/x ", ""),
    ],
)
def test_what_is_nearly_a_place_for_files_is_no_folder(tmp_path: Path, place: str, meant: str) -> None:
    found = fault(written(tmp_path, f"[artifacts]\nplace = {json.dumps(place)}\n"))
    assert found.field == "artifacts.place"
    assert "artifacts.place must be a folder, s3://bucket/folder, off, or empty" in str(found)
    assert (f"; {meant} is probably meant" in str(found)) == bool(meant)


@pytest.mark.parametrize(
    "place",
    ["", "off", "s3://x", "s3://my.bucket-1/a b/c", "/data/s3", "C:\\files", "c:/files", "~/files", "s3/x", "no way"],
)
def test_a_place_for_files_is_taken(tmp_path: Path, place: str) -> None:
    text = f"[artifacts]\nplace = {json.dumps(place)}\n"
    assert config.load(home=written(tmp_path, text)).artifacts.place == place


def test_variables_of_any_depth_are_values_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEETDECK_WORKER__HANDLERS", "[" * 20_000)
    assert config.load(home=tmp_path).worker.handlers == ("[" * 20_000,)
    monkeypatch.setenv("FLEETDECK_" + "__".join(["A"] * 2000), "1")
    assert "levels" in str(fault(tmp_path))


def test_the_address_of_a_store_alone_is_no_fleet(tmp_path: Path) -> None:
    """It was passed over in silence, and everything ran on this machine's own file."""
    assert fault(written(tmp_path, "[store]\nurl = 'redis://r'\n")).field == "broker.url"


@pytest.mark.parametrize(
    ("text", "field", "others"),
    [
        ("[store]\nurl = 'redis://r'\n", "broker.url", ("store.url",)),
        (
            "[broker]\nurl = 'amqp://b'\nlifo_lanes = ['low']\n[store]\nurl = 'redis://r'\n",
            "broker.lifo_lanes",
            ("broker.url",),
        ),
        ("[retry]\nbase_seconds = 60\ncap_seconds = 30\n", "retry.base_seconds", ("retry.cap_seconds",)),
        (
            "[executors.browser]\nmin_idle = 5\nmax_total = 2\n",
            "executors.browser.min_idle",
            ("executors.browser.max_total",),
        ),
        ("[worker]\nslots = 513\n", "worker.slots", ()),
    ],
)
def test_of_settings_that_do_not_fit_each_other_all_are_named(
    tmp_path: Path, text: str, field: str, others: tuple[str, ...]
) -> None:
    found = fault(written(tmp_path, text))
    assert (found.field, found.others) == (field, others)


def test_a_variable_that_cannot_be_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEETDECK_WORKER", "5")
    monkeypatch.setenv("FLEETDECK_WORKER__SLOTS", "5")
    assert "FLEETDECK_WORKER" in str(fault(tmp_path))


def test_a_file_that_is_no_toml_says_so(tmp_path: Path) -> None:
    assert "TOML" in str(fault(written(tmp_path, "[worker\n")))
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe")
    assert "UTF-8" in str(fault(tmp_path))
    (tmp_path / "config.toml").unlink()
    (tmp_path / "config.toml").mkdir()
    assert "config.toml" in str(fault(tmp_path))


def test_an_unknown_profile_names_those_that_are_there(tmp_path: Path) -> None:
    found = fault(written(tmp_path, "[profiles.prod]\nbroker='amqp://b'\nredis='redis://r'\n"), profile="test")
    assert (found.field, "prod" in str(found)) == ("--profile", True)


def test_addresses_hide_no_unknown_profile(tmp_path: Path) -> None:
    """Mistyped, the profile that permits to look alone would let everything through."""
    there = {"broker": "amqp://c", "redis": "redis://c"}
    found = fault(written(tmp_path, "[profiles.prod]\nbroker='amqp://b'\nredis='redis://r'\n"), profile="prdo", **there)
    assert (found.field, "prod" in str(found)) == ("--profile", True)
    for name in ("local", "fleet", ""):
        assert config.load(home=tmp_path, profile=name, **there).broker.url == "amqp://c"


def test_a_profile_made_in_the_window_permits_no_more_where_addresses_are_named(tmp_path: Path) -> None:
    made = SavedProfile(name="shops", broker="amqp://b", redis="redis://r", environment="production", read_only=True)
    Book(tmp_path).put(made)
    settings = config.load(home=tmp_path, profile="shops", broker="amqp://c", redis="redis://c")
    assert (settings.broker.url, settings.environment, settings.read_only) == ("amqp://c", "production", True)


@pytest.mark.parametrize(
    ("words", "field"), [({"broker": "amqp://b"}, "--redis"), ({"redis": "redis://r"}, "--broker")]
)
def test_half_a_pair_of_addresses_is_no_fleet(tmp_path: Path, words: dict[str, str], field: str) -> None:
    assert fault(tmp_path, **words).field == field


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("max_total = 0", "executors.browser.max_total"),
        ("max_total = 2\nmin_idle = 3", "executors.browser.min_idle"),
        ("viewport = '1366'", "executors.browser.viewport"),
        ("shops.'pdd:s1'.viewport = 'wide'", "executors.browser.shops.pdd:s1.viewport"),
        ("login_pages = '('", "executors.browser.login_pages"),
        ("download_mb = 0", "executors.browser.download_mb"),
        ("time_zone = 'Mars/Olympus'", "executors.browser.time_zone"),
        ("shops.'pdd:s1'.time_zone = 'Mars'", "executors.browser.shops.pdd:s1.time_zone"),
        ("proxy = 'http://a b:80'", "executors.browser.proxy"),
    ],
)
def test_what_no_browser_can_be_is_refused(tmp_path: Path, text: str, field: str) -> None:
    found = fault(written(tmp_path, f"[executors.browser]\n{text}\n"))
    assert found.field == field
    assert field in str(found)


@pytest.mark.parametrize("url", ["abc", "-5", " ", "http://", "http://h:99999", "amqp://h", "http://a b", "h:15672"])
def test_what_cannot_be_asked_by_http_is_no_management_address(tmp_path: Path, url: str) -> None:
    found = fault(written(tmp_path, f"[broker]\nmanagement_url = {json.dumps(url)}\n"))
    assert found.field == "broker.management_url"


@pytest.mark.parametrize("url", ["", "http://a,b:15672/x", "https://u:p@[::1]:15671", " http://商店.example:15672"])
def test_a_management_address_is_taken(tmp_path: Path, url: str) -> None:
    text = f"[broker]\nurl = 'amqp://b'\nmanagement_url = {json.dumps(url)}\n[store]\nurl = 'redis://r'\n"
    settings = config.load(home=written(tmp_path, text))
    assert settings.broker.management_url == url


@pytest.mark.parametrize(
    "name", ["a\x1b[31m", "a\nb", "a\u202eb", "a\u200bb", "a\x9bb", "a/b", "a\\b", "nul", "COM¹.x", "x" * 101]
)
def test_a_name_that_cannot_be_seen_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.toml").write_text(f"[worker]\nname = {json.dumps(name)}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"worker\.name must be"):
        config.load(home=tmp_path)
    text = f'[profiles.{json.dumps(name)}]\nbroker = "amqp://h"\nredis = "redis://h"\n'
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="a name of 1 to 100") as caught:
        config.load(home=tmp_path)
    assert not any(char in str(caught.value) for char in "\x1b\n\u202e\u200b\x9b\u2066")


def test_a_profile_without_a_name_is_refused(tmp_path: Path) -> None:
    text = '[profiles.""]\nbroker = "amqp://h"\nredis = "redis://h"\n'
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="a name of 1 to 100"):
        config.load(home=tmp_path)


@pytest.mark.parametrize(
    "name",
    ["idna", "punycode", "unicode_escape", "utf-7", "utf-16", "hex", "zip", "undefined", "cp037", "nonsense", ""],
)
def test_an_encoding_that_cannot_carry_what_flows_print_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.toml").write_text(f'[executors.rpa]\nencoding = "{name}"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"executors\.rpa\.encoding must be a name such as utf-8 or gbk"):
        config.load(home=tmp_path)


@pytest.mark.parametrize("name", ["utf-8", "gbk", "gb18030", "big5", "cp1252", "shift_jis", "UTF8"])
def test_encodings_of_programs_are_taken(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.toml").write_text(f'[executors.rpa]\nencoding = "{name}"\n', encoding="utf-8")
    assert config.load(home=tmp_path).executors.rpa.encoding == name


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('environment = "prod\u202etset"', "environment"),
        (f'environment = "{"x" * 101}"', "environment"),
        ('[profiles.a]\nbroker = "amqp://h"\nredis = "redis://h"\nenvironment = "a\u200bb"', "profiles.a.environment"),
        ("[retention]\nfinished_count = 9999999999999999999", "retention.finished_count"),
        ("[retention]\nfinished_count = 1e999", "retention.finished_count"),
    ],
)
def test_what_stands_on_every_page_and_in_every_store_is_what_it_looks_like(
    tmp_path: Path, text: str, field: str
) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(field)):
        config.load(home=tmp_path)


def test_a_profile_of_a_million_letters_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(f'profile = "{"x" * 900_000}"', encoding="utf-8")
    with pytest.raises(UsageError, match="there is no profile") as caught:
        config.load(home=tmp_path)
    assert len(str(caught.value)) < 1000


# --------------------------------------------------------------------------------------------------------- surroundings
ASK = "import sys; from services import settings; sys.exit(settings.launched())"
#: runs a command in a terminal of its own
TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
#: what a desktop does: its mark names the process that becomes the program
DESKTOP = 'export GIO_LAUNCHED_DESKTOP_FILE_PID=$$; exec "$0" "$@"'
NOBODY = 'exec "$0" "$@" >/dev/null 2>&1'
OTHERS = {"DESKTOP_STARTUP_ID": "clicked", "XDG_ACTIVATION_TOKEN": "clicked"}


@pytest.mark.skipif(sys.platform == "win32", reason="there a program without a console has no outputs")
@pytest.mark.parametrize(
    ("command", "around", "clicked"),
    [
        pytest.param(["sh", "-c", NOBODY], {}, False, id="no icon"),
        pytest.param(["sh", "-c", f"{DESKTOP} 2>log"], {}, True, id="its own mark"),
        pytest.param([sys.executable, "-c", TERMINAL, "sh", "-c", DESKTOP], {}, False, id="an entry with a terminal"),
        pytest.param(["sh", "-c", NOBODY], {"GIO_LAUNCHED_DESKTOP_FILE_PID": "1"}, False, id="the mark of another"),
        pytest.param(["sh", "-c", NOBODY], OTHERS, True, id="marks that name nobody"),
        pytest.param(["sh", "-c", 'exec "$0" "$@" >/dev/null 2>log'], OTHERS, False, id="a file is written"),
        pytest.param(["bash", "-c", 'set -o pipefail; "$0" "$@" | cat'], OTHERS, False, id="a pipe is read"),
        pytest.param([sys.executable, "-c", TERMINAL, "sh", "-c", NOBODY], OTHERS, False, id="from a terminal"),
    ],
)
def test_a_click_is_told_from_what_inherits_its_marks(
    tmp_path: Path, command: list[str], around: dict[str, str], clicked: bool
) -> None:
    names = ("GIO_LAUNCHED_DESKTOP_FILE_PID", "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN")
    kept = {name: text for name, text in os.environ.items() if name not in names}
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [*command, sys.executable, "-c", ASK],
        cwd=tmp_path,
        env={**kept, **around, "PYTHONPATH": root},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == clicked


@pytest.mark.parametrize(
    "text",
    [
        "[retry]\nbase_seconds = 30\ncap_seconds = 5\n",
        "[executors.browser]\nmin_idle = 5\nmax_total = 2\n",
        "[broker]\nurl = 'amqp://guest@localhost'\n",
        "[broker]\nurl = 'pulsar://localhost'\nlifo_lanes = ['low']\n[store]\nurl = 'redis://localhost'\n",
    ],
)
def test_what_a_refusal_names_as_wrong_together_are_settings(tmp_path: Path, text: str) -> None:
    """The dialog shows it at each of them."""
    caught = fault(written(tmp_path, text))
    assert caught.others
    assert {caught.field, *caught.others} <= {one.name for one in everything()}
