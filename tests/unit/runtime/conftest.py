"""Fixtures of the runtime."""

import pytest

from tests.scripted_model import Reply
from tests.unit.runtime.stage import Stage
from tui.model.endpoints.profile import ModelProfile


@pytest.fixture
async def stage(tmp_path):
    made: list[Stage] = []

    def make(*replies: Reply, profile: ModelProfile | None = None) -> Stage:
        made.append(Stage(tmp_path / "sessions", *replies, profile=profile))
        return made[-1]

    yield make
    for one in made:
        await one.conversations.close()
