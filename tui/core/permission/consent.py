"""The question whether a server from elsewhere may run, for the screen and the terminal."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tui.core.hidden_text.readable import mixed_word
from tui.core.language.translate import N_, altered, as_message, listed, message, together
from tui.core.permission.launch import Launch, in_words, spelled
from tui.core.permission.risks import risks_of
from tui.core.secrets.commands_and_urls import masked, masked_arguments
from tui.core.secrets.secret_names import keychain_entry
from tui.core.servers import ServerSpec
from tui.core.text import capitalized, cells_of, clean_line, quoted_name

MAX_ON_SCREEN = 40_000
MAX_LINES = 400
"""Limits of a question on screen. A longer one cannot be accepted there, because nobody would read it all."""

MAX_NAME_WORDS = 3
LONG_NAME = 40
YES_ALL = message(
    "Yes: mcptui starts all of these programs and connects to all of these addresses. A program runs on this "
    "computer with your permissions. It can read, change and send whatever you can. "
    "mcptui asks again only if any of this changes."
)
NO_ALL = message(
    "No: none of them starts, and their tools are not available. Everything else works. "
    "Start one of them to be asked again."
)
_WORDS = {
    "program": (
        message("Start it?"),
        message(" and has never been started"),
        message(
            "Yes: the program runs on this computer with your permissions. It can read, change and send "
            "whatever you can. mcptui asks again only if any of this changes."
        ),
        message(
            "No: it does not start, and its tools are not available. Everything else works. "
            "Start it to be asked again."
        ),
    ),
    "address": (
        message("Connect to it?"),
        message(" and has never been connected to"),
        message(
            "Yes: mcptui connects to this address. The server sees what you and the model send to its tools. "
            "mcptui asks again only if any of this changes."
        ),
        message(
            "No: mcptui does not connect to it, and its tools are not available. Everything else works. "
            "Start it to be asked again."
        ),
    ),
    "model": (
        message("Use it?"),
        message(" and has never been used"),
        message(
            "Yes: mcptui uses this model. It sends your conversations and the values named above to the "
            "address. mcptui asks again only if any of this changes."
        ),
        message(
            "No: nothing is sent to it, and the model cannot be used. Everything else works. "
            "Select it to be asked again."
        ),
    ),
}
"""The question, that it asks for the first time, and the effects of yes and no."""


@dataclass(frozen=True, slots=True)
class ConsentQuestion:
    """The question whether a server may run. Its texts contain no secrets and no hidden characters.

    The length of the texts is not bounded.

    Attributes:
        source: where the server comes from, in words ("the file /tmp/mcp.json").
        facts: what would run, as labels and texts, in order.
        risks: what to check, one sentence each.
        changes: what changed since the user last agreed; empty if they never did.
        damage: why earlier answers cannot be read, or "". It concerns the file of answers, not one server, so
            `lines` omits it and a caller prints it once.
        declined: what "no" means; "" for what it means in the app.
        is_own: it is of the user's configuration, and `source` wants to use it.
    """

    server: str
    source: str
    is_remote: bool
    facts: Sequence[tuple[str, str]]
    risks: Sequence[str] = ()
    changes: Sequence[str] = ()
    is_model: bool = False
    damage: str = ""
    declined: str = ""
    is_own: bool = False

    @property
    def subject(self) -> str:
        """The subject of the question: The server “weather”."""
        name = quoted_name(self.server)
        return (
            message("The model {name}", name=name)
            if self.is_model
            else message("The server {name}", name=name)
        )

    @property
    def _words(self) -> tuple[str, str, str, str]:
        return _WORDS["model" if self.is_model else "address" if self.is_remote else "program"]

    @property
    def head(self) -> str:
        request, never, *_ = self._words
        source = capitalized(self.source)
        if self.is_own and self.changes:
            if all(change.startswith("calls:") for change in self.changes):
                return message(
                    "is in your configuration. {source} makes other calls than when you agreed. {request}",
                    source=source,
                    request=request,
                )
            return message(
                "in your configuration has changed since you agreed that {source} uses it. {request}",
                source=self.source,
                request=request,
            )
        if self.is_own:
            return message(
                "is in your configuration. {source} wants to use it. {request}",
                source=source,
                request=request,
            )
        if self.changes:
            return message("has changed since you agreed to it. {request}", request=request)
        never = "" if self.damage else never
        return message(
            "comes from {source}{never}. {request}", source=self.source, never=never, request=request
        )

    @property
    def outcomes(self) -> tuple[str, str]:
        yes, no = self._words[2:]
        return yes, self.declined or no

    @property
    def size(self) -> tuple[int, int]:
        texts = [*(text for _, text in self.facts), *self.changes, *self.risks]
        return sum(map(len, texts)), len(texts)

    @property
    def too_long(self) -> str:
        """Why the question cannot be accepted on screen, and where to read all of it; or ""."""
        size, lines = self.size
        if size <= MAX_ON_SCREEN and lines <= MAX_LINES:
            return ""
        long = message("{n} lines", n=lines)
        if size > MAX_ON_SCREEN:
            long = message("{n} characters", n=f"{size:,}")
        return message(
            "This is too long to review here ({long}), so you cannot accept it here. "
            "Run `mcptui config trust`, with the same --config if you used it, to read all of it and decide.",
            long=long,
        )

    def lines(self) -> list[str]:
        """Return the whole question as lines for a terminal, without keys."""
        width = max(len(label) for label, _ in self.facts) + 2

        def filled(label: str) -> str:
            return label + " " * max(1, width - cells_of(label))

        return [
            message("{first} {second}", first=self.subject, second=self.head),
            *(together("  ", altered(as_message(label), filled), text) for label, text in self.facts),
            *(together("  ", message("changed: {what}", what=change)) for change in self.changes),
            *(together("  ! ", risk) for risk in self.risks),
        ]


@dataclass(frozen=True, slots=True)
class ConsentsQuestion:
    """The question whether the servers of one source may run: all of them, none, or ask about each."""

    questions: Sequence[ConsentQuestion]

    @property
    def server(self) -> str:
        return self.questions[0].source

    @property
    def damage(self) -> str:
        return self.questions[0].damage

    @property
    def subject(self) -> str:
        """The question, such as: Start these 5 servers?"""
        return message("Start these {n} servers?", n=len(self.questions))

    @property
    def head(self) -> str:
        return message("They come from {source}.", source=self.server)


def fitting(questions: Iterable[ConsentQuestion]) -> list[ConsentQuestion]:
    """Return the first questions that together stay within the limits of a screen, in order."""
    found, chars, lines = [], 0, 0
    for one in questions:
        chars, lines = chars + one.size[0], lines + one.size[1]
        if chars > MAX_ON_SCREEN or lines > MAX_LINES:
            break
        found.append(one)
    return found


class ConsentGate:
    """Decides which servers may be started or connected to. This one allows all of them without asking."""

    def together(self, specs: Sequence[ServerSpec]) -> None:
        """Announce that these start together, so that those of one source share one question."""

    def allows(self, spec: ServerSpec) -> bool:
        """Return whether a server may run as it is now. Never asks."""
        return True

    def refuses(self, spec: ServerSpec) -> bool:
        """Return whether the user declined a server as it is now; then only they can start it."""
        return False

    async def ask(self, spec: ServerSpec) -> bool:
        """Ask the user, unless it may run already; return whether it may run."""
        return True

    def withdraw(self, server: str) -> None:
        """Withdraw the pending question about a server, if there is one."""


def question_of(
    name: str, source: str, launch: Launch, changes: Sequence[str] = (), damage: str = ""
) -> ConsentQuestion:
    """Return the question about a server or model with this name."""
    return ConsentQuestion(
        name,
        clean_line(source, 400),
        bool(launch.url),
        tuple(_facts(launch)),
        (*_risks_of_name(name), *risks_of(launch)),
        tuple(changes),
        launch.is_model,
        damage,
        is_own="calls" in launch.open_values,
    )


def _risks_of_name(name: str) -> Iterator[str]:
    """Yield what is suspicious about a name, which the author of the file chose."""
    own = name.removeprefix("models.")
    if mixed_word(own):
        yield message("The name mixes letters of several scripts, which look alike.")
    if len(own.split()) > MAX_NAME_WORDS or len(own) > LONG_NAME or re.search(r"[.!?:;,]\s", own):
        yield message("The name reads like a sentence. It comes from the file, not from mcptui.")


def _facts(launch: Launch) -> Iterator[tuple[str, str]]:
    if launch.url:
        yield N_("address"), spelled(masked(launch.shown("url", launch.url)))
        if launch.is_model:
            key = launch.identity[0]
            yield N_("key"), _origin(launch, "api_key", key) or altered(key, spelled)
        if launch.headers:
            yield N_("headers"), _names(launch, "headers", launch.headers)
        yield from _settings(launch)
        yield from _others(launch)
        if launch.transport in ("sse", "websocket"):
            yield N_("transport"), launch.transport
        return
    yield N_("command"), shown_command(launch)
    if launch.program and launch.program != launch.command:
        yield N_("program"), spelled(launch.program)
    yield N_("folder"), spelled(launch.shown("cwd", launch.cwd)) or message("an empty folder of its own")
    if launch.env:
        yield N_("variables"), _names(launch, "env", launch.env)
    if links := launch.shown_links:
        yield (
            N_("links"),
            listed(
                message("{place} resolves to {target}", place=in_words(one), target=links[one])
                for one in sorted(links)
            ),
        )
    yield from _others(launch)
    if launch.transport == "lines":
        yield N_("protocol"), message("the line dialect, not MCP")
    if calls := launch.open_values.get("calls"):
        yield N_("calls"), calls


def shown_command(launch: Launch) -> str:
    """Return the whole command line as typed in a shell, hidden characters visible, secrets masked."""
    words = masked_arguments(launch.shown_words)
    return " ".join(spelled(shlex.quote(word)) for word in words)


def _names(launch: Launch, kind: str, values: Mapping[str, str]) -> str:
    """Return the names of variables or headers, and the sources of their values.

    Only variables that load code are shown with their value.
    """
    words = []
    shown = launch.open_values
    for name in sorted(values):
        origin = _origin(launch, f"{kind}.{name}", values[name])
        if kind == "env" and not origin and (value := shown.get(f"variable {name}")):
            origin = shlex.quote(value)
        words.append(
            message("{name} = {origin}", name=spelled(name), origin=origin) if origin else spelled(name)
        )
    told = sum(" = " in word for word in words)
    if told == len(words):
        return listed(words)
    if told:
        return message("{names} (other values are not shown)", names=listed(words))
    return message("{names} (values are not shown)", names=listed(words))


def _origin(launch: Launch, place: str, value: str) -> str:
    """Return the source of a value in words, or "" if the file contains it."""
    found = []
    if (reference := launch.references.get(place)) is not None:
        found.append(reference.in_words)
    if (entry := keychain_entry(value)) is not None:
        found.append(message("keychain entry {entry}", entry=spelled(entry[1])))
    if len(found) > 1:
        return message("{one} and {other}", one=found[0], other=found[1])
    return "".join(found) if not found else found[0]


def _settings(launch: Launch) -> Iterator[tuple[str, str]]:
    values = launch.open_values
    sign_in = [
        f"{place.removeprefix('oauth.')} = {shlex.quote(one)}"
        for place, one in values.items()
        if place.startswith("oauth.")
    ]
    if sign_in:
        yield N_("sign-in"), ", ".join(sign_in)
    for place in launch.settings:
        if not place.startswith("oauth."):
            yield place, values[place]


def _others(launch: Launch) -> Iterator[tuple[str, str]]:
    if others := launch.other_references:
        told = (
            message("{name} = {origin}", name=spelled(place), origin=others[place].in_words)
            for place in sorted(others)
        )
        yield N_("settings"), listed(told)
