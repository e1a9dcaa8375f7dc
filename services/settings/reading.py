"""config.toml, the environment over it, the words of the command line over both: one value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from services import addresses, home_folder
from services.broker import listed as brokers
from services.domain.errors import UsageError
from services.domain.text import kinds, mask
from services.domain.text.said import Said, said
from services.domain.text.visible import visible
from services.profiles.book import Book
from services.settings.bounds import DEPENDS, bounds
from services.settings.environment import default_home, variables
from services.settings.values import LANGUAGES, BrokerSettings, ProfileSettings, Settings, StoreSettings

#: settings that a variable may give with commas
_LISTS = (
    ("worker", "lanes"), ("worker", "handlers"), ("worker", "refuse_types"), ("broker", "lifo_lanes"),
    ("executors", "rpa", "pass_environment"), ("executors", "rpa", "browser_types"), ("executors", "http", "hosts"),
    ("executors", "browser", "hosts"), ("executors", "browser", "allowed_schemes"),
)  # fmt: skip
_ONE_OF_MANY = "*"
_RANGE = re.compile(r"([\d.]+) to ([\d.]+)")
_LACKS = re.compile(r"Object missing required field `(.*)`")
_KINDS = re.compile(r"Expected `(?P<wanted>.*)`, got `(?P<given>.*)`")
#: characters of a name that are repeated
_SHOWN = 120
#: where what is set stands, in the folder of Fleetdeck
FILE = "config.toml"
#: what a fleet is called whose addresses have no profile
UNNAMED = "fleet"


def load(
    *, profile: str = "", broker: str = "", redis: str = "", read_only: bool = False, home: Path | None = None
) -> Settings:
    """Read config.toml, lay ``FLEETDECK_…`` over it, then the command line's words.

    Raises:
        UsageError: a value has the wrong type or name; the text says which and what is wanted.
    """
    folder = home or default_home()
    home_folder.check(folder)
    data = home_folder.read_config(folder / FILE)
    return settled(data, folder, profile=profile, broker=broker, redis=redis, read_only=read_only)


def language_configured() -> str:
    """``language`` of config.toml, "" where it says nothing that is one; whatever else may be wrong with the file."""
    try:
        named = home_folder.read_config(default_home() / FILE).get("language")
    except UsageError:
        return ""
    return named if isinstance(named, str) and named in LANGUAGES else ""


def settled(
    data: dict[str, Any], folder: Path, *, profile: str = "", broker: str = "", redis: str = "", read_only: bool = False
) -> Settings:
    """The same of a config.toml that says this, written or not.

    Raises:
        UsageError: as ``load``.
    """
    if "home" in data:
        raise _refused(folder / FILE, "home", said("settings.home", field="home"))
    _merge(data, variables())
    data["home"] = str(folder)
    if profile:
        data["profile"] = profile
    settings = _convert(data, folder / FILE)
    broker_field, store_field = "broker.url", "store.url"
    if settings.profile != "local" and (profile or not settings.broker.url):
        broker_field, store_field = (f"profiles.{settings.profile}.{name}" for name in ("broker", "redis"))
    settings = _with_profile(settings, named=bool(profile), elsewhere=bool(broker))
    settings = msgspec.structs.replace(settings, read_only=read_only or settings.read_only)
    if bool(broker) != bool(redis):
        missing = "--redis" if broker else "--broker"
        raise UsageError(said("settings.pair", missing=missing), field=missing)
    if broker:
        broker_field, store_field = "--broker", "--redis"
        settings = msgspec.structs.replace(
            settings,
            profile=profile or UNNAMED,
            broker=msgspec.structs.replace(settings.broker, url=broker),
            store=msgspec.structs.replace(settings.store, url=redis),
        )
    if bool(settings.broker.url) != bool(settings.store.url):
        raise UsageError(said("settings.both"), field="broker.url", others=("store.url",))
    if settings.embedded:
        return settings
    mask.know_addresses((settings.broker.url, settings.broker.management_url, settings.store.url))
    _refuse_lifo(settings)
    brokers.check(settings.broker.url, broker_field)
    addresses.check_store(settings.store.url, store_field)
    return msgspec.structs.replace(settings, profile=UNNAMED) if settings.profile == "local" else settings


def _refuse_lifo(settings: Settings) -> None:
    if settings.broker.lifo_lanes:
        name = brokers.of(settings.broker.url).name
        raise UsageError(said("settings.lifo", broker=name), field="broker.lifo_lanes", others=("broker.url",))


def _merge(base: dict[str, Any], over: dict[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            _merge(base[key], value)
        else:
            base[key] = value


def _convert(data: dict[str, Any], path: Path) -> Settings:
    for place in _LISTS:
        _split(data, place)
    try:
        settings = msgspec.convert(data, Settings, strict=False)
    except msgspec.ValidationError as exc:
        field, why = _explained(data, exc)
        raise _refused(path, field, why) from exc
    for field, good, wanted in bounds(settings):
        if not good:
            must = said("settings.must", field=field, wanted=_wanted(wanted))
            raise _refused(path, field, must, others=DEPENDS.get(field, ()))
    for field in _unprintable(data, ""):
        raise _refused(path, field, said("settings.control", field=visible(field)))
    return settings


def _split(data: dict[str, Any], path: Sequence[str]) -> None:
    """Make a list of a text: a variable may name several with commas."""
    table: Any = data
    for part in path[:-1]:
        table = table.get(part) if isinstance(table, dict) else None
    name = path[-1]
    if isinstance(table, dict) and isinstance(table.get(name), str):
        table[name] = [word.strip() for word in table[name].split(",") if word.strip()]


def _refused(path: Path, field: str, why: str, others: Sequence[str] = ()) -> UsageError:
    return UsageError(said("settings.refused", file=path.name, why=why), field=field, others=others)


def _wanted(text: str) -> str:
    """What a setting must be; a plain range in the language of who reads."""
    found = _RANGE.fullmatch(text)
    return said("settings.range", low=found[1], high=found[2]) if found else text


def _explained(data: dict[str, Any], fault: msgspec.ValidationError) -> tuple[str, Said]:
    """The field of a wrong type or name, and a sentence about it that says what to write."""
    text = str(fault)
    what, _, rest = text.partition(" - at `$.")
    place = [part for part in rest.rstrip("`").replace("[...]", f".{_ONE_OF_MANY}").split(".") if part]
    place = _by_name(data, place, text)
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL)
    if lacking := _LACKS.fullmatch(what):
        field = ".".join((*place, lacking[1]))
        return field, said("settings.lacks", field=visible(field))
    if unknown is None:
        field, other = ".".join(place), _KINDS.fullmatch(what)
        if other is not None:
            wanted, given = kinds.wanted(other["wanted"]), kinds.given(other["given"])
            return field, said("settings.kind", field=visible(field), wanted=wanted, given=given)
        return field, said("settings.fault", field=visible(field), what=f"{what[:1].lower()}{what[1:]}")
    known = [name for name in _fields_of(place) if place or name != "home"]
    near = difflib.get_close_matches(unknown[1], known, 1)
    field = ".".join((*place, unknown[1]))
    code = "settings.unknown_near" if near else "settings.unknown"
    return field, said(code, field=f"{visible(field):.{_SHOWN}}", near=near[0] if near else "", known=", ".join(known))


def _by_name(data: dict[str, Any], place: list[str], text: str) -> list[str]:
    """The same place with the name of what is one of many, of which the library tells none."""
    if _ONE_OF_MANY not in place:
        return place
    many = place.index(_ONE_OF_MANY)
    above = place[:many]
    table: Any = data
    for part in above:
        table = table.get(part) if isinstance(table, dict) else None
    for name, one in table.items() if isinstance(table, dict) else ():
        alone: Any = {name: one}
        for part in reversed(above):
            alone = {part: alone}
        try:
            msgspec.convert(alone, Settings, strict=False)
        except msgspec.ValidationError as exc:
            if str(exc) == text:
                return [*above, name, *place[many + 1 :]]
    return above


def _fields_of(place: Sequence[str]) -> list[str]:
    """The settings of a table."""
    found: Any = msgspec.inspect.type_info(Settings)
    for part in place:
        if isinstance(found, msgspec.inspect.DictType):
            found = found.value_type
        elif isinstance(found, msgspec.inspect.StructType):
            found = next((field.type for field in found.fields if field.name == part.partition("[")[0]), None)
    return [field.name for field in found.fields] if isinstance(found, msgspec.inspect.StructType) else []


def _unprintable(value: Any, place: str) -> Iterator[str]:
    """Where a text or a name has what no path, address or word of a command may hold; lines and tabs are let be."""
    if isinstance(value, dict):
        for name, part in value.items():
            inside = f"{place}.{name}" if place else str(name)
            if _has_controls(str(name)):
                yield inside
            yield from _unprintable(part, inside)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _unprintable(part, place)
    elif isinstance(value, str) and place != "home" and _has_controls(value):
        yield place


def _has_controls(text: str) -> bool:
    return any((char < " " and char not in "\t\r\n") or "\x7f" <= char < "\xa0" for char in text)


def _with_profile(settings: Settings, *, named: bool, elsewhere: bool) -> Settings:
    """``named``: by a word of the command line, which beats addresses of config.toml and of the environment;
    ``elsewhere``: other words say where broker and store are, so only what the profile is for is taken from it.
    """
    chosen = settings.profiles.get(settings.profile) or _saved(settings, elsewhere=elsewhere)
    if chosen is None:
        if not named and (elsewhere or settings.broker.url or settings.store.url):
            return settings
        if elsewhere and settings.profile in ("local", UNNAMED):
            return settings
        if settings.profile == "local":  # a word for it beats the addresses too
            own = BrokerSettings(lifo_lanes=settings.broker.lifo_lanes)
            return msgspec.structs.replace(settings, broker=own, store=StoreSettings())
        if settings.profile == UNNAMED and settings.broker.url:
            return settings
        known = ", ".join(dict.fromkeys(["local", *settings.profiles, *Book(settings.home_path).profiles()]))
        name = f"{settings.profile!r:.{_SHOWN}}"
        raise UsageError(said("settings.profile", name=name, known=known), field="--profile" if named else "profile")
    settings = msgspec.structs.replace(
        settings,
        environment=chosen.environment or settings.environment,
        read_only=chosen.read_only or settings.read_only,
    )
    if elsewhere or (settings.broker.url and not named):
        return settings
    return msgspec.structs.replace(
        settings,
        broker=BrokerSettings(
            url=chosen.broker,
            insecure_tls=chosen.insecure_tls,
            management_url=chosen.management,
            lifo_lanes=settings.broker.lifo_lanes,
            profile=chosen.broker_profile or settings.broker.profile,
        ),
        store=StoreSettings(url=chosen.redis, insecure_tls=chosen.insecure_tls),
    )


def _saved(settings: Settings, *, elsewhere: bool) -> ProfileSettings | None:
    """The profile of this name that was made in the window, with its passwords where its addresses are used."""
    if settings.profile == "local":
        return None
    book = Book(settings.home_path)
    found = book.profiles().get(settings.profile) if elsewhere else book.find(settings.profile)
    if found is None:
        return None
    return ProfileSettings(
        broker=found.broker,
        redis=found.redis,
        management=found.management,
        broker_profile=found.broker_profile,
        environment=found.environment,
        read_only=found.read_only,
    )
