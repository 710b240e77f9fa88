"""The app over a scenario, for tests in a terminal: python fake_app.py SCENARIO."""

import gc

gc.disable()  # before the first import, as the command line does; the app enables it again once loaded

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from tests.ui.fake_host import FakeHost, crashed, running
from tests.ui.fakes import DELETE, WEATHER, FakeRuntime, calls, says
from tui.core.ports import ModelPart, ReasoningPart
from tui.core.tools import TextContent, ToolResult
from tui.runtime.example_questions import Example
from tui.ui.app.terminal import run_app
from tui.ui.chat.composer import completion
from tui.ui.platform import key_order

completion.PATIENCE_SECONDS = 30.0  # the files of a whole checkout are listed, beside other tests
key_order.SETTLING_SECONDS = 10.0
key_order.OPENING_CHECKS = 2000

PAYLOADS = (
    *("\x1b]52;c;cHduZWQ=\x07", "\x1b]0;pwned\x07", "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07"),
    *("\x1b[?1049l", "\x1b[31;66mred", "\x9b31;66mred", "\x9d0;pwned\x9c", "\x00\x08\x0e\x7f"),
    *("\u202eevil\u200b\U000e0041", "[/x][@click=app.quit]go[/]", "\ud800"),
)
EVIL = " ".join(f"<{number} {payload}>" for number, payload in enumerate(PAYLOADS))


def hostile() -> FakeRuntime:
    """All external text is hostile: names, logs, arguments, results, answers."""
    bad = replace(crashed("slow"), detail=EVIL, next_step=EVIL, stderr_last=EVIL, title=EVIL, version=EVIL)
    host = FakeHost(bad, running("weather"))
    host.logs["slow"] = (EVIL, EVIL)
    tool = replace(DELETE, description=EVIL, title=EVIL)
    arguments = json.dumps({"id": EVIL, EVIL: [EVIL]})
    reply: Sequence[ModelPart | asyncio.Event] = [
        ReasoningPart(EVIL),
        *says(
            EVIL,
            f"\n# {EVIL}\n\n- {EVIL}\n\n| {EVIL} | b |\n|--|--|\n| {EVIL} | c |\n\n```{EVIL}\n{EVIL}\n```\n",
        ),
    ]
    runtime = FakeRuntime(
        calls("weather__get_weather", arguments),
        calls("notes__delete_note", arguments, "call-2"),
        reply,
        host=host,
        tools=(WEATHER, tool),
        problems=[EVIL],
    )
    runtime.toolbox.answers["get_weather"] = ToolResult((TextContent(EVIL),), warning=EVIL)
    runtime.model.label = f"model {EVIL}"
    runtime.model.notice = EVIL
    runtime.examples = lambda: (Example(EVIL, EVIL),)  # type: ignore[method-assign]
    return runtime


class Noisy(FakeRuntime):
    """Writes to the descriptor that a native library would use."""

    async def ready(self) -> None:
        os.write(2, b"STRAY BYTES ON DESCRIPTOR TWO")
        print("STRAY PRINT", file=sys.stderr)
        await super().ready()


class SlowToStop(FakeRuntime):
    """Shuts down slowly."""

    async def shutdown(self) -> None:
        await asyncio.sleep(1.0)


def runtime_of(scenario: str) -> FakeRuntime:
    match scenario:
        case "hostile":
            return hostile()
        case "noisy":
            return Noisy()
        case "slow to stop":
            return SlowToStop()
        case "endless":
            return FakeRuntime([*says("It begins.")[:-1], asyncio.Event()])
        case _:
            return FakeRuntime(says("Hello."))


if __name__ == "__main__":
    raise SystemExit(run_app(lambda: runtime_of(sys.argv[1]), theme="harbor", keys={}))
