"""Slash commands: their list, and their arguments. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from tui.core.language.translate import N_, _
from tui.core.text import clean_line
from tui.ui.keys.action_table import action as table_action
from tui.ui.keys.command_spec import CommandKind, CommandSpec

if TYPE_CHECKING:  # not needed for the first frame
    from tui.core.workbench import PromptInfo


_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w-]{0,63})\}")
_VALUE = r"""(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|(?P<bare>\S*))"""
_PAIR = re.compile(rf"(?P<name>[^\s=\"']+)={_VALUE}(?=\s|$)", re.DOTALL)
_ARGUMENT = re.compile(rf"{_VALUE}(?=\s|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """The values of a command, the missing required names, and text that belongs to no argument, or ""."""

    values: Mapping[str, str]
    missing: tuple[str, ...] = ()
    unknown: str = ""


def parse_arguments(rest: str, names: Sequence[str], required: Sequence[str] = ()) -> ParsedArguments:
    """Parse the text after the name of a command: `name=value` pairs, quoted if need be, and values.

    Values without a name are assigned to the arguments without a value, in order. The last of these takes the
    rest, so that a command with one argument needs no quotes.
    """
    values, loose = _pairs(rest, frozenset(names))
    free = [name for name in names if name not in values]
    while free and loose:
        if len(free) == 1:
            found = _ARGUMENT.fullmatch(loose)
            values[free.pop()] = _value(found) if found is not None else loose
            loose = ""
            break
        found = _ARGUMENT.match(loose)
        if found is None or not found.group():
            break
        values[free.pop(0)] = _value(found)
        loose = loose[found.end() :].lstrip()
    missing = tuple(name for name in required if not values.get(name))
    ordered = {name: values[name] for name in names if name in values}
    return ParsedArguments(ordered, missing, loose)


def _pairs(rest: str, names: frozenset[str]) -> tuple[dict[str, str], str]:
    """Return the pairs with known names, and the rest of the text."""
    values: dict[str, str] = {}
    parts: list[str] = []
    position = 0
    for found in _PAIR.finditer(rest):
        begins_word = not found.start() or rest[found.start() - 1].isspace()
        if begins_word and found.start() >= position and found.group("name") in names:
            values[found.group("name")] = _value(found)
            parts.append(rest[position : found.start()])
            position = found.end()
    parts.append(rest[position:])
    return values, " ".join(part for part in map(str.strip, parts) if part)


def _value(found: re.Match[str]) -> str:
    if (text := found.group("double")) is not None:
        return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    return found.group("single") if found.group("single") is not None else found.group("bare")


def pair(name: str, value: str) -> str:
    """Return an argument in the form in which it is typed."""
    if value and not re.search(r"[\s\"'\\]", value):
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name}="{escaped}"'


def names_in(template: str) -> tuple[str, ...]:
    """Return the distinct names of a snippet's placeholders, `{like_this}`, in order."""
    return tuple(dict.fromkeys(found for found in _PLACE.findall(template) if found))


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a snippet with its placeholders replaced; `{{` and `}}` become braces, other braces stay."""

    def place(found: re.Match[str]) -> str:
        if found.group(1) is None:
            return found.group()[0]
        return values.get(found.group(1), found.group())

    return _PLACE.sub(place, template)


MOST_PROMPTS = 500
"""Maximum prompts of one server that become commands; `/prompt` lists the others."""


def _own(
    name: str,
    usage: str,
    help: str = "",
    *,
    action: str = "",
    method: str = "",
    suggests: str = "",
    alone: bool = False,
) -> CommandSpec:
    """Return a command of mcptui; its text is that of its action, unless it has one of its own."""
    return CommandSpec(name, usage, help or table_action(action).help, action, method, suggests, alone)


# fmt: off
OWN: tuple[CommandSpec, ...] = (
    _own("model", "[NAME [ID]] [effort LEVEL]", action="chat.models", method="model", suggests="models",
        alone=True),
    _own("key", "", "Paste an API key for the model", method="key", alone=True),
    _own("tools", "[SERVER]", "List the tools available to the model", method="tools", suggests="servers"),
    _own("prompt", "[NAME [ARGUMENT=VALUE …]]", "Insert a prompt of a server", method="prompt",
        suggests="prompt_names"),
    _own("resource", "[URI]", "Attach a resource of a server", method="resource", suggests="resource_uris"),
    _own("skills", "[SERVER/NAME|off]", "Load a skill of a server, or turn off those that are loaded",
        method="skills", suggests="skill_names"),
    _own("events", "", "Show subscriptions to servers, and the inbox of their events", method="events"),
    _own("login", "[SERVER]", "Sign in to a remote server", method="login", suggests="remote_servers"),
    _own("logout", "[SERVER]", "Delete the tokens of a remote server", method="logout",
        suggests="remote_servers"),
    _own("system", "[TEXT]", "Set the system prompt of this conversation", action="chat.system",
        method="system", alone=True),
    _own("context", "", "Show the tokens of the next request by part", method="context"),
    _own("instructions", "", "Review AGENTS.md of this folder", method="instructions"),
    _own("clear", "", "New conversation", method="clear", alone=True),
    _own("compact", "", "Summarize older messages for the model", method="compact", alone=True),
    _own("export", "[markdown|json|html] [PATH]", action="chat.export", method="export", suggests="exports"),
    _own("retry", "", "Retry the last question", method="retry", alone=True),
    _own("sessions", "", action="chat.sessions", alone=True),
    _own("rename", "[TITLE]", "Rename the conversation, or let the model suggest a title", method="rename"),
    _own("branch", "", "Continue in a copy of the conversation", method="branch", alone=True),
    _own("rules", "", action="rules.open"),
    _own("config", "", action="config.edit"),
    _own("status", "", "Show model, servers, limits, cost, session, theme and files", method="status"),
    _own("help", "", action="app.help"),
    _own("quit", "", "Quit mcptui", action="app.quit"),
    _own("exit", "", "Quit mcptui", action="app.quit"),
)
# fmt: on

ELSEWHERE = (
    (N_("/SERVER:PROMPT ARGUMENT=VALUE …"), N_("Insert a prompt of a server")),
    (N_("/SNIPPET TEXT …"), N_("Insert a snippet of the configuration")),
    (
        N_("@PATH, @SERVER:URI"),
        N_("Attach a file, a resource or a skill, anywhere in a message: tab selects it"),
    ),
)
"""Other input that works like a command, for the help."""


OWN_NAMES = frozenset(spec.name for spec in OWN)


def of_snippets(snippets: Mapping[str, str]) -> list[CommandSpec]:
    """Return the commands for the configured snippets; none replaces a command of mcptui."""
    return [
        CommandSpec(
            name,
            usage_of(names_in(text)),
            clean_line(text, 80),
            kind=CommandKind.SNIPPET,
            names=names_in(text),
            required=names_in(text),
            target=text,
        )
        for name, text in snippets.items()
        if name not in OWN_NAMES
    ]


def of_prompts(prompts: "Iterable[PromptInfo]") -> list[CommandSpec]:
    """Return the commands for prompts, named `server:prompt`.

    Characters of the server's names that cannot be part of a word become `_`.
    """
    found: list[CommandSpec] = []
    taken: set[str] = set()
    words = [(_word_of(one), one) for one in islice(prompts, MOST_PROMPTS)]
    exact_first = sorted(words, key=lambda one: one[0] != f"{one[1].server}:{one[1].name}")
    for word, prompt in exact_first:
        name = next(free for free in (word, *(f"{word}_{at}" for at in range(2, 1000))) if free not in taken)
        taken.add(name)
        names = tuple(argument.name for argument in prompt.arguments)
        required = tuple(argument.name for argument in prompt.arguments if argument.required)
        found.append(
            CommandSpec(
                name,
                usage_of(names, required),
                clean_line(prompt.description or prompt.title, 100)
                or _("A prompt of {server}", server=prompt.server),
                kind=CommandKind.PROMPT,
                names=names,
                required=required,
                server=prompt.server,
                target=prompt.name,
            )
        )
    return found


def _word_of(prompt: "PromptInfo") -> str:
    """Return the command name of a prompt: one word that does not start with a slash."""
    return re.sub(r"\s+|^/+", "_", clean_line(f"{prompt.server}:{prompt.name}", 128))


def usage_of(names: Sequence[str], required: Sequence[str] | None = None) -> str:
    """Return arguments as displayed: `city=… [days=…]`."""
    words = {name: f"{clean_line(name, 30)}=…" for name in names}
    return " ".join(
        one if required is None or name in required else f"[{one}]" for name, one in words.items()
    )


_QUIT_LIKE_VI = frozenset({":q", ":q!", ":qa", ":qa!", ":x", ":wq", ":wq!"})
_WISHES = {
    **dict.fromkeys((*_QUIT_LIKE_VI, "quit", "exit"), "app.quit"),
    **dict.fromkeys(("help", ":h", ":help", "?"), "app.help"),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What a message that is one word of other programs asks for; `certain` if it can mean nothing else."""

    action: str
    certain: bool


def wish_of(text: str) -> Wish | None:
    """Return what a message such as `:q` wishes, or None. A space before the word makes it a message."""
    word = text.rstrip().lower()
    return Wish(_WISHES[word], word in _QUIT_LIKE_VI) if word in _WISHES else None
