"""What a person does with one server by hand: the values and the port between the host and the workbench.

Everything that a server wrote is raw here; whoever shows it cleans it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from tui.core.tools import Content, ProgressSink, Tool, ToolResult


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """What a running server says of itself, and what its process costs.

    Attributes:
        name, title, version: as it says.
        protocol: the revision in force.
        capabilities: as it says, a JSON object.
        instructions: what it would have models know.
        command: argv as configured.
        environment: names of the variables that the configuration adds; never values.
        pids: its process tree, the leader first.
        memory: resident bytes of the process tree; None where it cannot be told.
        cpu_seconds: of the process tree so far; None where it cannot be told.
    """

    name: str = ""
    title: str = ""
    version: str = ""
    protocol: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    memory: int | None = None
    cpu_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """A resource that a server lists; with `template` its `uri` has variables in braces (RFC 6570)."""

    server: str
    uri: str
    name: str = ""
    title: str = ""
    description: str = ""
    mime: str = ""
    size: int | None = None
    template: bool = False


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt; its value is text."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class PromptInfo:
    """A prompt that a server lists."""

    server: str
    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message that a prompt gives."""

    role: Literal["user", "assistant"]
    content: Content


@dataclass(frozen=True, slots=True)
class PromptResult:
    """What a prompt gives; `problem` says why it gives nothing, or is ""; `lost`: its server ended first."""

    description: str = ""
    messages: tuple[PromptMessage, ...] = ()
    problem: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """What came of a request that was sent as it is: exactly one of the three is there.

    Attributes:
        result: the answer's result, a JSON value, raw; None without one.
        error: the answer's JSON-RPC error object, raw; None without one.
        problem: why there is no answer, one sentence; "" if there is one.
        lost: there is none because the server ended first.
    """

    result: Any = None
    error: Mapping[str, Any] | None = None
    problem: str = ""
    lost: bool = False


class Workbench(Protocol):
    """Works with servers by hand. Failures are values with a sentence, never exceptions.

    `call` is the id by which the frames of a call are found again (`core.traffic.Cause(0, 0, call)`); it
    begins with "hand-". Cancelling a task cancels its request on the wire.
    """

    async def identity(self, server: str) -> ServerIdentity:
        """Return what can be told of a server now; of one that is stopped what is configured."""
        ...

    def tools(self, server: str) -> Sequence[Tool]:
        """Return the tools of a running server."""
        ...

    def output_schema(self, tool: Tool) -> Mapping[str, Any] | None:
        """Return the schema that structured results of a tool promise, or None."""
        ...

    async def check(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Return what is wrong with arguments against the tool's schema, or ""."""
        ...

    async def resources(self, server: str) -> tuple[Sequence[ResourceInfo], str]:
        """List resources and templates, page by page with caps; return them and a problem, or ""."""
        ...

    async def prompts(self, server: str) -> tuple[Sequence[PromptInfo], str]:
        """List prompts, page by page with caps; return them and a problem, or ""."""
        ...

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], *, call: str, seconds: float, progress: ProgressSink
    ) -> ToolResult:
        """Call a tool."""
        ...

    async def read_resource(self, server: str, uri: str, *, call: str, seconds: float) -> ToolResult:
        """Read a resource; its contents are the result's."""
        ...

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str], *, call: str, seconds: float
    ) -> PromptResult:
        """Get a prompt."""
        ...

    async def request(
        self, server: str, method: str, params: Mapping[str, Any] | None, *, call: str, seconds: float
    ) -> RawAnswer:
        """Send any request, as it was recorded or as a person edited it.

        Only what belongs to one connection is made anew: the id, the progress token, and the `_meta` by which
        the protocol's revision in force says who sends.
        """
        ...
