"""The fields of a request besides messages and tools: sampling, reasoning, caching, answer format. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.conversation.conversation import UserMessage
from tui.core.ports import ModelRequest
from tui.core.schemas.schema_forms import SchemaForm, in_form
from tui.model.endpoints.endpoint_errors import looks_like_ollama
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.provider_traits import Traits
from tui.model.endpoints.providers import is_private
from tui.model.endpoints.reasoning_effort import effort_fields
from tui.model.openai_api.sendable import plain_json, sendable

MAX_STOPS = 4
MARK = {"type": "ephemeral"}
MARKED_MESSAGES = 2
"""Messages that are marked besides the system text; Anthropic accepts at most four marks."""


def options_for(
    profile: ModelProfile, request: ModelRequest, traits: Traits, *, with_tools: bool
) -> dict[str, Any]:
    """Return the fields of a request besides messages and tools, including those that may be rejected."""
    options: dict[str, Any] = {}
    if stop := (*request.stop, *(text for text in profile.stop if text not in request.stop))[:MAX_STOPS]:
        options["stop"] = [sendable(text) for text in stop]
    temperature = profile.temperature if request.temperature is None else request.temperature
    sampling = {"temperature": temperature, "top_p": profile.top_p, "seed": profile.seed}
    options |= {name: value for name, value in sampling.items() if value is not None}
    limits = [limit for limit in (profile.max_tokens, request.max_tokens) if limit is not None]
    if limits:
        options[traits.max_tokens_name] = min(limits)
    if profile.effort:
        most = min(limits, default=None)
        options |= effort_fields(profile.effort, traits.effort, taken=traits.efforts, max_tokens=most)
        if profile.effort == "none" and is_private(profile.base_url) and not looks_like_ollama(profile):
            # vLLM, SGLang and llama.cpp leave it to the model's template.
            options["chat_template_kwargs"] = {"enable_thinking": False}
    if traits.cache_key:
        options["prompt_cache_key"] = cache_key(request)
    if request.answer_schema is not None and _takes_format(profile, traits, with_tools):
        options["response_format"] = _answer_format(request.answer_schema, traits)
    return options


def cache_key(request: ModelRequest) -> str:
    """Return a key that all requests of one conversation share, and that reveals nothing about it."""
    first = next((item.text for item in request.messages if isinstance(item, UserMessage)), "")
    return hashlib.sha256(f"{request.system}\0{first}".encode("utf-8", "replace")).hexdigest()[:32]


def mark_for_cache(messages: Sequence[dict[str, Any]]) -> None:
    """Mark the system text and the newest texts as ends of what the endpoint caches.

    Tool results are not marked, because OpenRouter rejects marks in them.
    """
    said = [one for one in messages if one["role"] in ("user", "assistant") and _has_text(one)]
    for message in (*(one for one in messages[:1] if one["role"] == "system"), *said[-MARKED_MESSAGES:]):
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        at = max(at for at, part in enumerate(parts) if part.get("type") == "text")
        parts[at] = {**parts[at], "cache_control": MARK}
        message["content"] = parts


def _has_text(message: Mapping[str, Any]) -> bool:
    content = message["content"]
    if isinstance(content, str):
        return bool(content)
    return any(part.get("type") == "text" and part.get("text") for part in content or ())


def _takes_format(profile: ModelProfile, traits: Traits, with_tools: bool) -> bool:
    """Whether the answer format is sent; on a local server it would prevent calls of tools."""
    return not with_tools or (traits.format_with_tools and not is_private(profile.base_url))


def _answer_format(schema: Mapping[str, Any], traits: Traits) -> dict[str, Any]:
    if traits.answer_format != "json_schema":
        return {"type": "json_object"}
    sent = in_form(schema, traits.schema) if traits.schema is SchemaForm.GEMINI else schema
    described = {"name": "answer", "schema": plain_json(sent)}
    return {"type": "json_schema", "json_schema": described | ({"strict": True} if is_strict(schema) else {})}


def is_strict(schema: Any) -> bool:
    """Whether a schema meets the rules for `strict`: closed objects, all of whose properties are required."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties")
        names = set(properties) if isinstance(properties, Mapping) else set()
        required = schema.get("required")
        closed = schema.get("additionalProperties") is False
        if not closed or set(required if isinstance(required, list) else ()) != names:
            return False
        if not all(map(is_strict, properties.values() if isinstance(properties, Mapping) else ())):
            return False
    return all(is_strict(value) for key, value in schema.items() if key not in _DATA)


_DATA = ("properties", "enum", "const", "default", "examples", "required", "description", "title")
