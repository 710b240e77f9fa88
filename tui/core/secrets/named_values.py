"""Finds secret values by their names, in arguments of tools and in JSON text. Pure.

Which arguments are secret is decided by their names, the schemas of the tools, and rules. A schema marks them
with `"format": "password"` or `"writeOnly": true`, at any depth. Only names of properties are kept, so an
argument is recognized in text that is cut off too.

In JSON text, values such as `"password": "…"` are found without parsing it; it stays JSON.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from tui.core.jsonrpc.reader import local_target, reference
from tui.core.jsonrpc.skimmer import value_end
from tui.core.secrets.commands_and_urls import replaced
from tui.core.secrets.secret_names import mark_name, names_a_secret_argument
from tui.core.text import list_in, object_in
from tui.core.traffic import Redaction

MAX_NODES = 20_000
"""Maximum parts of one schema that are read."""

MAX_TOOLS = 10_000
"""Maximum tools whose schemas are remembered."""

MAX_NAMES = 2_000
"""Maximum secret names that are remembered of a tool, or of a server's forms; if more, all are secret."""

FORMS = "\0forms"
"""Stands for the forms that a server shows, in place of the name of a tool."""

EVERY = "*"
"""Among the names of a tool: all of its arguments are secret."""

_LONG = 50
"""Length in characters from which the qualified name of a tool may be shortened."""

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_*?-]")
_HASH = re.compile(r"_[0-9a-f]{8,32}\Z")
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "prefixItems")
_SAME_VALUE_ONE = ("items", "additionalProperties", "contains", "if", "then", "else")


class SecretNames(NamedTuple):
    """Names of the secret arguments of one tool, patterns of them, and names that are never secret."""

    names: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()

    def declares(self, name: str) -> bool:
        """Return whether a schema or a rule says that the argument is secret."""
        if name in self.kept:
            return False
        if name in self.names or EVERY in self.names:
            return True
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)

    def includes(self, name: str) -> bool:
        """Return whether the argument is secret, also if only its name suggests it."""
        return self.declares(name) or (name not in self.kept and names_a_secret_argument(name))


BY_NAME = SecretNames()
"""Secret arguments of an unknown tool."""


class SecretArguments:
    """Secret arguments of the tools of this run. Threads may read while one writes."""

    def __init__(self) -> None:
        self._learned: dict[tuple[str, str], frozenset[str]] = {}
        self._of_servers: dict[str, frozenset[str]] = {}
        self._of_any_tool: dict[str, frozenset[str]] = {}
        self._rules: dict[str, tuple[tuple[str, str], ...]] = {}

    def learn(self, server: str, tool: str, schema: Any, also: Iterable[str] = ()) -> None:
        """Learn from the input schema of a tool, or of a form (`FORMS`), and the names `also`.

        Arguments that were secret stay secret.
        """
        found = secret_names(schema) | frozenset(also)
        known = self._learned.get((server, tool), frozenset())
        if found - known and len(self._learned) < MAX_TOOLS:
            self._of_any_tool[server] = _bounded(self._of_any_tool.get(server, frozenset()) | found)
            self._learned[server, tool] = _bounded(known | found)
            named = found if tool == FORMS else found - {EVERY}  # all arguments of one tool, not all values
            self._of_servers[server] = _bounded(self._of_servers.get(server, frozenset()) | named)

    def set_rules(self, rules: Mapping[str, Sequence[str]]) -> None:
        """Set the rules by server: `tool.argument` with `*` and `?`, or `argument` for all of its tools."""
        self._rules = {}
        for server, texts in rules.items():
            parts = [text.rpartition(".") for text in texts]
            self._rules[server] = tuple((tool if dot else EVERY, argument) for tool, dot, argument in parts)

    def of(self, server: str, tool: str) -> SecretNames:
        patterns = [name for wanted, name in self._rules.get(server, ()) if fnmatchcase(tool, wanted)]
        return SecretNames(self._learned.get((server, tool), frozenset()), tuple(patterns))

    def of_server(self, server: str) -> SecretNames:
        """Return the names that are secret in any tool or form of a server."""
        rules = self._rules.get(server, ())
        patterns = tuple(name for tool, name in rules if name != EVERY or tool == EVERY)
        return SecretNames(self._of_servers.get(server, frozenset()), patterns)

    def of_any_tool(self, server: str) -> SecretNames:
        """Return the names that are secret in any tool or form; all, if all arguments of one tool are."""
        patterns = tuple(name for _, name in self._rules.get(server, ()))
        return SecretNames(self._of_any_tool.get(server, frozenset()), patterns)

    def of_model_name(self, name: str) -> SecretNames:
        """Return the secret arguments of a tool by its qualified name (`server__tool`).

        Such a name may be shortened, or misspelled by the model: then the result has the secret
        arguments of all tools that it may mean.
        """
        wanted = _folded(name)
        unclear = len(name) >= _LONG or not name
        without = _HASH.sub("", wanted)
        names = [
            found
            for (server, tool), found in list(self._learned.items())
            if unclear
            or _folded(tool) in (wanted, without)
            or _folded(f"{server}__{tool}") in (wanted, without)
        ]
        patterns = [
            argument
            for server, rules in self._rules.items()
            for pattern, argument in rules
            if unclear
            or any(
                one.startswith(start := f"{_folded(server)}__")
                and fnmatchcase(one.removeprefix(start), _folded(pattern))
                for one in (wanted, without)
            )
        ]
        return SecretNames(frozenset().union(*names), tuple(patterns))

    def in_text(self, text: str) -> SecretNames:
        """Return the secret arguments for calls in a text, by the tools and servers that it names."""
        names = [found for (_, tool), found in list(self._learned.items()) if tool in text]
        patterns = [
            argument for server, rules in self._rules.items() if server in text for _, argument in rules
        ]
        return SecretNames(frozenset().union(*names), tuple(patterns))


def _bounded(names: frozenset[str]) -> frozenset[str]:
    return names if len(names) <= MAX_NAMES else frozenset({EVERY})


def _folded(name: str) -> str:
    return _NOT_IN_A_NAME.sub("_", name).casefold().replace("-", "_").lstrip("_")


def secret_names(schema: Any) -> frozenset[str]:
    """Return the names of the properties that a schema says are secret."""
    found: set[str] = set()
    budget = iter(range(MAX_NODES))
    if _is_secret(schema, schema, budget):
        found.add(EVERY)
    for name, inner in _properties(schema):
        if _is_secret(inner, schema, budget):
            found.add(name)
    return frozenset(found)


def _properties(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield the properties in all parts of a schema, its definitions included."""
    waiting, seen = [schema], 0
    while waiting and seen < MAX_NODES:
        seen += 1
        match waiting.pop():
            case Mapping() as part:
                yield from ((str(name), inner) for name, inner in object_in(part, "properties").items())
                waiting.extend(one for one in part.values() if isinstance(one, Mapping | list))
            case list() as parts:
                waiting.extend(one for one in parts if isinstance(one, Mapping | list))


def _is_secret(part: Any, root: Any, budget: Iterator[int]) -> bool:
    """Return whether a value of this part is secret, itself or an item of it."""
    waiting, seen = [part], set[int]()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        if next(budget, None) is None:
            return False
        seen.add(id(node))
        if node.get("writeOnly") is True or node.get("format") == "password":
            return True
        for key in _SAME_VALUE:
            waiting.extend(list_in(node, key))
        waiting.extend(node.get(key) for key in _SAME_VALUE_ONE)
        waiting.extend(object_in(node, "patternProperties").values())
        waiting.append(local_target(root, reference(node)))
    return False


_TEXT = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*)(?:"(\s*+:\s*+)?|\\?\Z)', re.DOTALL)
"""A text, whole or cut off, and the colon after it if it is the name of a member."""

_EMPTY = re.compile(rb'(?:null|"?"|\{\s*\}|\[\s*\])')
_WORD = re.compile(rb"(?:true|false)")
_LONGEST = 400
"""Maximum bytes of a name; values with a longer one are not found."""


def named_values(
    raw: bytes, start: int, end: int, secret: SecretNames = BY_NAME, *, plain: bool = False
) -> Iterator[Redaction]:
    """Yield the secret values between `start`, which is not within a text, and `end`.

    If only the name suggests a secret, true and false are kept: they say whether there is one. With `plain`,
    the names of objects and lists do not count, but those in them do.
    """
    while found := _TEXT.search(raw, start, end):
        start = found.end()
        if found[2] is None or len(found[1]) > _LONGEST:
            continue
        name = name_in(found[1])
        if not secret.includes(name) or (plain and raw[start : start + 1] in (b"{", b"[")):
            continue
        try:
            stop = value_end(raw, start)
        except ValueError:
            continue
        stop = end if stop < 0 else min(stop, end)
        value = raw[start:stop]
        if _EMPTY.fullmatch(value) or (_WORD.fullmatch(value) and not secret.declares(name)) or not value:
            continue
        yield Redaction(start, stop, mark_name(name))
        start = stop


Hidden = tuple[bytes, frozenset[str]]
"""Redacted bytes, and the names in their marks."""


def spliced(raw: bytes, spans: Iterable[Redaction], quote: bytes = b'"') -> Hidden:
    """Return `raw` with a mark at each of the spans, in quotes as they are written there."""
    hidden, marks = replaced(raw, list(spans), quote)
    return hidden, frozenset(mark.name for mark in marks)


def without_named_values(text: str, secret: SecretNames = BY_NAME) -> str:
    """Return JSON text with a mark for each secret value."""
    raw = text.encode("utf-8", "surrogatepass")
    hidden, names = spliced(raw, named_values(raw, 0, len(raw), secret))
    return hidden.decode("utf-8", "surrogatepass") if names else text


def without_named_arguments(arguments: Mapping[str, Any], secret: SecretNames = BY_NAME) -> Mapping[str, Any]:
    """Return the arguments of a call with such marks; the same object if there is nothing to mark."""
    try:
        text = json.dumps(arguments)
        clear = without_named_values(text, secret)
        return arguments if clear == text else json.loads(clear)
    except (TypeError, ValueError, RecursionError):
        return arguments


def name_in(quoted: bytes) -> str:
    """Return the name of a member from the bytes between its quotes."""
    if quoted.isascii() and b"\\" not in quoted:
        return quoted.decode("ascii")
    try:
        return str(json.loads(b'"' + quoted + b'"'))
    except ValueError:
        return quoted.decode("utf-8", "replace")
