"""A finished request with its response, from a recording: what a kept call is made of. Values only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tui.addons.tests.suite.case import Request
from tui.core.jsonrpc.classification import is_tool_error
from tui.core.servers import Reference


class StartsIn(Enum):
    """Why a server started in a folder."""

    CURRENT = "current"
    CHOSEN = "chosen"
    ITS_OWN = "its own"


@dataclass(frozen=True, slots=True)
class Launched:
    """How the server of a recording was started, or reached: its command, or its `url`.

    Secrets in `command`, `url` and `headers` are masked. `cwd` is absolute; "" if it is unknown. `env` are
    names. `headers` are those that were added to requests. `references` are texts with `${NAME}` by place, as
    in `ServerSpec`. `is_unconfigured`: the command line had its command or URL.
    """

    command: tuple[str, ...] = ()
    cwd: str = ""
    env: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: str = ""
    era: str = ""
    references: Mapping[str, Reference] = field(default_factory=dict)
    starts_in: StartsIn = StartsIn.CURRENT
    is_unconfigured: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """A finished request with its response. Texts of the server are raw, without secrets.

    Attributes:
        server: its name in the recording, without "tap:".
        tapped: whether another host called it, and `mcptui tap` recorded that.
        result: the raw result, None for a JSON-RPC error, which is `error`.
        ms: milliseconds from the request to the response, without the time in which the user was asked.
        answers: what the user answered meanwhile, as in a test file.
        at: when it was sent, in seconds since the epoch; 0 if unknown.
        others: the results of other recorded requests that are equal to this one, raw, the nearest first.
        other_ms: how long those took.
        secrets: names of the secrets in the request, for which the recording has only marks.
        hints: annotations of the tool, as the server listed them in the recording.
        launched: how the server was started, None if the recording does not say.
        seq: of its first request in the recording.
        call: the id by which its messages are found, or "".
        findings: codes of what the linter says about the response, without hints.
    """

    server: str
    request: Request
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    ms: float = 0.0
    answers: Mapping[str, Any] = field(default_factory=dict)
    at: float = 0.0
    others: Sequence[Mapping[str, Any]] = ()
    other_ms: tuple[float, ...] = ()
    secrets: tuple[str, ...] = ()
    hints: Mapping[str, Any] = field(default_factory=dict)
    launched: Launched | None = None
    seq: int = 0
    call: str = ""
    tapped: bool = False
    findings: tuple[str, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether it failed: isError, or a JSON-RPC error."""
        return self.result is None or is_tool_error(self.result)
