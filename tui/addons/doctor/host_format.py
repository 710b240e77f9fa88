"""What mcptui reads in the file of another host, and that host may not: comments, one string for a list."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tui.addons.doctor.habits import ARGS, BOM, COMMA, COMMENT, ENV, ENV_FILE, HABITS, LINE, Habits
from tui.addons.doctor.steps import HOST, Step
from tui.core.programs import is_command_line
from tui.core.text import clean_line, mapping
from tui.settings.foreign.file import without_comments

_FIXES = {
    BOM: "save the file as UTF-8 without it",
    COMMENT: "remove it",
    COMMA: "remove it",
    LINE: "put only the program in `command`, and each argument in `args`",
    ARGS: "make it a list, with each argument in quotes",
    ENV: "write it in quotes",
    ENV_FILE: "create it, or correct its path",
}


def file_steps(title: str, raw: bytes) -> Iterator[Step]:
    """Yield what the host makes of the text of its file."""
    if raw.startswith(b"\xef\xbb\xbf"):
        yield from _step(title, BOM)
    text = raw.decode("utf-8-sig", "replace")
    plain = without_comments(text)
    at, seen = 0, set[str]()
    while at < len(text):
        if text[at] == plain[at]:
            at += 1
            continue
        mark, end = (COMMA, at + 1) if text[at] == "," else (COMMENT, _end_of_comment(text, at))
        if mark not in seen:
            seen.add(mark)
            line = text.count("\n", 0, at) + 1
            yield from _step(title, mark, f" in line {line}")
        at = end


def _end_of_comment(text: str, at: int) -> int:
    mark = "*/" if text.startswith("/*", at) else "\n"
    end = text.find(mark, at + 2)
    return len(text) if end < 0 else end + len(mark)


def entry_steps(title: str, entry: Mapping[str, Any], table: str | None) -> Iterator[Step]:
    """Yield what the host makes of an entry under the key `table`, None if that is not known."""
    habits = HABITS.get(title, Habits())
    if table is not None and habits.table not in ("", table.rpartition(".")[2]):
        found = f"`{clean_line(table, 40)}`" if table else "no key"
        fix = f"put it under `{habits.table}`"
        yield Step.failed(
            HOST, f"{title} reads servers under `{habits.table}`, and this is under {found}", fix
        )
    command, args = entry.get("command"), entry.get("args")
    if isinstance(command, str) and is_command_line(command):
        yield from _step(title, LINE)
    if args is not None and not isinstance(args, list):
        yield from _step(title, ARGS)
    for name, value in mapping(entry.get("env")).items():
        if isinstance(value, bool | int | float):
            yield from _step(title, ENV, f" ({clean_line(name, 60)})")
    if isinstance(path := entry.get("envFile"), str) and path:
        for reference, place in (("workspaceFolder", Path.cwd()), ("userHome", Path.home())):
            path = path.replace(f"${{{reference}}}", str(place))
        if "${" not in path and not os.path.isfile(os.path.expanduser(path)):
            yield from _step(title, ENV_FILE, f": {clean_line(path, 120)}")


def _step(title: str, mark: str, more: str = "") -> Iterator[Step]:
    habits = HABITS.get(title, Habits())
    if mark in habits.rejects:
        yield Step.failed(HOST, f"{title} rejects {mark}{more}", _FIXES[mark])
    elif mark not in habits.accepts:
        host = title.replace("This host", "this host")
        yield Step.warning(HOST, f"{mark}{more}: mcptui reads it, {host} may not", _FIXES[mark])
