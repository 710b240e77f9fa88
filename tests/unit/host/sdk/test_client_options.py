"""Answers to requests from a server as models of the SDK."""

import pytest
from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequestFormParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
)

from tui.core.questions import Refuser
from tui.host.sdk.client_options import as_model, callbacks
from tui.host.server_requests import ServerRequests

TEXT = {"type": "text", "text": "Hello"}


@pytest.mark.parametrize(
    ("answer", "model"),
    [
        ({"action": "accept", "content": {"a": 1}}, ElicitResult),
        ({"roots": [{"uri": "file:///tmp"}]}, ListRootsResult),
        ({"role": "assistant", "model": "m", "content": TEXT}, CreateMessageResult),
        ({"role": "assistant", "model": "m", "content": [TEXT]}, CreateMessageResultWithTools),
    ],
)
def test_each_answer_becomes_the_model_of_its_kind_without_loss(answer, model):
    made = as_model(answer)
    assert type(made) is model
    assert made.model_dump(by_alias=True, mode="json", exclude_none=True) == answer


async def test_a_form_is_answered_through_the_callback():
    answer = callbacks(ServerRequests("srv", Refuser()))["elicitation_callback"]
    asked = ElicitRequestFormParams(message="Who?", requested_schema={"type": "object"})
    assert (await answer(None, asked)).action == "decline"


async def test_a_refusal_becomes_an_error_response():
    answer = callbacks(ServerRequests("srv", Refuser()))["elicitation_callback"]
    asked = ElicitRequestFormParams(message="Who?", requested_schema={"type": "array"})
    assert isinstance(await answer(None, asked), ErrorData)
