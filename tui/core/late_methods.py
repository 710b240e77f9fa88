"""Compiles most methods of dataclasses when they are first called.

Python 3.11 and 3.12 compile up to six methods of a dataclass one by one, and most are never called: of the
350 dataclasses that are imported with everything else, this took 0.15 s of each start, half of what they
cost (measured). Later versions compile them together and are left as they are. So is every version where
`MCPTUI_WHOLE_LIBRARIES` is set.
"""

import dataclasses
import os
from collections.abc import Callable
from typing import Any

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

    def late(self: object, *args: object) -> object:
        nonlocal method
        if method is None:
            method = _compiled(name, *source, **more)
            method.__qualname__ = late.__qualname__
            for owner in type(self).__mro__:
                if vars(owner).get(name) is late:
                    setattr(owner, name, method)
        return method(self, *args)

    late.__name__ = name
    return late
