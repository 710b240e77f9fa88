"""The tabs about what a server sent: its log (stderr, stdout, log messages, exits), and its traffic."""

import asyncio
import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical

from tui.core import units
from tui.core.background import Tasks
from tui.core.language.translate import _, localized, message, n_, sentences
from tui.core.text import clean, clean_line, compact, cropped, fold, padded, truncated, without_styling
from tui.core.traffic import Entry, Kind, TrafficReader
from tui.traffic.explain.events import event_sentences
from tui.traffic.filter.fields import written
from tui.traffic.filter.query import parse
from tui.traffic.filter.view import View
from tui.traffic.methods import shown_method
from tui.traffic.record.open_recording import ReaderThread, Recording
from tui.ui.keys.bindings import bench_list_bindings
from tui.ui.traffic.bars import Headings
from tui.ui.traffic.entry_list import EntryList
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import Row, crop, highlighted, wrap

LINE_CHARS = 4096


class LogLines(LinePane):
    """Shows lines that are added at the end and dropped at the start. `search_text` is case-folded, or ""."""

    hang = 2  # indentation of the continuation rows of a wrapped line

    def __init__(self, *, empty: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self.wrapped = True
        self.search_text = ""
        self.empty = empty
        self._lines: tuple[str, ...] = ()
        self._firsts: list[int] = []  # line -> its first row
        self._hits: list[int] = []  # matching lines, ascending
        self._hit = -1

    def show(self, lines: tuple[str, ...]) -> None:
        """Show these lines; cheap if they have not changed."""
        if lines == self._lines:
            return
        gone = _dropped_lines(self._lines, lines)
        rows_gone = self._firsts[gone] if gone < len(self._firsts) else len(self._shown_rows)
        self._lines = lines
        self._hit -= gone
        self._lay_out()
        if not self.following and rows_gone:
            # The visible lines keep their place, for reading, while older ones are dropped.
            self._place(self.scroll_y - rows_gone)

    def show_empty(self, empty: str) -> None:
        """Show this text while there are no lines."""
        if empty != self.empty:
            self.empty = empty
            self.rows_changed()

    def toggle_wrap(self) -> None:
        top = self._line_of(round(self.scroll_y))
        self.wrapped = not self.wrapped
        self._lay_out()
        if not self.following and top < len(self._firsts):
            self._place(self._firsts[top])

    def search(self, query: str) -> None:
        """Highlight all matches of `query`, ignoring case, and go to the last one."""
        self.search_text = fold(query)
        self._find()
        self._go_to(self._hits[-1] if self._hits else -1)

    def next_match(self, direction: int) -> None:
        """Go to the next or previous matching line; wraps around."""
        if self._hits:
            before, after = bisect_left(self._hits, self._hit), bisect_right(self._hits, self._hit)
            self._go_to(self._hits[(after if direction > 0 else before - 1) % len(self._hits)])

    def _go_to(self, hit: int) -> None:
        self._hit = hit
        self.rows_changed()
        if hit >= 0:
            first, end = (*self._firsts, len(self._shown_rows))[hit : hit + 2]
            self.following = False
            self.show_row(first, end - first)

    @property
    def found(self) -> str:
        """The position of the search: "2 of 7", or "" without a search."""
        if not (self.search_text and self._hits):
            return _("no matches") if self.search_text else ""
        number = bisect_left(self._hits, self._hit) + 1
        return _("{number} of {all}", number=number, all=len(self._hits))

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def _rows(self) -> Sequence[Row]:
        return self._shown_rows or wrap(((self.empty, "dim"),), self.columns)

    def row_count(self) -> int:
        return len(self._rows())

    def row(self, index: int) -> Row:
        return highlighted(self._rows()[index], self.search_text)

    def row_ground(self, index: int) -> str:
        return "cursor" if self._hit >= 0 and self._line_of(index) == self._hit else ""

    def line_row(self, line: str) -> Row:
        """Return a line as a row, cleaned, of any length."""
        return ((clean_line(line, LINE_CHARS), "text"),)

    def rewrap(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        width, rows, rest = self.columns, list[Row](), ((" " * self.hang, ""),)
        self._firsts = []
        for line in self._lines:
            self._firsts.append(len(rows))
            row = self.line_row(line)
            rows += wrap(row, width, rest=rest) if self.wrapped else [crop(row, width)]
        self._shown_rows = rows
        self._find()
        self.rows_changed()

    def _find(self) -> None:
        query, lines = self.search_text, enumerate(self._lines)
        self._hits = [index for index, line in lines if query in fold(line)] if query else []
        self._hit = self._hit if query else -1

    def _line_of(self, row: int) -> int:
        return bisect_left(self._firsts, row + 1) - 1


def _dropped_lines(before: tuple[str, ...], after: tuple[str, ...]) -> int:
    """Return how many lines at the start of `before` are missing from its continuation `after`."""
    for gone, line in enumerate(before if after else ()):
        if line == after[0] and before[gone:] == after[: len(before) - gone]:
            return gone
    return len(before)


KEPT = 1_000
"""Maximum entries to show; the traffic has all of them."""

AT_ONCE = 250
"""Maximum entries to read per update."""

MOST_BYTES = 64 * 1024
MOST_LINES = 200
"""Maximum bytes and lines of one entry."""

LOOK_MS = 3.0
WORD_CELLS = 9
"""Length of the longest level of RFC 5424, "emergency"."""

HEAD_CELLS = 8 + 2 + WORD_CELLS + 2

_LEVELS = {
    "debug": "dim",
    "info": "text",
    "notice": "text",
    "warning": "warn",
    "error": "bad",
    "critical": "bad bold",
    "alert": "bad bold",
    "emergency": "bad bold",
}
_STDERR, _STDOUT = "stderr", "stdout"
_IN_SENTENCES = frozenset(
    {"http", "endpoint", "broken", "sign-in", "session opened again", "stream opened again"}
    | {"restarted", "restart failed"}
)
"""Events of a connection with details for machines, which are shown as sentences."""

_PRINTED = "(kind:not_json,not_rpc dir:in not method:*)"  # in the line dialect, messages have methods
_WHAT = f'(kind:stderr or {_PRINTED} or method:notifications/message or (kind:event not method:"gave up"))'
"""Filter for the entries of a log; requests that timed out belong to the calls."""


class ServerLog(LogLines):
    """Shows the log of a server, newest last, with the keys of the workbench."""

    BINDINGS = bench_list_bindings()
    hang = HEAD_CELLS

    def __init__(self, recording: Recording, server: str, *, id: str) -> None:
        super().__init__(empty=_("No log output from this server yet."), id=id)
        what = f"server:{written(server)} {_WHAT}"
        self._entries = View(recording.entries, parse(what))
        self._bodies = ReaderThread(recording.open_reader)
        self._lines_by_seq: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._tasks = Tasks()
        self._under_way: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Show new entries; cheap if there are none."""
        self._entries.advance(LOOK_MS)
        rows = len(self._entries)
        wanted = [self._entries.seq(row) for row in range(max(0, rows - KEPT), rows)]
        unread = [seq for seq in wanted if seq not in self._lines_by_seq]
        if unread and (self._under_way is None or self._under_way.done()):
            self._under_way = self._tasks.start(self._read(unread[-AT_ONCE:]), "log of a server")
        # The newest entries read so far, without a gap; older ones are added before them.
        first = wanted.index(unread[-1]) + 1 if unread else 0
        shown = wanted[first:]
        if shown or not wanted:
            # What a process said before the last one had ended is recorded after that.
            in_time = sorted((self._lines_by_seq[seq] for seq in shown), key=itemgetter(0))
            self.show(tuple(line for _time, lines in in_time for line in lines))

    async def _read(self, seqs: list[int]) -> None:
        def lines(reader: TrafficReader) -> list[tuple[int, tuple[int, tuple[str, ...]]]]:
            entries = ((seq, reader.entry(seq, MOST_BYTES)) for seq in seqs)
            return [
                (seq, (one.wall_ns, lines_of(one)) if one is not None else (0, ())) for seq, one in entries
            ]

        read = await self._bodies.ask(lines)
        if len(self._lines_by_seq) > 2 * KEPT:
            self._lines_by_seq = dict(sorted(self._lines_by_seq.items())[-KEPT:])
        self._lines_by_seq.update(read)

    def line_row(self, line: str) -> Row:
        """Return a line with a dimmed time, and the level in its color."""
        word = line[10:HEAD_CELLS].strip()
        style = _LEVELS.get(word, "dim")
        text_style = "text" if style == "dim" else style
        return ((line[:10], "dim"), (line[10:HEAD_CELLS], style), (line[HEAD_CELLS:], text_style))

    async def on_unmount(self) -> None:
        await self._tasks.cancel()
        self._entries.close()
        self._bodies.close()


def lines_of(entry: Entry) -> tuple[str, ...]:
    """Return an entry as log lines: time of day, level or kind, text; further lines are below the text."""
    word, text = _level_and_text(entry)
    clock = units.time_of_day(entry.wall_ns)[:8]
    lines = clean(without_styling(text)).rstrip("\n").split("\n")
    if (left_out := len(lines) - MOST_LINES) > 0:
        lines[MOST_LINES:] = [n_("… {n} more line", "… {n} more lines", left_out)]
    lines = [truncated(line.expandtabs(4), LINE_CHARS).rstrip() for line in lines]
    head = f"{clock}  {padded(cropped(clean_line(word), WORD_CELLS), WORD_CELLS)}  "
    return (head + lines[0], *(" " * HEAD_CELLS + line for line in lines[1:]))


def _level_and_text(entry: Entry) -> tuple[str, str]:
    text = entry.body.decode("utf-8", "replace")
    if entry.kind is Kind.STDERR:
        return _STDERR, text
    if entry.kind in (Kind.NOT_JSON, Kind.NOT_RPC):
        return "response" if "exchange" in entry.detail else _STDOUT, text
    word = shown_method(entry.kind, entry.method)
    if entry.kind is Kind.EVENT and entry.method in _IN_SENTENCES:
        server = message("server {name}", name=entry.source)
        return word, localized(sentences(*event_sentences(entry.method, server, entry.detail)))
    if entry.kind is Kind.EVENT:
        details = (item for item in entry.detail.items() if item[0] != "event" and item[1] not in ("", []))
        return word, "  ".join(f"{name} {_plain(value)}" for name, value in details)
    try:
        params = json.loads(text)["params"]
        level, data = params["level"], params["data"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return "message", text  # truncated or malformed: shown unchanged
    logger = f"{clean_line(params['logger'], 60)}: " if isinstance(params.get("logger"), str) else ""
    return level if isinstance(level, str) else "message", logger + _plain(data)


def _plain(value: Any) -> str:
    """Return strings unchanged, and objects as their message followed by the other members."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and isinstance(value.get("message"), str):
        others = {name: one for name, one in value.items() if name != "message"}
        return str(value["message"]) + (f"  {compact(others, 2_000)}" if others else "")
    return compact(value, 8_000)


class ServerEntries(EntryList, inherit_bindings=False):
    """The traffic of one server, with the keys of the workbench."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *LinePane.BINDINGS[:-1],  # without the last: enter is a key of the workbench
        *bench_list_bindings(),
    ]


class ServerTraffic(Vertical):
    """The entries of one server."""

    DEFAULT_CSS = """
    ServerTraffic { height: 1fr; }
    ServerTraffic ServerEntries { height: 1fr; background: $surface; }
    """

    def __init__(self, recording: Recording, server: str, *, id: str) -> None:
        super().__init__(id=id)
        self.query_text = f"server:{written(server)}"
        self._view = View(recording.entries, parse(self.query_text))
        self.list = ServerEntries(recording, empty=(_("No traffic with this server yet."),))
        self._headings = Headings(self.list.heading)

    def compose(self) -> ComposeResult:
        yield self._headings
        yield self.list

    def on_mount(self) -> None:
        self.list.show(self._view)

    def look(self) -> None:
        """Show new entries; cheap if there are none."""
        self.list.tick()
        self._headings.look()
        self.list.previews.look()

    async def on_unmount(self) -> None:
        self._view.close()
        await self.list.close()
