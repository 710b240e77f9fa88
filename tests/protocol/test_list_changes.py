"""Lists that change while a server runs, in both eras."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests import programs
from tests.accepting import Accepting
from tests.conftest import until
from tests.hosts import Raw, called, host_of
from tui.core.ports import MonotonicClock
from tui.core.servers import EraChoice, ServerSpec, ServerState
from tui.host.server.host_context import Answerers

SERVER = str(Path(__file__).with_name("steered_server.py"))
TOOLS = ["say", "end", "third"]

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])
modern = pytest.mark.parametrize("era", ["modern"])


class HurriedClock(MonotonicClock):
    """A real clock with short sleeps that records the requested durations."""

    def __init__(self):
        self.naps = []

    async def sleep(self, seconds):
        self.naps.append(seconds)
        await asyncio.sleep(min(seconds, 0.02))


class Stage:
    """A host with one server, controlled by the test."""

    def __init__(self, era, path):
        self.path = path
        self.lines = Raw()
        self.clock = HurriedClock()
        self.state = {"era": era, "tools": TOOLS, "resources": ["r1"], "prompts": ["p1"]}
        self.steer()
        self.host = host_of(
            ServerSpec("srv", sys.executable, (SERVER, str(path))),
            sink=self.lines,
            clock=self.clock,
            answerers=Answerers(questioner=Accepting()),
        )

    @property
    def status(self):
        return self.host.status("srv")

    @property
    def tools(self):
        return [tool.name for tool in self.host.toolbox.tools()]

    def steer(self, **state):
        self.state |= state
        written = self.path.with_suffix(".new")
        written.write_text(json.dumps(self.state))
        written.replace(self.path)

    def count(self, wanted):
        """Count the messages that contain a text."""
        return sum(wanted.encode() in line for line in self.lines)

    async def start(self):
        await self.host.start_all()
        refused = {*self.state.get("failing", ()), *self.state.get("unknown", ())}
        if self.state["era"] == "modern" and "listen" not in refused:
            await self.streams_open(1)

    async def streams_open(self, count):
        await until(lambda: self.count("subscriptions/acknowledged") >= count)

    async def call(self, name, **arguments):
        assert not (await called(self.host, name, **arguments)).is_error

    async def say_changed(self, kind):
        await self.call("say", method=f"notifications/{kind}/list_changed")


@pytest.fixture
async def stage(era, tmp_path):
    made = Stage(era, tmp_path / "steering.json")
    yield made
    await made.host.shutdown()


@both_eras
async def test_tools_are_kept_while_listing_them_fails_and_listed_as_soon_as_it_works(stage):
    await stage.start()
    stage.steer(tools=["new", *TOOLS], failing=["tools"])
    await stage.say_changed("tools")
    await until(lambda: stage.count("not now") >= 3)
    assert stage.tools == TOOLS
    stage.steer(failing=[])
    await until(lambda: stage.tools == ["new", *TOOLS])
    assert stage.status.listing_problem == "" and "tools" in stage.status.announces


@modern
async def test_a_failed_listing_is_retried_with_growing_delays(stage):
    await stage.start()
    stage.steer(failing=["tools"])
    await stage.say_changed("tools")
    await until(lambda: stage.count("not now") >= 5)
    assert [nap for nap in stage.clock.naps if nap][:4] == [2, 4, 8, 16]


@modern
async def test_a_listing_that_ends_early_removes_no_tools(stage):
    await stage.start()
    stage.steer(tools=["new", *TOOLS], short=["tools"])
    await stage.say_changed("tools")
    await until(lambda: stage.tools == ["new", *TOOLS])
    assert stage.status.quarantined == ()
    assert stage.status.listing_problem.startswith("listing stopped because page 2 failed: not now")
    stage.steer(tools=["new", "say"], short=[])
    await until(lambda: stage.tools == ["new", "say"])


@modern
async def test_tools_that_could_not_be_listed_at_the_start_are_listed_later(stage):
    stage.steer(failing=["tools"])
    await stage.start()
    assert stage.tools == []
    stage.steer(failing=[])
    await until(lambda: stage.tools == TOOLS)


@both_eras
@pytest.mark.parametrize("kind", ["resources", "prompts"])
async def test_changed_resources_and_prompts_are_counted_again(stage, kind):
    await stage.start()
    before, revision = getattr(stage.status, kind), stage.host.revision
    stage.steer(**{kind: ["one", "two", "three"]})
    await stage.say_changed(kind)
    await until(lambda: getattr(stage.status, kind) == 3)
    assert (before, stage.host.revision > revision) == (1, True)
    assert getattr(stage.status, f"{kind}_revision") == 1


@both_eras
async def test_a_list_that_the_server_does_not_offer_is_not_requested_when_it_changes(stage):
    stage.steer(offers=["tools"])
    await stage.start()
    await stage.say_changed("resources")
    stage.steer(tools=["new", *TOOLS])
    await stage.say_changed("tools")
    await until(lambda: stage.tools == ["new", *TOOLS])
    assert (stage.status.resources_revision, stage.count('"resources/list"')) == (0, 0)


@modern
async def test_the_count_of_resources_is_kept_while_listing_them_fails(stage):
    await stage.start()
    stage.steer(resources=["one", "two"], failing=["resources"])
    await stage.say_changed("resources")
    await until(lambda: stage.count("not now") >= 2)
    assert stage.status.resources == 1
    stage.steer(failing=[])
    await until(lambda: stage.status.resources == 2)


@modern
@pytest.mark.parametrize("how", ["result", "cancel"])
async def test_a_change_stream_that_ends_is_reopened(stage, how):
    await stage.start()
    await stage.call("end", how=how)
    await stage.streams_open(2)
    stage.steer(tools=["new", *TOOLS])
    await stage.say_changed("tools")
    await until(lambda: stage.tools == ["new", *TOOLS])


@modern
async def test_changes_while_no_stream_was_open_are_noticed(stage):
    await stage.start()
    stage.steer(tools=["new", *TOOLS], prompts=["p1", "p2"])
    await stage.call("end", how="result")
    await until(lambda: stage.tools == ["new", *TOOLS])
    await until(lambda: stage.status.prompts == 2)


@modern
async def test_a_refused_change_stream_is_requested_again(stage):
    stage.steer(failing=["listen"])
    await stage.start()
    await until(lambda: stage.count("not now") >= 3)
    assert [nap for nap in stage.clock.naps if nap][:2] == [1, 2]
    stage.steer(failing=[])
    await stage.streams_open(1)


@modern
async def test_a_change_stream_unknown_to_the_server_is_not_requested_again(stage):
    stage.steer(unknown=["listen"])
    await stage.start()
    await until(lambda: stage.count("no subscriptions/listen") == 1)
    await stage.call("third")
    assert (stage.count('"subscriptions/listen"'), stage.clock.naps) == (1, [])


ADDING = (
    programs.ANSWERING
    + """
added = []
def answer(method, params, ident):
    match method:
        case "tools/call":
            added.append({"uri": f"a://{len(added)}", "name": "a"})
            return {"content": []}
        case "resources/list":
            return {"resources": added}
        case "resources/templates/list":
            return {"resourceTemplates": []}
serve(answer, ["add"], offers={"tools": {}, "resources": {}})
"""
)


@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_list_after_a_call_is_not_that_of_the_start(hosting, by_hand):
    spec = ServerSpec("adding", sys.executable, args=("-c", ADDING), era=EraChoice.LEGACY)
    host = await hosting(spec)
    if by_hand:
        params = {"name": "add", "arguments": {}}
        await host.workbench.request("adding", "tools/call", params, call="hand-1", seconds=5)
    else:
        await called(host)
    found, problem = await host.workbench.resources("adding")
    assert (len(found), problem) == (1, "")


@modern
async def test_the_host_sends_its_name_and_declares_only_what_it_supports(stage):
    await stage.start()
    first = next(line for line in stage.lines if b"server/discover" in line)
    assert b'"name":"mcptui"' in first
    offered = json.loads(first)["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
    assert set(offered) == {"elicitation", "roots", "extensions"}
    assert set(offered["extensions"]) == {
        f"io.modelcontextprotocol/{one}" for one in ("skills", "events", "tasks")
    }


@modern
async def test_an_open_change_stream_does_not_delay_a_stop(stage):
    await stage.start()
    await stage.host.stop("srv")
    assert stage.status.state is ServerState.STOPPED


@modern
async def test_a_tool_that_appears_later_can_be_called_once_it_is_accepted(stage):
    await stage.start()
    before = stage.host.revision
    stage.steer(tools=["new", *TOOLS])
    await stage.say_changed("tools")
    await until(lambda: stage.tools == ["new", *TOOLS])
    await stage.host.changes_answered()
    assert stage.host.revision > before
    await stage.call("new")
