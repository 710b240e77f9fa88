"""The parts of a request besides the conversation: instructions of the project and of servers."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tui.core.context.context_meter import Calibration
from tui.core.context.context_parts import DefinitionTokens
from tui.core.secrets.redact import Redactor
from tui.runtime.request_context import RequestContext
from tui.settings.state.project_file import ProjectFile


class Around:
    """The used parts of a host, conversations and an active model."""

    def __init__(self) -> None:
        self.revision = self.offers = self.counted = 0
        self.asked_for: list[tuple[dict[str, str], str]] = []
        self.counted_in: list[threading.Thread] = []
        self.context_meter = self
        self.calibration = Calibration()

    def instructions(self) -> dict[str, str]:
        return {"crm": "Ids are numbers."}

    def definition_counter(
        self, instructions: dict[str, str], server: str = ""
    ) -> Callable[[], dict[str, DefinitionTokens]]:
        self.asked_for.append((dict(instructions), server))

        def count() -> dict[str, DefinitionTokens]:
            self.counted += 1
            self.counted_in.append(threading.current_thread())
            return {"crm": DefinitionTokens({"a": 50 + self.revision // 2}, len(instructions))}

        return count


@pytest.fixture
def around() -> Around:
    return Around()


def context(around: Any, tmp_path: Path, redactor: Redactor | None = None, **more: bool) -> RequestContext:
    project = ProjectFile(tmp_path / "answers.json", always=True)
    return RequestContext(project, redactor or Redactor(), around, lambda: around, lambda: around, **more)


def test_project_instructions_come_before_those_of_servers_without_secrets(
    around: Around, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AGENTS.md").write_text("The key is hunter2hunter2.")
    redactor = Redactor()
    redactor.add({}, {"key": "hunter2hunter2"})
    request = context(around, tmp_path, redactor)
    request.look()
    text = request.instructions()
    assert text.index("AGENTS.md") < text.index("Ids are numbers.")
    assert "hunter2" not in text and "[redacted:key]" in text


def test_project_instructions_are_not_looked_for_if_they_are_disabled(
    around: Around, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    request = context(around, tmp_path, wanted=False)
    request.look()
    assert "AGENTS.md" not in request.instructions() and request.project_words == ""


def test_tokens_are_recounted_only_after_a_change(around: Around, tmp_path: Path):
    request = context(around, tmp_path)
    first = request.definition_tokens()
    assert request.definition_tokens() is first and around.counted == 1
    around.revision = 1  # a server changed, but not its tools
    assert request.definition_tokens() is first and around.counted == 2
    around.revision = 2
    assert request.definition_tokens() is not first
    around.calibration.learn(1_000, 900)
    request.definition_tokens()
    assert around.counted == 4 and request.measured


async def test_tokens_for_the_screen_are_counted_in_a_thread(around: Around, tmp_path: Path):
    request = context(around, tmp_path)
    assert request.latest_definition_tokens() == {}
    await until(request.latest_definition_tokens)
    assert request.latest_definition_tokens() is request.definition_tokens()
    assert threading.main_thread() not in around.counted_in


def test_the_tokens_of_one_server_are_counted_without_those_of_others(around: Around, tmp_path: Path):
    request = context(around, tmp_path)
    found = request.definition_tokens_of("crm")
    ((told, server),) = around.asked_for
    assert found is not None and server == "crm" and set(told) <= {"crm"}
