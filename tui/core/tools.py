"""Tools and their results: values that pass between servers, loop and front ends."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from glob import escape
from typing import TYPE_CHECKING, Any, Literal

from tui.core.language.translate import N_

if TYPE_CHECKING:  # not needed for the first frame
    from tui.core.hidden_text.scan import HiddenText


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a running server.

    Attributes:
        name: the tool's own name on that server, raw, as it is sent.
        title: cleaned, as is `description`, or "".
        schema: the tool's own input schema, unchanged.
        read_only: a hint of the server, which has no effect unless the server is `trusted`; so are
            `destructive` (None if not set) and `idempotent`.
        digest: hash of what the model reads (name, title, description, schemas, annotations), the key of
            approvals.
        pinned: always offered, even if the model accepts fewer tools than there are.
        has_icon: the server names an icon. It is never fetched.
        app_view: URI of the resource that shows its results as an app, raw; "" for none.
        withheld: why the model is not offered this tool, regardless of the configuration; or "".
        is_unaccepted: it is withheld because its definition is not accepted.
        hidden: findings of hidden text and of instructions to the model in its definition.
    """

    server: str
    name: str
    title: str = ""
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    read_only: bool = False
    destructive: bool | None = None
    idempotent: bool = False
    trusted: bool = False
    digest: str = ""
    pinned: bool = False
    has_icon: bool = False
    app_view: str = ""
    withheld: str = ""
    is_unaccepted: bool = False
    hidden: "tuple[HiddenText, ...]" = ()


def is_off(name: str, patterns: Sequence[str]) -> bool:
    """Return whether one of the patterns turns a tool off for the model."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def switched(patterns: Sequence[str], name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns of tools that are off with `name` turned off, or on if it was off.

    `names` are all tools of the server. A pattern that also turns off other tools is replaced by their names.
    """
    if not is_off(name, patterns):
        return (*patterns, escape(name))
    matching = [pattern for pattern in patterns if fnmatchcase(name, pattern)]
    others = [escape(other) for other in names if other != name and is_off(other, matching)]
    return tuple(dict.fromkeys([*(one for one in patterns if one not in matching), *others]))


@dataclass(frozen=True, slots=True)
class Annotations:
    """A server's annotations of an item of content.

    Attributes:
        audience: "user", "assistant"; both if empty.
        priority: from 1 for the most important to 0; None if not set.
    """

    audience: tuple[str, ...] = ()
    priority: float | None = None

    @property
    def for_model(self) -> bool:
        return not self.audience or "assistant" in self.audience


PLAIN = Annotations()


@dataclass(frozen=True, slots=True)
class TextContent:
    """Text in a tool result, raw."""

    text: str
    annotations: Annotations = PLAIN


@dataclass(frozen=True, slots=True)
class BinaryContent:
    """An image, audio or blob in a tool result. `data` is base64 text, `size` the decoded bytes."""

    kind: Literal["image", "audio", "blob"]
    mime: str
    size: int
    data: str = field(repr=False, default="")
    uri: str = ""
    annotations: Annotations = PLAIN


@dataclass(frozen=True, slots=True)
class LinkContent:
    """A resource link in a tool result."""

    uri: str
    name: str = ""
    description: str = ""
    annotations: Annotations = PLAIN


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """An embedded text resource in a tool result."""

    uri: str
    mime: str
    text: str
    annotations: Annotations = PLAIN


Content = TextContent | BinaryContent | LinkContent | ResourceContent


class CallFailure(StrEnum):
    """Why a call has no result from its server."""

    NONE = ""
    TIMEOUT = N_("timeout")
    SERVER_DIED = "server died"
    PROTOCOL = N_("protocol error")
    TOO_LARGE = N_("result too large")
    NOT_RUNNING = "server not running"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call, content raw. `is_error`: the tool says that it failed, or the call failed.

    `as_is`: it may contain secrets of its server, which the model may get; redact it before showing it.
    `warning` is for the user and the model ("does not match outputSchema: …"), or "". `raw` is the server's
    own answer, None if there was none.
    """

    content: tuple[Content, ...] = ()
    structured: Any = None
    is_error: bool = False
    failure: CallFailure = CallFailure.NONE
    warning: str = ""
    raw: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    as_is: bool = False

    @classmethod
    def failed(cls, text: str, failure: CallFailure = CallFailure.NONE) -> "ToolResult":
        """Return the result of a call that failed, with the reason as its only content."""
        return cls((TextContent(text),), is_error=True, failure=failure)


ProgressSink = Callable[[float | None, float | None, str], None]
"""Called with progress and total (None if unknown) and the server's message, raw. Must not raise."""

Heard = Callable[[str, Mapping[str, Any]], None]
"""Takes method and params of each notification of a stream, raw and in order. Must not raise or wait."""
