"""Reads the YAML of another host, bounded: nesting, aliases and size. Reads no file.

Scalars without quotes are those of YAML 1.2, as goose and Continue read them, and a number that is not
written as in JSON (`1.10`, `0777`) stays text, because most values become texts of `env` and `args`.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from tui.core.text import clean_line
from tui.settings.key_positions import KeyPath, Place

MAX_CHARACTERS = 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 20_000
"""Keys, values and containers, those of aliases counted each time."""

_TAG = "tag:yaml.org,2002:"


class _Loader(yaml.SafeLoader):
    """Composes bounded nodes. `weights` are the nodes that an alias adds, `twice` the repeated keys."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.nodes = 0
        self.depth = 0
        self.weights: dict[int, int] = {}
        self.twice: list[str] = []

    def compose_node(self, parent: Any, index: Any) -> Any:
        before, is_alias = self.nodes, self.check_event(yaml.AliasEvent)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise yaml.YAMLError(f"it is nested more than {MAX_DEPTH} levels deep")
        node = super().compose_node(parent, index)
        self.depth -= 1
        self.nodes += self.weights.get(id(node), MAX_NODES) if is_alias else 1  # in itself: no weight yet
        if self.nodes > MAX_NODES:
            raise yaml.YAMLError(f"it has more than {MAX_NODES:,} values")
        self.weights.setdefault(id(node), self.nodes - before)
        if isinstance(node, yaml.MappingNode) and not is_alias:
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            for key in keys:
                key.tag = key.tag if key.value == "<<" else f"{_TAG}str"
            names = [key.value for key in keys]
            self.twice += [name for name in dict.fromkeys(names) if name != "<<" and names.count(name) > 1]
        return node


_Loader.yaml_implicit_resolvers = {}  # those of YAML 1.1


def _resolve(name: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(f"{_TAG}{name}", re.compile(rf"(?:{pattern})\Z"), list(first))


_resolve("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_resolve("null", "~|null|Null|NULL|", "~nN")
_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"\Z"), [""])
_resolve("int", r"-?(?:0|[1-9][0-9]{0,17})", "-0123456789")
_resolve("float", r"-?(?:0|[1-9][0-9]{0,8})\.(?:0|[0-9]{0,5}[1-9])", "-0123456789")
_resolve("merge", "<<", "<")


def read_yaml(text: str) -> tuple[Any, dict[KeyPath, Place], list[str]]:
    """Return the value of a text, the place of each key, and the keys that one table has twice.

    Raises ValueError with the reason as a part of a sentence, and the line as `line` if it is known.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlFault(f"is YAML of more than {MAX_CHARACTERS:,} characters")
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        value = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        at_end = "<stream end>" in (error.problem or "")
        mark = error.context_mark if at_end and error.context_mark else error.problem_mark
        line = 0 if mark is None else min(mark.line, text.rstrip().count("\n")) + 1
        raise YamlFault(f"is not YAML: {clean_line(error.problem or '', 200)}", line) from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        reason = clean_line(str(error).partition("\n")[0], 200)
        raise YamlFault(f"is not usable YAML: {reason}") from error
    return value, dict(_places(node, ())), loader.twice


class YamlFault(ValueError):
    """The text cannot be read; the message is the end of a sentence about it."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def _places(node: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Place]]:
    pairs: list[tuple[Any, Any, Any]] = []
    if isinstance(node, yaml.MappingNode):
        pairs = [(key.value, key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
    elif isinstance(node, yaml.SequenceNode):
        pairs = [(number, value, value) for number, value in enumerate(node.value)]
    for name, start, value in pairs:
        marks = value.start_mark, value.end_mark
        yield (*path, name), Place(start.start_mark.line + 1, marks[0].index, marks[1].index)
        yield from _places(value, (*path, name))
