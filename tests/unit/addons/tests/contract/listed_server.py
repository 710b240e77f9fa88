"""A runtime with one server that lists what a test says."""

from types import SimpleNamespace
from typing import Any

from tui.core.workbench import ServerIdentity

TOOLS = [{"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}]


class ListedServer:
    """Stands for the workbench; `problem` is why the list of tools is incomplete."""

    def __init__(self, tools: list[Any], problem: str = "", **capabilities: Any) -> None:
        self.tools = tools
        self.problem = problem
        self.capabilities = {"tools": {}, **capabilities}

    async def identity(self, server: str) -> ServerIdentity:
        return ServerIdentity(
            capabilities=self.capabilities, instructions=f"Use {server}.", protocol="2025-11-25"
        )

    async def entries(self, server: str, kind: str) -> tuple[list[Any], str]:
        return (self.tools, self.problem) if kind == "tools" else ([], "")


def runtime(tools: list[Any] = TOOLS, problem: str = "", **capabilities: Any) -> Any:
    return SimpleNamespace(workbench=ListedServer(tools, problem, **capabilities))
