"""Conversations that outlive the program: what is kept of them, and who keeps it, as Protocols.

A session is one saved conversation. It is written as it happens: a message when it is complete, a call
before it is sent. What `settled()` has returned for survives the death of the program at any moment.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from tui.core.conversation.conversation import Compaction, Conversation, Message, Remark, Usage
from tui.core.errors import UsageError

ExportKind = Literal["markdown", "json", "html"]

UNKNOWN_OUTCOME = (
    "outcome unknown: the program ended while this call ran. It may or may not have had its effect; "
    "it was not sent again."
)
"""The observation of a call that was sent and whose result was never recorded."""

NEVER_SENT = "not run: the program ended before this call was sent"
"""The observation of a call that the model wrote and nobody sent."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a list of sessions shows of one.

    Attributes:
        id: names it for good; also the stem of its file.
        title: made of the first question, or given by the person.
        created: when it began, in seconds since the epoch.
        changed: when something was last said in it.
        messages: how many there are, results of tools among them.
        turns: how often the person said something.
        model: label of the model that answered last.
        tokens: sum over all requests.
        cost: what they cost by the prices of the profiles, or None if there are no prices.
        parent: the session that it branched off, or "".
        branched_at: index of the first message that is its own; 0 if it is no branch.
        in_use: another process has it open.
        problem: why it cannot be opened, in words, or "".
        estimated: some of the tokens are an estimate.
    """

    id: str
    title: str = ""
    created: float = 0.0
    changed: float = 0.0
    messages: int = 0
    turns: int = 0
    model: str = ""
    tokens: int = 0
    cost: float | None = None
    parent: str = ""
    branched_at: int = 0
    in_use: bool = False
    problem: str = ""
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Intent:
    """A call that is about to be sent; written before its bytes leave.

    Attributes:
        call_id: the call's.
        server: whose tool.
        tool: its own name on that server.
        arguments: with what.
        decision: who let it run: "allowed" by a rule, or the person's answer ("once", "session", "always").
        turn: the turn's number in this run of the program, as in the traffic.
    """

    call_id: str
    server: str
    tool: str
    arguments: Mapping[str, Any]
    decision: str = "allowed"
    turn: int = 0


@dataclass(frozen=True, slots=True)
class SessionMeta:
    """What is known of a session besides its messages; a field that is None is left as it is."""

    title: str | None = None
    system: str | None = None
    model: str | None = None
    profile: str | None = None
    compaction: Compaction | None = None
    recording: str | None = None


class Journal(Protocol):
    """The one who writes an open session. Nothing but `settled` and `close` ever waits."""

    @property
    def id(self) -> str:
        """The session's."""

    @property
    def problem(self) -> str:
        """Why nothing more is written (disk full, file gone), in words, or ""."""

    def message(self, index: int, message: Message) -> None:
        """Write a message that is complete; index counts from 0."""

    def draft(self, text: str, reasoning: str) -> None:
        """Write how far the reply has come that is being given; the next message replaces it."""

    def intent(self, intent: Intent) -> None:
        """Write that a call is about to be sent."""

    def decision(self, call_id: str, answer: str, reason: str) -> None:
        """Write what the person answered to a call."""

    def result(self, name: str, text: str) -> None:
        """Write the whole of a result that the model was told in part; `name` is `ToolMessage.kept`."""

    def usage(self, model: str, usage: Usage, cost: float | None) -> None:
        """Write what one request used up."""

    def remark(self, remark: Remark) -> None:
        """Write what mcptui itself said."""

    def describe(self, meta: SessionMeta) -> None:
        """Write what is known of the session besides its messages."""

    async def settled(self) -> None:
        """Wait until everything said so far is on disk; returns at once where nothing can be written."""

    async def close(self) -> None:
        """Write what waits and let go of the file. Bounded in time."""


@dataclass(frozen=True, slots=True)
class Reopened:
    """A session as it was found.

    Attributes:
        info: what the list shows of it.
        meta: the rest of what is known of it.
        conversation: valid for any model: calls without a result have `UNKNOWN_OUTCOME` or `NEVER_SENT`.
        unknown: ids of the calls whose outcome is unknown.
        results: whole results by their names, for `read_result`.
    """

    info: SessionInfo
    meta: SessionMeta
    conversation: Conversation
    unknown: frozenset[str] = frozenset()
    results: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class SessionMatch:
    """A place where a search found something: the session, the message's index, and a cleaned excerpt."""

    session: SessionInfo
    index: int
    excerpt: str


class Sessions(Protocol):
    """All saved sessions. What blocks runs in a thread.

    Every method raises `McptuiError` with a sentence if the file is not there, cannot be read or
    written, or is in use by another process.
    """

    async def begin(self, *, parent: str = "", upto: int = 0) -> Journal:
        """Begin a session; with `parent` a branch that has the parent's messages before `upto`."""

    async def reopen(self, session: str) -> tuple[Reopened, Journal]:
        """Open a session to go on with it; what dangled is answered and written."""

    async def read(self, session: str) -> Reopened:
        """Read a session without going on with it."""

    async def list(self, text: str = "", *, limit: int = 200) -> Sequence[SessionInfo]:
        """Return sessions whose title has `text` in it, the last changed first."""

    def search(self, text: str) -> AsyncIterator[SessionMatch]:
        """Yield where `text` was said, the last changed sessions first; closing it ends the search."""

    async def rename(self, session: str, title: str) -> None:
        """Give a session another title."""

    async def delete(self, session: str) -> None:
        """Take a session out of the list; it can be brought back with `restore` for thirty days."""

    async def restore(self, session: str) -> None:
        """Bring back what was deleted."""

    async def export(self, session: str, kind: ExportKind, path: Path) -> None:
        """Write a session to a file, whole or not at all; secrets are redacted."""

    async def import_json(self, path: Path) -> SessionInfo:
        """Take in what `export` wrote as JSON, as a new session."""


LAST = "last"
"""The name of the conversation in which something was said last."""

LIST_STEP = "`mcptui sessions` lists them."


def named(sessions: Sequence[SessionInfo], name: str) -> SessionInfo | None:
    """Return the conversation of that id, of that title, or whose id begins or ends so; None if none.

    Args:
        sessions: the last changed first.
        name: what the person wrote.

    Raises:
        UsageError: several could be meant.
    """
    if name == LAST:  # one that cannot be opened is not gone on with
        return next((one for one in sessions if not one.problem), None)
    exact = [one for one in sessions if one.id == name]
    titled = [one for one in sessions if one.title.casefold() == name.casefold()]
    begun = [one for one in sessions if name and (one.id.startswith(name) or one.id.endswith(name))]
    for found in (exact, titled, begun):
        if len(found) > 1:
            ids = ", ".join(one.id for one in found[:5])
            raise UsageError(f"{len(found)} conversations could be meant: {ids}", where=name)
        if found:
            return found[0]
    return None
