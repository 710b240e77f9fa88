"""What messages say about models and tools, as attributes of spans. Pure.

Requests and replies are foreign: every value is bounded, and what is not as expected is left out. Texts of
the conversation are only in the attributes that `messages_in` and `answer_in` return.
"""

from collections.abc import Mapping
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

_FLOATS = ("temperature", "top_p", "frequency_penalty", "presence_penalty")
_INTEGERS = {"max_completion_tokens": "max_tokens", "max_tokens": "max_tokens", "seed": "seed"}
_USAGE = {
    ("prompt_tokens",): "input_tokens",
    ("completion_tokens",): "output_tokens",
    ("prompt_tokens_details", "cached_tokens"): "cache_read.input_tokens",
    ("completion_tokens_details", "reasoning_tokens"): "reasoning.output_tokens",
}


def name(value: object) -> str:
    """Return a foreign name on one line, "" for anything but text."""
    return clean_line(value, NAME_CHARS) if isinstance(value, str) else ""


def settings_in(request: Mapping[str, Any]) -> Attributes:
    """Return the settings of a request to a model."""
    found: Attributes = {}
    for key in _FLOATS:
        if (number := bounded(request.get(key), 1e6, least=-1e6)) is not None:
            found[f"gen_ai.request.{key}"] = float(number)
    for key, known in _INTEGERS.items():
        if (limit := whole(request.get(key))) is not None:
            found[f"gen_ai.request.{known}"] = limit
    if level := name(request.get("reasoning_effort")):
        found["gen_ai.request.reasoning.level"] = level
    return found | ({"gen_ai.request.stream": True} if request.get("stream") is True else {})


def read_reply(body: bytes) -> dict[str, Any]:
    """Return a reply, streamed or not: id, model, usage, finish_reason and message."""
    if is_event_stream(body):
        reply = joined(body)
        head = next((one for one in reply.get("chunks", ()) if isinstance(one, dict)), {})
        calls = [{"function": one} for one in reply.get("tool_calls", ())]
        about = {"id": head.get("id"), "model": head.get("model")}
        return {**reply, **about, "message": {"content": reply.get("text"), "tool_calls": calls}}
    reply = dict(json_mapping(body))
    choices = reply.get("choices")
    first = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    return reply | {"finish_reason": first.get("finish_reason"), "message": mapping(first.get("message"))}


def facts_in(reply: Mapping[str, Any]) -> Attributes:
    """Return what a reply says about itself."""
    found: Attributes = {
        f"gen_ai.response.{key}": text for key in ("id", "model") if (text := name(reply.get(key)))
    }
    if reason := name(reply.get("finish_reason")):
        found["gen_ai.response.finish_reasons"] = [reason]
    for path, known in _USAGE.items():
        usage: Any = reply.get("usage")
        for key in path:
            usage = mapping(usage).get(key)
        if (number := whole(usage)) is not None:
            found[f"gen_ai.usage.{known}"] = number
    return found


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
    parts = _parts(mapping(reply.get("message")))
    said = {"role": "assistant", "parts": parts, "finish_reason": name(reply.get("finish_reason"))}
    return {"gen_ai.output.messages": json_text([said])} if parts else {}


def shortened(value: object) -> str:
    """Return a value as JSON of at most `TEXT_CHARS` characters."""
    return cut(json_text(value))


def cut(text: str) -> str:
    """Return the first `TEXT_CHARS` characters of a text."""
    return text if len(text) <= TEXT_CHARS else text[:TEXT_CHARS] + "…"


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content, calls = message.get("content"), message.get("tool_calls")
    pieces = [{"text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = [cut(text) for one in pieces[:MAX_PARTS] if isinstance(text := mapping(one).get("text"), str)]
    if message.get("role") == "tool":
        answered = {"type": "tool_call_response", "id": name(message.get("tool_call_id"))}
        return [answered | {"response": cut("\n".join(texts))}]
    parts: list[dict[str, Any]] = [{"type": "text", "content": text} for text in texts if text]
    return parts + [_call(mapping(one)) for one in (calls[:MAX_PARTS] if isinstance(calls, list) else ())]


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = mapping(call.get("function"))
    given = function.get("arguments")
    text = given if isinstance(given, str) else json_text(given)
    given = json_value(text, text) if len(text) <= TEXT_CHARS else cut(text)
    about = {"type": "tool_call", "id": name(call.get("id")) or None, "name": name(function.get("name"))}
    return about | {"arguments": given}
