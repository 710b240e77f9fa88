"""A transcript in a minimal app: fill it and read what it shows."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.message import Message
from textual.pilot import Pilot

from tests.conftest import until
from tests.ui.stage import Stage, shown
from tui.core.ports import ApprovalRequest
from tui.core.tools import Tool
from tui.ui.chat.transcript.transcript import Transcript

HOSTILE = "\x1b[31mred\x1b]52;c;YQ==\x07 [/x] [@click=app.quit]q[/] \x9b2J \u202eevil \x00 \ud800"


class Talk:
    """A transcript in a bare app."""

    def __init__(self, pane: Transcript, pilot: Pilot[None], taken: list[str]) -> None:
        self.pane = pane
        self.pilot = pilot
        self.taken = taken

    async def lines(self) -> list[str]:
        await self.pilot.pause()
        return shown(self.pane)

    async def shows(self, part: str) -> list[str]:
        await until(lambda: any(part in line for line in shown(self.pane)), what=f"{part!r} on screen")
        return shown(self.pane)

    def say(self, question: str, answer: str) -> None:
        self.pane.add_user(question, "14:02")
        self.pane.begin_reply("demo")
        self.pane.add_text(answer)
        self.pane.end_reply(0.8)

    def question(self, arguments: dict[str, object], why: str = "may delete data") -> None:
        self.pane.add_call("1", "notes", "delete_note", arguments)
        self.pane.ask(ApprovalRequest("1", Tool("notes", "delete_note"), arguments, why))


@asynccontextmanager
async def talk(
    columns: int = 60, rows: int = 20, clock: Callable[[], float] = lambda: 0.0
) -> AsyncIterator[Talk]:
    pane = Transcript(clock=clock)
    taken: list[str] = []

    def note(message: Message) -> None:
        if isinstance(message, Transcript.Chosen) and isinstance(message.what, str):
            taken.append(message.what)

    async with Stage(pane).run_test(size=(columns, rows), message_hook=note) as pilot:
        await pilot.pause()
        yield Talk(pane, pilot, taken)
