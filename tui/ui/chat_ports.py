"""What the screens need of conversations that last and of models. `conversations.Chats` is the real thing."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tui.core.conversation.conversation import Attachment, Compaction, Message, Remark
from tui.core.conversation.sessions import ExportKind, Found, SessionInfo
from tui.core.ports import Approver, Meters, ModelChoice
from tui.ui.ports import RunningTurn

__all__ = ["ChatView", "Meters", "ModelChoice"]


class ChatView(Protocol):
    """The conversation on screen and all saved ones (`AppRuntime.conversations`).

    Methods that change the conversation may not be called while a turn runs. They raise `McptuiError`
    with a sentence for the person.
    """

    @property
    def busy(self) -> str:
        """What is being done with the conversation, e.g. "a conversation is being opened", or "".

        Meanwhile it cannot be replaced, and no turn should begin.
        """
        ...

    @property
    def opened(self) -> int:
        """Grows when another conversation takes the place of the one on screen."""
        ...

    @property
    def revision(self) -> int:
        """Grows when the conversation was replaced by another, renamed or compacted."""
        ...

    @property
    def info(self) -> SessionInfo | None:
        """The session of the conversation; None until something was said."""
        ...

    @property
    def problem(self) -> str:
        """Why this conversation is not being saved, in words, or ""."""
        ...

    def lost(self) -> str:
        """Return, once, why the conversation that was left last was not saved, in words, or ""."""
        ...

    @property
    def messages(self) -> Sequence[Message]:
        """What was said, for a screen that shows it anew."""
        ...

    @property
    def remarks(self) -> Sequence[Remark]:
        """What mcptui itself said between them, without secrets."""
        ...

    @property
    def unknown(self) -> frozenset[str]:
        """Ids of calls that were sent and whose outcome nobody knows."""
        ...

    @property
    def meters(self) -> Meters:
        """What it has used up."""
        ...

    @property
    def turn_numbers(self) -> Mapping[int, int]:
        """Numbers that its turns have in the traffic of this run, by the index of their question."""
        ...

    @property
    def compaction(self) -> Compaction:
        """What stands in for the oldest messages when the model is asked."""
        ...

    # ---- saved conversations ----

    async def sessions(self, text: str = "") -> Sequence[SessionInfo]:
        """Return saved ones whose title has `text` in it, the last changed first."""
        ...

    def search(self, text: str) -> AsyncIterator[Found]:
        """Yield where `text` was said in any of them."""
        ...

    async def new(self) -> None:
        """Begin another conversation; the one before stays as it was saved."""
        ...

    async def resume(self, session: str) -> None:
        """Go on with a saved conversation in place of the one on screen."""
        ...

    async def branch(self, upto: int) -> None:
        """Go on with a copy that ends before message `upto`; the one on screen stays as it is."""
        ...

    async def rename(self, session: str, title: str) -> None:
        """Give one another title."""
        ...

    async def title_from_model(self) -> str:
        """Have the model make a title of the conversation on screen; return it."""
        ...

    async def delete(self, session: str) -> None:
        """Take one out of the list; `restore` brings it back. Not the one on screen."""
        ...

    async def restore(self, session: str) -> None:
        """Bring back what was deleted."""
        ...

    async def export(self, session: str, kind: ExportKind, path: Path) -> None:
        """Write one to a file."""
        ...

    # ---- what the model is told ----

    @property
    def system(self) -> str:
        """The system text of this conversation."""
        ...

    async def set_system(self, text: str) -> None:
        """Give this conversation another system text; "" is the usual one."""
        ...

    async def compact(self) -> str:
        """Summarise the older turns now; return what was done, in a sentence."""
        ...

    def uncompact(self) -> None:
        """Let the model read everything again."""
        ...

    def result(self, name: str) -> str:
        """Return the whole of a result that the model was told in part (`ToolMessage.kept`), or ""."""
        ...

    def tool_marks(self) -> Mapping[tuple[str, str], str]:
        """Return what is special of tools, by server and own name: left out and why, pinned, simplified."""
        ...

    # ---- models ----

    async def models(self) -> Sequence[ModelChoice]:
        """Return what can be asked: profiles, the environment's, what runs on this machine, the demo."""
        ...

    async def offered(self, name: str) -> Sequence[str]:
        """Return the ids of the models that the endpoint of a choice offers. Bounded in time."""
        ...

    async def switch(self, name: str, model: str = "") -> None:
        """Ask another model from now on; `model` is an id that its endpoint offers, or any text."""
        ...

    # ---- turns ----

    def ask(self, text: str, approver: Approver, attachments: tuple[Attachment, ...] = ()) -> RunningTurn:
        """Say `text`, with what is attached; returns the turn, which runs while its events are iterated."""
        ...

    async def again(self, upto: int | None = None) -> tuple[str, tuple[Attachment, ...]]:
        """Branch before the user message at `upto` (None: the last one) and return what it said.

        Retry is to ask it again, compare is to switch the model first, edit is to change it first.
        """
        ...
