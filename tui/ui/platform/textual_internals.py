"""Functions without a public API in Textual. The private names are those of 8.2.8; without them all works."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import textual.message_pump
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import App
from textual.cache import FIFOCache
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import OptionList
from textual.widgets._toast import ToastHolder


def paint_now(screen: Screen[object], widgets: tuple[Widget, ...]) -> None:
    """Paint those of these widgets that need it, without waiting for Textual's timer of 1/60 s.

    If Textual lacks the private names, the widgets are painted at the next timer.
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


def paint_first(widget: Widget) -> None:
    """Paint a changed widget at once, before all other changes.

    Pending layouts and widgets that are being mounted are not painted with it. If more messages wait for the
    app, such as keys of a burst, or if Textual lacks the private names, it is painted with the others.
    """
    app, screen = widget.app, widget.screen
    dirty = getattr(screen, "_dirty_widgets", None)
    compositor = getattr(screen, "_compositor", None)
    refresh = getattr(screen, "_compositor_refresh", None)
    batches = getattr(app, "_batch_count", None)
    if dirty is None or compositor is None or refresh is None or batches is None:
        return
    if app.message_queue_size or screen is not app.screen or not getattr(widget, "_repaint_required", False):
        return
    if widget not in compositor.visible_widgets:
        return
    widget._repaint_required = False
    others = dirty - {widget}
    compositor.update_widgets({widget})
    setattr(app, "_batch_count", 0)  # noqa: B010 - a batch holds back all painting
    try:
        refresh()
    finally:
        setattr(app, "_batch_count", batches)  # noqa: B010
        dirty.update(others)


class LateTimer(Timer):
    """A one-shot timer that may fire late, but never fails to fire.

    Textual's timer skips a tick that it is too late for. If the process loses the processor just when the
    timer starts, for the interval (8 ms for a resize), it would never fire. Later sizes would not arrive
    either, since Textual waits for that timer before it sets another one.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        if options.get("repeat", None) == 0:
            options["skip"] = False
        super().__init__(*args, **options)


def keep_late_timers() -> None:
    """Make every timer created from now on a `LateTimer`."""
    setattr(textual.message_pump, "Timer", LateTimer)  # noqa: B010


_wrap: Callable[..., Any] | None = getattr(Content, "_wrap_and_format", None)
_move_page: Callable[[OptionList, Any], None] | None = getattr(OptionList, "_move_page", None)
_refresh_layout: Callable[..., None] | None = getattr(Screen, "_refresh_layout", None)


def work_at_every_size() -> None:
    """Make text, lists and screens work in a terminal of any size, after one of any other size.

    Textual raises a `ValueError` for text in a widget without room for any, as in a terminal of four columns,
    and a `KeyError` for page up and page down in a list without lines, as in one of a column. Both end the
    app. And a screen keeps an arrangement while its container has the same size, also one with parts of the
    window (`70vh`): the list of the palette stayed one row high after a window of one row had grown. And it
    paints what changed: if a terminal shrinks and grows at once, nothing has, but its cells are lost.
    """

    def wrap(content: Content, width: int, *args: Any, **options: Any) -> Any:
        least = 2 * options.get("line_pad", 0) + 1
        return _wrap(content, max(width, least), *args, **options) if _wrap is not None else []

    def move_page(options: OptionList, direction: Any) -> None:
        if _move_page is not None and options.scrollable_content_region:
            _move_page(options, direction)

    def arrange(screen: Screen[Any], size: Size | None = None, scroll: bool = False) -> None:
        if size is not None:
            for widget in screen.walk_children(with_self=True):
                getattr(widget, "_clear_arrangement_cache", bool)()
            dirty: set[Any] = getattr(getattr(screen, "_compositor", None), "_dirty_regions", set())
            dirty.add(size.region)
        if _refresh_layout is not None:
            _refresh_layout(screen, size, scroll)

    for kind, name, old, new in (
        (Content, "_wrap_and_format", _wrap, wrap),
        (OptionList, "_move_page", _move_page, move_page),
        (Screen, "_refresh_layout", _refresh_layout, arrange),
    ):
        if old is not None and getattr(kind, name, None) is old:
            setattr(kind, name, new)


def set_virtual_size(view: ScrollView, size: Size) -> None:
    """Set a view's virtual size and tell its scroll bar, without a layout of the whole screen.

    Assigning `virtual_size` requests one (measured: the cost of stock widgets while streaming). This function
    does the same if Textual has no `_scroll_update`.
    """
    update = getattr(view, "_scroll_update", None)
    if update is None:
        view.virtual_size = size
        return
    view.set_reactive(Widget.virtual_size, size)
    update(size)


def has_note(app: App[Any], message: str, title: str) -> bool:
    """Return whether a notification with exactly this text is shown."""
    notes = getattr(app, "_notifications", ())
    return any((note.message, note.title) == (message, title) for note in notes)


def drop_notes(app: App[Any]) -> None:
    """Remove the notifications from all screens, with their lines.

    Textual's `clear_notifications` leaves an empty line for each.
    """
    app.clear_notifications()
    for screen in app.screen_stack:
        screen.query(ToastHolder).remove()


def suspend_job(app: App[Any]) -> bool:
    """Suspend the app as ctrl+z does in a shell; return whether that is possible here."""
    suspend = getattr(getattr(app, "_driver", None), "suspend_job", None)
    return suspend is not None and suspend() is True


def report_crash(app: App[Any], report: Callable[[BaseException], None]) -> None:
    """Report an unhandled exception, instead of Textual's report, which contains local variables.

    A version of Textual without `_fatal_error` never calls this, and prints its own.
    """

    def fatal_error() -> None:
        error = getattr(app, "_exception", None) or sys.exc_info()[1]
        report(error or RuntimeError("unknown error"))
        close_at_once(app)

    setattr(app, "_fatal_error", fatal_error)  # noqa: B010


def crash(app: App[Any], error: Exception) -> None:
    """End the app with an error that was raised outside of Textual's tasks."""

    def fail() -> None:
        raise error

    if (handle := getattr(app, "_handle_exception", None)) is not None:
        handle(error)
    else:  # a callback that raises also ends the app, once it is called
        app.call_later(fail)


def close_at_once(app: App[Any]) -> None:
    """End the app without waiting for the messages in its queue."""
    if (close := getattr(app, "_close_messages_no_wait", None)) is not None:
        close()
    else:
        app.exit(return_code=1)


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")


_ABSENT = object()
_EMPTY = Strip(())
_INITIAL_VALUES = {name: getattr(_EMPTY, name) for name in Strip.__slots__ if hasattr(_EMPTY, name)}
"""Initial values of the attributes of a strip."""


def _init_empty(strip: Strip, segments: Iterable[Segment], cell_length: int | None = None) -> None:
    strip._segments = list(segments)
    strip._cell_length = cell_length


def _initial_value(strip: Strip, name: str) -> Any:
    """Return the initial value of a strip's attribute when it is first used."""
    value = _INITIAL_VALUES.get(name, _ABSENT)
    if value is _ABSENT:
        raise AttributeError(name, name=name, obj=strip)
    if isinstance(value, FIFOCache):
        value = FIFOCache(value._maxsize)
    setattr(strip, name, value)
    return value


def create_caches_on_use() -> None:
    """Make every Textual strip create each of its seven caches on first use, if this version is known.

    It uses one or two (measured with Textual 8.2.8: 14 ms of opening or closing a screen).
    """
    code = Strip.__init__.__code__
    own = (value for name, value in _INITIAL_VALUES.items() if name != "_segments")
    is_known = code.co_varnames[1 : code.co_argcount] == ("segments", "cell_length")
    if is_known and all(value is None or isinstance(value, FIFOCache) for value in own):
        setattr(Strip, "__init__", _init_empty)  # noqa: B010
        setattr(Strip, "__getattr__", _initial_value)  # noqa: B010


def row_of(segments: Iterable[Segment], width: int, under: Style) -> Strip:
    """Return a strip of `width` cells, filled with the style `under`."""
    row = list(segments)
    cells = sum([len(text) if text.isascii() else cell_len(text) for text, _, _ in row])
    if cells > width:
        return Strip(row, cells).crop(0, width)
    if cells < width:
        row.append(Segment(" " * (width - cells), under))
    return Strip(row, width)


def padded(strip: Strip, left: int, width: int, under: Style) -> Strip:
    """Return a strip of `width` cells, shifted right by `left` cells."""
    if not left and strip.cell_length == width:
        return strip
    return row_of([Segment(" " * left, under), *strip] if left else strip, width, under)


class ControlFilter(LineFilter):
    """The last filter before the terminal: drops every C0 and C1 control from a painted line.

    Textual passes escape sequences in any text straight to the terminal (measured on 8.2.8: OSC 52, OSC 0,
    `ESC[?1049l`, C1, NUL in every widget). Text is cleaned on its way in; this catches what was missed.
    Controls take no cells, so widths stay right.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without controls; the same list if there are none."""
        if all(text.isprintable() for text, _, _ in segments):
            return segments
        return [
            Segment(_CONTROLS.sub("", text), style, control) if not text.isprintable() else segment
            for segment in segments
            for text, style, control in (segment,)
        ]


def kept_in_selection(screen: Screen[object], event: events.MouseMove) -> events.MouseMove:
    """Return a move that selects text, moved into the widget where the selection began.

    Otherwise a drag that leaves a pane selects all of it, and of the panes next to it.
    """
    state = getattr(screen, "_select_state", None) if getattr(screen, "_selecting", False) else None
    widget: Widget | None = getattr(getattr(state, "start", None), "content_widget", None)
    inside = widget.scrollable_content_region if widget is not None and widget.is_attached else Region()
    if not inside:
        return event
    x = max(inside.x, min(event.x, inside.right - 1))
    y = max(inside.y, min(event.y, inside.bottom - 1))
    if (x, y) == (event.x, event.y):
        return event
    return events.MouseMove(
        event.widget,
        x,
        y,
        event.delta_x,
        event.delta_y,
        event.button,
        event.shift,
        event.meta,
        event.ctrl,
        x,
        y,
        event.style,
    )


class Titled(Protocol):
    """A terminal whose title can be set, and which can call the user."""

    def show_title(self, text: str) -> None: ...

    def call(self, sequence: str) -> None: ...


def terminal_of(app: App[Any]) -> Titled | None:
    """Return the app's terminal, None if it is no terminal of ours (tests, Windows)."""
    driver = getattr(app, "_driver", None)
    return driver if hasattr(driver, "show_title") else None
