"""The parts of a model request besides the conversation: instructions, tools, and their tokens."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tui.core.context.compaction import sent_messages
from tui.core.context.context_meter import Calibration, estimate
from tui.core.context.context_parts import (
    ContextPart,
    DefinitionTokens,
    context_parts,
    definition_tokens,
    token_words,
)
from tui.core.context.instructions import instructions_text
from tui.core.conversation.conversation import Conversation
from tui.core.language.translate import message
from tui.core.schemas.tool_names import NameTable
from tui.runtime.active_model import ActiveModel
from tui.runtime.turn import TurnContext
from tui.settings.state.project_file import ProjectFile


class RequestContext:
    """The project's and the servers' part of each request. `project` is only read if `wanted`."""

    def __init__(
        self, project: ProjectFile, active_model: ActiveModel, context: TurnContext, *, wanted: bool = True
    ) -> None:
        self.project = project
        self._wanted = wanted
        self._active_model = active_model
        self._context = context
        self._seen: object = None
        self._tokens: Mapping[str, DefinitionTokens] = {}
        self._counting: asyncio.Future[Mapping[str, DefinitionTokens]] | None = None

    def look(self) -> None:
        """Check the project instructions for changes. Blocks."""
        if self._wanted:
            self.project.look()

    def instructions(self) -> str:
        """Return the part of the system prompt from the project and the servers, or ""."""
        used = self.project.used
        project = self._context.redactor.redact(used.prompt) if used is not None else ""
        return "\n\n".join(filter(None, (project, instructions_text(self._context.host.instructions()))))

    @property
    def _calibration(self) -> Calibration:
        return self._active_model.context_meter.calibration

    @property
    def measured(self) -> bool:
        """Whether tokens are scaled to the endpoint's counts, not only estimated."""
        return self._calibration.samples > 0

    @property
    def project_tokens(self) -> str:
        """The tokens of the project instructions in each request, in words."""
        found = self.project.found
        return token_words(self._calibration(estimate(found.prompt if found else "")), self.measured)

    @property
    def project_words(self) -> str:
        """A notice about the project instructions, or ""."""
        return self.project.words(self.project_tokens)

    @property
    def offers(self) -> int:
        """The number of times that the set of offered tools was chosen."""
        return self._active_model.tool_selection.revision

    def tool_marks(self) -> Mapping[tuple[str, str], str]:
        """Return remarks on tools by server and name: omitted and why, denied, pinned, simplified."""
        context, active = self._context, self._active_model
        table = NameTable(context.offered())
        known = {
            (tool.server, tool.name): mark
            for name, mark in active.tool_marks.items()
            if (tool := table.resolve(name)) is not None
        }
        rules, tools = context.policy.rules, context.toolbox.tools()
        denied = {
            (one.server, one.name): message("not offered: {reason}", reason=rule)
            for one in tools
            if (rule := rules.denying(one))
        }
        return {**active.tool_selection.marks, **known, **denied}

    def definition_tokens(self) -> Mapping[str, DefinitionTokens]:
        """Return the tokens of each running server in a request, as the same object until they change."""
        if (seen := self._cache_key) != self._seen:
            self._note(seen, self._counter()())
        return self._tokens

    def definition_tokens_of(self, server: str) -> DefinitionTokens | None:
        """Return the tokens of one server that has just started, without counting those of all others."""
        return self._counter(server)().get(server)

    def latest_definition_tokens(self) -> Mapping[str, DefinitionTokens]:
        """Return the same, or the earlier ones while a thread counts: 5,000 tools take 0.1 s."""
        if self._counting is None and (seen := self._cache_key) != self._seen:
            self._counting = asyncio.get_running_loop().run_in_executor(None, self._counter())
            self._counting.add_done_callback(partial(self._counted, seen))
        return self._tokens

    def _counter(self, server: str = "") -> Callable[[], Mapping[str, DefinitionTokens]]:
        """Return what counts, in any thread, the tokens of all tools and instructions, or of one server's."""
        told = self._context.host.instructions()
        if server:
            told = {name: text for name, text in told.items() if name == server}
        tools, selection = self._context.offered(server), self._active_model.tool_selection
        return partial(definition_tokens, tools, told, self._calibration, selection)

    @property
    def _cache_key(self) -> object:
        host, calibration = self._context.host, self._calibration
        return host, host.revision, self.offers, calibration.ratio, calibration.samples

    def _counted(self, seen: object, done: "asyncio.Future[Mapping[str, DefinitionTokens]]") -> None:
        self._counting = None
        if not done.cancelled():
            self._note(seen, done.result())

    def _note(self, seen: object, found: Mapping[str, DefinitionTokens]) -> None:
        self._seen, self._tokens = seen, self._tokens if found == self._tokens else found

    def parts(self, talk: Conversation, system: str) -> Sequence[ContextPart]:
        """Return the parts of the next request in tokens, without the question."""
        used = self.project.used
        project = used.prompt if used is not None else ""
        window = self._active_model.context_meter.window
        offer = self._active_model.tool_selection.preview(
            self._context.offered(), window=window, talk=talk.messages
        )
        messages = sent_messages(talk.messages, talk.compaction, talk.ends)
        servers = self.definition_tokens()
        return context_parts(offer.specs, servers, system, project, messages, self._calibration)
