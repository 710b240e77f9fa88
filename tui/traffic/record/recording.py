"""Recording: the traffic as a screen needs it, live or from a file. Values and callbacks only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tui.core.traffic import Cause, TrafficReader
from tui.traffic.record.entry_columns import EntryColumns


def _nothing() -> str:
    return ""


def _forget_mark(seq: int, marked: bool) -> None:
    """Keep nothing: the mark lives as long as the columns."""


def _forget_text(key: object, text: str) -> None:
    """Keep nothing."""


def _unknown(source: str) -> str:
    return ""


@dataclass(slots=True)
class Recording:
    """A recording: its columns, its bodies, and what a person adds to it.

    Attributes:
        frames: the columns; they grow while the recording is live.
        open_reader: opens the bodies. Called in the thread that will use the reader; may take time.
        title: whose traffic it is ("this session", the name of a file), cleaned.
        live: more may come.
        ended_ns: wall clock of the last entry of what is over, from which `since:5m` counts; 0 for now.
        problem: why nothing is stored any more, or "".
        notes: notes of the person by seq; the screen changes it and calls `keep_note`.
        keep_mark: stores a mark, given a seq.
        keep_note: stores a note, given a seq; "" takes it away.
        filters: saved filters by name; the screen changes it and calls `keep_filter`.
        keep_filter: stores a filter, given its name; "" takes it away. Called in a thread; may block, and
            raise McptuiError.
        revision: the revision of the protocol that a source talks, as far as it is known, or "".
        go_to_turn: shows the turn that caused an entry; None where there is no conversation.
        urls: of sources that are reached over HTTP, for copying a request as curl.
    """

    frames: EntryColumns
    open_reader: Callable[[], TrafficReader]
    title: str = "this session"
    live: bool = True
    ended_ns: int = 0
    problem: Callable[[], str] = _nothing
    notes: dict[int, str] = field(default_factory=dict)
    keep_mark: Callable[[int, bool], None] = _forget_mark
    keep_note: Callable[[int, str], None] = _forget_text
    filters: dict[str, str] = field(default_factory=dict)
    keep_filter: Callable[[str, str], None] = _forget_text
    revision: Callable[[str], str] = _unknown
    go_to_turn: Callable[[Cause], None] | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
