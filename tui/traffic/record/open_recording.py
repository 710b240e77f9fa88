"""A recording as a screen shows it: its entries, its bodies, and what the user adds to it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from tui.core.traffic import TrafficReader
from tui.traffic.record.entry_columns import EntryColumns


@dataclass(slots=True)
class Annotations:
    """The user's notes by seq and saved filters by name, which the screen changes, and how they are kept.

    Attributes:
        keep_note: stores the mark or the note of an entry, or both; None keeps it.
        redact: removes secrets from a note before it is shown or kept.
        keep_filter: stores a filter under a name; "" removes it. Called in a thread; may block, and raise
            McptuiError.
    """

    notes: dict[int, str] = field(default_factory=dict)
    filters: dict[str, str] = field(default_factory=dict)
    keep_note: Callable[[int, bool | None, str | None], None] = lambda seq, marked, text: None
    redact: Callable[[str], str] = lambda text: text
    keep_filter: Callable[[str, str], None] = lambda name, text: None


@dataclass(frozen=True, slots=True)
class Linting:
    """What the linter knows of a recording.

    Attributes:
        judged: returns the seq up to which the entries have been judged, at least.
        revision: returns the protocol revision of a source, or "" if unknown.
    """

    judged: Callable[[], int] = lambda: sys.maxsize
    revision: Callable[[str], str] = lambda source: ""


@dataclass(slots=True)
class Recording:
    """A recording: its columns, its bodies, and what the user adds to it.

    Attributes:
        open_reader: opens a reader of the bodies. Called in the thread that will use it; may block.
        title: its name ("this run", the name of a file), cleaned.
        live: whether it is still being written; False once its writer has ended.
        ended_ns: wall clock of the last entry of a finished recording, from which `since:5m` counts; 0 for
            now.
        problem: returns why a part of it is missing, or "".
    """

    entries: EntryColumns
    open_reader: Callable[[], TrafficReader]
    title: str = "this run"
    live: bool = True
    ended_ns: int = 0
    problem: Callable[[], str] = lambda: ""
    annotations: Annotations = field(default_factory=Annotations)
    linting: Linting = field(default_factory=Linting)
