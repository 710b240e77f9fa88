"""The commands that begin with `/`: which there are, and what a message means that may be one. Pure.

Nothing that somebody writes is lost or changed here: a message is a command only if it names one, one that
looks like a command and is none is told, and everything else (`/etc/hosts`, `// a comment`) is a message.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tui.core.text import clean_line
from tui.ui.keys.arguments import names_in

if TYPE_CHECKING:  # none of it is needed for the first frame
    from tui.core.workbench import PromptInfo

MOST_PROMPTS = 500
"""Prompts of one server that become commands; the others are still in the list of `/prompt`."""

_WORD = re.compile(r"/(\S+)[^\S\n]*")
_NAME = re.compile(r"[^\W\d][\w:.-]*")
_AS_IT_IS = "Put a space before it to send it as it is."


class Kind(StrEnum):
    """Whose command it is."""

    OWN = "mcptui"
    SNIPPET = "snippet"
    PROMPT = "prompt"


class Takes(StrEnum):
    """Whether something is written behind the name of a command."""

    NOTHING = "nothing"
    MAYBE = "maybe"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Spec:
    """A command that can be written.

    Attributes:
        name: what is written behind the slash.
        usage: its arguments as they are shown: "[NAME [ID]]", or "".
        help: what it does, a sentence without a full stop.
        takes: whether something is written behind it.
        kind: whose it is.
        names: the names of its arguments, for a snippet or a prompt.
        required: those that must have a value.
        server: whose prompt it is.
        target: the prompt's own name, or the snippet's text.
    """

    name: str
    usage: str
    help: str
    takes: Takes = Takes.NOTHING
    kind: Kind = Kind.OWN
    names: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    server: str = ""
    target: str = ""


OWN: tuple[Spec, ...] = (
    Spec("model", "[NAME [ID]]", "Ask another model from now on", Takes.MAYBE),
    Spec("tools", "[SERVER]", "Show what the model can call", Takes.MAYBE),
    Spec("prompt", "[NAME [ARGUMENT=VALUE …]]", "Put a prompt of a server into the message", Takes.MAYBE),
    Spec("resource", "[URI]", "Attach a resource of a server", Takes.MAYBE),
    Spec("system", "[TEXT]", "Tell the model how to behave in this conversation", Takes.MAYBE),
    Spec("clear", "", "Begin a new conversation"),
    Spec("compact", "", "Summarise the older part of the conversation for the model"),
    Spec("export", "[markdown|json|html] [PATH]", "Write the conversation to a file", Takes.MAYBE),
    Spec("retry", "", "Ask the last question again"),
    Spec("sessions", "", "Go on with another conversation"),
    Spec(
        "rename",
        "[TITLE]",
        "Give the conversation another title; alone: the model makes it",
        Takes.MAYBE,
    ),
    Spec("branch", "", "Go on with a copy of the conversation"),
    Spec("help", "", "Show every key and every command"),
)

ELSEWHERE = (
    ("/SERVER:PROMPT ARGUMENT=VALUE …", "Put what a prompt of a server gives into the message"),
    ("/SNIPPET TEXT …", "Put a text of [snippets] in the configuration into the message"),
    ("@PATH, @SERVER:URI", "Anywhere in a message: attach a file or a resource"),
)
"""What can be written besides our own commands, for the help."""

OWN_NAMES = frozenset(spec.name for spec in OWN)


def of_snippets(snippets: Mapping[str, str]) -> list[Spec]:
    """Return the commands that stand for texts of the configuration; none takes the name of our own."""
    return [
        Spec(
            name,
            usage_of(names_in(text)),
            clean_line(text, 80),
            Takes.MAYBE,
            Kind.SNIPPET,
            names_in(text),
            names_in(text),
            target=text,
        )
        for name, text in snippets.items()
        if name not in OWN_NAMES
    ]


def of_prompts(prompts: "Iterable[PromptInfo]") -> list[Spec]:
    """Return the commands that stand for prompts, named `server:prompt`.

    Names are the server's own text: what cannot be written in a word becomes `_`.
    """
    found: list[Spec] = []
    taken: set[str] = set()
    exact_first = sorted(list(prompts)[:MOST_PROMPTS], key=lambda one: _word_of(one) != _plain(one))
    for prompt in exact_first:
        word = _word_of(prompt)
        name = next(free for free in (word, *(f"{word}_{at}" for at in range(2, 1000))) if free not in taken)
        taken.add(name)
        names = tuple(argument.name for argument in prompt.arguments)
        required = tuple(argument.name for argument in prompt.arguments if argument.required)
        found.append(
            Spec(
                name,
                usage_of(names, required),
                clean_line(prompt.description or prompt.title, 100) or f"A prompt of {prompt.server}",
                Takes.MAYBE if names else Takes.NOTHING,
                Kind.PROMPT,
                names,
                required,
                prompt.server,
                prompt.name,
            )
        )
    return found


def _plain(prompt: "PromptInfo") -> str:
    return f"{prompt.server}:{prompt.name}"


def _word_of(prompt: "PromptInfo") -> str:
    """Return how a prompt can be written: one word without a slash at its beginning."""
    return re.sub(r"\s+|^/+", "_", clean_line(_plain(prompt), 128))


def usage_of(names: Sequence[str], required: Sequence[str] | None = None) -> str:
    """Return arguments as they are shown: `city=… [days=…]`."""
    words = (
        f"{clean_line(name, 30)}=…" if required is None or name in required else f"[{clean_line(name, 30)}=…]"
        for name in names
    )
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Command:
    """A command with what stands behind its name."""

    spec: Spec
    rest: str


@dataclass(frozen=True, slots=True)
class Slip:
    """No command is called so; or a command does not take what stands behind it.

    Attributes:
        problem: what is wrong, for the person.
    """

    problem: str


def read(text: str, specs: Sequence[Spec]) -> Command | Slip | None:
    """Return what a message means as a command; None if it is a message.

    Args:
        text: as it was written. Only a slash at its very start makes a command.
        specs: what there is.
    """
    found = _WORD.match(text)
    if found is None:
        return None
    word, rest = found.group(1), text[found.end() :].strip()
    by_name = {spec.name: spec for spec in reversed(specs)}
    spec = by_name.get(word)
    if spec is not None:
        return _fitting(spec, rest)
    if not _NAME.fullmatch(word):
        return None
    near = nearest(word, by_name)
    known = f"/{near} there is" if near else "/help lists them"
    return Slip(f"There is no command /{clean_line(word, 40)}; {known}. {_AS_IT_IS}")


def _fitting(spec: Spec, rest: str) -> Command | Slip:
    if rest and spec.takes is Takes.NOTHING:
        return Slip(f"/{spec.name} takes nothing behind it. {_AS_IT_IS}")
    if not rest and spec.takes is Takes.TEXT:
        return Slip(f"Write it with its argument: /{spec.name} {spec.usage}")
    return Command(spec, rest)


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name that `word` may be meant for: one that begins so, or with a slip of the pen; or ""."""
    word = word.lower()
    if len(word) > 130:
        return ""
    known = list(names)
    if len(word) >= 3:
        for name in known:
            if name.lower().startswith(word):
                return name
    slips = 1 if len(word) <= 5 else 2
    best, found = slips + 1, ""
    for name in known:
        if abs(len(name) - len(word)) <= slips and (far := _distance(word, name.lower())) < best:
            best, found = far, name
    return found if len(word) >= 3 else ""


def _distance(one: str, other: str) -> int:
    """Return how many letters are wrong, missing, too many, or changed places with the next."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
