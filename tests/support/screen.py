"""A real screen of any size without a monitor (Xvfb), and the windows that programs show on it."""

from __future__ import annotations

import ctypes
import re
import shutil
import time
from collections.abc import Callable
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_ubyte, c_uint, c_ulong, c_void_p
from dataclasses import dataclass

from tests.support.services import START_SECONDS, Server, ServiceUnavailable

_VIEWABLE, _CLIENT_MESSAGE, _CARDINAL = 2, 33, 6
#: the event mask of a window manager (SubstructureRedirectMask)
_REDIRECTS = 1 << 20
_LOOK_S = 0.1
#: a window that was only just made may be gone when it is asked about; that is no error here
_ERROR_HANDLER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)(lambda _display, _event: 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A visible window of a program with its frame, in pixels of the screen."""

    number: int
    x: int
    y: int
    width: int
    height: int

    def within(self, width: int, height: int) -> bool:
        """Whether a screen of this size shows all of it."""
        return self.x >= 0 and self.y >= 0 and self.x + self.width <= width and self.y + self.height <= height


class _Attributes(ctypes.Structure):
    _fields_ = [
        *[(name, c_int) for name in ("x", "y", "width", "height", "border_width", "depth")],
        ("visual", c_void_p),
        ("root", c_ulong),
        *[(name, c_int) for name in ("window_class", "bit_gravity", "win_gravity", "backing_store")],
        *[(name, c_ulong) for name in ("backing_planes", "backing_pixel")],
        ("save_under", c_int),
        ("colormap", c_ulong),
        *[(name, c_int) for name in ("map_installed", "map_state")],
        *[(name, c_long) for name in ("all_event_masks", "your_event_mask", "do_not_propagate_mask")],
        ("override_redirect", c_int),
        ("screen", c_void_p),
    ]


class _ClientMessage(ctypes.Structure):
    _fields_ = [
        ("type", c_int),
        ("serial", c_ulong),
        ("send_event", c_int),
        ("display", c_void_p),
        ("window", c_ulong),
        ("message_type", c_ulong),
        ("format", c_int),
        ("data", c_long * 5),
        ("room", c_long * 16),  # an XEvent is larger than any of its kinds
    ]


class Screen(Server):
    """An X server of its own, with a window manager that puts a frame around windows if asked for."""

    name = "screen"

    def __init__(self, width: int, height: int, *, framed: bool = False) -> None:
        """Raises ServiceUnavailable when Xvfb, libX11 or, where one is asked for, the window manager is missing."""
        programs = ("Xvfb", "twm") if framed else ("Xvfb",)
        missing = [program for program in programs if shutil.which(program) is None]
        if missing:
            raise ServiceUnavailable(f"{' and '.join(missing)} is not installed")
        self._x = _library()
        super().__init__()
        self.width, self.height, self._framed = width, height, framed
        self.display = ""  #: what DISPLAY must say
        self._display: int | None = None
        self._root = 0

    def windows(self, pid: int) -> list[Shown]:
        """The visible windows of a process with their frames; menus, tips and the like are none."""
        found = []
        for outer in self._children(self._root):
            at, number = self._attributes(outer), self._owned(outer, pid)
            if number and at is not None and at.map_state == _VIEWABLE and not at.override_redirect:
                edge = 2 * at.border_width
                size = (at.width + edge, at.height + edge)
                found.append(Shown(number=number, x=at.x, y=at.y, width=size[0], height=size[1]))
        return found

    def ask_to_close(self, window: Shown) -> None:
        """Ask for the end of a window as the cross in its corner does (WM_DELETE_WINDOW)."""
        event = _ClientMessage(type=_CLIENT_MESSAGE, window=window.number, format=32)
        event.message_type = self._x.XInternAtom(self._display, b"WM_PROTOCOLS", 0)
        event.data[0] = self._x.XInternAtom(self._display, b"WM_DELETE_WINDOW", 0)
        self._x.XSendEvent(self._display, window.number, 0, 0, byref(event))
        self._x.XSync(self._display, 0)

    def close(self) -> None:
        """End the server; Xlib would end this process if it lost a server to which it is still connected."""
        display, self._display = self._display, None
        if display is not None:
            self._x.XCloseDisplay(display)
        super().close()

    def _launch(self) -> None:
        size = f"{self.width}x{self.height}x24"
        self._spawn(["Xvfb", "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp"])
        self._wait_until(self._told, START_SECONDS)
        self._display = self._x.XOpenDisplay(self.display.encode())
        if self._display is None:
            raise ServiceUnavailable(f"the X server {self.display} does not answer")
        self._root = self._x.XDefaultRootWindow(self._display)
        if self._framed:
            rules = self.directory / "twmrc"
            fonts = "".join(f'{part}Font "fixed"\n' for part in ("Title", "Resize", "Menu", "Icon", "IconManager"))
            rules.write_text(f'{fonts}RandomPlacement\nUsePPosition "on"\nNoGrabServer\n', encoding="ascii")
            self._spawn(["twm", "-display", self.display, "-f", str(rules)])

    def _told(self) -> bool:
        number = re.search(r"^(\d+)$", self.log(), re.MULTILINE)
        self.display = f":{number[1]}" if number else ""
        return bool(number)

    def _answers(self) -> bool:
        root = self._attributes(self._root)
        return root is not None and bool(not self._framed or root.all_event_masks & _REDIRECTS)

    def _owned(self, window: int, pid: int) -> int:
        """The window of the program, itself or within the frames around it; 0 when it belongs to another."""
        if self._pid(window) == pid:
            return window
        return next((found for child in self._children(window) if (found := self._owned(child, pid))), 0)

    def _children(self, window: int) -> list[int]:
        root, parent, count, found = c_ulong(), c_ulong(), c_uint(), POINTER(c_ulong)()
        if not self._x.XQueryTree(self._display, window, byref(root), byref(parent), byref(found), byref(count)):
            return []
        numbers = [int(found[place]) for place in range(count.value)]
        if numbers:
            self._x.XFree(found)
        return numbers

    def _attributes(self, window: int) -> _Attributes | None:
        at = _Attributes()
        return at if self._x.XGetWindowAttributes(self._display, window, byref(at)) else None

    def _pid(self, window: int) -> int:
        kind, bits, count, rest, value = c_ulong(), c_int(), c_ulong(), c_ulong(), POINTER(c_ubyte)()
        name = self._x.XInternAtom(self._display, b"_NET_WM_PID", 0)
        wanted = (self._display, window, name, 0, 1, 0, _CARDINAL)
        answer = (byref(kind), byref(bits), byref(count), byref(rest), byref(value))
        if self._x.XGetWindowProperty(*wanted, *answer) or not count.value:
            return 0
        pid = ctypes.cast(value, POINTER(c_ulong))[0]
        self._x.XFree(value)
        return int(pid)


def eventually(look: Callable[[], list[Shown]], seconds: float) -> list[Shown]:
    """What is there as soon as anything is, [] after the time."""
    end = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < end:
        time.sleep(_LOOK_S)
    return found


def _library() -> ctypes.CDLL:
    try:
        x = ctypes.CDLL("libX11.so.6")
    except OSError as error:
        raise ServiceUnavailable("libX11 is not installed") from error
    x.XOpenDisplay.argtypes, x.XOpenDisplay.restype = [c_char_p], c_void_p
    x.XCloseDisplay.argtypes = [c_void_p]
    x.XDefaultRootWindow.argtypes, x.XDefaultRootWindow.restype = [c_void_p], c_ulong
    x.XFree.argtypes = [c_void_p]
    x.XSync.argtypes = [c_void_p, c_int]
    x.XInternAtom.argtypes, x.XInternAtom.restype = [c_void_p, c_char_p, c_int], c_ulong
    x.XGetWindowAttributes.argtypes = [c_void_p, c_ulong, c_void_p]
    x.XQueryTree.argtypes = [c_void_p, c_ulong, c_void_p, c_void_p, c_void_p, c_void_p]
    x.XSendEvent.argtypes = [c_void_p, c_ulong, c_int, c_long, c_void_p]
    x.XGetWindowProperty.argtypes = [c_void_p, c_ulong, c_ulong, c_long, c_long, c_int, c_ulong, *[c_void_p] * 5]
    x.XSetErrorHandler.argtypes = [c_void_p]
    x.XSetErrorHandler(_ERROR_HANDLER)
    return x
