"""What the fixtures of tests of screens put in place of Textual's own."""

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from types import FunctionType
from typing import Any

import pytest
from textual import _callback
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.css.stylesheet import Stylesheet
from textual.widgets import Label


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


class Styled(App[None]):
    CSS = """
    Label { padding: 1; } Label:focus { padding: 2; } Label.off { padding: 3; } Label:disabled { padding: 4; }
    .on Label { margin: 1; } Vertical > Label { margin: 2; } #two { margin: 3; }
    Label:can-focus { margin: 4; }
    """

    def compose(self) -> ComposeResult:
        yield Label("one")
        with Vertical():
            yield Label("two", id="two")
            yield Label("three")


async def test_the_styles_that_apps_share_are_those_of_textual() -> None:
    async with Styled().run_test() as pilot:
        one, *_ = nodes = list(pilot.app.screen.query(Label))
        changes = [
            lambda: pilot.app.screen.add_class("on"),
            lambda: one.add_class("off"),
            lambda: one.remove_class("off"),
            lambda: setattr(one, "can_focus", True),
            one.focus,
            one.blur,
            lambda: setattr(one, "disabled", True),
            lambda: pilot.app.screen.remove_class("on"),
        ]
        for change in changes:
            change()
            await pilot.pause()
            pilot.app.stylesheet.update(pilot.app.screen)
            shared = [dict(node.styles.base.get_rules()) for node in nodes]
            for node in nodes:
                Stylesheet.apply.__wrapped__(pilot.app.stylesheet, node)
            assert [dict(node.styles.base.get_rules()) for node in nodes] == shared
