"""Tells when an endpoint read less than it was sent. Pure.

Ollama's /v1 has a window of its own, 4,096 tokens unless it is told otherwise, and cuts what does not fit
from the front without a word: the system text and the tools go first.
"""

import re
from collections.abc import Iterator

from tui.core.conversation.conversation import AssistantMessage
from tui.core.ports import ModelRequest, Usage
from tui.model.endpoints.endpoint_errors import looks_like_ollama
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.providers import is_private

LEAST_TOKENS = 1_500
"""A request that is surely smaller than this says too little."""

ASCII, OTHER = 0.2, 0.35
"""Tokens of a character that no tokenizer gets below, in text and in Chinese, runs of one sign aside."""

MARGIN = 0.8

_RUNS = re.compile(r"([\W_])\1{2,}")


def truncation_warning(profile: ModelProfile, request: ModelRequest, usage: Usage | None) -> str:
    """Return what a person should know if the endpoint counted fewer tokens than there can be, or ""."""
    if usage is None or usage.estimated or usage.prompt <= 0 or not is_private(profile.base_url):
        return ""
    texts = list(_texts(request))
    # Nearly all requests are settled by their length, without looking into them.
    if sum(len(text) * (ASCII if text.isascii() else OTHER) for text in texts) * MARGIN <= usage.prompt:
        return ""
    least = int(sum(map(_least, texts)))
    if least < LEAST_TOKENS or usage.prompt >= least * MARGIN:
        return ""
    seen = f"The endpoint read {usage.prompt:,} of at least {least:,} tokens: it seems to cut what it is sent"
    window = _window_for(least)
    if looks_like_ollama(profile):
        return (
            f"{seen}. Start it with OLLAMA_CONTEXT_LENGTH={window} set, or give the model "
            f"`PARAMETER num_ctx {window}` in a Modelfile."
        )
    return f"{seen}. Give the model a window of {window} tokens where it is loaded."


def _texts(request: ModelRequest) -> Iterator[str]:
    yield request.system
    for message in request.messages:
        yield message.text
        if isinstance(message, AssistantMessage):
            yield from (call.arguments for call in message.calls)
    for tool in request.tools:
        yield from (tool.name, tool.description, str(tool.schema))


def _least(text: str) -> float:
    """Return how many tokens `text` is at least."""
    squeezed = _RUNS.sub(r"\1", text)
    plain = len(squeezed) if squeezed.isascii() else len(squeezed.encode("ascii", "ignore"))
    return plain * ASCII + (len(squeezed) - plain) * OTHER


def _window_for(tokens: int) -> int:
    """Return a usual size of a window with room for at least `tokens` and a reply."""
    window = 8_192
    while window < tokens * 2 and window < 1_048_576:
        window *= 2
    return window
