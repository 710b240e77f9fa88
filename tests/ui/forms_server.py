"""A server on the current SDK whose tools have the optional and nested arguments that Pydantic writes.

Appends the arguments of each call, as they arrived, to the file ARRIVED_FILE, one JSON object a line.
"""

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, ConfigDict, Field

ARRIVED = Path(os.environ["ARRIVED_FILE"])


def arrived(tool: str, arguments: dict[str, Any]) -> None:
    with ARRIVED.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")


class Recorder(MCPServer):
    async def call_tool(self, name: str, arguments: dict[str, Any], *rest: Any, **more: Any) -> Any:
        arrived(name, arguments)
        return await super().call_tool(name, arguments, *rest, **more)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Size(BaseModel):
    """The size of a thing."""

    width: int
    height: int | None = None


class Item(BaseModel):
    name: str
    count: int = Field(default=1, ge=1)
    colour: Colour | None = None
    size: Size | None = None
    tags: list[str] | None = None


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    path: str


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    barks: bool | None = None


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


class Node(BaseModel):
    label: str
    children: list["Node"] | None = None


server = Recorder("forms")


@server.tool()
def optional(
    tags: list[str] | None = None,
    counts: dict[str, int] | None = None,
    size: Size | None = None,
    strict: Strict | None = None,
    colour: Colour | None = None,
    mode: Literal["fast", "slow"] | None = None,
    note: str | None = None,
    limit: int | None = None,
    flag: bool | None = None,
    anything: Any | None = None,
) -> str:
    """Everything optional."""
    return "ok"


@server.tool()
def order(items: list[Item], by_name: dict[str, Item] | None = None, pet: Pet | None = None) -> str:
    """Lists and maps of models."""
    return "ok"


@server.tool()
def shapes(
    grid: list[list[int]] | None = None,
    point: tuple[int, str] | None = None,
    pairs: list[tuple[str, int]] | None = None,
    pets: list[Pet] | None = None,
    by_tag: dict[str, list[str]] | None = None,
    extras: dict[str, Any] | None = None,
    either: int | list[str] | None = None,
    tree: Node | None = None,
    preset: list[str] = ["a"],  # noqa: B006
    size: Size = Size(width=1),  # noqa: B008
) -> str:
    """Nested and mixed."""
    return "ok"


if __name__ == "__main__":
    server.run()
