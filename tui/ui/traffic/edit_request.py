"""A request of the recording, edited before it is sent again: its params as raw JSON."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import TextArea

from tui.core.text import clean_line
from tui.ui.traffic.resend import Again, parsed, shown, written
from tui.ui.widgets.bar import Bar, spread
from tui.ui.widgets.rows import Row

SETTLE_SECONDS = 0.2
"""So long the person does not type before the arguments are held against the tool's schema."""

SEND = frozenset({"ctrl+s", "ctrl+enter", "ctrl+j", "f9"})

_KEYS = (("ctrl+s", "send"), ("esc", "leave it"))


class _Params(TextArea):
    """Acts on the keys of the dialog itself, in the order in which they were pressed: they come in bursts."""

    BINDINGS: ClassVar[list[BindingType]] = []

    class Done(Message):
        """The person wants to send it, or to leave it."""

        def __init__(self, send: bool, text: str) -> None:
            super().__init__()
            self.send = send
            self.text = text

    async def _on_key(self, event: events.Key) -> None:
        if event.key in SEND or event.key == "escape":
            event.stop()
            event.prevent_default()
            self.post_message(self.Done(event.key in SEND, self.text))
        else:
            await super()._on_key(event)


class _Line(Bar):
    parts: tuple[Row, Row] = ((), ())

    def show(self, left: Row, right: Row = ()) -> None:
        if (left, right) != self.parts:
            self.parts = (left, right)
            self.refresh()

    def row(self, width: int) -> Row:
        return spread(self.parts[0], self.parts[1], width)


class EditRequest(ModalScreen[Mapping[str, Any] | None]):
    """Gives the params as they are to be sent, or None.

    Args:
        request: what it was.
        check: tells what is wrong with params by the tool's schema, or "".
    """

    TAKES = frozenset({"servers_toggle"})
    """Actions of the app whose keys mean something of this dialog's own here."""

    DEFAULT_CSS = """
    EditRequest { align: center middle; background: $surface 60%; }
    EditRequest > Vertical {
        width: 92%; max-width: 132; height: auto; max-height: 92%; padding: 1 2;
        background: $panel; border-left: outer $accent;
    }
    EditRequest Bar { background: $panel; }
    EditRequest TextArea {
        height: auto; min-height: 6; max-height: 70vh; margin: 1 0;
        border: none; padding: 0; background: $surface;
    }
    """

    def __init__(
        self, request: Again, check: Callable[[Mapping[str, Any]], Awaitable[str]] | None = None
    ) -> None:
        super().__init__()
        self._check = check
        self._checking: asyncio.Task[None] | None = None
        self._title, self._said, self._keys = _Line(), _Line(), _Line()
        self._title.parts = (
            (("EDIT AND SEND AGAIN  ", "accent bold"), (request.label, "text")),
            ((f"from entry {request.seq}", "dim"),),
        )
        keys = tuple(part for key, words in _KEYS for part in ((key, "accent"), (f" {words}   ", "dim")))
        self._keys.parts = (keys, ())
        self._area = _Params(
            written(shown(request.params)), compact=True, show_line_numbers=True, tab_behavior="focus"
        )
        self._area.set_reactive(TextArea.cursor_blink, False)

    def compose(self) -> ComposeResult:
        """Build title, editor, what is wrong, and keys."""
        with Vertical():
            yield self._title
            yield self._area
            yield self._said
            yield self._keys

    def on_mount(self) -> None:
        """Take keys at once: in a burst the next one is for the editor."""
        self.set_focus(self._area, scroll_visible=False)
        self._area.move_cursor(self._area.document.end)
        self._judge()

    async def on_unmount(self) -> None:
        """Stop checking."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.wait({self._checking})

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Say what is wrong while the person types."""
        event.stop()
        self._judge()

    def _judge(self) -> None:
        found = parsed(self._area.text)
        if self._checking is not None:
            self._checking.cancel()
        if isinstance(found, str):
            self._said.show(((f"✗ {clean_line(found, 200)}", "bad"),))
            return
        self._said.show((("✓ ready to be sent", "ok"),))
        if self._check is not None:
            self._checking = asyncio.create_task(self._hold(self._check, found), name="check params")

    async def _hold(self, check: Callable[[Mapping[str, Any]], Awaitable[str]], params: Any) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        if problem := await check(params):
            said = clean_line(problem, 300)
            self._said.show(((f"! {said}", "warn"),), (("it can be sent all the same", "dim"),))

    def on__params_done(self, event: _Params.Done) -> None:
        """Give the params, if they can be sent; leave them."""
        event.stop()
        if not self.is_current:
            return
        found = parsed(event.text) if event.send else None
        if isinstance(found, str):
            self._said.show(((f"✗ {clean_line(found, 200)}", "bad"),), (("it cannot be sent yet", "warn"),))
        else:
            self.dismiss(found)
