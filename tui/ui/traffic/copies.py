"""Copies an entry: as raw bytes, JSON, a command or Python."""

import json
import shlex
from contextlib import suppress
from typing import Any

from textual.app import App
from textual.content import Content

from tui.core.traffic import Entry, Kind
from tui.ui.traffic.entry_loader import LoadedEntry
from tui.ui.widgets.page import MOST_COPIED, copy_text

WAYS = {
    "raw": "raw bytes",
    "json": "JSON, indented",
    "curl": "curl, or a line for stdin",
    "python": "Python",
}
"""The formats, with their labels."""


def copy_as(app: App[Any], loaded: LoadedEntry) -> None:
    """Ask for a format, and copy an entry in it."""
    from tui.ui.dialogs.picker import Picker, PickerChoice

    def copy(way: str | None) -> None:
        if way is not None:
            text = copied(way, loaded.entry, loaded.body, str(loaded.entry.detail.get("url", "")))
            copy_text(app, text, f"entry {loaded.entry.seq}")

    if len(loaded.body) > MOST_COPIED:
        copy("raw")
        return
    choices = [PickerChoice(way, Content(label)) for way, label in WAYS.items()]
    app.push_screen(Picker("Copy as", choices), copy)


def copied(way: str, entry: Entry, body: bytes, url: str) -> str:
    """Return an entry in one of `WAYS`; `url` is its server's URL, "" for a server over stdio."""
    match way:
        case "json":
            with suppress(ValueError, RecursionError):
                return json.dumps(json.loads(body), ensure_ascii=False, indent=2)
        case "curl":
            return _curl(entry, body, url)
        case "python":
            return _python(entry, body)
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
    from pprint import pformat  # not needed for the first frame

    try:
        frame = json.loads(body)
    except (ValueError, RecursionError):
        return f"line = {body!r}"
    params = frame.get("params") if isinstance(frame, dict) else None
    if entry.kind is Kind.REQUEST and entry.method == "tools/call" and isinstance(params, dict):
        arguments = pformat(params.get("arguments", {}), width=88, sort_dicts=False)
        return f"arguments = {arguments}\nresult = await session.call_tool({params.get('name')!r}, arguments)"
    return f"frame = {pformat(frame, width=88, sort_dicts=False)}"
