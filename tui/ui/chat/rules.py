"""Opens the rules screen: from the servers pane, the palette, or an approval."""

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tui.core.conversation.conversation import AssistantMessage
from tui.core.schemas.tool_names import NameTable
from tui.ui.chat.regions import Regions
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.core.ports import ApprovalRequest
    from tui.runtime.runtime import Runtime
    from tui.ui.chat.current_conversation import OpenDialog
    from tui.ui.lists.rules import TypedCall

MOST_RECENT = 20
"""Maximum calls of the conversation to try."""


class RulesOpening:
    """Opens the rules screen."""

    def __init__(self, runtime: "Runtime", regions: Regions, open_dialog: "OpenDialog") -> None:
        self._runtime = runtime
        self._regions = regions
        self._open_dialog = open_dialog

    def open(self, request: "ApprovalRequest | None" = None) -> None:
        """Open the screen. The call of an approval is tried at once."""
        from tui.runtime.rule_changes import RuleChanges
        from tui.ui.lists.rules import RulesScreen, TypedCall

        runtime = self._runtime
        if not runtime.is_ready:
            return
        screen = RulesScreen(
            RuleChanges(runtime.configuration, runtime.turn_context),
            self._regions.overrides,
            symbols_for(os.environ),
            confirm=self._confirm,
            call=TypedCall(request.tool.server, request.tool.name, request.arguments) if request else None,
            recent=self._recent(),
            problems=[one for one in runtime.problems if " approvals" in one],
        )
        self._open_dialog(screen, lambda _: None)

    def _confirm(self, question: str, about: str, decided: Callable[[bool | None], None]) -> None:
        from tui.ui.dialogs.confirm import Confirm

        self._regions.screen.app.push_screen(Confirm(question, yes="remove", no="keep", about=about), decided)

    def _recent(self) -> "Sequence[TypedCall]":
        """Return the distinct calls of the conversation, the latest first."""
        from tui.ui.lists.rules import TypedCall

        table = NameTable(self._runtime.turn_context.toolbox.tools())
        found: dict[str, TypedCall] = {}
        for message in reversed(self._runtime.conversations.messages):
            for call in reversed(message.calls) if isinstance(message, AssistantMessage) else ():
                tool = table.resolve(call.name)
                try:
                    arguments = json.loads(call.arguments or "{}")
                except (ValueError, RecursionError):
                    continue
                if tool is not None and isinstance(arguments, dict):
                    one = TypedCall(tool.server, tool.name, arguments)
                    found.setdefault(one.text, one)
            if len(found) >= MOST_RECENT:
                break
        return tuple(found.values())
