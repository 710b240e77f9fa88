"""Redaction of values parsed from JSON. Without recursion: a server may nest them as deeply as it likes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tui.core.secrets.redact import MIN_SECRET

_SHORTEST_NUMBER = 10 ** (MIN_SECRET - 1)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, names and long numbers included, in no particular order."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case Mapping() as inner:
                yield from inner
                waiting.extend(inner.values())
            case list() | tuple() as items:
                waiting.extend(items)
            case int() | float() as number if abs(number) >= _SHORTEST_NUMBER:
                yield str(number)
            case _:
                pass


def redacted_json(value: Any, clear: Callable[[str], str]) -> Any:
    """Return a copy of a JSON value with `clear` applied to every text, name and long number."""
    root = [value]
    waiting: list[Any] = [root]

    def copied(inner: Any) -> Any:
        match inner:
            case str():
                return clear(inner)
            case Mapping():
                waiting.append(copy := {clear(str(name)): item for name, item in inner.items()})
                return copy
            case list() | tuple():
                waiting.append(items := list(inner))
                return items
            case int() | float() if abs(inner) >= _SHORTEST_NUMBER and clear(str(inner)) != str(inner):
                return clear(str(inner))
            case _:
                return inner

    while waiting:
        holder = waiting.pop()
        for key, inner in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            holder[key] = copied(inner)
    return root[0]


def without_secrets(value: Any, clear: Callable[[str], str]) -> Any:
    """Return a JSON value with `clear` applied to it; the value itself if there is nothing to change.

    Its texts are searched at once, which is cheaper than one by one.
    """
    joined = "\n".join(texts_in(value))
    return value if clear(joined) == joined else redacted_json(value, clear)
