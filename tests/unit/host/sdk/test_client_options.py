"""What the SDK's client is given: answers as its models, no limit for a probe, task support."""

import inspect
import json
import math

import pytest
from mcp.client import session
from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequestFormParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
)

from tests.unit.host.test_connection import running
from tui.core.questions import Refuser
from tui.core.tasks import EXTENSION
from tui.host.sdk.client_options import as_model, await_probes, callbacks
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


def test_the_sdk_awaits_a_probe_without_a_limit_of_its_own(monkeypatch):
    """Seen with mcp 2.3."""
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", 10.0)
    await_probes()
    assert session.DISCOVER_TIMEOUT_SECONDS == math.inf
    assert '"timeout": DISCOVER_TIMEOUT_SECONDS' in inspect.getsource(session.ClientSession.send_discover)


@pytest.mark.parametrize(("era", "said"), [("legacy", False), ("modern", True)])
async def test_task_support_is_advertised_only_in_revisions_that_have_tasks(era, said):
    async with running(era) as (_, params):
        requests = [*params("initialize"), *params("server/discover")]
        assert requests and (EXTENSION in json.dumps(params("tools/list"))) is said
        assert EXTENSION not in json.dumps(params("initialize"))
