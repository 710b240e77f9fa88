"""Painting at once, and a virtual size without a layout: Textual has no public way for either.

The private names are those of Textual 8.2.8.
"""

from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widget import Widget


def paint_now(screen: Screen[object], widgets: tuple[Widget, ...]) -> None:
    """Paint these widgets of the screen that need it, without waiting for Textual's timer of 1/60 s.

    Without the names that this takes from Textual, the widgets are painted when that timer comes.
    """
    update = getattr(screen, "_on_timer_update", None)
    dirty = getattr(screen, "_dirty_widgets", None)
    if update is None or dirty is None:
        return
    for widget in widgets:
        if getattr(widget, "_repaint_required", False):
            widget._repaint_required = False
            dirty.add(widget)
    update()


def set_virtual_size(view: ScrollView, size: Size) -> None:
    """Set a view's virtual size and tell its scroll bar, without a layout of the whole screen.

    Assigning `virtual_size` asks for one (measured: the cost of stock widgets while streaming). That is what
    happens, too, where Textual has no `_scroll_update`.
    """
    update = getattr(view, "_scroll_update", None)
    if update is None:
        view.virtual_size = size
        return
    view.set_reactive(Widget.virtual_size, size)
    update(size)
