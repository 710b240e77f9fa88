"""Suggestions while servers start, stop and do not answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import until
from tests.ui.fakes import FakeRuntime
from tui.core.workbench import PromptArgument, PromptInfo, ResourceInfo
from tui.ui.chat.composer.suggestions import BOUND_SECONDS, STALE_SECONDS, LiveSources

ARGUMENTS = (PromptArgument("user_id"), PromptArgument("id"))


class Prompts:
    """Servers with a prompt each; one of them never answers."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.problem = ""

    async def prompts(self, server: str) -> tuple[Sequence[PromptInfo], str]:
        self.asked.append(server)
        if server == "weather":
            await asyncio.Event().wait()
        return ((), self.problem) if self.problem else ((PromptInfo(server, "p", arguments=ARGUMENTS),), "")

    async def resources(self, server: str) -> tuple[Sequence[object], str]:
        return (), "resources are not offered"


@pytest.fixture
def runtime() -> FakeRuntime:
    runtime = FakeRuntime()
    runtime.workbench = Prompts()  # type: ignore[assignment]
    return runtime


@pytest.fixture
def learned() -> list[int]:
    return []


@pytest.fixture
def sources(
    runtime: FakeRuntime, learned: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> LiveSources:
    monkeypatch.setattr("tui.ui.chat.composer.suggestions.LISTING_SECONDS", 0.05)
    sources = LiveSources(tmp_path, lambda: learned.append(1))
    sources.runtime = runtime
    return sources


def names(sources: LiveSources) -> list[str]:
    return [spec.name for spec in sources.specs() if ":" in spec.name]


async def test_a_server_that_does_not_answer_does_not_delay_the_others(sources, learned):
    assert names(sources) == []
    await until(lambda: learned)
    assert names(sources) == ["notes:p"]


@pytest.mark.parametrize("before", ["user_id=3 ", "3 "])
async def test_the_arguments_without_a_value_are_suggested(sources, before):
    await sources.known()
    found = await sources.arguments("notes:p", before, "")
    assert [one.text for one in found] == ["id="]


async def test_the_prompts_of_a_stopped_server_are_removed(runtime, sources):
    await sources.known()
    runtime.host.request_stop("notes")
    await sources.known()
    assert names(sources) == []


async def test_servers_are_not_queried_again_at_each_letter(runtime, sources):
    await sources.known()
    for _ in range(5):
        sources.specs()
        runtime.host.revision += 1
    assert sorted(runtime.workbench.asked) == ["notes", "weather"]


async def test_a_server_whose_prompts_changed_is_queried_again(runtime, sources):
    await sources.known()
    runtime.host.put(replace(runtime.host.status("notes"), prompts_revision=1))
    await sources.known()
    assert runtime.workbench.asked.count("notes") == 2


async def test_a_server_that_starts_does_not_have_the_others_listed_again(runtime, sources):
    await sources.known()
    weather = runtime.host.status("weather")
    runtime.host.put(replace(weather, since_ns=weather.since_ns + 1))
    await sources.known()
    assert (runtime.workbench.asked.count("notes"), runtime.workbench.asked.count("weather")) == (1, 2)


@pytest.mark.parametrize(("announces", "asked"), [((), [1, 2, 2]), (("prompts", "resources"), [1, 1, 1])])
async def test_an_old_list_is_requested_again_once_when_the_menu_is_opened(
    runtime, sources, monkeypatch, announces, asked
):
    """Unless the server announces its changes."""
    now = 1000.0
    monkeypatch.setattr("tui.ui.chat.composer.suggestions.time.monotonic", lambda: now)
    runtime.host.request_stop("weather")
    runtime.host.put(replace(runtime.host.status("notes"), announces=frozenset(announces)))
    monkeypatch.setattr(runtime.workbench, "resources", lambda name: asyncio.sleep(0, ((), "")))
    await sources.known()
    counts = [len(runtime.workbench.asked)]
    now += STALE_SECONDS
    await sources.known()
    assert len(runtime.workbench.asked) == 1, "asked again without an opening"
    for _ in range(2):
        sources.opened()
        await sources.known()
        counts.append(len(runtime.workbench.asked))
    assert counts == asked


async def test_an_announced_list_is_requested_again_after_the_bound(runtime, sources, monkeypatch):
    now = 1000.0
    monkeypatch.setattr("tui.ui.chat.composer.suggestions.time.monotonic", lambda: now)
    runtime.host.request_stop("weather")
    runtime.host.put(replace(runtime.host.status("notes"), announces=frozenset({"prompts"})))
    await sources.known()
    now += BOUND_SECONDS
    sources.opened()
    await sources.known()
    assert runtime.workbench.asked.count("notes") == 2


async def test_a_failed_listing_keeps_the_previous_suggestions(runtime, sources):
    await sources.known()
    runtime.workbench.problem = "notes does not list its prompts."
    runtime.host.put(replace(runtime.host.status("notes"), prompts_revision=1))
    await sources.known()
    assert names(sources) == ["notes:p"]


async def test_closing_cancels_the_queries(sources):
    sources.specs()
    await asyncio.sleep(0)
    await sources.close()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "list prompts and resources"]


async def test_a_resource_with_the_prefix_comes_before_a_file_that_matches_letters(
    runtime, sources, monkeypatch, tmp_path
):
    (tmp_path / "my-readme.md").touch()
    runtime.host.request_stop("weather")
    memory = ResourceInfo("notes", "mem://doc", "doc")
    monkeypatch.setattr(runtime.workbench, "resources", lambda name: asyncio.sleep(0, ((memory,), "")))
    await sources.known()
    assert [one.name for one in await sources.references("mem")] == ["notes:mem://doc", "my-readme.md"]
