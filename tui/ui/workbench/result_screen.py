"""The result screen: the whole result of a call, with pictures, to read, save and open."""

import asyncio
import json
import os
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen

from tui.core.text import clean_line
from tui.core.tools import ToolResult
from tui.ui.dialogs.confirm import Confirm
from tui.ui.keys.action_table import Context, of_context
from tui.ui.keys.bindings import bindings_of
from tui.ui.keys.footer import Footer, entries_of
from tui.ui.keys.key_overrides import KeyOverrides
from tui.ui.traffic import copies
from tui.ui.widgets.bar import SplitBar
from tui.ui.widgets.files import open_file, path_problem, save_new, typed_path
from tui.ui.widgets.page import Page
from tui.ui.widgets.prompt import PromptLine
from tui.ui.widgets.symbols import symbols_for
from tui.ui.workbench.results import Stack, sheet_of_result


class ResultScreen(ModalScreen[None]):
    """Shows the result of the call `name`."""

    CONTEXTS = (Context.RESULT,)
    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Context.RESULT)

    DEFAULT_CSS = """
    ResultScreen { background: $surface; layout: vertical; }
    ResultScreen > SplitBar { background: $panel; padding: 0 1; }
    ResultScreen > Page { height: 1fr; padding: 0 1; background: $surface; }
    ResultScreen > Footer { background: $surface; }
    """

    def __init__(self, name: str, result: ToolResult, overrides: KeyOverrides) -> None:
        super().__init__()
        self._of = clean_line(name, 120)
        self._result = result
        self._overrides = overrides
        self._title = SplitBar(id="result-title")
        self._page = Page(id="result-page")
        self._prompt = PromptLine()
        self._keys = Footer()
        self._saved: Path | None = None
        self._work: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._page
        yield self._prompt
        yield self._keys

    def on_mount(self) -> None:
        self._title.show((("RESULT", "accent bold"), (f"   {self._of}", "text")))
        self._keys.show(entries_of(of_context(Context.RESULT), self._overrides))
        self.set_focus(self._page, scroll_visible=False)
        self._work = asyncio.create_task(self._lay_out(), name="lay out a result")

    async def _lay_out(self) -> None:
        signs = symbols_for(os.environ)
        self._page.show(await asyncio.to_thread(sheet_of_result, self._result, signs))

    async def on_unmount(self) -> None:
        if self._work is not None:
            await asyncio.wait({self._work})

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the prompt is open, every key is for it."""
        if self._prompt.display and action.startswith("result_"):
            return False
        return super().check_action(action, parameters)

    def _marked(self) -> tuple[bytes, str]:
        """Return the bytes of the part under the cursor, and the suffix of a file for them."""
        sheet = self._page.sheet
        if isinstance(sheet, Stack) and (found := sheet.saved(self._page.cursor)) is not None:
            return found
        whole = json.dumps(self._result.structured, ensure_ascii=False, indent=2, default=str)
        return whole.encode("utf-8", "replace"), "json"

    def action_result_save(self) -> None:
        self._ask_path("save as", and_open=False)

    def action_result_open(self) -> None:
        """Save the part under the cursor, then open it with the system's program."""
        self._ask_path("save as, to open it", and_open=True)

    def _ask_path(self, label: str, *, and_open: bool) -> None:
        data, ending = self._marked()
        stem = "".join(char if char.isalnum() else "-" for char in self._of)[:60].strip("-") or "result"

        def named(name: str) -> None:
            if name.strip():
                path = typed_path(name)
                self.run_worker(self._save(path, data, and_open=and_open), exit_on_error=True)

        path = _free(Path.cwd() / f"{stem}.{ending}")
        self._prompt.ask(label, named, value=str(path), check=path_problem)

    async def _save(self, path: Path, data: bytes, *, and_open: bool) -> None:
        if await save_new(self.app, path, data) and and_open:
            self._ask_to_open(path)

    def _ask_to_open(self, path: Path) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self.app.run_worker(open_file(self.app, path), exit_on_error=True)

        question = "Open this file of a server with the system's program?"
        about = clean_line(str(path), 300)
        self.app.push_screen(Confirm(question, yes="open it", no="do not", about=about), answered)

    def action_result_copy(self) -> None:
        sheet = self._page.sheet
        text = sheet.value(self._page.cursor) if sheet.count() else ""
        if len(text) > copies.MOST:
            self.notify("This is too much for the clipboard: it can be saved.", timeout=4)
        elif text:
            self.app.copy_to_clipboard(text)
            self.notify("copied", timeout=2)

    def action_result_leave(self) -> None:
        self.dismiss(None)


def _free(path: Path) -> Path:
    """Return `path`, or if it exists the first numbered one that does not."""
    found, number = path, 1
    while found.exists() and number < 1000:
        number += 1
        found = path.with_stem(f"{path.stem}-{number}")
    return found
