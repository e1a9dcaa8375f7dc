"""Rows of a file as tasks: each as its row says, every fault of every bad row named, no row lost."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services import assembly
from services.commands.sheet import columns, table
from services.commands.sheet.columns import Column
from services.commands.sheet.orders import Defaults, Known, Orders, checked, orders
from services.commands.sheet.shop_index import ShopIndex
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop
from services.domain.task.ledger import Done
from services.domain.task.record import Task
from services.domain.text.mask import DOTS
from services.domain.text.said import said
from services.domain.types import task_type
from services.engine.spec import Before, Checked, Twin
from services.messages import english, render
from services.monitor.files import export
from tests.support import task_sheets

NOW = 1_763_769_600_000  #: 2025-11-22T00:00:00Z
ZONE = ZoneInfo("Asia/Shanghai")
TYPES = {path.stem: task_type.parse(path.read_bytes()) for path in (assembly.RESOURCES / "task_types").glob("*.json")}
KEYS = [f"pdd:pdd-{10000 + n}" for n in range(90)] + [f"temu:temu-{n:03}" for n in range(60)]
SHOPS = {
    key: Shop(platform=key.partition(":")[0], shop_id=key.partition(":")[2], name=f"第{n}号店", name_en=f"Shop {n}")
    for n, key in enumerate(KEYS)
}
SHOPS |= {"pdd:0070": Shop(platform="pdd", shop_id="0070"), "pdd:88": Shop(platform="pdd", shop_id="88", name="双号")}
SHOPS |= {"temu:88": Shop(platform="temu", shop_id="88", name="双号")}
KNOWN = Known(shops=SHOPS, types=TYPES)
OPEN = Known(shops={}, types=TYPES, undefined=True)


def read(
    path: Path,
    known: Known = KNOWN,
    defaults: Defaults | None = None,
    words: Sequence[str] = (),
    *,
    twins: bool = False,
) -> Orders:
    found = table.read(path, known=columns.is_heading)
    index = ShopIndex(known.shops)
    mapped = columns.chosen(columns.guess(found, known.types, index, (defaults or Defaults()).task_type), words)
    return orders(found, mapped, known, zone=ZONE, now_ms=NOW, defaults=defaults, twins=twins)


def sheet(folder: Path, *lines: Sequence[object], name: str = "tasks.csv") -> Path:
    return task_sheets.write(folder / name, lines[1:], header=[str(cell) for cell in lines[0]], encoding="utf-8")


def one(folder: Path, header: Sequence[str], row: Sequence[object], **more: object) -> Orders:
    return read(sheet(folder, header, row, name="one.xlsx"), **more)  # type: ignore[arg-type]


def naive(*numbers: int) -> dt.datetime:
    """A moment as a workbook has it: without a zone."""
    return dt.datetime(*numbers)  # type: ignore[arg-type]  # noqa: DTZ001


def faults(found: Orders) -> list[tuple[int, str, str, str]]:
    return [(fault.row, fault.column, fault.value, fault.reason.code) for fault in found.left_out]


# --------------------------------------------------------------------------------------------------------- the whole
@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".jsonl"])
def test_the_file_of_an_operator_becomes_what_each_row_says(tmp_path: Path, ending: str) -> None:
    good = task_sheets.rows(KEYS)
    found = read(task_sheets.write(tmp_path / f"tasks{ending}", task_sheets.spoilt(good)))
    first = 1 if ending == ".jsonl" else 2
    bad = {line - 2 + first: task_sheets.HEADER[column] for line, column, _value in task_sheets.BAD}
    assert (found.total, len(found.specs), found.bad_rows, found.twins) == (300, 293, 7, ())
    assert {fault.row: fault.column for fault in found.faults} == bad
    assert found.ignored == ()
    assert len(found.types) == 3
    for spec in found.specs:
        platform, shop_id, kind, priority, payload = good[spec.line - first]
        assert spec.shop_id == shop_id
        assert spec.platform == {"拼多多": "pdd", "TEMU": "temu"}[str(platform)]
        assert str(kind) in (spec.task_type, *TYPES[spec.task_type].title.values())
        assert spec.priority == {"高": 10, "普通": 6, "低": 2, "9": 9, 5: 5, "": ""}[priority]  # type: ignore[index]
        number = spec.line - first
        wanted = (
            {"goods_id": f"G{number:04}"} if spec.task_type == "single_product" else {"page_size": 10 + number % 50}
        )
        assert spec.payload == wanted, payload
    assert all(english(fault.reason) and render(fault.reason) for fault in found.faults)


@pytest.mark.parametrize(
    ("header", "cell", "where"),
    [
        ("page_size", 5000, ""),
        ("payload.page_size", 5000, ""),
        ("payload", '{"page_size": 5000}', "payload"),
        ("delay", "soon", "delay"),
    ],
)
def test_a_reason_that_begins_with_its_column_is_not_put_behind_it(
    tmp_path: Path, header: str, cell: object, where: str
) -> None:
    (fault,) = one(tmp_path, ["shop", "type", header], [KEYS[0], "sync_order", cell]).faults
    assert (fault.column, fault.where) == (header, where), english(fault.reason)


WORDS = st.sampled_from(
    [
        "",
        "pdd",
        "拼多多",
        "temu",
        "pdd-10001",
        "temu-001",
        "第3号店",
        "sync_order",
        "商品刷新",
        "nothing",
        "高",
        "3",
        "11",
        '{"page_size": 5}',
        "page_size=7",
        "{",
        "a,b",
        '"',
        "'",
        " ",
        "1.00213E+15",
        "#N/A",
        "x\ny",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=0, max_size=6), max_size=25), st.booleans())
def test_no_row_vanishes(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], known: bool) -> None:
    path = tmp_path_factory.mktemp("rows") / "a.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([list(task_sheets.HEADER), ["pdd", "pdd-10000", "sync_order", "", ""], *rows])
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    found = read(path, KNOWN if known else OPEN)
    parts = len(found.specs) + found.bad_rows + len(found.twins) + found.table.empty
    filled = [at for at, row in enumerate(rows) if any(cell.strip() for cell in row)]
    assert parts == found.total == 1 + (filled[-1] + 1 if filled else 0)
    places = [spec.line for spec in found.specs] + [fault.row for fault in found.twins]
    assert len(places) == len(set(places))
    assert not set(places) & {fault.row for fault in found.faults}


def test_an_export_of_tasks_can_be_read_back(tmp_path: Path) -> None:
    tasks = [
        Task(
            task_id="a",
            platform="pdd",
            shop_id="pdd-10001",
            task_type="sync_order",
            payload='{"page_size":5}',
            priority=9,
            lane="high",
        ),
        Task(task_id="b", platform="temu", shop_id="temu-001", task_type="batch_reply", payload='{"text":"=x"}'),
        Task(task_id="c", platform="pdd", shop_id="pdd-10002", task_type="get_content", payload='{"password":"x"}'),
    ]
    for ending in ("csv", "xlsx", "json"):
        path = tmp_path / f"out.{ending}"
        export.write(tasks, path, SHOPS, ZONE)
        found = read(path)
        assert [(s.platform, s.shop_id, s.task_type, dict(s.payload), s.priority) for s in found.specs] == [
            ("pdd", "pdd-10001", "sync_order", {"page_size": 5}, 9),
            ("temu", "temu-001", "batch_reply", {"text": "=x"}, 6),
        ]
        assert [(fault.column, fault.reason.code) for fault in found.faults] == [("payload", "sheet.masked")]
        assert "status" in {column.title for column in found.ignored}, "what is not used is said"
        assert DOTS in english(found.faults[0].reason) or found.faults[0].reason.params["name"] == "password"


# ------------------------------------------------------------------------------------------------------------ columns
@pytest.mark.parametrize(
    ("title", "target"),
    [
        ("Platform", "platform"),
        (" SHOP_ID ", "shop"),
        ("店铺编号", "shop"),
        ("* 店铺ID（必填）", "shop"),
        ("店铺名称", "shop_name"),
        ("Task Type", "type"),
        ("任务", "type"),
        ("优先级", "priority"),
        ("通道", "lane"),
        ("参数", "payload"),
        ("定时", "not_before"),
        ("开始时间", "not_before"),
        ("截止", "deadline"),
        ("ＤＥＡＤＬＩＮＥ", "deadline"),
        ("payload.page_size", "payload.page_size"),
        ("参数.每页数量", "payload.每页数量"),
        ("每页数量", "payload.page_size"),
        ("Page size", "payload.page_size"),
        ("page_size", "payload.page_size"),
        ("备注", ""),
        ("whatever", ""),
    ],
)
def test_headings_are_known_in_both_languages(tmp_path: Path, title: str, target: str) -> None:
    found = table.read(sheet(tmp_path, [title, "x1", "x2"], ["1", "2", "3"]))
    mapped = columns.guess(found, TYPES, ShopIndex({}), "sync_order")
    assert mapped[0].target == target


def test_what_is_not_used_is_said_with_its_reason_and_what_is_empty_is_not(tmp_path: Path) -> None:
    header = ["平台", "店铺ID", "任务类型", "备注", "负责人", "优先及", "类型", "空"]
    found = read(sheet(tmp_path, header, ["pdd", "pdd-10001", "sync_order", "n", "chen", "高", "sync_order", ""]))
    assert [(c.title, c.why.code) for c in found.ignored if c.why is not None] == [
        ("备注", "sheet.ignored_note"),
        ("负责人", "sheet.ignored_unknown"),
        ("优先及", "sheet.ignored_near"),
        ("类型", "sheet.ignored_again"),
    ]


def test_of_two_columns_with_one_heading_it_is_said_which_is_used(tmp_path: Path) -> None:
    found = table.read(sheet(tmp_path, ["平台", "page_size", "page_size"], ["pdd", "20", "30"]))
    mapped = columns.guess(found, TYPES, ShopIndex({}), "sync_order")
    for one, used, ignored in ((mapped, 1, 2), (columns.choose(mapped, 2, mapped[1].target), 2, 1)):
        assert one[used].target == "payload.page_size"
        why = one[ignored].why
        assert why is not None
        assert (why.code, why.params) == ("sheet.ignored_heading", {"n": used + 1})


def test_a_person_says_what_a_column_is(tmp_path: Path) -> None:
    path = sheet(tmp_path, ["渠道商", "号", "活儿", "n"], ["pdd", "pdd-10001", "sync_order", "20"])
    words = ("渠道商=platform", "号=店铺ID", "活儿=type", "n=payload.page_size")
    (spec,) = read(path, words=words).specs
    assert (spec.platform, spec.shop_id, spec.task_type, spec.payload) == (
        "pdd",
        "pdd-10001",
        "sync_order",
        {"page_size": 20},
    )
    assert [column.title for column in read(path, words=(*words, "n=-")).ignored] == ["n"]
    for wrong in ("nothing=shop", "号", "号=colour"):
        with pytest.raises(UsageError) as caught:
            read(path, words=(wrong,))
        assert caught.value.field == "--map"


def test_two_columns_never_say_the_same(tmp_path: Path) -> None:
    found = read(sheet(tmp_path, ["platform", "平台", "shop", "type"], ["pdd", "temu", "pdd-10001", "sync_order"]))
    (spec,) = found.specs
    assert spec.platform == "pdd"
    mapped = columns.choose(found.columns, 1, "platform")
    assert [column.target for column in mapped[:2]] == ["", "platform"]


def test_a_column_of_shops_is_found_by_what_stands_in_it(tmp_path: Path) -> None:
    found = read(sheet(tmp_path, ["no", "code"], ["1", "pdd-10001"]), defaults=Defaults(task_type="sync_order"))
    assert found.mapping == {"code": "shop"}
    assert [spec.task_type for spec in found.specs] == ["sync_order"]


# ------------------------------------------------------------------------------------------------------------- shops
@pytest.mark.parametrize(
    ("platform", "cell", "key"),
    [
        ("拼多多", "pdd-10001", "pdd:pdd-10001"),
        ("PDD", "PDD-10001", "pdd:pdd-10001"),
        ("", "pdd-10001", "pdd:pdd-10001"),
        ("", "temu:temu-001", "temu:temu-001"),
        ("pdd", 88, "pdd:88"),
        ("temu", 88.0, "temu:88"),
        ("temu", "88.0", "temu:88"),
        ("pdd", "第3号店", "pdd:pdd-10003"),
        ("", "Shop 4", "pdd:pdd-10004"),
        ("temu", "双号", "temu:88"),
        ("ｐｄｄ", "ｐｄｄ－10001", "pdd:pdd-10001"),
    ],
)
def test_a_shop_is_found_by_id_or_name(tmp_path: Path, platform: str, cell: object, key: str) -> None:
    found = one(tmp_path, ["平台", "店铺", "type"], [platform, cell, "sync_order"])
    assert [f"{spec.platform}:{spec.shop_id}" for spec in found.specs] == [key], faults(found)


@pytest.mark.parametrize(
    ("platform", "cell", "code", "near"),
    [
        ("pdd", 1.00213e15, "sheet.rounded", ""),
        ("pdd", "1.00213E+15", "sheet.rounded", ""),
        ("pdd", 70, "sheet.shop_zeros", "pdd:0070"),
        ("pdd", "pdd-1000l", "sheet.shop_near", "pdd:pdd-100"),
        ("pdd", "#REF!", "sheet.error_cell", ""),
        ("", 88, "sheet.shop_several", ""),
        ("temu", "pdd-10001", "sheet.shop_elsewhere", ""),
        ("temu", "pdd:pdd-10001", "sheet.shop_elsewhere", ""),
        ("拼夕夕", "pdd-10001", "sheet.platform", ""),
        ("pdd", True, "sheet.shop_word", ""),
        ("pdd", naive(2026, 1, 2), "sheet.shop_word", ""),
        ("pdd", 1.5, "sheet.shop_word", ""),
        ("pdd", "", "sheet.no_shop", ""),
    ],
)
def test_a_shop_that_is_none_is_a_fault_with_its_reason(
    tmp_path: Path, platform: str, cell: object, code: str, near: str
) -> None:
    found = one(tmp_path, ["平台", "店铺ID", "type"], [platform, cell, "sync_order"])
    (fault,) = found.faults
    assert fault.reason.code == code
    assert str(fault.reason.params.get("near", "")).startswith(near)
    assert fault.column == ("平台" if code == "sheet.platform" else "店铺ID")


def test_an_id_and_a_name_of_two_shops_are_a_fault(tmp_path: Path) -> None:
    header = ["platform", "shop_id", "shop_name", "type"]
    found = one(tmp_path, header, ["pdd", "pdd-10001", "第2号店", "sync_order"])
    assert [code for *_rest, code in faults(found)] == ["sheet.shop_name_other"]
    assert len(one(tmp_path, header, ["pdd", "pdd-10001", "an old name", "sync_order"]).specs) == 1
    assert len(one(tmp_path, header, ["pdd", "", "第2号店", "sync_order"]).specs) == 1


def test_a_fleet_without_shops_takes_every_id(tmp_path: Path) -> None:
    empty = Known(shops={}, types=TYPES)
    (spec,) = one(tmp_path, ["shop", "type"], ["temu:s1", "sync_order"], known=empty).specs
    assert (spec.platform, spec.shop_id) == ("temu", "s1")
    (spec,) = one(tmp_path, ["平台", "shop", "type"], ["拼多多", 17, "sync_order"], known=empty).specs
    assert (spec.platform, spec.shop_id) == ("pdd", "17")
    for word, code in (("s1", "sheet.no_platform"), ("pdd:s#1", "sheet.shop_word")):
        found = one(tmp_path, ["shop", "type"], [word, "sync_order"], known=empty)
        assert [fault.reason.code for fault in found.faults] == [code]


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (("Outlets", "s1", "s2"), [(1, "(A)", "Outlets", "sheet.shop_title")]),
        (("pdd:Outlets", "s1", "s2"), []),  # somebody means it
        (("alpha", "beta", "gamma"), []),  # as good as the others
        (("alpha", "s1"), []),  # nothing to compare with
    ],
)
def test_the_title_of_a_list_is_no_shop_where_every_id_is_taken(
    tmp_path: Path, lines: Sequence[str], wrong: list[tuple[int, str, str, str]]
) -> None:
    path = tmp_path / "list.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    given = Defaults(platform="pdd", task_type="sync_order")
    found = read(path, Known(shops={}, types=TYPES), given, ["(A)=shop"])
    assert (faults(found), len(found.specs)) == (wrong, len(lines) - len(wrong))


@pytest.mark.parametrize(
    ("titles", "shop", "words", "wrong"),
    [
        (("shop_id", "店铺编号"), "", (), "店铺编号"),
        (("店铺编号", "shop_id"), "", (), "店铺编号"),
        (("shop_id", "店铺编号"), "a1", ["店铺编号=-"], ""),
        (("shop_id", "店铺编号"), "b2", ["店铺编号=shop"], ""),
        (("shop_id", "店铺编号"), "a1", ["店铺编号=shop_name"], ""),
        (("shop_id", "店铺名称"), "a1", (), ""),
        (("shop", "shop_id"), "b2", (), ""),
    ],
)
def test_of_two_columns_with_ids_none_is_a_name_by_itself_where_every_id_is_taken(
    tmp_path: Path, titles: Sequence[str], shop: str, words: Sequence[str], wrong: str
) -> None:
    header, row = ["platform", *titles, "type"], ["pdd", "a1", "b2", "sync_order"]
    found = one(tmp_path, header, row, known=OPEN, words=words)
    assert [spec.shop_id for spec in found.specs] == ([shop] if shop else [])
    assert [(column, code) for _row, column, _value, code in faults(found)] == (
        [(wrong, "sheet.two_ids")] if wrong else []
    )
    assert len(one(tmp_path, header, ["pdd", "a1", "a1", "sync_order"], known=OPEN, words=words).specs) == 1


def test_of_two_columns_with_ids_the_one_of_a_known_shop_counts(tmp_path: Path) -> None:
    row = ["pdd", 17, "pdd-10001", "sync_order"]
    (spec,) = one(tmp_path, ["platform", "店铺编号", "shop_id", "type"], row).specs
    assert spec.shop_id == "pdd-10001"


# ------------------------------------------------------------------------------------- types, priorities, times, links
def test_a_type_that_nobody_has_defined_is_a_fault_unless_that_is_allowed(tmp_path: Path) -> None:
    row = ["pdd:pdd-10001", "work"]
    assert [code for *_x, code in faults(one(tmp_path, ["shop", "type"], row))] == ["sheet.type"]
    assert [code for *_x, code in faults(one(tmp_path, ["shop", "type"], [row[0], "sync_oder"]))] == ["sheet.type_near"]
    allowed = Known(shops=SHOPS, types=TYPES, undefined=True)
    assert [spec.task_type for spec in one(tmp_path, ["shop", "type"], row, known=allowed).specs] == ["work"]


@pytest.mark.parametrize(
    ("cell", "priority"),
    [
        ("高", 10),
        ("HIGH", 10),
        ("高优先级", 10),
        ("普通", 6),
        ("中", 6),
        ("low", 2),
        ("低优先级", 2),
        (7, 7),
        (7.0, 7),
        ("７", 7),
        ("", ""),
    ],
)
def test_priorities_are_words_or_numbers(tmp_path: Path, cell: object, priority: object) -> None:
    (spec,) = one(tmp_path, ["shop", "type", "优先级"], ["pdd-10001", "sync_order", cell]).specs
    assert spec.priority == priority


@pytest.mark.parametrize("cell", ["urgent", "紧急", 0, 11, 5.5, "P0", True])
def test_what_is_no_priority_is_a_fault(tmp_path: Path, cell: object) -> None:
    found = one(tmp_path, ["shop", "type", "优先级"], ["pdd-10001", "sync_order", cell])
    assert [code for *_rest, code in faults(found)] == ["sheet.priority"]


def test_a_lane_alone_is_a_priority_and_one_that_disagrees_a_fault(tmp_path: Path) -> None:
    header = ["shop", "type", "通道", "优先级"]
    assert one(tmp_path, header, ["pdd-10001", "sync_order", "高", ""]).specs[0].priority == 10
    assert one(tmp_path, header, ["pdd-10001", "sync_order", "高", 9]).specs[0].priority == 9
    assert faults(one(tmp_path, header, ["pdd-10001", "sync_order", "低", 9])) == [
        (2, "通道", "低", "sheet.lane_other")
    ]


MORNING = NOW + 3_600_000  #: 09:00 in Shanghai


@pytest.mark.parametrize(
    "cell",
    [
        "2025-11-22 09:00",
        "2025/11/22 9:00",
        "2025年11月22日 9:00",
        "2025年11月22日9点",
        "2025-11-22T01:00Z",
        "2025-11-22T09:00:00+08:00",
        "1h",
        "1小时",
        naive(2025, 11, 22, 9),
        "in 1 h",
        "1小时后",
        "9:00",
        "9点",
        dt.time(9),
        "today 09:00",
        "今天 9：00",
    ],
)
def test_a_start_is_written_in_any_usual_way(tmp_path: Path, cell: object) -> None:
    (spec,) = one(tmp_path, ["shop", "type", "开始时间"], ["pdd-10001", "sync_order", cell]).specs
    assert spec.at_ms == MORNING


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("soon", "time"),
        ("明天", "time_day"),
        ("today 07:59", "time_past"),
        ("2025-11-22", "time_day"),
        ("2025-13-22 08:00", "no_day"),
        ("2025/13/45", "no_day"),
        ("2025年2月30日", "no_day"),
        ("2025-11-22 25:61", "time"),
        ("2025-11-22 07:59", "time_past"),
        (45000, "time"),
        (naive(2025, 11, 30), "time_day"),
        ("0s", "time_past"),
        ("2026-99-99 99:99", "no_day"),
    ],
)
def test_what_is_no_deadline_is_a_fault_of_its_column(tmp_path: Path, cell: object, code: str) -> None:
    found = one(tmp_path, ["shop", "type", "截止"], ["pdd-10001", "sync_order", cell])
    assert [(fault.column, fault.reason.code) for fault in found.faults] == [("截止", f"sheet.{code}")]


def test_times_that_cannot_be_kept_together_are_faults(tmp_path: Path) -> None:
    header = ["shop", "type", "not_before", "delay", "deadline"]
    late = one(tmp_path, header, ["pdd-10001", "sync_order", "2h", "", "1h"])
    both = one(tmp_path, header, ["pdd-10001", "sync_order", "2h", 60, ""])
    far = one(tmp_path, header, ["pdd-10001", "sync_order", "", "400d", ""])
    assert [faults(found)[0][3] for found in (late, both, far)] == ["sheet.late", "task.delay_or_time", "task.too_far"]


@pytest.mark.parametrize("cell", ["a b", "a,b", " a ; b ", "a，b", "a\tb"])
def test_a_cell_names_what_its_row_waits_for(tmp_path: Path, cell: str) -> None:
    header = ["shop", "type", "Key", "depends_on", "on_dependency_failure"]
    (spec,) = one(tmp_path, header, ["pdd-10001", "sync_order", "c", cell, "Cancel"]).specs
    assert (spec.key, spec.depends_on, spec.on_dependency_failure) == ("c", ("a", "b"), "cancel")


# ---------------------------------------------------------------------------------------------------------- parameters
@pytest.mark.parametrize(
    ("kind", "cell", "payload"),
    [
        ("sync_order", '{"page_size": 5}', {"page_size": 5}),
        ("sync_order", "page_size=5;since=2026-11-20", {"page_size": 5, "since": "2026-11-20"}),
        ("sync_order", "每页数量=5；起始日期=2026-11-20", {"page_size": 5, "since": "2026-11-20"}),
        ("sync_order", "page_size=5,since=2026-11-20", {"page_size": 5, "since": "2026-11-20"}),
        ("sync_order", "订单状态=待发货、已发货", {"status": ["paid", "shipped"]}),
        ("sync_order", "status=paid,shipped;page_size=7", {"status": ["paid", "shipped"], "page_size": 7}),
        (
            "refresh_goods",
            "仅在售商品=是;screenshot_on_failure=no",
            {"only_on_sale": True, "screenshot_on_failure": False},
        ),
        ("single_product", "goods_id=0012", {"goods_id": "0012"}),
        ("send_welcome_email", "template=COUPON", {"template": "coupon"}),
        ("get_content", "unheard=[1, 2];word=x", {"unheard": [1, 2], "word": "x"}),
        ("sync_order", "", {}),
        ("sync_order", "{}", {}),
        ("sync_order", "无", {}),
    ],
)
def test_parameters_are_json_or_names_with_values(tmp_path: Path, kind: str, cell: str, payload: object) -> None:
    found = one(tmp_path, ["shop", "type", "参数"], ["pdd-10001", kind, cell])
    assert [spec.payload for spec in found.specs] == [payload], faults(found)


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ('{"page_size": }', "sheet.payload_at"),
        ("[1]", "sheet.payload_object"),
        ("fast", "sheet.payload_at"),
        ('{"a": 1, "a": 2}', "sheet.payload"),
        ("{“page_size”：5}", "sheet.payload_quotes"),
        ("page_size=5;fast", "sheet.pair"),
        ("page_size=5;page_size=6", "sheet.pair_twice"),
        ("page_size=5;每页数量=6", "sheet.pair_twice"),
        ("page_size=many", "payload.bad"),
        ("page_size=5000", "payload.bad"),
        ("[" * 30_000, "sheet.payload"),
    ],
)
def test_parameters_that_are_none_are_a_fault(tmp_path: Path, cell: str, code: str) -> None:
    found = one(tmp_path, ["shop", "type", "参数"], ["pdd-10001", "sync_order", cell])
    assert [(fault.column, fault.reason.code) for fault in found.faults] == [("参数", code)]


def test_columns_are_parameters_of_the_type_of_each_row(tmp_path: Path) -> None:
    header = ["shop", "type", "每页数量", "goods_id", "起始日期"]
    path = sheet(
        tmp_path,
        header,
        ["pdd-10001", "sync_order", 20.0, "", naive(2026, 11, 20)],
        ["pdd-10001", "单品采集", "", 12, ""],
        ["pdd-10002", "single_product", 5, 12, ""],
        ["pdd-10003", "sync_order", "", 12, ""],
        name="a.xlsx",
    )
    found = read(path)
    assert [spec.payload for spec in found.specs] == [{"page_size": 20, "since": "2026-11-20"}, {"goods_id": "12"}]
    assert [(fault.row, fault.column) for fault in found.faults] == [(4, "每页数量"), (5, "goods_id")]


def test_all_faults_of_a_row_are_told(tmp_path: Path) -> None:
    found = one(tmp_path, list(task_sheets.HEADER), ["拼夕夕", "x", "不知道", "很急", "{"])
    assert {fault.column for fault in found.faults} == {"平台", "任务类型", "优先级", "参数"}
    both = one(
        tmp_path, list(task_sheets.HEADER), ["pdd", "pdd-10001", "sync_order", "", '{"page_size": 0, "status": ["x"]}']
    )
    assert len(both.faults) == 2
    assert both.bad_rows == 1


def test_what_the_dialog_or_the_options_say_counts_only_where_a_row_says_nothing(tmp_path: Path) -> None:
    given_ = Defaults(
        platform="temu",
        task_type="sync_order",
        priority=3,
        at_ms=MORNING,
        payload={"page_size": 9, "since": "2026-01-01"},
    )
    header = ["平台", "shop", "type", "优先级", "参数", "定时"]
    path = sheet(
        tmp_path,
        header,
        ["", "88", "", "", "", ""],
        ["pdd", "88", "sync_order", "高", "page_size=5", "2h"],
        ["pdd", "88", "refresh_goods", "", "", ""],
    )
    first, second, third = read(path, defaults=given_).specs
    assert (first.platform, first.task_type, first.priority, first.at_ms) == ("temu", "sync_order", 3, MORNING)
    assert first.payload == {"page_size": 9, "since": "2026-01-01"}
    assert (second.platform, second.priority, second.at_ms) == ("pdd", 10, NOW + 7_200_000)
    assert second.payload == {"page_size": 5, "since": "2026-01-01"}
    assert (third.payload, third.priority) == ({}, 3), "parameters are those of one type"


# ------------------------------------------------------------------------------------------------------------- twins
def test_rows_that_say_the_same_again_are_named(tmp_path: Path) -> None:
    rows = [
        ["pdd-10001", "refresh_goods", "page_size=5"],
        ["pdd-10001", "refresh_goods", '{"page_size": 5}'],
        ["pdd-10001", "refresh_goods", "page_size=6"],
        ["pdd-10002", "sync_order", "page_size=5"],
        ["第2号店", "同步订单", "page_size=6"],
    ]
    path = sheet(tmp_path, ["shop", "type", "参数"], *rows)
    found = read(path)
    assert [(fault.row, fault.reason.code, fault.reason.params["row"]) for fault in found.twins] == [
        (3, "sheet.twin", 2),
        (6, "sheet.twin_shop", 5),
    ]
    assert len(found.specs) == 3
    assert len(read(path, twins=True).specs) == 5, "they are wanted: queued one behind the other"


@pytest.mark.parametrize("named", ["k1", ""])
def test_what_waits_for_a_row_that_repeats_another_one_waits_for_that_one(tmp_path: Path, named: str) -> None:
    rows = [
        ["pdd-10001", "full_sync", named, ""],
        ["pdd-10001", "full_sync", "k2", ""],
        ["pdd-10001", "full_sync", "k9", "k2"],
        ["pdd-10002", "full_sync", "k10", "k2 k9 other"],
    ]
    path = sheet(tmp_path, ["shop", "type", "key", "depends_on"], *rows)
    found = read(path)
    assert [fault.row for fault in found.twins] == [3, 4]
    first, last = found.specs
    assert (first.depends_on, last.key) == ((), "k10")
    assert last.depends_on == (first.key, "other")
    assert first.key == (named or first.key) != ""
    wanted = read(path, twins=True).specs
    assert [spec.depends_on for spec in wanted] == [(), (), ("k2",), ("k2", "k9", "other")]


def test_the_fault_of_a_link_names_its_column_once(tmp_path: Path) -> None:
    rows = [["pdd-10001", "full_sync", "k1", "gone"]]
    for title, where in (("depends_on", ""), ("前置任务", "前置任务")):
        found = read(sheet(tmp_path, ["shop", "type", "key", title], *rows))
        (spec,) = found.specs
        answer = Checked(errors=((spec, "depends_on", said("links.unknown", name="'gone'")),))
        (fault,) = checked(found, answer).faults
        assert fault.where == where


def test_a_row_that_repeats_one_that_is_left_out_shares_its_reason_for_as_long(tmp_path: Path) -> None:
    rows = [["pdd-10001", "sync_order"], ["pdd-10001", "sync_order"], ["pdd-10002", "sync_order"]]
    found = read(sheet(tmp_path, ["shop", "type"], *rows, ["pdd-10002", "sync_order"]))
    done, active = found.specs
    told = checked(
        found,
        Checked(
            twins=(Twin(spec=active, task_id="busy", status="running"),),
            before=(Before(spec=done, done=Done("ran", NOW - 60_000, "ann"), asks=True),),
        ),
        now_ms=NOW,
    )
    codes = {fault.row: fault.reason.code for fault in told.left_out}
    assert codes == {2: "sheet.done", 3: "sheet.done", 4: "sheet.active", 5: "sheet.active"}
    told = told.decided(fate="reject", reason="its orders were lost")
    codes = {fault.row: fault.reason.code for fault in told.left_out}
    assert codes == {3: "sheet.twin_shop", 4: "sheet.active", 5: "sheet.active"}
    assert [spec.line for spec in told.going] == [2]
    told = told.decided(fate="queue", reason=told.reason)
    codes = {fault.row: fault.reason.code for fault in told.left_out}
    assert codes == {3: "sheet.twin_shop", 5: "sheet.twin_shop"}
    assert [spec.line for spec in told.going] == [2, 4]


def test_a_row_that_is_active_and_was_done_lately_goes_only_for_a_reason_whatever_is_decided_later(
    tmp_path: Path,
) -> None:
    found = read(sheet(tmp_path, ["shop", "type"], ["pdd-10001", "sync_order"], ["pdd-10002", "sync_order"]))
    both, done = found.specs
    before = tuple(Before(spec=one, done=Done("ran", NOW - 60_000, "ann"), asks=True) for one in (both, done))
    answer = Checked(twins=(Twin(spec=both, task_id="busy", status="running"),), before=before)

    def goes(told: Orders) -> list[tuple[int, str, str]]:
        return [(spec.line, spec.if_duplicate, spec.reason) for spec in told.going]

    looked = checked(found, answer, now_ms=NOW)
    assert goes(looked) == []
    queued = looked.decided(fate="queue", reason="")
    assert goes(queued) == [], "behind an active one too it asks why"
    assert {fault.row: fault.reason.code for fault in queued.left_out} == {2: "sheet.done", 3: "sheet.done"}
    told = queued.decided(fate="queue", reason="lost")
    assert goes(told) == [(2, "queue", "lost"), (3, "queue", "lost")]
    assert told == checked(found, answer, "queue", reason="lost", now_ms=NOW), "as if it had been known at the look"
    assert goes(told.decided(fate="reject", reason="lost")) == [(3, "reject", "lost")]
    assert told.decided(fate="reject", reason="") == looked
    assert looked.total == told.total == 2


def test_a_column_is_a_value(tmp_path: Path) -> None:
    found = read(sheet(tmp_path, ["shop", "type"], ["pdd-10001", "sync_order"], ["pdd-10002", "sync_order"]))
    assert found.columns[0] == Column(at=0, title="shop", samples=("pdd-10001", "pdd-10002"), filled=2, target="shop")


def test_every_reason_can_be_said(tmp_path: Path) -> None:
    found = one(tmp_path, ["shop", "type", "参数"], ["pdd-10001", "sync_order", "{"])
    assert 'write {"page_size": 50}' in english(found.faults[0].reason)
    assert json.dumps(english(found.faults[0].reason))


# ------------------------------------------------------------------------------------------------- digits that matter
LOOSE = task_type.parse(
    json.dumps(
        {
            "name": "loose",
            "version": 1,
            "schema": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "whole": {"type": "integer"},
                    "amount": {"type": "number"},
                    "list": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    ).encode()
)
DIGITS = Known(shops={}, types={"loose": LOOSE}, undefined=True)
PARTS = ("text", "whole", "amount", "any")


def numbers(path: Path, row: str) -> Orders:
    """A file of one row whose parameters stand as they are written: one for each kind that a type may want."""
    if path.suffix in (".jsonl", ".json"):
        line = '{"shop": "temu:s1", "type": "loose", ' + ", ".join(f'"payload.{part}": {row}' for part in PARTS) + "}"
        path.write_text(f"[{line}]" if path.suffix == ".json" else line, encoding="utf-8")
    else:
        head = ",".join(["shop", "type", *(f"payload.{part}" for part in PARTS)])
        path.write_text(f"{head}\ntemu:s1,loose,{','.join([row] * len(PARTS))}\n", encoding="utf-8")
    maps = [f"payload.{part}=payload.{part}" for part in PARTS]
    return read(path, DIGITS, words=maps)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json"])
@pytest.mark.parametrize(
    "number", ["1234567890123456", "12345678901234567891", "9007199254740993", "-9007199254740993"]
)
def test_a_long_number_of_a_text_file_keeps_every_digit(tmp_path: Path, ending: str, number: str) -> None:
    (spec,) = numbers(tmp_path / f"a{ending}", number).specs
    assert spec.payload == {"text": number, "whole": int(number), "amount": int(number), "any": int(number)}
    assert number in json.dumps(spec.payload)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json"])
@pytest.mark.parametrize("number", ["1.23457E+15", "1.2345678901234567E+19"])
def test_a_number_written_shortened_is_a_fault_of_its_cell(tmp_path: Path, ending: str, number: str) -> None:
    found = numbers(tmp_path / f"a{ending}", number)
    assert [(fault.column, fault.reason.code) for fault in found.faults] == [
        (f"payload.{part}", "sheet.rounded") for part in PARTS
    ]
    assert found.specs == ()


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json"])
@pytest.mark.parametrize("length", [400, 4_300, 5_000])
def test_an_absurd_number_is_a_fault_of_its_cell(tmp_path: Path, ending: str, length: int) -> None:
    found = numbers(tmp_path / f"a{ending}", "7" * length)
    assert [(fault.column, fault.reason.code) for fault in found.faults] == [
        (f"payload.{part}", "sheet.digits") for part in PARTS
    ]
    assert all(english(fault.reason) == f"a number of {length} digits; there are at most 64" for fault in found.faults)


SLOT = 271828  #: in the place of which a workbook gets the text of a number that its writer refuses


def written(path: Path, number: str) -> Path:
    """The same workbook with this number wherever the slot stands; other sorts of files hold it already."""
    if path.suffix == ".xlsx":
        with ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        with ZipFile(path, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data.replace(f"<v>{SLOT}</v>".encode(), f"<v>{number}</v>".encode()))
    return path


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("1234567890123456", "sheet.rounded"),
        ("12345678901234567891", "sheet.rounded"),
        ("1.2345678901234567E+19", "sheet.rounded"),
        ("-10000000000000000", "sheet.rounded"),
        ("1E+999", "sheet.rounded"),
        ("7" * 400, "sheet.digits"),
        ("7" * 4_300, "sheet.digits"),
    ],
)
def test_a_workbook_keeps_fifteen_digits_and_says_so(tmp_path: Path, number: str, code: str) -> None:
    header = ["shop", "type", *(f"payload.{part}" for part in PARTS)]
    maps = [f"payload.{part}=payload.{part}" for part in PARTS]
    path = sheet(tmp_path, header, ["temu:s1", "loose", *[SLOT] * len(PARTS)], name="a.xlsx")
    found = read(written(path, number), DIGITS, words=maps)
    assert [(fault.column, fault.reason.code) for fault in found.faults] == [
        (f"payload.{part}", code) for part in PARTS
    ]
    assert not any("e+" in fault.value.lower() for fault in found.faults)
    (spec,) = read(sheet(tmp_path, header, ["temu:s1", "loose", *[str(10**16)] * 4], name="b.xlsx"), DIGITS).specs
    assert spec.payload["text"] == str(10**16), "as text it is whole"


def test_a_workbook_with_a_number_that_nobody_can_read_is_refused_in_words(tmp_path: Path) -> None:
    path = sheet(tmp_path, ["shop", "type", "key"], ["temu:s1", "loose", SLOT], name="a.xlsx")
    with pytest.raises(UsageError, match="cannot be read from row 2 on"):
        read(written(path, "7" * 5_000), DIGITS)


def test_a_small_fraction_is_not_written_shortened(tmp_path: Path) -> None:
    path = sheet(tmp_path, ["shop", "type", "payload.text"], ["temu:s1", "loose", 0.0000001], name="a.xlsx")
    (spec,) = read(path, DIGITS, words=["payload.text=payload.text"]).specs
    assert spec.payload == {"text": "0.0000001"}


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".jsonl"])
@pytest.mark.parametrize("header", ["key", "depends_on", "shop", "priority", "retries", "delay", "not_before", "参数"])
@pytest.mark.parametrize("number", ["1.23457E+15", "7" * 400, "7" * 4_300])
def test_no_column_takes_such_a_number(tmp_path: Path, ending: str, header: str, number: str) -> None:
    cell: object = number if ending == ".csv" else SLOT
    head = ["shop", "type", *([header] if header != "shop" else [])]
    row = [cell if header == "shop" else "temu:s1", "loose", *([cell] if header != "shop" else [])]
    path = written(task_sheets.write(tmp_path / f"a{ending}", [row], head, encoding="utf-8"), number)
    if ending == ".jsonl":
        path.write_text(path.read_text(encoding="utf-8").replace(str(SLOT), number), encoding="utf-8")
    found = read(path, DIGITS)
    assert found.specs == ()
    (fault,) = {fault.column: fault for fault in found.faults}.values()
    assert fault.column == header
    assert english(fault.reason)


def test_ids_in_a_json_cell_are_whole_or_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good, bad = '{"order": {"ids": [12345678901234567891]}}', '{"order": {"ids": [12345678901234567891.0]}}'
    lines = [f'{{"shop": "temu:s{n}", "type": "loose", "payload": {cell}}}' for n, cell in enumerate((good, bad))]
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read(path, DIGITS)
    assert [json.dumps(spec.payload) for spec in found.specs] == [good]
    assert [(fault.row, fault.reason.code) for fault in found.faults] == [(2, "sheet.rounded")]


def test_two_long_ids_that_differ_in_the_last_digit_are_two_tasks(tmp_path: Path) -> None:
    rows = [["temu:s1", "loose", f"1234567890123456789{n}"] for n in range(3)]
    header = ["shop", "type", "payload.whole"]
    found = read(sheet(tmp_path, header, *rows), DIGITS, words=["payload.whole=payload.whole"])
    assert (len(found.specs), found.twins) == (3, ())
