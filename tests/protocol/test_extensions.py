"""What mcptui declares to real servers on the SDK in both eras, and what follows from a switch."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import until
from tests.hosts import Raw, called, running, text_of
from tui.addons.act_as.hosts import HOSTS
from tui.core.comparison.offers import offer_changes
from tui.core.jsonrpc.extensions import CLIENT_CREDENTIALS, TASKS, Use
from tui.core.servers import EraChoice, Grant, OAuthSpec, SamplingRule, ServerSpec
from tui.host.host import Host

SERVER = str(Path(__file__).with_name("declaring_server.py"))
TASK_SERVER = str(Path(__file__).with_name("task_server.py"))
OFF = {TASKS: False}

both_eras = pytest.mark.parametrize("era", [EraChoice.LEGACY, EraChoice.MODERN])


def spec(era: EraChoice = EraChoice.MODERN, **more: Any) -> ServerSpec:
    return ServerSpec("srv", sys.executable, (SERVER,), era=era, trusted=True, **more)


def tools(host: Host) -> set[str]:
    return {tool.name for tool in host.workbench.tools("srv")}


async def told(host: Host) -> dict[str, Any]:
    """Return what the server was told about its client."""
    found: dict[str, Any] = json.loads(text_of(await called(host, "who")))
    return found


async def uses(host: Host) -> dict[str, Use]:
    return {one.id: one.use for one in (await host.workbench.identity("srv")).extensions}


@asynccontextmanager
async def acting(name: str, **more: Any) -> AsyncIterator[Host]:
    one = spec(act_as=name, **more)
    async with running(one, profile=lambda spec: HOSTS[spec.act_as].profile) as host:
        yield host


async def test_an_extension_that_is_off_from_the_start_is_not_declared_and_not_in_use():
    async with running(spec(extensions=OFF)) as host:
        assert "extensions" not in (await told(host))["capabilities"]
        assert (await uses(host))[TASKS] is Use.OFF and tools(host) == {"who"}
        assert host.workbench.extension("srv", TASKS) is None


async def test_a_switch_is_followed_by_the_new_lists_of_the_same_process():
    async with running(spec()) as host:
        assert tools(host) == {"who", "with-tasks"} and host.workbench.extension("srv", TASKS) == {}
        before, pid = await host.workbench.offer("srv"), host.status("srv").pid
        host.reconfigure("srv", extensions=OFF)
        after = await host.workbench.offer("srv")
        assert [one.words for one in offer_changes(before, after)] == ["tool with-tasks: removed"]
        assert tools(host) == {"who"} and host.status("srv").pid == pid
        assert "extensions" not in (await told(host))["capabilities"]
        host.reconfigure("srv", extensions={})
        assert offer_changes(before, await host.workbench.offer("srv")) == ()


async def test_a_server_of_the_older_era_is_connected_again_if_it_is_told_something_else():
    sign_in = OAuthSpec(grant=Grant.CREDENTIALS, client_id="id", client_secret="secret")
    async with running(spec(EraChoice.LEGACY, oauth=sign_in)) as host:
        assert tools(host) == {"who", "with-oauth-client-credentials"}
        pid = host.status("srv").pid
        host.reconfigure("srv", extensions={CLIENT_CREDENTIALS: False})
        await host.workbench.offer("srv")
        assert tools(host) == {"who"} and host.status("srv").pid != pid


async def test_a_server_of_the_older_era_keeps_running_if_it_is_told_the_same():
    async with running(spec(EraChoice.LEGACY)) as host:
        pid = host.status("srv").pid
        host.reconfigure("srv", extensions=OFF)
        await host.workbench.offer("srv")
        assert host.status("srv").pid == pid


async def test_no_method_of_an_extension_that_is_off_is_sent():
    lines = Raw()
    async with running(spec(extensions=OFF), sink=lines) as host:
        answer = await host.workbench.request("srv", "tasks/get", {"taskId": "1"}, call="hand-1", seconds=5)
        assert answer.problem == "Tasks is turned off for this server."
    assert not any(b"tasks/get" in line for line in lines)


async def test_a_task_of_a_server_that_was_told_of_none_is_not_followed(tmp_path: Path):
    lines, env = Raw(), {"TASKS_FILE": str(tmp_path / "tasks.json")}
    one = ServerSpec("srv", sys.executable, (TASK_SERVER,), env=env, trusted=True, extensions=OFF)
    async with running(one, sink=lines) as host:
        result = await called(host, "count")
        assert result.is_error and "task" in text_of(result)
    assert not any(b'"tasks/' in line for line in lines)


async def test_switching_tasks_off_ends_the_wait_for_one(tmp_path: Path):
    env = {"TASKS_FILE": str(tmp_path / "tasks.json")}
    one = ServerSpec("srv", sys.executable, (TASK_SERVER,), env=env, trusted=True)
    async with running(one) as host:
        call = asyncio.ensure_future(called(host, "stuck", 60))
        await until(lambda: bool(host.servers["srv"].connection.calls.tasks.followed))  # type: ignore[union-attr]
        host.reconfigure("srv", extensions=OFF)
        result = await call
        assert result.is_error and "turned off" in text_of(result)


@both_eras
async def test_acting_as_another_host_both_eras_hear_what_that_host_says(era: EraChoice):
    async with acting("claude-code", era=era) as host:
        profile, said = HOSTS["claude-code"].profile, await told(host)
        assert said["info"] == profile.info and said["capabilities"] == profile.capabilities
        assert (await uses(host)).get(TASKS, Use.NOT_USED) is Use.NOT_USED


async def test_a_host_of_the_older_era_sends_no_probe_and_offers_its_own_version():
    lines = Raw()
    one = spec(EraChoice.AUTO, act_as="codex")
    async with running(one, sink=lines, profile=lambda spec: HOSTS[spec.act_as].profile) as host:
        assert host.status("srv").protocol == "2025-06-18"
        assert (await told(host))["info"]["title"] == "Codex"
    assert not any(b"server/discover" in line for line in lines)


async def test_sampling_that_another_host_declares_is_still_up_to_the_user():
    async with acting("goose", sampling=SamplingRule.NEVER) as host:
        assert "sampling" in (await told(host))["capabilities"]
        requests = host.servers["srv"].requests
        refusal = requests.refusal("sampling/createMessage", {})
        assert refusal is not None and not requests.may_sample
