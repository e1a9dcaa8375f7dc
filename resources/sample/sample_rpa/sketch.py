"""What a page looks like, roughly, as a PNG: the sample has no browser, and a picture says more than its HTML."""

from __future__ import annotations

import re
import struct
import zlib

WIDTH, ROW, MOST_ROWS, LEAST_ROWS = 480, 14, 26, 14
_HEADER, _LEFT, _RIGHT = 26, 24, WIDTH - 24
_GROUND, _CARD, _BAR, _HEAD, _LINK = (b"\xf4\xf6\xf9", b"\xff\xff\xff", b"\xb4\xbc\xc8", b"\xc8\x40\x1f", b"\x5b\x8d\xd9")
_BLOCK = re.compile(r"<(?:tr|h1|p|form|div class=\"(?:goods-card|price|empty))\b")
_TAG, _STYLE = re.compile(r"<[^>]*>?"), re.compile(r"<style.*?</style>", re.DOTALL)


def png(page: str) -> bytes:
    """A picture of ``page``: its heading, and a bar as long as each text."""
    head, _, body = _STYLE.sub("", page).partition("<main>")
    rows = [_cells(block) for block in _BLOCK.split(body)]
    rows = [cells for cells in rows if cells][:MOST_ROWS]
    height = _HEADER + 12 + ROW * (max(len(rows), LEAST_ROWS) + 1)
    canvas = [bytearray(_GROUND * WIDTH) for _ in range(height)]
    _fill(canvas, 0, 0, WIDTH, _HEADER, _HEAD)
    _fill(canvas, 12, 9, 12 + 5 * min(40, len(_TAG.sub("", head.rpartition("<header>")[2]))), 16, _CARD)
    _fill(canvas, 12, _HEADER + 8, WIDTH - 12, height - 6, _CARD)
    for number, cells in enumerate(rows):
        _row(canvas, _HEADER + 16 + number * ROW, cells)
    return _encode(canvas)


def _cells(block: str) -> list[tuple[int, bytes]]:
    """Length and colour of the texts of one line."""
    found = []
    for cell in re.split(r"<t[dh]\b", block):
        text = _TAG.sub("", "<" + cell if cell[:1] != "<" else cell).strip()
        if text:
            found.append((len(text), _LINK if "<a " in cell else _BAR))
    return found


def _row(canvas: list[bytearray], top: int, cells: list[tuple[int, bytes]]) -> None:
    room = (_RIGHT - _LEFT) // len(cells)
    for column, (length, colour) in enumerate(cells):
        left = _LEFT + column * room
        _fill(canvas, left, top, left + max(8, min(room - 10, 5 * length)), top + 6, colour)


def _fill(canvas: list[bytearray], left: int, top: int, right: int, bottom: int, colour: bytes) -> None:
    for line in canvas[top:bottom]:
        line[3 * left : 3 * right] = colour * (right - left)


def _encode(canvas: list[bytearray]) -> bytes:
    size = struct.pack(">IIBBBBB", WIDTH, len(canvas), 8, 2, 0, 0, 0)
    lines = zlib.compress(b"".join(b"\0" + line for line in canvas), 6)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", size), (b"IDAT", lines), (b"IEND", b""))
    )
