"""A recording as a screen shows it: its entries, its bodies, and what the user adds to it."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tui.core.traffic import Cause, TrafficReader
from tui.traffic.record.entry_columns import EntryColumns


@dataclass(slots=True)
class Recording:
    """A recording: its columns, its bodies, and what the user adds to it.

    Attributes:
        open_reader: opens a reader of the bodies. Called in the thread that will use it; may block.
        title: its name ("this run", the name of a file), cleaned.
        live: whether it is still being written; False once its writer has ended.
        ended_ns: wall clock of the last entry of a finished recording, from which `since:5m` counts; 0 for
            now.
        notes: the user's notes by seq; the screen changes it and calls `keep_note`.
        redact: removes secrets from a note before it is shown or kept.
        keep_filter: stores a filter under a name; "" removes it. Called in a thread; may block, and raise
            McptuiError.
        revision: the protocol revision of a source, or "" if unknown.
        judged: returns the seq up to which the linter has judged the entries, at least.
        go_to_turn: shows the turn that caused an entry; None without a conversation.
        urls: addresses of HTTP sources, for copying a request as curl.
    """

    entries: EntryColumns
    open_reader: Callable[[], TrafficReader]
    title: str = "this run"
    live: bool = True
    ended_ns: int = 0
    problem: Callable[[], str] = lambda: ""
    notes: dict[int, str] = field(default_factory=dict)
    keep_mark: Callable[[int, bool], None] = lambda seq, marked: None
    keep_note: Callable[[int, str], None] = lambda seq, text: None
    redact: Callable[[str], str] = lambda text: text
    filters: dict[str, str] = field(default_factory=dict)
    keep_filter: Callable[[str, str], None] = lambda name, text: None
    revision: Callable[[str], str] = lambda source: ""
    judged: Callable[[], int] = lambda: sys.maxsize
    go_to_turn: Callable[[Cause], None] | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
