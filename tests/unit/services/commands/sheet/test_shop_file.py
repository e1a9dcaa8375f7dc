"""Shops from a table."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from msgspec.structs import replace

from services.commands.sheet import shop_file, workbook
from services.domain.errors import UsageError
from services.domain.fleet.shop import Shop

HEADER = "platform,shop_id,name,name_en,group,concurrency,dedicated,enabled\n"


def shops(folder: Path, *rows: str, header: str = HEADER) -> Path:
    path = folder / "shops.csv"
    path.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_every_column_is_read(tmp_path: Path) -> None:
    file = shop_file.read(shops(tmp_path, "pdd, s1 ,一号店,First,a,3,yes,no", "pdd,s2,,,,,,"))
    first, second = file.shops
    assert (first.key, first.name, first.name_en, first.group) == ("pdd:s1", "一号店", "First", "a")
    assert (first.concurrency, first.dedicated, first.enabled) == (3, True, False)
    assert (second.concurrency, second.dedicated, second.enabled) == (1, False, True)
    assert (file.faults, file.warnings) == ((), ())


def test_a_name_that_was_guarded_in_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    file = shop_file.read(shops(tmp_path, "pdd,s1,'=一号店,'-First,a,,,", "pdd,s2,''＝x,it's,,,,"))
    assert [(shop.name, shop.name_en) for shop in file.shops] == [("=一号店", "-First"), ("'＝x", "it's")]


def test_what_has_no_column_stays_as_it_was(tmp_path: Path) -> None:
    known = Shop(platform="pdd", shop_id="s1", name="old", group="g", concurrency=4, dedicated=True, unregistered=True)
    path = shops(tmp_path, "pdd,s1,new", header="platform,shop,name\n")
    (shop,) = shop_file.read(path, {known.key: known}).shops
    assert shop == Shop(platform="pdd", shop_id="s1", name="new", group="g", concurrency=4, dedicated=True)


def test_a_cell_that_is_empty_changes_nothing_of_a_shop_that_is_known(tmp_path: Path) -> None:
    """Who fills in some cells of a sheet switches no shop on by the others, and moves no task out of its queue."""
    known = Shop(
        platform="pdd", shop_id="s1", name="old", name_en="Old", group="g", tags=("vip",), concurrency=4,
        dedicated=True, enabled=False,
    )  # fmt: skip
    header = HEADER.replace("group,", "group,tags,")
    for row in ("pdd,s1,,,,,,,", "pdd,s1, , , , , , , "):
        assert shop_file.read(shops(tmp_path, row, header=header), {known.key: known}).shops == (known,)
    (named,) = shop_file.read(shops(tmp_path, "pdd,s1,new,,,,,,yes", header=header), {known.key: known}).shops
    assert named == replace(known, name="new", enabled=True)


@pytest.mark.parametrize(
    ("rows", "line", "field", "says"),
    [
        (("pdd,,x",), 2, "shop_id", "empty"),
        ((",s1,x",), 2, "platform", "empty"),
        (("pdd,s#1",), 2, "shop_id", "s#1"),
        (("pdd,high",), 2, "shop_id", "lane"),
        (("p d d,s1",), 2, "platform", "p d d"),
        (("pdd,s1,,,,many",), 2, "concurrency", "many"),
        (("pdd,s1,,,,-1",), 2, "concurrency", "-1"),
        (("pdd,s1,,,,0",), 2, "concurrency", "1 to 64"),
        (("pdd,s1,,,,١",), 2, "concurrency", "whole number"),
        (("pdd,s1,,,,1,maybe",), 2, "dedicated", "maybe"),
        (("pdd,s1,,,,1,no,x,y",), 2, "file", "9 cells"),
        (("pdd,s1", "pdd,s1"), 3, "shop_id", "pdd:s1 stands twice"),
        (('pdd,"s1',), 2, "file", "not readable as a row"),
    ],
)
def test_a_fault_names_its_line_and_column(
    tmp_path: Path, rows: tuple[str, ...], line: int, field: str, says: str
) -> None:
    (fault,) = shop_file.read(shops(tmp_path, *rows)).faults
    assert (fault.line, fault.field) == (line, field)
    assert says in fault.error


def test_every_fault_is_listed_beside_the_good_lines(tmp_path: Path) -> None:
    file = shop_file.read(shops(tmp_path, "pdd,s1", "pdd,s#2", "pdd,s3", "pdd,s4,,,,x"))
    assert [shop.shop_id for shop in file.shops] == ["s1", "s3"]
    assert [(fault.line, fault.field) for fault in file.faults] == [(3, "shop_id"), (5, "concurrency")]


def test_a_column_that_means_nothing_is_named(tmp_path: Path) -> None:
    file = shop_file.read(shops(tmp_path, "pdd,s1,3,x", header="platform,shop_id,concurency,owner\n"))
    assert len(file.warnings) == 2
    assert "did you mean concurrency?" in file.warnings[0]
    assert "'owner'" in file.warnings[1]


def test_a_workbook(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["platform", "shop_id", "concurrency", "enabled"], ["pdd", 10021, 2.0, True]):
        sheet.append(row)
    book.save(tmp_path / "shops.xlsx")
    (shop,) = shop_file.read(tmp_path / "shops.xlsx").shops
    assert (shop.key, shop.concurrency, shop.enabled) == ("pdd:10021", 2, True)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("nowhere.csv", None, "not a file"),
        ("shops.csv", "a,b\n1,2\n", "must not be missing"),
        ("shops.csv", HEADER, "holds no rows"),
        ("shops.doc", HEADER, "endings"),
    ],
)
def test_a_table_that_is_none(tmp_path: Path, name: str, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=says) as caught:
        shop_file.read(tmp_path / name)
    assert caught.value.field == "file"


def test_a_platform_is_meant_in_any_case_where_the_fleet_has_it(tmp_path: Path) -> None:
    path = shops(tmp_path, "TEMU,1,x", "Pinduoduo,2,y", "SHOPLINE,3,z", header="platform,shop_id,name\n")
    known = [Shop(platform=code, shop_id="old") for code in ("temu", "pdd")]
    found = shop_file.read(path, {shop.key: shop for shop in known}).shops
    assert [shop.key for shop in found] == ["temu:1", "pdd:2", "SHOPLINE:3"]
    assert [shop.key for shop in shop_file.read(path).shops] == ["TEMU:1", "Pinduoduo:2", "SHOPLINE:3"]


def test_a_platform_that_is_none_is_told_those_that_are(tmp_path: Path) -> None:
    path = shops(tmp_path, "拼夕夕,1,x", header="平台,店铺编号,店铺名称\n")
    known = Shop(platform="temu", shop_id="old")
    (fault,) = shop_file.read(path, {known.key: known}).faults
    assert (fault.field, "temu (TEMU" in fault.error) == ("platform", True)


def test_a_column_that_is_nearly_called_one_is_guessed_in_chinese_too(tmp_path: Path) -> None:
    path = shops(tmp_path, "pdd,1,4", header="平台,店铺编号,同时执行次数\n")
    (warning,) = shop_file.read(path).warnings
    assert "did you mean concurrency?" in warning


def test_a_chinese_sheet_of_shops_is_read_like_one_of_tasks(tmp_path: Path) -> None:
    path = tmp_path / "shops.csv"
    path.write_bytes("平台;店铺ID;店铺名称;启用\n拼多多;10021.0;柚子数码;是\ntemu;1.00213E+15;x;是\n".encode("gbk"))
    file = shop_file.read(path)
    assert [(shop.key, shop.name, shop.enabled) for shop in file.shops] == [("pdd:10021", "柚子数码", True)]
    assert [(fault.line, fault.field) for fault in file.faults] == [(3, "shop_id")]
    assert "spreadsheets round numbers of more than 15 digits" in file.faults[0].error


def test_a_huge_workbook_of_shops_is_refused_by_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["platform", "shop_id"])
    book.active.append(["pdd", "s1"])
    book.save(tmp_path / "shops.xlsx")
    assert len(shop_file.read(tmp_path / "shops.xlsx").shops) == 1
    monkeypatch.setattr(workbook, "MAX_UNPACKED", 1 << 10)
    with pytest.raises(UsageError, match="unpacks to"):
        shop_file.read(tmp_path / "shops.xlsx")


@pytest.mark.parametrize(
    ("header", "row", "passed_over"),
    [
        ("平台,店铺ID,名称,编号", "pdd,s100,甲,1", "编号"),
        ("编号,平台,店铺ID", "1,pdd,s100", "编号"),
        ("平台,店铺ID,店铺编号", "pdd,s100,1", "店铺编号 (3)"),
        ("platform,shop,shop_id", "pdd,Flagship,s100", "shop (2)"),
        ("平台,店铺,店铺ID", "pdd,甲,s100", "店铺 (2)"),
        ("平台,店铺,店铺编号,店铺名称", "pdd,甲,s100,甲", "店铺 (2)"),
        ("平台,店铺编号,shop_id", "pdd,1,s100", "店铺编号 (2)"),
        ("平台,编号,名称", "pdd,s100,甲", ""),
    ],
)
def test_a_number_of_lines_is_not_taken_for_that_of_shops(
    tmp_path: Path, header: str, row: str, passed_over: str
) -> None:
    file = shop_file.read(shops(tmp_path, row, header=f"{header}\n"))
    assert [shop.key for shop in file.shops] == ["pdd:s100"]
    assert ([passed_over in file.warnings[0]] if passed_over else file.warnings) == ([True] if passed_over else ())


def test_a_platform_that_the_fleet_does_not_know_is_told_with_its_lines_and_may_be_meant_otherwise(
    tmp_path: Path,
) -> None:
    rows = ("淘宝,1,x", "拼多多,2,y", "淘宝,3,z", "SHOPLINE,4,w")
    path = shops(tmp_path, *rows, header="platform,shop_id,name\n")
    known = {f"{code}:old": Shop(platform=code, shop_id="old") for code in ("temu", "pdd")}
    found = shop_file.read(path, known)
    assert [(one.code, one.lines) for one in found.strangers] == [("SHOPLINE", (5,)), ("taobao", (2, 4))]
    assert [shop.key for shop in found.shops] == ["taobao:1", "pdd:2", "taobao:3", "SHOPLINE:4"]
    assert "line 2, 4: no shop is on the platform taobao (淘宝, Taobao)" in found.warnings[1]
    assert "those there are: pdd (Pinduoduo, 拼多多), temu (TEMU" in found.warnings[1]
    again = shop_file.read(path, known, {"taobao": "temu"})
    assert [shop.key for shop in again.shops] == ["temu:1", "pdd:2", "temu:3", "SHOPLINE:4"]
    assert again.strangers == found.strangers, "who chose may choose again"
    assert len(again.warnings) == 1
    assert shop_file.read(path).strangers == (), "to an empty fleet every platform is new"
    path = shops(tmp_path, "a!,1,x", header="platform,shop_id,name\n")
    found = shop_file.read(path, known)
    assert (len(found.faults), found.warnings) == (1, ()), "refused, so that no platform comes of it"
    assert shop_file.read(path, known, {"a!": "pdd"}).shops[0].key == "pdd:1"
