"""Small pictures of images that tasks left; made in any thread, for decoding a screenshot takes longer than a frame."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader

#: bytes of a file that are worth reading for a small picture; megabytes that a decoded image may have
MOST_BYTES, MOST_MB = 20 * 1024 * 1024, 256
#: a name of Qt is made when it is first used, which must not happen in another thread than the window's
_READ, _KEEP = QIODevice.OpenModeFlag.ReadOnly, Qt.AspectRatioMode.KeepAspectRatio


def thumbnail(data: bytes, edge: int) -> QImage:
    """An image that fits into a square of ``edge`` pixels, never enlarged; a null one for what is no image.

    Give it to ``QPixmap.fromImage`` on the window's thread. Whoever made the file may have made it to hurt: a small
    file that decodes to gigabytes is refused before it is decoded.
    """
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    if not buffer.open(_READ):
        return QImage()
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    size = reader.size()
    if not size.isValid() or size.width() * size.height() * 4 > MOST_MB * 1024 * 1024:
        return QImage()
    if max(size.width(), size.height()) > edge:
        fitted = size.scaled(QSize(edge, edge), _KEEP)
        reader.setScaledSize(fitted.expandedTo(QSize(1, 1)))
    return reader.read()
