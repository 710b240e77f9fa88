"""Where a command writes."""

import asyncio
import io
import sys

import pytest

from tui.commands.streams import colored, err, is_elsewhere, out, writing_to


async def test_only_one_task_and_those_that_it_starts_write_elsewhere():
    there, problems = io.StringIO(), io.StringIO()

    async def written() -> None:
        print("below", file=out())

    async def command() -> None:
        with writing_to(there, problems):
            await asyncio.sleep(0)
            print("here", file=out())
            print("problem", file=err())
            await asyncio.create_task(written())
            assert is_elsewhere()

    running = asyncio.create_task(command())
    await asyncio.sleep(0)
    assert out() is sys.stdout and err() is sys.stderr and not is_elsewhere()
    await running
    assert there.getvalue() == "here\nbelow\n" and problems.getvalue() == "problem\n"


@pytest.mark.parametrize(
    ("is_terminal", "env", "is_colored"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_no_color_and_simple_terminals_are_respected(
    is_terminal: bool, env: dict[str, str], is_colored: bool, monkeypatch: pytest.MonkeyPatch
):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.setenv(name, env.get(name, ""))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    assert colored() is is_colored
