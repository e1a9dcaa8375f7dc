"""What each kind of step does to the page."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.async_api import Download as Coming
from playwright.async_api import Error, Page, expect

from services.domain.task import classify, own_words
from services.domain.text.cells import guarded
from services.domain.types import flow_steps as steps
from services.domain.types import linear
from services.executors.browser.faults import Failed, not_said

if TYPE_CHECKING:
    from services.executors.browser.attempt import Attempt

MAX_ROWS, MAX_ITEMS = 20_000, 20_000
_LOOK_S = 0.1
_TABLE = """(element, most) => {
  const table = element.closest('table') || element.querySelector('table') || element;
  const cells = row => Array.from(row.cells || row.children).map(cell => cell.innerText.trim());
  const rows = Array.from(table.rows || table.querySelectorAll('tr, [role=row]'));
  const head = rows.length && Array.from(rows[0].cells || []).every(cell => cell.tagName === 'TH');
  return {head: head ? cells(rows[0]) : null, rows: rows.slice(head ? 1 : 0, most).map(cells)};
}"""


async def visible(page: Page, selector: str) -> bool:
    """Whether something that the selector finds can be seen now; never raises."""
    try:
        return await asyncio.wait_for(page.locator(selector).first.is_visible(), 5)
    except (Error, TimeoutError):
        return False


async def goto(run: Attempt, step: steps.Goto) -> None:
    url = run.address(step.url)
    state: Any = step.wait_until
    response = await run.page.goto(url, wait_until=state, timeout=step.timeout_s * 1000)
    if response is not None and response.status >= 400:
        raise await _refused(run.page, response.url, response.status)


async def _refused(page: Page, url: str, status: int) -> Failed:
    """The platform answered with an error: of which kind, its words tell where its number does not."""
    text = ""
    with contextlib.suppress(Error, TimeoutError):
        text = " ".join((await asyncio.wait_for(page.locator("body").inner_text(timeout=3000), 5)).split())[:300]
    told = own_words.write("own.answered_said" if text else "own.answered", url=url[:300], status=status, said=text)
    if status == 429:
        return Failed(told, classify.RATE_LIMITED)
    kind = classify.NETWORK if status in (502, 503, 504) else classify.classify(text)
    return Failed(told, kind)


async def click(run: Attempt, step: steps.Click) -> None:
    target, limit = run.page.locator(step.selector).first, step.timeout_s * 1000
    if not await target.evaluate("element => !!element.closest('a[target=_blank]')", timeout=limit):
        await target.click(click_count=step.count, timeout=limit)
        return
    async with run.page.expect_popup(timeout=limit) as opened:  # the flow goes on there: wait until it is there
        await target.click(click_count=step.count, timeout=limit)
    run.page = await opened.value


async def fill(run: Attempt, step: steps.Fill) -> None:
    await run.page.locator(step.selector).first.fill(step.value, timeout=step.timeout_s * 1000)


async def select(run: Attempt, step: steps.Select) -> None:
    await run.page.locator(step.selector).first.select_option(step.value, timeout=step.timeout_s * 1000)


async def press(run: Attempt, step: steps.Press) -> None:
    if step.selector:
        await run.page.locator(step.selector).first.press(step.key, timeout=step.timeout_s * 1000)
    else:
        await run.page.keyboard.press(step.key)


async def wait_for(run: Attempt, step: steps.WaitFor) -> None:
    if step.url:
        pattern = ".*".join(map(re.escape, step.url.split("*")))
        anywhere = ".*" if step.url.startswith("/") else ""
        # asked with every address that the page comes to, and a page may choose its address
        expected = linear.compiled(f"^{anywhere}{pattern}$")
        # a function of its own: Playwright marks what it is given, and a bound method takes no mark
        await run.page.wait_for_url(lambda url: expected.search(url), timeout=step.timeout_s * 1000)
    if step.selector:
        state: Any = step.state
        await run.page.locator(step.selector).first.wait_for(state=state, timeout=step.timeout_s * 1000)


async def extract(run: Attempt, step: steps.Extract) -> None:
    found = await _value(run, step)
    if step.append:
        before = run.values.get(step.into, [])
        more = found if isinstance(found, list) else [found]
        found = [*(before if isinstance(before, list) else [before]), *more]
    if isinstance(found, list) and len(found) > MAX_ITEMS:
        raise Failed(own_words.write("own.many_entries", name=step.into, most=MAX_ITEMS), classify.BAD_PAYLOAD)
    run.values[step.into] = found
    run.evidence.log(f"{step.into}: {len(found) if isinstance(found, list | str) else found}")
    if step.what == "table":
        run.tables[step.into] = step.title


async def _value(run: Attempt, step: steps.Extract) -> Any:
    page, limit = run.page, step.timeout_s * 1000
    if step.what == "url":
        return page.url
    if step.what == "title":
        return await page.title()
    found = page.locator(step.selector)
    if step.what == "count":
        return await found.count()
    await found.first.wait_for(state="attached", timeout=limit)
    if step.what == "table":
        return _objects(await found.first.evaluate(_TABLE, MAX_ROWS))
    take = "element => element.innerText.trim()"
    if step.what != "text":
        name = {"html": "innerHTML", "value": "value"}.get(step.what, "")
        take = f"element => element.{name}" if name else "(element, name) => element.getAttribute(name)"
    if step.all:
        many = take.replace("element =>", "elements => elements.map(element =>", 1) + ")"
        if step.what == "attribute":
            many = "(elements, name) => elements.map(element => element.getAttribute(name))"
        return await found.evaluate_all(many, step.attribute)
    return await found.first.evaluate(take, step.attribute, timeout=limit)


def _objects(table: dict[str, Any]) -> list[Any]:
    """Rows by the names of their columns; without a header row they stay lists."""
    head: list[str] | None = table["head"]
    if head is None:
        return list(table["rows"])
    names = [name or f"column {number}" for number, name in enumerate(head, 1)]
    names = [name if name not in names[:place] else f"{name} {place + 1}" for place, name in enumerate(names)]
    return [dict(zip(names, row, strict=False)) for row in table["rows"]]


def sheet(rows: Sequence[Any]) -> str:
    """A table as CSV."""
    out = io.StringIO()
    out.write("\ufeff")  # spreadsheets take it for Latin without
    writer = csv.writer(out)
    if rows and isinstance(rows[0], dict):
        writer.writerow([guarded(str(name)) for name in rows[0]])
    for row in rows:
        cells = row.values() if isinstance(row, dict) else row if isinstance(row, list) else [row]
        writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in cells])
    return out.getvalue()


async def screenshot(run: Attempt, step: steps.Screenshot) -> None:
    await run.picture(f"{step.title}.png", step.title, full_page=step.full_page, selector=step.selector)


async def assert_text(run: Attempt, step: steps.AssertText) -> None:
    place = run.page.locator(step.selector or "body").first
    limit = step.timeout_s * 1000
    try:
        if step.match == "equals":
            await expect(place).to_have_text(step.text, timeout=limit)
        else:
            await expect(place).to_contain_text(step.text, timeout=limit)
    except AssertionError:
        raise not_said(step) from None


async def upload(run: Attempt, step: steps.Upload) -> None:
    field = run.page.locator(step.selector).first
    if step.text is not None:
        name = Path(step.file).name
        made: Any = {"name": name, "mimeType": "text/plain", "buffer": step.text.encode()}
        await field.set_input_files(made, timeout=step.timeout_s * 1000)
        return
    folder = run.settings.upload_folder
    if not folder:
        raise Failed(own_words.write("own.no_upload_folder"), classify.BAD_PAYLOAD)
    root = Path(folder).resolve()
    path = (root / step.file).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        raise Failed(own_words.write("own.not_in_upload", file=step.file), classify.BAD_PAYLOAD)
    await field.set_input_files(path, timeout=step.timeout_s * 1000)


async def download(run: Attempt, step: steps.Download) -> None:
    run.expects_download = True
    try:
        async with run.page.expect_download(timeout=step.timeout_s * 1000) as coming:
            if step.url:
                with contextlib.suppress(Error):  # the address of a file is never a page
                    await run.page.goto(run.address(step.url), timeout=step.timeout_s * 1000)
            else:
                await run.page.locator(step.selector).first.click(timeout=step.timeout_s * 1000)
        file = await coming.value
        name = step.file or file.suggested_filename
        path = run.evidence.place(name)
        await _save(run, file, path)
    finally:
        run.expects_download = False
    run.evidence.keep(path, name, "download", step.title)
    run.evidence.log(own_words.write("line.downloaded", file=name, size=path.stat().st_size))


async def _save(run: Attempt, file: Coming, path: Path) -> None:
    """Wait for its end, and break it off where it becomes too large."""
    most = run.settings.download_mb * 2**20
    saving = asyncio.ensure_future(file.save_as(path))
    try:
        while not (await asyncio.wait({saving}, timeout=_LOOK_S))[0]:
            if _largest(run.lease.browser.downloads) > most:
                await file.cancel()
                raise _too_large(run)
        await saving
    finally:
        saving.cancel()
        await asyncio.gather(saving, return_exceptions=True)
    if path.stat().st_size > most:
        path.unlink()
        raise _too_large(run)
    with contextlib.suppress(Error):
        await file.delete()


def _too_large(run: Attempt) -> Failed:
    text = own_words.write("own.large_download", most=f"{run.settings.download_mb:g}")
    return Failed(text, classify.BAD_PAYLOAD)


def _largest(folder: Path) -> int:
    with contextlib.suppress(OSError):
        return max((path.stat().st_size for path in folder.iterdir()), default=0)
    return 0


async def scroll(run: Attempt, step: steps.Scroll) -> None:
    if step.selector:
        await run.page.locator(step.selector).first.scroll_into_view_if_needed(timeout=step.timeout_s * 1000)
    elif step.to:
        where = "0" if step.to == "top" else "document.documentElement.scrollHeight"
        await run.page.evaluate(f"window.scrollTo(0, {where})")
    else:
        await run.page.evaluate("by => window.scrollBy(0, by)", step.by)


async def sleep(run: Attempt, step: steps.Sleep) -> None:
    await asyncio.sleep(step.seconds)


async def if_visible(run: Attempt, step: steps.IfVisible) -> None:
    done = 0
    while done < step.repeat and await _appears(run.page, step):
        await run.steps(step.then)
        done += 1
    if not done and step.otherwise:
        await run.steps(step.otherwise)


async def _appears(page: Page, step: steps.IfVisible) -> bool:
    found = page.locator(step.selector).first
    if not step.wait_s:
        return await found.is_visible()
    try:
        await found.wait_for(state="visible", timeout=step.wait_s * 1000)
    except Error as exc:
        if "Timeout" not in type(exc).__name__:
            raise
        return False
    return True


ACTIONS: dict[str, Callable[[Attempt, Any], Awaitable[None]]] = {
    "goto": goto,
    "click": click,
    "fill": fill,
    "select": select,
    "press": press,
    "wait_for": wait_for,
    "extract": extract,
    "screenshot": screenshot,
    "assert_text": assert_text,
    "upload": upload,
    "download": download,
    "scroll": scroll,
    "sleep": sleep,
    "if_visible": if_visible,
}
