"""Requirements and limits of providers and models, as one table; fields for reasoning effort. Pure.

A row matches by the endpoint's host, by the model's id, or by both; every matching row counts, later ones
override earlier ones. Everything else is learned from the endpoint's error messages, see `learned_quirks`.
Sources are the providers' documentation (that of reasoning effort as of November 2026) and the bug reports
of other clients.
"""

import re
from collections.abc import Collection, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tui.core.ports import EFFORTS
from tui.core.schemas.schema_forms import SchemaForm
from tui.core.web import host_of

_BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 32_768}
"""Tokens of thinking, for providers that take a number."""

LEAST_BUDGET = 1_024


class EffortField(StrEnum):
    """The field that a provider accepts.

    `LEVEL` is OpenAI's `reasoning_effort`. `OBJECT` is OpenRouter's `reasoning`, `BUDGET` is Anthropic's
    `thinking` with a number of tokens, `SWITCH` is `thinking` that is on or off, `SWITCH_AND_LEVEL` has
    `reasoning_effort` beside it, and `ENABLE` is Alibaba's `enable_thinking` and `thinking_budget`.
    """

    LEVEL = "reasoning_effort"
    OBJECT = "reasoning"
    BUDGET = "thinking with a budget"
    SWITCH = "thinking"
    SWITCH_AND_LEVEL = "thinking and reasoning_effort"
    ENABLE = "enable_thinking"


def effort_fields(
    effort: str, field: EffortField, *, taken: Collection[str] = (), max_tokens: int | None = None
) -> dict[str, Any]:
    """Return the fields of a request for an effort, one of `EFFORTS`.

    `taken` are the levels that the endpoint is known to accept, empty if unknown: the nearest is sent. A
    budget is kept below `max_tokens`, which counts thinking too.
    """
    if taken:
        effort = nearest(effort, taken)
    on = effort != "none"
    switch = {"type": "enabled" if on else "disabled"}
    budget = _BUDGETS.get(effort, 0)
    most = budget if max_tokens is None or budget < max_tokens else max_tokens // 2
    fields: dict[EffortField, dict[str, Any]] = {
        EffortField.LEVEL: {"reasoning_effort": effort},
        EffortField.OBJECT: {"reasoning": {"effort": effort}},
        EffortField.SWITCH: {"thinking": switch},
        EffortField.SWITCH_AND_LEVEL: {"thinking": switch} | ({"reasoning_effort": effort} if on else {}),
        EffortField.ENABLE: {"enable_thinking": on} | ({"thinking_budget": budget} if on else {}),
        EffortField.BUDGET: {"thinking": switch | ({"budget_tokens": most} if on else {})},
    }
    return {} if field is EffortField.BUDGET and on and most < LEAST_BUDGET else fields[field]


def nearest(effort: str, taken: Collection[str]) -> str:
    """Return the level of `taken` that is nearest to `effort`, the lower one of two."""
    wanted = EFFORTS.index(effort)
    known = [level for level in EFFORTS if level in taken]
    return min(known, key=lambda level: abs(EFFORTS.index(level) - wanted), default=effort)


class Echo(StrEnum):
    """The requests in which a reply's `reasoning_content` is sent back."""

    NEVER = "never"
    TURN = "this turn"
    ALWAYS = "always"
    FILLED = "always, with a placeholder"


class CallIds(StrEnum):
    """The call ids that a provider accepts."""

    ANY = "any"
    PLAIN = "at most 40 letters, digits, _ and -"
    NINE = "9 letters and digits"


@dataclass(frozen=True, slots=True)
class Traits:
    """The requirements of one model at one endpoint.

    `plain_keys`: names of properties may contain only letters, digits, `_`, `.` and `-`. `details` and
    `extra`: its `reasoning_details`, and its `extra_content` on a call or a message, are sent back unchanged.
    `user_after_tool`: a user message may follow tool results directly. `named_results`: tool results carry
    the name of the tool, too. `images` is None if unknown; images are sent then. `needs_tools`: a history
    with calls is rejected unless tools are sent with it. `max_description` is in characters. `efforts` are
    the levels of reasoning that it accepts, empty if unknown. `cache_marks`: it caches a prompt only up to
    marks. `cache_key`: it accepts a key that directs requests with the same beginning to the same cache.
    `answer_format` is the `response_format` that it accepts for an answer by a schema; `format_with_tools`:
    also in a request with tools. `system`: it has a system role. `stream`: it streams replies. `max_reply`
    and `reply_room`: see `Learned`.
    """

    schema: SchemaForm = SchemaForm.PLAIN
    plain_keys: bool = False
    reasoning: Echo = Echo.TURN
    details: bool = True
    extra: bool = True
    call_ids: CallIds = CallIds.ANY
    user_after_tool: bool = True
    named_results: bool = False
    refuses: frozenset[str] = frozenset()
    max_tokens_name: str = "max_tokens"
    images: bool | None = None
    audio: bool = False
    needs_tools: bool = False
    max_tools: int = 128
    max_description: int = 1024
    effort: EffortField = EffortField.LEVEL
    efforts: Set[str] = frozenset()
    cache_marks: bool = False
    cache_key: bool = False
    answer_format: str = "json_schema"
    format_with_tools: bool = True
    system: bool = True
    stream: bool = True
    max_reply: int = 0
    reply_room: int = 0


def row(host: str = "", model: str = "", **traits: Any) -> tuple[tuple[str, ...], str, dict[str, Any]]:
    """Return one row of the table: what differs from `Traits()` for a host and a model; "" is any.

    `host` are ends of host names, `model` a pattern that is searched in the model's id, ignoring case.
    The `refuses` of all matching rows are combined.
    """
    return tuple(f".{end}" for end in host.split()), model, traits


_MISTRAL = r"mistral|mixtral|ministral|codestral|devstral|magistral|pixtral"
_GOOGLE: dict[str, Any] = {"schema": SchemaForm.GEMINI, "images": True, "named_results": True}


TABLE = (
    row(host="api.openai.com", max_tokens_name="max_completion_tokens", cache_key=True),
    row(host="openai.azure.com fireworks.ai", cache_key=True),
    # o3, o4-mini and most of gpt-5 answer 400 unsupported_parameter (smolagents#1893).
    row(model=r"(?:^|/)(?:o[134](?:-|$)|gpt-5)", refuses={"stop"}),
    row(model=r"audio-preview|gpt-audio|qwen.*omni|voxtral", audio=True),
    # "reasoning_content … must be passed back" (vercel/ai#14739, pi#3636).
    row(model=r"thinking", reasoning=Echo.ALWAYS),
    row(model=r"deepseek-v4", reasoning=Echo.FILLED),
    row(
        host="deepseek.com",
        images=False,
        effort=EffortField.SWITCH_AND_LEVEL,
        efforts={"none", "low", "high", "max"},
        answer_format="json_object",
    ),
    row(host="openrouter.ai", effort=EffortField.OBJECT),
    row(host="aliyuncs.com", effort=EffortField.ENABLE),
    row(host="siliconflow.com siliconflow.cn", effort=EffortField.ENABLE),
    row(host="z.ai bigmodel.cn", effort=EffortField.SWITCH, answer_format="json_object"),
    row(host="volces.com", effort=EffortField.SWITCH_AND_LEVEL),
    # Interleaved thinking: the model loses track without its own thinking.
    row(model=r"kimi|moonshot|glm|minimax", reasoning=Echo.ALWAYS),
    row(model=r"kimi|moonshot", schema=SchemaForm.KIMI),
    row(
        host="moonshot.ai moonshot.cn",
        schema=SchemaForm.KIMI,
        reasoning=Echo.ALWAYS,
        cache_key=True,
        effort=EffortField.SWITCH,
    ),
    row("moonshot.ai moonshot.cn", r"kimi-?k[3-9]", effort=EffortField.LEVEL, efforts={"low", "high", "max"}),
    # "reasoning_content is missing in assistant tool call message", whichever model made the call
    # (opencode#10996).
    row(model=r"kimi-?k?(?:2[.p-]?[5-9]|[3-9])(?!\d)|kimi.*thinking|^k2p\d", reasoning=Echo.FILLED),
    row(host="kimi.com", schema=SchemaForm.KIMI, reasoning=Echo.FILLED, cache_key=True),
    # "function_response.name: Name cannot be empty" (langflow#9437, ollama#14214).
    row(model=r"gemini", **_GOOGLE),
    row(host="generativelanguage.googleapis.com aiplatform.googleapis.com", **_GOOGLE),
    # Not through Anthropic's own compatible endpoint, which has no caching.
    row(model=r"claude", plain_keys=True, images=True, cache_marks=True),
    row(
        host="api.anthropic.com",
        reasoning=Echo.NEVER,
        details=False,
        plain_keys=True,
        images=True,
        needs_tools=True,
        cache_marks=False,
        effort=EffortField.BUDGET,
    ),
    # Ids are checked, and a user message after a result is rejected, wherever its templates are used.
    row(model=_MISTRAL, call_ids=CallIds.NINE, user_after_tool=False),
    # Unknown fields are errors (extra_forbidden, avante#2347).
    row(
        host="mistral.ai",
        call_ids=CallIds.NINE,
        user_after_tool=False,
        refuses={"stream_options"},
        reasoning=Echo.NEVER,
        details=False,
        extra=False,
    ),
    # "property 'reasoning_content' is unsupported"
    row(host="groq.com", reasoning=Echo.NEVER, details=False, format_with_tools=False),
    row(host="cerebras.ai", reasoning=Echo.NEVER, details=False),
    row(model=r"(?:^|/)gpt-(?:4o|4\.1|5)", images=True),
    row(model=r"(?:^|/)(?:gpt-oss|deepseek-(?:chat|reasoner|[vr]\d)|qwen3-coder|gpt-3\.5)", images=False),
)


def traits_of(base_url: str, model: str) -> Traits:
    """Return what is known about a model at an address before its first request."""
    host = f".{host_of(base_url)}"
    found: dict[str, Any] = {}
    refused: set[str] = set()
    for ends, pattern, traits in TABLE:
        if (not ends or host.endswith(ends)) and re.search(pattern, model, re.IGNORECASE):
            found |= traits
            refused |= traits.get("refuses", set())
    return Traits(**(found | {"refuses": frozenset(refused)}))
