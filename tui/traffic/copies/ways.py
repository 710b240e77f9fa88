"""The ways to copy a request as text that runs: a command, or a script. Pure.

A secret that is redacted in the arguments becomes a placeholder, and the copy says what to fill in.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from tui.core.secrets.secret_names import MARK
from tui.core.secrets.walk import redacted
from tui.traffic.copies.request import METHODS, MOST_DEPTH, CopiedRequest, Copy, Template, depth_of, is_text
from tui.traffic.copies.scripts import is_reached, python, typescript
from tui.traffic.copies.shell import curl, mcptui, mcptui_words, verb


def ways(request: CopiedRequest) -> Mapping[str, str]:
    """Return the ways in which a request can be copied, with their labels."""
    server = request.server
    found: dict[str, str] = {}
    if not _is_copied(request):
        return found
    if request.method in METHODS and mcptui_words(request) is not None:
        found["mcptui"] = f"mcptui {verb(request)} …"
    if server.url and server.transport == "http" and server.revision:
        found["curl"] = "curl"
    if request.method in METHODS and is_reached(request):
        found |= {"python": "Python (SDK)", "typescript": "TypeScript (SDK)"}
    return found


def copied(way: str, request: CopiedRequest) -> Copy:
    """Return a request in one of its `ways`."""
    names: dict[str, None] = {}

    def placeholder(text: str) -> str:
        def fill(found: re.Match[str]) -> str:
            name = re.sub(r"[<>]", "", found.group()[len("[redacted:") : -1]) or "value"
            names[name] = None
            return f"<FILL IN: {name}>"

        return MARK.sub(fill, text)

    request = replace(request, params=redacted(dict(request.params), placeholder))
    template, comment = Template(), "//" if way == "typescript" else "#"
    write = {"mcptui": mcptui, "curl": curl, "python": python, "typescript": typescript}[way]
    text = write(request, template)
    if names:
        said = ", ".join(f"<FILL IN: {name}>" for name in names)
        text = f"{comment} Fill in before you run this: {_line(said)}\n{text}"
    server = request.server
    starts = " ".join(server.command) if server.is_recorded and not server.is_configured else ""
    return Copy(text, tuple(template.needs), tuple(names), starts)


def _line(text: str) -> str:
    """Return a text for a comment."""
    return "".join(char if char.isprintable() else " " for char in text)


def _is_copied(request: CopiedRequest) -> bool:
    """Return whether the params can be written: not too deep, and all of it Unicode."""
    texts = (request.subject, *request.server.command)
    return depth_of(request.params) <= MOST_DEPTH and is_text(*texts)
