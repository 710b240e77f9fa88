"""Responses with status 200, in every form and truncated anywhere, through the real client."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.clocks import SkippedWaits
from tests.endpoint import DONE, Answer, Endpoint, chunk
from tests.streams import ModelOutput, output_at, output_of_model
from tui.core.conversation.conversation import UserMessage
from tui.core.errors import ModelError
from tui.core.ports import ModelPart, ModelRequest, ReasoningPart, TextPart, ToolSpec
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.accumulator import Accumulator
from tui.model.openai_api.reply_stream import PAUSES_FROM, ReplyConnection, ReplyStream, joined

ASK = ModelRequest("", [UserMessage("hi")], [ToolSpec("search", "", {"type": "object"})])
HELLO = (chunk(content="Hé"), chunk(content="llo 😀"), chunk("stop"))
WHOLE = {"choices": [{"message": {"content": "Héllo 😀"}, "finish_reason": "stop"}], "usage": None}
JSON = {"content-type": "application/json"}
PLAIN = {"content-type": "text/plain"}


def sse(*events: Any, before: bytes = b"data: ", end: bytes = b"\n\n") -> bytes:
    texts = [
        one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode() for one in events
    ]
    return b"".join(before + text + end for text in texts)


def called(arguments: str) -> Any:
    return chunk(tool_calls=[{"index": 0, "id": "c", "function": {"name": "search", "arguments": arguments}}])


async def asked(answer: Answer) -> ModelOutput:
    async with Endpoint([answer]) as endpoint:
        return await output_at(ModelProfile("test", endpoint.base_url, "m"), ASK)


async def test_a_token_count_behind_the_end_of_the_stream_is_read() -> None:
    count = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
    heard = await asked(Answer(raw=sse(*HELLO) + DONE + sse(count, chunk(content="more"))))
    assert heard.text == "Héllo 😀" and heard.reply is not None
    assert heard.reply.usage is not None and heard.reply.usage.prompt == 7


SAME = {
    "CRLF": Answer(raw=sse(*HELLO, end=b"\r\n\r\n") + DONE, seed=1),
    "CR": Answer(raw=sse(*HELLO, end=b"\r\r"), seed=2),
    "no space": Answer(raw=sse(*HELLO, before=b"data:") + b"data:[DONE]\n\n", seed=3),
    "one line feed": Answer(raw=sse(*HELLO, end=b"\n") + b"data: [DONE]\n"),
    "comments": Answer(raw=b": OPENROUTER PROCESSING\n\n" + sse(*HELLO, before=b": keep\ndata: ")),
    "names and ids": Answer(raw=sse(*HELLO, before=b"event: message\nid: 7\nretry: 10\ndata: ")),
    "data in several lines": Answer(
        raw=sse(json.dumps(HELLO[0], indent=1).replace("\n", "\ndata: ").encode(), *HELLO[1:])
    ),
    "byte order mark": Answer(raw=b"\xef\xbb\xbf" + sse(*HELLO)),
    "no [DONE]": Answer(raw=sse(*HELLO)),
    "[DONE] but no finish reason": Answer(raw=sse(*HELLO[:2]) + DONE),
    "more behind [DONE]": Answer(raw=sse(*HELLO) + DONE + sse(chunk(content="more"))),
    "a tail that was cut off": Answer(raw=sse(*HELLO) + b'data: {"choices":[],"usa'),
    "broken JSON behind the end": Answer(raw=sse(*HELLO, b'{"choices":[],"usa')),
    "several chunks in one event": Answer(raw=sse(list(HELLO))),
    "a whole completion": Answer(body=WHOLE),
    "a whole completion, waited for": Answer(
        raw=b"\n \n" + json.dumps(WHOLE, indent=2).encode(), headers=JSON
    ),
    "a whole completion of no type": Answer(raw=json.dumps(WHOLE).encode(), headers=PLAIN, seed=4),
    "a whole completion as a stream": Answer(raw=json.dumps(WHOLE, indent=2).encode()),
    "lines of JSON": Answer(raw="\n".join(map(json.dumps, HELLO)).encode(), headers=PLAIN),
}


@pytest.mark.parametrize("name", SAME)
async def test_a_reply_is_the_same_in_every_stream_format(name: str) -> None:
    heard = await asked(SAME[name])
    assert heard.error is None and heard.text == "Héllo 😀" and heard.reply is not None


FAILURES = {
    "a page": (
        Answer(raw=b"<html><title>Login</title>", headers={"content-type": "text/html"}),
        "Login",
        "base_url",
    ),
    "a page as stream": (Answer(raw=b"<html><title>Login</title>"), "Login", "base_url"),
    "a sentence": (Answer(raw=b"Ollama is running", headers=PLAIN), "Ollama is running", "base_url"),
    "no bytes": (Answer(raw=b"", headers=JSON), "not an SSE stream", "base_url"),
    "no reply": (Answer(body={"status": "ok"}), "not an SSE stream", "base_url"),
    "no events": (Answer(raw=b": hi\n\n"), "ended early", "Retry"),
    "no finish": (Answer(raw=sse(*HELLO[:2])), "ended early", "Retry"),
    "[DONE] only": (Answer(raw=DONE), "ended early", "Retry"),
    "[DONE] behind a call without end": (Answer(raw=sse(called("{}")) + DONE), "ended early", "Retry"),
    "cut in the middle": (Answer(raw=sse(*HELLO)[:-30]), "ended early", "Retry"),
    "broken off": (Answer(raw=sse(*HELLO)[:-30], reset=True), "connection lost during the reply", "Retry"),
    "broken JSON": (Answer(raw=sse(b'{"choices":[', *HELLO)), "invalid JSON", "Retry"),
    "deep": (Answer(raw=sse(b'{"a":' * 50_000)), "nested too deeply", "Retry"),
    "an error by name": (
        Answer(raw=b'event: error\ndata: {"message":"died","type":"server_error"}\n\n'),
        "died",
        "Retry",
    ),
    "an error in words": (Answer(raw=b"event: error\ndata: upstream died\n\n"), "upstream died", "Retry"),
    "an error of a key": (
        Answer(raw=sse({"error": {"message": "Invalid key", "code": 401}})),
        "Invalid key",
        "config key",
    ),
    "an error of length": (
        Answer(raw=sse({"error": {"message": "maximum context length is 8192 tokens"}})),
        "8192",
        "new conversation",
    ),
    "an error as JSON": (Answer(body={"error": {"message": "model x not found"}}), "model x", "model"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_response_without_a_complete_reply_fails_with_the_cause_and_the_next_step(name: str) -> None:
    answer, cause, step = FAILURES[name]
    heard = await asked(answer)
    assert heard.reply is None and heard.error is not None
    assert cause in heard.error.message and step in heard.error.next_step
    assert "127.0.0.1" in heard.error.where and "Traceback" not in str(heard.error)


@pytest.mark.parametrize("is_json", [False, True])
async def test_a_line_of_thirty_megabytes_is_rejected_quickly(is_json: bool) -> None:
    long = "x" * 30_000_000
    raw = sse(chunk("stop", content=long)) if is_json else b"data: " + long.encode()
    began = time.process_time()
    heard = await asked(Answer(raw=raw))
    assert heard.error is not None and "exceeds" in heard.error.message and heard.error.next_step
    assert time.process_time() - began < 5


async def test_excessively_nested_arguments_are_read_without_an_error() -> None:
    heard = await asked(Answer(raw=sse(called('{"a":' * 50_000 + "1" + "}" * 50_000), chunk("tool_calls"))))
    assert heard.error is None and heard.reply is not None and len(heard.reply.calls) == 1


SPOKEN = sse(
    chunk(reasoning_content="hm…"),
    chunk(content="Héllo 😀 "),
    chunk(content="<think>"),
    called('{"q":'),
    chunk(tool_calls=[{"index": 0, "function": {"arguments": '"é"}'}}]),
    chunk("tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
)


def heard_in(blocks: list[bytes]) -> ModelOutput:
    """Read a response made of these blocks, without a network."""

    async def given_blocks() -> AsyncIterator[bytes]:
        for block in blocks:
            yield block

    async def read() -> ModelOutput:
        deadline = asyncio.get_running_loop().time() + 60
        connection = ReplyConnection(given_blocks(), "text/event-stream", deadline, ())
        profile = ModelProfile("test", "http://127.0.0.1/v1", "m")
        return await output_of_model(ReplyStream(profile, connection, Accumulator(["search"])).parts())

    return asyncio.run(read())


def assert_is_whole(heard: ModelOutput) -> None:
    assert (heard.text, heard.reasoning) == ("Héllo 😀 <think>", "hm…")
    assert heard.reply is not None and [call.arguments for call in heard.reply.calls] == ['{"q":"é"}']


@each_case("first", range(1, 17))
def test_splitting_the_stream_at_any_byte_changes_nothing(first: int) -> None:
    edges = [0, *range(first, len(SPOKEN), 16), len(SPOKEN)]
    assert_is_whole(heard_in([SPOKEN[start:stop] for start, stop in itertools.pairwise(edges)]))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(1, len(SPOKEN) - 1), max_size=40, unique=True),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_splitting_the_stream_at_several_bytes_changes_nothing(cuts: list[int], end: bytes) -> None:
    raw = SPOKEN.replace(b"\n", end)
    edges = [0, *sorted(cuts), len(raw)]
    assert_is_whole(heard_in([raw[start:stop] for start, stop in itertools.pairwise(edges)]))


def test_a_stream_truncated_at_any_byte_runs_no_call_and_repeats_no_text() -> None:
    finished = SPOKEN.rindex(b'"tool_calls"')
    for end in range(1, finished):
        heard = heard_in([SPOKEN[:end]])
        assert heard.reply is None and heard.error is not None
        assert "Héllo 😀 <think>".startswith(heard.text) and "hm…".startswith(heard.reasoning)


# ---- many tokens a second


class Tokens:
    """A response in which a token arrives every `gap` seconds; a read returns all that have arrived."""

    def __init__(self, count: int, gap: float, *, stalls: bool = False) -> None:
        self._count, self._gap, self._stalls = count, gap, stalls
        self.reads = 0
        self.loop = SkippedWaits()

    async def blocks(self) -> AsyncIterator[bytes]:
        began, sent = self.loop.time(), 0
        while sent < self._count:
            await asyncio.sleep(max(0.0, began + (sent + 1) * self._gap - self.loop.time()))
            here = int((self.loop.time() - began) / self._gap + 0.01) if self._gap else sent + 1
            new = range(sent, min(here, self._count))
            sent += len(new)
            self.reads += 1
            yield sse(*(chunk(content=f"{number} ") for number in new))
        if self._stalls:
            await asyncio.sleep(10_000)
        yield sse(chunk("stop")) + DONE

    def heard(self) -> ModelOutput:
        async def read() -> ModelOutput:
            connection = ReplyConnection(self.blocks(), "text/event-stream", self.loop.time() + 60, ())
            profile = ModelProfile("test", "http://127.0.0.1/v1", "m")
            return await output_of_model(ReplyStream(profile, connection, Accumulator()).parts())

        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            return runner.run(read())


def test_bytes_that_arrive_while_a_long_reply_pauses_are_read_together() -> None:
    tokens = Tokens(500, 0.01)
    heard = tokens.heard()
    assert heard.text == "".join(f"{number} " for number in range(500)) and heard.reply is not None
    assert PAUSES_FROM < tokens.reads < 250


def test_text_received_before_a_stall_is_emitted() -> None:
    heard = Tokens(100, 0.01, stalls=True).heard()
    assert heard.text.endswith("98 99 ") and heard.error is not None


def test_a_short_reply_is_read_without_a_pause() -> None:
    tokens = Tokens(PAUSES_FROM - 1, 0.01)
    tokens.heard()
    assert tokens.reads == PAUSES_FROM - 1 and tokens.loop.skipped < 0.01 * PAUSES_FROM


def test_available_bytes_are_read_without_a_pause() -> None:
    tokens = Tokens(500, 0.0)
    assert tokens.heard().text.endswith("499 ") and tokens.loop.skipped == 0.0


def test_thinking_that_replaces_text_remains_a_separate_part() -> None:
    parts = [TextPart("a"), ReasoningPart("a", replaces_text=True), ReasoningPart("b"), TextPart("c")]
    assert list(joined(parts)) == parts


def test_text_before_an_error_is_emitted_first() -> None:
    def failing() -> Iterator[ModelPart]:
        yield TextPart("a")
        yield TextPart("b")
        raise ModelError("died")

    parts = joined(failing())
    assert next(parts) == TextPart("ab")
    with pytest.raises(ModelError, match="died"):
        next(parts)
