"""The parts of a model request besides the conversation: instructions, tools, and their tokens."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tui.core.context.context_meter import Calibration, estimate
from tui.core.context.context_parts import ContextPart, DefinitionTokens, token_words
from tui.core.context.instructions import instructions_text
from tui.core.secrets.redact import Redactor
from tui.host.host import Host
from tui.runtime.active_model import ActiveModel
from tui.runtime.conversations import Conversations
from tui.settings.state.project_file import ProjectFile


class RequestContext:
    """The project's and the servers' part of each request.

    `project` are the project instructions of the folder, and whether they are used. They are only read if
    `wanted`. `host` and `conversations` return the current ones.
    """

    def __init__(
        self,
        project: ProjectFile,
        redactor: Redactor,
        active_model: ActiveModel,
        host: Callable[[], Host],
        conversations: Callable[[], Conversations],
        *,
        wanted: bool = True,
    ) -> None:
        self.project = project
        self._wanted = wanted
        self._redactor = redactor
        self._active_model = active_model
        self._host = host
        self._conversations = conversations
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
        project = self._redactor.redact(used.prompt) if used is not None else ""
        return "\n\n".join(filter(None, (project, instructions_text(self._host().instructions()))))

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

    def definition_tokens(self) -> Mapping[str, DefinitionTokens]:
        """Return the tokens of each running server in a request, as the same object until they change."""
        if (seen := self._cache_key) != self._seen:
            self._note(seen, self._conversations().definition_counter(self._host().instructions())())
        return self._tokens

    def definition_tokens_of(self, server: str) -> DefinitionTokens | None:
        """Return the tokens of one server that has just started, without counting those of all others."""
        text = self._host().instructions().get(server)
        told = {} if text is None else {server: text}
        return self._conversations().definition_counter(told, server)().get(server)

    def latest_definition_tokens(self) -> Mapping[str, DefinitionTokens]:
        """Return the same, or the earlier ones while a thread counts: 5,000 tools take 0.1 s."""
        if self._counting is None and (seen := self._cache_key) != self._seen:
            count = self._conversations().definition_counter(self._host().instructions())
            self._counting = asyncio.get_running_loop().run_in_executor(None, count)
            self._counting.add_done_callback(partial(self._counted, seen))
        return self._tokens

    @property
    def _cache_key(self) -> object:
        host, conversations, calibration = self._host(), self._conversations(), self._calibration
        return host, host.revision, conversations.offers, calibration.ratio, calibration.samples

    def _counted(self, seen: object, done: "asyncio.Future[Mapping[str, DefinitionTokens]]") -> None:
        self._counting = None
        if not done.cancelled():
            self._note(seen, done.result())

    def _note(self, seen: object, found: Mapping[str, DefinitionTokens]) -> None:
        self._seen = seen
        if found != self._tokens:
            self._tokens = found

    def parts(self) -> Sequence[ContextPart]:
        """Return the parts of the next request in tokens, without the question."""
        used = self.project.used
        project = used.prompt if used is not None else ""
        return self._conversations().context_parts(project, self.definition_tokens())
