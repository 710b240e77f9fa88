"""The parts of a request besides the conversation: instructions of the project and of servers."""

import threading
from pathlib import Path

import pytest

from tests.conftest import until
from tests.unit.runtime import stage
from tests.unit.runtime.stage import Stage
from tui.core.context.context_parts import DefinitionTokens
from tui.core.tools import Tool
from tui.runtime import request_context


class Counted:
    """Counts tokens, and records in which threads."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def __call__(self, tools: list[Tool], told: dict[str, str], *_: object) -> dict[str, DefinitionTokens]:
        self.threads.append(threading.current_thread())
        return {server: DefinitionTokens({one.name: 50 for one in tools}, len(told)) for server in told}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found = Counted()
    monkeypatch.setattr(request_context, "definition_tokens", found)
    return found


@pytest.fixture
def one(tmp_path: Path) -> Stage:
    made = Stage(tmp_path)
    made.around.host.told = {"srv": "Ids are numbers."}
    made.request = stage.request_of(tmp_path, made.asked, made.around)
    return made


def test_project_instructions_come_before_those_of_servers_without_secrets(
    one: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AGENTS.md").write_text("The key is hunter2hunter2.")
    one.around.redactor.add({}, {"key": "hunter2hunter2"})
    one.request.look()
    text = one.request.instructions()
    assert text.index("AGENTS.md") < text.index("Ids are numbers.")
    assert "hunter2" not in text and "[redacted:key]" in text


def test_project_instructions_are_not_looked_for_if_they_are_disabled(
    one: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    request = stage.request_of(tmp_path, one.asked, one.around, wanted=False)
    request.look()
    assert "AGENTS.md" not in request.instructions() and request.project_words == ""


def test_tokens_are_recounted_only_after_a_change(one: Stage, counted: Counted):
    request, host = one.request, one.around.host
    first = request.definition_tokens()
    assert request.definition_tokens() is first and len(counted.threads) == 1
    host.revision = 1  # a server changed, but not its tools
    assert request.definition_tokens() is first and len(counted.threads) == 2
    host.toolbox.offered, host.revision = [], 2
    assert request.definition_tokens() is not first
    one.asked.context_meter.calibration.learn(1_000, 900)
    request.definition_tokens()
    assert len(counted.threads) == 4 and request.measured


async def test_tokens_for_the_screen_are_counted_in_a_thread(one: Stage, counted: Counted):
    request = one.request
    assert request.latest_definition_tokens() == {}
    await until(request.latest_definition_tokens)
    assert request.latest_definition_tokens() is request.definition_tokens()
    assert threading.main_thread() not in counted.threads


def test_the_tokens_of_one_server_are_counted_without_those_of_others(one: Stage):
    one.around.host.told["other"] = "Be kind."
    one.around.host.toolbox.offered.append(Tool("other", "look"))
    found = one.request.definition_tokens_of("srv")
    assert found is not None and list(found.tools) == ["echo"]
