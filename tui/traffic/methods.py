"""The methods of MCP in all revisions: who may send them, their purpose, their specification pages.

Source: the specification's pages and schemas of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and
2026-07-28. Pure data; a test compares it with the tables of the SDK.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tui.core.jsonrpc.extensions import DEPRECATED
from tui.core.jsonrpc.protocol import MODERN, REVISIONS, is_modern
from tui.core.language.translate import N_, c_message, localized
from tui.core.traffic import Kind


@dataclass(frozen=True, slots=True)
class Method:
    """One method. It is sent by clients in the revisions of `out`, by servers in those of `back`.

    `words` describe what the sender does with it; `{asker}`, `{asked}` and `{what}` are placeholders. `page`
    is its page in the revisions with a handshake, `modern_page` in 2026-07-28; "" for none. `needs` is the
    capability that it requires, regardless of who sends it, and the part of that, if it is one.
    """

    name: str
    out: frozenset[str]
    back: frozenset[str]
    words: str
    page: str
    modern_page: str
    needs: str = ""

    @property
    def notification(self) -> bool:
        return self.name.startswith("notifications/")

    @property
    def deprecated(self) -> str:
        """A sentence about its capability, if that is deprecated, or ""."""
        return DEPRECATED.get(self.needs.partition(".")[0], "")

    @property
    def needs_client(self) -> bool:
        """Whether the capability is the client's."""
        return self.needs.partition(".")[0] in ("sampling", "elicitation", "roots")

    def section(self, revision: str) -> str:
        page = self.modern_page if is_modern(revision) else self.page
        return f"{revision} {page}" if page and revision in REVISIONS else ""


_ALL = frozenset(REVISIONS)
_NONE: frozenset[str] = frozenset()
_OLD = _ALL - {MODERN}
_NEW = frozenset({MODERN})
_FROM_JUNE = frozenset({"2025-06-18", "2025-11-25"})
_NOVEMBER = frozenset({"2025-11-25"})

_LIFECYCLE, _TASKS = "basic/lifecycle", "basic/utilities/tasks"
_SUBSCRIPTIONS = "basic/patterns/subscriptions"
_TOOLS, _RESOURCES, _PROMPTS = "server/tools", "server/resources", "server/prompts"
_CANCELLATION = ("basic/utilities/cancellation", "basic/patterns/cancellation")

# name, from a client, from a server, words, page up to 2025-11-25, page of 2026-07-28, capability
_ROWS = (
    ("initialize", _OLD, _NONE,
     N_("{asker} opens the session and sends its requested revision, identity and capabilities"),
     _LIFECYCLE, ""),
    ("server/discover", _NEW, _NONE,
     N_("{asker} asks {asked} for its revisions and capabilities"), "", "server/discover"),
    ("ping", _OLD, _OLD, N_("{asker} pings {asked}"), "basic/utilities/ping", ""),
    ("tools/list", _ALL, _NONE, N_("{asker} lists the tools of {asked}"), _TOOLS, _TOOLS, "tools"),
    ("tools/call", _ALL, _NONE, N_("{asker} calls {what} of {asked}"), _TOOLS, _TOOLS, "tools"),
    ("resources/list", _ALL, _NONE,
     N_("{asker} lists the resources of {asked}"), _RESOURCES, _RESOURCES, "resources"),
    ("resources/templates/list", _ALL, _NONE,
     N_("{asker} lists the resource templates of {asked}"), _RESOURCES, _RESOURCES, "resources"),
    ("resources/read", _ALL, _NONE,
     N_("{asker} reads {what} from {asked}"), _RESOURCES, _RESOURCES, "resources"),
    ("resources/subscribe", _OLD, _NONE,
     N_("{asker} subscribes to {what} of {asked}"), _RESOURCES, "", "resources.subscribe"),
    ("resources/unsubscribe", _OLD, _NONE,
     N_("{asker} unsubscribes from {what} of {asked}"), _RESOURCES, "", "resources.subscribe"),
    ("prompts/list", _ALL, _NONE, N_("{asker} lists the prompts of {asked}"), _PROMPTS, _PROMPTS, "prompts"),
    ("prompts/get", _ALL, _NONE, N_("{asker} gets {what} from {asked}"), _PROMPTS, _PROMPTS, "prompts"),
    ("completion/complete", _ALL, _NONE,
     N_("{asker} asks {asked} for completions of an argument"),
     "server/utilities/completion", "server/utilities/completion", "completions"),
    ("logging/setLevel", _OLD, _NONE,
     N_("{asker} sets the log level of {asked}"), "server/utilities/logging", "", "logging"),
    ("subscriptions/listen", _NEW, _NONE,
     N_("{asker} opens a change stream from {asked}, which ends with the response"),
     "", _SUBSCRIPTIONS),
    ("sampling/createMessage", _NONE, _OLD,
     N_("{asker} requests a reply from the model of {asked}"), "client/sampling", "", "sampling"),
    ("elicitation/create", _NONE, _FROM_JUNE,
     N_("{asker} asks the user a question"), "client/elicitation", "", "elicitation"),
    ("roots/list", _NONE, _OLD, N_("{asker} asks for its roots"), "client/roots", "", "roots"),
    ("tasks/get", _NOVEMBER, _NOVEMBER, N_("{asker} gets the status of a task of {asked}"), _TASKS, ""),
    ("tasks/result", _NOVEMBER, _NOVEMBER, N_("{asker} waits for the result of a task"), _TASKS, ""),
    ("tasks/list", _NOVEMBER, _NOVEMBER, N_("{asker} lists the tasks of {asked}"), _TASKS, ""),
    ("tasks/cancel", _NOVEMBER, _NOVEMBER, N_("{asker} cancels a task of {asked}"), _TASKS, ""),
    ("notifications/initialized", _OLD, _NONE,
     N_("{asker} confirms initialize, and the session is open"), _LIFECYCLE, ""),
    ("notifications/cancelled", _ALL, _ALL,
     N_("{asker} cancels a request"), *_CANCELLATION),
    ("notifications/progress", _OLD, _ALL,
     N_("{asker} reports progress"), "basic/utilities/progress", "basic/patterns/progress"),
    ("notifications/message", _NONE, _ALL,
     N_("{asker} sends a log message"), "server/utilities/logging", "server/utilities/logging", "logging"),
    ("notifications/tools/list_changed", _NONE, _ALL,
     N_("the tools of {asker} have changed"), _TOOLS, _TOOLS, "tools.listChanged"),
    ("notifications/resources/list_changed", _NONE, _ALL,
     N_("the resources of {asker} have changed"), _RESOURCES, _RESOURCES, "resources.listChanged"),
    ("notifications/resources/updated", _NONE, _ALL,
     N_("{what} of {asker} has changed"), _RESOURCES, _RESOURCES, "resources.subscribe"),
    ("notifications/prompts/list_changed", _NONE, _ALL,
     N_("the prompts of {asker} have changed"), _PROMPTS, _PROMPTS, "prompts.listChanged"),
    ("notifications/roots/list_changed", _OLD, _NONE,
     N_("the roots of {asker} have changed"), "client/roots", "", "roots.listChanged"),
    ("notifications/elicitation/complete", _NONE, _NOVEMBER,
     N_("{asker} reports that a question in the browser is answered"), "client/elicitation", ""),
    ("notifications/subscriptions/acknowledged", _NONE, _NEW,
     N_("{asker} confirms the changes that it will report"), "", _SUBSCRIPTIONS),
    ("notifications/tasks/status", _NOVEMBER, _NOVEMBER,
     N_("{asker} reports the status of a task"), _TASKS, ""),
)  # fmt: skip

METHODS: Mapping[str, Method] = MappingProxyType({row[0]: Method(*row) for row in _ROWS})
"""Every method by its name."""

_SETUP = frozenset(
    {"initialize", "notifications/initialized", "server/discover", "ping", "logging/setLevel",
     "subscriptions/listen", "notifications/subscriptions/acknowledged",
     "events/stream", "notifications/events/active", "notifications/events/heartbeat"}
)  # fmt: skip


QUESTION = "elicitation/create"
"""The request that the user answers: its latency is not the server's."""


def is_setup(method: str) -> bool:
    """Whether a method belongs to setup: handshake, lists, their change notifications, open streams."""
    return method in _SETUP or method.endswith(("/list", "/list_changed"))


EVENT_WORDS = frozenset(
    word.replace("_", " ")
    for word in """
    answered broken command connect discarded disconnect dropped edited end endpoint exit fault gave_up
    held log_left_out not_recorded not_sent note our_progress released restart_failed restarted
    server_ended session_opened_again sign-in signal spawn stop stream_opened_again too_large
    undelivered unreadable
    """.split()
)
"""Words of mcptui for its own events, in the place of a method. A catalog has them in the context "event"."""


def shown_method(kind: int, method: str) -> str:
    """Return the method of an entry as screens show it."""
    is_ours = kind == Kind.EVENT and method in EVENT_WORDS
    return localized(c_message("event", method)) if is_ours else method
