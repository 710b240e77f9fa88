"""The line dialect between a gate and a server's output, without a process."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.addons.line_dialect.line_dialect import LineDialect
from tui.core.jsonrpc.messages import Failure, Response, Stray
from tui.core.traffic import CAUSE, Cause
from tui.host.frames.id_gate import Gate
from tui.host.frames.inbox import EndOfInbox, Inbox

ADD = {
    "name": "add",
    "description": "a plus b",
    "parameters": {"type": "object"},
    "returns": {"type": "number"},
}
HELLO = {"type": "hello", "version": "v1", "tools": [ADD]}


class Side:
    """A gate with the dialect below it, and everything that either sent."""

    def __init__(self):
        self.sent, self.refused, self.log, self.given_up, self.causes = [], [], [], [], []
        self.writes, self.takes_back = True, False
        self.inbox = Inbox()
        self.gate = Gate(
            self.inbox, lambda message: True, given_up=lambda known, why: self.dialect.free(known, why)
        )
        self.dialect = LineDialect(
            self.gate,
            "maths",
            write=self._write,
            refuse=self.refused.append,
            log=self.log.append,
            gave_up=self._give_up,
        )

    def _write(self, line):
        if self.writes:
            self.sent.append(json.loads(line))
            self.causes.append(CAUSE.get())
        return self.writes

    def _give_up(self, known, why):
        self.given_up.append((known, why))
        return self.takes_back

    def ask(self, number, method, **params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return self.gate.outgoing(message) and self.dialect.outgoing(message)

    def notify(self, method, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        return not self.gate.outgoing(message) or self.dialect.outgoing(message)

    def cancel(self, number):
        self.notify("notifications/cancelled", requestId=number)

    def hear(self, *objects):
        taken = [
            self.dialect.incoming(one)
            for value in objects
            for one in self.dialect.read(json.dumps(value).encode())
        ]
        return taken[-1]

    async def got(self):
        async with asyncio.timeout(2):
            return await self.inbox.get()

    async def answered(self, result, **known):
        """Return the text that the session gets for this result of the server."""
        self.hear({"type": "tool_result", "result": result, **known})
        return texts(await self.got())

    async def result(self, answer):
        """Call once, and return what the session gets for this response of the server."""
        self.ask(1, "tools/call", name="add", arguments={"a": 1})
        self.hear({"id": self.sent[-1]["id"], **answer})
        return await self.got()


@pytest.fixture
def fresh():
    return Side()


@pytest.fixture
def side(fresh):
    fresh.hear(HELLO)
    return fresh


async def test_initialize_waits_for_the_hello_and_nothing_is_written(side):
    side.ask(1, "initialize", protocolVersion="2025-11-25")
    assert side.notify("notifications/initialized")
    found = (await side.got()).result
    assert found["serverInfo"] == {"name": "maths", "version": "v1"}
    assert (found["protocolVersion"], found["capabilities"]) == ("2025-11-25", {"tools": {}})
    assert not side.sent


async def test_tools_are_listed_from_the_hello(side):
    side.ask(1, "tools/list")
    [tool] = (await side.got()).result["tools"]
    assert tool == {
        "name": "add",
        "description": "a plus b\nReturns: number",
        "inputSchema": {"type": "object"},
    }


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({"name": "x"}, {"type": "object"}),
        ({"name": "x", "parameters": None}, {"type": "object"}),
        ({"name": "x", "parameters": {"properties": {}}}, {"type": "object", "properties": {}}),
        ({"name": "x", "parameters": {"type": "array"}}, {"type": "array"}),
        ({"name": "x", "parameters": ["a"]}, ["a"]),
    ],
)
async def test_parameters_become_an_input_schema_without_additions(fresh, given, schema):
    fresh.hear(HELLO | {"tools": [given]})
    fresh.ask(1, "tools/list")
    assert (await fresh.got()).result["tools"][0]["inputSchema"] == schema


async def test_a_returns_object_becomes_an_output_schema(fresh):
    fresh.hear(HELLO | {"tools": [ADD | {"returns": {"type": "object", "properties": {}}}]})
    fresh.ask(1, "tools/list")
    [tool] = (await fresh.got()).result["tools"]
    assert tool["outputSchema"] == {"type": "object", "properties": {}}
    assert tool["description"] == "a plus b"


async def test_methods_that_the_dialect_lacks_are_refused_without_writing_a_line(fresh):
    fresh.ask(1, "server/discover")
    fresh.ask(2, "resources/list")
    first, second = await fresh.got(), await fresh.got()
    assert isinstance(first, Failure) and (first.code, second.code) == (-32601, -32601)
    assert not fresh.sent


async def test_a_call_has_an_id_a_name_and_parameters(side):
    side.ask(1, "tools/call", name="add")
    assert side.sent[0] | {"id": ""} == {"type": "tool_call", "id": "", "name": "add", "parameters": {}}
    assert side.sent[0]["id"] == "1"


@pytest.mark.parametrize(
    ("result", "text"),
    [("four", "four"), (4, "4"), (None, "null"), (True, "true"), ([1, "é"], '[1,"é"]'), (4.5, "4.5")],
)
async def test_a_result_that_is_not_an_object_becomes_text(side, result, text):
    got = await side.result({"type": "tool_result", "result": result})
    assert got == Response(1, {"content": [{"type": "text", "text": text}]})


async def test_an_object_becomes_structured_content_and_is_never_unwrapped(side):
    value = {"content": [{"type": "text", "text": "hidden"}], "isError": True}
    got = await side.result({"type": "tool_result", "result": value})
    assert got.result["structuredContent"] == value
    assert json.loads(got.result["content"][0]["text"]) == value
    assert "isError" not in got.result


async def test_a_tool_result_without_a_result_fails_the_call(side):
    got = await side.result({"type": "tool_result"})
    assert isinstance(got, Failure) and "it has no result" in got.message


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ({"message": "too large", "type": "application_error"}, "too large"),
        ({"message": "too large", "type": "RangeError"}, "too large (RangeError)"),
        ("just text", "just text"),
        ({}, "the tool failed without a message"),
        (None, "the tool failed without a message"),
        ({"message": ["no", "text"]}, "the tool failed without a message"),
    ],
)
async def test_a_tool_error_becomes_an_error_result(side, error, text):
    got = await side.result({"type": "tool_error", "error": error})
    assert got == Response(1, {"content": [{"type": "text", "text": text}], "isError": True})


async def test_an_error_without_an_id_fails_the_call_in_progress(side):
    side.ask(1, "tools/call", name="add")
    side.hear({"type": "error", "message": "unknown type tool_call"})
    assert (await side.got()).result == {
        "content": [{"type": "text", "text": "unknown type tool_call"}],
        "isError": True,
    }
    assert side.log == []


async def test_an_error_while_no_call_is_in_progress_goes_to_the_log(side):
    side.hear({"type": "error", "message": "odd"})
    assert side.log == ["odd"]


async def test_a_response_may_omit_its_id_or_write_it_as_a_number(side):
    for number in (1, 2):
        side.ask(number, "tools/call", name="add")
        known = {"id": int(side.sent[-1]["id"])} if number == 1 else {}
        side.hear({"type": "tool_result", "result": number, **known})
        assert (await side.got()).id == number


async def test_unknown_duplicate_and_late_responses_are_dropped(side):
    side.ask(1, "tools/call", name="add")
    for number, known in enumerate(("other", side.sent[0]["id"], side.sent[0]["id"])):
        side.hear({"type": "tool_result", "id": known, "result": number})
    assert texts(await side.got()) == "1"


async def test_one_call_is_in_progress_at_a_time(side):
    side.ask(1, "tools/call", name="add", arguments={"a": 1})
    side.ask(2, "tools/call", name="add", arguments={"a": 2})
    assert len(side.sent) == 1
    side.hear({"type": "tool_result", "id": side.sent[0]["id"], "result": 1})
    assert side.sent[1]["parameters"] == {"a": 2}


async def test_a_queued_call_is_recorded_with_the_cause_of_its_sender(side):
    for number in (1, 2):
        mark = CAUSE.set(Cause(number, 0, "call"))
        side.ask(number, "tools/call", name="add")
        CAUSE.reset(mark)
    side.hear({"type": "tool_result", "result": 1})
    assert [cause.turn for cause in side.causes] == [1, 2]


async def test_cancelling_a_call_starts_the_next_one_without_writing_a_cancellation(side):
    side.ask(1, "tools/call", name="add")
    side.ask(2, "tools/call", name="second")
    late = side.sent[0]["id"]
    side.notify("notifications/cancelled", requestId=1, reason="caller cancelled")
    assert [one.get("name") for one in side.sent] == ["add", "second"]
    assert side.given_up == [(late, "caller cancelled")]
    side.hear({"type": "tool_result", "id": late, "result": "late"})
    assert await side.answered("mine", id=side.sent[1]["id"]) == "mine"


LATE = {
    "result": {"type": "tool_result", "result": "late"},
    "tool error": {"type": "tool_error", "error": "late"},
    "error": {"type": "error", "message": "late"},
}


def texts(answer):
    return answer.result["content"][0]["text"]


@pytest.mark.parametrize("late", LATE.values(), ids=LATE)
@pytest.mark.parametrize("number", [1, 3])
async def test_late_answers_without_an_id_are_not_those_of_the_next_call(side, number, late):
    for one in range(number):
        side.ask(one, "tools/call", name="slow")
        side.notify("notifications/cancelled", requestId=one, reason="timed out")
    side.ask(99, "tools/call", name="next")
    side.hear(*[late] * number)
    assert side.log == []
    side.hear({"type": "tool_result", "result": "mine"})
    answer = await side.got()
    assert (answer.id, texts(answer)) == (99, "mine")


async def test_a_late_answer_that_comes_before_the_next_call_is_dropped_once(side):
    side.ask(1, "tools/call", name="slow")
    side.cancel(1)
    side.hear(LATE["error"])
    side.ask(2, "tools/call", name="next")
    assert await side.answered("mine") == "mine"
    assert side.log == []


@pytest.mark.parametrize("named", [True, False])
async def test_an_answer_with_an_id_ends_the_wait_for_the_late_ones_before_it(side, named):
    for number in (1, 2):
        side.ask(number, "tools/call", name="slow")
        side.cancel(number)
    side.ask(3, "tools/call", name="next")
    if named:  # the late answer of the second call: that of the first will not come
        side.hear({"type": "tool_result", "id": side.sent[1]["id"], "result": "late"})
    assert await side.answered("mine", **({} if named else {"id": side.sent[2]["id"]})) == "mine"
    side.ask(4, "tools/call", name="after")
    assert await side.answered("then") == "then"


async def test_the_type_of_an_answer_without_an_id_tells_which_call_it_is_for(side):
    side.ask(1, "tools/call", name="lost")
    side.cancel(1)
    side.ask(2, "ping")
    side.hear(LATE["result"])  # does not answer the ping
    side.hear({"type": "pong"})
    assert await side.got() == Response(2, {})
    side.ask(3, "tools/call", name="lost")
    side.cancel(3)
    side.ask(4, "ping")
    side.hear({"type": "pong"})  # its late answer will not come any more
    assert await side.got() == Response(4, {})
    side.ask(5, "tools/call", name="next")
    assert await side.answered("mine") == "mine"


async def test_an_unreadable_response_fails_the_call_that_it_names_and_does_not_come_late(side):
    side.ask(1, "tools/call", name="add")
    [line] = side.dialect.read(f'{{"type":"tool_result","id":"{side.sent[0]["id"]}","result":NaN}}'.encode())
    assert isinstance(line, Stray)
    side.dialect.incoming(line)
    assert isinstance(await side.got(), Failure)
    side.ask(2, "tools/call", name="next")
    assert await side.answered("mine") == "mine"


async def test_a_queued_call_that_is_cancelled_is_never_written(side):
    side.ask(1, "tools/call", name="first")
    side.ask(2, "tools/call", name="second")
    side.cancel(2)
    side.hear({"type": "tool_result", "result": 1})
    assert [one["name"] for one in side.sent] == ["first"]
    assert side.given_up == []


async def test_any_response_answers_a_ping(side):
    for number, answer in ((1, {"type": "pong"}), (2, {"type": "error", "message": "unknown type ping"})):
        side.ask(number, "ping")
        assert side.sent[-1]["type"] == "ping"
        side.hear(answer)
        assert await side.got() == Response(number, {})


async def test_a_manual_batch_returns_its_results_or_fails_as_a_whole(side):
    side.ask(1, "batch_call", calls=[{"name": "add", "parameters": {}}])
    side.hear({"type": "batch_result", "id": side.sent[-1]["id"], "results": [1]})
    assert await side.got() == Response(1, {"results": [1]})
    side.ask(2, "batch_call", calls=[])
    side.hear({"type": "tool_error", "id": side.sent[-1]["id"], "error": {"message": "no"}})
    assert (await side.got()).message == "no"


async def test_another_version_is_logged_and_accepted(fresh):
    fresh.ask(1, "initialize")
    fresh.hear({"type": "hello", "version": "v2", "tools": []})
    assert (await fresh.got()).result["serverInfo"]["version"] == "v2"
    assert fresh.log == ["mcptui: its hello has version “v2”, but mcptui supports “v1”"]


async def test_a_line_that_is_neither_a_response_nor_a_hello_is_noise(side):
    assert side.hear({"type": "trace"}) is False
    assert side.hear([1]) is False


async def test_a_response_after_output_without_a_newline_is_found(fresh):
    [line] = fresh.dialect.read(b'working... {"type":"tool_result","id":"7","result":1}')
    assert (line.type, line.id) == ("tool_result", "7")


async def test_a_queued_call_that_cannot_be_written_fails(side):
    side.ask(1, "tools/call", name="first")
    side.ask(2, "tools/call", name="second")
    side.writes = False
    side.hear({"type": "tool_result", "result": 1})
    await side.got()
    assert isinstance(await side.got(), Failure)


async def test_shutdown_is_written_only_after_the_hello(fresh):
    fresh.dialect.shutdown()
    assert fresh.sent == []
    fresh.hear(HELLO)
    fresh.dialect.shutdown()
    assert fresh.sent == [{"type": "shutdown"}]


LINES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["hello", "tool_result", "tool_error", "error", "pong", "batch_result", "x"])},
    optional=dict.fromkeys(
        ("id", "result", "error", "message", "tools", "version", "results", "jsonrpc"), LINES
    ),
)


@given(st.lists(OBJECTS | LINES | st.binary(max_size=20), max_size=8), st.data())
async def test_no_output_of_a_server_raises_and_each_call_ends_at_most_once(lines, data):
    side = Side()
    side.hear(HELLO)
    methods = ["tools/call", "ping", "batch_call"]
    for number in (1, 2):
        side.ask(number, data.draw(st.sampled_from(methods)), name="add")
    for line in lines:
        raw = line if isinstance(line, bytes) else json.dumps(line).encode()
        for one in side.dialect.read(raw):
            side.dialect.incoming(one)
    side.inbox.close()
    answered = []
    while not side.inbox.emptied.is_set():
        try:
            message = await side.inbox.get()
        except EndOfInbox:
            break
        if isinstance(message, Response | Failure):
            answered.append(message.id)
    assert len(answered) == len(set(answered)) <= 2
    assert all(json.loads(json.dumps(sent)) == sent for sent in side.sent)
