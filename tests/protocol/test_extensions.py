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
from tests.hosts import Raw, called, far, running, text_of
from tests.http_server import Asked, http_server, reply, says
from tui.addons.act_as.hosts import HOSTS
from tui.core.comparison.offers import offer_changes
from tui.core.jsonrpc.extensions import CLIENT_CREDENTIALS, EVENTS, SKILLS, TASKS, Use
from tui.core.jsonrpc.protocol import CAPABILITIES_KEY
from tui.core.servers import EraChoice, Grant, OAuthSpec, SamplingRule, ServerSpec
from tui.host.host import Host
from tui.runtime.server_offers import offer_of

SERVER = str(Path(__file__).with_name("declaring_server.py"))
TASK_SERVER = str(Path(__file__).with_name("task_server.py"))
OFF = {TASKS: False}
ALL_OFF = dict.fromkeys((SKILLS, EVENTS, TASKS), False)
EVERYTHING = {"who", "with-skills", "with-events", "with-tasks"}

pytestmark = pytest.mark.usefixtures("sdk_python")
both_eras = pytest.mark.parametrize("era", [EraChoice.LEGACY, EraChoice.MODERN])


def spec(era: EraChoice = EraChoice.MODERN, **more: Any) -> ServerSpec:
    return ServerSpec("srv", "python", (SERVER,), era=era, trusted=True, **more)


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
    async with running(spec(extensions=ALL_OFF)) as host:
        assert "extensions" not in (await told(host))["capabilities"]
        assert (await uses(host))[TASKS] is Use.OFF and tools(host) == {"who"}
        assert host.workbench.extension("srv", TASKS) is None


async def test_a_switch_is_followed_by_the_new_lists_of_the_same_process():
    async with running(spec()) as host:
        assert tools(host) == EVERYTHING and host.workbench.extension("srv", TASKS) == {}
        before, pid = await offer_of(host, "srv"), host.status("srv").pid
        host.reconfigure("srv", extensions=OFF)
        after = await offer_of(host, "srv")
        assert [one.words for one in offer_changes(before, after)] == ["tool with-tasks: removed"]
        assert tools(host) == EVERYTHING - {"with-tasks"} and host.status("srv").pid == pid
        assert TASKS not in (await told(host))["capabilities"]["extensions"]
        host.reconfigure("srv", extensions={})
        assert offer_changes(before, await offer_of(host, "srv")) == ()


async def test_a_server_of_the_older_era_is_connected_again_if_it_is_told_something_else():
    sign_in = OAuthSpec(grant=Grant.CREDENTIALS, client_id="id", client_secret="secret")
    async with running(spec(EraChoice.LEGACY, oauth=sign_in)) as host:
        assert tools(host) == {"who", "with-oauth-client-credentials"}
        pid = host.status("srv").pid
        host.reconfigure("srv", extensions={CLIENT_CREDENTIALS: False})
        await offer_of(host, "srv")
        assert tools(host) == {"who"} and host.status("srv").pid != pid


async def test_a_server_of_the_older_era_keeps_running_if_it_is_told_the_same():
    async with running(spec(EraChoice.LEGACY)) as host:
        pid = host.status("srv").pid
        host.reconfigure("srv", extensions=OFF)
        await offer_of(host, "srv")
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


async def test_a_recording_says_as_which_host_mcptui_acts():
    lines = Raw()
    one = spec(act_as="codex")
    async with running(one, sink=lines, profile=lambda spec: HOSTS[spec.act_as].profile):
        pass
    assert any(b'"event": "spawn"' in line and b'"acts_as": "codex"' in line for line in lines)


async def test_sampling_that_another_host_declares_is_still_up_to_the_user():
    async with acting("goose", sampling=SamplingRule.NEVER) as host:
        assert "sampling" in (await told(host))["capabilities"]
        requests = host.servers["srv"].requests
        refusal = requests.refusal("sampling/createMessage", {})
        assert refusal is not None and not requests.may_sample


def declared_to(asked: Asked) -> dict[str, Any]:
    """Return the extensions that a request over HTTP declares."""
    meta = asked.message.get("params", {}).get("_meta", {})
    found: dict[str, Any] = meta.get(CAPABILITIES_KEY, {}).get("extensions", {})
    return found


async def test_over_http_each_request_after_a_switch_declares_one_less():
    async with http_server() as server, running(far(server)) as host:
        assert all(TASKS in declared_to(one) for one in server.asked)
        count = len(server.asked)
        host.reconfigure("far", extensions=OFF)
        await offer_of(host, "far")
        later = server.asked[count:]
        assert [one.method for one in later][:2] == ["server/discover", "tools/list"]
        assert not any(TASKS in declared_to(one) for one in later)


async def test_a_server_that_offers_another_kind_of_list_then_is_connected_again():
    async def discover(asked: Asked, writer: asyncio.StreamWriter) -> None:
        found = server.result(asked)
        assert found is not None
        if TASKS not in declared_to(asked):
            found["capabilities"] = {"tools": {}, "prompts": {}}
        writer.write(reply({"jsonrpc": "2.0", "id": asked.message["id"], "result": found}))

    async with http_server(answers={"server/discover": discover}) as server, running(far(server)) as host:
        host.reconfigure("far", extensions=OFF)
        assert "prompts" in (await offer_of(host, "far")).capabilities
        assert server.methods().count("server/discover") == 3  # at the start, after the switch, again


async def test_a_server_that_answers_the_second_discovery_with_an_error_is_listed_again():
    async with http_server() as server, running(far(server)) as host:
        count = server.methods().count("tools/list")
        server.answers["server/discover"] = says(reply(b"no", "500 Internal Server Error", "text/plain"))
        host.reconfigure("far", extensions=OFF)
        offer = await offer_of(host, "far")
        assert [one["name"] for one in offer.lists["tools"]] == ["echo"] and not offer.problems
        assert server.methods().count("tools/list") > count


async def test_a_server_that_only_speaks_a_newer_revision_than_the_other_host_says_so():
    async with http_server() as server:
        one = far(server, act_as="codex")
        async with running(one, profile=lambda spec: HOSTS[spec.act_as].profile) as host:
            status = host.status("far")
            assert status.failed and "server/discover" not in server.methods()
