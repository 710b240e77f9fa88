"""Sampling requests and replies as text, and back."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tui.core.context.sampling_texts import changed, sections_of, text_of

REQUEST: dict[str, Any] = {
    "systemPrompt": "Be brief.",
    "messages": [
        {"role": "user", "content": {"type": "text", "text": "Hello\nthere"}},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi"}, {"type": "tool_use", "name": "x"}]},
        {"role": "user", "content": [{"type": "image", "data": "aGFsbG8=", "mimeType": "image/png"}]},
    ],
    "maxTokens": 10,
}


def test_every_part_has_a_heading() -> None:
    text = text_of(sections_of(REQUEST))
    assert text.startswith(
        "── system\nBe brief.\n── user\nHello\nthere\n── assistant\nHi\n── assistant: tool_use"
    )
    assert "── user: image image/png, 5 B" in text


def test_an_unchanged_text_changes_nothing() -> None:
    assert changed(REQUEST, text_of(sections_of(REQUEST))) == (REQUEST, "")


def test_an_edited_text_changes_only_its_own_part() -> None:
    text = text_of(sections_of(REQUEST)).replace("there", "you").replace("Be brief.", "Be long.\n")
    found, problem = changed(REQUEST, text)
    assert problem == ""
    assert found["systemPrompt"] == "Be long.\n"
    assert found["messages"][0]["content"]["text"] == "Hello\nyou"
    assert found["messages"][1:] == REQUEST["messages"][1:]
    assert REQUEST["systemPrompt"] == "Be brief."


def test_a_missing_heading_is_reported() -> None:
    text = text_of(sections_of(REQUEST)).replace("── system", "system")
    assert changed(REQUEST, text) == (REQUEST, "Do not change lines that start with ──.")


def test_a_reply_is_one_part() -> None:
    reply = {"role": "assistant", "content": {"type": "text", "text": "Hi"}, "model": "m"}
    assert text_of(sections_of(reply)) == "── reply\nHi"
    assert changed(reply, "── reply\nHo")[0]["content"]["text"] == "Ho"


@example("── user", "── system\n── user\nx")
@example("a\n── user\n", "\n── reply")
@given(st.text(), st.text())
def test_text_that_looks_like_a_heading_stays_text(system: str, said: str) -> None:
    request = {
        "systemPrompt": system,
        "messages": [{"role": "user", "content": {"type": "text", "text": said}}],
    }
    sections = list(sections_of(request))
    assert len(sections) == 2
    found, problem = changed(request, text_of(sections) + "!")
    assert problem == "" and found["messages"][0]["content"]["text"].endswith("!")
