"""What an attempt leaves behind: files in its folder, console and network troubles; no secret in any of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.async_api import ConsoleMessage, Dialog, Error, Page, Request, Response

from services.domain.task.artifact import safe_name
from services.domain.text.mask import Masker, masked_text
from services.executors.browser import orders

LINES, LINE_CHARS, HTML_CHARS = 300, 1_000, 300_000


class Evidence:
    """Collects for one attempt and hands files over as they come."""

    def __init__(self, token: str, folder: Path, masker: Masker, say: Callable[[orders.Word], None]) -> None:
        self.folder, self.masker = folder, masker
        self._token, self._say = token, say
        self._console: list[str] = []
        self._network: list[str] = []
        self._number = 0

    def log(self, text: str, stream: str = "out") -> None:
        """A line of the task's log."""
        self._say(orders.Log(token=self._token, text=self.masker.text(text)[:LINE_CHARS], stream=stream))

    def progress(self, percent: int, note: str) -> None:
        """Move the progress bar."""
        self._say(orders.Progress(token=self._token, percent=percent, note=self.masker.text(note)[:200]))

    def place(self, name: str) -> Path:
        """A path for a new file of this name."""
        self._number += 1
        folder = self.folder / str(self._number)
        folder.mkdir(parents=True)
        return folder / safe_name(name)

    def keep(self, path: Path, name: str, kind: str, step: str) -> None:
        """Hand a file over."""
        shown = self.masker.text(name)
        self._say(orders.File(token=self._token, path=str(path), name=shown, kind=kind, step=self.masker.text(step)))

    def keep_text(self, text: str, name: str, kind: str, step: str) -> None:
        """Hand a text over as a file."""
        path = self.place(name)
        path.write_text(self.masker.text(text), encoding="utf-8", errors="replace")
        self.keep(path, name, kind, step)

    def watch(self, page: Page) -> None:
        """Note what this page says on its console, what it fails to load, and the dialogs that it opens."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._note(self._console, f"error: {error}"))
        page.on("requestfailed", self._request_failed)
        page.on("response", self._responded)
        page.on("dialog", self._dialog)

    def close(self, step: str) -> None:
        """Hand over what was collected, after a failure."""
        for name, lines in (("console.txt", self._console), ("network.txt", self._network)):
            if lines:
                self.keep_text("\n".join(lines) + "\n", name, "text", step)

    def _said(self, message: ConsoleMessage) -> None:
        self._note(self._console, f"{message.type}: {message.text}")

    def _request_failed(self, request: Request) -> None:
        self._note(self._network, f"{request.method} {request.url}: {request.failure or 'failed'}")

    def _responded(self, response: Response) -> None:
        if response.status >= 400:
            self._note(self._network, f"{response.request.method} {response.url}: {response.status}")

    async def _dialog(self, dialog: Dialog) -> None:
        """Nobody is there to answer; a page that asks before it is left is left."""
        text = f"a dialog ({dialog.type}) was dismissed: {dialog.message}"
        self.log(text)
        self._note(self._console, text)
        try:
            await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())
        except Error:  # the page has gone meanwhile
            return

    def _note(self, lines: list[str], text: str) -> None:
        if len(lines) < LINES:
            lines.append(masked_text(text)[:LINE_CHARS])
        elif len(lines) == LINES:
            lines.append("… and more")
