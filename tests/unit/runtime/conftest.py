"""Fixtures of the runtime."""

import sys
from types import ModuleType

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


@pytest.fixture
def keychain(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """The keys in the keychain by service and name."""
    kept: dict[tuple[str, str], str] = {}
    module = ModuleType("keyring")
    module.get_password = lambda service, name: kept.get((service, name))  # type: ignore[attr-defined]
    module.set_password = lambda service, name, value: kept.update({(service, name): value})  # type: ignore[attr-defined]
    module.delete_password = lambda service, name: kept.pop((service, name))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    return kept
