"""The tools that were offered, found by the names that models write."""

import re
from collections.abc import Sequence

from tui.core.ports import ToolSpec
from tui.core.schemas.tool_names import fold

_PLAIN = re.compile(r"[\w.\-/]{1,128}")
_PREFIXES = ("functions.", "default_api.", "tools.")


class Offered:
    """A set of tools and every way to write their names."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.tools = tuple(tools)
        self._exact: dict[str, ToolSpec] = {tool.name: tool for tool in tools}
        self._pairs = {(fold(tool.server), fold(tool.tool)): tool for tool in tools if tool.tool}
        self._loose: dict[str, list[ToolSpec]] = {}
        for tool in tools:
            names = {tool.name, tool.tool or tool.name}
            names |= {f"{tool.server}{mark}{tool.tool}" for mark in ("/", ".", "__", ":") if tool.server}
            for name in {fold(name) for name in names}:
                self._loose.setdefault(name, []).append(tool)

    def find(self, name: str, server: str = "") -> ToolSpec | None:
        """Return the one tool that is meant, or None; never a guess between two."""
        name, server = name.strip().strip("`\"'"), server.strip().strip("`\"'")
        if server:
            pair = self._pairs.get((fold(server), fold(name)))
            if pair is not None:
                return pair
            joined = f"{server}__{name}"
            return self._found(joined) or (found if (found := self._exact.get(name)) else None)
        if (found := self._found(name)) is not None:
            return found
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                return self._found(name.removeprefix(prefix))
        return None

    def _found(self, name: str) -> ToolSpec | None:
        if name in self._exact:
            return self._exact[name]
        same = self._loose.get(fold(name), [])
        return same[0] if len(same) == 1 else None

    def named(self, name: str) -> ToolSpec | None:
        """Return the tool with exactly this qualified name."""
        return self._exact.get(name)


def apart(tool: ToolSpec) -> tuple[str, str]:
    """Return server and tool as a model is told of them: the qualified name alone if theirs are odd.

    A tool's own name is the server's to choose, and stands in the system text.
    """
    if _PLAIN.fullmatch(tool.server) and _PLAIN.fullmatch(tool.tool):
        return tool.server, tool.tool
    return "", tool.name
