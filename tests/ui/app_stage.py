"""The app over a fake runtime: open it, read the screen, send messages, wait for an approval question."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.fakes import FakeRuntime, calls, says
from tui.ui.app.app import McptuiApp


def app_over(runtime: FakeRuntime) -> McptuiApp:
    return McptuiApp(lambda: runtime, theme=runtime.theme_name, keys=runtime.keys)


@asynccontextmanager
async def opened(
    runtime: FakeRuntime, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[McptuiApp, Pilot[int]]]:
    app = app_over(runtime)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: app.main.parts and (runtime.is_ready or runtime._gate), what="ready")
        try:
            yield app, pilot
        finally:
            await app.close()


def screen_text(app: App[Any]) -> str:
    """Return the text on screen, including what is visible behind a dialog."""
    visible_screen_stack.set(app._background_screens)
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line) for line in lines)


async def shows(app: App[Any], *texts: str) -> None:
    """Wait until the screen shows some texts. It is read again only after Textual has repainted it."""
    painted, text = True, ""

    def mark() -> None:
        nonlocal painted
        painted = True

    def shown() -> bool:
        nonlocal painted, text
        if painted:
            painted, text = False, screen_text(app)
        return all(part in text for part in texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "post_display_hook", mark)
        try:
            await until(shown)
        except AssertionError:
            raise AssertionError(f"not in time: {texts} in\n{screen_text(app)}") from None


async def send(pilot: Pilot[int], text: str) -> None:
    pilot.app.main.composer.insert(text)
    await pilot.press("enter")


@asynccontextmanager
async def answered(
    question: str, *answers: str, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[McptuiApp, Pilot[int], FakeRuntime]]:
    """Open the app with a question that has its answer. Later questions get the other answers."""
    runtime = FakeRuntime(*map(says, answers))
    async with opened(runtime, size) as (app, pilot):
        await send(pilot, question)
        await shows(app, answers[0])
        await until(lambda: not app.main.parts.turns.running)
        yield app, pilot, runtime


def asking() -> FakeRuntime:
    return FakeRuntime(calls("notes__delete_note", '{"id": "milk"}'), says("So be it."))


async def asked(app: McptuiApp, pilot: Pilot[int]) -> None:
    await pilot.press("x", "enter")
    await until(lambda: app.main.parts.approvals.current)
    app.main.parts.approvals.typed_at = -1e9
    await shows(app, "delete or overwrite data", "milk")


async def ripen(app: McptuiApp) -> None:
    await until(lambda: app.main.parts.approvals.answer_delay.accepts_keys)


async def keys(pilot: Pilot[int], text: str) -> None:
    """Type a text."""
    await pilot.press(*("space" if letter == " " else letter for letter in text))


@dataclass
class OnScreen:
    """An app on screen: press keys, read and wait for text."""

    pilot: Pilot[None]

    @property
    def text(self) -> str:
        return screen_text(self.pilot.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def shows(self, *parts: str) -> None:
        await shows(self.pilot.app, *parts)
