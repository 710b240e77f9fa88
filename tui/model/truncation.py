"""Tells when an endpoint read less than it was sent. Pure.

Ollama's /v1 has a window of its own, 4,096 tokens unless it is told otherwise, and cuts what does not fit
from the front without a word: the system text and the tools go first.
"""

from tui.core.ports import ModelRequest, Usage
from tui.core.tokens import estimate_request
from tui.model.endpoint_errors import looks_like_ollama
from tui.model.profile import ModelProfile
from tui.model.providers import is_private

LEAST_ESTIMATE = 2_000
"""Tokens; estimates of less than this say too little."""

SHARE = 0.55
"""An estimate is never this far above the true count; measured: 0.75 to 1.3 of it."""


def truncation_warning(profile: ModelProfile, request: ModelRequest, usage: Usage | None) -> str:
    """Return what a person should know if the endpoint counted far fewer tokens than were sent, or ""."""
    if usage is None or usage.estimated or usage.prompt <= 0 or not is_private(profile.base_url):
        return ""
    estimate = estimate_request(request)
    if estimate < LEAST_ESTIMATE or usage.prompt >= estimate * SHARE:
        return ""
    seen = f"The endpoint read {usage.prompt:,} of about {estimate:,} tokens: it seems to cut what it is sent"
    if looks_like_ollama(profile):
        return (
            f"{seen}. Start it with OLLAMA_CONTEXT_LENGTH={_window_for(estimate)} set, or give the model "
            f"`PARAMETER num_ctx {_window_for(estimate)}` in a Modelfile."
        )
    return f"{seen}. Give the model a window of {_window_for(estimate)} tokens where it is loaded."


def _window_for(tokens: int) -> int:
    """Return a usual size of a window with room for `tokens` and a reply."""
    window = 8_192
    while window < tokens * 1.25 and window < 1_048_576:
        window *= 2
    return window
