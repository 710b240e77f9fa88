"""A conversation and what is saved with it: its session, journal, complete results and usage."""

from dataclasses import dataclass, field, replace

from tui.core.context.built_in_tools import ResultStore
from tui.core.conversation.conversation import Conversation, Journal, SessionMeta
from tui.core.conversation.sessions import Reopened, SessionInfo, title_of
from tui.core.ports import Usage


@dataclass(eq=False, repr=False)
class SavedConversation:
    """One conversation and what is saved with it.

    `info.id` is "" while it is not saved. `unknown` are ids of calls that were sent and whose outcome is
    unknown. `unsaved` says why it, or its parent, was not saved while no journal is open. `turn_numbers` are
    those of its turns in the traffic of this run, by the index of their question. `recordings` are the names
    of those with its traffic, oldest first. `early_usage` is the usage and its cost by model before it is
    saved: a server may use the model before the first message, and in a run that saves nothing it is never
    emptied.
    """

    talk: Conversation
    info: SessionInfo = field(default_factory=lambda: SessionInfo(""))
    result_store: ResultStore = field(default_factory=ResultStore)
    own_system: bool = False
    unknown: frozenset[str] = frozenset()
    unsaved: str = ""
    turn_numbers: dict[int, int] = field(default_factory=dict)
    recordings: tuple[str, ...] = ()
    early_usage: dict[str, tuple[Usage, float | None]] = field(init=False, default_factory=dict)

    @classmethod
    def reopened(cls, found: Reopened, journal: Journal) -> "SavedConversation":
        talk, store = found.conversation, ResultStore(found.results)
        talk.journal = journal
        recordings = tuple(filter(None, (found.meta.recording or "").split("\n")))
        return cls(talk, found.info, store, bool(talk.system), found.unknown, recordings=recordings)

    def branched(self, upto: int, journal: Journal | None, parent: str = "") -> "SavedConversation":
        """Return a copy that ends before message `upto`; `journal` saves its messages from there on.

        It is a branch of `parent`, by default of this one.
        """
        talk, parent = self.talk, parent or self.info.id or self.info.parent
        info = SessionInfo("", parent="" if upto or self.problem else parent)
        if journal is not None and self.info.id:
            info = SessionInfo(journal.id, self.info.title, parent=parent, branched_at=upto)
        messages, remarks = list(talk.messages[:upto]), talk.remarks_before(upto)
        copy = Conversation(
            talk.system, messages, talk.compaction.before(upto), remarks, talk.imported, journal
        )
        store = self.result_store
        results = ResultStore({name: store.find(name) or "" for name in store.names()})
        numbers = {place: number for place, number in self.turn_numbers.items() if place < upto}
        kept = (self.own_system, self.unknown, self.problem, numbers, self.recordings)
        return SavedConversation(copy, info, results, *kept)

    @property
    def problem(self) -> str:
        """Why it is not being saved, or ""."""
        return self.talk.journal.problem if self.talk.journal is not None else self.unsaved

    def begin(self, journal: Journal, question: str, about: SessionMeta) -> None:
        """Save everything from now on, and all earlier messages, with the recordings of a branch.

        The title is made from `question`. `about` is metadata about the model.
        """
        talk = self.talk
        talk.journal = journal
        self.info = replace(self.info, id=journal.id, title=self.info.title or title_of(question))
        for index, message in enumerate(talk.messages):
            journal.message(index, message)
        for remark in talk.remarks:
            journal.remark(remark)
        for model, (usage, cost) in self.early_usage.items():
            journal.usage(model, usage, cost)
        self.early_usage.clear()
        own = talk.system if self.own_system else None
        now = talk.compaction if self.info.parent else None  # replaces the parent's
        is_imported, recorded = True if talk.imported else None, "\n".join(self.recordings) or None
        about = replace(about, title=self.info.title, system=own, compaction=now)
        journal.describe(replace(about, imported=is_imported, recording=recorded))

    def recorded_in(self, name: str) -> None:
        """Add the recording that the traffic goes to, "" for none."""
        if name and name not in self.recordings:
            self.recordings = (*self.recordings, name)
            self.describe(SessionMeta(recording="\n".join(self.recordings)))

    async def settled(self) -> None:
        if self.talk.journal is not None:
            await self.talk.journal.settled()

    async def leave(self) -> str:
        """Store pending data and release the file. Return why some of it was not saved, or "".

        After that, the conversation is no longer saved.
        """
        journal, self.talk.journal = self.talk.journal, None
        if journal is not None:
            await journal.close()
            self.unsaved = journal.problem
        return self.unsaved

    def describe(self, about: SessionMeta) -> None:
        if about.title is not None:
            self.info = replace(self.info, title=about.title)
        if self.talk.journal is not None:
            self.talk.journal.describe(about)

    def spent(self, model: str, usage: Usage, cost: float | None) -> None:
        info = self.info
        self.info = replace(
            info,
            tokens=info.tokens + usage.prompt + usage.completion,
            estimated=info.estimated or usage.estimated,
            cost=info.cost if cost is None else (info.cost or 0.0) + cost,
        )
        if self.talk.journal is not None:
            self.talk.journal.usage(model, usage, cost)
        elif not info.id:
            before, known = self.early_usage.get(model, (Usage(), None))
            total = cost if known is None else known + (cost or 0.0)
            self.early_usage[model] = before + usage, total
