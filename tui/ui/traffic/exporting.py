"""Entries of the recording written to a file: which, as what, where; in a thread, and never over another."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from textual.content import Content

from tui.core import units
from tui.core.atomic_write import is_replaceable
from tui.core.errors import McptuiError
from tui.core.text import clean_line
from tui.core.traffic import Entry, TrafficReader
from tui.ui.dialogs.picker import Choice, Picker
from tui.ui.traffic.bars import exact
from tui.ui.traffic.comparing import Comparing
from tui.ui.traffic.loading import MOST, whole
from tui.ui.widgets.files import path_problem, typed_path

SLICE_SECONDS, REST_SECONDS = 0.004, 0.002
"""Of writing between two rests: whoever draws and takes keys comes first."""

PAGE = 256
"""Entries whose columns are read at a time."""

_FORMS = {
    "jsonl": "JSON lines, which mcptui reads again",
    "md": "Markdown report",
    "html": "HTML page, one file",
    "har": "HAR, of HTTP servers only",
}


class Exporting(Comparing):
    """The doing of the key that exports; the screen supplies what it acts on."""

    folder: Callable[[], Path]
    export_note = ""
    """How far an export is, in words."""
    _export_stop: threading.Event | None = None

    def keep_task(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run `work` beside the screen, and no longer than it."""
        raise NotImplementedError

    def action_traffic_export(self) -> None:
        """Ask what is to be written."""
        if self.export_note:
            self.notify("One export at a time: the one before still runs.", timeout=3)
            return
        kinds = self._selections()
        if not kinds:
            self.notify("There is nothing to export.", timeout=3)
            return
        choices = [Choice(name, Content(words)) for name, (words, _) in kinds.items()]

        def chosen(name: str | None) -> None:
            if name is not None:
                self._ask_form(kinds[name][1]())

        self.app.push_screen(Picker("Export", choices), chosen)

    def _selections(self) -> dict[str, tuple[str, Callable[[], Sequence[int]]]]:
        """Return what can be exported: words, and what gives the seqs."""
        frames, view, index = self.recording.frames, self.list.view, self.list.index
        shown = len(view)
        if index < 0 or not shown:
            return {}
        found: dict[str, tuple[str, Callable[[], Sequence[int]]]] = {}
        words = "what the filter shows" if self.sifting.query.root is not None else "everything"
        found["shown"] = (f"{words}: {counted(shown)}", lambda: frames.seqs(view.indices(0, shown)))
        if marked := frames.marked.count(1):
            found["marked"] = (
                f"what is marked: {counted(marked)}",
                lambda: frames.seqs([place for place, mark in enumerate(frames.marked) if mark]),
            )
        if root := frames.root[index]:
            call = [place for place in range(root - 1, len(frames)) if frames.root[place] == root]
            found["call"] = (f"this call: {counted(len(call))}", lambda: frames.seqs(call))
        seq = frames.seq(index)
        found["entry"] = (f"entry {exact(seq)} only", lambda: [seq])
        return found

    def _ask_form(self, seqs: Sequence[int]) -> None:
        choices = [Choice(form, Content(words)) for form, words in _FORMS.items()]

        def chosen(form: str | None) -> None:
            if form is not None:
                self._ask_name(seqs, form)

        self.app.push_screen(Picker(f"Export {counted(len(seqs))} as", choices), chosen)

    def _ask_name(self, seqs: Sequence[int], form: str) -> None:
        path = self.folder() / f"mcptui-{time.strftime('%Y%m%d-%H%M%S')}.{form}"

        def named(name: str) -> None:
            if name.strip():
                self._begin(seqs, form, typed_path(name), over=False)

        def problem(name: str) -> str:
            return path_problem(name, new=False)

        self.prompt.ask("export to", named, value=str(path), check=problem)

    def action_traffic_back(self) -> None:
        """Cancel an export that runs; otherwise close what is open."""
        if self.export_note and self._export_stop is not None and not self._export_stop.is_set():
            self._export_stop.set()
        else:
            super().action_traffic_back()

    # ---- writing ----

    def _begin(self, seqs: Sequence[int], form: str, path: Path, *, over: bool) -> None:
        self.export_note = "exporting…"
        self._export_stop = threading.Event()
        self.keep_task(self._write(seqs, form, path, self._export_stop, over), "export")

    async def _write(
        self, seqs: Sequence[int], form: str, path: Path, stop: threading.Event, over: bool
    ) -> None:
        title = f"{self.recording.title} {self.sifting.query.text}".strip()
        work = asyncio.create_task(
            asyncio.to_thread(self._export, seqs, form, path, clean_line(title, 160), stop, over)
        )
        try:
            count, size = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait({work})
            work.exception()  # that it was left is all there is to say
            raise
        except FileExistsError:
            self._ask_over(seqs, form, path)
        except (McptuiError, OSError) as error:
            if stop.is_set():
                self.notify("Export cancelled.", timeout=3)
                return
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self.notify(f"{path} was not written: {reason}", severity="error", timeout=8)
        else:
            gone = len(seqs) - count
            missing = f", {counted(gone)} missing (dropped from the recording)" if gone else ""
            self.notify(f"{counted(count)}, {units.size(size)}, written to {path}{missing}", timeout=6)
        finally:
            self.export_note = ""

    def _ask_over(self, seqs: Sequence[int], form: str, path: Path) -> None:
        from tui.ui.dialogs.confirm import Confirm

        def answered(yes: bool | None) -> None:
            if yes:
                self._begin(seqs, form, path, over=True)

        name = clean_line(str(path), 300)
        if is_replaceable(path):
            question = Confirm(f"{name} is there already. Replace it?", yes="replace it", no="keep it")
        else:
            question = Confirm(f"{name} is not a regular file. Write into it?", yes="write", no="cancel")
        self.app.push_screen(question, answered)

    def _export(
        self, seqs: Sequence[int], form: str, path: Path, title: str, stop: threading.Event, over: bool
    ) -> tuple[int, int]:
        """Write the file, in a thread; return how many entries and bytes it has.

        Raises:
            FileExistsError: it is there, and nobody said that it may be replaced.
            OSError: it cannot be made.
            McptuiError: the recording cannot be read, or the file cannot be written.
        """
        from tui.storage.exports.export import Format, exported, write_whole

        if not over:
            path.open("xb").close()  # nobody can put another there meanwhile
        try:
            with closing(self.recording.open_reader()) as reader:
                source = _Source(reader, seqs, lambda done: self._note_progress(done, len(seqs), stop))
                pieces = exported(Format(form), source.columns(), source.whole, title)
                size = write_whole(path, pieces, wait=False, stop=stop)
        except BaseException:
            if not over:
                with contextlib.suppress(OSError):
                    path.unlink()
            raise
        return len(seqs) - source.gone, size

    def _note_progress(self, done: int, of: int, stop: threading.Event) -> None:
        self.export_note = f"exporting {done * 100 // max(1, of)} %"
        if stop.wait(REST_SECONDS):
            raise InterruptedError("the screen was left")


class _Source:
    """Reads the entries of an export, in slices between which it rests.

    Attributes:
        gone: how many could not be read, because they were dropped.
    """

    def __init__(self, reader: TrafficReader, seqs: Sequence[int], rest: Callable[[int], None]) -> None:
        self._reader, self._seqs, self._rest_after = reader, seqs, rest
        self._read = 0
        self._until = time.monotonic() + SLICE_SECONDS
        self._gone: set[int] = set()

    @property
    def gone(self) -> int:
        return len(self._gone)

    def columns(self) -> Iterator[Entry]:
        """Yield the entries without bodies."""
        page: Iterator[Entry] = iter(())
        entry: Entry | None = None
        for place, seq in enumerate(self._seqs):
            self._rest()
            while entry is not None and entry.seq < seq:
                entry = next(page, None)
            if entry is None:
                # Many at a time, unless most of them were not asked for.
                later = self._seqs[min(place + PAGE // 8, len(self._seqs) - 1)]
                page = iter(self._reader.columns(seq - 1, PAGE if 0 < later - seq < PAGE else 1))
                entry = next(page, None)
            if entry is not None and entry.seq == seq:
                yield entry
            else:
                self._gone.add(seq)

    def whole(self, seq: int) -> Entry | None:
        """Return an entry with its body."""
        self._rest()
        self._read = min(self._read + 1, len(self._seqs))
        entry = whole(self._reader, seq, MOST)
        if entry is None:
            self._gone.add(seq)
        return entry

    def _rest(self) -> None:
        if time.monotonic() >= self._until:
            self._rest_after(self._read)
            self._until = time.monotonic() + SLICE_SECONDS


def counted(number: int) -> str:
    """Return a number of entries in words."""
    return "1 entry" if number == 1 else f"{exact(number)} entries"
