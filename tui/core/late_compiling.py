"""Delays compiling dataclass methods and long regular expressions until first use.

Python 3.11 and 3.12 compile up to six methods of a dataclass one by one, and most are never called: for the
350 dataclasses that every start imports, this took 0.15 s, half of their cost (measured). Later versions
compile them together and are not changed, nor is any version if `MCPTUI_WHOLE_LIBRARIES` is set.

`re.compile` of a long pattern takes 1 ms or more, and most are for texts that a run never sees: errors of an
endpoint, questions that the demo model knows.
"""

import dataclasses
import os
import re
from collections.abc import Callable
from typing import Any, AnyStr, cast

LATE = frozenset({"__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"})
"""Methods to delay. Not `__init__`, whose signature is inspected."""

_compiled = getattr(dataclasses, "_create_fn", None)


def compile_methods_late() -> None:
    """Compile the methods of dataclasses defined from now on at first use."""
    if _compiled is not None and os.environ.get("MCPTUI_WHOLE_LIBRARIES", "") in ("", "0"):
        dataclasses._create_fn = _created  # type: ignore[attr-defined]


def _created(name: str, *source: Any, **more: Any) -> Callable[..., Any]:
    assert _compiled is not None
    if name not in LATE:
        return _compiled(name, *source, **more)  # type: ignore[no-any-return]
    method: Any = None

    def first_call(self: object, *args: object) -> object:
        nonlocal method
        if method is None:
            method = _compiled(name, *source, **more)
            method.__qualname__ = first_call.__qualname__
            for owner in type(self).__mro__:
                if vars(owner).get(name) is first_call:
                    setattr(owner, name, method)
        return method(self, *args)

    first_call.__name__ = name
    return first_call


class _LatePattern:
    """A placeholder for a pattern; looked-up methods are kept, so that later uses have no overhead."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._source, self._options = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(self._source, self._options), name)  # which caches the compiled pattern
        setattr(self, name, found)
        return found


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that `re` compiles at its first use; an error in it is raised only then."""
    return cast("re.Pattern[AnyStr]", _LatePattern(pattern, flags))
