"""The context that the parts of a workbench share: its server and runtime, the calls, the keys in use."""

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.core.servers import ServerStatus
from tui.core.text import clean_line
from tui.core.tools import Tool
from tui.traffic.filter.nodes import written
from tui.ui.dialogs.confirm import change_trust
from tui.ui.widgets.server_rows import trust_words
from tui.ui.workbench.calls import BenchHistory, HandCall
from tui.ui.workbench.items import Item

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.core.context.context_parts import DefinitionTokens
    from tui.runtime.runtime import Runtime
    from tui.ui.keys.key_overrides import KeyOverrides
    from tui.ui.widgets.inputs import PromptLine
    from tui.ui.widgets.symbols import Symbols
    from tui.ui.workbench.message_draft import MessageDraft


@dataclass(frozen=True, slots=True, eq=False)
class BenchContext:
    """Data that the parts of a workbench share: its screen and server, the calls, the keys in use.

    `draft` is the message to the model.
    """

    screen: "Screen[Any]"
    runtime: "Runtime"
    server: str
    book: BenchHistory
    overrides: "KeyOverrides"
    signs: "Symbols"
    prompt: "PromptLine"
    draft: "MessageDraft"

    def choose(self, choice: Coroutine[Any, Any, str]) -> None:
        """Run an action that returns an error or "", and show the error."""

        async def choose() -> None:
            if problem := await choice:
                self.screen.notify(clean_line(problem, 400), severity="warning", markup=False)

        self.screen.run_worker(choose(), exit_on_error=True)

    def toggle_trust(self) -> None:
        status = self.status
        if status is None:
            return
        trusted = status.spec.trusted is True

        def change() -> None:
            self.choose(self.runtime.trust.toggle(self.server))
            words = trust_words(self.server, self.overrides.first_of("bench.trust"), trusted=not trusted)
            self.screen.notify(words, markup=False)

        change_trust(self.server, trusted=trusted, change=change, open_dialog=self.screen.app.push_screen)

    @property
    def status(self) -> ServerStatus | None:
        """The status of the server; None once it is no longer configured."""
        return next((status for status in self.runtime.host.statuses() if status.name == self.server), None)

    def called_tool(self, item: "Item | None") -> str:
        """Return the name of an item that is a tool and has been called in this run, or ""."""
        if item is None or not isinstance(item.about, Tool):
            return ""
        entries, name = self.runtime.recording.entries, item.about.name
        if name not in entries.tools.texts or self.server not in entries.sources.texts:
            return ""
        tool, source = entries.tools.texts.index(name), entries.sources.texts.index(self.server)
        pairs = zip(entries.tool[: len(entries)], entries.source[: len(entries)], strict=True)
        return name if (tool, source) in pairs else ""

    def traffic_filter(self, item: "Item | None", call: "HandCall | None") -> str:
        """Return the filter for the traffic of a call, of a called tool, or of the server, in this order."""
        if call is not None:
            return f"call:{call.id}"
        tool = self.called_tool(item)
        return f"server:{written(self.server)}" + (f" tool:{written(tool)}" if tool else "")

    def why_no_calls(self, item: "Item | None") -> str:
        """Return where to find the model's calls if there are none by hand, or ""."""
        key = self.overrides.first_of("bench.call_traffic")
        return f"No calls by hand yet. Press {key} for those of the model." if self.called_tool(item) else ""

    @property
    def tokens(self) -> "DefinitionTokens | None":
        """The tokens of the server in each model request; None if there are none."""
        return self.runtime.request.definition_tokens().get(self.server) if self.runtime.is_ready else None
