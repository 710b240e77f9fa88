"""Servers of the "hello" line dialect as real processes, through the ordinary host."""

import asyncio
import json
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import until
from tests.hosts import called, host_of
from tests.protocol.command import mcptui
from tui.core.servers import ServerSpec, ServerState, StopReason, Transport
from tui.core.traffic import Kind, Outcome
from tui.host.process.stop_ladder import StopGrace
from tui.host.transports import open_transport
from tui.traffic.lint.lint import Linter
from tui.traffic.record.entry_reader import EntryReader

ROOT = Path(__file__).parents[2]
MATHS = ROOT / "sample_config" / "servers" / "legacy_math.py"
ECHO_MCP = ROOT / "tests" / "corpus" / "faults" / "crlf.py"
QUICK = StopGrace(flush=0.2, eof=1.0, term=0.3, kill=2.0, stragglers=0.2)

GREETING = (
    'import json,sys\ndef say(**o): print(json.dumps(o), flush=True)\nTOOL={"name":"t","parameters":None}\n'
)
HELLO = 'say(type="hello", version="v1", tools=[TOOL])\n'


class Stage:
    """A host with one server, and all captured messages."""

    def __init__(self, *args, transport=Transport.LINES, **more):
        self.taken = []
        spec = ServerSpec("srv", sys.executable, tuple(map(str, args)), transport=transport, **more)
        quick = partial(open_transport, grace=QUICK)
        self.host = host_of(spec, sink=self.taken.append, open_with=quick)

    async def __aenter__(self):
        await self.host.start("srv")
        return self

    async def __aexit__(self, *_):
        await self.host.shutdown()

    @property
    def status(self):
        return self.host.status("srv")

    async def call(self, name="t", seconds=10.0, **arguments):
        return await called(self.host, name, seconds, **arguments)

    async def text(self, name="t", **arguments):
        result = await self.call(name, **arguments)
        return result.content[0].text, result.is_error

    def entries(self):
        made = []
        reader = EntryReader(lambda raw: (raw, ()), 0)
        for captured in self.taken:
            reader.read(captured, made)
        return made


def script(code, **more):
    return Stage("-c", GREETING + code, **more)


async def test_the_sample_server_lists_and_calls_its_tools():
    async with Stage(MATHS) as stage:
        assert (stage.status.state, stage.status.tools) == (ServerState.RUNNING, 5)
        assert await stage.text("add", a=1, b=2) == ("3", False)
        assert await stage.text("divide", a=1, b=0) == ("division by zero", True)
        assert await stage.text("divide", a=1) == ("missing parameter: b", True)
        result = await stage.call("stats", values=[1, 2, 6])
        assert (result.structured, result.warning) == ({"mean": 3.0, "min": 1, "max": 6}, "")
    assert stage.status.reason is StopReason.REQUESTED


async def test_a_line_server_gets_a_shutdown_message_and_exits_by_itself():
    async with Stage(MATHS) as stage:
        pass
    assert json.loads([one.raw for one in stage.taken if one.kind is None][-1]) == {"type": "shutdown"}
    events = [one.detail for one in stage.taken if one.kind is Kind.EVENT]
    assert "signal" not in [event["event"] for event in events]
    assert events[-1]["code"] == 0


async def test_the_traffic_has_only_the_lines_of_the_dialect():
    async with Stage(MATHS) as stage:
        await stage.call("add", a=1, b=2)
        await stage.call("divide", a=1, b=0)
    shown = [one for one in stage.entries() if one.kind is not Kind.EVENT and one.kind is not Kind.STDERR]
    assert {one.kind for one in shown} == {Kind.NOT_RPC}
    assert [(one.method, one.tool) for one in shown] == [
        ("hello", ""),
        ("tool_call", "add"),
        ("tool_result", "add"),
        ("tool_call", "divide"),
        ("tool_error", "divide"),
        ("shutdown", ""),
    ]
    assert [one.outcome for one in shown[1:5]] == [Outcome.NONE, Outcome.OK, Outcome.NONE, Outcome.TOOL_ERROR]
    assert (shown[2].pair, shown[4].pair) == (shown[1].seq, shown[3].seq)


async def test_the_linter_reports_once_that_the_dialect_is_not_mcp():
    async with Stage(MATHS) as stage:
        await stage.call("add", a=1, b=2)
    linter = Linter()
    assert [found.code for entry in stage.entries() for found in linter.feed(entry)] == ["not-mcp"]


async def test_a_late_greeting_after_other_output_is_awaited():
    async with script(f'print("loading ...", flush=True)\n{HELLO}sys.stdin.read()') as stage:
        assert (stage.status.state, stage.status.noise) == (ServerState.RUNNING, 1)


async def test_without_a_greeting_the_start_fails_with_a_hint_what_to_check():
    async with script("sys.stdin.read()", start_seconds=0.3) as stage:
        assert stage.status.reason is StopReason.FAILED_TO_START
        assert stage.status.detail == "no hello within 0.3 s."
        assert 'remove transport = "lines"' in stage.status.next_step
    assert not [one for one in stage.taken if one.kind is None]


async def test_a_greeting_without_tools_fails_the_start():
    async with script('say(type="hello", version="v1", tools="none")\nsys.stdin.read()') as stage:
        assert stage.status.detail == "its hello has no list of tools."


async def test_a_malformed_tool_is_quarantined_and_the_others_are_offered():
    odd = '5, {"name": ""}, {**TOOL, "description": "again"}, {"name": "u", "parameters": {"type": "array"}}'
    code = f'say(type="hello", version="v1", tools=[TOOL, {odd}])'
    async with script(f"{code}\nsys.stdin.read()") as stage:
        assert stage.status.tools == 1
        assert [why for _, why in stage.status.quarantined] == [
            "is not an object",
            "has no name",
            "a different tool with the same name",
            'its inputSchema does not have "type": "object"',
        ]


async def test_a_second_greeting_replaces_the_tools():
    again = 'say(type="hello", version="v1", tools=[TOOL, {"name": "u"}])'
    async with script(f"{HELLO}sys.stdin.readline()\n{again}\nsys.stdin.read()") as stage:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await stage.call()
        await until(lambda: stage.status.tools == 2)


async def test_a_server_that_exits_during_a_call_fails_it_with_the_exit_code():
    async with script(f"{HELLO}sys.stdin.readline()\nsys.exit(4)") as stage:
        text, failed = await stage.text()
        assert failed and "exited with code 4" in text
        await until(lambda: stage.status.failed)


async def test_a_timed_out_call_makes_way_for_the_next_and_its_late_answer_is_dropped():
    code = (
        f"{HELLO}first=json.loads(sys.stdin.readline())\nsecond=json.loads(sys.stdin.readline())\n"
        'say(type="tool_result",id=first["id"],result="late")\n'
        'say(type="tool_result",id=second["id"],result="in time")\nsys.stdin.read()'
    )
    async with script(code) as stage:
        assert (await stage.call(seconds=0.2)).is_error
        assert await stage.text() == ("in time", False)
    late = [one for one in stage.entries() if one.method == "tool_result"]
    assert late[0].detail["remark"] == "late"


async def test_a_call_taken_back_from_a_full_pipe_has_no_late_answer(tmp_path: Path):
    reading = tmp_path / "reading"
    code = (
        f"{HELLO}import os,time\nwhile not os.path.exists({str(reading)!r}): time.sleep(0.01)\n"
        "for number, line in enumerate(sys.stdin):\n"
        '  say(type="tool_result", result=f"{number} " + json.loads(line)["parameters"]["what"][:9])\n'
    )
    async with script(code) as stage:
        assert (await stage.call(seconds=0.1, what="large" + "." * 1_000_000)).is_error  # fills the pipe
        assert (await stage.call(seconds=0.1, what="unsent")).is_error
        reading.touch()
        assert await stage.text(what="wanted") == ("1 wanted", False)


async def test_a_line_over_the_limit_fails_only_its_call():
    code = (
        f'{HELLO}one=json.loads(sys.stdin.readline())\nsay(type="tool_result",id=one["id"],result="x"*(25<<20))\n'
        'two=json.loads(sys.stdin.readline())\nsay(type="tool_result",id=two["id"],result="ok")\nsys.stdin.read()'
    )
    async with script(code) as stage:
        text, failed = await stage.text()
        assert failed and "result too large" in text.lower()
        assert await stage.text() == ("ok", False)


async def test_a_stop_during_a_call_ends_both():
    async with script(f"{HELLO}sys.stdin.read()") as stage:
        call = asyncio.create_task(stage.call())
        await until(lambda: any(b"tool_call" in one.raw for one in stage.taken))
        await stage.host.stop("srv")
        assert (await call).is_error
        assert stage.status.reason is StopReason.REQUESTED


async def test_a_hello_server_configured_as_stdio_is_recognized():
    async with Stage(MATHS, transport=Transport.STDIO) as stage:
        assert stage.status.reason is StopReason.FAILED_TO_START
        assert stage.status.detail == 'this server speaks the non-standard "hello" line dialect.'
        assert stage.status.next_step == 'Set transport = "lines" in its configuration.'


async def test_a_json_rpc_server_configured_as_lines_is_recognized():
    code = 'print(json.dumps({"jsonrpc":"2.0","method":"notifications/message","params":{}}),flush=True)\n'
    async with script(f"{code}sys.stdin.read()") as stage:
        assert 'Remove transport = "lines"' in stage.status.next_step


async def test_a_silent_json_rpc_server_configured_as_lines_is_sent_nothing():
    async with Stage(ECHO_MCP, start_seconds=0.5) as stage:
        assert stage.status.detail.startswith("no hello within 0.5 s.")
    assert not [one for one in stage.taken if one.kind is None]


async def test_a_configured_line_server_is_labelled_non_standard(tmp_path: Path):
    path = tmp_path / "mcp.json"
    entry = {"command": sys.executable, "args": [str(MATHS)], "type": "lines"}
    path.write_text(json.dumps({"mcpServers": {"maths": entry}}))
    done = await mcptui("servers", "--json", "--config", str(path))
    assert done.code == 0
    assert json.loads(done.out)[0]["dialect"] == "hello-lines"
    assert "non-standard" in (await mcptui("servers", "--config", str(path))).out
