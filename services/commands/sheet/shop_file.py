"""Reads shops from CSV, TSV and XLSX files; every fault names its line and its column."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from services.commands.fleet import check_shop, platform_of
from services.commands.sheet import table
from services.commands.sheet.cells import Bad, identity
from services.commands.sheet.table import Table, shown
from services.domain.errors import UsageError
from services.domain.fleet import platforms
from services.domain.fleet.shop import Shop, tags_of, valid_word
from services.domain.text.cells import bared
from services.domain.text.said import said, words_of
from services.domain.text.words import heading
from services.messages import english

TRUE, FALSE = frozenset({"1", "true", "yes", "on", "是"}), frozenset({"0", "false", "no", "off", "否"})
ENDINGS = table.TABLES
_LINES = 6  #: that are named of those with the same platform
COLUMNS = ("platform", "shop_id", "name", "name_en", "group", "tags", "concurrency", "dedicated", "enabled")
_CALLED = {
    "platform": ("平台", "渠道", "所属平台"),
    "shop_id": ("shop", "店铺ID", "店铺编号", "店铺", "店铺编码", "门店编号"),
    "name": ("店铺名称", "店铺名", "名称", "中文名称", "shop_name"),
    "name_en": ("英文名", "英文名称", "店铺英文名"),
    "group": ("分组", "组", "店铺分组"),
    "tags": ("标签", "tag", "店铺标签"),
    "concurrency": ("并发", "并发数", "并发上限", "最大并发", "同时执行数", "tasks_at_once"),
    "dedicated": ("专属队列", "独立队列", "专用队列"),
    "enabled": ("启用", "是否启用"),
}
#: other names of a column
OTHER_NAMES = {heading(word): name for name, words in _CALLED.items() for word in (name, *words)}
#: what may be the number of a shop, or that of a line, and what may be its number or its name
_NUMBER, _LOOSE = heading("编号"), frozenset({heading("shop"), heading("店铺")})


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a line; nothing of that line is taken."""

    line: int
    field: str
    error: str


class Stranger(msgspec.Struct, frozen=True, kw_only=True):
    """A platform that no shop of the fleet is on, and where the file names it."""

    code: str
    lines: tuple[int, ...]


class ShopFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file whole."""

    shops: tuple[Shop, ...] = ()
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()
    strangers: tuple[Stranger, ...] = ()  #: by their names; none where the fleet has no shops yet


def read(path: Path, known: Mapping[str, Shop] | None = None, meant: Mapping[str, str] | None = None) -> ShopFile:
    """All shops of a file. What it has no column for, or nothing in the cell, stays as it is in ``known`` (by
    ``platform:shop_id``); ``meant``: the platform that is taken for one that the file names.

    Raises:
        UsageError: the file cannot be read at all, or holds nothing.
    """
    try:
        read_ = table.read(path, endings=ENDINGS, known=_known)
    except UsageError as exc:
        raise UsageError(words_of(exc), field="file") from exc
    names, others = _names(read_.columns)
    columns = _columns(read_, names) if read_.rows else ()
    spoken = {shop.platform for shop in (known or {}).values()}
    found: dict[str, Shop] = {}
    strange: dict[str, list[int]] = {}
    faults = [Fault(line=bad.number, field="file", error=english(bad.reason)) for bad in read_.bad]
    for row in read_.rows:
        try:
            cells = dict(zip(names, row.cells, strict=True))
            platform = platform_of(bared(shown(cells.get("platform"))), spoken)
            if spoken and platform and platform not in spoken:
                strange.setdefault(platform, []).append(row.number)
            shop = _shop({**cells, "platform": (meant or {}).get(platform, platform)}, known or {}, spoken)
            if shop.key in found:
                raise UsageError(said("shop.twice", shop=shop.key), field="shop_id")
            found[shop.key] = shop
        except UsageError as exc:
            faults.append(Fault(line=row.number, field=exc.field, error=words_of(exc)))
    if not found and not faults:
        raise UsageError(said("shop.file_empty", name=path.name), field="file")
    faults.sort(key=lambda fault: fault.line)
    strangers = [Stranger(code=code, lines=tuple(lines)) for code, lines in sorted(strange.items())]
    # one that cannot be a platform's name is refused, line by line: nothing new will come of it
    unmeant = [one for one in strangers if one.code not in (meant or {}) and valid_word(one.code)]
    return ShopFile(
        shops=tuple(found.values()),
        faults=tuple(faults),
        warnings=(*(_strange(one, spoken) for one in unmeant), *(_passed_over(name, others) for name in columns)),
        strangers=tuple(strangers),
    )


def _columns(file: Table, names: Sequence[str]) -> tuple[str, ...]:
    """The columns that mean nothing here."""
    missing = [name for name in ("platform", "shop_id") if name not in names]
    if missing:
        named = repr(", ".join(names))[:120]
        told = said("shop.file_header", file=file.name, missing=" and ".join(missing), names=named)
        raise UsageError(told, field="file")
    return tuple(name for name in names if name not in COLUMNS)


def _strange(one: Stranger, spoken: Collection[str]) -> str:
    lines = ", ".join(map(str, one.lines[:_LINES])) + (", …" if len(one.lines) > _LINES else "")
    name, codes = platforms.listed([one.code]), platforms.listed(spoken)
    return said("shop.file_platform", lines=lines, name=name, codes=codes)


def _passed_over(name: str, others: Mapping[str, str]) -> str:
    if name in others:
        return said("shop.file_column_again", name=f"{name!r:.60}", column=others[name])
    close = difflib.get_close_matches(heading(name), OTHER_NAMES, n=1)
    if close:
        return said("shop.file_column_near", name=f"{name!r:.60}", column=OTHER_NAMES[close[0]])
    return said("shop.file_column", name=f"{name!r:.60}", columns=", ".join(COLUMNS))


def _shop(row: Mapping[str, Any], known: Mapping[str, Shop], spoken: Collection[str]) -> Shop:
    cells = {name: bared(shown(value)) for name, value in row.items()}
    platform, shop_id = platform_of(cells.get("platform", ""), spoken), _identity(row.get("shop_id"))
    # an empty cell says nothing: a file made for the names of some shops must not switch others on, or move their tasks
    fields: dict[str, Any] = {name: cells[name] for name in ("name", "name_en", "group") if cells.get(name)}
    if cells.get("tags"):
        fields["tags"] = tags_of(cells["tags"])
    if cells.get("concurrency"):
        fields["concurrency"] = _number(cells["concurrency"])
    fields |= {name: _truth(name, cells[name]) for name in ("dedicated", "enabled") if cells.get(name)}
    return merged({"platform": platform, "shop_id": shop_id, **fields}, known)


def merged(fields: Mapping[str, Any], known: Mapping[str, Shop]) -> Shop:
    """A shop of these fields; what they leave out is as in ``known`` (by ``platform:shop_id``).

    Raises:
        UsageError: there can be no such shop.
    """
    platform, shop_id = fields["platform"], fields["shop_id"]
    if not platform or not shop_id:
        field = "shop_id" if platform else "platform"
        raise UsageError(said("shop.needs_both"), field=field)
    base = known.get(f"{platform}:{shop_id}", Shop(platform=platform, shop_id=shop_id))
    if "tags" in fields:
        fields = {**fields, "tags": tuple(fields["tags"])}
    shop = msgspec.structs.replace(base, unregistered=False, **fields)
    check_shop(shop)
    return shop


def _identity(cell: object) -> str:
    try:
        return identity(cell)
    except Bad as bad:
        raise UsageError(english(bad.reason), field="shop_id") from bad


def _names(titles: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The field of each column, and of those that are passed over because another one says it better, which field that
    is.
    """
    meant = [_meant(title) for title in titles]
    best: dict[str, tuple[int, int]] = {}
    for place, (name, rank) in enumerate(meant):
        best[name] = min(best.get(name, (rank, place)), (rank, place))
    names, others = [], {}
    for place, (title, (name, _rank)) in enumerate(zip(titles, meant, strict=True)):
        if name in COLUMNS and best[name][1] != place:
            others[again := f"{title.strip()} ({place + 1})"] = name
            name = again
        names.append(name)
    return names, others


def _meant(title: str) -> tuple[str, int]:
    """The field of a column, by its name or what people call it, and how surely: a bare number is that of the shop only
    where nothing says so better, and the word shop may mean its name.
    """
    name, called = title.strip().lower(), heading(title)
    if name in COLUMNS:
        return name, 0
    if called == _NUMBER:
        return "shop_id", 3
    return OTHER_NAMES.get(called, name), 2 if called in _LOOSE else 1


def _known(title: str) -> bool:
    return _meant(title)[0] in COLUMNS


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise UsageError(said("shop.file_number", text=repr(text)[:40]), field="concurrency")
    return int(text)


def _truth(name: str, text: str) -> bool:
    word = text.lower()
    if word not in TRUE | FALSE:
        raise UsageError(said("shop.file_truth", column=name, text=repr(text)[:40]), field=name)
    return word in TRUE
