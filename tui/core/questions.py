"""Questions from servers to the user: forms, addresses and sampling, and the port that answers them."""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.permission.definitions import DefinitionChange
from tui.core.ports import BY_DEFAULT, BY_KEY
from tui.core.text import clean_line
from tui.core.units import plural

MOST_ERRORS = 5


class Action(StrEnum):
    """How a question was answered; the names are the specification's."""

    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A server asks for values. Everything except the configured name `server` is raw text from the server.

    `schema` is the requested JSON Schema. `round` counts the questions of one call (1, 2, …); 0 if unknown.
    """

    server: str
    message: str
    schema: Mapping[str, Any]
    round: int = 0


@dataclass(frozen=True, slots=True)
class AddressQuestion:
    """A server, or signing in to it, asks the user to open an address in a browser.

    `url` is raw and complete. Accepting is consent to open it; nothing has fetched it before. `opens` is
    False once this machine could not open it: then the user opens it elsewhere, and pastes the address of the
    last page. `again`: it follows an answer to the same question, and is asked before others that wait.
    """

    server: str
    url: str
    message: str
    purpose: Literal["elicitation", "sign in"]
    round: int = 0
    opens: bool = True
    again: bool = False


@dataclass(frozen=True, slots=True)
class SamplingQuestion:
    """A server asks for a reply of the active model. `params` are those of `sampling/createMessage`, raw."""

    server: str
    params: Mapping[str, Any]
    round: int = 0


@dataclass(frozen=True, slots=True)
class SamplingReview:
    """The model's `reply` to a sampling request, as the result that the server would get."""

    server: str
    params: Mapping[str, Any]
    reply: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DefinitionsQuestion:
    """A server's tools or instructions differ from the accepted ones. Asked by mcptui.

    Accepting covers exactly these `changes`. Declining refuses them until they change again. Cancelling
    postpones the decision. `damage` says why the accepted ones cannot be read, or is "". `total` is the
    number of all changes, some of which other questions have; 0 if none have.
    """

    server: str
    changes: Sequence[DefinitionChange]
    damage: str = ""
    total: int = 0

    @property
    def share(self) -> str:
        """Return " (100 of 250 changes)" if other questions have the rest, otherwise ""."""
        count = len(self.changes)
        return f" ({count} of {plural(self.total, 'change')})" if self.total > count else ""


@dataclass(frozen=True, slots=True)
class ConfigErrors:
    """Shows why a configuration was not applied, and asks whether to edit it again. The answer is a bool."""

    errors: Sequence[str]

    def lines(self) -> list[str]:
        shown = [clean_line(error, 400) for error in self.errors[:MOST_ERRORS]]
        if more := len(self.errors[MOST_ERRORS:]):
            shown.append(f"and {plural(more, 'more error')}")
        return shown


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """The answer to a form. `content` counts only if it was accepted; `by` says what answered."""

    action: Action
    content: Mapping[str, Any] = field(default_factory=dict)
    by: str = field(default=BY_KEY, compare=False)


@dataclass(frozen=True, slots=True)
class AddressAnswer:
    """The answer to an address. `pasted` is the address that the user copied back from the browser, or ""."""

    action: Action
    pasted: str = ""
    by: str = field(default=BY_KEY, compare=False)


@dataclass(frozen=True, slots=True)
class SamplingAnswer:
    """The answer to a sampling request or to the review of its reply.

    `params` replaces what was asked about: the request's parameters, or the reply. Counts only if accepted.
    """

    action: Action
    params: Mapping[str, Any] = field(default_factory=dict)
    by: str = field(default=BY_KEY, compare=False)


@dataclass(frozen=True, slots=True)
class DefinitionsAnswer:
    """The answer to a question about changed definitions; `by` says what answered.

    `only` are the names that it covers; the others are refused until asked about. None: all.
    """

    action: Action
    by: str = BY_KEY
    only: frozenset[str] | None = None


class ConsentsAnswer(StrEnum):
    """The answer to a question about several servers of one source.

    `EACH`: they are asked about one by one. `LATER`: none starts, and nothing is saved.
    """

    ALL = "all"
    NONE = "none"
    EACH = "each"
    LATER = "later"


class Questioner(Protocol):
    """Answers questions of servers, and about them: a screen, flags without one, a script in tests.

    Each method waits for the answer; the clocks of the call that caused the question are paused meanwhile.
    Cancelling a method withdraws the question.
    """

    async def form(self, question: FormQuestion) -> FormAnswer: ...

    async def address(self, question: AddressQuestion) -> AddressAnswer: ...

    async def sampling(self, question: SamplingQuestion) -> SamplingAnswer: ...

    async def review(self, question: SamplingReview) -> SamplingAnswer: ...

    async def definitions(self, question: DefinitionsQuestion) -> DefinitionsAnswer: ...

    def refused(self, server: str, why: str) -> None:
        """Report that a malformed question was rejected without asking; must neither raise nor wait.

        `why` quotes the server: it is not clean.
        """

    async def consent(self, question: ConsentQuestion) -> Action:
        """Return ACCEPT if the server may run, DECLINE if the user declined, CANCEL without an answer."""

    async def consents(self, question: ConsentsQuestion) -> ConsentsAnswer:
        """Return the answer about several servers of one source, each of which the user has seen."""


class SamplingFailed(Exception):
    """The model gave no reply to a sampling request; the message says why, in a sentence."""


@dataclass(slots=True)
class SamplingMeter:
    """The tokens of one sampling request so far; None as long as its sampler does not count them.

    `heard` is called with each part of the reply that arrives, and must not raise.
    """

    tokens: int | None = None
    heard: Callable[[], None] = lambda: None


METER: ContextVar[SamplingMeter | None] = ContextVar("METER", default=None)
"""Counts the sampling request that runs, because one that fails or is cancelled returns no number."""


class Sampler(Protocol):
    """Gets a reply for a server from the active model."""

    @property
    def label(self) -> str:
        """The model's name for the user, or "" if none was chosen yet."""

    async def sample(self, params: Mapping[str, Any], *, max_tokens: int) -> tuple[Mapping[str, Any], int]:
        """Return the result for the server, and the tokens that request and reply used.

        If there is no result, `METER` has the tokens that were used until then.

        Raises:
            SamplingFailed: there is no reply.
        """


class Refuser:
    """Declines everything, because no user can answer."""

    async def form(self, question: FormQuestion) -> FormAnswer:
        return FormAnswer(Action.DECLINE, by=BY_DEFAULT)

    async def address(self, question: AddressQuestion) -> AddressAnswer:
        return AddressAnswer(Action.DECLINE, by=BY_DEFAULT)

    async def sampling(self, question: SamplingQuestion) -> SamplingAnswer:
        return SamplingAnswer(Action.DECLINE, by=BY_DEFAULT)

    async def review(self, question: SamplingReview) -> SamplingAnswer:
        return SamplingAnswer(Action.DECLINE, by=BY_DEFAULT)

    async def definitions(self, question: DefinitionsQuestion) -> DefinitionsAnswer:
        return DefinitionsAnswer(Action.CANCEL, by=BY_DEFAULT)

    async def consent(self, question: ConsentQuestion) -> Action:
        return Action.CANCEL

    async def consents(self, question: ConsentsQuestion) -> ConsentsAnswer:
        return ConsentsAnswer.EACH

    def refused(self, server: str, why: str) -> None:
        """Ignore the report."""
