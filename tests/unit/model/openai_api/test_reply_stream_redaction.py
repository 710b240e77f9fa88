"""A key that an endpoint quotes never leaves the model package: not in an error, a list or a reply."""

import base64
import json
from collections.abc import Iterable
from typing import Any

import pytest

from tests.endpoint import Answer, Endpoint, calls, chunk, refuses
from tests.streams import ModelOutput, output_at
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ConfigError, ModelError
from tui.core.ports import (
    ModelPart,
    ModelRequest,
    MonotonicClock,
    ReasoningPart,
    ReplyPart,
    TextPart,
    ToolSpec,
)
from tui.core.secrets.redact import Redactor, Secret
from tui.core.traffic import Captured
from tui.model.endpoints.endpoint_errors import connection_error
from tui.model.endpoints.listing import offered_by
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.openai_chat import OpenAIChat
from tui.model.openai_api.reply_stream import ReplyRedactor
from tui.model.retry import retried

KEY = "lm-4kq9ZtYw7Hs2Vb8XrMd3Jp6c"
ASK = ModelRequest("", [UserMessage("hi")], [ToolSpec("search", "", {"type": "object"})])
MARK = "[redacted:models.test.api_key]"


def profile(base_url: str, **fields: Any) -> ModelProfile:
    return ModelProfile("test", base_url, "m", **{"api_key": Secret(KEY), **fields})


async def asked(answer: Answer, **fields: Any) -> tuple[ModelOutput, list[ModelPart]]:
    async with Endpoint([answer]) as endpoint:
        heard = await output_at(profile(endpoint.base_url, **fields), ASK)
    return heard, heard.parts


def parts_of_key(text: str) -> list[str]:
    """Return the eight-character parts of the key that occur in a text."""
    return [KEY[at : at + 8] for at in range(len(KEY) - 7) if KEY[at : at + 8] in text]


def texts_of(error: ModelError) -> str:
    return f"{error} {error.args} {vars(error)} {error!r} {error.generation}"


QUOTES = {
    "whole": KEY,
    "as a header": f"Authorization: Bearer {KEY}",
    "in base64": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "in a URL": f"GET https://h/v1/chat?key={KEY}&x=1",
    "truncated": KEY[:18],
    "its end": KEY[-14:],
    "masked": f"{KEY[:9]}*****{KEY[-4:]}",
    "masked with dots": f"{KEY[:6]}...{KEY[-9:]}",
    "cut by our own limit": "x " * 137 + KEY,
}


@pytest.mark.parametrize("quote", QUOTES)
async def test_a_rejection_and_an_error_in_a_stream_are_shown_without_the_key_that_they_quote(quote: str):
    heard, _ = await asked(refuses(401, f"Incorrect API key provided: {QUOTES[quote]}", code=KEY))
    assert heard.error is not None and heard.error.status == 401
    assert not parts_of_key(texts_of(heard.error)) and "Incorrect API key" in heard.error.message
    error = {"error": {"message": f"bad key {QUOTES[quote]}", "code": 401}}
    heard, _ = await asked(Answer([chunk(content="Hello"), error]))
    assert heard.error is not None and heard.text == "Hello"
    assert not parts_of_key(texts_of(heard.error)) and "bad key" in heard.error.message


ESCAPED = b"".join(b"\\u%04x" % ord(char) for char in KEY[:18])
PAGES = {
    "an HTML page": Answer(
        status=500, body=f"<html><body><p>{'<br>' * 900}key {KEY}</p></body></html>",
        headers={"content-type": "text/html"},
    ),
    "a page with status 200": Answer(body=f"<html><title>{KEY}</title>"),
    "a redirect": Answer(status=302, headers={"location": f"https://login/?next=1&token={KEY}"}, body=""),
    "a content type": Answer(body="hello", headers={"content-type": f"text/{KEY}"}),
    "an event that is no JSON": Answer(raw=f"data: key is {KEY}\n\n".encode()),
    "errors in a list": Answer([[{"error": {"message": f"bad key {KEY[:18]}"}}]]),
    "another key in a stream": Answer([{"error": {"message": f"bad key sk-{KEY[3:]}"}}]),
    "its beginning, escaped": Answer(raw=b'data: {"error": "bad key %b"}\n\n' % ESCAPED),
    "a call that failed": refuses(400, "tool_use_failed", failed_generation=f"<tool>{KEY}</tool>"),
}  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
async def test_an_unexpected_response_is_shown_without_the_key_that_it_quotes(page: str):
    heard, _ = await asked(PAGES[page])
    assert heard.error is not None and not parts_of_key(texts_of(heard.error))


async def test_the_reason_for_a_retry_is_shown_without_the_key():
    reasons: list[ModelPart] = []
    async with Endpoint(
        [refuses(503, f"overloaded, key {KEY}", headers={"retry-after": "0.01"})]
    ) as endpoint:
        model = OpenAIChat(profile(endpoint.base_url))
        with pytest.raises(ModelError):
            async for part in retried(model, ASK, MonotonicClock(), chance=lambda: 0.0):
                reasons.append(part)
        await model.aclose()
    assert reasons and MARK in str(reasons) and not parts_of_key(str(reasons))


@pytest.mark.parametrize(
    "answer",
    [
        refuses(403, f"no access for {KEY}"),
        Answer(status=500, body=f"key {KEY}"),
        Answer(body=f"<html>{KEY}</html>"),
    ],
)
async def test_a_rejected_model_listing_is_shown_without_the_key(answer: Answer):
    async with Endpoint(pages={"/v1/models": answer}) as endpoint:
        with pytest.raises(ModelError) as caught:
            await offered_by(profile(endpoint.base_url))
    assert not parts_of_key(texts_of(caught.value))


async def test_a_model_listing_that_contains_the_key_is_shown_without_it():
    async with Endpoint(models=["a", f"model-for-{KEY}", f"cut-{KEY[:15]}"]) as endpoint:
        found = await offered_by(profile(endpoint.base_url))
    assert len(found) == 3 and not parts_of_key(str(found))


def test_a_failed_connection_is_shown_without_the_key_even_if_its_address_contains_it():
    error = connection_error(profile(f"http://h/{KEY}/v1"), ValueError(f"{'x' * 150} {KEY}"))
    assert not parts_of_key(texts_of(error)) and error.where == f"test (http://h/{MARK}/v1)"


@pytest.mark.parametrize(
    ("base_url", "headers", "secret"),
    [
        ("http://ada:s3cret-password@127.0.0.1:{port}/v1", {}, "s3cret-password"),
        ("http://127.0.0.1:{port}/v1?api_key=s3cret-in-query", {}, "s3cret-in-query"),
        ("http://127.0.0.1:{port}/v1", {"X-Gateway-Token": "s3cret-of-gateway"}, "s3cret-of-gateway"),
        ("http://127.0.0.1:{port}/v1", {"Authorization": "Basic s3cret-in-basic"}, "s3cret-in-basic"),
    ],
)
async def test_secrets_in_the_address_and_headers_are_redacted_too(
    base_url: str, headers: dict[str, str], secret: str
):
    async with Endpoint([refuses(401, f"not allowed: {secret}")], prefix="") as endpoint:
        endpoint.pages["/v1/chat/completions"] = refuses(401, f"not allowed: {secret}")
        heard = await output_at(profile(base_url.format(port=endpoint.port), headers=headers), ASK)
    assert heard.error is not None and secret not in texts_of(heard.error)


def test_an_invalid_address_is_shown_without_its_password():
    with pytest.raises(ConfigError) as caught:
        OpenAIChat(profile("ftp://ada:hunter2@host/v1?key=hunter2"))
    assert "hunter2" not in str(caught.value)


def said(pieces: Iterable[str], field: str) -> Answer:
    return Answer([*(chunk(**{field: piece}) for piece in pieces), chunk("stop")])


@pytest.mark.parametrize("size", [1, 3, 7, 100])
@pytest.mark.parametrize("field", ["content", "reasoning_content"])
async def test_a_key_in_a_reply_is_redacted_wherever_it_is_split(size: int, field: str):
    text = f"Your key is {KEY}, and lm- is a prefix. {KEY}"
    heard, parts = await asked(said((text[at : at + size] for at in range(0, len(text), size)), field))
    shown = heard.text if field == "content" else heard.reasoning
    assert shown == f"Your key is {MARK}, and lm- is a prefix. {MARK}"
    assert not parts_of_key(str(parts))


@pytest.mark.parametrize("end", [[], [chunk("stop")]], ids=["broken", "ended"])
async def test_a_partial_key_at_the_end_of_a_reply_or_of_a_broken_one_is_redacted(end: list[Any]):
    pieces = [chunk(content=f"key {KEY[:9]}"), chunk(content=KEY[9:20])]
    heard, parts = await asked(Answer([*pieces, *end], done=bool(end)))
    assert heard.text == "key [redacted]" and not parts_of_key(str(parts))


async def test_a_key_split_between_the_reasoning_and_the_answer_is_redacted():
    answer = Answer(
        [
            chunk(reasoning_content=f"it is {KEY[:11]}"),
            chunk(content=KEY[11:15]),
            chunk(content=f"{KEY[15:]}!"),
            chunk("stop"),
        ]
    )
    _, parts = await asked(answer)
    texts = [part.text for part in parts if isinstance(part, TextPart | ReasoningPart)]
    assert "".join(texts) == "it is [redacted]!"


@pytest.mark.parametrize(
    "pieces",
    [
        ["see lm", "-4", "k"],
        ["export KEY=sk-abcdefghijklmnop1234"],
        [f"it begins with {KEY[:14]}, or {KEY[:6]}***{KEY[-4:]}, {KEY[:14]}."],
    ],
    ids=["its beginning", "another key", "parts not at the end"],
)
async def test_text_that_only_resembles_the_key_is_shown_completely(pieces: list[str]):
    heard, _ = await asked(said(pieces, "content"))
    assert heard.text == "".join(pieces)


async def test_a_server_is_not_sent_the_key_in_the_arguments_of_a_call():
    heard, parts = await asked(calls(("search", {"query": f"a {KEY} b"})))
    assert heard.reply is not None
    assert json.loads(heard.reply.calls[0].arguments) == {"query": f"a {MARK} b"}
    assert not parts_of_key(str(parts))


async def test_provider_fields_that_are_sent_back_contain_no_key():
    details = [{"type": "reasoning.text", "index": 0, "text": piece} for piece in (KEY[:10], KEY[10:])]
    answer = Answer(
        [*(chunk(reasoning_details=[one]) for one in details), chunk(content="Hi"), chunk("stop")]
    )
    heard, parts = await asked(answer)
    assert heard.reply is not None and heard.reply.echo and not parts_of_key(str(parts))


@pytest.mark.parametrize("finish", [KEY, "stop"])
async def test_a_refusal_by_the_model_and_its_finish_reason_contain_no_key(finish: str):
    _, parts = await asked(Answer([chunk(refusal=KEY[:10]), chunk(refusal=KEY[10:]), chunk(finish)]))
    assert not parts_of_key(str(parts))


def redacted(*parts: ModelPart) -> list[ModelPart]:
    clear = ReplyRedactor(Redactor(keys={"K": KEY}))
    return [*(one for part in parts for one in clear.take(part)), *clear.rest()]


def test_text_that_turns_out_to_be_thinking_is_not_emitted_twice():
    found = redacted(TextPart("lm-"), ReasoningPart("lm-?", replaces_text=True), ReplyPart())
    assert found == [ReasoningPart("lm-?", replaces_text=True), ReplyPart()]


def test_thinking_that_replaces_the_text_is_marked_even_if_all_of_it_is_held_back():
    found = redacted(TextPart("a"), ReasoningPart("lm-", replaces_text=True), TextPart("b"))
    assert found == [TextPart("a"), ReasoningPart("", True), ReasoningPart("lm-"), TextPart("b")]


def test_held_back_text_is_emitted_before_text_of_another_kind():
    assert redacted(TextPart("lm-"), ReasoningPart("x")) == [TextPart("lm-"), ReasoningPart("x")]


REAL = "sk-proj-Zk3JQ9vT1wYb7LmN4xRcP2sDf8gHa6UeBi5Co"
PLACEHOLDERS = "OPENAI_API_KEY=sk-proj-...\nOTHER=sk-proj-xxxxxxxxxxxx\nGOOGLE=AIzaSy...\n# like sk-proj-****"
WORDS = ["lm-studio", "anything", "sk-no-key-required", "my-local-llama-3-8b-key", "0000000000000000"]


async def test_placeholders_with_the_prefix_of_the_key_are_kept_in_a_reply_and_in_arguments():
    for field in ("content", "reasoning_content"):
        heard, _ = await asked(said([PLACEHOLDERS[:20], PLACEHOLDERS[20:]], field), api_key=Secret(REAL))
        assert (heard.text or heard.reasoning) == PLACEHOLDERS
    heard, _ = await asked(calls(("search", {"query": PLACEHOLDERS})), api_key=Secret(REAL))
    assert heard.reply is not None
    assert json.loads(heard.reply.calls[0].arguments) == {"query": PLACEHOLDERS}


@pytest.mark.parametrize("word", WORDS)
async def test_a_key_that_is_only_a_word_is_kept_in_a_reply_and_in_arguments_but_not_in_an_error(word: str):
    path = f"/home/me/.cache/{word}/models"
    heard, _ = await asked(said([path], "content"), api_key=Secret(word))
    assert heard.text == path
    heard, _ = await asked(calls(("search", {"query": path})), api_key=Secret(word))
    assert heard.reply is not None and json.loads(heard.reply.calls[0].arguments) == {"query": path}
    heard, _ = await asked(Answer([{"error": {"message": f"bad key {word}"}}]), api_key=Secret(word))
    assert heard.error is not None and word not in texts_of(heard.error)


@pytest.mark.parametrize("size", [1, 100])
async def test_a_reply_is_recorded_although_it_contains_a_key_that_is_only_a_word(size: int):
    recorded: list[Captured] = []
    async with Endpoint(
        [said(["lm-studio"[at : at + size] for at in range(0, 9, size)], "content")]
    ) as endpoint:
        await output_at(profile(endpoint.base_url, api_key=Secret("lm-studio")), ASK, recorded.append)
    assert recorded and "spells a key" not in str(recorded)


async def test_a_model_id_is_not_changed_by_a_key_that_is_only_a_word():
    async with Endpoint(models=["lm-studio/qwen"]) as endpoint:
        found = await offered_by(profile(endpoint.base_url, api_key=Secret("lm-studio")))
    assert [one.id for one in found] == ["lm-studio/qwen"]
