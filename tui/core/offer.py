"""What a model is offered: the tools of the running servers under names it accepts. Pure."""

from collections.abc import Sequence

from tui.core.ports import ToolSpec
from tui.core.schemas import SchemaTooLarge, model_schema
from tui.core.text import clean_line
from tui.core.tool_names import NameTable
from tui.core.tools import Tool

MAX_TOOLS = 128
"""What OpenAI takes in one request; more is answered with 400 "array too long"."""
MAX_DESCRIPTION = 1024


class Offer:
    """The tools of one step, their names and how a model reads them.

    Attributes:
        table: resolves the names that a model writes.
        specs: what is sent to the model.
        notice: one sentence if tools were left out, or "".
    """

    def __init__(
        self, tools: Sequence[Tool], known: dict[tuple[str, str, str], ToolSpec] | None = None
    ) -> None:
        self._tools = tuple(tools)
        self._known = known if known is not None else {}
        self.table = NameTable(tools)
        specs: list[ToolSpec] = []
        too_large = 0
        for name, tool in self.table.items():
            if len(specs) == MAX_TOOLS:
                break
            try:
                specs.append(self._spec(name, tool))
            except SchemaTooLarge:
                too_large += 1
        self.specs = tuple(specs)
        self.notice = self._left_out(len(self._tools) - len(specs) - too_large, too_large)

    def __len__(self) -> int:
        return len(self.specs)

    def renewed(self, tools: Sequence[Tool]) -> "Offer":
        """Return the offer of `tools`: this one if nothing changed, else one that reuses what it can."""
        return self if tuple(tools) == self._tools else Offer(tools, self._known)

    def _spec(self, name: str, tool: Tool) -> ToolSpec:
        key = (name, tool.server, tool.digest)
        if key not in self._known:
            self._known[key] = ToolSpec(
                name=name,
                description=clean_line(tool.description or tool.title or tool.name, MAX_DESCRIPTION),
                schema=model_schema(tool.schema),
                server=tool.server,
                tool=tool.name,
            )
        return self._known[key]

    @staticmethod
    def _left_out(over: int, too_large: int) -> str:
        parts: list[str] = []
        if over > 0:
            parts.append(f"{over} tools were not offered to the model: it takes {MAX_TOOLS}. Stop a server.")
        if too_large:
            parts.append(f"{too_large} tools were not offered to the model: their schemas are too large.")
        return " ".join(parts)
