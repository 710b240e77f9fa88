"""The processes of a fuzzed server: the one that is called, the spare one, and that of the arguments."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tui.addons.tests.fuzz import processes
from tui.addons.tests.fuzz.processes import Generator, Processes


class Instance:
    problem = ""
    records = True

    def __init__(self, number: int) -> None:
        self.number = number
        self.is_running = self.is_closed = False

    async def running(self) -> bool:
        self.is_running = True
        return True

    async def close(self) -> None:
        self.is_closed = True


def server(url: str | None = None) -> tuple[Any, list[Instance]]:
    made: list[Instance] = []

    def process() -> Instance:
        made.append(Instance(len(made)))
        return made[-1]

    runtime = SimpleNamespace(workbench=None)
    return SimpleNamespace(runtime=runtime, spec=SimpleNamespace(url=url), process=process), made


async def test_after_a_crash_the_spare_process_is_called():
    stub, made = server()
    processes = Processes(stub)
    first: Any = await processes.running()
    await asyncio.sleep(0)
    assert first.number == 0 and made[1].is_running
    processes.drop()
    second: Any = await processes.running()
    assert second.number == 1 and await processes.running() is second
    await asyncio.sleep(0)
    assert first.is_closed and len(made) == 3
    await processes.close()


async def test_a_remote_server_has_no_spare():
    stub, made = server("https://mcp.example.com")
    processes = Processes(stub)
    await processes.running()
    await asyncio.sleep(0)
    assert len(made) == 1
    await processes.close()


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_arguments_come_from_another_process():
    one = Generator()
    made = await one.arguments(SCHEMA, 5, 1)
    assert len(made) == 5
    assert await one.arguments(SCHEMA, 5, 1) == made
    await one.close()


async def test_a_process_that_fails_gives_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(processes, "WORKER", "tui.no_such_module")
    one = Generator()
    assert await one.arguments(SCHEMA, 5, 1) == []
    await one.close()
