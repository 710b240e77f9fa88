import asyncio
import threading
from pathlib import Path

import pytest

from tui.addons.tests.python.engine import Engine
from tui.addons.tests.suite.case import Suite, SuiteServer


def test_work_runs_in_a_thread_of_its_own_and_errors_come_back(engine: Engine):
    async def work() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    async def fails() -> None:
        raise ValueError("no")

    assert engine.run(work()) == engine.run(work()) == "mcptui-tests"
    with pytest.raises(ValueError, match="no"):
        engine.run(fails())


def test_servers_of_equal_names_are_told_apart(engine: Engine):
    suite = Suite(Path("shop.mcp.toml"), SuiteServer(command=("python", "server.py")))

    async def name() -> str:
        return (await engine.instance(suite)).name

    assert [engine.run(name()), engine.run(name())] == ["shop", "shop-2"]


def test_it_can_be_closed_before_it_started_and_twice():
    engine = Engine()
    engine.close()
    engine.close()
    assert "mcptui-tests" not in {thread.name for thread in threading.enumerate()}
