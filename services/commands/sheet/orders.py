"""Rows of a file as tasks: each with its own platform, shop, type, priority and parameters, or with all its faults."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

import msgspec
from msgspec.structs import replace

from services.commands.sheet import cells, columns
from services.commands.sheet.cells import Bad
from services.commands.sheet.columns import Column
from services.commands.sheet.shop_index import ShopIndex
from services.commands.sheet.table import Row, Table, blank, title_of_list
from services.commands.sheet.workbook import UNCOMPUTED
from services.domain.errors import UsageError
from services.domain.fleet import platforms
from services.domain.fleet.shop import Shop, valid_shop_id, valid_word
from services.domain.gates import dependency
from services.domain.insight import same_work
from services.domain.task import lane, ledger
from services.domain.text.mask import is_masked
from services.domain.text.message import Message
from services.domain.text.said import Said
from services.domain.types import task_type
from services.domain.types.task_type import TaskType
from services.domain.types.type_index import TypeIndex, titles_of
from services.engine.recipe import payload_text
from services.engine.spec import After, Before, Checked, TaskSpec, Twin

SUGGESTED = 200  #: unknown shops for which a similar one is looked for
_TIMES = frozenset({columns.NOT_BEFORE, columns.DELAY, columns.DEADLINE})
_ERRORS = frozenset({"#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!", "#CALC!"})


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to name: shops and task types of the fleet."""

    shops: Mapping[str, Shop]
    types: Mapping[str, TaskType]
    undefined: bool = False  #: also what nobody has registered or defined, with the defaults


class Defaults(msgspec.Struct, frozen=True, kw_only=True):
    """What counts where a row says nothing."""

    platform: str = ""
    task_type: str = ""
    priority: str | int = ""
    delay_s: float = 0.0
    at_ms: int = 0
    deadline_ms: int = 0
    depends_on: tuple[str, ...] = ()
    policy: str = ""
    max_retries: int | None = None
    payload: Mapping[str, Any] = msgspec.field(default_factory=dict)
    payload_type: str = ""  #: whose parameters those are, "" for ``task_type``


#: sentences that begin with the field
_NAMED = frozenset(
    {"links.broken", "links.twice", "links.unknown", "links.unknown_near", "links.removed", "links.circle"}
)


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a row; nothing of the row is taken."""

    row: int
    column: str  #: as it is called in the file, "" for the whole row
    field: str
    value: str
    reason: Message

    @property
    def where(self) -> str:
        """The column to be named before the reason, "" where the reason begins with the name that it is called by."""
        if self.reason.code in _NAMED and self.column == self.field:
            return ""
        parameter = self.reason.params.get("field") if self.reason.code == "payload.bad" else None
        return "" if self.column in (parameter, f"payload.{parameter}") else self.column


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """What decides, beside its cells, what a row says: rows that were read on the same one need not be read again."""

    columns: tuple[Column, ...]
    known: Known
    defaults: Defaults
    zone: tzinfo
    minute: int  #: of the clock, where a column holds times; else 0
    title: int = 0  #: the row that may be the title of a list


class ReadRow(msgspec.Struct, frozen=True):
    """A row and what it was found to say: a task, or faults."""

    row: Row
    spec: TaskSpec | None
    faults: tuple[Fault, ...]
    key: str = ""  #: which work it is, "" where that does not matter


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a file asks for: each of its rows is in exactly one of specs, active, again, bad rows, twins, empty rows.

    What follows from the rows is found once, when it is first asked for: a file may have 10,000 of them.
    """

    table: Table
    columns: tuple[Column, ...]
    specs: tuple[TaskSpec, ...] = ()
    active: tuple[Twin, ...] = ()  #: rows whose work an active task does already
    fate: str = "reject"  #: what becomes of those: reject leaves them out, queue | force creates them too
    again: tuple[Before, ...] = ()  #: rows whose work has succeeded so lately that their type asks for a reason
    reason: str = ""  #: why those are done again; "" leaves them out
    before: tuple[Before, ...] = ()  #: of the rows that are created, those whose work has succeeded some time ago
    now_ms: int = 0  #: when that was looked at, UTC
    faults: tuple[Fault, ...] = ()  #: of bad rows, in their order; a row may have several
    twins: tuple[Fault, ...] = ()  #: rows that repeat an earlier one
    read: Mapping[int, ReadRow] = field(default_factory=dict, repr=False)  #: by number, for the next look at the rows
    basis: Basis | None = field(default=None, repr=False)
    answer: Checked | None = field(default=None, repr=False)  #: what the engine said of the rows
    asked: frozenset[int] = field(default=frozenset(), repr=False)  #: the specs it was asked about, by identity

    @functools.cached_property
    def total(self) -> int:
        """Rows below the header; those that a person has cleared are no rows any more."""
        told = len(self.specs) + len(self.active) + len(self.again) + len(self.twins)
        return told + self.bad_rows + self.table.empty

    @functools.cached_property
    def bad_rows(self) -> int:
        """Rows with a fault."""
        return len({fault.row for fault in self.faults})

    @functools.cached_property
    def going(self) -> tuple[TaskSpec, ...]:
        """The tasks that come of it, in the order of their rows."""
        beside = self.active if self.fate != "reject" else ()
        again = self.again if self.reason.strip() else ()
        if not beside and not again:
            return self.specs
        wanted = (
            *self.specs,
            *(replace(one.spec, if_duplicate=self.fate) for one in beside),
            *(replace(one.spec, if_duplicate=self.fate, reason=self.reason.strip()) for one in again),
        )
        return tuple(sorted(wanted, key=lambda spec: spec.line))

    def decided(self, *, fate: str, reason: str) -> Orders:
        """The same rows with another fate of those that are active, or another reason: of what is active and was done
        lately both decide in which of the two heaps it lies.
        """
        if self.answer is None:
            return dataclasses.replace(self, fate=fate, reason=reason)
        every = (*self.specs, *(one.spec for one in self.active), *(one.spec for one in self.again))
        specs = tuple(sorted(every, key=lambda spec: spec.line))
        return _parted(dataclasses.replace(self, specs=specs), self.answer, fate, reason)

    @functools.cached_property
    def left_out(self) -> tuple[Fault, ...]:
        """Everything that keeps a row from becoming a task, by row."""
        alone = self._done_elsewhere.values()
        return tuple(sorted((*self.faults, *self.repeated, *alone), key=lambda fault: fault.row))

    @functools.cached_property
    def repeated(self) -> tuple[Fault, ...]:
        """The twins, with what keeps them out now: with a row that is left out go those that repeat it."""
        why = self._done_elsewhere
        return tuple(
            replace(twin, reason=first.reason) if (first := why.get(first_of(twin))) is not None else twin
            for twin in self.twins
        )

    @functools.cached_property
    def _done_elsewhere(self) -> Mapping[int, Fault]:
        """The rows that are left out because a task does their work or has done it, by row."""
        found = {one.spec.line: _active(one) for one in self.active} if self.fate == "reject" else {}
        if not self.reason.strip():
            found |= {one.spec.line: _again(one, self.now_ms) for one in self.again}
        return found

    @property
    def after(self) -> tuple[After, ...]:
        """What the types mean that rows come after."""
        return self.answer.after if self.answer is not None else ()

    @property
    def ignored(self) -> tuple[Column, ...]:
        """Columns that say something which is not used."""
        return tuple(one for one in self.columns if not one.target and one.filled)

    @property
    def mapping(self) -> dict[str, str]:
        """What is used, by column."""
        return {one.title: one.target for one in self.columns if one.target}

    def counted(self) -> Orders:
        """The same, with all that follows from the rows found at once: in a thread of its own, before it is shown."""
        for name in ("total", "going", "left_out", "types", "platforms"):
            getattr(self, name)
        return self

    @functools.cached_property
    def types(self) -> Counter[str]:
        """Tasks by type."""
        return Counter(spec.task_type for spec in self.going)

    @functools.cached_property
    def platforms(self) -> Counter[str]:
        """Tasks by platform."""
        return Counter(spec.platform for spec in self.going)


def orders(
    table: Table,
    mapped: Sequence[Column],
    known: Known,
    *,
    zone: tzinfo,
    now_ms: int,
    defaults: Defaults | None = None,
    twins: bool = False,
    shops: ShopIndex | None = None,
    before: Orders | None = None,
) -> Orders:
    """Every row as a task or as its faults. ``twins``: rows that repeat another one are wanted (queued or forced);
    ``before``: the last look at them, of which what has not changed since is taken over.
    """
    given, clock = defaults or Defaults(), cells.Clock(zone, now_ms)
    title = title_of_list(table)
    reader = _Reader(mapped, known, given, clock, shops or ShopIndex(known.shops), title)
    timed = any(one.target in _TIMES for one in mapped)
    meant = tuple(replace(one, samples=(), filled=0) for one in mapped)
    minute = now_ms // 60_000 if timed else 0
    basis = Basis(columns=meant, known=known, defaults=given, zone=zone, minute=minute, title=title)
    same = before.read if before is not None and before.basis == basis else {}
    faults = [_unreadable(bad.number, bad.reason) for bad in table.bad]
    specs: list[TaskSpec] = []
    repeated: list[Fault] = []
    seen: dict[str, int] = {}
    told: dict[int, ReadRow] = {}
    for row in table.rows:
        one = same.get(row.number)
        if one is None or one.row is not row:
            if all(map(blank, row.cells)):
                continue
            one = reader.judged(row)
        told[row.number] = one
        if one.spec is None:
            faults += one.faults
            continue
        first = 0 if twins or not one.key else seen.setdefault(one.key, row.number)
        if first not in (0, row.number):
            repeated.append(_twin(one.spec, reader.kind(one.spec.task_type), first))
        else:
            specs.append(one.spec)
    return Orders(
        table=table,
        columns=tuple(mapped),
        specs=_behind_first(specs, repeated, told),
        faults=tuple(sorted(faults, key=lambda fault: fault.row)),
        twins=tuple(repeated),
        read=told,
        basis=basis,
    )


def look(found: Orders, check: Callable[[Sequence[TaskSpec]], Checked], before: Orders | None = None) -> Checked:
    """What the engine says of the rows; it is asked only about those that have changed since ``before``.

    Rows that name one another are all asked about, for what one waits for may have changed.
    """
    old = before.answer if before is not None else None
    if before is None or old is None or any(spec.depends_on or spec.key for spec in found.specs):
        return check(found.specs)
    left = {id(spec) for spec in found.specs}
    fresh = check([spec for spec in found.specs if id(spec) not in before.asked])
    return Checked(
        errors=(*(one for one in old.errors if id(one[0]) in left), *fresh.errors),
        twins=(*(one for one in old.twins if id(one.spec) in left), *fresh.twins),
        before=(*(one for one in old.before if id(one.spec) in left), *fresh.before),
    )


def checked(found: Orders, answer: Checked, fate: str = "reject", *, reason: str = "", now_ms: int = 0) -> Orders:
    """The orders after the engine's look at them (at ``now_ms``, UTC): what it would refuse, what an active task does
    already, and what was done so lately that it asks for a reason, is told with its row. ``fate``: reject | queue |
    force, what becomes of what is active; ``reason``: why what was done is done again, "" leaves it out.
    """
    refused = _refused(found, answer.errors) if answer.errors else found
    seen = dataclasses.replace(refused, now_ms=now_ms, answer=answer, asked=frozenset(id(spec) for spec in found.specs))
    return _parted(seen, answer, fate, reason)


def _parted(found: Orders, answer: Checked, fate: str, reason: str) -> Orders:
    lost = {fault.row for fault in found.faults}
    active = {one.spec.line: one for one in answer.twins if one.spec.line not in lost}
    before = {one.spec.line: one for one in answer.before if one.spec.line not in lost}
    again = {row: one for row, one in before.items() if one.asks}
    if fate == "queue":  # behind an active one too it asks why
        active = {row: one for row, one in active.items() if row not in again}
    again = {row: one for row, one in again.items() if row not in active}
    return dataclasses.replace(
        found,
        specs=tuple(spec for spec in found.specs if spec.line not in active and spec.line not in again),
        active=tuple(active[row] for row in sorted(active)),
        fate=fate,
        again=tuple(again[row] for row in sorted(again)),
        reason=reason,
        before=tuple(one for row, one in sorted(before.items()) if not one.asks),
    )


def _refused(found: Orders, errors: Sequence[tuple[TaskSpec, str, str]]) -> Orders:
    titles = {one.target: one.title for one in found.columns if one.target}
    values = {(row.number, one.target): row.cells[one.at] for row in found.table.rows for one in found.columns}
    faults = [
        Fault(
            row=spec.line,
            column=titles.get(name, ""),
            field=name,
            value=cells.text_of(values.get((spec.line, name))),
            reason=sentence.message if isinstance(sentence, Said) else Message("sheet.refused", {"why": sentence}),
        )
        for spec, name, sentence in errors
    ]
    lost = {fault.row for fault in faults}
    return dataclasses.replace(
        found,
        specs=tuple(spec for spec in found.specs if spec.line not in lost),
        faults=tuple(sorted((*found.faults, *faults), key=lambda fault: fault.row)),
    )


def _unreadable(number: int, reason: Message) -> Fault:
    return Fault(row=number, column="", field="line", value=str(reason.params.get("line", "")), reason=reason)


def _twin(spec: TaskSpec, kind: TaskType, first: int) -> Fault:
    once = kind.uniqueness == "shop_type"
    reason = Message("sheet.twin_shop", {"type": kind.name, "row": first}) if once else None
    return _whole_row(spec, "twin", reason or Message("sheet.twin", {"row": first}))


def _behind_first(
    specs: Sequence[TaskSpec], twins: Sequence[Fault], told: Mapping[int, ReadRow]
) -> tuple[TaskSpec, ...]:
    """What waits for a row that repeats another one waits for that one: it does the work of both."""
    named = {spec.key for spec in specs}
    keys = ((first_of(twin), twin_spec.key) for twin in twins if (twin_spec := told[twin.row].spec) is not None)
    first = {key: row for row, key in keys if key and key not in named}
    asked = {name: first[name] for spec in specs for name in spec.depends_on if name in first}
    if not asked:
        return tuple(specs)
    lent = {row: name for name, row in asked.items()}  # the row itself may have no name
    called = {spec.line: spec.key or lent[spec.line] for spec in specs if spec.line in lent}
    stands = {name: called[row] for name, row in asked.items()}

    def linked(spec: TaskSpec) -> TaskSpec:
        names = tuple(dict.fromkeys(stands.get(name, name) for name in spec.depends_on))
        key = called.get(spec.line, spec.key)
        return spec if (names, key) == (spec.depends_on, spec.key) else replace(spec, depends_on=names, key=key)

    return tuple(map(linked, specs))


def first_of(repeated: Fault) -> int:
    """The number of the row that a row repeats."""
    return int(repeated.reason.params.get("row", 0))


def _active(twin: Twin) -> Fault:
    return _whole_row(twin.spec, "active", Message("sheet.active", {"id": twin.task_id, "status": twin.status}))


def _again(before: Before, now_ms: int) -> Fault:
    known = not ledger.unread(before.done)
    reason = Message("sheet.done", same_work.told(before.done, now_ms)) if known else Message("sheet.unread")
    return _whole_row(before.spec, "done", reason)


def _whole_row(spec: TaskSpec, field: str, reason: Message) -> Fault:
    value = f"{spec.platform}:{spec.shop_id} {spec.task_type}"
    return Fault(row=spec.line, column="", field=field, value=value, reason=reason)


class _Reader:
    """Reads one row after the other; what is wrong with a row is collected, not only the first of it."""

    def __init__(
        self,
        mapped: Sequence[Column],
        known: Known,
        defaults: Defaults,
        clock: cells.Clock,
        shops: ShopIndex,
        title: int = 0,
    ) -> None:
        """``title``: the row that may be the title of a list."""
        self._mapped = [one for one in mapped if one.target]
        self._known, self._defaults, self._clock, self._shops = known, defaults, clock, shops
        self._types = TypeIndex(known.types)
        registered = [shop for shop in known.shops.values() if not shop.unregistered]
        self._platforms = sorted({shop.platform for shop in registered})
        self._open = known.undefined or not registered
        self._asked = 0
        self._title = title
        self._titles: dict[str, Mapping[str, tuple[str, ...]]] = {}
        self._faults: list[Fault] = []
        self._row = 0
        self._said: dict[str, tuple[Column, Any]] = {}

    def kind(self, name: str) -> TaskType:
        """A type, the default one where nobody has defined it."""
        return self._known.types.get(name) or TaskType.default(name)

    def judged(self, row: Row) -> ReadRow:
        """A row with the work that it asks for."""
        spec, wrong = self.read(row)
        if spec is None:
            return ReadRow(row, None, tuple(wrong))
        kind = self.kind(spec.task_type)
        key = task_type.uniqueness_key(kind, spec.platform, spec.shop_id, payload_text(spec.payload))
        return ReadRow(row, spec, (), key)

    def read(self, row: Row) -> tuple[TaskSpec | None, list[Fault]]:
        """The task of a row, or what is wrong with it."""
        self._faults, self._row = [], row.number
        self._said = {one.target: (one, row.cells[one.at]) for one in self._mapped if not blank(row.cells[one.at])}
        self._refuse_errors()
        name = self._type()
        platform, shop_id = self._shop()
        priority = self._priority()
        at_ms, delay_s, deadline_ms = self._times()
        payload = self._payload(name)
        rest = self._rest()
        if self._faults:
            return None, self._faults
        spec = TaskSpec(
            platform=platform,
            shop_id=shop_id,
            task_type=name,
            payload=payload,
            priority=priority,
            delay_s=delay_s,
            at_ms=at_ms,
            deadline_ms=deadline_ms,
            line=row.number,
            **rest,
        )
        return spec, []

    # faults

    def _fault(self, target: str, code: str, **params: str | int | float) -> None:
        self._add(target, Message(code, params))

    def _add(self, target: str, reason: Message, value: str | None = None) -> None:
        column, cell = self._said.get(target, (None, None))
        title = column.title if column is not None else self._title_of(target)
        text = cells.text_of(cell) if value is None else value
        fault = Fault(row=self._row, column=title, field=target, value=text[:200], reason=reason)
        if fault not in self._faults:
            self._faults.append(fault)

    def _title_of(self, target: str) -> str:
        return next((one.title for one in self._mapped if one.target == target), "")

    def _refuse_errors(self) -> None:
        for target, (_column, cell) in list(self._said.items()):
            if cell is UNCOMPUTED or (isinstance(cell, str) and cell.strip() in _ERRORS):
                self._fault(target, "sheet.formula" if cell is UNCOMPUTED else "sheet.error_cell")
                del self._said[target]

    def _refused(self, target: str) -> bool:
        """Whether a fault tells already why a cell says nothing."""
        return any(fault.field == target for fault in self._faults)

    def _cell(self, target: str) -> Any:
        return self._said[target][1] if target in self._said else None

    def _words(self, target: str) -> str:
        return cells.plain(self._cell(target))

    # what, where

    def _type(self) -> str:
        word = self._words(columns.TYPE)
        if not word:
            if not self._defaults.task_type and not self._refused(columns.TYPE):
                self._fault(columns.TYPE, "sheet.no_type")
            return self._defaults.task_type
        found = self._types.find(word)
        if len(found) == 1:
            return found[0]
        if found:
            self._fault(columns.TYPE, "sheet.type_several", names=", ".join(found))
        elif self._known.undefined and valid_word(word):
            return word
        else:
            near = self._types.near(word)
            self._fault(columns.TYPE, "sheet.type_near" if near else "sheet.type", near=near)
        return ""

    def _shop(self) -> tuple[str, str]:
        """Platform and id of the shop that the row names by id or name."""
        before = len(self._faults)
        platform = self._platform()
        word, target = self._shop_word()
        if len(self._faults) > before or not word:
            return platform, ""
        lead, colon, rest = word.partition(":")
        named = self._code(lead) if colon else ""
        if named and platform not in ("", named):
            self._fault(target, "sheet.shop_elsewhere", platform=platform, shop=f"{named}:{rest}")
            return "", ""
        platform, word = (named, rest) if named else (platform, word)
        return self._found_shop(platform, word, target)

    def _found_shop(self, platform: str, word: str, target: str) -> tuple[str, str]:
        before = len(self._faults)
        keys = self._candidates(platform, word)
        if not platform and columns.PLATFORM not in self._said and len(keys) != 1:
            platform = self._defaults.platform
            keys = self._candidates(platform, word)
        if len(keys) == 1:
            return self._agreed(keys[0])
        if keys:
            self._fault(target, "sheet.shop_several", names=", ".join(keys[:5]))
        elif self._may_be_new(platform, word, target):
            return platform, word
        elif not self._faults[before:]:
            self._unknown_shop(platform, word, target)
        return "", ""

    def _platform(self) -> str:
        word = self._words(columns.PLATFORM)
        if not word:
            return ""
        code = self._code(word)
        if not code:
            if self._open:
                self._fault(columns.PLATFORM, "sheet.platform_word")
            else:
                self._fault(columns.PLATFORM, "sheet.platform", codes=", ".join(self._platforms))
        return code

    def _code(self, word: str) -> str:
        """The code of a platform, "" where no shop is on such a one."""
        known = self._platforms if not self._open else [*self._platforms, *platforms.NAMES]
        found = platforms.codes_of(word, dict.fromkeys(known))
        return found[0] if found else word if self._open and valid_word(word) else ""

    def _shop_word(self) -> tuple[str, str]:
        """The id of the row, else the name; and where it stands."""
        for target in (columns.SHOP, columns.SHOP_NAME):
            cell = self._cell(target)
            if cell is None:
                continue
            try:
                return cells.identity(cell), target
            except Bad as bad:
                self._add(target, bad.reason)
                return "", target
        if not self._refused(columns.SHOP):
            self._fault(columns.SHOP, "sheet.no_shop")
        return "", columns.SHOP

    def _candidates(self, platform: str, word: str) -> list[str]:
        keys = self._shops.candidates(word)
        return [key for key in keys if key.startswith(f"{platform}:")] if platform else list(keys)

    def _agreed(self, key: str) -> tuple[str, str]:
        """The shop found, unless the name beside the id is that of another one."""
        platform, _, shop_id = key.partition(":")
        name = self._words(columns.SHOP_NAME) if columns.SHOP in self._said else ""
        others = self._candidates(platform, name) if name else []
        if others and key not in others:
            self._fault(columns.SHOP_NAME, "sheet.shop_name_other", shop=others[0])
        return platform, shop_id

    def _may_be_new(self, platform: str, word: str, target: str) -> bool:
        """Whether a shop that nobody has registered may have tasks."""
        if not self._open or target == columns.SHOP_NAME:
            return False
        if self._row == self._title and valid_shop_id(self._words(target)):  # with its platform it is meant
            self._fault(target, "sheet.shop_title", word=word)
            return False
        if not valid_shop_id(word):
            self._fault(target, "sheet.shop_word")
        elif not platform:
            self._fault(columns.PLATFORM, "sheet.no_platform")
        elif self._other_id(word):
            return False
        return valid_shop_id(word) and bool(platform)

    def _other_id(self, word: str) -> bool:
        """Whether the column that was taken for the name holds another id, so that nobody knows which is the shop."""
        column, cell = self._said.get(columns.SHOP_NAME, (None, None))
        if column is None or not column.doubt or cells.plain(cell) == word:
            return False
        self._fault(columns.SHOP_NAME, "sheet.two_ids", word=word, column=column.title)
        return True

    def _unknown_shop(self, platform: str, word: str, target: str) -> None:
        zeros = [key for key in self._by_digits.get(word.lstrip("0"), ()) if key.startswith(platform)]
        if zeros and word.isdigit():
            self._fault(target, "sheet.shop_zeros", near=zeros[0])
            return
        elsewhere = self._shops.candidates(word) if platform else []
        if elsewhere:
            self._fault(target, "sheet.shop_elsewhere", platform=platform, shop=", ".join(elsewhere[:3]))
            return
        self._asked += 1
        near = self._shops.suggest(word) if self._asked <= SUGGESTED else ""
        near = near if not platform or near.startswith(f"{platform}:") else ""
        self._fault(target, "sheet.shop_near" if near else "sheet.shop", near=near)

    @functools.cached_property
    def _by_digits(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key, shop in self._known.shops.items():
            if shop.shop_id.isdigit():
                found.setdefault(shop.shop_id.lstrip("0"), []).append(key)
        return found

    # how urgent, when

    def _priority(self) -> str | int:
        cell, word = self._cell(columns.PRIORITY), self._words(columns.LANE)
        found: int | None = None
        if cell is not None:
            found = cells.priority(cell)
            if found is None:
                self._fault(columns.PRIORITY, "sheet.priority")
        named = cells.lane_named(word) if word else None
        if word and named is None:
            self._fault(columns.LANE, "sheet.lane")
        if found is not None and named is not None and lane.lane_of(found) != named:
            self._fault(columns.LANE, "sheet.lane_other", priority=found, lane=lane.lane_of(found).value)
        if found is None and named is not None:
            found = lane.DEFAULT_PRIORITY[named]
        return self._defaults.priority if found is None else found

    def _times(self) -> tuple[int, float, int]:
        at_ms = self._take(columns.NOT_BEFORE, self._clock.start, 0)
        delay_s = self._take(columns.DELAY, cells.delay, 0.0)
        deadline = self._take(columns.DEADLINE, self._clock.end, 0) or self._defaults.deadline_ms
        if not {columns.NOT_BEFORE, columns.DELAY} & self._said.keys():
            at_ms, delay_s = self._defaults.at_ms, self._defaults.delay_s
        elif at_ms and delay_s:
            self._fault(columns.DELAY, "task.delay_or_time")
        due = at_ms or self._clock.now_ms + round(delay_s * 1000)
        if due > self._clock.now_ms + cells.MAX_AHEAD_MS:
            self._fault(columns.NOT_BEFORE if at_ms else columns.DELAY, "task.too_far")
        elif deadline and deadline <= due:
            self._fault(columns.DEADLINE, "sheet.late")
        return at_ms, delay_s, deadline

    def _take(self, target: str, read: Callable[[Any], Any], default: Any) -> Any:
        cell = self._cell(target)
        if cell is None:
            return default
        try:
            return read(cell)
        except Bad as bad:
            self._add(target, bad.reason)
            return default

    def _rest(self) -> dict[str, Any]:
        policy = self._words(columns.POLICY).lower() or self._defaults.policy or dependency.HOLD
        if policy not in dependency.POLICIES:
            self._fault(columns.POLICY, "sheet.policy")
        names = self._take(columns.DEPENDS_ON, cells.names, ())
        return {
            "key": self._take(columns.KEY, cells.word, ""),
            "depends_on": (*names, *self._defaults.depends_on),
            "on_dependency_failure": policy,
            "max_retries": self._take(columns.RETRIES, cells.retries, self._defaults.max_retries),
        }

    # with what

    def _payload(self, name: str) -> dict[str, Any]:
        kind = self.kind(name)
        given = self._defaults
        found: dict[str, Any] = dict(given.payload) if name == (given.payload_type or given.task_type) else {}
        origin: dict[str, str] = {}
        for parameter, value in self._take(columns.PAYLOAD, cells.parameters, {}).items():
            key = self._parameter(kind, parameter)
            if key in origin:
                self._fault(columns.PAYLOAD, "sheet.pair_twice", name=key)
            loose = isinstance(value, cells.Loose)
            found[key] = self._fitting(columns.PAYLOAD, value.text, kind, key) if loose else value
            origin[key] = columns.PAYLOAD
        for target, (column, cell) in self._said.items():
            if target.startswith(columns.PARAMETER):
                self._add_parameter(kind, column, cell, found, origin)
        for key in [key for key, value in found.items() if is_masked(value)]:
            self._fault(origin.get(key, columns.PAYLOAD), "sheet.masked", name=key)
        if name and not any(fault.field.startswith(columns.PAYLOAD) for fault in self._faults):
            self._check(kind, found, origin)
        return found

    def _add_parameter(
        self, kind: TaskType, column: Column, cell: Any, found: dict[str, Any], origin: dict[str, str]
    ) -> None:
        key = self._parameter(kind, column.target.removeprefix(columns.PARAMETER))
        if column.implied and key not in self._titles_of(kind):
            if kind.name in self._known.types:
                self._fault(column.target, "sheet.not_of_type", type=kind.name, name=key)
            return
        value = self._fitting(column.target, cell, kind, key)
        if origin.get(key) == columns.PAYLOAD and found[key] != value:
            self._fault(column.target, "sheet.pair_twice", name=key)
            return
        found[key], origin[key] = value, column.target

    def _fitting(self, target: str, cell: Any, kind: TaskType, key: str) -> Any:
        try:
            return cells.fitting(cell, kind, key)
        except Bad as bad:
            self._add(target, bad.reason, cells.text_of(cell))
            return None

    def _parameter(self, kind: TaskType, word: str) -> str:
        """The parameter that a word means: its name, or its title in any language."""
        titles = self._titles_of(kind)
        return word if word in titles else next((name for name, all_ in titles.items() if word in all_), word)

    def _titles_of(self, kind: TaskType) -> Mapping[str, tuple[str, ...]]:
        if kind.name not in self._titles:
            self._titles[kind.name] = titles_of(kind)
        return self._titles[kind.name]

    def _check(self, kind: TaskType, payload: dict[str, Any], origin: Mapping[str, str]) -> None:
        try:
            payload_text(payload)
        except UsageError as exc:
            self._add(columns.PAYLOAD, Message("sheet.refused", {"why": exc.args[0]}))
            return
        for problem in task_type.validate_payload(kind, payload):
            top = problem.path.partition(".")[0].partition("[")[0]
            where = origin.get(top, "")
            value = None if where and where != columns.PAYLOAD else cells.text_of(payload.get(top))
            place = where or (f"{columns.PARAMETER}{top}" if self._title_of(f"{columns.PARAMETER}{top}") else "")
            reason = Message("payload.bad", {"field": problem.path or "payload", "problem": problem.message})
            self._add(place or columns.PAYLOAD, reason, value)
