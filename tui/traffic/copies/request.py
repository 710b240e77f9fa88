"""A request to copy, its server, and writing texts of both in a language. Pure.

Names and values are foreign. No text has a secret: one of the configuration is `${NAME}` of the environment.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui.core.text import mapping, text_in

MOST_DEPTH = 64
"""Maximum depth of arguments: programs do not read deeper literals."""

OURS = {"name": "copied-from-mcptui", "version": "1.0.0"}
"""How the copies introduce themselves."""

_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OMITTED = frozenset({"_meta", "requestState", "inputResponses"})
"""Params that belong to one request."""

METHODS = {
    "tools/call": "call_tool",
    "resources/read": "read_resource",
    "prompts/get": "get_prompt",
    "tools/list": "list_tools",
    "resources/list": "list_resources",
    "resources/templates/list": "list_resource_templates",
    "prompts/list": "list_prompts",
}
"""The methods that can be copied in every way, with their names in the SDKs."""


@dataclass(frozen=True, slots=True)
class CopiedServer:
    """How a copy reaches its server.

    Texts of `command`, `env`, `url` and `headers` have `${NAME}` for a value of the environment, and `$${`
    for `${`. `options` are those with which mcptui finds a configured server. `revision` is that of the
    protocol that it speaks, "" if unknown. `sign_in` is the value of the `Authorization` header that a
    sign-in adds, or "". `is_recorded`: only a recording, perhaps of somebody else, has its command.
    """

    name: str
    is_configured: bool = False
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: str = "stdio"
    revision: str = ""
    era: str = ""
    sign_in: str = ""
    is_recorded: bool = False

    @property
    def all_headers(self) -> Mapping[str, str]:
        return {**self.headers, **({"Authorization": self.sign_in} if self.sign_in else {})}


@dataclass(frozen=True, slots=True)
class CopiedRequest:
    """A request to a server. `headers` are those of HTTP that repeat arguments (`Mcp-Param-…`).

    `is_unchecked`: its arguments may be invalid, so they are sent without validating them.
    """

    server: CopiedServer
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    is_unchecked: bool = False

    @property
    def arguments(self) -> Mapping[str, Any]:
        return mapping(self.params.get("arguments"))

    @property
    def subject(self) -> str:
        """The tool, prompt or URI, "" for a list."""
        if self.is_list:
            return ""
        return text_in(self.params, "uri" if self.method == "resources/read" else "name")

    @property
    def is_list(self) -> bool:
        return METHODS.get(self.method, "").startswith("list_")


@dataclass(frozen=True, slots=True)
class Copy:
    """A text to copy. `remark` says what to do before it runs."""

    text: str
    remark: str = ""


class Template:
    """Collects the variables of texts with `${NAME}` while they are written in a language."""

    def __init__(self) -> None:
        self.needs: dict[str, None] = {}

    def pieces(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the literal parts and the names of variables, each as a pair with "" for the other."""
        for at, part in enumerate(_VARIABLE.split(text)):
            if at % 2:
                self.needs[part] = None
                yield "", part
            elif part:
                yield part.replace("$${", "${"), ""

    def shell(self, text: str) -> str:
        """Return a word of a POSIX shell, which fails if a variable is not set."""
        words = [f'"${{{name}:?}}"' if name else quoted(literal) for literal, name in self.pieces(text)]
        return "".join(words) or "''"

    def kept(self, text: str) -> str:
        """Return a word in which mcptui itself replaces the variables, so that no process list has values."""
        list(self.pieces(text))
        return quoted(text)

    def expression(self, text: str, write: Callable[[str], str], variable: str) -> str:
        """Return an expression of a programming language; `variable` has `{}` for the name as a literal."""
        parts = [variable.format(write(name)) if name else write(one) for one, name in self.pieces(text)]
        return " + ".join(parts) or write("")


def quoted(text: str) -> str:
    """Return a text as a word of a POSIX shell, without characters that a terminal would act on."""
    if all(char.isprintable() or char in "\n\t" for char in text):
        return shlex.quote(text)
    body = text.rstrip("\n")  # the shell drops the last line breaks of what printf prints
    octets = (
        chr(octet) if 0x20 <= octet < 0x7F and chr(octet) not in "\\%'!\"$`" else f"\\{octet:03o}"
        for octet in body.encode()
    )
    return f"\"$(printf '{''.join(octets)}')\"" + (shlex.quote(text[len(body) :]) if body != text else "")


def json_text(value: Any, indent: int | None = None) -> str:
    """Return JSON in which each character that cannot be printed is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    octets = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{octets[at : at + 4]}" for at in range(0, len(octets), 4))


def is_text(*texts: str) -> bool:
    """Return whether texts can be words of a command line."""
    return all("\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text) for text in texts)


def sent_params(request: CopiedRequest) -> dict[str, Any]:
    """Return the params without what belongs to one request only."""
    return {name: value for name, value in request.params.items() if name not in _OMITTED}
