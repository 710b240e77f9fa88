"""What messages say about models and tools, as attributes of spans. Pure.

Requests and replies are foreign: every value is bounded, and what is not as expected is left out. Texts of
the conversation are only in the attributes that `messages_in` and `answer_in` return.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tui.addons.telemetry.span import Attributes
from tui.core.jsonrpc.framing import is_event_stream
from tui.core.jsonrpc.reader import json_mapping, json_text, json_value
from tui.core.text import clean_line, mapping
from tui.core.units import bounded, whole
from tui.traffic.record.secret_texts import joined

NAME_CHARS = 256
"""Maximum characters of a name, an id or an address."""

TEXT_CHARS = 16 * 1024
"""Maximum characters of one text of the conversation."""

MAX_MESSAGES = 50
"""Maximum messages of a request, the last ones."""

MAX_PARTS = 50

_SETTINGS = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
}
_LIMITS = ("max_completion_tokens", "max_tokens")


def name(value: object) -> str:
    """Return a foreign name on one line, "" for anything but text."""
    return clean_line(value, NAME_CHARS) if isinstance(value, str) else ""


def settings_in(request: Mapping[str, Any]) -> Attributes:
    """Return the settings of a request to a model."""
    found: Attributes = {}
    for key, attribute in _SETTINGS.items():
        if (number := bounded(request.get(key), 1e6, least=-1e6)) is not None:
            found[attribute] = float(number)
    for key in _LIMITS:
        if (limit := whole(request.get(key))) is not None:
            found["gen_ai.request.max_tokens"] = limit
    if (seed := whole(request.get("seed"), least=-(2**53))) is not None:
        found["gen_ai.request.seed"] = seed
    if request.get("stream") is True:
        found["gen_ai.request.stream"] = True
    return found


def read_reply(body: bytes) -> dict[str, Any]:
    """Return a reply, streamed or not: id, model, usage, finish_reason, text and tool_calls."""
    if is_event_stream(body):
        reply = joined(body)
        head = next((one for one in reply.get("chunks", ()) if isinstance(one, dict)), {})
        return {**reply, "id": head.get("id"), "model": head.get("model")}
    reply = dict(json_mapping(body))
    choices = reply.get("choices")
    first = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = mapping(first.get("message"))
    calls = message.get("tool_calls")
    functions = [mapping(mapping(one).get("function")) for one in calls] if isinstance(calls, list) else []
    return reply | {
        "finish_reason": first.get("finish_reason"),
        "text": message.get("content"),
        "tool_calls": functions,
    }


def facts_in(reply: Mapping[str, Any]) -> Attributes:
    """Return what a reply says about itself."""
    named = {"gen_ai.response.id": reply.get("id"), "gen_ai.response.model": reply.get("model")}
    found: Attributes = {key: text for key, value in named.items() if (text := name(value))}
    if reason := name(reply.get("finish_reason")):
        found["gen_ai.response.finish_reasons"] = [reason]
    usage = mapping(reply.get("usage"))
    numbers = {
        "gen_ai.usage.input_tokens": usage.get("prompt_tokens"),
        "gen_ai.usage.output_tokens": usage.get("completion_tokens"),
        "gen_ai.usage.cache_read.input_tokens": mapping(usage.get("prompt_tokens_details")).get(
            "cached_tokens"
        ),
        "gen_ai.usage.reasoning.output_tokens": mapping(usage.get("completion_tokens_details")).get(
            "reasoning_tokens"
        ),
    }
    return found | {key: number for key, one in numbers.items() if (number := whole(one)) is not None}


def messages_in(request: Mapping[str, Any]) -> Attributes:
    """Return the conversation that a model was sent, in the form of the conventions."""
    sent = request.get("messages")
    listed = [mapping(one) for one in sent] if isinstance(sent, list) else []
    system = [part for one in listed if one.get("role") in ("system", "developer") for part in _parts(one)]
    others = [one for one in listed if one.get("role") not in ("system", "developer")]
    messages = [{"role": name(one.get("role")), "parts": _parts(one)} for one in others[-MAX_MESSAGES:]]
    found: Attributes = {"gen_ai.system_instructions": json_text(system[:MAX_PARTS])} if system else {}
    return found | ({"gen_ai.input.messages": json_text(messages)} if messages else {})


def answer_in(reply: Mapping[str, Any]) -> Attributes:
    """Return what a model answered, in the form of the conventions."""
    parts = _texts(reply.get("text"))
    calls = reply.get("tool_calls")
    for call in calls[:MAX_PARTS] if isinstance(calls, list) else ():
        parts.append(_call(mapping(call), ""))
    said = {"role": "assistant", "parts": parts, "finish_reason": name(reply.get("finish_reason"))}
    return {"gen_ai.output.messages": json_text([said])} if parts else {}


def shortened(value: object) -> str:
    """Return a value as JSON of at most `TEXT_CHARS` characters."""
    return cut(json_text(value))


def cut(text: str) -> str:
    """Return the first `TEXT_CHARS` characters of a text."""
    return text if len(text) <= TEXT_CHARS else text[:TEXT_CHARS] + "…"


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    if message.get("role") == "tool":
        told = {"type": "tool_call_response", "id": name(message.get("tool_call_id"))}
        texts = [one["content"] for one in _texts(message.get("content"))]
        return [{**told, "response": cut("\n".join(texts))}]
    parts = _texts(message.get("content"))
    calls = message.get("tool_calls")
    for call in calls[:MAX_PARTS] if isinstance(calls, list) else ():
        parts.append(_call(mapping(mapping(call).get("function")), name(mapping(call).get("id"))))
    return parts


def _texts(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "content": cut(content)}] if content else []
    if not isinstance(content, Sequence):
        return []
    texts = [mapping(one).get("text") for one in content[:MAX_PARTS]]
    return [{"type": "text", "content": cut(one)} for one in texts if isinstance(one, str)]


def _call(function: Mapping[str, Any], ident: str) -> dict[str, Any]:
    given = function.get("arguments")
    text = given if isinstance(given, str) else json_text(given)
    given = json_value(text, text) if len(text) <= TEXT_CHARS else cut(text)
    return {"type": "tool_call", "id": ident or None, "name": name(function.get("name")), "arguments": given}
