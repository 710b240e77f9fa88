"""How long a key waits while a question with a long, hostile text is prepared, shown and scrolled.

Run it: python tests/benchmarks/keys_in_questions.py [QUESTION …] [-v]
The app, without a terminal, gets each question with each text: 100 KB of invisible characters, one long line,
20,000 lines, and others. From the question to the last key, a clock records how long the event loop is
blocked, since no key can be handled meanwhile. The noise of a figure is the time in which other programs
used the cores. `-v` prints where the loop was blocked.
"""

import asyncio
import gc
import json
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))

from textual.pilot import Pilot  # noqa: E402

from tests.benchmarks.figures import Figure, judged  # noqa: E402
from tests.ui.app_stage import opened, screen_text  # noqa: E402
from tests.ui.fakes import FakeRuntime, calls, says  # noqa: E402
from tui.core.permission.consent import question_of  # noqa: E402
from tui.core.permission.definitions import DefinitionChange  # noqa: E402
from tui.core.questions import AddressQuestion, DefinitionsQuestion, FormQuestion, SamplingQuestion  # noqa: E402
from tui.core.servers import ServerSpec  # noqa: E402
from tui.runtime.permission.subjects import launch_of  # noqa: E402

SIZE = 100_000
TICK, SLOW = 0.002, 0.04
BUDGET_MS = 100
SOURCE = "the file /tmp/mcp.json"
TEXTS = {
    "invisible": "\u200b" * SIZE,
    "joiners": "a\u200d" * (SIZE // 2),
    "one line": "x" * SIZE,
    "one wide line": "漢" * SIZE,
    "words": "word " * (SIZE // 5),
    "lines": "abcd\n" * 20_000,
}


def consent(text: str) -> Any:
    spec = ServerSpec(
        "weather", "python3", ("weather.py", text[: SIZE // 3]), source="the file /tmp/mcp.json"
    )
    return question_of(spec.name, spec.source, launch_of(spec))


def long_consent(text: str) -> Any:
    spec = ServerSpec("weather", "python3", ("weather.py", text), source=SOURCE)
    return question_of(spec.name, spec.source, launch_of(spec))


def definitions(text: str) -> Any:
    after = {"name": "add", "description": text}
    change = DefinitionChange("calc", "add", "new", None, after)
    _ = change.effect  # the comparison runs in a thread, before the question is shown
    return DefinitionsQuestion("calc", [change])


def form(text: str) -> Any:
    return FormQuestion("calc", text, {"type": "object", "properties": {"name": {"type": "string"}}})


def field(text: str) -> Any:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "description": text, "title": text}},
    }
    return FormQuestion("calc", "Who?", schema)


def sampling(text: str) -> Any:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return SamplingQuestion("calc", {"messages": messages, "maxTokens": 100})


def address(text: str) -> Any:
    return AddressQuestion("calc", "https://example.com/" + text, text, "elicitation")


def made(name: str, text: str) -> Any:
    """Return a question. Definitions are compared now, so that a thread can do it before asking."""
    return QUESTIONS[name](text)


async def ask(approvals: Any, question: Any) -> Any:
    match question:
        case FormQuestion():
            return await approvals.form(question)
        case AddressQuestion():
            return await approvals.address(question)
        case SamplingQuestion():
            return await approvals.sampling(question)
        case DefinitionsQuestion():
            return await approvals.definitions(question)
        case _:
            return await approvals.consent(question)


QUESTIONS: dict[str, Callable[[str], Any]] = {
    "definitions": definitions,
    "consent": consent,
    "long consent": long_consent,
    "sampling": sampling,
    "form": form,
    "field": field,
    "address": address,
}
OTHERS = ("call",)


class Hold(NamedTuple):
    """A time in which the event loop was blocked, in milliseconds, and where.

    `waited` is the part in which the thread waited for a core, because other programs used them.
    """

    late: float
    waited: float = 0.0
    cpu: float = 0.0
    place: str = ""


def waited_ms() -> float:
    """Return how long this thread has waited for a core since its start; 0 where the system does not tell."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return 0.0


class Clock:
    """Records when the event loop was blocked."""

    def __init__(self) -> None:
        self.held: list[Hold] = []
        self._at = time.perf_counter()
        self._place = ""
        self._main = threading.get_ident()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(0.01):
            if time.perf_counter() - self._at > SLOW and (frame := sys._current_frames().get(self._main)):
                self._place = "".join(traceback.format_stack(frame)[-12:])

    async def _tick(self) -> None:
        while True:
            self._place = ""
            waited, cpu = waited_ms(), time.thread_time()
            self._at = time.perf_counter()
            await asyncio.sleep(TICK)
            late = (time.perf_counter() - self._at - TICK) * 1e3
            if late > 20:
                cpu = (time.thread_time() - cpu) * 1e3
                self.held.append(Hold(late, waited_ms() - waited, cpu, self._place))

    @property
    def longest(self) -> Hold:
        """The longest hold without the time in which the thread waited for a core."""
        return max(self.held, key=lambda hold: hold.late - hold.waited, default=Hold(0.0))

    @contextmanager
    def running(self) -> Iterator[None]:
        over = threading.Event()
        threading.Thread(target=self._watch, args=(over,), daemon=True).start()
        ticking = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            over.set()
            ticking.cancel()


async def read(app: Any, pilot: Pilot[int], keys: tuple[str, ...]) -> None:
    for key in keys:
        await pilot.press(key)
        screen_text(app)
        await asyncio.sleep(0.03)


async def answered(question: Callable[[], Any]) -> Clock:
    async with opened(FakeRuntime(), (100, 30)) as (app, pilot):
        approvals = app.main.parts.approvals  # type: ignore[union-attr]
        clock = Clock()
        await asyncio.sleep(0.3)
        with clock.running():
            await asyncio.sleep(0.02)
            # The program also compares and scans long questions in a thread.
            asked = await asyncio.to_thread(question)
            waiting = asyncio.create_task(ask(approvals, asked))
            await asyncio.sleep(0.5)
            keys = ("pagedown", "pagedown", "down", "end", "pageup", "home", "ctrl+s", "a", "b")
            await read(app, pilot, keys)
            await pilot.resize_terminal(90, 30)
            await asyncio.sleep(0.3)
            await read(app, pilot, ("end", "home"))
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        return clock


async def called(text: str) -> Clock:
    arguments = json.dumps({"id": text}, ensure_ascii=False)
    runtime = FakeRuntime(calls("notes__delete_note", arguments), says("So be it."))
    async with opened(runtime, (100, 30)) as (app, pilot):
        clock = Clock()
        await asyncio.sleep(0.3)
        with clock.running():
            await asyncio.sleep(0.02)
            await pilot.press("x", "enter")
            await asyncio.sleep(0.8)
            await read(app, pilot, ("f2", "enter", "pagedown", "pagedown", "end", "home", "y", "enter"))
            await pilot.resize_terminal(90, 30)
            await asyncio.sleep(0.3)
            await read(app, pilot, ("end", "r"))
            await asyncio.sleep(0.3)
        return clock


def freeze_heap() -> None:
    """Exclude all loaded objects from later collections, and let the app enable the garbage collector.

    The command line disables it before the first import (see `GcPauses`). Otherwise, collections of this
    process, with its tests and the apps before, would be measured.
    """
    gc.collect()
    gc.freeze()
    gc.disable()


def main() -> int:
    """Measure; return the exit code."""
    wanted = [one for one in sys.argv[1:] if not one.startswith("-")] or [*QUESTIONS, *OTHERS]
    figures = []
    for name in wanted:
        for kind, text in TEXTS.items():
            freeze_heap()
            work = called(text) if name == "call" else answered(partial(made, name, text))
            clock = asyncio.run(work)
            late, waited, cpu, _ = clock.longest
            beside = f"CPU {cpu:.0f} ms"
            figures.append(Figure(f"{name}, {kind}", late, "ms", BUDGET_MS, noise=waited, beside=beside))
            if "-v" in sys.argv:
                for hold in clock.held:
                    if hold.late > 50:
                        print(f"=== {name}, {kind}: {hold.late:.0f} ms, CPU {hold.cpu:.0f} ms\n{hold.place}")
    return judged(figures)


if __name__ == "__main__":
    sys.exit(main())
