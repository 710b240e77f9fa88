"""A request as text that runs: `mcptui call …`, curl, Python and TypeScript with the SDKs. Pure.

Names and values are foreign: what is printed runs whatever they contain, and has no character that a terminal
would act on. A secret is never in it: one of the configuration becomes `${NAME}` of the environment, and one
that is redacted in the arguments becomes a placeholder to fill in.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tui.core.jsonrpc.headers import message_headers
from tui.core.jsonrpc.protocol import (
    CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    VERSION_HEADER,
    VERSION_KEY,
    is_modern,
)
from tui.core.secrets.secret_names import MARK
from tui.core.secrets.walk import redacted
from tui.core.text import mapping, text_in

MOST_DEPTH = 64
"""Maximum depth of arguments: Python and shells of interpreters do not read deeper literals."""

MOST_WORD = 100_000
"""Maximum bytes of a word of a command line; Linux has a limit of 128 KiB. Larger arguments are its stdin."""

END = "END_OF_ARGUMENTS"
OURS = {"name": "copied-from-mcptui", "version": "1.0.0"}
"""How the copies introduce themselves."""

_VARIABLE = re.compile(r"\$(?P<literal>\$\{)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}")
_OMITTED = frozenset({"_meta", "requestState", "inputResponses", "cursor"})
"""Params that belong to one request, or to one connection."""

_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "prompts/list": "prompts",
}
METHODS = frozenset({"tools/call", "resources/read", "prompts/get", *_LISTS})
"""The methods that can be copied in every way."""


@dataclass(frozen=True, slots=True)
class CopiedServer:
    """How a copy reaches its server.

    Texts of `command`, `env`, `url` and `headers` have `${NAME}` for a value of the environment, and `$${`
    for `${`. `options` are those with which mcptui finds a configured server. `revision` is that of the
    protocol that it speaks, "" if unknown. `sign_in` is the value of the `Authorization` header that a
    sign-in adds, or "".
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
        """The tool, prompt or URI."""
        return text_in(self.params, "uri" if self.method == "resources/read" else "name")


@dataclass(frozen=True, slots=True)
class Copy:
    """A text to copy; `needs` are variables to set, `fill` the names of redacted values to fill in."""

    text: str
    needs: tuple[str, ...] = ()
    fill: tuple[str, ...] = ()

    @property
    def remark(self) -> str:
        """What to do before it runs, as sentences, or ""."""
        todo = [f"Set {', '.join(self.needs)} before you run it."] if self.needs else []
        if self.fill:
            todo.append(f"Fill in what is redacted: {', '.join(self.fill)}.")
        return " ".join(todo)


class Template:
    """Collects the variables of texts with `${NAME}` while they are written in a language."""

    def __init__(self) -> None:
        self.needs: dict[str, None] = {}

    def pieces(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the literal parts and the names of variables, each as a pair with "" for the other."""
        at, literal = 0, ""
        for found in _VARIABLE.finditer(text):
            literal += text[at : found.start()] + (found["literal"] or "")
            at = found.end()
            if found["name"]:
                if literal:
                    yield literal, ""
                literal = ""
                self.needs[found["name"]] = None
                yield "", found["name"]
        if literal + text[at:]:
            yield literal + text[at:], ""

    def shell(self, text: str) -> str:
        """Return a word of a POSIX shell, which fails if a variable is not set."""
        words = [f'"${{{name}:?}}"' if name else quoted(literal) for literal, name in self.pieces(text)]
        return "".join(words) or "''"

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


def ways(request: CopiedRequest) -> Mapping[str, str]:
    """Return the ways in which a request can be copied, with their labels."""
    from tui.traffic.copied_scripts import python, typescript  # only when something is copied

    server = request.server
    found: dict[str, str] = {}
    if not _is_copied(request):
        return found
    if request.method in METHODS and _mcptui_words(request) is not None:
        found["mcptui"] = f"mcptui {_verb(request)} …"
    if server.url and server.transport == "http" and server.revision:
        found["curl"] = "curl"
    if request.method in METHODS:
        found |= {"python": "Python (SDK)"} if python(request, Template()) else {}
        found |= {"typescript": "TypeScript (SDK)"} if typescript(request, Template()) else {}
    return found


def copied(way: str, request: CopiedRequest) -> Copy:
    """Return a request in one of its `ways`."""
    from tui.traffic.copied_scripts import python, typescript

    names: dict[str, None] = {}

    def placeholder(text: str) -> str:
        def fill(found: re.Match[str]) -> str:
            name = re.sub(r"[<>]", "", found.group()[len("[redacted:") : -1]) or "value"
            names[name] = None
            return f"<FILL IN: {name}>"

        return MARK.sub(fill, text)

    request = replace(request, params=redacted(dict(request.params), placeholder))
    template, comment = Template(), "//" if way == "typescript" else "#"
    write = {"mcptui": _mcptui, "curl": _curl, "python": python, "typescript": typescript}[way]
    text = write(request, template)
    if names:
        said = ", ".join(f"<FILL IN: {name}>" for name in names)
        text = f"{comment} Fill in before you run this: {quoted_line(said)}\n{text}"
    return Copy(text, tuple(template.needs), tuple(names))


def quoted_line(text: str) -> str:
    """Return a text for a comment."""
    return "".join(char if char.isprintable() else " " for char in text)


def _is_copied(request: CopiedRequest) -> bool:
    """Return whether the params can be written: not too deep, and all of it Unicode."""
    texts = (request.subject, *request.server.command)
    return depth_of(request.params) <= MOST_DEPTH and _is_text(*texts)


def depth_of(value: Any) -> int:
    """Return how deep a JSON value is, without recursion; more than `MOST_DEPTH` is not counted."""
    level, depth = [value], 0
    while level and depth <= MOST_DEPTH:
        depth += 1
        holders = [one for one in level if isinstance(one, Mapping | list | tuple)]
        level = [item for one in holders for item in (one.values() if isinstance(one, Mapping) else one)]
    return depth


def _is_text(*texts: str) -> bool:
    return all("\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text) for text in texts)


def sent_params(request: CopiedRequest) -> dict[str, Any]:
    """Return the params without what belongs to one request only."""
    return {name: value for name, value in request.params.items() if name not in _OMITTED}


# ---- mcptui ------------------------------------------------------------------------------------------------


def _verb(request: CopiedRequest) -> str:
    verbs = {"tools/call": "call", "resources/read": "read", "prompts/get": "prompt"}
    return verbs.get(request.method, "list")


def _mcptui_words(request: CopiedRequest) -> Sequence[str] | None:
    """Return the words after the server, literally; None if no command line can have them."""
    arguments = request.arguments
    match request.method:
        case "tools/call":
            words = [request.subject]
        case "resources/read":
            words = [request.subject]
        case "prompts/get":
            if not all(isinstance(value, str) for value in arguments.values()):
                return None
            words = [request.subject, *(f"{name}={value}" for name, value in arguments.items())]
            if any(not name or "=" in name for name in arguments):
                return None
        case _:
            words = [_LISTS[request.method]]
    server = request.server
    if not (server.is_configured or server.url or server.command):
        return None
    whole = [*words, *([server.name] if server.is_configured else [])]
    fits = all(word and word[0] != "-" and len(word) < MOST_WORD // 4 for word in whole)
    return words if fits and _is_text(*whole) else None


def _mcptui(request: CopiedRequest, template: Template) -> str:
    server, shell = request.server, template.shell
    words = ["mcptui", _verb(request)]
    if server.is_configured:
        words.append(quoted(server.name))
    elif server.url:
        words.append(shell(server.url))
    words += map(quoted, _mcptui_words(request) or ())
    stdin = ""
    if request.method == "tools/call" and (request.arguments or request.is_unchecked):
        text = json_text(dict(request.arguments))
        stdin = text if len(quoted(text).encode()) > MOST_WORD else ""
        words += ["--args", "-" if stdin else quoted(text)]
        words += ["--unchecked"] if request.is_unchecked else []
    before = ""
    if server.is_configured:
        words += map(quoted, server.options)
    else:
        usual = "http" if server.url else "stdio"
        words += ["--transport", server.transport] if server.transport not in ("", usual) else []
        words += ["--era", server.era] if server.era else []
        for option, pairs, between in (("--header", server.headers, ": "), ("--env", server.env, "=")):
            words += [f"{option} {shell(f'{name}{between}{value}')}" for name, value in pairs.items()]
        words += ["--", *map(shell, server.command)] if server.command else []
        before = f"cd {quoted(server.cwd)} && " if server.command and server.cwd else ""
    line = before + " ".join(words) + (f" <<'{END}'\n{stdin}\n{END}\n" if stdin else "")
    return f"({line})" if before else line.removesuffix("\n")


# ---- curl --------------------------------------------------------------------------------------------------


def _curl(request: CopiedRequest, template: Template) -> str:
    """Return one request in the era without a handshake, else the whole session."""
    server, params = request.server, sent_params(request)
    fixed = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    head = ["curl -sSgN", template.shell(server.url), *_headers({**fixed, **server.all_headers}, template)]
    if is_modern(server.revision):
        meta = {VERSION_KEY: server.revision, CLIENT_INFO_KEY: OURS, CAPABILITIES_KEY: {}}
        message = _message(request.method, {**params, "_meta": meta}, 1)
        repeated = message_headers(message, server.revision, None)
        own = {VERSION_HEADER: server.revision, **repeated, **request.headers}
        head += _headers({name: value.replace("${", "$${") for name, value in own.items()}, template)
        return " \\\n  ".join([*head, _body(message)])
    hello = {"protocolVersion": server.revision, "capabilities": {}, "clientInfo": OURS}
    post = " \\\n  ".join([*head, '"$@"'])
    ready = json_text({"jsonrpc": "2.0", "method": "notifications/initialized"})
    number = "s/^[Mm][Cc][Pp]-[Ss][Ee][Ss][Ss][Ii][Oo][Nn]-[Ii][Dd]: *//p"
    version = quoted(f"MCP-Protocol-Version: {server.revision}")
    return f"""(
post() {{
  {post}
}}
session=$(post -o /dev/null -D - {_body(_message("initialize", hello, 0))} | tr -d '\\r' | sed -n '{number}')
call() {{ post -H "Mcp-Session-Id: $session" -H {version} "$@"; }}
call --data-raw {quoted(ready)}
call {_body(_message(request.method, params, 1))}
if [ -n "$session" ]; then call -o /dev/null -X DELETE; fi
)"""


def _message(method: str, params: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def _headers(headers: Mapping[str, str], template: Template) -> list[str]:
    return [f"-H {template.shell(f'{name}: {value}')}" for name, value in headers.items()]


def _body(message: Mapping[str, Any]) -> str:
    text = json_text(message)
    if len(quoted(text).encode()) <= MOST_WORD:
        return f"--data-raw {quoted(text)}"
    return f"--data-binary @- <<'{END}'\n{text}\n{END}"
