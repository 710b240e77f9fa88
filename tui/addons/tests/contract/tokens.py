"""The tokens that the definitions of a server take in each request to a model, by tool. Pure.

Estimated as everywhere in mcptui, without a model, so that they are the same on every computer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.addons.tests.contract.listing import Kind, ServerListing
from tui.commands.streams import on_terminal, width
from tui.commands.table import table
from tui.core.context.context_meter import Calibration
from tui.core.context.context_parts import definition_tokens
from tui.core.context.tool_selection import ToolSelection
from tui.core.text import clean_line
from tui.host.catalog import Walk, build_catalog

INSTRUCTIONS = "(instructions)"
_SERVER = "server"
_HEAD = ("tokens", "change", "tool")
MAX_ROWS = 200


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The tokens of each tool and of the instructions, now and in the lock; `before` is None if unknown."""

    now: Mapping[str, int]
    before: Mapping[str, int] | None = None

    @property
    def total(self) -> int:
        return sum(self.now.values())

    @property
    def change(self) -> int | None:
        """How many more tokens than in the lock; None if that is unknown."""
        return None if self.before is None else self.total - sum(self.before.values())

    def lines(self) -> Sequence[str]:
        """Return the table as clean lines, the largest first: tokens, change, name."""
        names = sorted({*self.now, *(self.before or {})}, key=lambda name: (-self.now.get(name, 0), name))
        rows = [self._row(name) for name in names[:MAX_ROWS]]
        rows.append((f"{self.total:,}", f"{self.change:+,}" if self.change else "", "total"))
        return table(rows, (2,), width(), head=_HEAD if on_terminal() else ()).split("\n")

    def _row(self, name: str) -> tuple[str, str, str]:
        now, before = self.now.get(name), self.before or {}
        was, change = before.get(name), ""
        if now is None:
            change = "gone"
        elif self.before is not None and now != was:
            change = "new" if was is None else f"{now - was:+,}"
        return ("–" if now is None else f"{now:,}", change, clean_line(name, 80))


def tokens_of(listing: ServerListing) -> Mapping[str, int]:
    """Return the tokens of the definitions that a model gets, by the name of the tool."""
    items = [{"name": name, **one} for name, one in listing.entries(Kind.TOOL).items()]
    tools = build_catalog(_SERVER, Walk(items), trusted=False).tools
    told = {_SERVER: listing.instructions} if listing.instructions else {}
    found = definition_tokens(tools, told, Calibration(), ToolSelection()).get(_SERVER)
    if found is None:
        return {}
    return {**found.tools, **({INSTRUCTIONS: found.instructions} if found.instructions else {})}
