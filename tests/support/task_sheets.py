"""The spreadsheet of an operator: Chinese headings, three types, 300 rows of which seven are bad, in any format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import openpyxl

from services.domain.fleet.shop import Shop

HEADER = ("平台", "店铺ID", "任务类型", "优先级", "参数")
TYPES = ("sync_order", "refresh_goods", "single_product")
WORDS = {
    "sync_order": ("sync_order", "同步订单"),
    "refresh_goods": ("商品刷新", "Goods refresh"),
    "single_product": ("单品采集",),
}
PRIORITIES = ("高", "普通", "低", "9", 5, "")
#: row of the file, column, what is written there instead
BAD: tuple[tuple[int, int, str], ...] = (
    (14, 1, "pdd-99999"),
    (37, 2, "同步定单"),
    (58, 3, "很急"),
    (101, 4, '{"page_size": }'),
    (144, 0, "拼夕夕"),
    (209, 1, ""),
    (260, 4, '{"page_size": 5000}'),
)


def shops() -> list[Shop]:
    """As many shops as the file needs."""
    made = [Shop(platform="pdd", shop_id=f"pdd-{10000 + n}", name=f"第{n}号店") for n in range(90)]
    return made + [Shop(platform="temu", shop_id=f"temu-{n:03}", name=f"Shop {n}") for n in range(60)]


def rows(shops: Sequence[str]) -> list[list[object]]:
    """The good rows as they would be; every task is another one (``shops`` are keys, at least 150)."""
    made: list[list[object]] = []
    for number in range(300):
        kind = TYPES[number % 3]
        platform, _, shop_id = shops[number // 2].partition(":")
        where = {"pdd": "拼多多", "temu": "TEMU"}.get(platform, platform)
        payload: dict[str, object] = {"page_size": 10 + number % 50}
        if kind == "single_product":
            payload = {"goods_id": f"G{number:04}"}
        words = WORDS[kind]
        text = (
            json.dumps(payload, ensure_ascii=False) if number % 2 else ";".join(f"{k}={v}" for k, v in payload.items())
        )
        made.append([where, shop_id, words[number % len(words)], PRIORITIES[number % len(PRIORITIES)], text])
    return made


def spoilt(good: list[list[object]]) -> list[list[object]]:
    """The same with seven bad rows."""
    bad = [list(row) for row in good]
    for line, column, value in BAD:
        bad[line - 2][column] = value
    # the row with a page too large is one of a type that has pages
    bad[258][2] = "商品刷新"
    return bad


def write(path: Path, lines: Sequence[Sequence[object]], header: Sequence[str] = HEADER, encoding: str = "gbk") -> Path:
    """The rows in the format that the ending names."""
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        assert book.active is not None
        for row in (header, *lines):
            book.active.append(list(row))
        book.save(path)
    elif path.suffix == ".jsonl":
        objects = (dict(zip(header, row, strict=True)) for row in lines)
        path.write_text("".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects), encoding="utf-8")
    else:
        text = io.StringIO(newline="")
        csv.writer(text).writerows((header, *lines))
        path.write_bytes(text.getvalue().encode(encoding))
    return path
