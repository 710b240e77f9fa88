"""Arguments of commands: `name=value` pairs, quoted where they hold spaces, and bare words. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PLACE = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w-]{0,63})\}")
_VALUE = r"""(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'|(?P<bare>\S*))"""
_PAIR = re.compile(rf"(?P<name>[^\s=\"']+)={_VALUE}(?=\s|$)", re.DOTALL)
_WORD = re.compile(rf"{_VALUE}(?=\s|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """What stands behind a command, by the names of its arguments.

    Attributes:
        values: each with its value.
        missing: names that are required and have none.
        unknown: what stands there and belongs to no argument, or "".
    """

    values: Mapping[str, str]
    missing: tuple[str, ...] = ()
    unknown: str = ""


def parse_arguments(rest: str, names: Sequence[str], required: Sequence[str] = ()) -> ParsedArguments:
    """Read what stands behind a command.

    Pairs come by name. Words without a name go to the arguments that have no value yet, in order; the last
    of them takes all that is left, so that a command with one argument needs no quotes.

    Args:
        rest: the text behind the command's name.
        names: of its arguments, in order.
        required: those that must have a value.
    """
    values, loose = _pairs(rest, frozenset(names))
    free = [name for name in names if name not in values]
    while free and loose:
        if len(free) == 1:
            values[free.pop()] = _unquoted(loose)
            loose = ""
            break
        found = _WORD.match(loose)
        if found is None or not found.group():
            break
        values[free.pop(0)] = _value(found)
        loose = loose[found.end() :].lstrip()
    missing = tuple(name for name in required if not values.get(name))
    ordered = {name: values[name] for name in names if name in values}
    return ParsedArguments(ordered, missing, loose)


def _pairs(rest: str, names: frozenset[str]) -> tuple[dict[str, str], str]:
    """Return the pairs whose names are known, and the text without them."""
    values: dict[str, str] = {}
    kept: list[str] = []
    position = 0
    for found in _PAIR.finditer(rest):
        begins_word = not found.start() or rest[found.start() - 1].isspace()
        if begins_word and found.start() >= position and found.group("name") in names:
            values[found.group("name")] = _value(found)
            kept.append(rest[position : found.start()])
            position = found.end()
    kept.append(rest[position:])
    return values, " ".join(part for part in map(str.strip, kept) if part)


def _value(found: re.Match[str]) -> str:
    if (text := found.group("double")) is not None:
        return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    return found.group("single") if found.group("single") is not None else found.group("bare")


def _unquoted(text: str) -> str:
    found = _WORD.fullmatch(text)
    return _value(found) if found is not None else text


def pair(name: str, value: str) -> str:
    """Return an argument as it is written."""
    if value and not re.search(r"[\s\"'\\]", value):
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'{name}="{escaped}"'


def names_in(template: str) -> tuple[str, ...]:
    """Return the names of the places in a snippet, `{like_this}`, in order, each once."""
    return tuple(dict.fromkeys(found for found in _PLACE.findall(template) if found))


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a snippet with its places filled; `{{` and `}}` are plain braces, other braces stay."""

    def place(found: re.Match[str]) -> str:
        if found.group(1) is None:
            return found.group()[0]
        return values.get(found.group(1), found.group())

    return _PLACE.sub(place, template)
