"""The tokens that each server takes in a request: its tool definitions and its instructions. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tui.core.context.context_meter import Calibration, estimate
from tui.core.context.server_instructions import instructions_text
from tui.core.context.tool_selection import NOT_LOADED, ToolSelection
from tui.core.schemas.tool_names import NameTable
from tui.core.tools import Tool
from tui.core.units import count, plural


@dataclass(frozen=True, slots=True)
class DefinitionTokens:
    """The tokens of one server: of each tool that the model may be offered, and of its instructions.

    Attributes:
        measured: scaled to the endpoint's counts, not only estimated.
        left_out: tokens that were not sent with the last request, because not all tools are offered.
    """

    tools: Mapping[str, int] = field(default_factory=dict)
    instructions: int = 0
    measured: bool = False
    left_out: int = 0

    @property
    def total(self) -> int:
        return sum(self.tools.values()) + self.instructions

    def words(self, tokens: int | None = None) -> str:
        """Return a number of tokens, or the total, as text: "214 tokens", "~1.2 k tokens" if estimated."""
        return token_words(self.total if tokens is None else tokens, self.measured)


def token_words(tokens: int, measured: bool) -> str:
    """Return a number of tokens as text, with "~" if it is estimated."""
    words = plural(tokens, "token") if tokens < 1000 else f"{count(tokens)} tokens"
    return words if measured else f"~{words}"


def definition_tokens(
    tools: Sequence[Tool],
    instructions: Mapping[str, str],
    calibration: Calibration,
    tool_selection: ToolSelection,
) -> Mapping[str, DefinitionTokens]:
    """Return the tokens by server; `instructions` are those that the model is given, by server."""
    by_server: dict[str, dict[str, int]] = {name: {} for name in instructions}
    for name, tool in NameTable(tools).items():
        tokens = calibration(tool_selection.made(name, tool).tokens)
        by_server.setdefault(tool.server, {})[tool.name] = tokens
    left = {key for key, mark in tool_selection.marks.items() if mark == NOT_LOADED}
    return {
        server: DefinitionTokens(
            found,
            calibration(estimate(instructions_text({server: instructions.get(server, "")}))),
            calibration.samples > 0,
            sum(tokens for name, tokens in found.items() if (server, name) in left),
        )
        for server, found in by_server.items()
    }
