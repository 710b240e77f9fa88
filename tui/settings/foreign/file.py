"""Reads the server lists of other hosts, such as Claude, Cursor, VS Code, Zed, Gemini CLI and Codex.

Each entry is converted to a common format (`entry`), then to the table under `[servers.NAME]` in our file.
Knows JSON with comments, the TOML of Codex, and the YAML of goose and Continue. A note names what has no
counterpart, is not imported, or was converted.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tui.core.errors import reason_of
from tui.core.secrets.commands_and_urls import masked
from tui.core.text import clean_line, list_in, mapping
from tui.core.units import bounded
from tui.settings.files import toml_of
from tui.settings.foreign.entry import SAME, in_common_format, is_provided, own_variables, runs_shell
from tui.settings.foreign.scopes import ROOTS, Found, servers_of
from tui.settings.foreign.texts import Texts
from tui.settings.key_positions import KeyPath, Place, json_places, toml_places
from tui.settings.locations import base_folder
from tui.settings.problems import Problem, Source, did_you_mean

_SAME_NAME = (
    "command args env cwd url headers disabled autostart off oauth era start_seconds tool_seconds".split()
)
_FIELDS = {"type": "transport", **{name: name for name in _SAME_NAME}}
_TRANSPORTS = {
    **dict.fromkeys(("stdio", "local"), "stdio"),
    **dict.fromkeys(("http", "streamablehttp", "streamable", "httpstream"), "http"),
    **dict.fromkeys(("websocket", "ws"), "websocket"),
}
_SILENT = frozenset(
    "name label description $schema version gallery source dev id uuid displayName title icon iconUrl logoUrl"
    " provider tags registryId installedAt lastUpdated bundled".split()
)
MAX_TOOL_SECONDS = 86_400
MAX_SERVERS, MAX_ENTRY = 1000, 256 * 1024
"""Maximum servers of a file, and characters of the entry of one."""
NO_SERVERS = "contains neither `mcpServers` nor `servers`"
_MILLISECONDS = 1000
_SECONDS_HOSTS = (
    *("cline_mcp_settings.json", ".roo", ".cline", "rooveterinaryinc.roo-cline"),
    *("crush.json", ".crush.json", "goose"),
)
_EXPANDING = (".gemini", ".qwen", ".copilot", "crush.json", ".crush.json", "gemini-extension.json")
"""Folders and files of hosts that replace `$NAME` in every text."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The value of another host's file, the places of its keys, and the keys that one table has twice."""

    tree: Any
    places: Mapping[KeyPath, Place]
    twice: Sequence[str] = ()


def read_foreign(text: str, path: Path) -> Source | Problem:
    """Parse and read another host's file."""
    parsed = parse(text, path)
    return parsed if isinstance(parsed, Problem) else read_parsed(parsed, path)


def read_parsed(parsed: Parsed, path: Path, others: Sequence[Any] = ()) -> Source | Problem:
    """Return a file as unvalidated tables under `servers`, with places by our keys.

    `${workspaceFolder}` is derived from `path`. `others` are the values of other files of the host, whose
    lists of allowed and disabled servers count too. The problem is `NO_SERVERS` if it has no table. A
    problem of the result is a warning about something that was not imported, or was converted.
    """
    tree = parsed.tree
    if (found := servers_of(tree, others)) is None:
        if isinstance(tree, dict) and (name := next((root[0] for root in ROOTS if root[0] in tree), "")):
            return Problem(f"contains no servers: `{name}` is not a table of servers")
        hint = did_you_mean(next(iter(tree), ""), ["mcpServers"]) if isinstance(tree, dict) else ""
        return Problem(NO_SERVERS, suggestion=hint)
    return _Reader(parsed, path).read(found)


def parse(text: str, path: Path) -> Parsed | Problem:
    """Parse JSON with comments, TOML or YAML, by the suffix of the file and by its content."""
    if path.suffix.lower() == ".toml" and not text.lstrip().startswith("{"):
        return _toml(text)
    if path.suffix.lower() in (".yaml", ".yml"):
        return _yaml(text)
    plain = without_comments(text)
    twice: list[str] = []

    def of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(pairs)) < len(pairs):
            twice.extend(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        return found

    try:
        return Parsed(json.loads(plain, object_pairs_hook=of_pairs), json_places(plain), twice)
    except json.JSONDecodeError as error:
        if _YAML.match(text[:20_000]):
            return _yaml(text)
        if re.search(r"^\s*\[[\w.\"-]+\]\s*$", text, re.MULTILINE):
            return _toml(text)
        reason = reason_of(error).replace(f" at line {error.lineno}, column", " at column")
        return Problem(f"is not JSON: {reason}", line=error.lineno)
    except (ValueError, RecursionError) as error:
        return Problem(f"is not valid JSON: {reason_of(error)}")


_YAML = re.compile(r"\s*(?:\#[^\n]*\n\s*)*(?:---|%YAML|(?:- )?[\w.\"'-]+\s*:(?:\s|$))")


def _toml(text: str) -> Parsed | Problem:
    try:
        return Parsed(toml_of(text), toml_places(text))
    except (ValueError, RecursionError) as error:
        line = re.search(r"\(at line (\d+), column \d+\)$", str(error))
        return Problem(f"is not TOML: {reason_of(error)}", line=int(line[1]) if line else 0)


def _yaml(text: str) -> Parsed | Problem:
    from tui.settings.foreign.yaml_tree import YamlFault, read_yaml  # PyYAML takes time to import

    try:
        return Parsed(*read_yaml(text))
    except YamlFault as error:
        return Problem(str(error), line=error.line)


# ---- entries -----------------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, parsed: Parsed, path: Path) -> None:
        self._parsed, self._path = parsed, path
        self._tree: Mapping[str, Any] = parsed.tree
        self._notes: list[Problem] = []
        self._expands = _is_expanding(self._tree, path)

    def read(self, found: list[Found]) -> Source:
        if names := clean_line(", ".join(dict.fromkeys(self._parsed.twice)), 400):
            text = f"defined twice in one object, so the last one is used: {names}"
            self._notes.append(Problem(text, warning=True))
        if (count := len(found)) > MAX_SERVERS:
            found = found[:MAX_SERVERS]
            text = f"has {count:,} servers. Only the first {MAX_SERVERS:,} are read"
            self._notes.append(Problem(text, warning=True))
        servers: dict[str, Any] = {}
        ours: dict[KeyPath, str] = {}
        counts: Counter[str] = Counter()
        first: dict[tuple[str, str], Found] = {}
        for one in found:
            name = one.name
            if isinstance(one.entry, Mapping) and is_provided(one.entry):
                self._note(name, "provided by its host, so it is not imported")
                continue
            key = (one.name, json.dumps(one.entry, sort_keys=True, default=str))
            if len(key[1]) > MAX_ENTRY:
                self._note(name, f"has more than {MAX_ENTRY:,} characters, so it is not read")
                continue
            is_first = first.setdefault(key, one) is one
            if one.project and not is_first and name in servers and "command" not in (one.entry or {}):
                continue  # a remote server of another project too
            if name in servers and one.suffix:
                name = f"{name}-{one.suffix}"
            while name in servers:
                counts[one.name] += 1
                name = f"{one.name}-{counts[one.name] + 1}"
            ours[one.path] = name
            servers[name] = self._server(name, one)
        return Source({"servers": servers}, dict(_our_places(self._parsed.places, ours)), tuple(self._notes))

    def _note(self, server: str, text: str) -> None:
        note = Problem(masked(text), ("servers", server), warning=True)
        if note not in self._notes[-20:]:
            self._notes.append(note)

    def _server(self, name: str, one: Found) -> Any:
        if not isinstance(one.entry, dict):
            return one.entry  # the validation of our tables reports the problem
        texts = Texts(
            name,
            _opened(self._path),
            self._path.absolute().parent,
            lambda text: self._note(name, text),
            inputs_of(self._tree, one.path),
            self._expands,
        )
        found = in_common_format(one.entry, texts.note)
        texts = replace(texts, own=own_variables(found))
        table: dict[str, Any] = {}
        for key, value in found.items():
            if value is None or key in _SILENT:
                continue
            if (seconds := _timeouts(key, value)) is not None:
                for ours, number in seconds.items():
                    is_roo = "alwaysAllow" in one.entry
                    if (made := self._seconds(texts, key, number, in_seconds=is_roo)) is not None:
                        table[ours] = made
                continue
            if key not in _FIELDS:
                if value not in (False, [], {}, "") or key == "verifySsl":
                    texts.note(f"`{clean_line(key, 40)}` is not supported and is ignored")
                continue
            ours = _FIELDS[key]
            in_shell = key == "args" and runs_shell(found.get("command"), value)
            table[ours] = _field(texts, ours, value, in_shell=in_shell)
        return self._in_its_scope(table, one, texts)

    def _in_its_scope(self, table: dict[str, Any], one: Found, texts: Texts) -> dict[str, Any]:
        """Apply what the rest of the file says about a server, and drop what its kind has no use for."""
        if "oauth" in table and "command" in table and "url" not in table:
            del table["oauth"]
            texts.note("`oauth` is only used with a `url`, and is ignored")
        if one.project:
            texts.note(f"is a server of the project {clean_line(one.project, 200)}")
            if "command" in table:
                table.setdefault("cwd", one.project)
        elif one.place:
            texts.note(f"is from {clean_line(one.place, 100)}")
        if one.off:
            table["disabled"] = True
            texts.note(f"is disabled: {one.off}")
        if one.tools_off:
            table["off"] = [*list_in(table, "off"), *one.tools_off]
        return table

    def _seconds(self, texts: Texts, key: str, value: Any, *, in_seconds: bool) -> float | None:
        """Return a timeout in seconds. Cline, Roo and Crush use seconds, others milliseconds."""
        number = bounded(value) or 0.0
        plain = key.lower().replace("_", "")
        if plain.endswith(("ms", "millis", "milliseconds")):
            number /= _MILLISECONDS
        elif (
            not (plain.endswith(("sec", "secs", "seconds")) or in_seconds or self._is_in_seconds(number))
            and number >= _MILLISECONDS
        ):
            number /= _MILLISECONDS
            texts.note(f"`{clean_line(key, 40)}` read as milliseconds: {number:g} s")
        if 0 < number <= MAX_TOOL_SECONDS:
            return float(number)
        if value != 0:
            texts.note(f"`{clean_line(key, 40)}` is not a time from 0 to {MAX_TOOL_SECONDS} s and is ignored")
        return None

    def _is_in_seconds(self, number: float) -> bool:
        """Return whether a time without a unit is in seconds: by the host, or because it is whole minutes."""
        named = {part.lower() for part in self._path.parts}
        if any(host in named for host in _SECONDS_HOSTS) or "crush" in str(self._tree.get("$schema", "")):
            return True
        if any(str(key).startswith("GOOSE_") for key in self._tree):
            return True
        return number < 10_000 and number % 60 == 0 and number % 500 != 0


def _opened(path: Path) -> Path:
    """Return what `${workspaceFolder}` means: in the user's own file of VS Code, the folder that is open."""
    is_of_user = any(
        folder == "User" and before.startswith(("Code", "VSCodium"))
        for before, folder in pairwise(path.absolute().parts)
    )
    return Path.cwd() if is_of_user else base_folder(path)


def _our_places(
    places: Mapping[KeyPath, Place], names: Mapping[KeyPath, str]
) -> Iterator[tuple[KeyPath, Place]]:
    for path, place in places.items():
        length = next((number for number in range(len(path) + 1) if path[:number] in names), None)
        if length is not None:
            key = path[length : length + 1]
            ours = tuple(_FIELDS.get(SAME.get(str(one), str(one)), one) for one in key)
            yield ("servers", names[path[:length]], *ours, *path[length + 1 :]), place


def inputs_of(tree: Any, path: KeyPath) -> dict[str, Any]:
    """Return the definitions of inputs that are in a table around an entry, by their id (VS Code)."""
    found: dict[str, Any] = {}
    for key in path:
        for one in list_in(mapping(tree), "inputs"):
            if isinstance(one, Mapping) and isinstance(ident := one.get("id"), str):
                found[ident] = one
        tree = tree[key]
    return found


def _is_expanding(tree: Mapping[str, Any], path: Path) -> bool:
    if any(part in _EXPANDING for part in path.parts):
        return True
    inner = tree.get("mcp")
    schema = str(tree.get("$schema", ""))
    is_gemini = isinstance(inner, Mapping) and bool(inner.keys() & {"allowed", "excluded", "serverCommand"})
    return is_gemini or "crush" in schema or "gemini" in schema


def _timeouts(key: str, value: Any) -> dict[str, Any] | None:
    plain = key.lower().replace("_", "")
    if "timeout" not in plain or isinstance(value, bool):
        return None
    ours = "start_seconds" if re.search("start|init|connect", plain) else "tool_seconds"
    if isinstance(value, int | float):
        return {ours: value}
    if isinstance(value, str) and re.fullmatch(r"\d{1,12}", value):
        return {ours: int(value)}
    if isinstance(value, Mapping):  # opencode
        parts = {"start_seconds": ("startup", "connect"), "tool_seconds": ("request", "execution", "call")}
        numbers = {
            name: next((value[part] for part in known if isinstance(value.get(part), int | float)), None)
            for name, known in parts.items()
        }
        return {name: number for name, number in numbers.items() if number is not None}
    return None


def _field(texts: Texts, ours: str, value: Any, *, in_shell: bool) -> Any:
    match ours, value:
        case "transport", str():
            plain = re.sub(r"[^a-z]", "", value.lower())
            return _TRANSPORTS.get(plain, value)
        case "env" | "headers", dict():
            return dict(_table(texts, ours, value))
        case "oauth", dict():
            return {key: _oauth(texts, key, inner) for key, inner in value.items()}
        case "args" | "off", list():
            return list(_words(texts, "" if in_shell else ours, value))
        case "command" | "cwd" | "url", str():
            return texts.word(ours, value)
        case _, str():
            return texts.plain(value)
        case _:
            return value


def _table(texts: Texts, ours: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members of `env` or `headers` as texts, headers in one spelling each."""
    spelled: dict[str, str] = {}
    for key, inner in value.items():
        key = str(key)
        if inner is None:
            texts.note(f"`{ours}.{clean_line(key, 40)}` is null and is ignored")
            continue
        if ours == "headers":
            first = spelled.setdefault(key.lower(), key)
            if first != key:
                texts.note(f"the header {clean_line(key, 40)} is set twice. The last value is used")
            key = first
        yield key, texts.value(f"{ours}.{key}", one) if isinstance(one := _text(inner), str) else one


def _words(texts: Texts, key: str, value: list[Any]) -> Iterator[Any]:
    for number, inner in enumerate(value, 1):
        if inner is None:
            texts.note(f"item {number} of `{key or 'args'}` is null and is ignored")
            continue
        one = _text(inner)
        yield texts.word(key, one) if isinstance(one, str) else one


def _oauth(texts: Texts, key: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_oauth(texts, key, inner) for inner in value if inner is not None]
    one = value if key == "callback_port" else _text(value)
    return texts.value("oauth", one) if isinstance(one, str) else one


def _text(value: Any) -> Any:
    """Return a number or a boolean as text, as other hosts pass it on."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


# ---- JSON with comments and trailing commas ----------------------------------------------------------------

# Strings first, so that their content is not taken for a comment.
_PIECE = re.compile(
    r'"(?:[^"\\\n]++|\\[^\n])*"?|(?P<line>//[^\n]*)|(?P<block>/\*.*?(?:\*/|\Z))|(?P<comma>,)(?=[\s/]*[}\]])',
    re.DOTALL,
)


def without_comments(text: str) -> str:
    """Return `text` as plain JSON of the same length, so that every line keeps its number."""

    def blanked(found: re.Match[str]) -> str:
        if found.lastgroup is None:
            return found.group()
        return re.sub(r"[^\n]", " ", found.group())

    # Twice: a trailing comma is only recognized once the comment after it is gone.
    return _PIECE.sub(blanked, _PIECE.sub(blanked, text))
