"""Paints only lines that changed.

Textual's compositor asks every widget between the topmost and the lowest changed line for all of its lines,
and writes each changed line whether it looks different or not. If a status line and a list change together,
that is the whole screen (measured with Textual 8.2.8: half of the cost of a key in a list, two thirds of the
cost of a streamed reply). `MCPTUI_WHOLE_FRAMES` turns this off.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import textual.screen
from rich.console import Console
from textual._compositor import Compositor, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

Span = tuple[int, int, int]
"""A line, and the start and the end (exclusive) of its changed columns."""

Line = dict[int, Strip | None]
"""The painted pieces of a line, by their first column."""


def install() -> None:
    """Use this compositor for every screen that is created from now on."""
    if os.environ.get("MCPTUI_WHOLE_FRAMES", "") in ("", "0"):
        setattr(textual.screen, "Compositor", LineCompositor)  # noqa: B010


class LineCompositor(Compositor):
    """A compositor that renders only dirty lines, and remembers what the terminal shows in them."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[tuple[int, int], str] = {}
        self._shown_cuts: object = None

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        self._shown.clear()
        return super().render_full_update(simplify)

    def render_partial_update(self) -> "LinesUpdate | None":  # type: ignore[override]
        """Return the update for the dirty regions, None if there are none."""
        regions = self._dirty_regions.copy()
        self._dirty_regions.clear()
        if not regions:
            return None
        cuts = self.cuts
        if cuts is not self._shown_cuts:  # widgets have moved, so the written pieces started elsewhere
            self._shown.clear()
            self._shown_cuts = cuts
        spans = list(self._regions_to_spans(regions))
        return LinesUpdate(self._lines(spans), spans, cuts, self._shown)

    def _lines(self, spans: Sequence[Span]) -> Mapping[int, Line]:
        cuts = self.cuts
        lines: dict[int, Line] = {}
        wanted: dict[int, set[int]] = {}  # starts of the pieces to paint that are not covered yet
        for y, left, right in spans:
            starts = cuts[y]
            lines.setdefault(y, dict.fromkeys(starts[:-1]))
            wanted.setdefault(y, set()).update(
                start for start, end in pairwise(starts) if start < right and end > left
            )
        first, last = min(wanted), max(wanted)
        for widget, (region, clip) in self.visible_widgets.items():  # front to back
            shown = region.intersection(clip)
            if shown.y > last or shown.bottom <= first:
                continue
            left, right = shown.column_span
            rows = [
                y
                for y in range(max(first, shown.y), min(last + 1, shown.bottom))
                if y in wanted and any(left <= start < right for start in wanted[y])
            ]
            for y, strip in _rendered(widget, region, shown, rows):
                line, missing = lines[y], wanted[y]
                starts = [cut for cut in cuts[y] if left <= cut <= right]
                for start, part in zip(
                    starts, strip.divide([cut - left for cut in starts[1:]]), strict=False
                ):
                    if line.get(start) is None:
                        line[start] = part
                    missing.discard(start)
        return lines


def _rendered(
    widget: Widget, region: Region, shown: Region, rows: Sequence[int]
) -> Iterator[tuple[int, Strip]]:
    """Yield these rows of a widget, rendering adjacent rows together."""
    at = 0
    while at < len(rows):
        end = at + 1
        while end < len(rows) and rows[end] == rows[end - 1] + 1:
            end += 1
        crop = Region(shown.x - region.x, rows[at] - region.y, shown.width, end - at)
        yield from zip(rows[at:end], widget.render_lines(crop), strict=False)
        at = end


class LinesUpdate(CompositorUpdate):
    """Lines to write, without the parts that the terminal already shows."""

    def __init__(
        self,
        lines: Mapping[int, Line],
        spans: Sequence[Span],
        cuts: Sequence[Sequence[int]],
        shown: dict[tuple[int, int], str],
    ) -> None:
        self._lines = lines
        self._spans = spans
        self._cuts = cuts
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """Return the text to write, and assume from now on that the terminal shows it."""
        written: list[str] = []
        shown = self._shown
        for y, left, right in self._spans:
            line, cuts = self._lines[y], self._cuts[y]
            for start, end in pairwise(cuts):
                strip = line[start]
                if strip is None or start >= right or end <= left:
                    continue
                if start >= left and end <= right:
                    text = strip.render(console)
                    if shown.get((y, start)) == text:
                        continue
                    shown[y, start] = text
                else:
                    shown.pop((y, start), None)
                    text = strip.crop(0, min(end, right) - start).render(console)
                written.append(f"\x1b[{y + 1};{start + 1}H{text}")
        return "".join(written)
