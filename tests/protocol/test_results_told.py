"""What the model is told of results, also by a model that writes calls as text."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tests.configurations import config_file, model, server
from tests.endpoint import Answer, Endpoint, Request, calls, chunk, refuses, says
from tests.protocol.command import Done, mcptui
from tests.streams import INDEX as STREAMS
from tests.streams import ModelOutput, chunks_of, expected, output_of_model
from tests.texts import INDEX, TOOLS, Read, text_of
from tests.unit.core.stand_ins import policy_of
from tui.core.conversation.conversation import Conversation, UserMessage
from tui.core.events import Event, ToolCallEnded, TurnStarted
from tui.core.permission.approval_policy import Mode, TurnPermission
from tui.core.ports import (
    ApprovalRequest,
    Decision,
    ModelRequest,
    MonotonicClock,
    ReplyPart,
    RetryPart,
    ToolSpec,
)
from tui.core.turn.limits import Limits
from tui.core.turn.loop import Turn
from tui.core.turn.tool_calls import TurnDeps, TurnModel, TurnTools
from tui.host.host import Host
from tui.model.dialects.text_tools import PROTOCOLS, wrap
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat

SERVER = Path(__file__).with_name("showing_server.py")
FAULTS = Path(__file__).parents[1] / "corpus" / "faults"


class Nobody:
    async def ask(self, request: ApprovalRequest) -> Decision:
        raise AssertionError("nothing may ask here")


@pytest.fixture
async def host(hosting):
    return await hosting(programs.server("srv", SERVER))


async def turn_with(
    host: Host, replies: Sequence[Any], model: str = "gpt-4o"
) -> tuple[list[Event], list[Any]]:
    """Return the events of a turn, and the bodies of its requests."""
    async with Endpoint(replies) as endpoint:
        chat = OpenAIChat(ModelProfile("test", endpoint.base_url, model))
        talk = Conversation()
        talk.say("What is there?")
        deps = TurnDeps(
            TurnModel(chat),
            TurnTools(host.toolbox),
            TurnPermission(Nobody(), policy_of(mode=Mode.ALL)),
            Limits(),
            MonotonicClock(),
        )
        try:
            events = [event async for event in Turn(talk, deps).events()]
        finally:
            await chat.aclose()
        return events, [request.json for request in endpoint.requests]


async def test_an_image_from_a_server_is_sent_to_the_model_as_an_image(host):
    _, (_, body) = await turn_with(host, [calls(("srv__picture", {})), says("Black.")])
    *_, told, seen = body["messages"]
    assert told["content"] == "[image 1: image/png 64x48, attached below]"
    assert seen["role"] == "user"
    assert seen["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


async def test_a_model_without_image_support_is_told_that_there_was_an_image(host):
    _, (_, body) = await turn_with(host, [calls(("srv__picture", {})), says("A picture.")], "deepseek-chat")
    assert body["messages"][-1]["role"] == "tool" and "not shown to you" in body["messages"][-1]["content"]
    assert "iVBOR" not in json.dumps(body)


async def test_the_model_reads_the_rest_of_a_long_result_with_one_call(host):
    def read_on(request: Request) -> Any:
        names = [tool["function"]["name"] for tool in request.json["tools"]]
        assert names[-1] == "mcptui__read_result"
        return calls(("mcptui__read_result", {"name": "result-1", "grep": "23456:"}))

    events, bodies = await turn_with(host, [calls(("srv__log", {})), read_on, says("All is well.")])
    assert "mcptui__read_result" not in json.dumps(bodies[0])
    cut, found = [event for event in events if isinstance(event, ToolCallEnded)]
    assert len(cut.text.encode()) <= Limits().result_bytes and "23456: all is well" not in cut.text
    assert "23456: all is well" in found.text and (found.server, found.is_error) == ("mcptui", False)


async def test_tools_over_the_limit_are_omitted_with_a_notice_to_the_user(hosting):
    made = await hosting(programs.server("many", FAULTS / "tools_2000_paginated.py"))
    events, (body,) = await turn_with(made, [says("So many.")])
    assert isinstance(events[0], TurnStarted)
    assert "of 2000 tools are offered" in events[0].notice.replace(",", "")
    assert 0 < len(body["tools"]) <= 128


WEATHER_SERVER = Path(__file__).with_name("weather_server.py")
SEEDS = (1, 2)
EVERY = 10
"""Each tenth text is also read over HTTP. All are in tests/unit/model/dialects."""
PROTOCOL = {"cline": "xml", "chatmcp": "chatmcp", "simple": "json", "react": "react", "leak": "native"}
RECORDED = [name for name, entry in STREAMS.items() if "dialect" in entry]


def spoken(text: str, seed: int, finish: str) -> Answer:
    """Return an answer that streams `text` in deltas of random sizes, split at any byte."""
    size = 1 + seed * 5 % 17
    deltas = [chunk(content=text[at : at + size]) for at in range(0, len(text), size)]
    usage = {"prompt_tokens": 9, "completion_tokens": 9}
    return Answer([chunk(role="assistant"), *deltas, chunk(finish, usage=usage)], seed=seed)


async def heard(endpoint: Endpoint, protocol: str, tools: tuple[ToolSpec, ...] = TOOLS) -> ModelOutput:
    """Send a request to the endpoint through the client and `protocol`."""
    model = OpenAIChat(ModelProfile("test", endpoint.base_url, "m"))
    try:
        return await asked(model, protocol, tools)
    finally:
        await model.aclose()


async def asked(model: OpenAIChat, protocol: str, tools: tuple[ToolSpec, ...] = TOOLS) -> ModelOutput:
    return await output_of_model(wrap(model, protocol).stream(ModelRequest("", [UserMessage("hi")], tools)))


async def test_the_client_reads_replies_in_any_chunks_of_bytes() -> None:
    some = dict(list(INDEX.items())[::EVERY])
    answers = [
        spoken(text_of(name), seed, expect.get("finish", "stop"))
        for seed, (name, expect) in enumerate(some.items())
    ]
    async with Endpoint(answers) as endpoint:
        model = OpenAIChat(ModelProfile("test", endpoint.base_url, "m"))
        for name, expect in some.items():
            found = await asked(model, expect["dialect"])
            assert ("tools" in endpoint.requests[-1].json) is (expect["dialect"] == "native")
            assert found.reply is not None and found.reply.finish == expect.get("finish", "stop"), name
            Read(found.text, found.reasoning, list(found.reply.calls)).assert_is(expect)
        await model.aclose()


def known(names: list[str]) -> tuple[ToolSpec, ...]:
    """Return the known tools of a recorded stream, as `server/tool` if there is a server."""
    made: list[ToolSpec] = []
    for name in names:
        server, _, tool = name.rpartition("/")
        types = {"city": "string", "days": "integer", "query": "string"}
        wanted = ["query"] if tool == "search" else []
        properties = {key: {"type": kind} for key, kind in types.items() if key in wanted or not wanted}
        schema = {"type": "object", "properties": properties, "required": wanted}
        made.append(ToolSpec(f"{server}__{tool}" if server else tool, "", schema, server, tool))
    return tuple(made)


@pytest.mark.parametrize("name", RECORDED)
async def test_the_calls_in_every_recorded_text_stream_are_found(name: str) -> None:
    entry, expect = STREAMS[name], expected(name)
    tools = known(entry["tools"])
    shown = {tool.name: f"{tool.server}/{tool.tool}" if tool.server else tool.name for tool in tools}
    for seed in SEEDS:
        async with Endpoint([Answer(chunks_of(name), seed=seed)]) as endpoint:
            found = await heard(endpoint, PROTOCOL[entry["dialect"]], tools)
        assert found.reply is not None
        assert (found.text, found.reasoning) == (expect["content"], expect["reasoning"])
        assert [shown[call.name] for call in found.reply.calls] == [
            call["name"] for call in expect["tool_calls"]
        ]
        for call, want in zip(found.reply.calls, expect["tool_calls"], strict=True):
            assert json.loads(call.arguments) == json.loads(want["arguments"])
            assert call.id == want.get("id", call.id)
        assert (
            found.reply.finish == expect["finish"] and (found.reply.usage is not None) is expect["has_usage"]
        )


async def test_after_an_endpoint_refused_stop_it_is_never_sent_again() -> None:
    def strict(request: Request) -> Answer:
        if "stop" in request.json:
            return refuses(400, "Unsupported parameter: 'stop' is not supported with this model.")
        return says("Action: now\nAction Input: {}\nObservation: noon\nFinal Answer: It is noon.")

    async with Endpoint([strict]) as endpoint:
        model = OpenAIChat(ModelProfile("test", endpoint.base_url, "m"))
        wrapped = wrap(model, "react")
        request = ModelRequest("", [UserMessage("hi")], TOOLS)
        first = [part async for part in wrapped.stream(request)]
        second = await output_of_model(wrapped.stream(request))
        await model.aclose()
    assert any(isinstance(part, RetryPart) and "stop" in part.reason for part in first)
    assert isinstance(first[-1], ReplyPart) and [call.name for call in first[-1].calls] == ["clock__now"]
    assert second.text == "" and [bool("stop" in sent.json) for sent in endpoint.requests] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        (500, "tools param requires --jinja flag"),
        (404, "No endpoints found that support tool use."),
    ],
)
async def test_an_endpoint_without_function_calling_gets_tools_as_text(status: int, said: str) -> None:
    def plain(request: Request) -> Answer:
        return refuses(status, said) if "tools" in request.json else says("It is noon.")

    async with Endpoint([plain]) as endpoint:
        found = await heard(endpoint, "auto")
    assert found.text == "It is noon." and len(endpoint.requests) == 2


async def test_an_endpoint_that_refuses_tools_in_its_stream_gets_a_request_without_them() -> None:
    def plain(request: Request) -> Answer:
        error = {"message": "this model does not support tools", "code": 400}
        return Answer([{"error": error}]) if "tools" in request.json else says("It is noon.")

    async with Endpoint([plain]) as endpoint:
        found = await heard(endpoint, "auto")
    assert found.text == "It is noon." and len(endpoint.requests) == 2


GROQ = "<function=now{}</function>"


@pytest.mark.parametrize("in_stream", [False, True])
async def test_a_call_that_the_endpoint_could_not_parse_is_parsed_here(in_stream: bool) -> None:
    error = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": GROQ}
    refused = Answer([{"error": error}]) if in_stream else Answer(status=400, body={"error": error})
    async with Endpoint([refused]) as endpoint:
        found = await heard(endpoint, "auto")
        assert len(endpoint.requests) == 1
    assert found.reply is not None and found.text == ""
    assert [(call.name, call.recovered) for call in found.reply.calls] == [("clock__now", True)]


UNREADABLE = [
    {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": "<func"},
    {"message": "Failed to call now.", "code": "tool_use_failed", "failed_generation": "<function=now{"},
    {"message": "Failed.", "code": "tool_use_failed", "failed_generation": "x", "status_code": 400},
]


@pytest.mark.parametrize("in_stream", [False, True])
@pytest.mark.parametrize("error", UNREADABLE)
async def test_an_unparsable_call_is_requested_again_with_the_same_tools(
    error: dict[str, object], in_stream: bool
) -> None:
    refused = Answer([{"error": error}]) if in_stream else Answer(status=400, body={"error": error})
    async with Endpoint([refused, says("Noon.")]) as endpoint:
        found = await heard(endpoint, "auto")
    assert found.text == "Noon." and len(endpoint.requests) == 2
    first, second = (request.json for request in endpoint.requests)
    assert first == second


async def test_a_call_that_does_not_match_its_schema_is_repaired_without_another_request() -> None:
    words = "tool call validation failed: parameters for tool wx__get_forecast did not match schema: errors"
    written = '<function=wx__get_forecast>{"city": "Oslo", "days": "2"}</function>'
    refused = refuses(400, words, code="tool_use_failed", failed_generation=written)
    async with Endpoint([refused]) as endpoint:
        found = await heard(endpoint, "auto")
        assert len(endpoint.requests) == 1
    assert found.reply is not None
    (call,) = found.reply.calls
    assert (call.name, json.loads(call.arguments)) == ("wx__get_forecast", {"city": "Oslo", "days": 2})


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_reasoning_in_separate_fields_stays_reasoning(protocol: str) -> None:
    chunks = [
        chunk(reasoning_content="So: "),
        chunk(reasoning_content="four."),
        chunk(content="4"),
        chunk("stop"),
    ]
    async with Endpoint([Answer(chunks)]) as endpoint:
        found = await heard(endpoint, protocol)
    assert (found.reasoning, found.text) == ("So: four.", "4")


# ---- the command ---------------------------------------------------------------------------------------


async def run(folder: Path, endpoint: Endpoint, protocol: str) -> Done:
    weather = server("weather", WEATHER_SERVER, trusted=True)
    path = config_file(folder, model(endpoint, tool_protocol=protocol), weather)
    done = await mcptui("run", "--json", "--config", path, "weather in NYC?", HOME=str(folder))
    assert "Traceback" not in done.err + done.out
    return done


CALL: dict[str, str] = {
    "xml": "<use_mcp_tool>\n<server_name>weather</server_name>\n<tool_name>get_weather</tool_name>\n"
    '<arguments>\n{"location": "NYC"}\n</arguments>\n',
    "chatmcp": '<<tool-start>>\n{"server_name": "weather", "tool_name": "get_weather", '
    '"tool_params": {"location": "NYC"}}\n',
    "json": '{"tool": "weather__get_weather", "arguments": {"location": "NYC"}}',
    "react": 'Thought: I look.\nAction: weather__get_weather\nAction Input: {"location": "NYC"}\n',
}
FINAL = {
    "xml": "<final_answer><answer>Windy.</answer></final_answer>",
    "react": "Thought: I know.\nFinal Answer: Windy.",
}


@pytest.mark.parametrize("protocol", CALL)
async def test_a_model_that_writes_calls_as_text_can_use_a_server(tmp_path: Path, protocol: str) -> None:
    replies = [says(CALL[protocol], pieces=40), says(FINAL.get(protocol, "Windy."), pieces=9)]
    async with Endpoint(replies) as endpoint:
        done = await run(tmp_path, endpoint, protocol)
        sent: list[Any] = [request.json for request in endpoint.requests]
    assert [found["arguments"] for found in done.of_type("tool_call")] == [{"location": "NYC"}]
    assert "".join(found["text"] for found in done.of_type("text")) == "Windy." and done.code == 0
    assert all("tools" not in body for body in sent)
    assert [message["role"] for message in sent[1]["messages"]] == ["system", "user", "assistant", "user"]
    assert "windy" in sent[1]["messages"][-1]["content"]


async def test_an_unparsable_call_is_corrected_by_the_model(tmp_path: Path) -> None:
    broken = CALL["chatmcp"].replace('"NYC"}}', '"NYC"} and so on') + "<<tool-end>>"
    async with Endpoint([says(broken), says(CALL["chatmcp"]), says("Windy.")]) as endpoint:
        done = await run(tmp_path, endpoint, "chatmcp")
        told = endpoint.requests[1].json["messages"][-1]["content"]
    assert "is not valid JSON" in told and "Use exactly this format:\n<<tool-start>>" in told
    assert [found["is_error"] for found in done.of_type("tool_result")] == [True, False] and done.code == 0
