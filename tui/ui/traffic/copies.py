"""An entry as text for the clipboard: as it travelled, indented, as curl, as Python. Pure."""

import json
import pprint
import shlex

from tui.core.traffic import Entry, Kind

WAYS = {
    "raw": "raw, as it travelled",
    "json": "JSON, indented",
    "curl": "curl, or a line for the server's stdin",
    "python": "Python",
}
"""How an entry can be copied, and what a person reads."""

MOST = 1024 * 1024
"""Bytes beyond which the clipboard is not the place."""


def copied(way: str, entry: Entry, body: bytes, url: str) -> str:
    """Return an entry as text.

    Args:
        way: one of `WAYS`.
        entry: which.
        body: its body.
        url: where its server listens, "" if it is spoken to over pipes.
    """
    match way:
        case "json":
            return _indented(body)
        case "curl":
            return _curl(entry, body, url)
        case "python":
            return _python(entry, body)
        case _:
            return body.decode("utf-8", "replace")


def _indented(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _curl(entry: Entry, body: bytes, url: str) -> str:
    text = shlex.quote(body.decode("utf-8", "replace"))
    if not url:
        return f"printf '%s\\n' {text}"
    headers = ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    given = entry.detail.get("headers")
    if isinstance(given, dict):
        known = {"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"}
        headers += [f"{name}: {value}" for name, value in given.items() if str(name).lower() in known]
    lines = [f"curl -N {shlex.quote(url)}", *(f"-H {shlex.quote(header)}" for header in headers)]
    return " \\\n  ".join([*lines, f"--data-raw {text}"])


def _python(entry: Entry, body: bytes) -> str:
    try:
        frame = json.loads(body)
    except (ValueError, RecursionError):
        return f"line = {body!r}"
    params = frame.get("params") if isinstance(frame, dict) else None
    if entry.kind is Kind.REQUEST and entry.method == "tools/call" and isinstance(params, dict):
        arguments = pprint.pformat(params.get("arguments", {}), width=88, sort_dicts=False)
        return f"arguments = {arguments}\nresult = await session.call_tool({params.get('name')!r}, arguments)"
    return f"frame = {pprint.pformat(frame, width=88, sort_dicts=False)}"
