"""Reads shops from CSV, TSV and XLSX files; every fault names its line and its column."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from services import table_files
from services.commands.fleet import check_shop
from services.domain.errors import UsageError
from services.domain.said import words_of
from services.domain.shop import Shop

TRUE, FALSE = frozenset({"1", "true", "yes", "on", "是"}), frozenset({"0", "false", "no", "off", "否"})
COLUMNS = ("platform", "shop_id", "name", "name_en", "group", "concurrency", "dedicated", "enabled")
#: other names of a column
OTHER_NAMES = {"shop": "shop_id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a line; nothing of that line is taken."""

    line: int
    field: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopFile:
    """A file whole."""

    shops: tuple[Shop, ...] = ()
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()


def read(path: Path, known: Mapping[str, Shop] | None = None) -> ShopFile:
    """All shops of a file. What it has no column for stays as it is in ``known`` (by ``platform:shop_id``).

    Raises:
        UsageError: the file cannot be read at all, or holds nothing.
    """
    try:
        table_files.check(path, table_files.ENDINGS)
    except UsageError as exc:
        raise UsageError(str(exc), field="file") from exc
    found: dict[str, Shop] = {}
    faults: list[Fault] = []
    columns: tuple[str, ...] = ()
    for line, row in table_files.rows_of(path):
        if isinstance(row, str):
            faults.append(Fault(line=line, field="file", error=row))
            continue
        columns = columns or _columns(path, row)
        try:
            shop = _shop(row, known or {})
            if shop.key in found:
                raise UsageError(f"{shop.key} stands twice", field="shop_id")
            found[shop.key] = shop
        except UsageError as exc:
            faults.append(Fault(line=line, field=exc.field, error=words_of(exc)))
    if not found and not faults:
        raise UsageError(f"{path.name} holds no shop; the header must name platform and shop_id", field="file")
    return ShopFile(shops=tuple(found.values()), faults=tuple(faults), warnings=tuple(map(_passed_over, columns)))


def _columns(path: Path, row: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that mean nothing here."""
    names = [_name(key) for key in row if key]
    missing = [name for name in ("platform", "shop_id") if name not in names]
    if missing:
        raise UsageError(
            f"{path.name}: the header must name platform and shop_id; {' and '.join(missing)} must not be missing,"
            f" it names {', '.join(names)!r:.120}",
            field="file",
        )
    return tuple(name for name in names if name not in COLUMNS)


def _passed_over(name: str) -> str:
    close = difflib.get_close_matches(name, COLUMNS, n=1)
    remedy = f"did you mean {close[0]}?" if close else f"known are {', '.join(COLUMNS)}"
    return f"column {name!r:.60} is passed over; {remedy}"


def _shop(row: Mapping[str, Any], known: Mapping[str, Shop]) -> Shop:
    cells = {_name(key): _text(value) for key, value in row.items() if key}
    platform, shop_id = cells.get("platform", ""), cells.get("shop_id", "")
    if not platform or not shop_id:
        field = "shop_id" if platform else "platform"
        raise UsageError("platform and shop_id must not be empty", field=field)
    base = known.get(f"{platform}:{shop_id}", Shop(platform=platform, shop_id=shop_id))
    fields: dict[str, Any] = {name: cells[name] for name in ("name", "name_en", "group") if name in cells}
    if "concurrency" in cells:
        fields["concurrency"] = _number(cells["concurrency"] or "1")
    for name, default in (("dedicated", "no"), ("enabled", "yes")):
        if name in cells:
            fields[name] = _truth(name, cells[name] or default)
    shop = msgspec.structs.replace(base, unregistered=False, **fields)
    check_shop(shop)
    return shop


def _name(key: str) -> str:
    name = key.strip().lower()
    return OTHER_NAMES.get(name, name)


def _text(cell: object) -> str:
    """A spreadsheet keeps the id 10021 as the number 10021.0."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).strip()


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise UsageError(f"concurrency must be a whole number from 1 to 64, not {text!r:.40}", field="concurrency")
    return int(text)


def _truth(name: str, text: str) -> bool:
    word = text.lower()
    if word not in TRUE | FALSE:
        raise UsageError(f"{name} must be yes or no, not {text!r:.40}", field=name)
    return word in TRUE
