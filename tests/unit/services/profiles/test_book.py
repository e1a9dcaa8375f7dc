"""The connections made in a window: kept without passwords, found with them, read as they always were."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.errors
import pytest

from services import settings as config
from services.cli import program
from services.domain.errors import UsageError
from services.profiles import known, passwords
from services.profiles.book import Book, SavedProfile


class Keys(keyring.backend.KeyringBackend):
    """A key store in memory."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError(username)


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[Keys]:
    """The system's key store of this test."""
    before, made = keyring.get_keyring(), Keys()
    monkeypatch.setattr(passwords, "_HELD", {})
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


class PlaintextKeyring(Keys):
    """As the one that keyring falls back to where a package brings it."""


class Refusing(keyring.backend.KeyringBackend):
    """A key store that answers with an error of its system, as that of Windows does."""

    priority = 1  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        raise OSError(1312, "A specified logon session does not exist")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise OSError(1783, "The stub received bad data")

    def delete_password(self, service: str, username: str) -> None:
        raise OSError(1312, "A specified logon session does not exist")


EAST = SavedProfile(
    name="华东 East",
    environment="production",
    broker="amqps://ann:pa55@mq.example.com:5671/fleet",
    redis="rediss://:s3cret@redis.example.com:6380/0",
    broker_profile="cluster",
)


def test_passwords_go_to_the_key_store_and_never_into_the_file(tmp_path: Path, keys: Keys) -> None:
    assert Book(tmp_path).put(EAST)
    written = (tmp_path / "profiles.json").read_text(encoding="utf-8")
    assert "pa55" not in written
    assert "s3cret" not in written
    passwords._HELD.clear()
    assert Book(tmp_path).find("华东 East") == EAST
    settings = config.load(home=tmp_path, profile="华东 East")
    assert (settings.broker.url, settings.store.url) == (EAST.broker, EAST.redis)
    assert (settings.environment, settings.broker.profile) == ("production", "cluster")


def test_without_a_key_store_the_password_is_known_until_the_program_ends(tmp_path: Path) -> None:
    assert not Book(tmp_path).put(EAST)
    assert Book(tmp_path).find(EAST.name) == EAST
    passwords._HELD.clear()
    found = Book(tmp_path).find(EAST.name)
    assert found is not None
    assert found.broker == "amqps://ann@mq.example.com:5671/fleet"


def test_a_key_store_that_refuses_in_its_own_way_keeps_nothing_and_stops_nobody(
    tmp_path: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring.set_keyring(Refusing())
    book = Book(tmp_path)
    assert not book.put(EAST)
    assert book.find(EAST.name) == EAST
    monkeypatch.setattr(passwords, "_HELD", {})
    found = book.find(EAST.name)
    assert found is not None
    assert found.broker == "amqps://ann@mq.example.com:5671/fleet"
    book.remove(EAST.name)
    assert book.find(EAST.name) is None


def test_a_password_leaves_with_the_last_profile_that_needs_it(tmp_path: Path, keys: Keys) -> None:
    book = Book(tmp_path)
    book.put(EAST)
    book.put(SavedProfile(name="look", broker=EAST.broker, redis=EAST.redis, read_only=True))
    book.remove(EAST.name)
    assert len(keys.kept) == 2
    renamed = SavedProfile(name="see", broker=EAST.broker, redis="redis://elsewhere:6379/0")
    book.put(renamed, instead_of="look")
    assert list(book.profiles()) == ["see"]
    assert len(keys.kept) == 1
    book.remove("see")
    assert keys.kept == {}


def test_a_password_that_was_taken_out_of_an_address_leaves_the_key_store(tmp_path: Path, keys: Keys) -> None:
    book = Book(tmp_path)
    book.put(EAST)
    book.put(SavedProfile(name="look", redis=EAST.redis))
    bare = SavedProfile(name=EAST.name, broker=passwords.without(EAST.broker), redis=EAST.redis)
    assert book.put(bare, instead_of=EAST.name)
    assert list(keys.kept.values()) == [EAST.redis]
    passwords._HELD.clear()
    found = book.find(EAST.name)
    assert found is not None
    assert (found.broker, found.redis) == ("amqps://ann@mq.example.com:5671/fleet", EAST.redis)
    barer = SavedProfile(name=EAST.name, broker=bare.broker, redis=passwords.without(EAST.redis))
    book.put(barer, instead_of=EAST.name)
    assert list(keys.kept.values()) == [EAST.redis], "another connection needs it"


def test_the_fleet_that_a_window_before_remembered_is_a_profile_now(tmp_path: Path) -> None:
    fleet = {"broker": "amqp://guest@mq:5672/", "redis": "redis://redis:6379/0"}
    (tmp_path / "console.json").write_text(json.dumps({"chosen": "fleet", "fleet": fleet}))
    assert config.load(home=tmp_path, profile="fleet").store.url == "redis://redis:6379/0"
    Book(tmp_path).put(EAST)
    assert list(Book(tmp_path).profiles()) == ["fleet", EAST.name]


def test_a_file_that_cannot_be_read_is_put_aside_and_a_bad_line_left_out(tmp_path: Path) -> None:
    path = tmp_path / "profiles.json"
    path.write_text('{"profiles": [{"name": 5}, {"name": "good"}, "x"]}')
    assert list(Book(tmp_path).profiles()) == ["good"]
    path.write_text("{")
    assert Book(tmp_path).profiles() == {}
    Book(tmp_path).put(SavedProfile(name="new"))
    assert (tmp_path / "profiles.unreadable").read_text() == "{"


def test_an_unknown_name_is_refused_with_every_name_that_is_known(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[profiles.shops]\nbroker = 'amqp://b'\nredis = 'redis://r'\n")
    Book(tmp_path).put(SavedProfile(name="tryout"))
    with pytest.raises(UsageError, match="known: local, shops, tryout"):
        config.load(home=tmp_path, profile="west")
    listed = known.known(config.load(home=tmp_path))
    assert [(one.name, one.origin, one.local) for one in listed] == [
        ("local", known.OWN, True),
        ("shops", known.CONFIG, False),
        ("tryout", known.WINDOW, True),
    ]


def test_a_connection_that_permits_no_change_is_known_as_that(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[profiles.shops]\nread_only = true\n")
    book = Book(tmp_path)
    book.put(SavedProfile(name="watch", read_only=True))
    book.put(SavedProfile(name="tryout"))
    assert {one.name: one.read_only for one in known.known(config.load(home=tmp_path))} == {
        "local": False,
        "shops": True,
        "watch": True,
        "tryout": False,
    }


def test_addresses_of_the_file_without_a_name_are_a_connection_too(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[broker]\nurl = 'amqp://u:p@b:5672'\n[store]\nurl = 'redis://r'\n")
    settings = config.load(home=tmp_path)
    assert settings.profile == "fleet"
    assert [(one.name, one.broker) for one in known.known(settings)] == [("local", ""), ("fleet", "b:5672")]
    assert config.load(home=tmp_path, profile="fleet").broker.url == "amqp://u:p@b:5672"
    assert config.load(home=tmp_path, profile="local").embedded


@pytest.mark.parametrize("text", ["[" * 50_000, '{"profiles": ' + "[" * 50_000, " " * 3_000_000 + "{}", "\ufffe", "7"])
def test_a_file_that_is_none_of_connections_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "profiles.json").write_text(text, encoding="utf-8")
    assert Book(tmp_path).profiles() == {}
    (tmp_path / "console.json").write_text(text, encoding="utf-8")
    (tmp_path / "profiles.json").unlink()
    assert Book(tmp_path).profiles() == {}


def test_a_key_store_that_writes_plain_text_gets_no_password_and_is_told(
    keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where it is the first of several; each is named, for a person must know where passwords lie."""
    monkeypatch.setenv("FLEETDECK_HOME", str(tmp_path))

    def told() -> tuple[str, str]:
        capsys.readouterr()
        program.run(["doctor", "--json"], lambda _request: 0)
        found = json.loads(capsys.readouterr().out)["findings"]
        ((level, code),) = [(one["level"], one["code"]) for one in found if one["check"] == "keys"]
        return level, code

    assert told() == ("ok", "doctor.keys")
    plain = PlaintextKeyring()
    keyring.set_keyring(plain)
    assert not passwords.keep("broker", "amqp://ann:plain-secret@mq:5672/")
    assert passwords.recall("broker", "amqp://ann@mq:5672/") == "amqp://ann:plain-secret@mq:5672/", "until it ends"
    assert plain.kept == {}
    assert told() == ("warning", "doctor.plain_keys")
    keyring.set_keyring(keyring.backends.fail.Keyring())
    assert told() == ("ok", "doctor.no_keys")


def test_a_password_that_plain_text_holds_from_before_is_not_taken_for_the_new_one(
    keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, book = PlaintextKeyring(), Book(tmp_path)
    plain.set_password(passwords.SERVICE, "broker amqp://ann@mq:5672/", "amqp://ann:old-secret@mq:5672/")
    keyring.set_keyring(plain)
    assert not book.put(SavedProfile(name="east", broker="amqp://ann:new-secret@mq:5672/"))
    monkeypatch.setattr(passwords, "_HELD", {})  # another start
    found = book.find("east")
    assert found is not None
    assert found.broker == "amqp://ann@mq:5672/", "it is asked for"
    assert plain.kept == {}
    assert not book.put(SavedProfile(name="east", broker="amqp://ann:new-secret@mq:5672/")), "also with nothing there"
