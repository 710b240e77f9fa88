"""Edits the params of a request as JSON before it is sent again."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import TextArea

from tui.core.text import clean_line
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.traffic.resend_request import ResendRequest, params_text, parsed, shown
from tui.ui.widgets.bar import SplitBar, key_hints
from tui.ui.widgets.text_area import JsonArea

SETTLE_SECONDS = 0.2
"""How long typing must pause before the arguments are validated with the tool's schema."""

_KEYS = (("ctrl+s", "send"), ("esc", "cancel"))


class EditRequest(ModalScreen[Mapping[str, Any] | None]):
    """Returns the params to send, or None; `check` returns how params violate the tool's schema."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(SEND_KEYS, "send", "send", priority=True),
        Binding("escape", "back", "cancel", priority=True),
    ]

    TAKES = frozenset({"servers.toggle"})
    """Actions of the app whose keys mean something else in this dialog."""

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
        self, request: ResendRequest, check: Callable[[Mapping[str, Any]], Awaitable[str]] | None = None
    ) -> None:
        super().__init__()
        self._check = check
        self._checking: asyncio.Task[None] | None = None
        self._title = SplitBar(
            (("EDIT AND RESEND  ", "text bold"), (request.label, "text")),
            ((f"from entry {request.seq}", "dim"),),
        )
        self._status, self._keys = SplitBar(), SplitBar(key_hints(_KEYS))
        self._area = JsonArea(dict.fromkeys(SEND_KEYS.split(","), "screen.send") | {"escape": "screen.back"})
        self._area.load_text(params_text(shown(request.params)))

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._title
            yield self._area
            yield self._status
            yield self._keys

    def on_mount(self) -> None:
        # Immediately: in a burst, the next key is for the editor.
        self.set_focus(self._area, scroll_visible=False)
        self._area.move_cursor(self._area.document.end)
        self._validate()

    async def on_unmount(self) -> None:
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.wait({self._checking})

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._validate()

    def _validate(self) -> None:
        found = parsed(self._area.text)
        if self._checking is not None:
            self._checking.cancel()
        if isinstance(found, str):
            self._status.show(((f"✗ {clean_line(found, 200)}", "bad"),))
            return
        self._status.show((("✓ ready to send", "ok"),))
        if self._check is not None:
            self._checking = asyncio.create_task(self._check_later(self._check, found), name="check params")

    async def _check_later(self, check: Callable[[Mapping[str, Any]], Awaitable[str]], params: Any) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        if problem := await check(params):
            self._status.show(
                ((f"! {clean_line(problem, 300)}", "warn"),), (("you can still send it", "dim"),)
            )

    def action_send(self) -> None:
        found = parsed(self._area.text)
        if isinstance(found, str):
            self._status.show(((f"✗ {clean_line(found, 200)}", "bad"),), (("cannot be sent yet", "warn"),))
        elif self.is_current:
            self.dismiss(found)

    def action_back(self) -> None:
        if self.is_current:
            self.dismiss(None)
