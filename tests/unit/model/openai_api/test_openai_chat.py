"""A model behind a real endpoint on loopback, through the real client."""

import asyncio
import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from tests.conftest import until
from tests.endpoint import Answer, Endpoint, Reply, chunk, refuses, says
from tests.media import base64_of, png
from tests.streams import FOLDER, INDEX, ModelOutput, expected, output_of_model
from tui.core.conversation.conversation import Attachment, UserMessage
from tui.core.errors import ConfigError
from tui.core.ports import ModelRequest, TextPart, ToolSpec, Usage
from tui.core.secrets.redact import Secret
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat, truncation_warning

ASK = ModelRequest("be brief", [UserMessage("hi")])


@asynccontextmanager
async def talking(
    *replies: Reply, prefix: str = "/v1", path: str | None = None, **profile: Any
) -> AsyncIterator[tuple[OpenAIChat, Endpoint]]:
    async with Endpoint(replies, prefix=prefix) as endpoint:
        base_url = endpoint.base_url if path is None else endpoint.origin + path
        model = OpenAIChat(ModelProfile("test", base_url, "m", **profile))
        try:
            yield model, endpoint
        finally:
            await model.aclose()


async def asked(*replies: Reply, request: ModelRequest = ASK, **options: Any) -> tuple[ModelOutput, Endpoint]:
    async with talking(*replies, **options) as (model, endpoint):
        return await output_of_model(model.stream(request)), endpoint


async def test_text_is_unchanged_and_the_request_contains_the_conversation() -> None:
    heard, endpoint = await asked(says("Hello, world"), api_key=Secret("sk-test"))
    assert heard.text == "Hello, world"
    sent = endpoint.requests[0]
    assert sent.headers["authorization"] == "Bearer sk-test"
    assert sent.json == {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_no_image_is_sent_once_the_endpoint_has_said_that_the_model_accepts_none() -> None:
    picture = Attachment("image", "image/png", "p.png", len(png()), base64_of(png()))
    request = ModelRequest("", [UserMessage("see", (picture,))])
    async with talking(says("one"), says("two")) as (model, endpoint):
        for images in (None, False):
            model.restrict(tools=None, images=images)
            await output_of_model(model.stream(request))
    first, second = (one.json["messages"][0]["content"] for one in endpoint.requests)
    assert first[1]["type"] == "image_url"
    assert "does not support images" in second


@pytest.mark.parametrize("name", [name for name in INDEX if name.startswith("wire_")])
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_unusual_bytes_on_the_wire_are_read_or_reported(name: str, seed: int) -> None:
    html = {"content-type": "text/html"} if "html" in name else {}
    raw = (FOLDER / f"{name}.sse").read_bytes()
    heard, _ = await asked(Answer(raw=raw, headers=html, seed=seed))
    expect = expected(name)
    assert heard.text == expect["content"]
    if "error" in expect:
        says = "not an SSE stream" if "html" in name else expect["error"]
        assert heard.error is not None and says in str(heard.error)
    else:
        assert heard.reply is not None and heard.reply.finish == expect["finish"]


async def test_cancelling_closes_the_connection_at_once() -> None:
    async with talking(says("Hello", hang=True), says("again")) as (model, endpoint):
        heard: list[Any] = []

        async def listen() -> None:
            async for part in model.stream(ASK):
                heard.append(part)

        task = asyncio.create_task(listen())
        await until(lambda: heard)
        task.cancel()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await until(lambda: endpoint.open == 0)
        assert endpoint.disconnects == 1
        assert (await output_of_model(model.stream(ASK))).text == "again"


async def test_closing_the_iterator_closes_the_connection() -> None:
    async with talking(says("Hello", hang=True)) as (model, endpoint):
        parts = model.stream(ASK)
        assert isinstance(await anext(parts), TextPart)
        await parts.aclose()
        await until(lambda: endpoint.open == 0)


async def test_a_retired_model_finishes_its_reply_and_then_closes() -> None:
    async with talking(says("Hello", delay=0.02), refuses(400, "no"), says("again")) as (model, endpoint):
        task = asyncio.create_task(output_of_model(model.stream(ASK)))
        await until(lambda: endpoint.requests)
        await model.retire()
        assert (await task).text == "Hello" and endpoint.disconnects == 0
        await until(lambda: endpoint.open == 0)
        assert (await output_of_model(model.stream(ASK))).error is not None
        assert (await output_of_model(model.stream(ASK))).text == "again"
        await until(lambda: endpoint.open == 0)


async def test_cancelling_before_the_response_begins_closes_the_connection() -> None:
    async with talking(Answer(mute=True)) as (model, endpoint):
        task = asyncio.create_task(output_of_model(model.stream(ASK)))
        await until(lambda: endpoint.requests)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await until(lambda: endpoint.open == 0)


async def test_a_connection_is_reused_for_the_next_request() -> None:
    async with talking(says("one"), says("two")) as (model, endpoint):
        await output_of_model(model.stream(ASK))
        await output_of_model(model.stream(ASK))
        assert endpoint.connections == 1


@pytest.mark.parametrize(
    ("answer", "expect"),
    [
        (Answer(mute=True), "sent nothing for 0.2 s"),
        (says("Hel", hang=True, comments=0.02, done=False), ""),
        (
            Answer([chunk(content="Hel")], hang=True, comments=0.02, done=False),
            "stopped sending during the reply",
        ),
    ],
)
async def test_an_endpoint_that_falls_silent_is_not_waited_for(answer: Answer, expect: str) -> None:
    first = 0.2 if answer.mute else 20  # the other endpoints have begun to answer
    heard, _ = await asked(answer, first_token_seconds=first, between_chunks_seconds=0.6)
    if expect:
        assert heard.error is not None and expect in str(heard.error) and heard.error.retryable
    else:
        assert heard.error is None and heard.text == "Hel"


async def test_a_connection_lost_after_the_end_of_the_reply_loses_nothing() -> None:
    heard, _ = await asked(says("all of it", reset=True, done=False))
    assert heard.error is None and heard.text == "all of it"


async def test_an_address_without_a_version_is_retried_with_it_and_remembered() -> None:
    async with talking(says("a"), says("b"), path="") as (model, endpoint):
        assert (await output_of_model(model.stream(ASK))).text == "a"
        assert (await output_of_model(model.stream(ASK))).text == "b"
        assert [other.path for other in endpoint.others] == ["/chat/completions"]


async def test_a_base_url_that_returns_a_web_page_is_retried_with_v1() -> None:
    def page(request: Any) -> Answer:
        if request.path.startswith("/v1"):
            return says("a")
        return Answer(body="<html><title>Chat UI</title></html>", headers={"content-type": "text/html"})

    heard, _ = await asked(page, prefix="", path="")
    assert heard.text == "a"


async def test_an_unknown_model_does_not_lead_to_another_address() -> None:
    heard, endpoint = await asked(refuses(404, "The model `m` does not exist"), path="/v1")
    assert len(endpoint.requests) == 1
    assert heard.error is not None and "“m”" in heard.error.next_step


@pytest.mark.parametrize(
    ("location", "step"),
    [
        ("https://u:p@else.example/v1/chat/completions?a=b", "to https://else.example/v1. Set base_url"),
        ("/api/v1/chat/completions/", "/api/v1. Set base_url to that URL."),
        ("/v1/chat/completions/", "/v1/chat/completions/. The endpoint, or a proxy in front of it, is"),
        ("https://[", "Check base_url."),
    ],
)
async def test_a_redirect_is_reported_and_not_followed(location: str, step: str) -> None:
    heard, _ = await asked(Answer(status=307, body="", headers={"Location": location}))
    assert heard.error is not None and step in heard.error.next_step


async def test_openai_keys_and_headers_are_not_sent_to_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: secret\nAuthorization: Bearer sk-mine")
    _, endpoint = await asked(says("a"))
    sent = json.dumps(dict(endpoint.requests[0].headers)).lower()
    assert "mine" not in sent and "secret" not in sent


async def test_no_proxy_is_used_for_a_model_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    heard, _ = await asked(says("direct"))
    assert heard.text == "direct"


@pytest.mark.parametrize(
    "name", ["User-Agent", "user-agent", "AUTHORIZATION", "authorization", "accept", "content-type"]
)
async def test_a_header_of_the_profile_is_sent_once_in_any_spelling(name: str) -> None:
    value = "application/json" if name == "content-type" else "own"
    _, endpoint = await asked(says("a"), headers={name: value})
    assert endpoint.requests[0].headers[name.lower()] == value


@pytest.mark.parametrize("address", ["", "not a url", "ftp://host/v1", "http://"])
def test_an_invalid_address_is_rejected_before_anything_is_sent(address: str) -> None:
    with pytest.raises(ConfigError, match="is not an HTTP URL"):
        OpenAIChat(ModelProfile("test", address, "m"))


def test_a_key_that_cannot_be_sent_is_rejected_without_being_shown() -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAIChat(ModelProfile("test", "http://localhost/v1", "m", api_key=Secret("sk-ключ")))
    assert "ключ" not in str(caught.value)


def test_the_model_package_is_imported_without_the_client_library() -> None:
    code = (
        "import sys, tui.model.openai_api.openai_chat, tui.model.endpoints.profile;"
        "import tui.addons.demo.demo, tui.model.retry;"
        "import tui.model.endpoints.listing;"
        "print(sorted({'openai', 'httpx2', 'pydantic'} & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert shown.stdout.strip() == "[]"


async def test_after_a_reply_without_think_tags_the_next_one_is_read_as_text() -> None:
    async with talking(says("Hm.</think>4"), says("Five"), says("Six")) as (model, _):
        heard = [await output_of_model(model.stream(ASK)) for _ in range(3)]
    assert [(one.text, one.reasoning) for one in heard] == [("4", "Hm."), ("Five", "Five"), ("Six", "")]


async def test_the_endless_body_of_an_error_is_read_up_to_a_limit() -> None:
    body = b'{"error": {"message": "out of order", "more": "' + b" " * 2**20
    endless = Answer(raw=body, status=400, headers={"content-type": "text/plain"}, hang=True)
    heard, _ = await asked(endless, first_token_seconds=5)
    assert heard.error is not None and "out of order" in heard.error.message


async def test_the_body_of_an_error_is_unpacked_up_to_a_limit() -> None:
    body = gzip.compress(b"out of order" + b" " * 64 * 2**20, 1)
    tracemalloc.start()
    try:
        heard, _ = await asked(Answer(raw=body, status=400, headers={"content-encoding": "gzip"}))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert heard.error is not None and "out of order" in heard.error.message
    assert most < 32 * 2**20


OLLAMA = ModelProfile("ollama", "http://127.0.0.1:11434/v1", "m")
LONG = ModelRequest("", [UserMessage("word " * 20_000)])


def test_far_fewer_tokens_than_sent_give_a_warning_with_the_fix() -> None:
    said = truncation_warning(OLLAMA, LONG, Usage(4_096, 10))
    assert "4,096 of at least 20,000 tokens" in said and "OLLAMA_CONTEXT_LENGTH=65536" in said
    assert "num_ctx" in said


def test_a_server_that_is_not_ollama_gets_its_own_advice() -> None:
    other = ModelProfile("lmstudio", "http://127.0.0.1:1234/v1", "m")
    assert "Raise its context size to 65,536 tokens." in truncation_warning(other, LONG, Usage(4_096, 10))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("word " * 20_000, 20_000),
        ("北京天气如何" * 3_000, 9_000),
        ("        return value\n" * 3_000, 12_000),
        ("=" * 100_000, 1_600),
    ],
    ids=["English", "Chinese", "code", "a rule"],
)
def test_a_plausible_token_count_gives_no_warning(text: str, tokens: int) -> None:
    assert truncation_warning(OLLAMA, ModelRequest("", [UserMessage(text)]), Usage(tokens, 10)) == ""


@pytest.mark.parametrize(
    ("profile", "request_", "usage"),
    [
        (OLLAMA, LONG, None),
        (OLLAMA, LONG, Usage(estimated=True)),
        (OLLAMA, ASK, Usage(1, 1)),
        (ModelProfile("x", "https://api.example.com/v1", "m"), LONG, Usage(9, 1)),
    ],
    ids=["not counted", "estimated", "short", "remote"],
)
def test_where_a_low_count_means_nothing_there_is_no_warning(
    profile: ModelProfile, request_: ModelRequest, usage: Usage | None
) -> None:
    assert truncation_warning(profile, request_, usage) == ""


def test_truncated_tools_give_a_warning() -> None:
    tools = [ToolSpec(f"t{n}", "does one thing " * 20, {"type": "object"}) for n in range(100)]
    assert truncation_warning(OLLAMA, ModelRequest("", [UserMessage("hi")], tools), Usage(2_000, 1))
