"""Tells from a provider's words that a conversation does not fit into the model's window. Pure.

Every provider says it in its own way, and some say nearly the same of a rate that was exceeded, which has
to be ruled out first: to shorten a conversation because of a busy minute would lose it for nothing.
"""

import re

_NOT = re.compile(
    r"rate.?limit|too many requests|throttl|please wait|tokens? per (?:min|hour|day)|\b[TR]P[MD]\b|quota"
    r"|service unavailable",
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"""
    context[_ ](?:length|window)[_ ]?exceeded                        # OpenAI's code, z.ai's finish reason
  | exceed\w*\ (?:the\ )?(?:(?:available|model'?s?)\ )*(?:maximum\ |max\ )?context  # OpenAI, llama.cpp
  | context\ (?:window|length|size)\ (?:is\ )?(?:exceed|too\ small|of\ only)         # MiniMax, LM Studio
  | maximum\ (?:context|prompt|input)\ length                        # vLLM, OpenRouter, xAI, Poolside
  | maximum\ allowed\ input\ length
  | (?:longer|greater|larger)\ than\ the\ (?:model'?s\ )?context     # Together, LM Studio
  | (?:prompt|input|message|conversation|request)s?\ (?:is|are)?\ ?too\ (?:long|large)  # Anthropic, Ollama
  | request_too_large
  | input\ token\ count.{0,60}exceed                                 # Google
  | (?:prompt|input)\ token\ count.{0,60}exceeds\ the\ limit         # Copilot
  | too\ large\ for\ model\ with                                     # Mistral
  | exceeded\ (?:the\ )?(?:model\ )?token\ limit | token\ limit\ exceeded   # Moonshot
  | too\ many\ (?:input\ )?tokens
  | reduce\ the\ length\ of\ (?:the\ |your\ )?(?:messages|prompt|input)     # Groq, OpenAI
  | tokens\ .{0,80}exceeds?\ (?:the\ )?(?:max|limit|context)
  | no\ user\ query\ found                                           # Ollama, once it has cut it off
  | 超长 | 超过.{0,10}(?:上下文|最大长度)                              # Zhipu, Qwen
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


_WINDOW = re.compile(
    r"""
    context[_ ](?:length|window|size)\D{0,30}?([\d,._]{4,12})
  | (?:prompt|input)\ length\D{0,30}?([\d,._]{4,12})
  | ([\d,._]{4,12})\ (?:tokens?\ )?(?:maximum|limit|context)
  | (?:limit|maximum)\ (?:of|is|:)\ ?([\d,._]{4,12})
    """,
    re.IGNORECASE | re.VERBOSE,
)


def window_in(words: str) -> int | None:
    """Return how many tokens fit into the model's window, as a refusal says, or None."""
    found = _WINDOW.search(words[:4000])
    if found is None:
        return None
    digits = re.sub(r"\D", "", next(filter(None, found.groups())))
    window = int(digits or 0)
    return window if 512 <= window <= 20_000_000 else None


def is_overflow(words: str, status: int | None = None) -> bool:
    """Whether a failure says that the request is too long for the model.

    Args:
        words: what the provider said.
        status: the HTTP status, if there was one; 413 needs no words.
    """
    if _NOT.search(words):
        return False
    return status == 413 or _OVERFLOW.search(words) is not None
