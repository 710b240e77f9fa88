"""What the linter says about a recorded response, without which a case would fail at once. Blocks."""

from contextlib import closing

from tui.core.traffic import Direction, Severity, TrafficReader
from tui.traffic.record.open_recording import whole_entry

AROUND = 2_000
"""Entries before the response to look at: what the session agreed on, and the list of tools."""

PAGE = 1_000
MOST_BYTES = 1024 * 1024
"""Maximum bytes of a message to lint."""


def findings_between(reader: TrafficReader, first: int, end: int) -> tuple[str, ...]:
    """Return the codes of warnings and errors about what a server sent from its request to its response.

    `first` and `end` are the seq of those. Loads the models of the SDK.
    """
    from tui.host.schemas.judge import ModelJudge
    from tui.traffic.lint.lint import Linter

    asked = reader.entry(first, 0)
    if asked is None:
        return ()
    found: dict[str, None] = {}
    with closing(ModelJudge()) as judge:
        linter = Linter(judge)
        place = max(0, end - AROUND - 1)
        while place < end and (page := reader.columns(place, min(PAGE, end - place))):
            place = page[-1].seq
            for entry in page:
                if entry.seq > end:
                    break
                is_ours = entry.source == asked.source
                whole = whole_entry(reader, entry.seq, MOST_BYTES) if is_ours else None
                said = linter.feed(whole or entry)
                if is_ours and entry.seq > first and entry.direction is Direction.IN:
                    found |= dict.fromkeys(one.code for one in said if one.severity > Severity.HINT)
    return tuple(sorted(found))
