"""Where the cells of a heat map are: blocks by platform, side by side, every shop at its fixed place. No Qt."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from services.called import PLATFORM_NAMES
from services.domain.insight.shop import COVERS, FLAGGED, IDLE, STATES, ShopNow
from services.domain.text.ordering import Order, as_read
from views.widgets.heat_map import shades

Kinds = npt.NDArray[np.uint8]

#: Up to so many shops, cells of so many pixels with so many between them.
SIZES = ((350, 21, 3), (900, 14, 3), (10**9, 9, 2))
GLYPHS_FROM = 14
#: a cell that stands for a group of shops, with a glyph and a number in it
OF_GROUP = (48, 4)
HEADER, BLOCK_GAP, LINE_GAP, LEAST_ROWS = 24, 28, 10, 3
BAR = 18
#: room on the left for the ring around a cell; on the other sides it lies in the gap
EDGE = 2.0
_RANK = {platform: rank for rank, platform in enumerate(PLATFORM_NAMES)}
_LOOKS = [
    ("", ""),
    *((state, "") for state in STATES),
    *((cover, state) for cover in COVERS for state in STATES),
    *((key, "") for key in shades.BY_KEY),
]
_NUMBER = {look: number for number, look in enumerate(_LOOKS)}


def kind_of(state: str, under: str) -> int:
    """Number of the picture of a cell: 0 is nothing; a state that lies over others has one for each of them."""
    return _NUMBER.get((state, under if state in COVERS else ""), _NUMBER["idle", ""])


def kinds() -> list[tuple[str, str]]:
    """State and state beneath, by number."""
    return list(_LOOKS)


class Group(msgspec.Struct, frozen=True):
    """The shops of one platform among all, which lie together."""

    platform: str
    first: int
    count: int
    total: int  #: before healthy ones were left out
    flagged: int
    states: Mapping[str, int]


class Rows(msgspec.Struct, frozen=True, eq=False):
    """Shops in their order, ready to draw."""

    cells: tuple[ShopNow, ...]
    kinds: Kinds
    groups: tuple[Group, ...]
    counts: Mapping[str, int]
    total: int
    aggregated: bool = False
    inside: tuple[Mapping[str, int], ...] = ()  #: shops by state in each cell, where a cell stands for a group of them
    within: tuple[str, str] | None = None  #: platform and name of the group whose shops alone are shown

    def index_of(self, platform: str, shop_id: str) -> int:
        """Place of a shop, -1 when it is not shown."""
        for at, cell in enumerate(self.cells):
            if cell.shop_id == shop_id and cell.platform == platform:
                return at
        return -1


def prepare(
    cells: Sequence[ShopNow], aggregate_above: int | None = None, by: str = shades.STATE, now_ms: int = 0
) -> Rows:
    """Order shops by platform and id; above the bound only those that need a person stay. Works in any thread.

    ``by``: what their cells tell, ``shades.STATE`` or one of ``shades.SHADES``, whose ages are counted to ``now_ms``.
    """
    ordered = sorted(cells, key=_place)
    aggregated = aggregate_above is not None and len(ordered) > aggregate_above
    kept: list[ShopNow] = []
    groups: list[Group] = []
    at = 0
    while at < len(ordered):
        platform, end = ordered[at].platform, at
        states = dict.fromkeys(STATES, 0)
        while end < len(ordered) and ordered[end].platform == platform:
            states[ordered[end].state] = states.get(ordered[end].state, 0) + 1
            end += 1
        shown = [cell for cell in ordered[at:end] if not aggregated or cell.state in FLAGGED]
        flagged = sum(states[state] for state in FLAGGED)
        groups.append(Group(platform, len(kept), len(shown), end - at, flagged, states))
        kept += shown
        at = end
    counts = {state: sum(group.states.get(state, 0) for group in groups) for state in STATES}
    told = (
        (kind_of(cell.state, cell.under) for cell in kept)
        if by == shades.STATE
        else (kind_of(shades.shade_of(by, cell, now_ms).key, "") for cell in kept)
    )
    numbers = np.fromiter(told, np.uint8, len(kept))
    return Rows(tuple(kept), numbers, tuple(groups), counts, len(ordered), aggregated)


def gather(cells: Sequence[ShopNow], by: str = shades.STATE, now_ms: int = 0) -> Rows:
    """A cell for each group of each platform, by name, in its worst state. Works in any thread."""
    found: dict[tuple[str, str], list[ShopNow]] = {}
    for cell in cells:
        found.setdefault((cell.platform, cell.group), []).append(cell)
    ordered = sorted(found, key=lambda key: (_RANK.get(key[0], len(_RANK)), key[0], not key[1], as_read(key[1])))
    inside = tuple(Counter(cell.state for cell in found[key]) for key in ordered)
    kept = tuple(_as_one(found[key], states) for key, states in zip(ordered, inside, strict=True))
    groups: list[Group] = []
    for platform in dict.fromkeys(platform for platform, _name in ordered):
        places = [at for at, key in enumerate(ordered) if key[0] == platform]
        states = sum((inside[at] for at in places), Counter[str]())
        flagged = sum(states[state] for state in FLAGGED)
        groups.append(Group(platform, places[0], len(places), states.total(), flagged, states))
    counts = {state: sum(group.states.get(state, 0) for group in groups) for state in STATES}
    told = [
        kind_of(one.state, "")
        if by == shades.STATE
        else kind_of(shades.shade_of(by, shades.worst(by, found[key]), now_ms).key, "")
        for key, one in zip(ordered, kept, strict=True)
    ]
    return Rows(kept, np.array(told, np.uint8), tuple(groups), counts, len(cells), inside=inside)


def _as_one(cells: Sequence[ShopNow], states: Mapping[str, int]) -> ShopNow:
    """A group, told as a shop is."""
    return ShopNow(
        platform=cells[0].platform,
        shop_id=cells[0].group,
        name=cells[0].group,
        group=cells[0].group,
        state=next((state for state in STATES if states.get(state)), IDLE),
        waiting=sum(cell.waiting for cell in cells),
        running=sum(cell.running for cell in cells),
        dead=sum(cell.dead for cell in cells),
    )


def _place(cell: ShopNow) -> tuple[int, str, Order]:
    return _RANK.get(cell.platform, len(_RANK)), cell.platform, as_read(cell.shop_id)


NONE = Rows((), np.zeros(0, np.uint8), (), dict.fromkeys(STATES, 0), 0)


class Block(msgspec.Struct, frozen=True):
    """One platform on screen; x and y are the corner of its header."""

    group: Group
    x: float
    y: float
    cells_y: float
    width: float
    columns: int
    rows: int


class Layout(msgspec.Struct, frozen=True):
    """All blocks; lengths are logical pixels that fall on whole device pixels."""

    blocks: tuple[Block, ...]
    cell: float
    pitch: float
    height: float

    def places(self) -> tuple[object, ...]:
        """All that decides where cells are."""
        blocks = tuple((b.x, b.cells_y, b.columns, b.rows, b.group.first, b.group.count) for b in self.blocks)
        return self.pitch, self.height, blocks

    def rect_of(self, index: int) -> tuple[float, float, float]:
        """Left, top and side of a cell."""
        block = self.block_of(index)
        if block is None:
            return 0.0, 0.0, 0.0
        row, column = divmod(index - block.group.first, block.columns)
        return block.x + column * self.pitch, block.cells_y + row * self.pitch, self.cell

    def block_of(self, index: int) -> Block | None:
        """The block that holds a cell."""
        for block in self.blocks:  # one a platform
            if block.group.first <= index < block.group.first + block.group.count:
                return block
        return None

    def index_at(self, x: float, y: float) -> int:
        """The cell at a point, -1 for none; the small gap belongs to the cell before it."""
        for block in self.blocks:
            column, row = math.floor((x - block.x) / self.pitch), math.floor((y - block.cells_y) / self.pitch)
            if 0 <= column < block.columns and 0 <= row < block.rows:
                place = row * block.columns + column
                return block.group.first + place if place < block.group.count else -1
        return -1

    def step(self, index: int, across: int, down: int) -> int:
        """The cell beside, above or below; at the edge of a block the next block's."""
        block = self.block_of(index)
        if block is None:
            return -1
        last = max((b.group.first + b.group.count for b in self.blocks), default=0) - 1
        if across:
            return min(last, max(0, index + across))
        place = index - block.group.first + down * block.columns
        return block.group.first + place if 0 <= place < block.group.count else index


def size_for(total: int) -> tuple[int, int]:
    """Side and gap of a cell for so many shops."""
    return next((side, gap) for most, side, gap in SIZES if total <= most)


def arrange(rows: Rows, width: float, headers: Sequence[float], ratio: float = 1.0) -> Layout:
    """Blocks side by side in as few rows as fit; one below the other when their headers alone are too wide."""
    side, gap = OF_GROUP if rows.inside else size_for(len(rows.cells))
    pitch = max(2, round((side + gap) * ratio)) / ratio
    cell = max(1, round(side * ratio)) / ratio
    room = max(width - EDGE, pitch)
    found = None if rows.aggregated else _side_by_side(rows.groups, room, headers, pitch)
    if found is None:
        return _below_each_other(rows, room, cell, pitch, ratio)
    count, widths = found
    blocks, x = [], EDGE
    for group, wide in zip(rows.groups, widths, strict=True):
        columns = max(1, -(-group.count // count))
        tall = -(-group.count // columns)
        blocks.append(Block(group, _snap(x, ratio), 0.0, HEADER, wide, columns, tall))
        x += wide + BLOCK_GAP
    tallest = max((block.rows for block in blocks), default=0)
    return Layout(tuple(blocks), cell, pitch, HEADER + tallest * pitch)


def _side_by_side(
    groups: Sequence[Group], room: float, headers: Sequence[float], pitch: float
) -> tuple[int, list[float]] | None:
    most = max((group.count for group in groups), default=0)
    low, high = min(LEAST_ROWS, max(1, most)), max(1, most)

    def widths(rows: int) -> list[float]:
        return [max(head, -(-g.count // rows) * pitch) for g, head in zip(groups, headers, strict=True)]

    def fits(rows: int) -> bool:
        return sum(widths(rows)) + BLOCK_GAP * (len(groups) - 1) <= room

    if not fits(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return low, widths(low)


def _below_each_other(rows: Rows, room: float, cell: float, pitch: float, ratio: float) -> Layout:
    blocks, y = [], 0.0
    columns = max(1, int(room // pitch))
    for group in rows.groups:
        tall = -(-group.count // columns)
        top = _snap(y + HEADER + (BAR if rows.aggregated else 0), ratio)
        blocks.append(Block(group, _snap(EDGE, ratio), y, top, room, columns, tall))
        y = top + tall * pitch + LINE_GAP
    return Layout(tuple(blocks), cell, pitch, max(0.0, y - LINE_GAP))


def _snap(length: float, ratio: float) -> float:
    return round(length * ratio) / ratio
