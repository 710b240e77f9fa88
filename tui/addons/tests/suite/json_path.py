"""JSON paths as a suite writes them: `$.items[0].id`, `$["a name"]`. Pure.

Only members and indices: a path names one value. `leaves_of` has the values of all paths.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tui.core.comparison.values import path_text

MAX_STEPS = 64
_STEP = re.compile(r'\.([A-Za-z_][\w-]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]|\[\'([^\'\\]*)\'\]')


class NotFound(LookupError):
    """The value has no part at a path. The message says where it ends."""


def steps_of(path: str) -> tuple[str | int, ...] | None:
    """Return the steps of a path, or None if it is not one."""
    if not path.startswith("$"):
        return None
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None or len(steps) >= MAX_STEPS:
            return None
        name, index, quoted, single = found.groups()
        if quoted is not None:
            try:
                steps.append(str(json.loads(quoted)))
            except ValueError:
                return None
        elif index is not None:
            steps.append(int(index))
        else:
            steps.append(name if name is not None else single)
        at = found.end()
    return tuple(steps)


def value_at(path: str, value: Any) -> Any:
    """Return the part of a JSON value at a path. Raises `NotFound`, also for a text that is no path."""
    steps = steps_of(path)
    if steps is None:
        raise NotFound(f"{path} is not a JSON path")
    for number, step in enumerate(steps):
        if isinstance(step, str) and isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            raise NotFound(f"the result has no {path_of(steps[: number + 1])}")
    return value


def path_of(steps: tuple[str | int, ...]) -> str:
    """Return the path of steps."""
    text = path_text(steps)
    return f"${text}" if text.startswith("[") or not text else f"$.{text}"


def leaves_of(value: Any) -> Iterator[Any]:
    """Yield what is in a JSON value besides objects and lists."""
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, Mapping):
            rest += one.values()
        elif isinstance(one, list | tuple):
            rest += one
        else:
            yield one
