"""One open conversation and everything that belongs to it: its journal, stored results and usage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tui.core.context.built_in_tools import ResultStore
from tui.core.conversation.conversation import Conversation
from tui.core.conversation.sessions import Journal, Reopened, SessionInfo, SessionMeta, title_of
from tui.core.ports import Usage


@dataclass(slots=True)
class OpenConversation:
    """An open conversation. `result_store` has the full text of results that were truncated for the model.

    `info` is None while it is not saved. `unknown` are ids of calls that were sent and whose outcome is
    unknown. `tokens` and `cost` are those of all requests. `wanted_title` is the user's title before it is
    saved. `parent` is the session that it branched from, before its first message. `refused` says why it
    could not be saved at all, `unsaved` why it or its parent was not saved while no journal is open.
    `turn_numbers` are those of its turns in the traffic of this run, by the index of their question.
    `recordings` are the names of the recordings that contain its traffic, oldest first. `early_usage` is the
    usage and its cost by model before it is saved: a server may use the model before the first message.
    """

    conversation: Conversation
    result_store: ResultStore = field(default_factory=ResultStore)
    info: SessionInfo | None = None
    journal: Journal | None = None
    unknown: frozenset[str] = frozenset()
    tokens: int = 0
    estimated: bool = False
    cost: float | None = None
    wanted_title: str = ""
    own_system: bool = False
    parent: str = ""
    refused: str = ""
    unsaved: str = ""
    turn_numbers: dict[int, int] = field(default_factory=dict)
    recordings: tuple[str, ...] = ()
    early_usage: dict[str, tuple[Usage, float | None]] = field(default_factory=dict)

    @property
    def problem(self) -> str:
        """Why it is not being saved, or ""."""
        return (self.journal.problem if self.journal is not None else self.unsaved) or self.refused

    @classmethod
    def reopened(cls, found: Reopened, journal: Journal) -> "OpenConversation":
        info = found.info
        chat = cls(found.conversation, ResultStore(found.results), info, journal, found.unknown, info.tokens)
        chat.cost, chat.estimated = info.cost, info.estimated
        chat.own_system = bool(found.conversation.system)
        chat.recordings = tuple(filter(None, (found.meta.recording or "").split("\n")))
        chat._listen()
        return chat

    def branched(self, upto: int, journal: Journal | None) -> "OpenConversation":
        """Return a copy that ends before message `upto`; `journal` saves its messages from there on."""
        talk = self.conversation
        chat = OpenConversation(
            Conversation(
                talk.system,
                list(talk.messages[:upto]),
                talk.compaction.before(upto),
                talk.remarks_before(upto),
                imported=talk.imported,
            ),
            ResultStore(self._stored_results()),
            journal=journal,
            unknown=self.unknown,
            own_system=self.own_system,
            parent="" if upto or self.problem else self.info.id if self.info is not None else self.parent,
            unsaved=self.problem,
            recordings=self.recordings,
            turn_numbers={place: number for place, number in self.turn_numbers.items() if place < upto},
        )
        if journal is not None and self.info is not None:
            chat.info = replace(self.info, id=journal.id, parent=self.info.id, branched_at=upto)
        chat._listen()
        return chat

    def begin(self, journal: Journal, question: str, about: SessionMeta) -> None:
        """Save everything from now on, and all earlier messages.

        The title is made from `question`. `about` is metadata about the model and the recording.
        """
        self.journal = journal
        self.info = SessionInfo(journal.id, self.wanted_title or title_of(question), parent=self.parent)
        self._listen()
        for index, message in enumerate(self.conversation.messages):
            journal.message(index, message)
        for remark in self.conversation.remarks:
            journal.remark(remark)
        for model, (usage, cost) in self.early_usage.items():
            journal.usage(model, usage, cost)
        self.early_usage.clear()
        own = self.conversation.system if self.own_system else None
        now = self.conversation.compaction if self.parent else None  # replaces the parent's
        is_imported = True if self.conversation.imported else None
        journal.describe(
            replace(about, title=self.info.title, system=own, compaction=now, imported=is_imported)
        )

    def recorded_in(self, name: str) -> None:
        """Add the recording that the traffic goes to, "" for none."""
        if name and name not in self.recordings:
            self.recordings = (*self.recordings, name)
            self.describe(SessionMeta(recording="\n".join(self.recordings)))

    async def settled(self) -> None:
        if self.journal is not None:
            await self.journal.settled()

    async def leave(self) -> str:
        """Store pending data and release the file. Return why some of it was not saved, or "".

        After that, the conversation is no longer saved.
        """
        journal, self.journal = self.journal, None
        talk = self.conversation
        talk.heard = talk.compacted = talk.remarked = None
        if journal is not None:
            await journal.close()
            self.unsaved = journal.problem
        return self.problem

    def describe(self, about: SessionMeta) -> None:
        if about.title is not None and self.info is not None:
            self.info = replace(self.info, title=about.title)
        if self.journal is not None:
            self.journal.describe(about)

    def spent(self, model: str, usage: Usage, cost: float | None) -> None:
        self.tokens += usage.prompt + usage.completion
        self.estimated = self.estimated or usage.estimated
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        if self.journal is not None:
            self.journal.usage(model, usage, cost)
        elif self.info is None:
            before, known = self.early_usage.get(model, (Usage(), None))
            total = cost if known is None else known + (cost or 0.0)
            self.early_usage[model] = before + usage, total

    def _listen(self) -> None:
        journal = self.journal
        if journal is not None:
            self.conversation.heard, self.conversation.remarked = journal.message, journal.remark
            self.conversation.compacted = lambda now: journal.describe(SessionMeta(compaction=now))

    def _stored_results(self) -> Mapping[str, str]:
        return {
            name: text
            for name in self.result_store.names()
            if (text := self.result_store.find(name)) is not None
        }
