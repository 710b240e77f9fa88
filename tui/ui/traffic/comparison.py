"""What two entries, or two calls, differ in, place by place."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.traffic.diff import RUN_TO_RUN, Comparison, Masks, compare, text_lines
from tui.ui.traffic.comparing import Unfit
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.page import Lines, Page
from tui.ui.widgets.rows import EMPTY, Row

_STYLES = {"+": "ok", "-": "bad", "~": "warn"}


def difference_rows(found: Comparison) -> list[Row]:
    """Return a comparison as paragraphs: a sign, the place, what was there and what is."""
    if found.same and not found.masked:
        return [(("The two are the same.", "ok"),)]
    rows: list[Row] = []
    if found.same:
        rows += [(("Nothing differs but what always does: times, ids, durations.", "ok"),), EMPTY]
    for line in text_lines(found):
        style = _STYLES.get(line[:1])
        place, colon, rest = line[2:].partition(": ")
        if style is None or not colon:
            rows.append(((line, "dim"),))
            continue
        before, arrow, after = rest.partition(" -> ")
        rows.append(
            ((f"{line[:1]} ", f"{style} bold"), (f"{place}  ", "tool"), (before, "text"), (arrow, style))
            + (((after, "text"),) if after else ())
        )
    return rows


class _Line(Bar):
    parts: tuple[Row, Row] = ((), ())

    def row(self, width: int) -> Row:
        return spread(self.parts[0], self.parts[1], width)


class ComparisonScreen(ModalScreen[None]):
    """Compares two entries.

    Args:
        names: what the two are called, the first and the second.
        values: reads both as JSON values: the entries, or the calls that they belong to.
        has_calls: whether they belong to two calls.
        calls: whether to begin with the calls.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d", "back", "back", priority=True),
        Binding("left,right,tab,h,l", "calls", "entries or calls", priority=True),
        Binding("a", "all", "all that differs", priority=True),
        Binding("c", "copy", "copy", priority=True),
    ]

    DEFAULT_CSS = """
    ComparisonScreen { background: $surface; layout: vertical; }
    ComparisonScreen > Bar { padding: 0 1; background: $panel; }
    ComparisonScreen > Page { height: 1fr; padding: 0 1; background: $surface; }
    """

    def __init__(
        self,
        names: tuple[str, str],
        values: Callable[[bool], Awaitable[tuple[Any, Any]]],
        *,
        has_calls: bool,
        calls: bool,
    ) -> None:
        super().__init__()
        self._names, self._values = names, values
        self._has_calls, self._calls = has_calls, calls
        self._masked = True
        self._text = ""
        self._title, self._keys = _Line(), _Line()
        self._page = Page(id="differences")
        self._job: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        """Build title, differences and keys."""
        yield self._title
        yield self._page
        yield self._keys

    def on_mount(self) -> None:
        """Begin to compare."""
        self.set_focus(self._page, scroll_visible=False)
        self._begin()

    async def on_unmount(self) -> None:
        """Stop comparing."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.wait({self._job})

    def _begin(self) -> None:
        if self._job is not None:
            self._job.cancel()
        self._page.show(Lines([(("comparing…", "warn"),)]))
        self._say()
        self._job = asyncio.create_task(self._compare(), name="compare")

    async def _compare(self) -> None:
        masks = RUN_TO_RUN if self._masked else Masks()
        try:
            first, second = await self._values(self._calls)
            found = await asyncio.to_thread(compare, first, second, masks)
        except (McptuiError, Unfit) as error:
            self._page.show(Lines([((clean_line(str(error), 400), "warn"),)]))
            return
        self._text = "\n".join(text_lines(found))
        self._page.show(Lines(difference_rows(found)))
        self._say(found)

    def _say(self, found: Comparison | None = None) -> None:
        first, second = self._names
        what = "the calls of " if self._calls else ""
        count = len(found.differences) if found is not None else 0
        said = "" if found is None else "1 difference" if count == 1 else f"{count} differences"
        self._title.parts = (
            (("COMPARE  ", "accent bold"), (f"{what}{first} and {second}", "text")),
            ((said, "dim"),),
        )
        keys: list[tuple[str, str]] = []
        if self._has_calls:
            keys.append(("tab", "the two entries" if self._calls else "the whole calls"))
        keys.append(("a", "all that differs" if self._masked else "leave out times, ids, durations"))
        keys += [("c", "copy"), ("esc", "back")]
        parts = tuple(part for key, words in keys for part in ((key, "accent"), (f" {words}   ", "dim")))
        self._keys.parts = (parts, ())
        self._title.refresh()
        self._keys.refresh()

    def action_calls(self) -> None:
        """Compare the calls in place of the entries, or the entries again."""
        if self._has_calls:
            self._calls = not self._calls
            self._begin()

    def action_all(self) -> None:
        """Pass over what always differs, or do not."""
        self._masked = not self._masked
        self._begin()

    def action_copy(self) -> None:
        """Copy the differences."""
        if self._text:
            self.app.copy_to_clipboard(self._text)
            self.app.notify("copied the differences", timeout=2)

    def action_back(self) -> None:
        """Go back to the list."""
        self.dismiss(None)
