"""Each row of the table of refusals, over real HTTP: what an endpoint says, and what the client does."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.cases import each_case
from tests.endpoint import Answer, Endpoint, Request, says
from tests.media import wav
from tests.refusals import FIXTURES, Said
from tests.streams import ModelOutput, output_of_model
from tui.core.conversation.conversation import (
    AssistantMessage,
    Attachment,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
)
from tui.core.ports import ModelRequest, ToolSpec
from tui.core.secrets.redact import Secret
from tui.model.dialects.text_tools import wrap
from tui.model.endpoints.endpoint_errors import CHECK_PROFILE
from tui.model.endpoints.failures import refusal_in, said_in
from tui.model.endpoints.learned_quirks import kinds_of
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.refusal_rows import DECIDED, TOLD, Do, Refusal
from tui.model.endpoints.refusals import TABLE
from tui.model.openai_api.openai_chat import OpenAIChat, sent_kinds

ODD = {"type": "object", "properties": {"$top": {"const": 1}, "q": {"type": ["string", "null"]}}}
TOOLS = (ToolSpec("srv__odd", "odd", ODD), ToolSpec("srv__plain", "plain", {"type": "object"}))
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
PICTURE = Attachment("image", "image/png", "p.png", 70, PIXEL)
SOUND = Attachment("audio", "audio/wav", "s.wav", len(wav()), b64encode(wav()).decode())
CALL = CallRequest("c" * 46, "srv__odd", "{}")
HISTORY: tuple[Message, ...] = (
    UserMessage("q"),
    AssistantMessage("", calls=(CALL,), model="m", echo={"reasoning_content": "I think."}),
    ToolMessage(CALL.id, CALL.name, "r"),
    UserMessage("again"),
)
ASK = (UserMessage("hi"),)
BEHIND_RESULTS = (Do.SHORT_IDS, Do.PLAIN_IDS, Do.NAMED_RESULTS, Do.BETWEEN, Do.TEXT_RESULTS, Do.ADD_TOOLS)
OF_THIS_TURN = (Do.TEXT_RESULTS, Do.NO_BLOCKS, Do.NO_THINKING)
IN_HISTORY = (*BEHIND_RESULTS, Do.SEND_REASONING, Do.NO_REASONING, Do.NO_BLOCKS, Do.NO_THINKING)
HOSTS = {
    "reasoning": "openrouter.ai",
    "thinking": "z.ai",
    "enable_thinking": "dashscope.aliyuncs.com",
    "thinking_budget": "dashscope.aliyuncs.com",
    "prompt_cache_key": "api.fireworks.ai",
    "format with tools": "api.example.com",
}
"""Hosts that get a field; the endpoint is their proxy."""

FIELDS: Mapping[str, dict[str, Any]] = {
    "max_tokens": {"max_tokens": 32_000},
    "max_completion_tokens": {"max_tokens": 32_000},
    "temperature": {"temperature": 0.5},
    "top_p": {"top_p": 0.5},
    "seed": {"seed": 7},
    "stop": {"stop": ("END",)},
    "reasoning_effort": {"effort": "minimal"},
    "chat_template_kwargs": {"effort": "none"},
    "cache_control": {"model": "claude-sonnet"},
    "audio": {"model": "voxtral-mini"},
    **{name: {"effort": "high"} for name in ("reasoning", "thinking", "enable_thinking", "thinking_budget")},
}


def request_for(row: Refusal) -> ModelRequest:
    """Return a request with what the row refuses."""
    files = {"images": (PICTURE,), "audio": (SOUND,)}.get(row.what)
    messages = (UserMessage("hi", files),) if files else ASK
    if row.do in IN_HISTORY:
        messages = HISTORY[:-1] if row.do in OF_THIS_TURN else HISTORY
    tools = () if row.what in ("no tools", "answer schema", "response_format") else TOOLS
    schema = SCHEMA if row.what in ("answer schema", "response_format", "format with tools") else None
    return ModelRequest("be brief", messages, tools, answer_schema=schema)


def roles_in(body: Any) -> list[str]:
    return [message["role"] for message in body["messages"]]


def reasoning_in(body: Any) -> list[bool]:
    """Return for each reply in the history whether it has its reasoning."""
    return ["reasoning_content" in one for one in body["messages"] if one["role"] == "assistant"]


def call_ids_in(body: Any) -> list[str]:
    return [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]


STILL: Mapping[Do, Callable[[Any], bool]] = {
    Do.TEXT_TOOLS: lambda body: "tools" in body,
    Do.TEXT_RESULTS: lambda body: "tool" in roles_in(body),
    Do.JOIN_SYSTEM: lambda body: "system" in roles_in(body),
    Do.NO_STREAM: lambda body: body["stream"] is True,
    Do.RENAME: lambda body: "max_tokens" in body,
    Do.NEAREST: lambda body: body["reasoning_effort"] == "minimal",
    Do.PLAIN_JSON: lambda body: body["response_format"]["type"] == "json_schema",
    Do.PLAIN_JSON_NOW: lambda body: body["response_format"]["type"] == "json_schema",
    Do.NO_FORMAT: lambda body: "response_format" in body,
    Do.FEWER_TOOLS: lambda body: len(body["tools"]) > 1,
    Do.ADD_TOOLS: lambda body: "tools" not in body,
    Do.SEND_REASONING: lambda body: not all(reasoning_in(body)),
    Do.NO_THINKING: lambda body: "reasoning_effort" in body,
    Do.NO_BLOCKS: lambda body: "reasoning_effort" in body,
    Do.NO_REASONING: lambda body: any(reasoning_in(body)),
    Do.SHORT_IDS: lambda body: any(len(one) != 9 for one in call_ids_in(body)),
    Do.PLAIN_IDS: lambda body: any(len(one) > 40 for one in call_ids_in(body)),
    Do.NAMED_RESULTS: lambda body: any(
        "name" not in one for one in body["messages"] if one["role"] == "tool"
    ),
    Do.BETWEEN: lambda body: ("tool", "user") in pairwise(roles_in(body)),
}
"""Whether a request has what was refused."""

FIELD_OF = {"images": "image_url", "audio": "input_audio"}
IN_TOOLS = ("tools", "named tool")


def is_refused(row: Refusal, said: Said, body: Any, first: Any) -> bool:
    """Whether a request still has what the row refuses; `first` is the first request."""
    if row.do in STILL:
        return STILL[row.do](body)
    if row.do is Do.FEWER_TOKENS:
        return bool(body.get("max_tokens", 0) > (said.number or 16_000))
    if row.do is Do.OMIT:
        return f'"{FIELD_OF.get(row.what, row.what)}"' in json.dumps(body)
    return row.what not in IN_TOOLS or bool(body["tools"] == first["tools"])


async def played(
    row: Refusal, said: Said, monkeypatch: pytest.MonkeyPatch
) -> tuple[ModelOutput, list[Any], OpenAIChat]:
    """Send a request to an endpoint that refuses it for the row's reason, until that is gone."""

    def answered(request: Request) -> Answer:
        first = endpoint.requests[0].json
        if is_refused(row, said, request.json, first):
            return Answer(status=said.status, body=said.whole, headers=said.headers)
        if not request.json["stream"]:
            message = {"role": "assistant", "content": "Fine."}
            return Answer(body={"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        return says("Fine.")

    async with Endpoint([answered]) as endpoint:
        monkeypatch.setenv("HTTP_PROXY", endpoint.origin)
        host = HOSTS.get(row.what)
        base = f"http://{host}/v1" if host else endpoint.base_url
        thinking = {"effort": "high"} if row.do in (Do.NO_BLOCKS, Do.NO_THINKING) else {}
        fields = {"model": "m", "api_key": Secret("k"), **FIELDS.get(row.what, {}), **thinking}
        # Where a request has a field only because of an earlier run.
        learned = {"max_tokens_name": row.what} if row.what == "max_completion_tokens" else {}
        chat = OpenAIChat(ModelProfile("test", base, **fields), learned=learned)
        heard = await output_of_model(wrap(chat, "auto").stream(request_for(row)))
        await chat.aclose()
    return heard, [one.json for one in endpoint.requests], chat


TOLD_AS: Mapping[Do, tuple[str, dict[str, bool]]] = {
    Do.SHORTEN: ("new conversation", {"overflow": True, "retryable": False}),
    Do.PAY: ("Add credit", {"retryable": False}),
    Do.PAY_OR_WAIT: ("Add credit", {"retryable": False}),
    Do.WAIT: ("", {"retryable": True, "overflow": False}),
    Do.WAIT_LONG: ("limit is reset", {"retryable": False}),
    Do.NEXT_DAY: ("limit is reset", {"retryable": False}),
    Do.LOAD: ("", {"loading": True, "retryable": True}),
    Do.RETRY: ("", {"retryable": True}),
    Do.TRY_AGAIN: ("", {"retryable": True}),
}
"""What the next step says, and what is known about the error."""

ROWS = {(row.who, row.what): row for row in TABLE}


def test_each_row_has_its_own_name_and_a_fixture() -> None:
    names = Counter((row.who, row.what) for row in TABLE)
    assert [name for name, count in names.items() if count > 1] == []
    given = {(said.who, said.what) for said in FIXTURES}
    assert sorted(ROWS.keys() - given) == [], "rows without a fixture in tests/refusals.py"
    assert sorted(given - ROWS.keys()) == [], "fixtures without a row in tui/model/endpoints/refusals.py"


@pytest.mark.parametrize("said", FIXTURES, ids=lambda said: f"{said.what}-{said.who}")
async def test_each_refusal_is_recognized_by_its_own_row_and_followed(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ROWS[said.who, said.what]
    heard, sent, _ = await played(row, said, monkeypatch)
    words = said_in(said.whole)
    tools = [tool.name for tool in request_for(row).tools]
    found = [refusal_in(words, said.status, kinds_of([*sent_kinds(one)], tools, words)) for one in sent]
    assert any(found), f"no row matches: {words}"
    assert row in [one[0] for one in found if one], f"another row takes these words: {found[0]}"
    if row.do not in DECIDED | TOLD or (row.do is Do.FEWER_TOKENS):
        assert heard.text == "Fine.", heard.error
        if said.number:
            assert sent[-1]["max_tokens"] == said.number
        return
    assert heard.error is not None
    assert len(sent) == 1 or row.do is Do.RETRY
    step, known = TOLD_AS.get(row.do, ("", {}))
    assert step in heard.error.next_step and heard.error.next_step not in ("", CHECK_PROFILE)
    assert {name: getattr(heard.error, name) for name in known} == known
    assert row.do is not Do.SHORTEN or heard.error.window == said.number
    assert "credit" not in heard.error.next_step or row.do in (Do.PAY, Do.PAY_OR_WAIT)


FOLDER = Path(__file__).parents[1] / "corpus" / "refusals"


def wordings() -> dict[str, list[str]]:
    """Return the wordings of the corpus by the heading above them."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / "wordings.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            words = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            words.append(line)
    return found


WORDINGS = wordings()
OTHER = WORDINGS.pop("OTHER")

SENT = (
    *("stream", "stream_options", "temperature", "top_p", "seed", "stop", "max_tokens", "reasoning_effort"),
    *("tools", "system text", "system text alone", "images", "audio", "response_format", "answer schema"),
    *("history",),
)


def matched(words: str, sent: Sequence[str]) -> Refusal | None:
    found = refusal_in(said_in({"error": {"message": words, "type": "invalid_request_error"}}), 400, sent)
    return found[0] if found else None


@each_case("heading", WORDINGS)
def test_other_wordings_of_the_same_refusal_are_recognized(heading: str) -> None:
    do, what = heading.split(" ", 1)
    sent = [one for one in SENT if one not in ("answer schema", "response_format") or what == "answer schema"]
    for words in WORDINGS[heading]:
        found = matched(words, sent)
        assert found is not None, words
        wanted = what if found.what != "system text alone" else "system text"
        assert (found.do, found.what.removesuffix(" alone")) == (Do[do], wanted), (words, found)


def test_words_about_something_else_change_nothing() -> None:
    for words in OTHER:
        found = matched(words, SENT)
        assert found is None or found.do in TOLD, (words, found)
