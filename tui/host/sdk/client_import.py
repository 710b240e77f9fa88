"""Loads the client half of the SDK without its server half, which a host does not need.

`import mcp` loads both. The server half brings starlette, uvicorn and cryptography, and the models of
server messages: 15 MB that are never freed (measured). The client half imports a few names from it, only
to recognise an in-process server object; it gets empty classes of these names instead. Where that does
not work, all of the SDK is loaded.
"""

import importlib
import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Self

SDK = "mcp"
LEFT_OUT = f"{SDK}.server"

_log = logging.getLogger(__name__)
_LOADING = threading.Lock()


def load_client_half() -> None:
    """Import the client half, unless the SDK is imported already. Thread-safe: all callers share one load."""
    with _LOADING:
        if SDK in sys.modules:
            return
        try:
            _import_client_half()
        except Exception:  # another version of the SDK may do anything with empty classes
            _log.warning("the SDK's client half cannot be loaded alone: loading all of it", exc_info=True)
            _forget(SDK)
            importlib.import_module(f"{SDK}.client")
        else:
            _forget(LEFT_OUT)


def _import_client_half() -> None:
    with _without_servers():
        importlib.import_module(f"{SDK}.client")


@contextmanager
def _without_servers() -> Iterator[None]:
    """Replace every module of the server half with an empty one.

    Other threads import meanwhile, iterating over `sys.meta_path`. Removing a finder from that list shifts
    those behind it, and such an import skips one of them (ModuleNotFoundError, measured). So the list is
    replaced, never shortened.
    """
    finder = _EmptyModuleFinder()
    sys.meta_path = [finder, *sys.meta_path]
    try:
        yield
    finally:
        sys.meta_path = [other for other in sys.meta_path if other is not finder]


def _forget(name: str) -> None:
    """Never raises, whatever other threads import."""
    for known in sys.modules.copy():
        if known == name or known.startswith(f"{name}."):
            sys.modules.pop(known, None)
    parent, _, child = name.rpartition(".")
    if (holder := sys.modules.get(parent)) is not None:
        vars(holder).pop(child, None)


class _EmptyModuleFinder(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == LEFT_OUT or fullname.startswith(f"{LEFT_OUT}."):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


class _EmptyModule(ModuleType):
    """Has an empty class for every name; none is ever instantiated."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Nothing,), {})


class _Nothing:
    def __class_getitem__(cls, _: object) -> type[Self]:
        return cls
