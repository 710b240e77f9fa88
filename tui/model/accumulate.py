"""Turns the chunks of an OpenAI-compatible stream into parts of a reply. Pure, and tolerant.

Chunks are plain JSON values, read field by field, because no two endpoints agree on them. Nothing but
`ModelError` comes out of a chunk, whatever is in it, and no call comes out of a stream that broke.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tui.core.errors import ModelError
from tui.core.ports import ModelPart, ReasoningPart, ReplyPart, TextPart, Usage
from tui.model.call_slots import CallSlots
from tui.model.failures import reply_error
from tui.model.think_tags import Piece, ThinkTags

MAX_TEXT = 8_000_000
"""Characters of text and thinking in one reply; a stream without end is cut here."""

MAX_DETAILS = 4_096

ENDED_EARLY = "the stream ended early, ended without finish_reason"
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_TEXT_KINDS = ("text", "output_text")
_THINKING_KINDS = ("thinking", "reasoning", "reasoning_text")


class Accumulator:
    """One reply of a model, put together chunk by chunk.

    Args:
        known_names: names of the tools that were offered.
        thinking_first: the endpoint is known to leave out the tag that opens thinking.
    """

    def __init__(self, known_names: Collection[str] = (), *, thinking_first: bool = False) -> None:
        self._calls = CallSlots(known_names)
        self._tags = ThinkTags(opened=thinking_first)
        self._finish = ""
        self._had_null = False
        self._ended_blank = False
        self._usage: Usage | None = None
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._echo_field = ""
        self._details: list[dict[str, Any]] = []
        self._extra: dict[str, Any] = {}
        self._size = 0
        self._half = ""

    @property
    def finished(self) -> bool:
        """Whether the endpoint has said why the reply ended."""
        return bool(self._finish) or self._ended_blank

    @property
    def close_only(self) -> bool:
        """Whether thinking was closed by a tag but never opened by one."""
        return self._tags.close_only

    def feed(self, chunk: Any) -> list[ModelPart]:
        """Take one chunk and return what it adds to the reply.

        Raises:
            ModelError: the chunk says that the endpoint failed, or the reply has no end.
        """
        if not isinstance(chunk, Mapping):
            return []
        if (error := reply_error(chunk)) is not None:
            raise error
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        choice = choice if isinstance(choice, Mapping) else {}
        groq = chunk.get("x_groq")
        for holder in (groq, choice, chunk):
            if isinstance(holder, Mapping):
                self._take_usage(holder.get("usage"))
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            delta = choice.get("message")
        parts = list(self._delta(delta)) if isinstance(delta, Mapping) else []
        if choice:
            self._take_finish(choice.get("finish_reason"))
        return parts

    def finish(self) -> list[ModelPart]:
        """Return the end of the reply: text that was kept back, and always a `ReplyPart` as the last.

        Raises:
            ModelError: the stream broke off: no finish reason was given. No call of it may run.
        """
        if not self.finished:
            raise ModelError(
                ENDED_EARLY,
                next_step="Ask again; if it happens often, a proxy between here and the model cuts streams.",
                retryable=True,
            )
        reply = ReplyPart(
            calls=self._calls.finish(),
            finish=self._finish or ("tool_calls" if self._calls else "stop"),
            usage=self._usage,
            refusal="".join(self._refusal),
            echo=self._echo(),
        )
        return [*self.kept_back(), reply]

    def kept_back(self) -> list[ModelPart]:
        """Return text that was kept back; also for a stream that broke: what was said is shown."""
        half, self._half = self._half, ""
        pieces = self._tags.feed("\ufffd") if half else []
        return list(self._tagged([*pieces, *self._tags.finish()]))

    def _take_finish(self, finish: Any) -> None:
        """Keep the finish reason; nothing erases it. An empty one ends a reply whose deltas had null."""
        if isinstance(finish, str) and finish:
            self._finish = finish[:64]
        elif finish is None:
            self._had_null = True
        self._ended_blank = finish == "" and self._had_null

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelPart]:
        """Take every field of a delta for itself: text and calls may stand side by side."""
        if reasoning := self._take_reasoning(delta):
            yield ReasoningPart(reasoning)
        yield from self._content(delta.get("content"))
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._count(refusal)
            self._refusal.append(refusal)
        calls = delta.get("tool_calls")
        for entry in calls if isinstance(calls, list) else [calls]:
            if isinstance(entry, Mapping) and (part := self._calls.feed(entry)) is not None:
                yield part
        legacy = delta.get("function_call")
        if isinstance(legacy, Mapping) and (part := self._calls.feed({"function": legacy})) is not None:
            yield part
        if isinstance(extra := delta.get("extra_content"), Mapping):
            self._extra.update(extra)

    def _take_reasoning(self, delta: Mapping[str, Any]) -> str:
        """Return the delta's thinking, once, however many fields carry it."""
        detailed = self._take_details(delta.get("reasoning_details"))
        for name in _REASONING_FIELDS:
            text = delta.get(name)
            if isinstance(text, str) and text:
                self._echo_field = self._echo_field or name
                break
        else:
            text = detailed
        if text:
            self._count(text)
            self._reasoning.append(text)
            self._tags.settle()
        return text

    def _take_details(self, details: Any) -> str:
        """Keep `reasoning_details` for sending back, pieces of one text joined; return their text."""
        shown: list[str] = []
        for detail in details if isinstance(details, list) else ():
            if not isinstance(detail, Mapping):
                continue
            self._count("".join(value for value in detail.values() if isinstance(value, str)))
            field = "summary" if detail.get("type") == "reasoning.summary" else "text"
            text = detail.get(field)
            if isinstance(text, str):
                shown.append(text)
            last = self._details[-1] if self._details else {}
            same = (last.get("type"), last.get("index")) == (detail.get("type"), detail.get("index"))
            if isinstance(text, str) and same and isinstance(last.get(field), str):
                joined = last[field] + text
                last.update({key: value for key, value in detail.items() if value is not None})
                last[field] = joined
            elif len(self._details) < MAX_DETAILS:
                self._details.append(dict(detail))
        return "".join(shown)

    def _content(self, content: Any) -> Iterator[ModelPart]:
        for thinking, text in _pieces(content):
            self._count(text)
            if thinking:
                self._reasoning.append(text)
                self._tags.settle()
                yield ReasoningPart(text)
                continue
            yield from self._tagged(self._tags.feed(self._whole(text)))

    def _whole(self, text: str) -> str:
        """Return `text` with surrogate halves joined; a half at its end waits for the other one."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        text = text[: len(text) - len(self._half)]
        if text.isascii():
            return text
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _tagged(self, pieces: list[Piece]) -> Iterator[ModelPart]:
        for piece in pieces:
            if piece.thinking:
                yield ReasoningPart(piece.text, replaces_text=piece.all_before)
            else:
                yield TextPart(piece.text)

    def _count(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_TEXT:
            raise ModelError(f"the reply exceeds {MAX_TEXT} characters and was cut")

    def _take_usage(self, usage: Any) -> None:
        """Keep the last count that says anything; counts are totals and are never added up."""
        if not isinstance(usage, Mapping) or not usage:
            return
        prompt = _tokens(usage.get("prompt_tokens", usage.get("input_tokens")))
        completion = _tokens(usage.get("completion_tokens", usage.get("output_tokens")))
        if prompt or completion:
            self._usage = Usage(prompt, completion)
        elif self._usage is None:
            self._usage = Usage(estimated=True)

    def _echo(self) -> dict[str, Any] | None:
        echo: dict[str, Any] = {}
        if self._details:
            echo["reasoning_details"] = self._details
        if self._echo_field:
            echo[self._echo_field] = "".join(self._reasoning)
        if self._extra:
            echo["extra_content"] = self._extra
        return echo or None


def _pieces(content: Any) -> Iterator[tuple[bool, str]]:
    """Yield (is thinking, text) for content that is a text, a part, or a list of parts."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            if part:
                yield False, part
        elif isinstance(part, Mapping):
            kind = part.get("type", "text")
            thinking = kind in _THINKING_KINDS
            text = _part_text(part, thinking) if thinking or kind in _TEXT_KINDS else ""
            if text:
                yield thinking, text


def _part_text(part: Mapping[str, Any], thinking: bool) -> str:
    for name in (*(_THINKING_KINDS if thinking else ()), "text", "content"):
        value = part.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            texts = [item.get("text") if isinstance(item, Mapping) else item for item in value]
            return "".join(text for text in texts if isinstance(text, str))
    return ""


def _tokens(value: Any) -> int:
    """Return a count of tokens, 0 for anything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return max(0, min(int(value), 10**12))
