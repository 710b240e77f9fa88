"""Starting the server of a suite, and what is sent to it."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from tui.addons.tests.run.findings import ServerTraffic
from tui.addons.tests.run.instance import MOST_STARTS, ServerInstance
from tui.addons.tests.suite.case import Lose, Request, RequestKind
from tui.core.ports import Undecided
from tui.core.servers import ServerSpec, ServerState, ServerStatus, StopReason
from tui.core.tools import CallFailure
from tui.core.traffic import Captured, Direction, Kind
from tui.core.turn.limits import Limits
from tui.core.workbench import RawAnswer
from tui.host.schemas.judge import ModelJudge

SPEC = ServerSpec("weather", "python", ("server.py",))


class Hosted:
    """A host and its workbench with one server, which starts, or not."""

    def __init__(
        self,
        *,
        starts: bool = True,
        reason: StopReason = StopReason.CRASHED,
        step: str = "Check command in [servers.weather]. Press l for its log.",
    ) -> None:
        self._reason, self._step = reason, step
        self.is_up = False
        self.asked: list[str] = []
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self.answers: list[RawAnswer] = []
        self._starts = starts

    def add(self, spec: ServerSpec) -> None:
        self.spec = spec

    adopt = add

    async def start(self, name: str) -> None:
        self.asked.append("start")
        self.is_up = self._starts

    async def restart(self, name: str) -> None:
        self.asked.append("restart")
        self.is_up = self._starts

    def is_running(self, name: str) -> bool:
        return self.is_up

    def status(self, name: str) -> ServerStatus:
        state = ServerState.RUNNING if self.is_up else ServerState.STOPPED
        return ServerStatus(
            *(name, self.spec, state),
            reason=None if self.is_up else self._reason,
            detail="" if self.is_up else "it exited with code 1.",
            next_step="" if self.is_up else self._step,
        )

    async def request(self, server: str, method: str, params: Mapping[str, Any], **more: Any) -> RawAnswer:
        assert more["whole"] is False
        self.sent.append((method, params))
        return self.answers.pop(0)


def instance(host: Hosted, **more: Any) -> ServerInstance:
    runtime = SimpleNamespace(
        host=host,
        workbench=host,
        decisions=Undecided(),
        turn_context=SimpleNamespace(limits=Limits()),
    )
    traffic = ServerTraffic(ModelJudge(), str)
    return ServerInstance(runtime, SPEC, traffic, **more)  # type: ignore[arg-type]


async def test_a_server_is_started_at_the_first_case_only():
    host = Hosted()
    server = instance(host)
    assert host.asked == []
    assert await server.running() and await server.running()
    assert host.asked == ["start"]


async def test_a_server_that_does_not_start_is_not_tried_again():
    host = Hosted(starts=False)
    server = instance(host)
    assert not await server.running() and not await server.running()
    assert host.asked == ["start"]
    assert server.problem == "it exited with code 1. Check command in [server] of the test file."


SET_HEADER = 'Set a header in [servers.weather-fresh.headers], for example Authorization = "Bearer ${TOKEN}".'


@pytest.mark.parametrize(
    ("step", "configured", "said"),
    [
        (
            SET_HEADER,
            "",
            'Write headers = { Authorization = "Bearer ${TOKEN}" } in [server] of the test file.',
        ),
        (SET_HEADER, "weather", SET_HEADER.replace("-fresh", "")),
        ("Set url in [servers.weather].", "", "Set url in [server] of the test file."),
        ("Check command in [servers.weather-fresh].", "weather", "Check command in [servers.weather]."),
    ],
)
async def test_the_next_step_names_the_place_of_the_server(step: str, configured: str, said: str):
    server = instance(Hosted(starts=False, step=step), configured=configured)
    await server.running()
    assert server.problem == f"it exited with code 1. {said}"


@pytest.mark.parametrize(
    ("configured", "said"), [("", 'write server = "NAME"'), ("prod", "mcptui login prod")]
)
async def test_a_server_that_requires_sign_in_needs_to_be_configured(configured: str, said: str):
    server = instance(Hosted(starts=False, reason=StopReason.NEEDS_SIGN_IN), configured=configured)
    await server.running()
    assert said in server.problem


async def test_a_failed_start_without_a_known_cause_has_a_place_in_the_file_and_a_next_step():
    server = instance(Hosted(starts=False, step="Press l for its log."), where="a.mcp.toml:3")
    assert not await server.running()
    assert server.problem.startswith("a.mcp.toml:3: it exited with code 1. Check command in [server]")


async def test_a_failed_start_with_a_fault_names_it_instead_of_a_next_step():
    host = Hosted(starts=False)
    server = instance(host, where="a.mcp.toml:3")

    async def hit(name: str) -> None:
        detail = {"event": "fault", "fault": "lose=answer", "method": "initialize"}
        server.traffic.take(Captured(name, Direction.NONE, 0, 0, b"", Kind.EVENT, detail=detail))

    host.start = hit  # type: ignore[method-assign]
    assert not await server.running()
    assert server.problem == (
        "a.mcp.toml:3: it exited with code 1. A fault hit its start: lose=answer in initialize."
    )


async def test_a_server_that_keeps_dying_is_started_a_few_times():
    host = Hosted()
    server = instance(host)
    for _ in range(MOST_STARTS):
        assert await server.running()
        host.is_up = False
    assert not await server.running()
    assert server.problem.startswith("not run: the server ended or hung 6 times")
    assert host.asked == ["start"] * MOST_STARTS


async def test_a_server_that_hung_is_started_again():
    host = Hosted()
    server = instance(host)
    await server.running()
    host.answers = [RawAnswer(problem="no response", failure=CallFailure.TIMEOUT), RawAnswer(result={})]
    await server.send(Request(RequestKind.TOOL, "hang", {}))
    assert await server.running() and host.asked == ["start", "restart"]


async def test_a_lost_connection_does_not_count_as_a_start():
    host = Hosted()
    server = instance(host)
    await server.running()
    for _ in range(2 * MOST_STARTS):
        assert await server.reconnect()
    assert host.asked[1:] == ["restart"] * 2 * MOST_STARTS


async def test_last_words_are_those_since_the_case_began():
    server = instance(Hosted())

    def printed(kind: Kind, *lines: bytes) -> None:
        for line in lines:
            server.traffic.take(Captured("weather", Direction.IN, 0, 0, line, kind))

    printed(Kind.STDERR, b"earlier")
    server.traffic.begin()
    assert server.last_words() == ()
    printed(Kind.STDERR, b"one", b"\x1b[31mtwo\x1b[0m")
    printed(Kind.NOT_RPC, *[b"a flood on stdout"] * 9)
    assert server.last_words() == ("one", "two")


@pytest.mark.parametrize(
    ("kind", "name", "arguments", "method", "params"),
    [
        (RequestKind.READ, "a:b", {}, "resources/read", {"uri": "a:b"}),
        (RequestKind.PROMPT, "p", {}, "prompts/get", {"name": "p"}),
        (RequestKind.PROMPT, "p", {"a": "b"}, "prompts/get", {"name": "p", "arguments": {"a": "b"}}),
    ],
)
async def test_requests_are_sent_as_a_host_sends_them(
    kind: RequestKind, name: str, arguments: dict[str, str], method: str, params: dict[str, Any]
):
    host = Hosted()
    host.answers = [RawAnswer(result={})]
    await instance(host).send(Request(kind, name, arguments))
    assert host.sent == [(method, params)]


async def test_a_tool_call_asks_for_progress_and_each_request_has_an_id_of_its_own():
    host = Hosted()
    host.answers = [RawAnswer(result={})] * 2
    server = instance(host)
    calls = [(await server.send(Request(RequestKind.TOOL, "add", {"a": 1}))).call for _ in range(2)]
    assert "progressToken" in host.sent[0][1]["_meta"]
    assert len(set(calls)) == 2 and all(call.startswith("hand-") for call in calls)


async def test_a_list_has_the_items_of_all_pages():
    host = Hosted()
    host.answers = [
        RawAnswer(result={"tools": [1], "nextCursor": "a", "ttlMs": 5}),
        RawAnswer(result={"tools": [2]}),
    ]
    exchange = await instance(host).send(Request(RequestKind.LIST, "tools", {}))
    assert exchange.answer.result == {"tools": [1, 2], "ttlMs": 5}
    assert [params for _, params in host.sent] == [{}, {"cursor": "a"}]


async def test_pages_that_repeat_end():
    host = Hosted()
    host.answers = [RawAnswer(result={"tools": [1], "nextCursor": "a"})] * 3
    exchange = await instance(host).send(Request(RequestKind.LIST, "tools", {}))
    assert exchange.answer.result == {"tools": [1, 1]} and len(host.sent) == 2


async def test_an_error_in_place_of_a_page_is_the_answer():
    host = Hosted()
    refused = RawAnswer(error={"code": 1, "message": "no"})
    host.answers = [RawAnswer(result={"tools": [1], "nextCursor": "a"}), refused]
    assert (await instance(host).send(Request(RequestKind.LIST, "tools", {}))).answer is refused


@pytest.mark.parametrize(("lose", "restarts"), [(Lose.ANSWER, 0), (Lose.CONNECTION, 1)])
async def test_what_is_lost_is_sent_again_and_the_second_answer_counts(lose: Lose, restarts: int):
    host = Hosted()
    server = instance(host)
    await server.running()
    host.answers = [RawAnswer(result={"n": 1}), RawAnswer(result={"n": 2})]
    exchange = await server.send(Request(RequestKind.READ, "a:b"), lose=lose)
    assert (exchange.answer.result, len(host.sent)) == ({"n": 2}, 2)
    assert host.asked.count("restart") == restarts


async def test_a_request_without_an_answer_to_lose_is_sent_once():
    host = Hosted()
    host.answers = [RawAnswer(problem="it did not respond.", failure=CallFailure.TIMEOUT)]
    exchange = await instance(host).send(Request(RequestKind.READ, "a:b"), lose=Lose.ANSWER)
    assert exchange.answer == RawAnswer(
        problem="before its answer was lost: it did not respond.", failure=CallFailure.TIMEOUT
    )
