"""The ways to copy a request as text that runs: a command, or a script. Pure.

A secret that is redacted in the arguments becomes a placeholder, and the copy says what to fill in.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from tui.core.jsonrpc.reader import nests_deeper
from tui.core.secrets.secret_names import MARK
from tui.core.secrets.walk import redacted
from tui.core.text import clean_line
from tui.traffic.copies.request import (
    METHODS,
    MOST_DEPTH,
    CopiedRequest,
    Copy,
    Template,
    is_text,
)
from tui.traffic.copies.scripts import python, scripts, typescript
from tui.traffic.copies.shell import curl, mcptui, mcptui_words, verb


def ways(request: CopiedRequest) -> Mapping[str, str]:
    """Return the ways in which a request can be copied, with their labels."""
    server = request.server
    found: dict[str, str] = {}
    if nests_deeper(dict(request.params), MOST_DEPTH) or not is_text(request.subject, *server.command):
        return found
    if request.method in METHODS and mcptui_words(request) is not None:
        found["mcptui"] = f"mcptui {verb(request)} …"
    if server.url and server.transport == "http" and server.revision and request.method != "initialize":
        found["curl"] = "curl"
    return {**found, **scripts(request)} if request.method in METHODS else found


def copied(way: str, request: CopiedRequest) -> Copy:
    """Return a request in one of its `ways`."""
    names: dict[str, None] = {}

    def placeholder(text: str) -> str:
        def fill(found: re.Match[str]) -> str:
            name = re.sub(r"[<>]", "", found.group()[len("[redacted:") : -1]) or "value"
            names[name] = None
            return f"<FILL IN: {name}>"

        return MARK.sub(fill, text)

    headers = {name: placeholder(value) for name, value in request.headers.items()}
    request = replace(request, params=redacted(dict(request.params), placeholder), headers=headers)
    template, comment = Template(), "//" if way == "typescript" else "#"
    write = {"mcptui": mcptui, "curl": curl, "python": python, "typescript": typescript}[way]
    text = write(request, template)
    server, todo = request.server, list[str]()
    if template.needs:
        todo.append(f"Set {', '.join(template.needs)} before you run it.")
    if names:
        marks = clean_line(", ".join(f"<FILL IN: {name}>" for name in names), 1_000)
        text = f"{comment} Fill in before you run this: {marks}\n{text}"
        todo.append(f"Fill in what is redacted: {', '.join(names)}.")
    if server.is_recorded and not server.is_configured:  # it may be of somebody else
        does = f"connects to a URL of the recording: {server.url}"
        if not server.url:
            does = f"starts a command of the recording: {' '.join(server.command)}"
        todo.append(f"It {clean_line(does, 250)}")
    return Copy(text, " ".join(todo))
