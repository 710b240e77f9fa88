"""Compiles most methods of dataclasses and some regular expressions when they are first used.

Python 3.11 and 3.12 compile up to six methods of a dataclass one by one, and most are never called: of the
350 dataclasses that are imported with everything else, this took 0.15 s of each start, half of what they
cost (measured). Later versions compile them together and are left as they are. So is every version where
`MCPTUI_WHOLE_LIBRARIES` is set.

`re.compile` of a long pattern takes 1 ms and more, and most are for texts that a run never sees: what an
endpoint says when it fails, the questions that the demo model knows.
"""

import dataclasses
import os
import re
from collections.abc import Callable
from typing import Any, AnyStr, cast

LATE = frozenset({"__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"})
"""Not `__init__`: its signature is looked at."""

_compiled = getattr(dataclasses, "_create_fn", None)


def compile_methods_late() -> None:
    """Have the methods of dataclasses that are defined from now on compiled on first use."""
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
    """Stands for a pattern; what is asked of it is kept, so that a second use costs what it always does."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._source, self._options = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(self._source, self._options), name)  # which keeps what it has compiled
        setattr(self, name, found)
        return found


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that `re` compiles at its first use; an error in it is raised only then."""
    return cast("re.Pattern[AnyStr]", _LatePattern(pattern, flags))
