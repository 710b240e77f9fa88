"""Questions from servers to the user: forms, addresses and sampling, and the port that answers them."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from tui.core.language.translate import N_, _, localized, message, n_, n_message
from tui.core.permission.consent import ConsentQuestion, ConsentsQuestion
from tui.core.permission.definitions import DefinitionChange
from tui.core.ports import BY_DEFAULT, BY_KEY, TrustQuestion
from tui.core.text import clean_line, quoted_name
from tui.core.units import size as in_bytes

MOST_ERRORS = 5
UNVERIFIED = N_("mcptui cannot verify which program asks. It runs on this computer, as your user.")


class Action(StrEnum):
    """How a question was answered; the names are the specification's."""

    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class FormQuestion:
    """A server asks for values. Everything except the configured name `server` is raw text from the server.

    `schema` is the requested JSON Schema. `round` counts the questions of one call (1, 2, …); 0 if unknown.
    `used_by` are the other processes of the user that may have caused it by using the server, or "".
    """

    server: str
    message: str
    schema: Mapping[str, Any]
    round: int = 0
    used_by: str = ""


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
    used_by: str = ""

    @property
    def head(self) -> str:
        """What is asked, with a place for the server."""
        if self.purpose == "sign in":
            return _("The server {server} requires signing in")
        return _("The server {server} asks you to open a URL")


@dataclass(frozen=True, slots=True)
class SamplingQuestion:
    """A server asks for a reply of the active model. `params` are those of `sampling/createMessage`, raw.

    `reply`: the model's, as the result that the server would get, once the question is whether to send that.
    """

    server: str
    params: Mapping[str, Any]
    round: int = 0
    reply: Mapping[str, Any] | None = None
    used_by: str = ""

    @property
    def head(self) -> str:
        """What is asked, with places for the server, the model and the cause."""
        if self.reply is None:
            return _("The server {server} requests a reply from {model}{cause}")
        return _("The reply of {model} for the server {server}")


def cause_of(question: FormQuestion | AddressQuestion | SamplingQuestion) -> str:
    """Return what is known about why a server asks, to follow a statement that it does: `, round 2`."""
    used = clean_line(localized(question.used_by), 200)
    parts = [_(", used by {who}", who=used)] if used else []
    parts += [_(", round {n}", n=question.round)] if question.round > 1 else []
    return "".join(parts)


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
        if self.total <= count:
            return ""
        return n_message(" ({shown} of {n} change)", " ({shown} of {n} changes)", self.total, shown=count)


@dataclass(frozen=True, slots=True)
class SkillQuestion:
    """Whether a skill of a server may be loaded: the model then gets its text. Asked by mcptui.

    Accepting covers exactly these files, with their digests. Everything but `server` and `runs` is raw text
    from the server, without secrets.

    Attributes:
        runs: the command or URL of the server.
        files: paths with sizes; empty if the skill is dynamic, so that it is asked about each time.
        changes: what differs from what the user approved, one sentence each; empty if they never did.
        remarks: what to know about it, one sentence each.
        by_model: the model wants to load it, not the user.
        label: what identifies it on its server: its name only if no other listed skill has it.
        version: a hash of its manifest and its front matter.
        read: returns its SKILL.md once it matches the manifest, or raises McptuiError.
    """

    server: str
    name: str
    uri: str
    description: str
    runs: str
    files: Sequence[tuple[str, int]]
    changes: Sequence[str] = ()
    remarks: Sequence[str] = ()
    by_model: bool = True
    label: str = ""
    version: str = ""
    read: Callable[[], Awaitable[str]] | None = field(default=None, repr=False, compare=False)

    @property
    def head(self) -> str:
        """The question in a sentence, without its first word."""
        skill, server = quoted_name(self.name, 80), quoted_name(self.server, 60)
        if self.changes:
            return message(
                "the skill {skill} from the server {server}, which has changed since you approved it?",
                skill=skill,
                server=server,
            )
        return message("the skill {skill} from the server {server}?", skill=skill, server=server)

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """Labels and texts for the user, not cleaned."""
        total = sum(size for _path, size in self.files)
        files = message("not listed")
        if self.files:
            files = n_message("{n} file, {size}", "{n} files, {size}", len(self.files), size=in_bytes(total))
        asked = message("the model") if self.by_model else message("you")
        return (
            (N_("asked by"), asked),
            (N_("server"), f"{self.server}: {self.runs}"),
            (N_("skill"), self.uri),
            (N_("about"), self.description),
            (N_("files"), files),
            *(("", f"{path}  {in_bytes(size)}") for path, size in self.files),
        )

    @property
    def outcomes(self) -> tuple[str, str]:
        """What yes and no do."""
        until = message("mcptui asks again when any of its files changes.")
        if not self.files:
            until = message("Its server does not list its files, so mcptui asks each time.")
        yes = message(
            "Yes: the model gets its instructions, marked as written by this server. While it is loaded, "
            "each call that may change something needs your approval, whatever your rules say. {until}",
            until=until,
        )
        return yes, message("No: it is not loaded.")

    def lines(self) -> list[str]:
        """Return the question as lines for a terminal, cleaned, without keys."""
        facts = (f"  {label.ljust(8)}  {clean_line(text, 2_000)}" for label, text in self.facts)
        notes = (f"  ! {clean_line(one, 2_000)}" for one in (*self.changes, *self.remarks))
        return [f"Load {self.head}", *facts, *notes]


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """Whether an agent that uses `mcptui agent` may act. Asked by mcptui.

    `agent` is the name that it gives itself. `server` is "" if it asks for something that mcptui does: then
    `act` is what, in words. Otherwise, `act` is the name of a tool, and `why` says why it needs approval.
    Everything but `server` is raw.
    """

    agent: str
    server: str
    act: str
    arguments: Mapping[str, Any]
    why: str = ""

    @property
    def text(self) -> str:
        """All arguments."""
        return json.dumps(self.arguments, indent=2, ensure_ascii=False, default=str)

    @property
    def head(self) -> str:
        """The question in a sentence."""
        agent = quoted_name(self.agent, 60)
        if not self.server:
            return message("May an agent that says it is {agent} {act}?", agent=agent, act=self.act)
        return message(
            "May an agent that says it is {agent} call {tool} of the server {server}?",
            agent=agent,
            tool=quoted_name(self.act, 200),
            server=quoted_name(self.server, 60),
        )


@dataclass(frozen=True, slots=True)
class AttachQuestion:
    """A command of the user, `who`, wants to use the servers that run here. An answer holds for this run.

    `server` is "": it is about all of them.
    """

    who: str
    server: str = ""

    @property
    def head(self) -> str:
        return _("{who} wants to use the servers.", who=clean_line(localized(self.who), 200))


TRUSTED = N_(
    "Tools that it marks as read-only run without approval."
    " Calls to other servers after its results need no extra approval."
)
"""What happens if a server is trusted."""

TRUST_ANSWERS = (
    (N_("Trust:"), TRUSTED),
    (
        N_("Do not trust:"),
        N_("Its calls need approval. Calls to other servers after its results need approval, too."),
    ),
    (N_("Not now:"), N_("Its calls need approval. You are asked again the next time mcptui starts.")),
)
"""The answers to the question whether to trust a server, True, False and None, and what each does."""


def trust_texts(question: TrustQuestion) -> tuple[str, str]:
    """Return the question whether to trust a server, and why it is asked."""
    about = _(
        "It marks its tool {tool} as read-only, so it should change nothing. mcptui cannot verify this.",
        tool=quoted_name(question.tool, 80),
    )
    return _("Trust the server {server}?", server=quoted_name(question.server, 60)), about


@dataclass(frozen=True, slots=True)
class ConfigErrors:
    """Shows why a configuration was not applied, and asks whether to edit it again."""

    errors: Sequence[str]

    def lines(self) -> list[str]:
        shown = [clean_line(localized(error), 400) for error in self.errors[:MOST_ERRORS]]
        if more := len(self.errors[MOST_ERRORS:]):
            shown.append(n_("and {n} more error", "and {n} more errors", more))
        return shown


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """The answer to a question.

    Attributes:
        action: what a server gets. The other attributes except `each` and `by` count only if it was accepted.
        content: the values of a form; or what replaces the parameters or the reply of a sampling request.
        pasted: the address that the user copied back from the browser, or "".
        only: the names of definitions that it covers; the others are refused until asked about. None: all.
        opens: whether an accepted address is opened. A test accepts without a browser.
        each: instead of an answer about several servers of one source, ask about them one by one.
        lasts: an agent may do the same again until mcptui quits.
        by: what answered.
    """

    action: Action
    content: Mapping[str, Any] = field(default_factory=dict)
    pasted: str = ""
    only: frozenset[str] | None = None
    opens: bool = True
    each: bool = False
    lasts: bool = False
    by: str = field(default=BY_KEY, compare=False)


ServerQuestion = FormQuestion | AddressQuestion | SamplingQuestion
"""Asked by a server."""

Question = (
    ServerQuestion
    | DefinitionsQuestion
    | ConsentQuestion
    | ConsentsQuestion
    | SkillQuestion
    | AgentQuestion
    | AttachQuestion
)


class Questioner:
    """Answers questions of servers, and about them: a screen, flags without one, a script in tests.

    This one declines everything, because no user can answer. It decides nothing that outlives the run.
    """

    async def ask(self, question: Question) -> QuestionAnswer:
        """Wait for the answer, while the clocks of the call that caused the question are paused.

        Consent is CANCEL without an answer, so that it is asked again. Cancelling withdraws the question.
        """
        match question:
            case ConsentsQuestion():
                return QuestionAnswer(Action.CANCEL, each=True, by=BY_DEFAULT)
            case DefinitionsQuestion() | ConsentQuestion() | SkillQuestion():
                return QuestionAnswer(Action.CANCEL, by=BY_DEFAULT)
            case AgentQuestion() | AttachQuestion():
                return QuestionAnswer(Action.CANCEL, by=BY_DEFAULT)
            case _:
                return QuestionAnswer(Action.DECLINE, by=BY_DEFAULT)

    def refused(self, server: str, why: str) -> None:
        """Report that a malformed question was rejected without asking; must neither raise nor wait.

        `why` quotes the server: it is not clean.
        """


class SamplingFailed(Exception):
    """The model gave no reply to a sampling request; the message says why, in a sentence."""


@dataclass(slots=True)
class SamplingMeter:
    """The tokens of one sampling request so far; None as long as its sampler does not count them.

    `heard` is called with each part of the reply that arrives, and must not raise.
    """

    tokens: int | None = None
    heard: Callable[[], None] = lambda: None


class Sampler(Protocol):
    """Gets a reply for a server from the active model."""

    async def sample(
        self, params: Mapping[str, Any], *, max_tokens: int, meter: SamplingMeter
    ) -> Mapping[str, Any]:
        """Return the result for the server. `meter` counts also what was used without a result.

        Raises:
            SamplingFailed: there is no reply.
        """
