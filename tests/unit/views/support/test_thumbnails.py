"""Small pictures: of images only, in any thread, and never of what would fill the memory."""

from __future__ import annotations

import struct
import threading
import zlib

import pytest
from PySide6.QtCore import QBuffer, QIODevice, QSize
from PySide6.QtGui import QColor, QImage

from views.support.thumbnails import thumbnail


def png(width: int, height: int) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


@pytest.mark.parametrize(("size", "fits"), [((1280, 640), (160, 80)), ((10, 3000), (1, 160)), ((30, 20), (30, 20))])
@pytest.mark.usefixtures("qapp")
def test_it_fits_and_is_never_enlarged(size: tuple[int, int], fits: tuple[int, int]) -> None:
    made: list[QImage] = []
    data = png(*size)
    thread = threading.Thread(target=lambda: made.append(thumbnail(data, 160)))
    thread.start()
    thread.join()
    assert made[0].size() == QSize(*fits)
    assert made[0].pixelColor(0, 0) == QColor("red")


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


@pytest.mark.usefixtures("qapp")
def test_what_is_no_image_or_too_large_a_one_is_none() -> None:
    bomb = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
    for data in (b"", b"<html>", png(50, 50)[:40], bomb + _chunk(b"IDAT", zlib.compress(b"\0" * 100))):
        assert thumbnail(data, 160).isNull()
