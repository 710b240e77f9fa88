"""The methods of MCP in all its revisions: who may send them, their purpose, their specification pages.

Source: the specification's pages and schemas of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and
2026-07-28. Pure data; a test compares it with the tables of the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tui.core.traffic import Direction

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
"""Every released revision, oldest first."""

MODERN = "2026-07-28"
"""The first revision without a handshake: every request names its revision."""

BATCHES = "2025-03-26"
"""The one revision that has JSON-RPC batches."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"


@dataclass(frozen=True, slots=True)
class Method:
    """One method. It is sent by clients in the revisions of `out`, by servers in those of `back`.

    `words` say what the sender does with it; `{asker}`, `{asked}` and `{what}` are placeholders. `page` is
    its page in the revisions with a handshake, `modern_page` in 2026-07-28; "" for none.
    """

    name: str
    notification: bool
    out: frozenset[str]
    back: frozenset[str]
    words: str
    page: str
    modern_page: str

    def allowed(self, direction: Direction) -> frozenset[str]:
        return self.out if direction is Direction.OUT else self.back

    def section(self, revision: str) -> str:
        page = self.modern_page if is_modern(revision) else self.page
        return f"{revision} {page}" if page and revision in REVISIONS else ""


def is_modern(revision: str) -> bool:
    """Return whether a revision has no handshake; False for an unknown one."""
    return revision == MODERN


_ALL = frozenset(REVISIONS)
_NONE: frozenset[str] = frozenset()
_OLD = _ALL - {MODERN}
_NEW = frozenset({MODERN})
_FROM_JUNE = frozenset({"2025-06-18", "2025-11-25"})
_NOVEMBER = frozenset({"2025-11-25"})

_LIFECYCLE, _TASKS = "basic/lifecycle", "basic/utilities/tasks"
_SUBSCRIPTIONS = "basic/patterns/subscriptions"
_TOOLS, _RESOURCES, _PROMPTS = "server/tools", "server/resources", "server/prompts"

# name, from a client, from a server, words, page up to 2025-11-25, page of 2026-07-28
_REQUESTS = (
    ("initialize", _OLD, _NONE,
     "{asker} opens the session: it names the revision it wants, itself and what it can do",
     _LIFECYCLE, ""),
    ("server/discover", _NEW, _NONE,
     "{asker} asks {asked} which revisions and features it has", "", "server/discover"),
    ("ping", _OLD, _OLD, "{asker} asks whether {asked} is still there", "basic/utilities/ping", ""),
    ("tools/list", _ALL, _NONE, "{asker} asks {asked} for its tools, page by page", _TOOLS, _TOOLS),
    ("tools/call", _ALL, _NONE, "{asker} asks {asked} to run {what}", _TOOLS, _TOOLS),
    ("resources/list", _ALL, _NONE,
     "{asker} asks {asked} for its resources, page by page", _RESOURCES, _RESOURCES),
    ("resources/templates/list", _ALL, _NONE,
     "{asker} asks {asked} for the patterns of its resources' URIs", _RESOURCES, _RESOURCES),
    ("resources/read", _ALL, _NONE, "{asker} reads {what} from {asked}", _RESOURCES, _RESOURCES),
    ("resources/subscribe", _OLD, _NONE,
     "{asker} wants to be told when {what} of {asked} changes", _RESOURCES, ""),
    ("resources/unsubscribe", _OLD, _NONE,
     "{asker} no longer wants to be told when {what} of {asked} changes", _RESOURCES, ""),
    ("prompts/list", _ALL, _NONE, "{asker} asks {asked} for its prompts, page by page", _PROMPTS, _PROMPTS),
    ("prompts/get", _ALL, _NONE, "{asker} asks {asked} to fill in {what}", _PROMPTS, _PROMPTS),
    ("completion/complete", _ALL, _NONE,
     "{asker} asks {asked} what an argument could be completed to",
     "server/utilities/completion", "server/utilities/completion"),
    ("logging/setLevel", _OLD, _NONE,
     "{asker} says from which level on {asked} should send log messages", "server/utilities/logging", ""),
    ("subscriptions/listen", _NEW, _NONE,
     "{asker} opens a stream on which {asked} tells of changes; its answer is the end of the stream",
     "", _SUBSCRIPTIONS),
    ("sampling/createMessage", _NONE, _OLD,
     "{asker} asks for an answer of the model that {asked} uses", "client/sampling", ""),
    ("elicitation/create", _NONE, _FROM_JUNE, "{asker} asks the person a question", "client/elicitation", ""),
    ("roots/list", _NONE, _OLD, "{asker} asks which directories it may work in", "client/roots", ""),
    ("tasks/get", _NOVEMBER, _NOVEMBER, "{asker} asks how a task of {asked} is doing", _TASKS, ""),
    ("tasks/result", _NOVEMBER, _NOVEMBER, "{asker} waits for the result of a task", _TASKS, ""),
    ("tasks/list", _NOVEMBER, _NOVEMBER, "{asker} asks {asked} for its tasks", _TASKS, ""),
    ("tasks/cancel", _NOVEMBER, _NOVEMBER, "{asker} wants a task of {asked} to end", _TASKS, ""),
)  # fmt: skip

_CANCELLATION = ("basic/utilities/cancellation", "basic/patterns/cancellation")
_NOTIFICATIONS = (
    ("notifications/initialized", _OLD, _NONE,
     "{asker} has read the answer to initialize; the session is open", _LIFECYCLE, ""),
    ("notifications/cancelled", _ALL, _ALL,
     "{asker} no longer wants the answer to a request", *_CANCELLATION),
    ("notifications/progress", _OLD, _ALL,
     "{asker} tells how far a request is", "basic/utilities/progress", "basic/patterns/progress"),
    ("notifications/message", _NONE, _ALL,
     "{asker} writes a line of its log", "server/utilities/logging", "server/utilities/logging"),
    ("notifications/tools/list_changed", _NONE, _ALL,
     "{asker} has other tools now", _TOOLS, _TOOLS),
    ("notifications/resources/list_changed", _NONE, _ALL,
     "{asker} has other resources now", _RESOURCES, _RESOURCES),
    ("notifications/resources/updated", _NONE, _ALL,
     "{what} of {asker} has changed", _RESOURCES, _RESOURCES),
    ("notifications/prompts/list_changed", _NONE, _ALL,
     "{asker} has other prompts now", _PROMPTS, _PROMPTS),
    ("notifications/roots/list_changed", _OLD, _NONE,
     "{asker} has other directories for {asked} now", "client/roots", ""),
    ("notifications/elicitation/complete", _NONE, _NOVEMBER,
     "{asker} tells that a question that was asked in a browser is answered", "client/elicitation", ""),
    ("notifications/subscriptions/acknowledged", _NONE, _NEW,
     "{asker} confirms what it will tell of on a stream", "", _SUBSCRIPTIONS),
    ("notifications/tasks/status", _NOVEMBER, _NOVEMBER,
     "{asker} tells how a task is doing", _TASKS, ""),
)  # fmt: skip

METHODS: Mapping[str, Method] = MappingProxyType(
    {row[0]: Method(row[0], False, *row[1:]) for row in _REQUESTS}
    | {row[0]: Method(row[0], True, *row[1:]) for row in _NOTIFICATIONS}
)
"""Every method by its name."""

_SETUP = frozenset(
    {
        "initialize",
        "notifications/initialized",
        "server/discover",
        "ping",
        "logging/setLevel",
        "subscriptions/listen",
        "notifications/subscriptions/acknowledged",
    }
)


def is_setup(method: str) -> bool:
    """Whether a method is part of every start: the handshake, lists, what says that they changed, pings."""
    return method in _SETUP or method.endswith(("/list", "/list_changed"))
