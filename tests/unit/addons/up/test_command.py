"""`mcptui up` as a process, and commands that use its servers: questions, cancelling, ends."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.configurations import server
from tests.conftest import until
from tests.terminal.forking_python import Python
from tests.terminal.pty_app import ROOT
from tests.unit.addons.skills.site import SERVER as SKILLS
from tests.unit.addons.skills.site import Site
from tests.unit.addons.up.stage import mcptui
from tui.addons.up.running import _is_suspended, doors
from tui.runtime.local_socket import sockets_folder
from tui.settings.locations import config_file

SAMPLES = ROOT / "sample_config" / "servers"
ASKING = ROOT / "tests" / "protocol" / "asking_server.py"

Words = tuple[str, ...]


@pytest.fixture(autouse=True)
def own_config() -> None:
    file = config_file()  # the user's own, so that nothing needs consent
    file.parent.mkdir(parents=True, exist_ok=True)
    tables = (server("weather", SAMPLES / "weather.py"), server("slow", SAMPLES / "slow.py", autostart=False))
    tables += (server("asking", ASKING, autostart=False), server("asleep", ASKING, disabled=True))
    file.write_text("".join(tables))


class Holder:
    """A running `mcptui up`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []

    async def read(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.lines.append(line.decode().rstrip())

    def said(self, text: str) -> bool:
        return any(text in line for line in self.lines)


@asynccontextmanager
async def up(*words: str) -> AsyncIterator[Holder]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tui", "up", *words), stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    holder = Holder(process)
    reading = asyncio.create_task(holder.read())
    try:
        await until(lambda: holder.said("Ctrl+C stops them") or process.returncode is not None)
        yield holder
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await asyncio.wait_for(process.wait(), 20)
        await reading


async def test_it_keeps_those_with_autostart_up_says_who_uses_them_and_ends_at_ctrl_c():
    async with up() as holder:
        done = await mcptui("call", "weather", "get_weather", "location=NYC")
        assert f"in mcptui up (pid {holder.process.pid})" in done.err and "NYC" in done.out
        await until(lambda: holder.said("left"))
        assert holder.said("mcptui call (pid ") and not holder.said("slow")
        listed = await mcptui("up", "--list")
        assert f"mcptui up (pid {holder.process.pid})" in listed.out and " weather " in listed.out
    assert holder.process.returncode == 0 and list(sockets_folder("up").iterdir()) == []
    assert (await mcptui("up", "--list")).out.startswith("Nothing is up.")


async def test_it_stops_one_server_or_ends_when_asked():
    async with up("weather", "slow") as holder:
        done = await mcptui("up", "--stop", "weather")
        assert done.code == 0 and done.out.startswith("Stopped weather in mcptui up")
        (about,) = [json.loads(line) for line in (await mcptui("up", "--list", "--json")).out.splitlines()]
        assert about["servers"] == ["slow"] and about["pid"] == holder.process.pid
        assert (await mcptui("up", "--stop", "weather")).code == 1
        assert (await mcptui("up", "--stop")).code == 0
        assert await asyncio.wait_for(holder.process.wait(), 20) == 0


async def test_it_ends_after_a_time_without_a_command():
    async with up("weather", "--idle", "1s") as holder:
        assert await asyncio.wait_for(holder.process.wait(), 20) == 0
    assert holder.said("no command for 1 s")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing",), "mcptui up … -- COMMAND"),
        (("asleep",), "is disabled"),
        (("--list", "--stop"), "cannot be combined"),
        (("--idle", "1x"), "a time such as"),
        (("weather", "--", "cat"), "cannot be combined"),
    ],
)
async def test_what_it_cannot_do_is_a_usage_error(words: Words, said: str):
    done = await mcptui("up", *words)
    assert done.code == 2 and said in done.err


@pytest.mark.parametrize(
    ("flags", "expected", "said"),
    [
        ((), {"action": "decline"}, "declined. Answer it with --elicit"),
        (("--elicit", "@answers.json"), {"action": "accept", "content": {"name": "Ada"}}, "answered"),
    ],
)
async def test_a_question_is_answered_by_the_options_of_the_command(
    flags: Words, expected: object, said: str, tmp_path: Path
):
    await asyncio.to_thread((tmp_path / "answers.json").write_text, '{"name": "Ada"}')
    async with up("asking"):
        done = await mcptui("call", "asking", "greet", *flags, cwd=tmp_path)
    assert "using asking" in done.err and said in done.err
    assert json.loads(done.out)["given"] == {"who": expected}


async def started(*words: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(Python.command, "-m", "tui", *words, stdout=pipe, stderr=pipe)


async def line_with(text: str, process: asyncio.subprocess.Process) -> None:
    assert process.stderr is not None
    while text not in (line := (await process.stderr.readline()).decode()):
        assert line, f"ended without {text}"


async def test_progress_is_shown_and_ctrl_c_cancels_the_request_and_not_the_server():
    async with up("slow") as holder:
        call = await started("call", "slow", "count_slowly", "seconds=60", "-v")
        await line_with("… ", call)
        call.send_signal(signal.SIGINT)
        await call.communicate()
        assert call.returncode == 130
        await until(lambda: holder.said("left"))
        done = await mcptui("call", "slow", "count_slowly", "seconds=0.1")
        assert done.code == 0 and "using slow" in done.err and "Counted" in done.out


async def test_a_holder_that_is_killed_during_a_call_is_an_error_and_nothing_is_sent_again():
    async with up("slow") as holder:
        call = await started("call", "slow", "count_slowly", "seconds=60")
        await line_with("… ", call)
        holder.process.kill()
        _, err = await call.communicate()
    assert call.returncode == 2 and b"the outcome is unknown" in err and b"starting" not in err
    assert len(list(sockets_folder("up").iterdir())) == 1  # it had no time to remove it
    done = await mcptui("call", "weather", "get_weather", "location=NYC")
    assert done.code == 0 and "starting weather" in done.err
    assert list(sockets_folder("up").iterdir()) == []


async def test_a_holder_that_is_suspended_or_does_not_answer_is_left_out(monkeypatch: pytest.MonkeyPatch):
    async with up("weather") as holder:
        holder.process.send_signal(signal.SIGSTOP)
        try:
            if sys.platform == "linux":
                await until(lambda: _is_suspended(str(holder.process.pid)))
                with monkeypatch.context() as at_once:
                    at_once.setattr("tui.addons.up.running.connected", lambda path: pytest.fail("waits"))
                    assert list(doors()) == []
            monkeypatch.setattr("tui.addons.up.running._is_suspended", lambda pid: False)
            assert await asyncio.to_thread(lambda: list(doors())) == []
        finally:
            holder.process.send_signal(signal.SIGCONT)


async def test_a_command_line_is_kept_up_and_used_under_its_own_name():
    line = ("--", sys.executable, str(SAMPLES / "weather.py"))
    async with up(*line):
        done = await mcptui("call", "get_weather", "location=NYC", *line)
        assert "using " in done.err and "NYC" in done.out
        other = await mcptui("call", "get_weather", "location=NYC", "--era", "legacy", *line)
        assert "starting" in other.err and other.code == 0


async def test_a_server_that_crashed_is_started_again_for_the_next_command():
    async with up("slow") as holder:
        assert (await mcptui("call", "slow", "crash")).code == 1
        await until(lambda: holder.said("STOPPED"))
        done = await mcptui("call", "slow", "count_slowly", "seconds=0.1")
        assert done.code == 0 and "using slow" in done.err
        await mcptui("up", "--stop", "slow")  # the last one
        assert await asyncio.wait_for(holder.process.wait(), 20) == 0


async def test_skills_are_listed_and_unpacked_where_the_command_runs(tmp_path: Path):
    site = Site(tmp_path)
    site.save()
    with config_file().open("a") as file:
        file.write(server("docs", SKILLS, "modern", env=site.env, autostart=False))
    async with up("docs"):
        listed = await mcptui("skill", "docs")
        assert "using docs" in listed.err and listed.out.startswith("forms  2 files")
        for code in (0, 2):  # it exists the second time
            done = await mcptui("skill", "docs", "forms", "-o", "out", cwd=tmp_path)
            assert done.code == code and "using docs" in done.err
        assert sorted(os.listdir(tmp_path / "out" / "forms")) == ["SKILL.md", "references"]
