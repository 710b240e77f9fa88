"""Shows results of servers in full, and puts them into the message."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.core.conversation.conversation import Attachment, ToolMessage
from tui.ui.chat.composer.token_area import Reference
from tui.ui.chat.regions import Regions
from tui.ui.chat.transcript.blocks import result_of
from tui.ui.keys.action_table import Context

if TYPE_CHECKING:
    from tui.core.tools import LinkContent, ToolResult
    from tui.runtime.runtime import Runtime
    from tui.ui.chat.transcript.tool_call_cards import Card
    from tui.ui.results.message_draft import ResultSource


class ResultActions:
    """Shows results, and is the `MessageDraft` into which other screens put them."""

    def __init__(self, runtime: "Runtime", regions: Regions) -> None:
        self._runtime = runtime
        self._regions = regions
        self._app = regions.screen.app

    def open_result(self) -> None:
        """Show the complete result of the selected call, or of the last one."""
        from tui.ui.results.result_screen import ResultScreen

        transcript = self._regions.conversation
        call = transcript.selected_call
        card = transcript.cards.get(call)
        result = self._result(call, card) if card is not None else None
        if card is None or result is None:
            self._regions.notify("No results yet.", timeout=3)
            return
        screen = ResultScreen(card.name, result, self._regions.overrides, self._source(card.server))
        self._regions.open_dialog(screen, None)

    def _result(self, call: str, card: "Card") -> "ToolResult | None":
        if card.gave is not None:
            return card.gave
        conversations = self._runtime.conversations
        for message in reversed(conversations.messages):
            if isinstance(message, ToolMessage) and message.call_id == call:
                return result_of(message, conversations.result(message.kept) if message.kept else "")
        return None

    def open_link(self, server: str, link: "LinkContent") -> None:
        """Show the resource of a link in the result of a call."""
        from tui.ui.results.result_screen import read_link

        if self._runtime.is_ready:
            read_link(self._app, self._source(server), link, self._regions.overrides)

    def _source(self, server: str) -> "ResultSource":
        from tui.ui.results.message_draft import ResultSource

        return ResultSource(server, self._runtime.workbench, self)

    def put_into_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        composer = self._regions.composer
        before = composer.text.rstrip("\n")
        composer.show("")
        composer.put_foreign(text, *map(Reference.to_known, attachments))
        if before.strip():
            composer.show(f"{before}\n\n{composer.text}")
        self._regions.go_to(Context.COMPOSER)

    def send_message(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        self._regions.composer.send_foreign(text, *map(Reference.to_known, attachments))
        self._regions.go_to(Context.COMPOSER)

    def attach_resource(self, server: str, uri: str) -> None:
        self._regions.composer.attach(Reference.to_resource(server, uri))

    def attach(self, attachments: Sequence[Attachment]) -> None:
        self._regions.composer.attach(*map(Reference.to_known, attachments))
