"""Edits a JSON object before it is sent: the params of a request, or a message."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea

from tui.core.background import Tasks
from tui.core.errors import reason_of
from tui.core.jsonrpc.reader import loads
from tui.core.language.translate import _, localized
from tui.core.text import clean_line
from tui.ui.dialogs.dialog import Dialog
from tui.ui.keys.action_table import SEND_KEYS
from tui.ui.platform.key_order import actions_of
from tui.ui.widgets.bar import Notice
from tui.ui.widgets.inputs import JsonArea
from tui.ui.widgets.rows import Row

SETTLE_SECONDS = 0.2
"""How long typing must pause before the arguments are validated with the tool's schema."""

TOKEN = "progressToken"
OURS = "io.modelcontextprotocol/"
"""Members of `_meta` that are new in each request: progress token, sender, revision."""


class EditRequest(Dialog[Mapping[str, Any] | None]):
    """Returns the object to send, or None. `title` says what is edited and why, `note` where it is from.

    `check` returns a problem of the object, such as with the tool's schema, or "".
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(SEND_KEYS, "submit", "send", priority=True),
    ]

    TAKES = frozenset({"servers.toggle"})
    """Actions of the app whose keys mean something else in this dialog."""

    DEFAULT_CSS = """
    EditRequest Notice { background: $panel; margin-top: 1; }
    EditRequest.-short Notice { margin-top: 0; }
    """

    def __init__(
        self,
        title: Row,
        note: str,
        value: Mapping[str, Any],
        check: Callable[[Mapping[str, Any]], Awaitable[str]],
        verb: str = "send",
    ) -> None:
        self._check = check
        self._tasks = Tasks()
        self._status = Notice()
        keys = actions_of(self.BINDINGS).items()
        self._area = JsonArea({key: f"screen.{action}" for key, action in keys})
        self._area.load_text(self.text_of(value))
        line = self.key_line(send=verb, close=_("cancel"))
        super().__init__(title, self._area, self._status, keys=line, right=((note, "dim"),))

    def text_of(self, value: Mapping[str, Any]) -> str:
        """Return the text to edit."""
        text = json.dumps(value, ensure_ascii=False, indent=2)
        if text.replace("\n", "").isprintable():
            return text
        # Invisible characters as escapes.
        return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)

    @property
    def text(self) -> str:
        return self._area.text

    def read(self) -> dict[str, Any] | str:
        """Return the object in the edited text, or its problem and the place."""
        return parsed(self.text)

    def typed(self) -> str:
        return self.text

    def fit_now(self) -> None:
        self._area.styles.max_height = self.room_for(self._area)

    def on_mount(self) -> None:
        # Immediately: in a burst, the next key is for the editor.
        self.set_focus(self._area, scroll_visible=False)
        self._area.move_cursor(self._area.document.end)
        self._validate()

    async def on_unmount(self) -> None:
        await self._tasks.cancel()

    async def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        await self._tasks.cancel()
        self._validate()

    def _validate(self) -> None:
        found = self.read()
        if isinstance(found, str):
            self._status.show(((f"✗ {clean_line(found, 200)}", "bad"),))
            return
        self._status.show(((_("✓ ready to send"), "ok"),))
        self._tasks.start(self._check_later(found), "check params")

    async def _check_later(self, params: Mapping[str, Any]) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        if problem := await self._check(params):
            self._status.show(
                ((f"! {clean_line(problem, 300)}", "warn"),), ((_("you can still send it"), "dim"),)
            )

    def action_submit(self) -> None:
        found = self.read()
        if isinstance(found, str):
            self._status.show(((f"✗ {clean_line(found, 200)}", "bad"),), ((_("cannot be sent yet"), "warn"),))
        elif self.is_current:
            self.dismiss(found)


def shown(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return params without the members that are new in each request, which cannot be edited."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return dict(params)
    theirs = {key: value for key, value in meta.items() if key != TOKEN and not key.startswith(OURS)}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return rest | {"_meta": theirs} if theirs else rest


def edited(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return edited params with the progress token of the original, if it had one."""
    was, meta = before.get("_meta"), after.get("_meta", {})
    if not isinstance(was, dict) or TOKEN not in was or not isinstance(meta, dict):
        return dict(after)
    return {**after, "_meta": {**meta, TOKEN: was[TOKEN]}}


def parsed(text: str) -> dict[str, Any] | str:
    """Return the object in a text, or its problem and the place."""
    if not text.strip():
        return {}
    try:
        found = loads(text)
    except (ValueError, RecursionError) as error:
        return _("not JSON: {reason}", reason=localized(reason_of(error)))
    return found if isinstance(found, dict) else _("it must be an object: { … }")
