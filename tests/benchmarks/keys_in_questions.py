"""How long a key waits while a question with a long, hostile text is prepared, shown and scrolled.

The app, without a terminal, gets each question with each text: 100 KB of invisible characters, one long line,
20,000 lines, and others. Measured is the longest time in which the event loop is blocked from the question to
the last key. The noise of a figure is the time in which other programs used the cores.
"""

import asyncio
import gc
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from textual.pilot import Pilot

from tests.benchmarks.figures import Figure
from tests.benchmarks.loop_holds import Hold, longest, recorded
from tests.ui.app_stage import opened, screen_text
from tests.ui.fakes import FakeRuntime, calls, says
from tui.core.permission.consent import question_of
from tui.core.permission.definitions import DefinitionChange
from tui.core.questions import AddressQuestion, DefinitionsQuestion, FormQuestion, SamplingQuestion
from tui.core.servers import ServerSpec
from tui.runtime.permission.subjects import launch_of

SIZE = 100_000
BUDGET_MS = 100
TEXTS = {
    "invisible": "\u200b" * SIZE,
    "joiners": "a\u200d" * (SIZE // 2),
    "one line": "x" * SIZE,
    "one wide line": "漢" * SIZE,
    "words": "word " * (SIZE // 5),
    "lines": "abcd\n" * 20_000,
}


def consent(text: str) -> Any:
    spec = ServerSpec("weather", "python3", ("weather.py", text), source="the file /tmp/mcp.json")
    return question_of(spec.name, spec.source, launch_of(spec))


def definitions(text: str) -> Any:
    after = {"name": "add", "description": text}
    change = DefinitionChange("calc", "add", "new", None, after)
    _ = change.effect  # the comparison runs in a thread, before the question is shown
    return DefinitionsQuestion("calc", [change])


def form(text: str, **schema: str) -> Any:
    properties = {"name": {"type": "string", **schema}}
    return FormQuestion("calc", text, {"type": "object", "properties": properties})


def sampling(text: str) -> Any:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return SamplingQuestion("calc", {"messages": messages, "maxTokens": 100})


# The questions with a text in them.
QUESTIONS: dict[str, Callable[[str], Any]] = {
    "definitions": definitions,
    "consent": lambda text: consent(text[: SIZE // 3]),
    "long consent": consent,
    "sampling": sampling,
    "form": form,
    "field": lambda text: form("Who?", description=text, title=text),
    "address": lambda text: AddressQuestion("calc", "https://example.com/" + text, text, "elicitation"),
}


async def read(app: Any, pilot: Pilot[int], keys: tuple[str, ...]) -> None:
    for key in keys:
        await pilot.press(key)
        screen_text(app)
        await asyncio.sleep(0.03)


async def answered(name: str, text: str) -> list[Hold]:
    """Ask a question and read it; return the holds."""
    holds = list[Hold]()
    async with opened(FakeRuntime(), (100, 30)) as (app, pilot):
        await asyncio.sleep(0.3)
        with recorded(holds):
            await asyncio.sleep(0.02)
            # The program also compares and scans long questions in a thread.
            question = await asyncio.to_thread(QUESTIONS[name], text)
            waiting = asyncio.create_task(app.main.parts.approvals.ask(question))
            await asyncio.sleep(0.5)
            keys = ("pagedown", "pagedown", "down", "end", "pageup", "home", "ctrl+s", "a", "b")
            await read(app, pilot, keys)
            await pilot.resize_terminal(90, 30)
            await asyncio.sleep(0.3)
            await read(app, pilot, ("end", "home"))
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
    return holds


async def called(text: str) -> list[Hold]:
    """Ask to approve a call and read its arguments; return the holds."""
    holds = list[Hold]()
    arguments = json.dumps({"id": text}, ensure_ascii=False)
    runtime = FakeRuntime(calls("notes__delete_note", arguments), says("So be it."))
    async with opened(runtime, (100, 30)) as (app, pilot):
        await asyncio.sleep(0.3)
        with recorded(holds):
            await asyncio.sleep(0.02)
            await pilot.press("x", "enter")
            await asyncio.sleep(0.8)
            await read(app, pilot, ("f2", "enter", "pagedown", "pagedown", "end", "home", "y", "enter"))
            await pilot.resize_terminal(90, 30)
            await asyncio.sleep(0.3)
            await read(app, pilot, ("end", "r"))
            await asyncio.sleep(0.3)
    return holds


def freeze_heap() -> None:
    """Exclude all loaded objects from later collections, and let the app enable the garbage collector.

    The command line disables it before the first import (see `GcPauses`). Otherwise, collections of this
    process, with its tests and the apps before, would be measured.
    """
    gc.collect()
    gc.freeze()
    gc.disable()


def measure(texts: dict[str, str] = TEXTS) -> list[Figure]:
    figures = []
    for name in (*QUESTIONS, "call"):
        for kind, text in texts.items():
            freeze_heap()
            hold = longest(asyncio.run(called(text) if name == "call" else answered(name, text)))
            beside = f"CPU {hold.cpu:.0f} ms"
            figures.append(Figure(f"{name}, {kind}", hold.late, "ms", BUDGET_MS, hold.waited, beside))
    return figures
