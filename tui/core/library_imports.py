"""Imports of large libraries: one at a time, and without the parts that mcptui never uses.

Importing threads take turns with the one that handles keys: with three of them, painting took 120 ms instead
of 16 (measured). Python's garbage collector is paused meanwhile: imports create no garbage, and searching for
it repeatedly took a tenth of their time (measured).

The modules of unused parts are replaced by empty ones during the import, and forgotten afterwards, so that a
later import of such a part gets the real one. A library that fails this way is loaded completely, as is every
library if `MCPTUI_WHOLE_LIBRARIES` is set.
"""

import gc
import importlib
import logging
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Self

_lock = threading.Lock()
_pauses = 0
_enable_afterwards = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector; leaving the last of these contexts, in any thread, restores its earlier state."""
    global _pauses, _enable_afterwards
    with _lock:
        if not _pauses:
            _enable_afterwards = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if not _pauses and _enable_afterwards:
                gc.enable()


def enable_collector() -> None:
    """Enable the collector, at the end of the last pause if there is one."""
    global _enable_afterwards
    with _lock:
        _enable_afterwards = True
        if not _pauses:
            gc.enable()


_turn = threading.RLock()


@contextmanager
def importing() -> Iterator[None]:
    """Wait until no other thread imports. For threads, never on the event loop."""
    with _turn, collector_paused():
        yield


SWITCH = "MCPTUI_WHOLE_LIBRARIES"
"""If set in the environment, libraries are loaded completely."""

_log = logging.getLogger(__name__)


def import_without(library: str, modules: Sequence[str], left_out: Sequence[str]) -> None:
    """Import `modules` of a library without the packages `left_out`, unless it is imported already.

    Thread-safe: all callers share one load.
    """
    with importing():
        if library in sys.modules:
            return
        if os.environ.get(SWITCH, "") not in ("", "0"):
            _import(modules)
            return
        try:
            with replaced(left_out):
                _import(modules)
        except Exception:  # another version of the library may do anything with empty classes
            _log.warning("cannot load %s partially, loading all of it", library, exc_info=True)
            _forget(library)
            _import(modules)
        else:
            for name in left_out:
                _forget(name)
        gc.freeze()  # imported objects are never garbage: a collection would look at each of 100,000


def _import(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(module)


@contextmanager
def replaced(names: Sequence[str]) -> Iterator[None]:
    """Replace every module of some packages with an empty one.

    Other threads may be importing, which iterates over `sys.meta_path`. Removing a finder from that list
    shifts those after it, and such an import skips one of them (ModuleNotFoundError, measured). So the list
    is replaced, never shortened.
    """
    finder = _EmptyModuleFinder(names)
    sys.meta_path = [finder, *sys.meta_path]
    try:
        yield
    finally:
        sys.meta_path = [other for other in sys.meta_path if other is not finder]


def _forget(name: str) -> None:
    """Forget the placeholders of a package. Never raises, whatever other threads import."""
    for known in sys.modules.copy():
        if known == name or known.startswith(f"{name}."):
            sys.modules.pop(known, None)
    parent, _, child = name.rpartition(".")
    if (holder := sys.modules.get(parent)) is not None:
        vars(holder).pop(child, None)


class _EmptyModuleFinder(MetaPathFinder, Loader):
    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._below = tuple(f"{name}." for name in names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self._names or fullname.startswith(self._below):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _EmptyModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


class _EmptyModule(ModuleType):
    """Returns an empty class for every capitalized name, and a submodule for any other."""

    def __getattr__(self, name: str) -> type:
        if not name[0].isupper():
            raise AttributeError(name)  # `from module import name` then imports a submodule
        made = type(name, (_Nothing,), {})
        setattr(self, name, made)  # the libraries look some up at each request
        return made


class _Nothing:
    """Never instantiated."""

    def __class_getitem__(cls, _: object) -> type[Self]:
        return cls
