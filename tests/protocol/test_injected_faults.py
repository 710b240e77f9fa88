"""Injected faults: the recorded ones are exactly those injected, and everything else passes byte for byte."""

import asyncio
import json
import re
import sys
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import until
from tests.http_server import Asked, HttpServer, http_server, reply
from tests.protocol.command import finish, mcptui, start
from tests.protocol.suites import THREE, suite
from tests.protocol.test_tap import recorded
from tests.unit.host.client import Client
from tui.addons.faults.broken_messages import error_reply
from tui.addons.faults.fault_stage import FaultStage
from tui.addons.faults.rules import parse_rules
from tui.core.servers import ServerSpec, Transport
from tui.core.traffic import Captured, Direction, Kind
from tui.host.frames.link import RequestError
from tui.host.process.watchdog import Watchdog
from tui.host.transports import open_transport

pytestmark = pytest.mark.usefixtures("quick_python")

CALLS, CALLS_OVER_HTTP = 300, 80
RULES = (
    "tool:a lose=answer 1/3 seed=7",
    "tool:a error=-32000 1/6 seed=3",
    "tool:b repeat 1/4 seed=1",
    "tool:b cut=30 1/5 seed=2",
)
ECHO = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}), flush=True)
"""
ALL_THREE = ["first count", "second count", "adding"]
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def call(ident: int, meta: dict[str, Any]) -> bytes:
    params = {"name": "ab"[ident % 2], **({"_meta": meta} if meta else {})}
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}).encode()


def answer(ident: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": {"content": []}}).encode()


def expected(calls: Sequence[bytes]) -> tuple[dict[int, list[bytes]], list[tuple[str, int]]]:
    """Return what the host gets for each call, and the faults, found without the code that injects them."""
    lose, error, repeat, cut = parse_rules(RULES)
    got, faults = dict[int, list[bytes]](), list[tuple[str, int]]()
    counts = [0, 0]
    for ident, asked in enumerate(calls):
        counts[ident % 2] = match = counts[ident % 2] + 1
        told = [answer(ident)]
        if ident % 2 == 0 and error.hits(match):
            told = [error_reply(asked, -32000)]
            faults.append((error.said, ident))
        elif ident % 2 == 0 and lose.hits(match):
            told = []
            faults.append((lose.said, ident))
        elif ident % 2:
            if repeat.hits(match):
                told, faults = told * 2, [*faults, (repeat.said, ident)]
            if cut.hits(match):
                told[-1] = told[-1][:30]
                faults.append((cut.said, ident))
        got[ident] = told
    return got, faults


def check_recording(calls: Sequence[bytes], faults: Sequence[tuple[str, int]]) -> None:
    """Check that the recording has the marked faults, and what the server was sent and sent itself."""
    entries = recorded()
    marked = [entry.detail for entry, _ in entries if entry.method == "fault"]
    assert sorted((one["fault"], one["id"]) for one in marked) == sorted(faults)
    unsent = {ident for fault, ident in faults if fault.startswith("error")}
    reached = [ident for ident in range(len(calls)) if ident not in unsent]
    messages = [(entry.direction, body) for entry, body in entries if entry.kind is not Kind.EVENT]
    assert [body for way, body in messages if way is Direction.OUT] == [calls[ident] for ident in reached]
    told = sorted(body for way, body in messages if way is Direction.IN)
    assert told == sorted(answer(ident) for ident in reached)


@pytest.mark.parametrize("meta", [{}, MODERN], ids=["legacy", "modern"])
async def test_a_tap_injects_what_its_rules_say_and_nothing_else(meta: dict[str, Any]):
    calls = [call(ident, meta) for ident in range(CALLS)]
    got, faults = expected(calls)
    options = [word for rule in RULES for word in ("--fault", rule)]
    done = await mcptui(
        "tap", *options, "--", sys.executable, "-c", ECHO, stdin=b"".join(one + b"\n" for one in calls)
    )
    assert done.code == 0
    lines = done.out.encode().splitlines()
    assert sorted(lines) == sorted(line for told in got.values() for line in told)
    whole = [line for line in lines if b'"result": {"content": []}}' in line]
    assert whole == [one for told in got.values() for one in told if one in whole]  # in order
    check_recording(calls, faults)


async def test_a_connection_that_is_lost_drops_nothing_that_came_before():
    large = ECHO.replace('{"content": []}', '{"content": [], "pad": "x" * 1_000_000}')
    rule, calls = "lose=connection 1/10 seed=7", [call(ident, {}) for ident in range(20)]
    done = await mcptui(
        *("tap", "--fault", rule, "--", sys.executable, "-c", large),
        stdin=b"".join(one + b"\n" for one in calls),
    )
    lost = next(ident for ident in range(20) if parse_rules([rule])[0].hits(ident + 1))
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == [*range(lost)]
    events = [(entry.method, entry.detail["id"]) for entry, _ in recorded() if "dir" in entry.detail]
    late = [ident for word, ident in events[1:] if word == "undelivered"]
    assert events[0] == ("fault", lost) and late == [*range(lost + 1, lost + len(events))]


@asynccontextmanager
async def tapped(url: str, *rules: str):
    options = [word for rule in rules for word in ("--fault", rule)]
    process = await start("tap", *options, "--listen", "0", "--to", url)
    try:
        said = (await process.stderr.readline()).decode()
        port = re.search(r"listening on http://127\.0\.0\.1:(\d+)", said)[1]
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        await finish(process)


async def as_event(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """Answer with a stream of one event, after a comment."""
    said = b": hello\n\n" + b"id: 1\ndata: " + answer(asked.message["id"]) + b"\n\n"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(said)
    writer.write(head + said)


def is_last_asked(server: HttpServer, ident: int) -> bool:
    return bool(server.asked) and server.asked[-1].message["id"] == ident


async def as_body(asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(reply(answer(asked.message["id"])))


@pytest.mark.parametrize("meta", [{}, MODERN], ids=["legacy", "modern"])
async def test_a_tap_over_http_injects_what_its_rules_say_and_nothing_else(meta: dict[str, Any]):
    calls = [call(ident, meta) for ident in range(CALLS_OVER_HTTP)]
    got, faults = expected(calls)
    lost = {ident for fault, ident in faults if fault == "lose=answer"}
    streams = bool(meta)
    waiting = list[asyncio.Future[httpx2.Response]]()
    answers = {"tools/call": as_event if streams else as_body}
    async with http_server(answers=answers) as server, tapped(server.url, *RULES) as url:
        async with httpx2.AsyncClient(trust_env=False) as client:
            for ident, asked in enumerate(calls):
                told = got[ident]
                asking = client.post(url, content=asked, headers={"content-type": "application/json"})
                if ident in lost:  # it never ends
                    waiting.append(asyncio.ensure_future(asking))
                    await until(partial(is_last_asked, server, ident))
                    continue
                body = (await asking).content
                if streams and told[0].startswith(b'{"jsonrpc": '):
                    assert body.startswith(b": hello\n\nid: 1\ndata: ")
                    assert re.findall(rb"data: (.*)", body) == told
                else:
                    one = re.findall(rb"data: (.*)", body) if len(told) > 1 else [body]
                    assert one == told
            assert len(waiting) == len(lost) and not any(one.done() for one in waiting)
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
    check_recording(calls, faults)


BOTH_ERAS = """
import json, sys
modern = sys.argv[1] == "modern"
for line in sys.stdin:
    asked = json.loads(line)
    method, result = asked.get("method"), None
    if method == "server/discover" and modern:
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28"],
                  "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
    elif method == "initialize" and not modern:
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/call":
        result = {"content": [], "resultType": "complete"}
    if "id" in asked:
        said = {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""
LIVE = (
    "tool:a error=-32000 1/3 seed=1",
    "tool:b repeat 1/2 seed=2",
    "tool:b delay=1ms 1/4",
    "tool:a reorder 1/5",
)


@asynccontextmanager
async def live_server(transport: str, era: str):
    if transport == "stdio":
        yield ServerSpec("live", sys.executable, ("-c", BOTH_ERAS, era))
    else:
        async with http_server(modern=era == "modern") as server:
            yield ServerSpec("live", transport=Transport.HTTP, url=server.url)


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_live_server_has_the_faults_of_its_configuration(transport: str, era: str):
    sink = list[Captured]()
    error, repeat, delay, _ = parse_rules(LIVE)
    failed, calls, watchdog = set[int](), 120, Watchdog()
    async with live_server(transport, era) as spec:
        opened = open_transport(
            replace(spec, faults=LIVE), sink=sink.append, watchdog=watchdog, on_change=lambda: None
        )

        async def ask(client: Client, ident: int) -> None:
            try:
                await client.call_tool("ab"[ident % 2], {})
            except RequestError:
                failed.add(ident)

        async with Client(opened) as client:
            # A few at once, so that one that is reordered has a next one.
            for start_at in range(0, calls, 4):
                await asyncio.gather(*(ask(client, start_at + more) for more in range(4)))
    watchdog.close()
    matches = range(1, calls // 2 + 1)
    assert failed == {2 * (match - 1) for match in matches if error.hits(match)}
    marked = [one.detail for one in sink if one.kind is Kind.EVENT and one.detail.get("event") == "fault"]
    found = {
        rule.said: {one["match"] for one in marked if one["fault"] == rule.said} for rule in (repeat, delay)
    }
    assert found == {rule.said: {match for match in matches if rule.hits(match)} for rule in (repeat, delay)}
    assert any(one["fault"] == "reorder" for one in marked)
    stage = next(one for one in opened.stages if isinstance(one, FaultStage))
    assert stage.injected == len(marked)


async def test_a_suite_under_faults_says_which_cases_survived(tmp_path: Path):
    file = suite(tmp_path, THREE.replace('"5"', '"2"'))
    options = ("--trust-config", "--fault", "tool:add error=-32603", "--fault", "tool:count delay=1ms")
    done = await mcptui("test", str(file), *options)
    assert done.code == 1
    assert re.findall(r"(survived|broken) +\S*:\d+ (.*)", done.out) == [
        ("survived", "first count: delay=1ms"),
        ("survived", "second count: delay=1ms"),
        ("broken", "adding: error=-32603"),
    ]
    assert "2 of 3 cases with faults survived" in done.out


@pytest.mark.parametrize(
    ("rule", "where", "broken"),
    [
        ("vanish tool:add", "injected in tools/list, before the cases: vanish", ["adding"]),
        ("method:tools/list garbage", "injected in tools/list, before the cases: garbage", ALL_THREE),
    ],
)
async def test_cases_that_fail_by_a_fault_before_them_are_broken(
    tmp_path: Path, rule: str, where: str, broken: list[str]
):
    done = await mcptui("test", str(suite(tmp_path, THREE)), "--trust-config", "--fault", rule)
    assert (done.code != 0, where in done.out) == (True, True), done.out
    assert re.findall(r"broken +\S*:\d+ (.*):", done.out) == broken
    assert "no faults injected" not in done.out


async def test_a_case_that_fails_without_faults_as_well_says_so_and_does_not_count(tmp_path: Path):
    rules = ("tool:add delay=1ms", "tool:count error=-32603 1/2 seed=11")
    options = [word for rule in rules for word in ("--fault", rule)]
    done = await mcptui("test", str(suite(tmp_path, THREE)), "--trust-config", *options)
    assert re.findall(r"(survived|broken) +\S*:\d+ (.*)", done.out) == [
        ("broken", "second count: error=-32603"),
        ("broken", "adding: delay=1ms (fails without faults, too)"),
    ]
    assert "0 of 1 case with faults survived" in done.out


async def test_a_fault_that_cannot_be_injected_is_said_before_the_run(tmp_path: Path):
    file = suite(tmp_path, THREE)
    done = await mcptui("test", str(file), "--fault", "tool:add")
    assert (done.code, "has no fault" in done.err) == (2, True)
    done = await mcptui("test", str(file), "--trust-config", "--fault", "expired-token")
    assert (done.code, "expire needs HTTP" in done.out) == (2, True)
    done = await mcptui("tap", "--fault", "status=503", "--", "cat")
    assert (done.code, "status=503 needs HTTP" in done.err) == (2, True)
