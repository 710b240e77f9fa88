"""Error messages of endpoints: their text, and what it means. Pure.

Endpoints report failures with a status, inside a stream, or as an HTML page. Their text is untrusted: it is
cleaned and truncated before it gets into a message.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tui.core.errors import ModelError, NoTools
from tui.core.late_compiling import late
from tui.core.text import clean_line
from tui.model.endpoints.waits import asked_wait, is_billing, is_lasting, is_loading

MAX_WORDS = 300
"""Maximum characters of a provider's own words in a message."""

MAX_GENERATION = 200_000
"""Characters kept of what a model wrote and its endpoint could not parse."""

FAILED = "the endpoint failed during the reply"

FAILED_FINISH = late(
    r"(?:network_|system_)?error|insufficient_system_resource|abort(?:ed)?"
    r"|(?:function_call_filter: ?)?(?:malformed_function_call|unexpected_tool_call)",
    re.IGNORECASE,
)
"""Finish reasons of an aborted reply: OpenRouter, Zhipu, DeepSeek, SGLang and vLLM, Gemini."""

RETRYABLE_STATUS = frozenset({408, 409, 425, 429}) | frozenset(range(500, 600)) - {501, 505}

_WORDS = ("message", "msg", "detail")
_KINDS = ("code", "status", "type", "detail")
NO_TOOLS = late(
    r"does ?n[o']t support (?:tools|tool use|function)|support tool use|enable-auto-tool-choice|--jinja"
    r"|tools? (?:is|are) not supported|tool calling is not supported",
    re.IGNORECASE,
)
UNREADABLE_CALL = late(
    r"tool_use_failed|failed_generation"
    r"|failed to (?:call|parse|generate)\b.{0,24}(?:input at pos"
    r"|(?:function|tool)(?!s\b|\w*\W{1,3}(?:schema|definition|parameters|grammar)))"
    r"|error parsing tool call|tool call validation failed|attempted to call tool|malformed_function_call"
    r"|parameters for tool .{1,80} did not match schema"
    r"|tool choice is (?:required|none), but|model did not call a tool",
    re.IGNORECASE,
)
"""Matches messages about a call that the model wrote, not about the tools sent: a retry may succeed.

From Groq, Cerebras, llama.cpp, Ollama and Gemini.
"""

_TRANSIENT = late(
    r"overloaded|rate.?limit|too many requests|temporar|timed? ?out|unavailable|server[_ ]error"
    r"|internal error|disconnected|capacity|try again|upstream|bad gateway|network.error|system_resource"
    r"|error, abort|访问量过大|繁忙",
    re.IGNORECASE,
)

_QUOTED_CALL = late(
    r"failed to parse input at pos \d+: (.+)|error parsing tool call: raw='(.+)', err=", re.I | re.S
)


def words_of(body: Any, redact: Callable[[str], str] = str) -> str:
    """Return the message in an error body, cleaned, as one line; "" if there is none.

    `redact` is applied before the message is truncated, because a truncated secret would not be found.
    """
    for _ in range(4):
        if isinstance(body, str):
            if not body.lstrip().startswith(("{", "[")):
                break
            try:
                body = json.loads(body)
            except (ValueError, RecursionError):
                break
        if isinstance(body, list):
            body = body[0] if body else ""
        elif isinstance(body, dict):
            keys = ("error", "message", "detail", "msg", "status_msg", "error_message", "title", "code")
            inner = next((body[key] for key in keys if body.get(key)), "")
            raw = body.get("metadata")
            if isinstance(inner, str) and isinstance(raw, dict) and isinstance(raw.get("raw"), str):
                inner = f"{inner}: {raw['raw']}"
            body = inner
    text = body if isinstance(body, str) else ("" if isinstance(body, dict | list) else str(body or ""))
    text = redact(text)
    if "<" in text and re.search(r"<(?:html|body|head|!doctype)", text[:2000], re.IGNORECASE):
        title = re.search(r"<title>([^<]{1,200})", text[:4000], re.IGNORECASE)
        text = title[1] if title else re.sub(r"<[^<>]{0,200}>", " ", text[:4000])
    return clean_line(text, MAX_WORDS)


def reply_error(chunk: Mapping[str, Any]) -> ModelError | None:
    """Return the failure that a chunk of a stream reports, or None.

    Known forms: `error` as object or text, `object: "error"`, `base_resp.status_code`, a choice with an error
    or with a finish reason for one, and without choices a `message`, alone or with a code.
    """
    body: Any = chunk.get("error")
    resp = chunk.get("base_resp")
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not body and "error" in (chunk.get("object"), chunk.get("type")):
        body = chunk
    elif not body and isinstance(resp, dict) and resp.get("status_code") not in (0, None, "0"):
        body = {"message": resp.get("status_msg"), "code": resp.get("status_code")}
    elif not body and isinstance(first, dict) and first.get("error"):
        body = first["error"]
    elif not body and choices is None and any(isinstance(chunk.get(name), str) for name in _WORDS):
        body = chunk if any(map(chunk.get, _KINDS)) or len(chunk) == 1 else None
    elif not body and isinstance(first, dict) and FAILED_FINISH.fullmatch(str(first.get("finish_reason"))):
        body = f"the provider ended the reply with an error, {first['finish_reason']}"
    elif not body and (blocked := _blocked(chunk)):
        body = {"message": f"the provider blocked the prompt: {blocked}", "code": "content_filter"}
    if not body:
        return None
    reason = words_of(body) or "no reason given"
    code = body.get("code") or body.get("type") if isinstance(body, dict) else None
    if isinstance(code, str) and code not in reason and not code.isdigit():
        reason = f"{reason} ({clean_line(code, 60)})"
    status = _status(body)
    wait = asked_wait(body, limited=True)
    billing = is_billing(reason, status, wait=wait)
    loading = is_loading(reason, status)
    lasting = wait is None and status == 429 and is_lasting(reason)
    overflow = is_overflow(f"{reason} {_all_text(body)}", status)
    generation = failed_generation(body)
    passes = status in RETRYABLE_STATUS if status is not None else bool(_TRANSIENT.search(_all_text(body)))
    transient = passes or loading or bool(generation) or is_unreadable_call(_all_text(body))
    error = (NoTools if NO_TOOLS.search(reason) else ModelError)(
        f"{FAILED}: {reason}",
        next_step="Add credit or raise the quota of this account." if billing else "Retry.",
        status=status,
        retryable=transient and not (billing or overflow or lasting),
        retry_after=wait,
        overflow=overflow,
        window=window_in(reason) if overflow else None,
    )
    error.generation, error.loading = generation, loading
    return error


FILTERED = late(
    r"content_filter|content management policy|responsible_?ai|data_inspection_failed|inappropriate.content"
    r"|content.policy|sensitive content|moderation|safety (?:filter|system|policy)|guardrail|敏感",
    re.IGNORECASE,
)


def is_filtered(words: str) -> bool:
    """Whether a failure says that the provider's content filter refused or ended it."""
    return FILTERED.search(words) is not None


def _blocked(chunk: Mapping[str, Any]) -> str:
    """Return why Google refused a prompt, or ""; its chunk has no choices."""
    for name in ("promptFeedback", "prompt_feedback"):
        if isinstance(feedback := chunk.get(name), dict):
            return clean_line(str(feedback.get("blockReason") or feedback.get("block_reason") or ""), 60)
    return ""


def is_unreadable_call(words: str) -> bool:
    """Whether a failure is about a call that the model wrote, not about the request."""
    return UNREADABLE_CALL.search(words) is not None


def failed_generation(body: Any) -> str:
    """Return the model's text if the endpoint could not parse a call in it, or "".

    Groq has a field for it, llama.cpp and Ollama quote it in their message.
    """
    for _ in range(3):
        if not isinstance(body, dict):
            break
        written = body.get("failed_generation")
        if written:
            text = written if isinstance(written, str) else json.dumps(written, ensure_ascii=False)
            return text[:MAX_GENERATION]
        if isinstance(message := body.get("message"), str) and (quoted := _QUOTED_CALL.search(message)):
            return (quoted[1] or quoted[2])[:MAX_GENERATION]
        body = body.get("error")
    if isinstance(body, str) and (quoted := _QUOTED_CALL.search(body)):
        return (quoted[1] or quoted[2])[:MAX_GENERATION]
    return ""


def _status(body: Any) -> int | None:
    if not isinstance(body, dict):
        return None
    for name in ("code", "status", "status_code"):
        value = body.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def _all_text(body: Any) -> str:
    if isinstance(body, dict):
        return " ".join(str(body.get(name, "")) for name in ("message", "type", "code", "status"))[:2000]
    return str(body)[:2000]


_NOT = late(
    r"rate.?limit|too many requests|throttl|please wait|tokens? per (?:min|hour|day)|\b[TR]P[MD]\b|quota"
    r"|service unavailable",
    re.IGNORECASE,
)
_OVERFLOW = late(
    r"""
    context[_ ](?:length|window)[_ ]?exceeded                        # OpenAI's code, z.ai's finish reason
  | exceed\w{0,9}\ (?:the\ )?(?:(?:available|model'?s?)\ )*(?:maximum\ |max\ )?context  # OpenAI, llama.cpp
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


_WINDOW = late(
    r"""
    context[_ ](?:length|window|size)\D{0,30}?([\d,._]{4,12})
  | (?:prompt|input)\ length\D{0,30}?([\d,._]{4,12})
  | ([\d,._]{4,12})\ (?:tokens?\ )?(?:maximum|limit|context)
  | (?:limit|maximum)\ (?:of|is|:)\ ?([\d,._]{4,12})
    """,
    re.IGNORECASE | re.VERBOSE,
)


def window_in(words: str) -> int | None:
    """Return the context window that a rejection names, or None."""
    found = _WINDOW.search(words[:4000])
    if found is None:
        return None
    digits = re.sub(r"\D", "", next(filter(None, found.groups())))
    window = int(digits or 0)
    return window if 512 <= window <= 20_000_000 else None


def is_overflow(words: str, status: int | None = None) -> bool:
    """Whether a failure says that the request is too long for the model; status 413 needs no words.

    Some providers describe an exceeded rate limit in nearly the same words. That is ruled out first, because
    shortening a conversation would lose content and not help.
    """
    if _NOT.search(words):
        return False
    return status == 413 or _OVERFLOW.search(words) is not None
