"""What enter and tab select in the list above the composer, however fast the user types."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.conftest import until
from tui.ui.chat.composer.completion import Completion, suggestion_rows
from tui.ui.chat.composer.suggestions import Suggestion
from tui.ui.keys.command_spec import CommandKind, CommandSpec
from tui.ui.keys.slash_commands import OWN
from tui.ui.widgets.rows import text_of, width_of

SMALL = Suggestion("small", text="small")


class Shown:
    """A box that only records its rows."""

    rows: Sequence[Any] = ()
    shown: Callable[[], None] | None = None
    """Called once after rows were shown."""

    def show(self, rows: Sequence[Any], marked: int = -1, *, wraps: bool = False) -> None:
        self.rows = rows
        if rows and self.shown is not None:
            shown, self.shown = self.shown, None
            shown()


class Slow:
    """Suggestions that are delayed until a gate opens."""

    is_listing = False

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    def opened(self) -> None:
        """Nothing is outdated."""

    def specs(self) -> Sequence[Any]:
        return OWN

    async def known(self) -> Sequence[Any]:
        await self.gate.wait()
        return (*OWN, CommandSpec("greet", "", "Greet someone", kind=CommandKind.PROMPT))

    async def arguments(self, command: str, before: str, query: str) -> Sequence[Suggestion]:
        await self.gate.wait()
        return [SMALL]

    async def references(self, query: str) -> Sequence[Suggestion]:
        if query != "a":
            await self.gate.wait()
        return [Suggestion(f"{query}.txt")]

    async def deeper(self, query: str) -> Sequence[Suggestion]:
        return []

    def names_file(self, path: str) -> bool:
        return False


@pytest.fixture
def sources() -> Slow:
    return Slow()


@pytest.fixture
def box() -> Shown:
    return Shown()


@pytest.fixture
def completing(box: Shown, sources: Slow) -> Completion:
    completing = Completion(box)  # type: ignore[arg-type]
    completing.sources = sources  # type: ignore[assignment]
    return completing


def write(completing: Completion, text: str) -> None:
    """Type letter by letter, faster than any list is built."""
    for end in range(1, len(text) + 1):
        completing.look(text[:end], end, is_first=True)


async def test_enter_after_an_argument_does_not_select_the_command_completed_before(
    completing: Completion, sources: Slow
) -> None:
    write(completing, "/model small")
    sources.gate.set()
    await completing.settled()
    assert completing.marked is None and completing.best == SMALL
    completing.close()


async def test_nothing_is_selected_while_the_list_is_late(
    completing: Completion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.ui.chat.composer.completion.PATIENCE_SECONDS", 0.01)
    write(completing, "/model small")
    await completing.settled()
    assert completing.marked is None and completing.best is None
    assert completing.is_awaited  # so that the key that selects one does nothing else
    completing.close()
    assert not completing.is_awaited


async def test_a_listed_reference_is_deselected_when_more_is_typed(
    completing: Completion, sources: Slow
) -> None:
    completing.look("@a", 2, is_first=True)
    await completing.settled()
    assert completing.marked == Suggestion("a.txt")
    completing.look("@ab", 3, is_first=True)
    assert completing.is_open and completing.marked is None
    sources.gate.set()
    await completing.settled()
    assert completing.marked == Suggestion("ab.txt")
    completing.close()


async def test_a_key_waits_for_a_list_that_is_reloaded(
    completing: Completion, box: Shown, sources: Slow
) -> None:
    write(completing, "@abc")
    key = asyncio.create_task(completing.settled())
    await until(lambda: completing._waiting)
    box.shown = completing.again  # a server lists its prompts after the key was woken and before it runs
    sources.gate.set()
    assert await key
    assert completing.marked == Suggestion("abc.txt")
    completing.close()


async def test_closing_the_list_ends_the_wait_of_a_key(completing: Completion) -> None:
    write(completing, "@abc")
    key = asyncio.create_task(completing.settled())
    await until(lambda: completing._waiting)
    assert completing.leave()  # so that escape does not stop a turn
    assert not await key
    assert not completing.leave()


async def test_an_unknown_command_waits_for_the_prompts_of_servers(
    completing: Completion, sources: Slow
) -> None:
    sources.is_listing = True
    write(completing, "/gre")
    key = asyncio.create_task(completing.settled())
    await until(lambda: completing._waiting)
    sources.gate.set()
    assert await key
    assert completing.best is not None and completing.best.text == "/greet"
    completing.close()


async def test_a_long_wait_is_announced(
    completing: Completion, box: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.ui.chat.composer.completion.NOTICE_SECONDS", 0.0)
    write(completing, "/model small")
    key = asyncio.create_task(completing.settled())
    await until(lambda: "Loading suggestions" in str(box.rows))
    completing.close()
    assert not await key and not box.rows


# ---- rows ----


def test_suggestions_are_aligned_in_columns():
    rows = suggestion_rows([Suggestion("/a", "X", "first"), Suggestion("/longer", "", "second")])
    assert {text_of(row).index(word) for row, word in zip(rows, ("first", "second"), strict=True)} == {12}


def test_a_long_name_does_not_widen_the_column_of_the_others():
    rows = suggestion_rows([Suggestion("x" * 300, "", "about"), Suggestion("a", "", "b")])
    assert all(width_of(row) < 60 for row in rows)
