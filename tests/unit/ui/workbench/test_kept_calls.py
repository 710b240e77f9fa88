from collections.abc import Mapping
from typing import Any, cast

import pytest

from tests.cases import each_case
from tui.core.tools import ToolResult
from tui.core.workbench import CallKey, CallKind
from tui.ui.workbench import kept_calls
from tui.ui.workbench.kept_calls import Badge, BenchKept, KeptVerdict

RAIN = CallKey("weather", CallKind.TOOL, "rain")


class List:
    def __init__(self) -> None:
        self.shown: list[Mapping[str, Badge]] = []

    def show_badges(self, badges: Mapping[str, Badge]) -> None:
        self.shown.append(badges)


class Kept:
    def __init__(self, *_: Any) -> None:
        self.badges: Mapping[CallKey, Badge] = {}
        self.revision = 0

    def look(self) -> None:
        pass

    async def verdict(self, *_: Any) -> KeptVerdict:
        return KeptVerdict("rain", is_same=True)

    async def close(self) -> None:
        pass


@each_case(
    ("passed", "long", "cell"),
    [
        (True, True, ("3 kept ✓", "ok")),
        (False, True, ("3 kept ✗", "bad")),
        (None, True, ("3 kept", "dim")),
        (True, False, ("3 ✓", "ok")),
        (False, False, ("3 ✗", "bad")),
        (None, False, ("3 kept", "dim")),
    ],
)
def test_a_badge_has_a_sign_besides_its_color(passed: bool | None, long: bool, cell: tuple[str, str]):
    assert Badge(3, passed, 3 if passed is False else 0).cell(long=long) == cell


def test_the_badge_of_some_failed_calls_has_their_number():
    badge = Badge(6, False, 1)
    assert (badge.cell(long=True), badge.cell(long=False)) == (("6 kept, 1 ✗", "bad"), ("1 of 6 ✗", "bad"))


def test_a_verdict_is_a_word():
    assert KeptVerdict("a", is_same=True).cell == ("as kept", "ok")
    assert KeptVerdict("a", is_same=False).cell == ("differs", "bad")


async def test_lists_show_badges_once_they_have_changed(monkeypatch: pytest.MonkeyPatch):
    made = Kept()
    monkeypatch.setattr(kept_calls, "service", lambda name: lambda *_: made)
    bench, list = BenchKept(cast(Any, None), "weather"), List()
    bench.look([list])
    made.badges = {RAIN: Badge(1)}
    assert not bench.look([list])
    made.revision = 1
    assert bench.look([list]) and not bench.look([list])
    assert list.shown[-1] == {"tool rain": Badge(1)} and len(list.shown) <= 2
    assert await bench.verdict(RAIN, {}, ToolResult()) == KeptVerdict("rain", is_same=True)
    await bench.close()


async def test_without_the_addon_nothing_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept_calls, "service", lambda name: None)
    bench, list = BenchKept(cast(Any, None), "weather"), List()
    bench.look([list])
    assert all(not badges for badges in list.shown)
    assert await bench.verdict(RAIN, {}, ToolResult()) is None
    await bench.close()
