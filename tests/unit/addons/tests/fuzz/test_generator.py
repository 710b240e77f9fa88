"""The process that generates arguments."""

import pytest

from tui.addons.tests.fuzz import generator
from tui.addons.tests.fuzz.generator import Generator

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_arguments_come_from_another_process():
    one = Generator()
    made = await one.arguments(SCHEMA, 5, 1)
    assert len(made) == 5
    assert await one.arguments(SCHEMA, 5, 1) == made
    await one.close()


async def test_a_process_that_fails_gives_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(generator, "WORKER", "tui.no_such_module")
    one = Generator()
    assert await one.arguments(SCHEMA, 5, 1) == []
    await one.close()
