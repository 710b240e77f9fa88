"""A tour: opens the app at a size and in a theme, goes through it by keys, compares its screens."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from textual.pilot import Pilot

from tests.clocks import FrozenTime
from tests.ui import app_stage
from tests.ui.fakes import FakeRuntime
from tests.ui.snapshots import problem_of
from tui.ui.app.app import McptuiApp
from tui.ui.dialogs.question_dialog import QuestionDialog
from tui.ui.keys.answer_pause import GRACE_SECONDS
from tui.ui.questions.elicitation_dialogs import FormDialog

Dialog = FormDialog | QuestionDialog

SIZES = ((80, 24), (120, 40))


@dataclass
class Visit:
    """The app on a tour, and the differences found."""

    app: McptuiApp
    pilot: Pilot[int]
    runtime: FakeRuntime
    size: tuple[int, int]
    theme: str
    clock: FrozenTime
    seen: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def write(self, text: str) -> None:
        names = {" ": "space", "/": "slash", "@": "at", ":": "colon", ".": "full_stop", ",": "comma"}
        await self.press(*(names.get(letter, letter) for letter in text))

    async def ask(self, question: str) -> None:
        await app_stage.send(self.pilot, question)

    async def asked(self, name: str, question: Coroutine[object, object, object], *texts: str) -> None:
        """Compare the question of a server with its file, then close it without an answer."""
        asking = asyncio.ensure_future(question)
        await self.see(name, *texts)
        dialog = self.app.screen
        assert isinstance(dialog, Dialog)
        dialog.answer_delay._shown -= GRACE_SECONDS
        await self.press("escape")
        await asking

    async def shows(self, *texts: str) -> None:
        await app_stage.shows(self.app, *texts)

    async def see(self, name: str, *texts: str) -> None:
        """Compare the screen with its file, once it shows some texts."""
        await self.shows(*texts)
        self.seen.append(name)
        if problem := await problem_of(self.app, name, self.size, self.theme):
            self.problems.append(problem)


@dataclass(frozen=True, slots=True)
class Tour:
    """A tour through some screens, in the order of their names."""

    runtime: Callable[[], FakeRuntime]
    walk: Callable[[Visit], Awaitable[None]]
    screens: tuple[str, ...]


TOURS: list[Tour] = []
Walk = Callable[[Visit], Awaitable[None]]


def tour(runtime: Callable[[], FakeRuntime], *screens: str) -> Callable[[Walk], Walk]:
    """Return a decorator that registers a tour through these screens."""

    def add(walk: Walk) -> Walk:
        TOURS.append(Tour(runtime, walk, screens))
        return walk

    return add


@asynccontextmanager
async def opened(
    runtime: FakeRuntime, size: tuple[int, int], theme: str, clock: FrozenTime, visit: type[Visit] = Visit
) -> AsyncIterator[Visit]:
    runtime.theme_name = theme
    async with app_stage.opened(runtime, size) as (app, pilot):
        app.animation_level = "none"
        yield visit(app, pilot, runtime, size, theme, clock)
