"""Working with one server by hand: the values between host and workbench, and remembered calls.

Everything from a server is raw here; clean it before showing it. Secrets are not remembered: neither values
with the name of a secret, nor texts that contain a known or configured secret.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tui.core.forms.spec import Path
from tui.core.language.translate import message
from tui.core.secrets.secret_names import names_a_secret_argument
from tui.core.secrets.walk import OMITTED, changed
from tui.core.tools import CallFailure, Content
from tui.core.units import clock, whole

if TYPE_CHECKING:  # not needed for the first frame
    from tui.core.hidden_text.scan import HiddenText
    from tui.core.jsonrpc.extensions import ExtensionUse


@dataclass(frozen=True, slots=True)
class CacheHint:
    """How long a list or a resource stays fresh, according to the server.

    Attributes:
        ttl_ms: milliseconds from `asked_ns` on; None if it does not say.
        scope: "public", "private" or "".
        asked_ns: monotonic nanoseconds when it was requested.
    """

    ttl_ms: int | None
    scope: str
    asked_ns: int

    @classmethod
    def of(cls, raw: Mapping[str, Any], asked_ns: int) -> "CacheHint":
        """Return the hint in a raw result; malformed fields count as missing."""
        scope = raw.get("cacheScope")
        return cls(whole(raw.get("ttlMs")), scope if scope in ("public", "private") else "", asked_ns)

    def words(self, now_ns: int) -> str:
        """Return "fresh for 4 m 59 s (public)", "stale" or "not cacheable"; "" without a hint."""
        if self.ttl_ms is None:
            return ""
        left = self.ttl_ms / 1000 - (now_ns - self.asked_ns) / 1e9
        fresh = message("fresh for {time}", time=clock(left)) if left > 0 else message("stale")
        said = fresh if self.ttl_ms else message("not cacheable")
        return message("{said} ({scope})", said=said, scope=self.scope) if self.scope else said


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """A running server's information about itself, and the resources that its process uses.

    Attributes:
        capabilities: as the server declares them, a JSON object.
        versions: the protocol versions that it names in `server/discover`.
        environment: names of the variables that the configuration adds; never values.
        pids: its process tree, the leader first.
        memory: resident bytes of the process tree; None if unknown.
        hints: caching hints of its lists, by kind: tools, resources, prompts; and of its "discovery".
        extensions: what becomes of those that it or mcptui declares.
    """

    name: str = ""
    title: str = ""
    version: str = ""
    protocol: str = ""
    versions: tuple[str, ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    instructions: str = ""
    environment: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    memory: int | None = None
    cpu_seconds: float | None = None
    hints: Mapping[str, CacheHint] = field(default_factory=dict)
    extensions: "tuple[ExtensionUse, ...]" = ()


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
    hidden: "tuple[HiddenText, ...]" = ()


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
    hidden: "tuple[HiddenText, ...]" = ()

    @property
    def schema(self) -> dict[str, Any]:
        texts = {one.name: {"type": "string", "description": one.description} for one in self.arguments}
        required = [one.name for one in self.arguments if one.required]
        return {"type": "object", "properties": texts, "required": required, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt."""

    role: Literal["user", "assistant"]
    content: Content


@dataclass(frozen=True, slots=True)
class PromptResult:
    """The result of a prompt; `problem` says why there is none, or is ""; `lost`: its server ended first.

    `raw` is the server's own answer, None if there was none.
    """

    description: str = ""
    messages: tuple[PromptMessage, ...] = ()
    problem: str = ""
    lost: bool = False
    raw: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Completions:
    """Values that a server suggests for an argument, raw; `more`: there are further ones."""

    values: tuple[str, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class ResourceSubscription:
    """A subscribed resource: the number of updates, and `problem` if the server rejected it."""

    updates: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """The answer to a raw request: a result, an error object (both raw), or the problem, one sentence.

    `failure` says why there is no response.
    """

    result: Any = None
    error: Mapping[str, Any] | None = None
    problem: str = ""
    failure: CallFailure = CallFailure.NONE

    @property
    def lost(self) -> bool:
        """Whether the server ended first."""
        return self.failure is CallFailure.SERVER_DIED

    @property
    def late(self) -> bool:
        """Whether the time was up."""
        return self.failure is CallFailure.TIMEOUT


LONGEST_NAME = 32
MAX_LAST = 300
"""Maximum tools, resources and prompts whose last values are remembered; the least recently used are dropped
first."""
MAX_SAVED = 500
MAX_ARGUMENTS = 64 * 1024
"""Maximum characters of the arguments of one remembered call, as JSON."""
MAX_DEPTH = 64

_NAME = re.compile(r"[^\W_][\w -]*")


class CallKind(StrEnum):
    """The kind of thing that is called."""

    TOOL = "tool"
    RESOURCE = "resource"
    PROMPT = "prompt"
    REQUEST = "request"


class CallKey(NamedTuple):
    """Something that can be called by hand: a tool, a resource, a prompt, or a raw request by its method."""

    server: str
    kind: CallKind
    name: str


@dataclass(frozen=True, slots=True)
class SavedCall:
    """Saved arguments of a tool, a resource or a prompt.

    With `kept`, their result is kept too: then they are in a test file, and are deleted there.
    """

    name: str
    arguments: Any
    kept: bool = False


@dataclass(frozen=True, slots=True)
class CallMemory:
    """Remembered calls, newest last; immutable: each change returns another one."""

    last: Mapping[CallKey, Any] = field(default_factory=dict)
    saved: Mapping[CallKey, Mapping[str, Any]] = field(default_factory=dict)

    def called(self, key: CallKey, arguments: Any) -> "CallMemory":
        """Return this with the last values of `key`, from `arguments_to_keep`; unchanged if too large."""
        if not _is_small_enough(arguments):
            return self
        others = {known: value for known, value in self.last.items() if known != key}
        kept = dict(list(others.items())[-(MAX_LAST - 1) :])
        return CallMemory({**kept, key: arguments}, self.saved)

    def with_saved(self, key: CallKey, name: str, arguments: Any) -> "CallMemory":
        """Return this with a saved call, replacing one of that name; arguments are from `arguments_to_keep`.

        Raises ValueError with a sentence if it cannot be saved.
        """
        if complaint := name_complaint(name):
            raise ValueError(complaint)
        if not _is_small_enough(arguments):
            raise ValueError(f"The arguments of a saved call are limited to {MAX_ARGUMENTS // 1024} KiB.")
        mine = self.saved.get(key, {})
        if name not in mine and sum(map(len, self.saved.values())) >= MAX_SAVED:
            raise ValueError(f"The limit of {MAX_SAVED} saved calls is reached. Delete one first.")
        return CallMemory(self.last, {**self.saved, key: {**mine, name: arguments}})

    def without_saved(self, key: CallKey, name: str) -> "CallMemory":
        rest = {known: value for known, value in self.saved.get(key, {}).items() if known != name}
        saved = {known: value for known, value in {**self.saved, key: rest}.items() if value}
        return CallMemory(self.last, saved)


def name_complaint(name: str) -> str:
    """Return why a name cannot be used for a saved call, or ""."""
    if not name:
        return "A name is required."
    if len(name) > LONGEST_NAME:
        return f"The name is limited to {LONGEST_NAME} characters."
    if not _NAME.fullmatch(name) or name.endswith(" "):
        return "Use letters, digits, spaces, - and _, and start with a letter or digit."
    return ""


def arguments_to_keep(
    arguments: Any,
    redact: Callable[[str], str],
    *,
    hidden: Collection[Path] = (),
    instead: Callable[[Path], Any] = lambda path: OMITTED,
) -> Any:
    """Return a JSON value without anything that is or looks like a secret.

    `hidden` are secret paths of the form (`FieldSpec.secret`). A text that `redact` changes is a secret.
    `instead` returns what replaces the value at a path; by default, it is omitted.
    """

    def kept(path: Path, value: Any) -> Any:
        if path in hidden or len(path) > MAX_DEPTH:
            return instead(path)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            is_named = any(names_a_secret_argument(str(part)) for part in path)
            if is_named or (isinstance(value, str) and redact(value) != value):
                return instead(path)
        return value

    whole = changed(arguments, kept)
    return {} if whole is OMITTED else whole


def _is_small_enough(arguments: Any) -> bool:
    try:
        return len(json.dumps(arguments, ensure_ascii=False)) <= MAX_ARGUMENTS
    except (TypeError, ValueError, RecursionError):
        return False
