"""A request as a command of a shell: `mcptui call …`, or curl. Pure.

A command runs whatever names and values contain, and has no character that a terminal would act on.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tui.core.jsonrpc.headers import message_headers
from tui.core.jsonrpc.protocol import (
    CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    VERSION_HEADER,
    VERSION_KEY,
    is_modern,
)
from tui.traffic.copies.request import (
    METHODS,
    OURS,
    CopiedRequest,
    Template,
    is_text,
    json_text,
    quoted,
    sent_params,
)

MOST_WORD = 100_000
"""Maximum bytes of a word of a command line; Linux has a limit of 128 KiB. Larger arguments are its stdin."""

END = "END_OF_ARGUMENTS"


def verb(request: CopiedRequest) -> str:
    """Return the command of mcptui that makes a request."""
    found = METHODS[request.method].partition("_")[0]
    return "prompt" if found == "get" else found


def mcptui_words(request: CopiedRequest) -> Sequence[str] | None:
    """Return the words after the server, literally; None if no command line can have them."""
    arguments = request.arguments
    if request.params.get("arguments", {}) != arguments:
        return None
    match request.method:
        case "tools/call" | "resources/read":
            words = [request.subject]
        case "prompts/get":
            if not all(isinstance(value, str) for value in arguments.values()):
                return None
            words = [request.subject, *(f"{name}={value}" for name, value in arguments.items())]
            if any(not name or "=" in name for name in arguments):
                return None
        case _:
            words = [request.method.partition("/")[0]]
    server = request.server
    if not (server.is_configured or server.url or server.command):
        return None
    whole = [*words, *([server.name] if server.is_configured else [])]
    fits = all(word and word[0] != "-" and len(word) < MOST_WORD // 4 for word in whole)
    return words if fits and is_text(*whole) else None


def mcptui(request: CopiedRequest, template: Template, file_of: Callable[[str], str] = str) -> str:
    """Return a command for a request that has `mcptui_words`.

    `file_of` returns the value of `--args` for a JSON text, which may name a file with it.
    """
    server, shell = request.server, template.shell
    words = ["mcptui", verb(request)]
    if server.is_configured:
        words.append(quoted(server.name))
    elif server.url:
        words.append(shell(server.url))
    words += map(quoted, mcptui_words(request) or ())
    stdin = ""
    if request.method == "tools/call" and (request.arguments or request.is_unchecked):
        text = file_of(json_text(dict(request.arguments)))
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
            words += [f"{option} {template.kept(f'{name}{between}{value}')}" for name, value in pairs.items()]
        words += ["--", *map(shell, server.command)] if server.command else []
        before = f"cd {quoted(server.cwd)} && " if server.command and server.cwd else ""
    line = before + " ".join(words) + (f" <<'{END}'\n{stdin}\n{END}\n" if stdin else "")
    return f"({line})" if before else line.removesuffix("\n")


# ---- curl --------------------------------------------------------------------------------------------------


def curl(request: CopiedRequest, template: Template) -> str:
    """Return one request in the era without a handshake, else the whole session."""
    server, params = request.server, sent_params(request)
    fixed = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    head = [f"curl -sSgN {template.shell(server.url)}", *_headers({**fixed, **server.all_headers}, template)]
    if is_modern(server.revision):
        meta = {VERSION_KEY: server.revision, CLIENT_INFO_KEY: OURS, CAPABILITIES_KEY: {}}
        message = _message(request.method, {**params, "_meta": meta}, 1)
        repeated = message_headers(message, server.revision, None)
        own = {VERSION_HEADER: server.revision, **repeated, **request.headers}
        head += _headers({name: value.replace("${", "$${") for name, value in own.items()}, template)
        return " \\\n  ".join([*head, curl_body(json_text(message))])
    hello = {"protocolVersion": server.revision, "capabilities": {}, "clientInfo": OURS}
    begin, asked = (
        curl_body(json_text(message))
        for message in (_message("initialize", hello, 0), _message(request.method, params, 1))
    )
    post = " \\\n  ".join([*head, '"$@"'])
    ready = json_text({"jsonrpc": "2.0", "method": "notifications/initialized"})
    number = "s/^[Mm][Cc][Pp]-[Ss][Ee][Ss][Ss][Ii][Oo][Nn]-[Ii][Dd]: *//p"
    version = quoted(f"MCP-Protocol-Version: {server.revision}")
    return f"""(
post() {{
  {post}
}}
session=$(post -o /dev/null -D - {begin} | tr -d '\\r' | sed -n '{number}')
call() {{ post -H "Mcp-Session-Id: $session" -H {version} "$@"; }}
call --data-raw {quoted(ready)}
call {asked}
if [ -n "$session" ]; then call -o /dev/null -X DELETE; fi
)"""


def _message(method: str, params: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def _headers(headers: Mapping[str, str], template: Template) -> list[str]:
    return [f"-H {template.shell(f'{name}: {value}')}" for name, value in headers.items()]


def curl_body(text: str) -> str:
    """Return JSON as the body of a request of curl: in the command line, or as its stdin if it is large."""
    if len(quoted(text).encode()) <= MOST_WORD:
        return f"--data-raw {quoted(text)}"
    return f"--data-binary @- <<'{END}'\n{text}\n{END}"
