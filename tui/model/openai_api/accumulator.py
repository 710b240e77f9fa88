"""Assembles a reply from the chunks of an OpenAI-compatible stream. Pure, and tolerant.

Chunks are plain JSON values, read field by field, because endpoints differ in their fields. A chunk raises
only `ModelError`, and a broken stream yields no calls. The fragments of calls are assembled in `call_slots`.
"""

import codecs
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tui.core.errors import ModelError
from tui.core.language.translate import message
from tui.core.ports import ModelPart, ReasoningPart, ReplyPart, TextPart, Usage
from tui.core.text import list_in
from tui.core.units import whole
from tui.model.endpoints.failures import refusal_in, reply_error
from tui.model.endpoints.refusal_rows import Do
from tui.model.openai_api.call_slots import CallSlots, index_of, sendable, signatures_in
from tui.model.openai_api.think_tags import HEAD, ThinkTags

_THINKING_KINDS = ("thinking", "reasoning", "reasoning_text")
_LENGTH = re.compile(
    r"length|max_(?:output_|completion_|new_)?(?:tokens|length)|(?:token|output)_limit|model_length"
    r"|model_context_window_exceeded|error_limit",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"(?:content_?filter(?:ed)?|function_call_filter)(?:: ?\w+)?|sensitive|(?:image_)?safety"
    r"|recitation|blocklist|prohibited_content|spii|language|image_(?:prohibited_content|recitation)|model_armor|refusal"
    r"|guardrails?(?:_intervened)?|error_toxic|moderation|blocked|violation|risk(?:_control)?"
    r"|policy(?:_violation)?",
    re.IGNORECASE,
)
"""Azure, Zhipu, Gemini and Vertex, Anthropic, Bedrock, Cohere, and gateways to them."""

_WRITTEN = "cache_creation_input_tokens"
CUT = ("length", "content_filter")
"""Finish reasons of a reply that ended before the model was done."""

_SAME: dict[str, str] = {
    "tool_calls": "function_call",
    **dict.fromkeys(("reasoning", "reasoning_text", "thinking", "reasoning_details"), "reasoning_content"),
}
"""Fields with the same meaning, mapped to one name."""


def choices_of(chunk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the choices of a chunk; a single one counts as a list."""
    choices = chunk.get("choices")
    return [
        choice for choice in (choices if isinstance(choices, list) else [choices]) if isinstance(choice, dict)
    ]


def spoken(choice: Mapping[str, Any], said: set[str]) -> Mapping[str, Any]:
    """Return the new content of a choice: its delta, and fields that only its message or text has.

    Some endpoints end a stream of deltas with the whole message: nothing is added twice. `said` are the
    fields that deltas have had so far; those of this choice's delta are added.
    """
    found, message, text = choice.get("delta"), choice.get("message"), choice.get("text")
    delta: Mapping[str, Any] = found if isinstance(found, dict) else {}
    said.update(_SAME.get(name, name) for name, value in delta.items() if value)
    whole: Mapping[str, Any] = (
        message if isinstance(message, dict) else {"content": text} if isinstance(text, str) else {}
    )
    if not whole:
        return delta
    return {**delta, **{name: value for name, value in whole.items() if _SAME.get(name, name) not in said}}


def finish_word(finish: str) -> str:
    """Return OpenAI's name of a finish reason; endpoints use other words for cut or filtered replies."""
    bare = finish.strip().rpartition(".")[2]
    bare = re.sub(r"(?i)^finish_?reason_", "", bare)
    if _LENGTH.fullmatch(bare):
        return "length"
    if _FILTER.fullmatch(bare):
        return "content_filter"
    return finish[:64]


def content_pieces(content: Any) -> Iterator[tuple[bool, str]]:
    """Yield (is thinking, text) for content that is a text, a part, or a list of parts."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            if part:
                yield False, part
        elif isinstance(part, dict):
            kind = part.get("type", "text")
            thinking = kind in _THINKING_KINDS
            text = _part_text(part, thinking) if thinking or kind in ("text", "output_text") else ""
            if text:
                yield thinking, text


def _part_text(part: Mapping[str, Any], thinking: bool) -> str:
    for name in (*(_THINKING_KINDS if thinking else ()), "text", "content"):
        value = part.get(name)
        if isinstance(value, str | list):
            items = value if isinstance(value, list) else [value]
            texts = [item.get("text") if isinstance(item, dict) else item for item in items]
            return "".join(text for text in texts if isinstance(text, str))
    return ""


def token_count(value: Any) -> int:
    """Return a token count, 0 for anything else."""
    return whole(value, 10**12) or 0


def prompt_tokens(usage: Mapping[str, Any]) -> int:
    """Return the token count of a prompt, with those read from a cache.

    Anthropic counts tokens that it reads from and writes to its cache separately; so do proxies that pass on
    its counts under OpenAI's names, which is only visible if more tokens were cached than the prompt has.
    """
    apart = sum(token_count(usage.get(name)) for name in ("cache_read_input_tokens", _WRITTEN))
    if "prompt_tokens" not in usage:
        return token_count(usage.get("input_tokens")) + apart
    prompt, cached = token_count(usage["prompt_tokens"]), cached_tokens(usage)
    return prompt if cached <= prompt else prompt + max(cached, apart)


def cached_tokens(usage: Mapping[str, Any]) -> int:
    """Return the number of prompt tokens read from a cache, under the names that endpoints use."""
    details = (usage.get(f"{name}_tokens_details") for name in ("prompt", "input"))
    holders = (*(item for item in details if isinstance(item, dict)), usage)
    names = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
    return next((count for item in holders for name in names if (count := token_count(item.get(name)))), 0)


# ---- provider fields that are sent back with the next request
#
# `reasoning_details` of OpenRouter and MiniMax, `thinking_blocks` of LiteLLM in front of Claude, signatures
# of Google and Copilot: each arrives in pieces, and the provider rejects a history in which one is missing or
# changed.

MAX_DETAILS = 4_096
"""Maximum items of one list that is sent back."""

BLOCKS = "thinking_blocks"
_TEXT_OF = {"reasoning.summary": "summary", "thinking": "thinking"}
_SNAPSHOT_FROM = 16
"""A piece that repeats all of a text this long is the whole text so far, as some gateways send it."""


class _Text:
    """A text that arrives in pieces, or in snapshots of all so far; joined once, since it may be long."""

    def __init__(self, first: str) -> None:
        self._pieces = [first]
        self._size = len(first)

    def add(self, piece: str) -> str:
        """Add a piece; return what it adds."""
        if _SNAPSHOT_FROM <= self._size <= len(piece) and piece.startswith(self.whole()):
            piece = piece[self._size :]
        self._pieces.append(piece)
        self._size += len(piece)
        return piece

    def whole(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class EchoedFields:
    """The fields of one reply. `count` is called with each text."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self._count = count
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._texts: dict[str, list[tuple[dict[str, Any], str, _Text]]] = {}
        self._others: dict[str, Any] = {}

    def take(self, delta: Mapping[str, Any]) -> str:
        """Store the fields of a delta; return the thinking in them."""
        shown = ""
        for name in ("reasoning_details", BLOCKS):
            for piece in list_in(delta, name):
                if isinstance(piece, dict):
                    shown += self._piece(name, piece)
        if isinstance(extra := delta.get("extra_content"), dict):
            self._count_all(extra)
            self._others.setdefault("extra_content", {}).update(extra)
        signed = signatures_in(delta)
        self._count_all(signed)
        self._others |= signed
        return shown

    def all(self) -> dict[str, Any]:
        for texts in self._texts.values():
            for item, field, text in texts:
                item[field] = text.whole()
        return {**self._lists, **self._others}

    def _count_all(self, fields: Mapping[str, Any]) -> None:
        self._count("".join(value if isinstance(value, str) else str(value) for value in fields.values()))

    def _piece(self, name: str, piece: dict[str, Any]) -> str:
        """Store a piece of a list, joined with the one before it if both are of one text."""
        self._count_all(piece)
        items = self._lists.setdefault(name, [])
        field = _TEXT_OF.get(str(piece.get("type")), "text")
        text = piece.get(field)
        last = items[-1] if items else {}
        same = (last.get("type"), last.get("index")) == (piece.get("type"), piece.get("index"))
        if name == BLOCKS and last.get("signature"):  # a signature ends its block
            same = False
        if isinstance(text, str) and same and isinstance(last.get(field), str):
            last.update({key: value for key, value in piece.items() if value is not None})
            return self._texts[name][-1][2].add(text)
        if len(items) < MAX_DETAILS:
            items.append({key: value for key, value in piece.items() if name != BLOCKS or value is not None})
            if isinstance(text, str):
                self._texts.setdefault(name, []).append((items[-1], field, _Text(text)))
        return text if isinstance(text, str) else ""


# ---- the reply


_HALVES = codecs.getincrementaldecoder("utf-16-le")


def _joined(halves: codecs.IncrementalDecoder, piece: str, *, ended: bool = False) -> str:
    """Return the complete text so far: a first half of a surrogate pair at its end waits for the second."""
    return halves.decode(piece.encode("utf-16-le", "surrogatepass"), ended)


MAX_TEXT = 8_000_000
"""Maximum characters of text and thinking in one reply, against endless streams."""

ENDED_EARLY = message("the stream ended early, without finish_reason")
REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")


class Accumulator:
    """One reply of a model, assembled chunk by chunk.

    `thinking_first`: the endpoint is known to omit the tag that opens thinking. `verbatim`: thinking tags
    stay in the text.
    """

    def __init__(
        self, known_names: Collection[str] = (), *, thinking_first: bool = False, verbatim: bool = False
    ) -> None:
        self._verbatim = verbatim
        self._calls = CallSlots(known_names)
        self._tags = ThinkTags(opened=thinking_first)
        self._finish = ""
        self._had_null = False
        self._ended_blank = False
        self._usage: Usage | None = None
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._echo_field = ""
        self._echoed = EchoedFields(self._count)
        self._size = 0
        self._text, self._thinking = _HALVES("replace"), _HALVES("replace")
        self._choice: int | None = None
        self._in_deltas: set[str] = set()
        self._has_tool_calls = False
        self.begun = False
        """Whether anything of a reply has arrived."""

    @property
    def finished(self) -> bool:
        """Whether the endpoint has said why the reply ended."""
        return bool(self._finish) or self._ended_blank

    def opens(self, before: bool) -> bool:
        """Return whether replies begin with thinking, judged by this one; `before` if it does not show."""
        tags = self._tags
        return (before or tags.close_only) and not (tags.never_closed and self._finish.lower() == "stop")

    def feed(self, chunk: Any) -> list[ModelPart]:
        """Return the new parts of a chunk. Raises ModelError for a reported failure or an endless reply."""
        if not isinstance(chunk, dict):
            return []
        if (error := reply_error(chunk)) is not None:
            if not (self._size and refusal_in(error.message, among=(Do.REPHRASE,))):
                raise error
            self._finish = self._finish or "content_filter"
            return []
        choices = choices_of(chunk)
        self.begun = self.begun or bool(choices)
        self.take_counts(chunk)
        parts: list[ModelPart] = []
        for choice in choices:
            index = index_of(choice)
            self._choice = index if self._choice is None else self._choice
            if index in (None, self._choice):  # of several, the first one is the reply
                parts.extend(self._delta(spoken(choice, self._in_deltas)))
                finish = choice.get("finish_reason")
                if isinstance(finish, str) and finish:  # nothing erases it
                    self._finish = finish_word(finish)
                # An empty one ends a reply whose deltas had null.
                self._had_null = self._had_null or finish is None
                self._ended_blank = finish == "" and self._had_null
                native = choice.get("native_finish_reason")  # OpenRouter: the provider's own word
                if self._finish == "stop" and finish_word(str(native)) == "content_filter":
                    self._finish = "content_filter"
        return parts

    def take_counts(self, chunk: Mapping[str, Any]) -> None:
        """Store the token count of a chunk; some endpoints send it after the end of the stream.

        The last count that is not empty counts; counts are totals and are never added up.
        """
        holders = (chunk.get("x_groq"), *choices_of(chunk), chunk)
        for usage in [holder.get("usage") for holder in holders if isinstance(holder, dict)]:
            if not isinstance(usage, dict) or not usage:
                continue
            prompt = prompt_tokens(usage)
            completion = token_count(usage.get("completion_tokens", usage.get("output_tokens")))
            if prompt or completion:
                self._usage = Usage(prompt, completion, cached=min(prompt, cached_tokens(usage)))
            elif self._usage is None:
                self._usage = Usage(estimated=True)

    def finish(self, *, ended: bool = False) -> list[ModelPart]:
        """Return the end of the reply: text that was held back, and always a `ReplyPart` as the last.

        `ended`: the endpoint marked the end of the stream; enough for text, never for calls. Raises
        ModelError if it broke off without a finish reason. None of its calls may run.
        """
        if not self.finished and not (ended and self._size and not self._calls):
            raise ModelError(
                ENDED_EARLY,
                next_step=message("Retry. If it happens often, check for a proxy that cuts streams."),
                retryable=True,
            )
        rest = self.kept_back()
        echo = self._echoed.all()
        if self._echo_field:
            echo[self._echo_field] = "".join(self._reasoning)
        elif not self._verbatim and self._tags.head:
            echo[HEAD] = self._tags.head
        reply = ReplyPart(
            calls=self._calls.finish(cut=self._finish in CUT),
            finish=self._finish or ("tool_calls" if self._calls else "stop"),
            usage=self._usage,
            refusal=sendable("".join(self._refusal)),
            echo=echo or None,
        )
        return [*rest, reply]

    def kept_back(self) -> list[ModelPart]:
        """Return text that was held back, even of a broken stream, so that all of it is shown."""
        parts: list[ModelPart] = []
        if thinking := _joined(self._thinking, "", ended=True):
            self._reasoning.append(thinking)
            parts.append(ReasoningPart(thinking))
        half = _joined(self._text, "", ended=True)
        if self._verbatim:
            return [*parts, TextPart(half)] if half else parts
        pieces = self._tags.feed(half) if half else ()
        return [*parts, *pieces, *self._tags.finish()]

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelPart]:
        """Read every field of a delta, which may have both text and calls."""
        if reasoning := self._take_reasoning(delta):
            yield ReasoningPart(reasoning)
        yield from self._content(delta.get("content"))
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._count(refusal)
            self._refusal.append(refusal)
        calls, legacy = delta.get("tool_calls"), delta.get("function_call")
        self._has_tool_calls = self._has_tool_calls or bool(calls)
        if legacy and not self._has_tool_calls:
            calls = [{"function": legacy}]
        for entry in calls if isinstance(calls, list) else [calls]:
            if isinstance(entry, dict) and (part := self._calls.feed(entry)) is not None:
                yield part

    def _take_reasoning(self, delta: Mapping[str, Any]) -> str:
        """Return the delta's thinking once, even if several fields contain it."""
        detailed = self._echoed.take(delta)
        for name in REASONING_FIELDS:
            text = delta.get(name)
            if isinstance(text, str) and text:
                self._echo_field = self._echo_field or name
                break
        else:
            text = "" if self._echo_field else detailed
        return self._think(text) if text else ""

    def _think(self, piece: str) -> str:
        self._count(piece)
        self._tags.settle()
        text = _joined(self._thinking, piece)
        self._reasoning.append(text)
        return text

    def _content(self, content: Any) -> Iterator[ModelPart]:
        for thinking, text in content_pieces(content):
            if thinking:
                if whole := self._think(text):
                    yield ReasoningPart(whole)
                continue
            self._count(text)
            text = _joined(self._text, text)
            yield from [TextPart(text)] if self._verbatim and text else self._tags.feed(text)

    def _count(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_TEXT:
            raise ModelError(
                message("the reply exceeds {limit} characters and was truncated", limit=MAX_TEXT)
            )
