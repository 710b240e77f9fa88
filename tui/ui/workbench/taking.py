"""What keys do with results: their frames, comparing, copying, saving, handing over to the conversation."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tui.traffic.filter.nodes import written
from tui.ui.traffic import copies
from tui.ui.widgets.files import path_problem, save_new, typed_path
from tui.ui.workbench.calls import as_json, for_conversation
from tui.ui.workbench.results import Stack
from tui.ui.workbench.tabs import BenchTab

if TYPE_CHECKING:
    from tui.ui.workbench.server_log import ServerLog

from tui.ui.workbench.keeping import Keeping


class Taking(Keeping):
    """The doing of the keys of results; the screen supplies what they act on."""

    tab: BenchTab
    log_lines: "ServerLog"
    hand_over: Callable[[str], None]
    show_frames: Callable[[str], None]

    # ---- results ----

    def action_bench_frames(self) -> None:
        """Show the frames of the call, or all of the server."""
        call = self.bench.calls.selected if self.bench is not None else None
        self.show_frames(f"call:{call.id}" if call is not None else f"server:{written(self.server)}")

    def action_bench_hand(self) -> None:
        """Put the result into the message to the model."""
        call = self.bench.calls.selected if self.bench is not None else None
        if call is None or call.result is None:
            self.notify("There is no result to put into the message yet.", timeout=3)
            return
        text = for_conversation(self.server, call)
        self.dismiss(None)
        self.hand_over(text)

    def action_bench_diff(self) -> None:
        """Compare the result with the one before it, or with the marked one."""
        bench = self.bench
        if bench is None or (call := bench.calls.selected) is None:
            return
        before = bench.calls.before
        if bench.line.what:
            self.show_call(bench)
        elif call.result is None or before is None:
            self.notify("There is no other result to compare it with.", timeout=3)
        else:
            self.show_difference(bench, before, call)

    def action_bench_mark(self) -> None:
        """Mark the call, to compare others with it."""
        if self.bench is not None:
            self.bench.calls.mark()

    def action_bench_copy(self) -> None:
        """Copy the value under the cursor; of a log all of it."""
        bench = self.bench
        if self.tab is BenchTab.LOG:
            self._copy(self.log_lines.text, "the log")
        elif bench is not None and bench.page.sheet.count():
            self._copy(bench.page.sheet.value(bench.page.cursor), "the value")

    def action_bench_copy_all(self) -> None:
        """Copy the whole result as JSON."""
        call = self.bench.calls.selected if self.bench is not None else None
        if call is not None and call.result is not None:
            self._copy(json.dumps(as_json(call.result), ensure_ascii=False, indent=2), "the result")

    def _copy(self, text: str, what: str) -> None:
        if len(text) > copies.MOST:
            self.notify(f"This is too much for the clipboard: {self._key('bench.save')} saves it.", timeout=4)
            return
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {what}", timeout=2)

    def action_bench_save(self) -> None:
        """Save what the cursor stands on, if that is an image or a text of its own; else the whole result."""
        bench = self.bench
        call = bench.calls.selected if bench is not None else None
        if bench is None or call is None or call.result is None:
            return
        sheet, at = bench.page.sheet, bench.page.cursor
        found = sheet.binary(at) if isinstance(sheet, Stack) and sheet.count() else None
        if found is None and isinstance(sheet, Stack) and sheet.content(at) is not None:
            found = sheet.value(at).encode("utf-8", "replace"), "txt"
        if found is None:
            whole = json.dumps(as_json(call.result), ensure_ascii=False, indent=2)
            found = whole.encode("utf-8", "replace"), "json"
        data, ending = found
        path = Path.cwd() / f"mcptui-{call.id}.{ending}"
        self.prompt.ask("save as", lambda name: self._save(name, data), value=str(path), check=path_problem)

    def _save(self, name: str, data: bytes) -> None:
        if name.strip():
            self.run_worker(save_new(self.app, typed_path(name), data), exit_on_error=True)
