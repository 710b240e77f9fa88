"""The workbench with real servers: offers and responses; every failure is a sentence."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests import hosts
from tests.conftest import until
from tui.core.secrets.redact import Redactor
from tui.core.servers import ServerSpec
from tui.core.tools import BinaryContent, CallFailure, ResourceContent, TextContent
from tui.core.traffic import CAUSE, Cause, Direction, Kind
from tui.core.workbench import (
    Completions,
    PromptArgument,
    PromptInfo,
    RawAnswer,
    ResourceInfo,
    ServerIdentity,
)
from tui.host.schemas import validation

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
ODD = HERE / "odd_offers.py"


@asynccontextmanager
async def running(script, *args, redactor=None, **env):
    captured = []
    spec = ServerSpec("srv", sys.executable, (str(script), *args), env=env)
    async with hosts.running(spec, sink=captured.append, redactor=redactor or Redactor()) as host:
        yield host.workbench, captured, host


def sent(captured, call):
    """Return the messages sent for a manual call."""
    cause = Cause(0, 0, call)
    return [json.loads(one.raw) for one in captured if one.direction is Direction.OUT and one.cause == cause]


def on_stderr(captured, word):
    return any(one.kind is Kind.STDERR and word in one.raw for one in captured)


ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


# ---- identity --------------------------------------------------------------------------------------------


@ERAS
async def test_the_identity_comes_from_the_handshake(era):
    async with running(ODD, ODD_ERA=era) as (bench, _, _):
        who = await bench.identity("srv")
    assert (who.name, who.title, who.version, who.instructions) == ("odd", "Odd", "0", "Be kind.")
    assert who.capabilities == {"tools": {}, "resources": {"x": 1}, "prompts": {}, "experimental": {"y": {}}}
    assert who.protocol == ("2026-07-28" if era == "modern" else "2025-11-25")
    assert who.environment == ("ODD_ERA",)


@pytest.mark.skipif(sys.platform == "win32", reason="there it is not told")
async def test_resource_usage_includes_all_processes_of_the_server(tmp_path):
    parent = tmp_path / "parent.py"
    parent.write_text(f"import subprocess, sys\nsys.exit(subprocess.call([sys.executable, {str(ODD)!r}]))\n")
    async with running(parent) as (bench, _, host):
        who = await bench.identity("srv")
        assert who.pids[0] == host.status("srv").pid
        assert len(who.pids) == 2
        assert who.memory is not None
        assert who.memory > 2_000_000
        assert who.cpu_seconds is not None


async def test_a_stopped_server_shows_only_its_configuration():
    async with running(ODD, A="1") as (bench, _, host):
        await host.stop("srv")
        who = await bench.identity("srv")
        assert who == ServerIdentity(environment=("A",))
        assert list(bench.tools("srv")) == []
        assert await bench.resources("srv") == ((), "The server “srv” is not running.")
        assert await bench.prompts("srv") == ((), "The server “srv” is not running.")
        answer = await bench.request("srv", "ping", None, call="hand-1", seconds=5)
        assert answer == RawAnswer(problem="The server “srv” is not running.")


async def test_an_unknown_server_is_reported_without_raising():
    async with running(ODD) as (bench, _, _):
        assert await bench.identity("no") == ServerIdentity()
        assert await bench.resources("no") == ((), "The server “no” is no longer configured.")
        read = await bench.read_resource("no", "a://1", call="hand-1", seconds=5)
        assert read.content == (TextContent("The server “no” is no longer configured."),)


# ---- offers ----------------------------------------------------------------------------------------------


async def test_all_pages_of_resources_are_listed_and_malformed_ones_are_counted():
    async with running(ODD) as (bench, _, _):
        found, problem = await bench.resources("srv")
    assert [(one.uri, one.name, one.size, one.mime, one.title) for one in found] == [
        ("a://1", "one", 3, "text/plain", ""),
        ("a://2", "", None, "", ""),
    ]
    assert problem == "2 of 4 resources are malformed and were omitted."


async def test_prompts_are_listed_with_their_arguments():
    async with running(ODD) as (bench, _, _):
        found, problem = await bench.prompts("srv")
    assert [(one.name, one.arguments) for one in found] == [("p", (PromptArgument("who", "", True),))]
    assert problem == "1 of 2 prompts are malformed and were omitted."


CHANGING = """
import json, sys
asked = 0
def write(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            offers = {"resources": {"listChanged": True}}
            about = {"name": "x", "version": "0"}
            said = {"protocolVersion": "2025-11-25", "capabilities": offers, "serverInfo": about}
            write({"id": message["id"], "result": said})
        case "resources/list":
            asked += 1
            if asked == 1:
                write({"id": message["id"], "result": {"resources": [{"uri": "a://old", "name": "old"}]}})
                write({"method": "notifications/resources/list_changed"})
            else:
                write({"id": message["id"], "error": {"code": -32000, "message": "lost its database"}})
        case _ if "id" in message:
            write({"id": message["id"], "error": {"code": -32601, "message": "unknown"}})
"""


async def test_a_list_that_has_changed_is_never_shown_as_it_was(tmp_path):
    script = tmp_path / "changing.py"
    script.write_text(CHANGING)
    async with running(script) as (bench, _, host):
        await until(lambda: host.status("srv").resources_revision == 1)
        found, problem = await bench.resources("srv")
    assert not found and "lost its database" in problem


async def test_a_server_without_resources_is_reported_as_such():
    async with running(ROOT / "tests" / "corpus" / "faults" / "is_error.py") as (bench, captured, _):
        assert await bench.resources("srv") == ((), "The server “srv” does not support resources.")
        assert not any(b"resources/list" in one.raw for one in captured)


# ---- reading and calling ---------------------------------------------------------------------------------


@ERAS
async def test_resource_contents_are_raw_and_malformed_ones_are_shown_as_json(era):
    async with running(ODD, ODD_ERA=era) as (bench, captured, _):
        read = await bench.read_resource("srv", "a://1", call="hand-7", seconds=5)
        assert read.content == (
            ResourceContent("a://1", "", "hello\x1b[31m"),
            BinaryContent("blob", "", 3, "AAEC", "a://1"),
            TextContent('{"odd": 1}'),
        )
        assert [frame["method"] for frame in sent(captured, "hand-7")] == ["resources/read"]
        for uri in ("a://none", "a://nothing"):
            read = await bench.read_resource("srv", uri, call="hand-8", seconds=5)
            assert (read.content, read.warning) == ((), "the response has no list of contents")


async def test_a_server_error_becomes_a_sentence_with_its_code():
    async with running(ODD) as (bench, _, _):
        read = await bench.read_resource("srv", "a://unknown", call="hand-1", seconds=5)
        assert (read.is_error, read.failure) == (True, CallFailure.PROTOCOL)
        assert read.content == (TextContent("The server returned error -32000: no 'a://unknown'"),)


@pytest.mark.parametrize(("uri", "code"), [("a://gone", -32002), ("a://gone too", -32602)])
async def test_a_missing_resource_is_not_found_in_either_era(uri, code):
    async with running(ODD) as (bench, _, _):
        read = await bench.read_resource("srv", uri, call="hand-1", seconds=5)
        said = f"The server returned error {code}: no '{uri}'"
        assert read.content == (TextContent(f"Resource not found: {uri}. {said}"),)


# ---- completion ------------------------------------------------------------------------------------------

TEMPLATE = ResourceInfo("srv", "a://{x}/{y}", template=True)
PROMPT = PromptInfo("srv", "p", arguments=(PromptArgument("who"),))


@ERAS
async def test_completion_sends_the_typed_value_and_the_other_arguments(era):
    async with running(ODD, ODD_ERA=era, ODD_COMPLETES="1") as (bench, _, _):
        found = await bench.complete(TEMPLATE, "y", "ab", {"x": "1"})
        asked = [json.loads(value) for value in found.values]
        ref = {"type": "ref/resource", "uri": "a://{x}/{y}"}
        assert asked == [[ref, {"name": "y", "value": "ab"}, {"arguments": {"x": "1"}}]]
        assert found.more
        found = await bench.complete(PROMPT, "who", "", {})
        assert json.loads(found.values[0]) == [
            {"type": "ref/prompt", "name": "p"},
            {"name": "who", "value": ""},
            None,
        ]


async def test_a_server_without_completion_is_not_asked():
    async with running(ODD) as (bench, captured, host):
        assert await bench.complete(PROMPT, "who", "a", {}) == Completions()
        await host.stop("srv")
        assert await bench.complete(PROMPT, "who", "a", {}) == Completions()
    assert sent(captured, "hand-complete") == []


async def test_the_messages_of_a_prompt_are_returned_item_by_item():
    async with running(ODD) as (bench, captured, _):
        given = await bench.get_prompt("srv", "p", {"who": "me"}, call="hand-3", seconds=5)
        assert [(message.role, message.content) for message in given.messages] == [
            ("assistant", TextContent("hi")),
            ("user", TextContent("a")),
            ("user", TextContent("b")),
            ("user", TextContent("c")),
            ("user", TextContent('{"role": "user"}')),
        ]
        assert (given.description, given.problem) == ("d", "")
        assert sent(captured, "hand-3")[0]["params"] == {"name": "p", "arguments": {"who": "me"}}
        none = await bench.get_prompt("srv", "none", {}, call="hand-4", seconds=5)
        assert none.problem == "The server's response has no list of messages."


async def test_the_messages_of_a_manual_call_carry_its_id_and_the_task_keeps_its_own_cause():
    async with running(ODD) as (bench, captured, _):
        tool = bench.tools("srv")[0]
        assert bench.output_schema(tool) == {"type": "object"}
        assert await bench.check(tool, {}) == ""
        before = Cause(1, 2)
        CAUSE.set(before)
        result = await bench.call_tool(tool, {"a": None}, call="hand-5", seconds=5, progress=lambda *_: None)
        assert CAUSE.get() == before
        assert result.structured == {"a": None}
        assert [frame["method"] for frame in sent(captured, "hand-5")] == ["tools/call"]


async def test_a_request_that_is_not_valid_json_is_not_sent():
    async with running(ODD) as (bench, captured, _):
        tool = bench.tools("srv")[0]
        for value in ("\ud800", float("nan"), {1, 2}):
            result = await bench.call_tool(
                tool, {"a": value}, call="hand-6", seconds=5, progress=lambda *_: None
            )
            assert isinstance(result.content[0], TextContent)
            assert result.content[0].text.startswith("Not sent: ")
        assert sent(captured, "hand-6") == []


# ---- raw requests ----------------------------------------------------------------------------------------


@ERAS
async def test_any_request_and_its_response_pass_unchanged(era):
    params = {"a": None, "b": [1.5, {"c": ""}], "_meta": {"mine": 1, "progressToken": "old"}}
    async with running(ODD, ODD_ERA=era) as (bench, captured, _):
        answer = await bench.request("srv", "x/echo", params, call="hand-9", seconds=5)
        assert (answer.error, answer.problem, answer.result["resultType"]) == (None, "", "spell")
        frame = sent(captured, "hand-9")[0]
    assert answer.result["params"] == frame["params"]
    assert {key: frame["params"][key] for key in "ab"} == {"a": None, "b": [1.5, {"c": ""}]}
    assert frame["params"]["_meta"]["mine"] == 1
    assert frame["params"]["_meta"]["progressToken"] == frame["id"]
    assert params["_meta"] == {"mine": 1, "progressToken": "old"}


@ERAS
@pytest.mark.parametrize(
    ("method", "params", "key"),
    [
        ("tools/list", None, "tools"),
        ("tools/call", {"name": "t", "arguments": {}}, "structuredContent"),
        ("resources/list", {}, "resources"),
        ("resources/read", {"uri": "a://none"}, "contents"),
        ("prompts/get", {"name": "none"}, "messages"),
        ("x/ask", {}, "inputRequests"),
    ],
)
async def test_responses_that_the_sdk_would_reject_are_returned(era, method, params, key):
    async with running(ODD, ODD_ERA=era) as (bench, _, _):
        answer = await bench.request("srv", method, params, call="hand-1", seconds=5)
        assert key in answer.result


@ERAS
async def test_an_error_keeps_its_code_message_and_data(era):
    async with running(ODD, ODD_ERA=era) as (bench, _, _):
        answer = await bench.request("srv", "x/unknown", {}, call="hand-1", seconds=5)
        assert answer == RawAnswer(error={"code": -32601, "message": "no 'x/unknown'", "data": [1]})


@ERAS
async def test_a_request_that_times_out_is_cancelled_on_the_wire(era):
    async with running(ODD, ODD_ERA=era) as (bench, captured, _):
        answer = await bench.request("srv", "x/silence", {}, call="hand-1", seconds=0.2)
        assert answer.problem == "x/silence did not respond within 0.2 s. It was cancelled."
        await until(lambda: on_stderr(captured, b"notifications/cancelled"))


async def test_cancelling_the_task_cancels_the_request_on_the_wire():
    async with running(ODD) as (bench, captured, _):
        asking = asyncio.create_task(bench.request("srv", "x/silence", {}, call="hand-1", seconds=60))
        await until(lambda: on_stderr(captured, b"x/silence"))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
        await until(lambda: on_stderr(captured, b"notifications/cancelled"))
        cancelled = [f for f in sent(captured, "hand-1") if f["method"] == "notifications/cancelled"]
        assert cancelled[0]["params"]["requestId"] == sent(captured, "hand-1")[0]["id"]


async def test_a_server_that_exits_during_a_request_is_reported_with_its_exit():
    async with running(ODD) as (bench, _, _):
        answer = await bench.request("srv", "x/exit", {}, call="hand-1", seconds=10)
        assert answer.problem.startswith("The server “srv” exited with code 3")
        assert answer.lost
        again = await bench.request("srv", "x/echo", {}, call="hand-2", seconds=10)
        assert again.problem != "" and not again.lost


@pytest.mark.parametrize(
    "fault", ["schema_ref_cycle", "schema_remote_ref", "schema_redos", "answers_without_result"]
)
async def test_no_fault_of_a_server_raises(fault, monkeypatch):
    monkeypatch.setattr(validation, "CHECK_SECONDS", 0.2)
    async with running(ROOT / "tests" / "corpus" / "faults" / f"{fault}.py") as (bench, _, _):
        for tool in bench.tools("srv"):
            await bench.check(tool, {"v": "a" * 40 + "!"})
            await bench.call_tool(tool, {}, call="hand-1", seconds=3, progress=lambda *_: None)
        for method in ("tools/list", "tools/call", "ping", "resources/list"):
            answer = await bench.request("srv", method, {"name": "echo"}, call="hand-2", seconds=3)
            assert (answer.result is not None) + (answer.error is not None) + bool(answer.problem) == 1


async def test_a_raw_request_does_not_call_a_tool_that_changed_since_it_was_accepted(tmp_path):
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "add", "inputSchema": {"type": "object"}}]))
    async with running(ROOT / "tests" / "protocol" / "redefined_server.py", str(tools)) as (
        bench,
        captured,
        _,
    ):
        add = {"name": "add", "arguments": {}}
        assert (await bench.request("srv", "tools/call", add, call="hand-1", seconds=5)).result
        tools.write_text(json.dumps([{"name": "add", "description": "B", "inputSchema": {"type": "object"}}]))
        (tool,) = bench.tools("srv")
        await bench.call_tool(tool, {}, call="hand-2", seconds=5, progress=lambda *_: None)
        await until(lambda: any(one.is_unaccepted for one in bench.tools("srv")))
        refused = await bench.request("srv", "tools/call", add, call="hand-3", seconds=5)
        assert refused.problem.startswith("add of srv was not called")
        assert not sent(captured, "hand-3")


# ---- extensions ------------------------------------------------------------------------------------------


async def test_a_stopped_server_declares_no_extension():
    async with running(ODD, ODD_ERA="modern") as (bench, _, host):
        await host.stop("srv")
        assert bench.extension("srv", "io.modelcontextprotocol/tasks") is None
