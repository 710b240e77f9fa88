"""A slash command, and parsing a message that may be one. Pure, and loaded without the table of actions.

Messages are never lost or changed: a message is a command only if it starts with the name of one. One that
only looks like a command is reported. Everything else (`/etc/hosts`, `// a comment`) is a message.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tui.core.language.translate import N_, _, sentences
from tui.core.matching import likely_name
from tui.core.text import clean_line

_WORD = re.compile(r"/(\S+)[^\S\n]*")
_NAME = re.compile(r"[^\W\d][\w:.-]*")
_AS_IT_IS = N_("To send it as a message, put a space before it.")


class CommandKind(StrEnum):
    """The origin of a command."""

    OWN = "mcptui"
    SNIPPET = "snippet"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command.

    Attributes:
        name: without the slash.
        usage: its arguments as displayed: "[NAME [ID]]", or "".
        help: a sentence without a full stop.
        action: the id of the action that it runs without text, or "".
        method: the method of `SlashCommands` that it runs otherwise.
        suggests: the method of `LiveSources` that suggests its text, or "".
        alone: whether it changes the conversation, so that it cannot run during a turn.
        kind: its origin.
        names: names of its arguments, for a snippet or a prompt.
        required: names of its required arguments.
        server: the server of a prompt.
        target: the prompt's own name, or the snippet's text.
    """

    name: str
    usage: str
    help: str
    action: str = ""
    method: str = ""
    suggests: str = ""
    alone: bool = False
    kind: CommandKind = CommandKind.OWN
    names: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    server: str = ""
    target: str = ""

    @property
    def takes_text(self) -> bool:
        """Whether text may follow its name."""
        return bool(self.usage) or self.kind is CommandKind.SNIPPET or self.name == "key"


SlashCommand = tuple[CommandSpec, str]
"""A command and the text after its name."""


def parse_command(text: str, specs: Sequence[CommandSpec]) -> SlashCommand | str | None:
    """Parse a message as a command.

    Return None for an ordinary message, and the problem of one that only looks like a command.
    """
    found = _WORD.match(text)
    if found is None:
        return None
    word, rest = found.group(1), text[found.end() :].strip()
    by_name = {spec.name: spec for spec in reversed(specs)}
    spec = by_name.get(word)
    if spec is not None and rest and not spec.takes_text:
        return sentences(_("/{name} takes no arguments.", name=spec.name), _(_AS_IT_IS))
    if spec is not None:
        return spec, rest
    if not _NAME.fullmatch(word):
        return None
    near = likely_name(word, by_name)
    known = _("Did you mean /{name}?", name=near) if near else _("See /help.")
    return sentences(_("Unknown command /{name}.", name=clean_line(word, 40)), known, _(_AS_IT_IS))
