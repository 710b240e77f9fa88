"""The values of a suite: its server, cases and turn cases, each with the line of the file that it starts at.

Texts are as written, with placeholders and `${NAME}`. Nothing here is filled in. Also what its
requests are in MCP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

ENDING = ".mcp.toml"


class RequestKind(StrEnum):
    """What a case requests; the value is its key in the file."""

    TOOL = "tool"
    READ = "read"
    PROMPT = "prompt"
    LIST = "list"


class Lose(StrEnum):
    """What is lost of a request before it is sent again."""

    ANSWER = "answer"
    CONNECTION = "connection"


class Unset:
    """The type of `UNSET`."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset()
"""An expectation that is not in the file; null is one that is."""


@dataclass(frozen=True, slots=True)
class Request:
    """A tool call, a read of a URI, a prompt, or a list (tools, resources, templates, prompts) by `name`."""

    kind: RequestKind
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a response must be. What is `UNSET` or None is not compared.

    Attributes:
        text: the texts of the result, joined by line breaks, with placeholders.
        result: structured content (lists and prompts: the whole result), objects may have more members.
        content: the items of the result that are not plain text, as objects: `type`, `mime`, `size`,
            `sha256`, `uri`, `name`, `text`.
        error: the result must be an error: isError, or a JSON-RPC error, whose text is its message.
        within_ms: reported if it takes longer, and fails with --strict-time.
        findings: codes of findings of the linter that are accepted.
    """

    text: str | None = None
    result: Any = UNSET
    content: Sequence[Mapping[str, Any]] | None = None
    error: bool = False
    within_ms: float | None = None
    findings: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is expected: a call that was saved without its result."""
        return (
            self.text is None
            and self.result is UNSET
            and self.content is None
            and not self.error
            and self.within_ms is None
            and not self.findings
        )


@dataclass(frozen=True, slots=True)
class Case:
    """One expectation with its request.

    Attributes:
        line: of its `[[call]]`, from 1; for one of `then`, of its case.
        lose: what is lost before the request is sent again; None for nothing.
        save: JSON path in the structured content (or JSON text) of the result, by the name of a value.
        then: cases that follow directly, and fail this one.
        answers: what is answered to requests of the server meanwhile, as in the file.
        timeout_ms: after which its request is cancelled; None for that of the server.
        fresh: runs in a process of its own.
        skip: why it is not run, or "".
    """

    name: str
    line: int
    request: Request
    expected: Expectation = field(default_factory=Expectation)
    lose: Lose | None = None
    save: Mapping[str, str] = field(default_factory=dict)
    then: tuple["Case", ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    timeout_ms: float | None = None
    fresh: bool = False
    tags: tuple[str, ...] = ()
    skip: str = ""

    @property
    def expects_nothing(self) -> bool:
        """Whether neither it nor its `then` expects or saves anything: it is only run to be recorded."""
        return self.expected.is_empty and not self.save and all(one.expects_nothing for one in self.then)


@dataclass(frozen=True, slots=True)
class TurnCase:
    """A question, with the calls that are expected of a model.

    Attributes:
        calls: in order, other calls may come between; each "TOOL name=value name~part …".
        never: patterns of tools that must not be called.
        answer: texts that the answer must contain, with placeholders.
        cost: the most that one run may cost, in the currency of the profile; None for any.
        passing: the share of runs that must pass, 0 to 1 (`pass` in the file).
        models: names of profiles; empty for the model that is active.
    """

    question: str
    line: int
    name: str = ""
    calls: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    max_steps: int | None = None
    cost: float | None = None
    runs: int = 1
    passing: float = 1.0
    models: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    skip: str = ""

    @property
    def title(self) -> str:
        return self.name or self.question

    @property
    def expects_nothing(self) -> bool:
        limits = (self.max_steps, self.cost)
        return not (self.calls or self.never or self.answer) and limits == (None, None)


@dataclass(frozen=True, slots=True)
class SuiteServer:
    """The server of a suite: a configured `name`, or a `command` with arguments, or a `url`.

    `cwd` is relative to the folder of the file; "" is that folder. `timeout_ms` is that of cases without one.
    `lines` has those of keys ("env.A").
    """

    name: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    transport: str = ""
    era: str = ""
    timeout_ms: float | None = None
    line: int = 1
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Contract:
    """`[contract]`: the lock file, relative to the folder of the file, and which verdicts fail.

    `tokens` is the most that the definitions may cost together; None for any. `strength` is "full" or
    "shape".
    """

    lock: str
    fail: tuple[str, ...] = ("breaking", "suspicious")
    tokens: int | None = None
    strength: str = "full"
    line: int = 1


@dataclass(frozen=True, slots=True)
class Suite:
    """A `*.mcp.toml` file. `server` is None if the command line has to name it."""

    path: Path
    server: SuiteServer | None = None
    cases: tuple[Case, ...] = ()
    turns: tuple[TurnCase, ...] = ()
    contract: Contract | None = None
    warnings: tuple[str, ...] = ()

    def seconds(self, case: Case | None = None) -> float | None:
        """Return the most to wait for a response, None for the limit of the configuration."""
        found = None if case is None else case.timeout_ms
        if found is None and self.server is not None:
            found = self.server.timeout_ms
        return None if found is None else found / 1000


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list: its method, the `member` of its result that has the items, and the `key` that names an item."""

    method: str
    member: str
    key: str

    @property
    def capability(self) -> str:
        """The capability of a server that has it."""
        return self.method.partition("/")[0]


LISTS: Mapping[str, ListOf] = {
    "tools": ListOf("tools/list", "tools", "name"),
    "resources": ListOf("resources/list", "resources", "uri"),
    "templates": ListOf("resources/templates/list", "resourceTemplates", "uriTemplate"),
    "prompts": ListOf("prompts/list", "prompts", "name"),
}
"""The lists, by their names in a test file."""

METHODS: Mapping[str, RequestKind] = {
    "tools/call": RequestKind.TOOL,
    "resources/read": RequestKind.READ,
    "prompts/get": RequestKind.PROMPT,
    **dict.fromkeys([one.method for one in LISTS.values()], RequestKind.LIST),
}
"""The requests that a case can have, by method."""


def as_sent(request: Request) -> tuple[str, Mapping[str, Any]]:
    """Return method and params of a request, as a host sends them: a tool call asks for progress."""
    name, arguments = request.name, dict(request.arguments)
    match request.kind:
        case RequestKind.TOOL:
            return "tools/call", {"name": name, "arguments": arguments, "_meta": {"progressToken": 0}}
        case RequestKind.READ:
            return "resources/read", {"uri": name}
        case RequestKind.PROMPT:
            return "prompts/get", {"name": name, **({"arguments": arguments} if arguments else {})}
        case RequestKind.LIST:
            return LISTS[name].method, {}
