"""Every connection this computer knows: its own engine, those of config.toml, those made in a window."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from services import addresses
from services import settings as config
from services.i18n import _
from services.profiles.book import Book

LOCAL = "local"
#: of the demo: nothing else can be opened from it
THROW_AWAY = "demo"
#: where a profile stands
OWN, CONFIG, WINDOW, WORDS = "own", "config", "window", "words"
#: open here, and struck off or renamed elsewhere
GONE = "gone"


def titled(name: str, *, local: bool) -> str:
    """What a connection is called, in the language of the moment; ``local``: everything of it is on this machine."""
    return _("Local") if name == LOCAL and local else name


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What may be shown of a connection; no address has a password in it."""

    name: str
    origin: str
    environment: str = ""
    local: bool = False
    broker: str = ""
    redis: str = ""
    read_only: bool = False


def known(settings: config.Settings, *held: config.Settings) -> tuple[Known, ...]:
    """All in the order of their keys. ``settings`` as read for no profile in particular; ``held``: what is open, or was
    opened first, which may stand nowhere but on the command line. Blocking.
    """
    rows = list(_known(settings))
    for one in held:
        if one.profile == THROW_AWAY:
            return (of(one, WORDS),)
        if one.profile not in {row.name for row in rows}:
            rows.append(of(one, WORDS))
    return tuple(rows)


def _known(settings: config.Settings) -> Iterator[Known]:
    own = settings.profiles.get(LOCAL, config.ProfileSettings())
    yield Known(name=LOCAL, origin=OWN, local=True, environment=own.environment, read_only=own.read_only)
    if not settings.embedded and settings.profile not in settings.profiles:
        yield of(settings, CONFIG)
    for name, profile in settings.profiles.items():
        if name != LOCAL:
            yield Known(
                name=name,
                origin=CONFIG,
                environment=profile.environment,
                local=not profile.broker,
                broker=addresses.shown(profile.broker),
                redis=addresses.shown(profile.redis),
                read_only=profile.read_only,
            )
    for name, saved in Book(settings.home_path).profiles().items():
        if name not in settings.profiles and name != LOCAL:
            yield Known(
                name=name,
                origin=WINDOW,
                environment=saved.environment,
                local=saved.local,
                broker=addresses.shown(saved.broker),
                redis=addresses.shown(saved.redis),
                read_only=saved.read_only,
            )


def of(settings: config.Settings, origin: str) -> Known:
    """What these settings lead to."""
    return Known(
        name=settings.profile,
        origin=origin,
        environment=settings.environment,
        local=settings.embedded,
        broker=addresses.shown(settings.broker.url),
        redis=addresses.shown(settings.store.url),
        read_only=settings.read_only,
    )
