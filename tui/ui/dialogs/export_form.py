"""Asks for the format of exported entries, and shows their contents before anything is written."""

import asyncio
import threading
from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from tui.core.errors import McptuiError
from tui.ui.dialogs.picker import Picker, PickerChoice
from tui.ui.widgets.literal import Literal

_FORMATS = {
    "jsonl": "JSON Lines (can be opened again)",
    "md": "Markdown report",
    "html": "HTML page (one file)",
    "har": "HAR (HTTP servers only)",
}
_WHOLE = "○ redact values (shift+tab)"
_SHAPES = "● redact values: only type and length stay"


class ExportForm(Picker):
    """Returns a format, or None. `shapes` replaces values with type and length, as `--redact` does.

    `contents` is called in a thread and returns a summary of the exported data. Setting its event stops it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("shift+tab", "shapes", "redact", priority=True)]
    AROUND: ClassVar[int] = 14
    DEFAULT_CSS = """
    ExportForm #contents { margin-bottom: 1; }
    ExportForm #form { margin-bottom: 1; }
    """

    def __init__(self, heading: str, contents: Callable[[threading.Event], str]) -> None:
        choices = [PickerChoice(form, Content(words)) for form, words in _FORMATS.items()]
        super().__init__(heading, choices)
        self.shapes = False
        self._contents = contents
        self._stop = threading.Event()
        self._leaves = Literal("Contains: counting…", id="contents")
        self._form = Literal(_WHOLE, id="form")

    def above(self) -> ComposeResult:
        yield self._leaves
        yield self._form

    def on_mount(self) -> None:
        """Start counting, in addition to what the picker does when mounted."""
        self.run_worker(self._count(), name="count an export")

    def on_unmount(self) -> None:
        self._stop.set()

    async def _count(self) -> None:
        try:
            self._leaves.show(await asyncio.to_thread(self._contents, self._stop))
        except (McptuiError, OSError) as error:
            self._leaves.show(str(error))

    def action_shapes(self) -> None:
        self.shapes = not self.shapes
        self._form.show(_SHAPES if self.shapes else _WHOLE)
