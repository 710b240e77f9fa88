"""A scroll bar that is only drawn again when it changes.

Textual redraws a bar, line by line, whenever its pane grows (measured with 8.2.8: a sixth of the cost of a
streamed reply), although a thumb over thousands of rows hardly moves.
"""

from rich.color import Color
from rich.segment import Segment
from textual.geometry import Region
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from tui.ui.platform.strips import ControlFilter, RowStrip

DEFAULT = Color.default()


class LineScrollBar(ScrollBar):
    """A vertical scroll bar that caches its lines until one of them changes."""

    def __init__(self, thickness: int) -> None:
        super().__init__(vertical=True, name="vertical", thickness=thickness)
        self._lines: list[Strip] = []
        self._segments: list[Segment] = []

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return lines of the bar; those of Textual if it has effects or an unknown renderer."""
        bar = self.render()
        if not isinstance(bar, ScrollBarRender) or self.opacity != 1.0:
            return super().render_lines(crop)
        style = self.app.console.get_style(bar.style)
        segments = bar.render_bar(
            size=self.size.height,
            virtual_size=bar.virtual_size,
            window_size=bar.window_size,
            position=bar.position,
            thickness=self.size.width,
            back_color=style.bgcolor or DEFAULT,
            bar_color=style.color or DEFAULT,
        ).segments
        if segments != self._segments:
            under = self.visual_style.rich_style
            strips = {id(one): RowStrip(Segment.apply_style([one], under)) for one in segments}
            self._segments = list(segments)
            self._lines = [strips[id(segment)] for segment in segments]
        lines = self._lines[crop.y : crop.bottom]
        for found in self.get_line_filters():
            if not isinstance(found, ControlFilter):
                background = self.background_colors[1]
                lines = [line.apply_filter(found, background) for line in lines]
        return lines if crop.width == self.size.width else [line.crop(*crop.column_span) for line in lines]


def add_scroll_bar(pane: Widget) -> None:
    """Give a pane without a bar this one, hidden.

    Without Textual's private names, the pane creates its own.
    """
    if getattr(pane, "_vertical_scrollbar", pane) is not None:
        return
    if (start := getattr(pane.app, "_start_widget", None)) is not None:
        pane._vertical_scrollbar = bar = LineScrollBar(pane.scrollbar_size_vertical)
        bar.display = False
        start(pane, bar)
