"""Configuration files of other hosts: the edits that put a tap before a server.

Reads and writes no file. Only the text of `command` and `args` of a server is edited, so that comments,
formatting and order stay as they are.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.errors import ConfigError
from tui.core.jsonrpc.skimmer import items, outline
from tui.core.text import mapping
from tui.settings.foreign.file import without_comments
from tui.settings.foreign.scopes import ROOTS

Keys = tuple[str, ...]

_URLS = ("url", "serverUrl", "httpUrl")
_PROGRAMS = ("mcptui", "mcptui-host")
_UNSAFE = "cannot be changed safely: it contains a duplicate key."


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the text of the value at `keys`. `after` may add a member after the value."""

    keys: Keys
    before: str
    after: str


class HostFile:
    """The text of another host's file: JSON with optional comments and trailing commas.

    Raises ValueError (JSONDecodeError if the place is known) or RecursionError if it is not JSON.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._plain = without_comments(text)
        self.tree = json.loads(self._plain)
        # One byte per character, so that offsets stay the same.
        self._bytes = self._plain.encode("ascii", "replace")

    def servers(self, project: str) -> Iterator[Keys]:
        """Yield the keys of each server: of all projects, and of `project` (Claude Code)."""
        for root in (("projects", project, "mcpServers"), *ROOTS):
            for name, entry in mapping(self.at(keys := tuple(map(str, root)))).items():
                if isinstance(entry, Mapping) and ("command" in entry or url_of(entry)):
                    yield (*keys, name)

    def at(self, keys: Keys) -> Any:
        """Return the value at `keys`, None if there is none."""
        value = self.tree
        for key in keys:
            value = mapping(value).get(key)
        return value

    def span(self, keys: Keys) -> tuple[int, int]:
        """Return start and end of the text of an existing value."""
        start, end = 0, len(self.text)
        try:
            for key in keys:
                start, end = outline(self._bytes, start).members[key.encode("ascii", "replace").decode()]
        except (ValueError, KeyError) as error:
            raise ConfigError(_UNSAFE) from error
        return start, end

    def line(self, keys: Keys) -> int:
        return self.text.count("\n", 0, self.span(keys)[0]) + 1

    def value_text(self, keys: Keys) -> str:
        start, end = self.span(keys)
        return self.text[start:end]

    def edited(self, edits: Sequence[Edit]) -> str:
        """Return the text with these edits; raises ConfigError if a text to replace is missing."""
        text = self.text
        for edit in sorted(edits, key=lambda one: -self.span(one.keys)[0]):
            start = self.span(edit.keys)[0]
            if not text.startswith(edit.before, start):
                raise ConfigError("its command or args changed.")
            text = text[:start] + edit.after + text[start + len(edit.before) :]
        return text

    def with_first(self, keys: Keys, words: Sequence[str]) -> Edit:
        """Return the edit that inserts words at the start of a list."""
        start, end = self.span(keys)
        old, plain = self.text[start:end], self._plain[start + 1 : end - 1]
        new = ", ".join(map(_quoted, words))
        if not plain.strip():
            return Edit(keys, old, f"[{new}{old[1:]}")
        gap = old[1 : 1 + len(plain) - len(plain.lstrip())]
        if gap.strip():  # a comment
            return Edit(keys, old, f"[{new},{old[1:]}")
        return Edit(keys, old, f"[{gap}{new},{gap or ' '}{old[1 + len(gap) :]}")

    def without_first(self, keys: Keys, count: int) -> Edit:
        """Return the edit that removes the first `count` words of a list."""
        start, end = self.span(keys)
        places = [place for place, _ in items(self._bytes, start, count + 1)]
        rest = self.text[places[count] : end] if count < len(places) else "]"
        return Edit(
            keys, self.text[start:end], f"{self.text[start : places[0]]}{rest}" if rest != "]" else "[]"
        )

    def gap(self, keys: Keys) -> str:
        """Return the white space to insert between the value at `keys` and a new member."""
        start = self.span(keys)[0]
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        indent = line[: len(line) - len(line.lstrip())]
        if not line.lstrip().startswith('"') or "\n" not in self.value_text(keys[:-1]):
            return " "
        return ("\r\n" if "\r\n" in self.text else "\n") + indent


def url_of(entry: Mapping[str, Any]) -> str:
    """Return the URL of a remote server, or ""."""
    return next((entry[key] for key in _URLS if isinstance(entry.get(key), str)), "")


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
    new = Edit(command, old, _quoted(tap[0]))
    words = [*tap[1:], str(inner)]
    if file.at(args) is not None:
        return [new, file.with_first(args, words)]
    added = f',{file.gap(command)}"args": [{", ".join(map(_quoted, words))}]'
    return [Edit(command, old, new.after + added)]


def untapped(file: HostFile, keys: Keys) -> list[Edit]:
    """Return the edits that remove a tap, derived from the entry alone."""
    command, args, inner = _places(file, keys)
    words = argv_of(file, keys)
    length = tap_length(words)
    if isinstance(inner, list):
        return [file.without_first(command, length)]
    new = Edit(command, file.value_text(command), _quoted(words[length]))
    return [new, file.without_first(args, length)]


def checked(file: HostFile, keys: Keys, edits: Sequence[Edit], words: Sequence[str]) -> HostFile:
    """Return the edited file; raises ConfigError unless only the command line changed."""
    try:
        after = HostFile(file.edited(edits))
    except (ValueError, RecursionError) as error:
        raise ConfigError(_UNSAFE) from error
    if argv_of(after, keys) != list(words) or _rest(after, keys) != _rest(file, keys):
        raise ConfigError(_UNSAFE)
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


def _quoted(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)
