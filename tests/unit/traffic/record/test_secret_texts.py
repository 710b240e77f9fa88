"""Secrets in the pieces of a streamed model reply, and reading it as one value."""

import base64
import json
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tui.core.secrets.redact import Redactor
from tui.core.traffic import Captured, Direction, Kind
from tui.traffic.record.redaction import keep
from tui.traffic.record.secret_texts import joined

SECRET = 'Qz7"Lm2\\Xw9RtY4/bNc8VdH3é'
OTHER = "ordinary-canary-55aa11"
REDACTOR = Redactor({"servers.a.env.KEY": SECRET, "OTHER": OTHER})
SAID = f"it is {SECRET} {OTHER}, and {OTHER} again."
CLEAR = "it is [redacted:servers.a.env.KEY] [redacted:OTHER], and [redacted:OTHER] again."


def stream(deltas: list[dict[str, Any]], end: bytes = b"\n\n") -> bytes:
    chunks = [{"id": "c-1", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return b"".join(b"data: " + json.dumps(chunk).encode() + end for chunk in chunks) + b"data: [DONE]" + end


def recorded(raw: bytes) -> bytes:
    captured = Captured("model:m", Direction.IN, 1, 1, raw, Kind.MODEL_REPLY)
    body, marks, _ = keep(captured, REDACTOR.redact_bytes, 0, REDACTOR.arguments)
    assert all(body[one.start : one.end].startswith(b"[redacted:") for one in marks)
    return body


def deltas(body: bytes) -> Iterator[dict[str, Any]]:
    for line in body.splitlines():
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])["choices"][0]["delta"]


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % len(text) for cut in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


CUTS = st.lists(st.integers(0, 1000), max_size=120)


@given(CUTS, st.sampled_from(["content", "reasoning", "reasoning_content", "refusal"]))
def test_a_secret_streamed_in_any_text_pieces_is_redacted(cuts: list[int], member: str):
    body = recorded(stream([{member: piece} for piece in pieces(SAID, cuts)]))
    assert "".join(delta[member] for delta in deltas(body)) == CLEAR


@given(CUTS)
def test_a_secret_streamed_in_any_argument_pieces_is_redacted(cuts: list[int]):
    parts = pieces(json.dumps({"text": SAID}), cuts)
    calls = [{"tool_calls": [{"index": 1, "function": {"arguments": part}}]} for part in parts]
    other = {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}
    mixed = [delta for call in calls for delta in (call, other)]
    found = list(deltas(recorded(stream(mixed))))
    said = "".join(delta["tool_calls"][0]["function"]["arguments"] for delta in found[::2])
    assert json.loads(said) == {"text": CLEAR}


def test_a_secret_in_single_characters_is_redacted_in_base64_and_content_parts_too():
    for said in (SECRET, base64.b64encode(SECRET.encode()).decode()):
        body = recorded(stream([{"content": [{"type": "text", "text": char}]} for char in said]))
        assert "".join(delta["content"][0]["text"] for delta in deltas(body)) == (
            "[redacted:servers.a.env.KEY]"
        )


FORMS = {
    "marked": lambda raw: b"\xef\xbb\xbf" + raw,
    "two lines": lambda raw: raw.replace(b', "choices"', b',\ndata: "choices"'),
    "retry first": lambda raw: b"retry: 9\n" + raw,
    "no empty lines": lambda raw: raw.replace(b"\n\n", b"\n"),
    "cut": lambda raw: raw.removesuffix(b"\n\ndata: [DONE]\n\n"),
}


@each_case("form", FORMS)
def test_a_secret_is_redacted_in_every_form_of_stream_that_is_read(form: str):
    raw = FORMS[form](stream([{"content": piece} for piece in pieces(SAID, [*range(0, 90, 7)])]))
    body = recorded(raw)
    assert joined(raw)["text"] == SAID and joined(body)["text"] == CLEAR
    assert [body.startswith(b"\xef\xbb\xbf"), body.startswith(b"retry")] == [
        form == "marked",
        form == "retry first",
    ]


def test_two_adjacent_secrets_are_redacted():
    body = recorded(stream([{"content": char} for char in f"{SECRET}{OTHER}."]))
    assert "".join(delta["content"] for delta in deltas(body)) == "[redacted:servers.a.env.KEY]."


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_only_events_with_a_piece_of_a_secret_change(end: bytes):
    around, inside = [{"content": "Well,  "}], [{"content": char} for char in OTHER]
    body = recorded(stream([*around, *inside, *around], end))
    lines, before = body.splitlines(keepends=True), stream(around, end).splitlines(keepends=True)
    assert lines[:2] == before[:2] and lines[-4:] == before and body.count(end) == len(OTHER) + 3
    assert [delta["content"] for delta in deltas(body)][1:-1] == ["[redacted:OTHER]"] + [""] * (
        len(OTHER) - 1
    )


def test_a_stream_without_secrets_is_kept_byte_for_byte():
    raw = b": ping\n\nevent: x\n" + stream([{"content": "Oslo "}] * 5).replace(b": ", b":  ")
    assert recorded(raw) == raw


def test_redacting_a_long_stream_full_of_secrets_takes_linear_time():
    def seconds(count: int) -> float:
        raw = stream([{"content": part} for part in (OTHER[:9], OTHER[9:], " ") * count])
        start = time.process_time()
        assert OTHER[:9].encode() not in recorded(raw)
        return time.process_time() - start

    seconds(10)
    assert seconds(4000) < 25 * seconds(400) + 0.5


# ---- a reply as one value


def events(*chunks: object) -> bytes:
    return (
        b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"
    )


def delta(**fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields}]}


def test_text_reasoning_calls_and_usage_are_joined():
    body = events(
        delta(reasoning_content="let me "),
        delta(reasoning_content="see"),
        delta(content="It "),
        delta(content="rains."),
        delta(tool_calls=[{"index": 0, "function": {"name": "get", "arguments": '{"a"'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ":1}"}}]),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        {"choices": [], "usage": {"prompt_tokens": 3}},
    )
    told = joined(body)
    assert told["text"] == "It rains."
    assert told["reasoning"] == "let me see"
    assert told["tool_calls"] == [{"name": "get", "arguments": '{"a":1}'}]
    assert (told["finish_reason"], told["usage"]) == ("tool_calls", {"prompt_tokens": 3})
    assert len(told["chunks"]) == 9 and told["chunks"][-1] == "[DONE]"


@given(st.binary(max_size=300))
def test_any_stream_is_read_without_an_exception(body):
    assert isinstance(joined(b"data: " + body)["chunks"], list)
