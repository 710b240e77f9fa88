"""Tables and JSON that the commands print: sessions, decisions, recordings, statistics. Pure."""

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any

from tui.core.text import cells_of, padded


def table(rows: Sequence[Sequence[str]], left: Container[int]) -> str:
    """Return rows as aligned lines. Columns in `left` (from 0) are left-aligned, others right-aligned."""
    widths = [max(map(cells_of, column)) for column in zip(*rows, strict=True)]
    aligned = (
        "  ".join(padded(cell, widths[place], right=place not in left) for place, cell in enumerate(row))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in aligned)


def json_line(value: Mapping[str, Any]) -> str:
    """Return an object as one line of JSON, in ASCII: no text or narrow locale can break it."""
    return json.dumps(value, separators=(",", ":"), default=str)
