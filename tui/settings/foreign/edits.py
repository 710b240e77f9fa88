"""Edits of another host's JSON file, which keep its comments, formatting and order. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.errors import ConfigError
from tui.core.jsonrpc.skimmer import items, outline
from tui.core.text import mapping
from tui.settings.foreign.file import without_comments
from tui.settings.foreign.scopes import ROOTS

Keys = tuple[str, ...]

UNSAFE = "cannot be changed safely: it contains a duplicate key."
_URLS = ("url", "serverUrl", "httpUrl")


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
            raise ConfigError(UNSAFE) from error
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
        new = ", ".join(map(quoted, words))
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
        return self._gap(self.span(keys)[0], self.span(keys[:-1]))

    def _gap(self, start: int, holder: tuple[int, int]) -> str:
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        if not line.lstrip().startswith('"') or "\n" not in self.text[slice(*holder)]:
            return " "
        return ("\r\n" if "\r\n" in self.text else "\n") + self._indent(start)

    # ---- members ---------------------------------------------------------------------------------------

    def with_member(self, path: Keys, value: Any) -> "HostFile":
        """Return the file with a new member, after the others; raises ConfigError if it cannot have it."""
        depth = next((at for at in range(len(path) - 1, 0, -1) if self.at(path[:at]) is not None), 0)
        base, (name, *rest) = path[:depth], path[depth:]
        holder = self.at(base)
        if not isinstance(holder, dict) or name in holder:
            raise ConfigError(f"`{'.'.join(path[: depth + 1])}` is not what mcptui expects there.")
        for key in reversed(rest):
            value = {key: value}
        start, end = self._object(base)
        if not holder:
            indent = self._indent(start)
            step = "\t" if "\n\t" in self.text else "  "
            inside = self.text[start + 1 : end - 1].rstrip()
            member = _member(name, value, f"\n{indent}{step}", step)
            changed = f"{self.text[: start + 1]}{inside}{member}\n{indent}{self.text[end - 1 :]}"
            return self._holding(changed, path)
        last, behind = max(outline(self._bytes, start).members.values())
        gap = self._gap(last, (start, end))
        step = gap.lstrip("\r\n").removeprefix(self._indent(start)) or "  "
        member = _member(name, value, gap, step)
        after = self.text[behind : end - 1]
        has_comma = after.lstrip().startswith(",")
        line = after.partition("\n")[0].rstrip("\r") if "\n" in gap else after[: after.find(",") + 1]
        before, comma = ("", ",") if has_comma else (",", "")
        kept = f"{before}{line}{member}{comma}"
        return self._holding(f"{self.text[:behind]}{kept}{self.text[behind + len(line) :]}", path)

    def without_member(self, path: Keys) -> "HostFile":
        """Return the file without a member, which must exist; raises ConfigError if that cannot be done."""
        holder, close = self._object(path[:-1])
        start, end = self.span(path)
        siblings = outline(self._bytes, holder).members.values()
        key_at = self._plain.rfind('"', 0, self._plain.rfind('"', 0, start))
        ends, starts = (
            [last for _, last in siblings if last < start],
            any(first > end for first, _ in siblings),
        )
        if ends:
            begin = max(ends)
            between = self.text[begin:key_at]
            line = between.partition("\n")[0].lstrip(" ,") if "\n" in between else ""
            tail = f"{' ' if line else ''}{line}"
            comma = self.text[end:].lstrip().startswith(",") and not starts
            return self._lacking(f"{self.text[:begin]}{',' if comma else ''}{tail}", end, path, comma)
        if starts:
            following = self._plain.index('"', self._plain.index(",", end))
            return self._lacking(self.text[:key_at], following, path, False)
        is_blank = not self._plain[holder + 1 : key_at].strip()
        return self._lacking(self.text[: holder + 1 if is_blank else key_at], close - 1, path, False)

    def _lacking(self, before: str, end: int, path: Keys, comma: bool) -> "HostFile":
        rest = self.text[end:]
        if comma:
            rest = rest.lstrip()[1:]
        return self._holding(before + rest, path)

    def _holding(self, text: str, path: Keys) -> "HostFile":
        """Return the file of a changed text, if nothing but the member at `path` differs."""
        try:
            after = HostFile(text)
        except (ValueError, RecursionError) as error:
            raise ConfigError(UNSAFE) from error
        if _without(after.tree, path) != _without(self.tree, path):
            raise ConfigError(UNSAFE)
        return after

    def _object(self, keys: Keys) -> tuple[int, int]:
        """Return start and end of an object, also of the whole file."""
        return self.span(keys) if keys else (self._plain.index("{"), self._plain.rindex("}") + 1)

    def _indent(self, place: int) -> str:
        line = self.text[self.text.rfind("\n", 0, place) + 1 : place]
        return line[: len(line) - len(line.lstrip())]


def url_of(entry: Mapping[str, Any]) -> str:
    """Return the URL of a remote server, or ""."""
    return next((entry[key] for key in _URLS if isinstance(entry.get(key), str)), "")


def quoted(word: str) -> str:
    """Return a word as a JSON string."""
    return json.dumps(word, ensure_ascii=False)


def _member(name: str, value: Any, gap: str, step: str) -> str:
    if "\n" not in gap:
        return f"{gap}{quoted(name)}: {json.dumps(value, ensure_ascii=False)}"
    written = json.dumps(value, indent=step, ensure_ascii=False).replace("\n", gap)
    return f"{gap}{quoted(name)}: {written}"


def _without(tree: Any, path: Keys) -> Any:
    """Return a tree without the member at `path`, and without what only holds it."""
    if not isinstance(tree, dict):
        return tree
    rest = {key: value for key, value in tree.items() if key != path[0]}
    if len(path) > 1 and isinstance(tree.get(path[0]), dict) and (inner := _without(tree[path[0]], path[1:])):
        rest[path[0]] = inner
    return rest
