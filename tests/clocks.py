"""Clocks for tests."""

import asyncio
import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from time import struct_time
from types import FunctionType, ModuleType
from typing import Any

import pytest


class NotedWaits:
    """A clock that records the requested waits instead of waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now_ns(self) -> int:
        return 0

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


class FrozenTime:
    """A frozen stand-in for the `time` module, which tests advance, in UTC."""

    def __init__(self) -> None:
        self.started_ns = 1_000 * 10**9
        self.wall_offset_ns = 1_790_000_000 * 10**9
        self.now_ns = self.started_ns

    def advance(self, seconds: float) -> None:
        self.now_ns += int(seconds * 1e9)

    def monotonic_ns(self) -> int:
        return self.now_ns

    def monotonic(self) -> float:
        return self.now_ns / 1e9

    perf_counter = monotonic

    def time_ns(self) -> int:
        return self.wall_offset_ns + self.now_ns

    def time(self) -> float:
        return self.time_ns() / 1e9

    def localtime(self, seconds: float | None = None) -> struct_time:
        return time.gmtime(self.time() if seconds is None else seconds)

    gmtime = localtime

    def strftime(self, form: str, moment: struct_time | None = None) -> str:
        return time.strftime(form, moment or self.localtime())

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


_FROZEN = ("monotonic_ns", "monotonic", "perf_counter", "time_ns", "time", "localtime", "gmtime", "strftime")
_FUNCTIONS = frozenset(getattr(time, name) for name in _FROZEN)


def freeze_time(monkeypatch: pytest.MonkeyPatch, *packages: str) -> FrozenTime:
    """Replace the clock in every module of some packages, and in default values of parameters.

    asyncio and Textual keep the real clock, so that timers run.
    """
    frozen = FrozenTime()
    replacements = {getattr(time, name): getattr(frozen, name) for name in _FROZEN}
    for place in _clocks_of(packages):
        place.replace(monkeypatch, frozen, replacements)
    return frozen


@dataclass(frozen=True)
class _ClockPlace:
    """A name in a module, or the defaults of a function, that refers to `time` or one of its functions."""

    owner: ModuleType | FunctionType
    name: str

    def replace(self, monkeypatch: pytest.MonkeyPatch, frozen: FrozenTime, known: dict[Any, Any]) -> None:
        found = getattr(self.owner, self.name)
        if isinstance(found, tuple):
            monkeypatch.setattr(
                self.owner, self.name, tuple(_frozen(value, frozen, known) for value in found)
            )
        elif isinstance(found, dict):
            for name, value in found.items():
                monkeypatch.setitem(found, name, _frozen(value, frozen, known))
        else:
            monkeypatch.setattr(self.owner, self.name, _frozen(found, frozen, known))


def _frozen(value: Any, frozen: FrozenTime, known: dict[Any, Any]) -> Any:
    if value is time:
        return frozen
    return known[value] if _is_function_of_time(value) else value


def _is_function_of_time(value: object) -> bool:
    return isinstance(value, type(time.time)) and value in _FUNCTIONS


@cache
def _clocks_of(packages: tuple[str, ...]) -> list[_ClockPlace]:
    """Find every place and cache the result. The search is slow, and no module is imported later."""
    for package in packages:
        _import_all(package)
    prefixes = tuple(f"{package}." for package in packages)
    found = []
    for module in [module for name, module in sys.modules.items() if name.startswith(prefixes)]:
        for name, value in vars(module).items():
            if value is time or _is_function_of_time(value):
                found.append(_ClockPlace(module, name))
        for function in _functions(module):
            for name, values in (
                ("__kwdefaults__", (function.__kwdefaults__ or {}).values()),
                ("__defaults__", function.__defaults__ or ()),
            ):
                if any(_is_function_of_time(value) for value in values):
                    found.append(_ClockPlace(function, name))
    return found


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        if isinstance(value, FunctionType):
            yield value
        elif isinstance(value, type) and value.__module__ == module.__name__:
            yield from (found for found in vars(value).values() if isinstance(found, FunctionType))


def _import_all(package: str) -> None:
    """Import every module, because a module that is imported later would use the real clock."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)


class SkippedWaits(asyncio.SelectorEventLoop):
    """An event loop that never sleeps: its clock jumps ahead to the next timer instead."""

    skipped = 0.0

    def time(self) -> float:
        return self.skipped

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self.skipped += max(0.0, self._scheduled[0].when() - self.time())
        super()._run_once()
