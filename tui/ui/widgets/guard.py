"""The last gate before the terminal: no control character leaves inside a segment of text.

Textual passes escape sequences in any text straight to the terminal (measured on 8.2.8: OSC 52, OSC 0,
`ESC[?1049l`, C1, NUL in every widget). Text is cleaned on its way in; this is for what was forgotten.
"""

import re

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


class ControlFilter(LineFilter):
    """Drops every C0 and C1 control from a painted line. They count as no cells, so widths stay right."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without controls; the same list where there are none."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [
            Segment(_CONTROLS.sub("", text), style, control) if not text.isprintable() else segment
            for segment in segments
            for text, style, control in (segment,)
        ]
