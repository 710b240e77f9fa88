"""Configuration files of other hosts: the edits that put a tap before a server.

Reads and writes no file. Only the text of `command` and `args` of a server is edited, so that comments,
formatting and order stay as they are.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.errors import ConfigError
from tui.settings.foreign.edits import UNSAFE, Edit, HostFile, Keys, quoted

_PROGRAMS = ("mcptui", "mcptui-host")


def argv_of(file: HostFile, keys: Keys) -> list[str]:
    """Return the command line of a server, [] if there is none or it is unreadable."""
    entry = file.at(keys)
    if not isinstance(entry, Mapping):
        return []
    if isinstance(entry.get("command"), Mapping):  # Zed
        entry = {"command": entry["command"].get("path"), "args": entry["command"].get("args")}
    command, args = entry.get("command"), entry.get("args", [])
    words = command if isinstance(command, list) else [command]  # opencode has a list
    if not isinstance(args, list) or not all(isinstance(word, str | int | float) for word in (*words, *args)):
        return []
    return [str(word) for word in (*words, *args)] if words else []


def tap_length(words: Sequence[str]) -> int:
    """Return the number of words of the tap in a command line, including its `--`, or 0 without a tap."""
    for at in range(1, min(len(words), 8)):
        before = os.path.splitext(os.path.basename(words[at - 1]))[0]
        ours = before in _PROGRAMS or list(words[at - 2 : at]) == ["-m", "tui"]
        if words[at] == "tap" and ours and "--" in words[at:-1]:
            return words.index("--", at) + 1
    return 0


def tapped(file: HostFile, keys: Keys, tap: Sequence[str]) -> list[Edit]:
    """Return the edits that insert the words of a tap, including its `--`, before a server's command line."""
    command, args, inner = _places(file, keys)
    if isinstance(inner, list):
        return [file.with_first(command, tap)]
    old = file.value_text(command)
    new = Edit(command, old, quoted(tap[0]))
    words = [*tap[1:], str(inner)]
    if file.at(args) is not None:
        return [new, file.with_first(args, words)]
    added = f',{file.gap(command)}"args": [{", ".join(map(quoted, words))}]'
    return [Edit(command, old, new.after + added)]


def untapped(file: HostFile, keys: Keys) -> list[Edit]:
    """Return the edits that remove a tap, derived from the entry alone."""
    command, args, inner = _places(file, keys)
    words = argv_of(file, keys)
    length = tap_length(words)
    if isinstance(inner, list):
        return [file.without_first(command, length)]
    new = Edit(command, file.value_text(command), quoted(words[length]))
    return [new, file.without_first(args, length)]


def checked(file: HostFile, keys: Keys, edits: Sequence[Edit], words: Sequence[str]) -> HostFile:
    """Return the edited file; raises ConfigError unless only the command line changed."""
    try:
        after = HostFile(file.edited(edits))
    except (ValueError, RecursionError) as error:
        raise ConfigError(UNSAFE) from error
    if argv_of(after, keys) != list(words) or _rest(after, keys) != _rest(file, keys):
        raise ConfigError(UNSAFE)
    return after


def _rest(file: HostFile, keys: Keys) -> Any:
    """Return everything but a server's command line."""

    def without(value: Any, path: Keys) -> Any:
        if not isinstance(value, Mapping):
            return value
        if path:
            return {key: without(one, path[1:]) if key == path[0] else one for key, one in value.items()}
        rest = {key: one for key, one in value.items() if key not in ("command", "args", "path")}
        if isinstance(value.get("command"), Mapping):
            rest["command"] = without(value["command"], ())
        return rest

    return without(file.tree, keys)


def _places(file: HostFile, keys: Keys) -> tuple[Keys, Keys, Any]:
    """Return the keys of a server's command and arguments, and the value of the first."""
    if isinstance(file.at((*keys, "command")), Mapping):  # Zed
        keys = (*keys, "command")
        return (*keys, "path"), (*keys, "args"), file.at((*keys, "path"))
    return (*keys, "command"), (*keys, "args"), file.at((*keys, "command"))
