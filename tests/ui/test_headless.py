"""What the fixtures of tests of screens put in place of Textual's own."""

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from types import FunctionType
from typing import Any

import pytest
from textual import _callback


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def called(*values: Any) -> Any:
        return function(*values)

    return called


def positional(a: Any, /, b: Any, c: Any = None) -> None: ...


async def variadic(a: Any, *values: Any, key: Any = None, **named: Any) -> None: ...


@pytest.mark.parametrize(
    "function", [lambda: None, lambda a: a, positional, variadic, wrapped(positional), len, sorted]
)
def test_the_number_of_parameters_is_that_of_the_signature(function: Callable[..., Any]):
    assert _callback._count_parameters(function) == len(signature(function).parameters)


def test_the_parameters_of_a_plain_function_are_counted_without_its_signature(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(_callback, "signature", None)
    assert isinstance(positional, FunctionType) and _callback.count_parameters(partial(positional, 1)) == 2
