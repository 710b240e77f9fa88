"""A history that an endpoint unexpectedly refuses is sent in another form, at once and from then on."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests import strict
from tests.endpoint import Answer, Endpoint, Request, refuses, says
from tests.protocol.test_model_learning import Kept
from tests.streams import output_of_model
from tests.strict import Refusal
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.ports import ModelRequest, ToolSpec
from tui.model.dialects import wrap
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat

LONG = "chatcmpl-tool-" + "0" * 32
CALLS = (CallRequest(LONG, "a__b", "{}"), CallRequest("call_2", "a__b", "{}"))
RESULTS = [ToolMessage(call.id, call.name, "r") for call in CALLS]
TURN: list[Message] = [UserMessage("q"), AssistantMessage(calls=CALLS, model="ours"), *RESULTS]
TOOLS = [ToolSpec("a__b", "does", {"type": "object", "properties": {}})]
Rules = Callable[[Mapping[str, Any]], None]


async def told(rules: Rules, *messages: Message, status: int = 400) -> tuple[str, list[Any], tuple[str, ...]]:
    """Send two requests. Return the first answer, all requests, and the learned facts."""

    def answer(request: Request) -> Answer:
        try:
            strict.check(request.json | {"model": strict.FLAVOURS["ollama"]})
            rules(request.json)
        except Refusal as refusal:
            return refuses(status, str(refusal))
        return says("Yes.")

    kept = Kept()
    async with Endpoint([answer]) as endpoint:
        for _ in range(2):
            chat = OpenAIChat(ModelProfile("test", endpoint.base_url, "ours"), memory=kept)
            no_tools = any(learned.get("no_tools") for learned in kept.values())
            model = wrap(chat, "auto", no_tools=no_tools)
            heard = await output_of_model(model.stream(ModelRequest("", messages, TOOLS)))
            facts = chat.capabilities.facts
            await chat.aclose()
            if heard.error is not None:
                raise heard.error
    return heard.text, [one.json for one in endpoint.requests], facts


async def test_a_mistral_model_gets_short_call_ids_and_no_user_message_after_a_result() -> None:
    text, sent, facts = await told(strict.mistral, *TURN, UserMessage("stop"))
    assert text == "Yes." and len(sent) == 4
    assert facts == (
        "call IDs with 9 letters and digits",
        "no user message after a tool result",
    )


def no_results(body: Mapping[str, Any]) -> None:
    roles = [message["role"] for message in body["messages"] if message["role"] != "system"]
    strict.need("tool" not in roles, "Conversation roles must alternate user/assistant/user/assistant/...")
    strict.alternating(roles)


@pytest.mark.parametrize("status", [400, 422, 500])
async def test_a_template_that_rejects_tool_results_gets_tools_as_text(status: int) -> None:
    text, sent, facts = await told(no_results, *TURN, status=status)
    assert text == "Yes." and facts == ("no function calling",) and "tools" not in sent[-1]
    assert "<tool_result" in sent[-1]["messages"][-1]["content"]
