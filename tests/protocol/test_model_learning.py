"""A request that an endpoint refuses is adapted at once and remembered, over real HTTP."""

import json
from typing import Any

from tests.endpoint import Answer, Endpoint, Reply, Request, calls, chunk, refuses, says
from tests.streams import ModelOutput, output_of_model
from tui.core.conversation.conversation import (
    AssistantMessage,
    ToolMessage,
    UserMessage,
)
from tui.core.ports import ModelRequest, ToolSpec
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat

ODD = {"type": "object", "properties": {"$top": {"const": 1}, "q": {"type": ["string", "null"]}}}
TOOLS = [ToolSpec("a__odd", "odd", ODD), ToolSpec("a__plain", "plain", {"type": "object", "properties": {}})]
ASK = ModelRequest("", [UserMessage("hi")], TOOLS)


async def told(
    *replies: Reply,
    request: ModelRequest = ASK,
    model: str = "m",
    kept: list[Any] | None = None,
    **profile: Any,
) -> tuple[ModelOutput, list[Any], OpenAIChat]:
    """Send a request. Return the reply, all sent requests, and the client; `kept` gets what is learned."""
    remember = None if kept is None else kept.append
    async with Endpoint(replies) as endpoint:
        chat = OpenAIChat(ModelProfile("test", endpoint.base_url, model, **profile), remember=remember)
        heard = await output_of_model(chat.stream(request))
        await chat.aclose()
    return heard, [one.json for one in endpoint.requests], chat


def schema(body: Any, name: str = "a__odd") -> Any:
    (found,) = [tool["function"] for tool in body["tools"] if tool["function"]["name"] == name]
    return found["parameters"]


async def test_only_a_refused_schema_is_simplified() -> None:
    refusal = refuses(400, "Invalid schema for function 'a__odd': bad const")
    heard, sent, _ = await told(refusal, says("Hi"))
    assert heard.text == "Hi" and schema(sent[0]) == ODD
    assert schema(sent[1])["properties"]["q"] == {"type": "string", "nullable": True}
    assert schema(sent[1], "a__plain") == schema(sent[0], "a__plain")


async def test_only_a_tool_refused_in_every_form_is_omitted() -> None:
    refusal = refuses(400, "Invalid schema for function 'a__odd'")
    heard, sent, chat = await told(refusal, refusal, says("Hi"))
    assert heard.text == "Hi" and [len(body["tools"]) for body in sent] == [2, 2, 1]
    assert "tool a__odd omitted" in chat.capabilities.facts
    assert heard.reply is not None
    assert heard.reply.warning == "The endpoint rejects the schema of a__odd. Not offered."


async def test_learned_facts_about_schemas_are_dropped_if_they_did_not_help() -> None:
    kept: list[Any] = []
    heard, sent, chat = await told(refuses(400, "Invalid schema for function 'a__odd'"), kept=kept)
    assert heard.error is not None and heard.error.status == 400 and len(sent) > 2
    assert chat.capabilities.facts == () and not kept[-1]


async def test_property_names_are_sent_plain_and_restored_in_calls() -> None:
    words = "tools.0.custom.input_schema: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    heard, sent, _ = await told(refuses(400, words), calls(("a__odd", {"_top": 1})))
    assert "_top" in schema(sent[1])["properties"] and heard.reply is not None
    assert json.loads(heard.reply.calls[0].arguments) == {"$top": 1}


async def test_earlier_calls_are_sent_with_plain_names_to_a_model_that_needs_them() -> None:
    made = await told(calls(("a__odd", {"_top": 1})), model="claude-sonnet-4-5")
    assert made[0].reply is not None
    call = made[0].reply.calls[0]
    history = [UserMessage("q"), AssistantMessage("", calls=(call,)), ToolMessage(call.id, call.name, "r")]
    _, sent, _ = await told(says("Hi"), request=ModelRequest("", history, TOOLS), model="claude-sonnet-4-5")
    assert json.loads(sent[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {"_top": 1}


async def test_tools_over_the_limit_of_the_endpoint_are_omitted_with_a_note() -> None:
    words = "Invalid 'tools': array too long. Expected an array with maximum length 1, but got 2 instead."
    heard, sent, chat = await told(refuses(400, words), says("Hi"))
    assert (
        heard.text == "Hi" and len(sent[1]["tools"]) == 1 and chat.capabilities.facts == ("at most 1 tool",)
    )


async def test_a_refusal_inside_a_stream_is_learned_from_too() -> None:
    error = {"error": {"message": "stream_options: Extra inputs are not permitted", "code": 400}}
    heard, sent, _ = await told(Answer([error], done=False), says("Hi"))
    assert heard.text == "Hi" and "stream_options" not in sent[1]


async def test_missing_function_calling_is_raised_and_remembered() -> None:
    kept: list[Any] = []
    heard, _, chat = await told(refuses(400, "m does not support tools"), kept=kept)
    assert heard.error and heard.error.no_tools and chat.capabilities.facts == ("no function calling",)
    assert kept == [{"no_tools": True}]


async def test_an_endpoint_that_refuses_everything_is_given_up_after_five_requests() -> None:
    def never(request: Request) -> Answer:
        names = [tool["function"]["name"] for tool in request.json.get("tools", [])] or ["nothing"]
        return refuses(400, f"Invalid schema for function '{names[0]}'")

    heard, sent, _ = await told(never)
    assert heard.error is not None and heard.error.status == 400 and len(sent) == 5


async def test_truncated_prompts_are_warned_about_once_until_a_prompt_is_read_in_full() -> None:
    def counted(tokens: int) -> Answer:
        return Answer([chunk("stop", content="Hi", usage={"prompt_tokens": tokens, "completion_tokens": 1})])

    long = ModelRequest("", [UserMessage("word " * 10_000)])
    async with Endpoint([counted(4096), counted(4096), counted(14_000), counted(4096)]) as endpoint:
        chat = OpenAIChat(ModelProfile("ollama", endpoint.base_url, "m"))
        warnings = []
        for _ in range(4):
            reply = (await output_of_model(chat.stream(long))).reply
            assert reply is not None
            warnings.append("OLLAMA_CONTEXT_LENGTH" in reply.warning)
        await chat.aclose()
    assert warnings == [True, False, False, True]
