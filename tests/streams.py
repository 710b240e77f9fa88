"""Recorded provider streams, their expected results, and a collector for a model's output.

`tests/corpus/llm_streams/INDEX.json` has the result of a tolerant client for each stream.
"""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tui.core.errors import ModelError
from tui.core.ports import ModelPart, ModelRequest, ReasoningPart, ReplyPart, TextPart
from tui.core.traffic import TrafficSink
from tui.model.endpoints.profile import ModelProfile
from tui.model.openai_api.accumulator import Accumulator
from tui.model.openai_api.openai_chat import OpenAIChat

FOLDER = Path(__file__).parent / "corpus" / "llm_streams"
INDEX: dict[str, Any] = json.loads((FOLDER / "INDEX.json").read_text(encoding="utf-8"))
NATIVE = [name for name, entry in INDEX.items() if name[0].isdigit() and "dialect" not in entry]


def chunks_of(name: str) -> list[Any]:
    """Return the chunks of a recorded stream."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def expected(name: str) -> dict[str, Any]:
    """Return the expected result of a recorded stream."""
    return dict(INDEX[name]["expect"])


def tools_of(name: str) -> list[str]:
    """Return the names of the tools that were offered when the stream was recorded."""
    return list(INDEX[name]["tools"])


@dataclass
class ModelOutput:
    """A model's output, assembled in the same way as in the loop."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    reply: ReplyPart | None = None
    error: ModelError | None = None
    parts: list[ModelPart] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        return "".join(self.thoughts)

    def take(self, part: ModelPart) -> None:
        self.parts.append(part)
        match part:
            case TextPart(text):
                self.texts.append(text)
            case ReasoningPart(text, replaces_text):
                self.thoughts.append(text)
                if replaces_text:
                    self.texts.clear()
            case ReplyPart():
                self.reply = part

    def assert_is(self, expect: dict[str, Any]) -> None:
        assert self.text == expect.get("content", "")
        assert self.reasoning == expect.get("reasoning", "")
        if expect.get("error"):
            assert self.reply is None
            assert self.error is not None and expect["error"] in str(self.error)
            return
        if self.error is not None:
            raise self.error
        assert self.reply is not None
        assert self.reply.finish == expect["finish"]
        assert self.reply.refusal == expect.get("refusal", "")
        if "has_usage" in expect:
            assert (self.reply.usage is not None) is expect["has_usage"]
        wanted = expect.get("tool_calls", [])
        assert [call.name for call in self.reply.calls] == [call["name"] for call in wanted]
        for call, want in zip(self.reply.calls, wanted, strict=True):
            assert json.loads(call.arguments) == json.loads(want["arguments"])
            assert call.id == want.get("id", call.id) and call.id
        self._assert_echo(expect.get("echo", {}))

    def _assert_echo(self, echo: dict[str, Any]) -> None:
        assert self.reply is not None
        kept = self.reply.echo or {}
        if "extra_content" in echo:
            assert [call.extra for call in self.reply.calls] == echo["extra_content"]
        if "reasoning_content" in echo:
            assert kept["reasoning_content"] == echo["reasoning_content"]
        if "reasoning_details" in echo:
            assert len(kept["reasoning_details"]) == echo["reasoning_details"]


def output_of(accumulator: Accumulator, chunks: Iterable[Any]) -> ModelOutput:
    """Feed chunks to an accumulator and collect its output."""
    heard = ModelOutput()
    try:
        for chunk in chunks:
            for part in accumulator.feed(chunk):
                heard.take(part)
        for part in accumulator.finish():
            heard.take(part)
    except ModelError as error:
        heard.error = error
        for part in accumulator.kept_back():
            heard.take(part)
    return heard


async def output_of_model(parts: AsyncIterator[ModelPart]) -> ModelOutput:
    """Collect the output of a model."""
    heard = ModelOutput()
    try:
        async for part in parts:
            heard.take(part)
    except ModelError as error:
        heard.error = error
    return heard


async def output_at(
    profile: ModelProfile,
    request: ModelRequest,
    sink: TrafficSink = lambda captured: None,
) -> ModelOutput:
    """Ask the model of a profile once, and close its connections."""
    model = OpenAIChat(profile, sink)
    try:
        return await output_of_model(model.stream(request))
    finally:
        await model.aclose()
