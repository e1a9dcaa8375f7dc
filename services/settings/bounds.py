"""What the values may be, beyond their types."""

from __future__ import annotations

import difflib
import re
import unicodedata
import urllib.parse
import zoneinfo
from collections.abc import Iterable, Iterator

from services import addresses
from services.domain.fleet import autoscale
from services.domain.fleet.hosts import is_device
from services.domain.gates import home, lane_share
from services.domain.task import classify, ids, mapping
from services.domain.task.lane import LANES
from services.domain.text.said import said, words_of
from services.domain.text.visible import is_hidden, visible
from services.domain.types import linear
from services.settings.browser import BrowserSettings
from services.settings.http import HttpSettings
from services.settings.values import (
    BROKER_PROFILES,
    FOREIGN_DUPLICATES,
    LANGUAGES,
    PLACES,
    THEMES,
    ArtifactSettings,
    RetentionSettings,
    RpaSettings,
    Settings,
    WorkerSettings,
)

#: what flows print of their JSON, and of paths
_PRINTED = '{"file": "C:\\new-1+2 ~.csv"}'
#: an address of a bucket, what is nearly one, how any address begins (a drive is one letter), and words for nowhere
_BUCKET = re.compile(r"s3://[\w.:-]+(?:/.*)?", re.DOTALL | re.ASCII)
_S3 = re.compile(r"s3(?::[/\\]*|//+)([\w.].*)", re.IGNORECASE | re.DOTALL)
#: what may be meant to be filled in; a shell's ${HOME} is not
_FILLED_IN = re.compile(r"(?<!\$)\{([a-z_]+)\}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_NOWHERE = frozenset({"off", "none", "no", "false", "null", "never", "disabled"})
DAY_S = 86_400
MAX_NAME = 100
MAX_PREEMPTIONS = 20
MAX_MB = 1_000_000
MAX_KEPT = 1_000_000_000
BROWSER_BOUNDS: tuple[tuple[str, float, float], ...] = (
    ("max_total", 1, 256),
    ("max_contexts", 1, 256),
    ("idle_seconds", 0, DAY_S),
    ("acquire_seconds", 0, 3600),
    ("max_age_seconds", 10, 30 * DAY_S),
    ("max_uses", 1, 1_000_000),
    ("max_memory_mb", 50, MAX_MB),
    ("step_seconds", 0.1, 600),
    ("cancel_grace_seconds", 0, 60),
    ("download_mb", 0.01, MAX_MB),
)

#: on which other settings it depends what a setting can be
DEPENDS = {"retry.base_seconds": ("retry.cap_seconds",), "executors.browser.min_idle": ("executors.browser.max_total",)}


def bounds(settings: Settings) -> Iterator[tuple[str, bool, str]]:
    """Field, whether its value can be, and what it should be."""
    worker, retry, rpa = settings.worker, settings.retry, settings.executors.rpa
    good = len(worker.name) <= MAX_NAME and worker.name.isprintable()
    yield "worker.name", good, said("must.printed", most=MAX_NAME)
    seen = said("must.seen", most=MAX_NAME)
    yield "environment", _is_seen(settings.environment), seen
    yield "worker.slots", 1 <= worker.slots <= 512, "1 to 512"
    yield "worker.auto_slots", _known_range(worker.auto_slots), said("must.slots")
    yield "broker.management_url", _is_page(settings.broker.management_url), said("must.url")
    good = all(ids.valid_task_type(name) for name in worker.refuse_types)
    yield "worker.refuse_types", good, said("must.types")
    named = not worker.node or home.valid_node(worker.node)
    yield "worker.node", named, said("must.node")
    yield "worker.name", _is_plain(worker.name), said("must.plain", most=MAX_NAME)
    yield "worker.lanes", bool(worker.lanes) and set(worker.lanes) <= set(LANES), said("must.lanes")
    yield "broker.lifo_lanes", set(settings.broker.lifo_lanes) <= set(LANES), said("must.lanes")
    yield from _lane_slots(worker)
    yield "worker.preemptions", 0 <= worker.preemptions <= MAX_PREEMPTIONS, f"0 to {MAX_PREEMPTIONS}"
    yield "worker.grace_seconds", 0 <= worker.grace_seconds <= DAY_S, "0 to 86400"
    yield "executors.rpa.kill_grace_seconds", 0 <= rpa.kill_grace_seconds <= DAY_S, "0 to 86400"
    yield "executors.rpa.cancel_grace_seconds", 0 <= rpa.cancel_grace_seconds <= DAY_S, "0 to 86400"
    yield from _rpa(rpa)
    yield from _http(settings.executors.http)
    capped = 1 <= retry.cap_seconds <= DAY_S
    yield "retry.cap_seconds", capped, "1 to 86400"
    most = retry.cap_seconds if capped else retry.base_seconds
    yield "retry.base_seconds", 1 <= retry.base_seconds <= most, said("must.base")
    yield "retry.max_retries", 0 <= retry.max_retries <= 20, "0 to 20"
    for name, words in settings.alerts.commands.items():
        yield f"alerts.commands.{name}", bool(words and words[0]), said("must.command")
    yield "alerts.command_seconds", 1 <= settings.alerts.command_seconds <= 3600, "1 to 3600"
    yield "lease.seconds", 1 <= settings.lease.seconds <= DAY_S, "1 to 86400"
    for name, most in (("production", settings.confirm.production), ("other", settings.confirm.other)):
        yield f"confirm.{name}", 9 <= most <= 10_000, "9 to 10000"
    yield "api.requests_per_minute", 1 <= settings.api.requests_per_minute <= MAX_MB, f"1 to {MAX_MB}"
    yield "api.streams", 0 <= settings.api.streams <= 1000, "0 to 1000"
    yield (
        "foreign_duplicates",
        settings.foreign_duplicates in FOREIGN_DUPLICATES,
        _one_of(FOREIGN_DUPLICATES),
    )
    for queue, meaning in settings.foreign_queues.items():
        named = bool(queue) and len(queue) <= MAX_NAME and not queue.startswith(("rpa_", "single_shop_", "amq."))
        yield f"foreign_queues.{queue}", named, said("must.queue")
        name, wanted = mapping.problem(meaning)
        yield f"foreign_queues.{queue}.{name or 'task_type'}", not name, wanted
    yield (
        "broker.profile",
        settings.broker.profile in BROKER_PROFILES,
        _one_of(BROKER_PROFILES),
    )
    for name, profile in settings.profiles.items():
        yield f"profiles.{visible(name):.80}.environment", _is_seen(profile.environment), seen
        yield (
            f"profiles.{visible(name):.80}",
            bool(name) and _is_plain(name),
            said("must.plain_name", most=MAX_NAME),
        )
        known = profile.broker_profile in ("", *BROKER_PROFILES)
        yield f"profiles.{name}.broker_profile", known, _one_of(BROKER_PROFILES)
    yield from _retention(settings.retention)
    yield from _artifacts(settings.artifacts)
    yield from _browser(settings.executors.browser)
    yield "language", settings.language in LANGUAGES, said("must.language")
    yield "theme", settings.theme in THEMES, said("must.theme")
    yield "time_zone", _known_zone(settings.time_zone), said("must.zone")


def _one_of(words: Iterable[str]) -> str:
    return said("must.one_of", known=", ".join(words))


def _retention(keep: RetentionSettings) -> Iterator[tuple[str, bool, str]]:
    for name in ("finished_days", "open_days", "republished_days", "archived_days", "ignored_days"):
        days = getattr(keep, name)
        yield f"retention.{name}", days == 0 or 0.1 <= days <= 3650, said("must.days")
    yield "retention.tombstone_days", 1 <= keep.tombstone_days <= 3650, "1 to 3650"
    good = keep.finished_count == 0 or 1000 <= keep.finished_count <= MAX_KEPT
    yield "retention.finished_count", good, said("must.count", most=MAX_KEPT)


def _is_misspelt(place: str) -> bool:
    """Whether it is nearly a place: a flow would be given it as it stands, and say that it has done its work. Braces
    around other words may be its own.
    """
    return place not in PLACES and bool(difflib.get_close_matches(place, PLACES, 1))


def _rpa(rpa: RpaSettings) -> Iterator[tuple[str, bool, str]]:
    yield "executors.rpa.encoding", _known_encoding(rpa.encoding), said("must.encoding")
    yield "executors.rpa.log_lines", 1_000 <= rpa.log_lines <= 1_000_000, "1000 to 1000000"
    yield "executors.rpa.log_kb", 400 <= rpa.log_kb <= 1_000_000, "400 to 1000000"
    for name, words in {
        "command": rpa.command,
        **{f"commands.{kind}": it for kind, it in rpa.commands.items()},
    }.items():
        wrong = next((one for word in words for one in _FILLED_IN.findall(word) if _is_misspelt(one)), "")
        known = ", ".join(f"{{{one}}}" for one in PLACES)
        yield f"executors.rpa.{name:.80}", not wrong, said("must.places", known=known, wrong=f"{{{wrong}}}")
    for code, kind in rpa.exit_codes.items():
        field = f"executors.rpa.exit_codes.{code:.20}"
        yield field, code.removeprefix("-").isdigit() and int(code) != 0, said("must.exit_codes")
        yield field, kind in classify.KINDS, _one_of(classify.KINDS)


def _http(http: HttpSettings) -> Iterator[tuple[str, bool, str]]:
    yield "executors.http.redirects", 0 <= http.redirects <= 20, "0 to 20"
    yield "executors.http.response_mb", 0.001 <= http.response_mb <= 1000, "0.001 to 1000"
    for name, request in http.requests.items():
        good = request.url.partition("://")[0] in ("http", "https")
        yield f"executors.http.requests.{name:.64}.url", good, said("must.url")


def _is_place(place: str) -> bool:
    """Whether files may lie there: what is nearly an address, or nearly `off`, would be a folder of that name."""
    if place.startswith("s3://"):
        return _BUCKET.fullmatch(place) is not None
    odd = place != place.strip() or _SCHEME.match(place) is not None or _S3.match(place) is not None
    return not odd and (place == "off" or place.lower() not in _NOWHERE)


def _place_meant(place: str) -> str:
    """What was probably meant, "" where nobody can tell."""
    found = _S3.fullmatch(place.strip())
    if found and not _is_place(place):
        return f"s3://{found[1]}"
    return "off" if place.strip().lower() in _NOWHERE else ""


def _artifacts(files: ArtifactSettings) -> Iterator[tuple[str, bool, str]]:
    near = _place_meant(files.place)
    yield "artifacts.place", _is_place(files.place), said("must.place_near", near=near) if near else said("must.place")
    for name in ("file_mb", "task_mb", "free_mb"):
        yield f"artifacts.{name}", 0 <= getattr(files, name) <= MAX_MB, said("must.up_to", most=MAX_MB)
    yield "artifacts.attempt_files", 0 <= files.attempt_files <= 10_000, said("must.up_to", most=10_000)


def _browser(browser: BrowserSettings) -> Iterator[tuple[str, bool, str]]:
    for name, low, high in BROWSER_BOUNDS:
        yield f"executors.browser.{name}", low <= getattr(browser, name) <= high, f"{low} to {high}"
    idle = 0 <= browser.min_idle <= browser.max_total
    yield "executors.browser.min_idle", idle, said("settings.range", low=0, high="executors.browser.max_total")
    screens = {"": browser.viewport} | {f"shops.{key}.": shop.viewport for key, shop in browser.shops.items()}
    for place, screen in screens.items():
        good = not screen or re.fullmatch(r"[1-9]\d{1,4}x[1-9]\d{1,4}", screen) is not None
        yield f"executors.browser.{place}viewport", good, said("must.screen")
    proxies = {"": browser.proxy} | {f"shops.{key}.": shop.proxy for key, shop in browser.shops.items()}
    for place, proxy in proxies.items():
        yield f"executors.browser.{place}proxy", _is_proxy(proxy), said("must.proxy")
    zones = {"": browser.time_zone} | {f"shops.{key}.": shop.time_zone for key, shop in browser.shops.items()}
    for place, zone in zones.items():
        yield f"executors.browser.{place}time_zone", _known_zone(zone), said("must.zone")
    yield "executors.browser.login_pages", _compiles(browser.login_pages), said("must.pattern")


def _is_page(urls: str) -> bool:
    """Whether each host of it, of one or several nodes, can be asked by HTTP."""
    try:
        each = [urllib.parse.urlsplit(one) for one in addresses.each(urls)] if urls else []
        return all(one.scheme in ("http", "https") and _is_host(one.hostname) and one.port != 0 for one in each)
    except ValueError:
        return False


def _is_host(name: str | None) -> bool:
    """Whether it may be the name or the number of a machine; what is no ASCII is asked for as it stands."""
    return bool(name) and re.fullmatch(r"[\w.:%-]+", name or "") is not None


def _is_proxy(text: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(text if "://" in text else f"http://{text}")
        return not text or (
            parts.scheme in ("http", "https", "socks5") and _is_host(parts.hostname) and parts.port != 0
        )
    except ValueError:
        return False


def _is_plain(name: str) -> bool:
    """Whether a name can be shown and be part of a file's name as it is."""
    return len(name) <= MAX_NAME and not any(char in "/\\" or is_hidden(char) for char in name) and not is_device(name)


def _is_seen(name: str) -> bool:
    """Whether a word that stands on every page looks like what it is."""
    hidden = any(is_hidden(char) and unicodedata.category(char) != "Cc" for char in name)  # controls are refused below
    return len(name) <= MAX_NAME and not hidden


def _compiles(pattern: str) -> bool:
    return not linear.problem_of(pattern)


def _lane_slots(worker: WorkerSettings) -> Iterator[tuple[str, bool, str]]:
    shares = {}
    for lane, text in worker.lane_slots.items():
        yield f"worker.lane_slots.{lane:.20}", lane in LANES, said("must.lane_names")
        try:
            shares[lane] = lane_share.parse_share(text)
        except ValueError:
            yield f"worker.lane_slots.{lane}", False, said("must.share")
    try:
        lane_share.check(worker.slots, shares)
    except ValueError as exc:
        yield "worker.lane_slots", False, said("must.fewer", why=words_of(exc))


def _known_encoding(name: str) -> bool:
    try:
        # lines are told apart by their bytes, and what a backslash or a plus means is up to whoever printed it
        return _PRINTED.encode("ascii").decode(name, "replace") == _PRINTED
    except (LookupError, ValueError):
        return False


def _known_range(text: str) -> bool:
    try:
        return not text or autoscale.parse(text) is not None
    except ValueError:
        return False


def _known_zone(name: str) -> bool:
    try:
        return not name or bool(zoneinfo.ZoneInfo(name))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
