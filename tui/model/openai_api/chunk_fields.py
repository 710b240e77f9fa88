"""Reads the fields of a chunk, whatever form an endpoint gives them. Pure."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

_TEXT_KINDS = ("text", "output_text")
_THINKING_KINDS = ("thinking", "reasoning", "reasoning_text")
_LENGTH = ("max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded")
_WRITTEN = "cache_creation_input_tokens"
CUT = ("length", "content_filter", "sensitive")
"""Finish reasons that end a reply before the model did."""

_SAME: dict[str, str] = {
    "tool_calls": "function_call",
    **dict.fromkeys(("reasoning", "reasoning_text", "thinking", "reasoning_details"), "reasoning_content"),
}
"""Fields that say the same thing, and one name for them."""


def choices_of(chunk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the choices of a chunk; one that stands alone is a list of one."""
    choices = chunk.get("choices")
    return [
        choice
        for choice in (choices if isinstance(choices, list) else [choices])
        if isinstance(choice, Mapping)
    ]


def spoken(choice: Mapping[str, Any], said: set[str]) -> Mapping[str, Any]:
    """Return what a choice adds: its delta, and what only its message or its text says.

    Some endpoints end a stream of deltas with the whole message: what deltas gave is not given again.

    Args:
        choice: one of a chunk.
        said: fields that deltas have given so far; those of this choice's delta are added.
    """
    found, message, text = choice.get("delta"), choice.get("message"), choice.get("text")
    delta: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    said.update(_SAME.get(name, name) for name, value in delta.items() if value)
    whole: Mapping[str, Any] = (
        message if isinstance(message, Mapping) else {"content": text} if isinstance(text, str) else {}
    )
    if not whole:
        return delta
    return {**delta, **{name: value for name, value in whole.items() if _SAME.get(name, name) not in said}}


def finish_word(finish: str) -> str:
    """Return a finish reason as OpenAI names it, where endpoints have another word for "length"."""
    return "length" if finish.lower() in _LENGTH else finish[:64]


def content_pieces(content: Any) -> Iterator[tuple[bool, str]]:
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


def token_count(value: Any) -> int:
    """Return a count of tokens, 0 for anything that is none."""
    if isinstance(value, float) and math.isfinite(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return max(0, min(value, 10**12))


def prompt_tokens(usage: Mapping[str, Any]) -> int:
    """Return how many tokens a prompt has, with those that were read from a cache.

    Anthropic counts what it reads from its cache and what it writes there apart; so do proxies that pass its
    counts on under OpenAI's names, which shows only where more was cached than the prompt is said to have.
    """
    apart = sum(token_count(usage.get(name)) for name in ("cache_read_input_tokens", _WRITTEN))
    if "prompt_tokens" not in usage:
        return token_count(usage.get("input_tokens")) + apart
    prompt, cached = token_count(usage["prompt_tokens"]), cached_tokens(usage)
    return prompt if cached <= prompt else prompt + max(cached, apart)


def cached_tokens(usage: Mapping[str, Any]) -> int:
    """Return how many tokens of a prompt were read from a cache, under the names that endpoints use."""
    details = (usage.get(f"{name}_tokens_details") for name in ("prompt", "input"))
    holders = (*(one for one in details if isinstance(one, Mapping)), usage)
    names = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
    return next((count for one in holders for name in names if (count := token_count(one.get(name)))), 0)


def index_of(entry: Mapping[str, Any]) -> int | None:
    """Return the index of a call or choice, or None; digits in a text and whole floats count too."""
    index = entry.get("index")
    if isinstance(index, float) and index.is_integer():
        return int(index)
    if isinstance(index, str) and index.isascii() and index.isdigit() and len(index) < 10:
        return int(index)
    return index if isinstance(index, int) else None
