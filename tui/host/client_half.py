"""Loads the client half of the SDK without its server half, for which a host has no use.

`import mcp` loads both. The server half brings starlette, uvicorn and cryptography, and the models of all
that a server says: 15 MB that stay for good (measured). The client half takes a few names from it, only to
recognise a server object that was handed to it in this process; it is given empty classes of these names.
Where the SDK cannot be loaded so, all of it is loaded.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Self

SDK = "mcp"
LEFT_OUT = f"{SDK}.server"


def load_client_half() -> None:
    """Import the client half, unless somebody has imported the SDK already."""
    if SDK in sys.modules:
        return
    try:
        with _without_servers():
            importlib.import_module(f"{SDK}.client")
    except Exception:  # whatever another version of the SDK makes of empty classes
        _forget(SDK)
        importlib.import_module(f"{SDK}.client")


@contextmanager
def _without_servers() -> Iterator[None]:
    """Let the server half be empty; whoever imports it afterwards gets the real one."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        _forget(LEFT_OUT)


def _forget(name: str) -> None:
    for known in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
        del sys.modules[known]
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        vars(sys.modules[parent]).pop(child, None)


class _Finder(MetaPathFinder, Loader):
    """Finds an empty module in place of each one of the server half."""

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
    """Has an empty class for every name, nothing of which is ever made."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Nothing,), {})


class _Nothing:
    def __class_getitem__(cls, _: object) -> type[Self]:
        return cls
