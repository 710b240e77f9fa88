"""A conversation as OpenAI-compatible endpoints want it. Pure.

Every rule here answers a refusal that was seen: content null beside calls, provider fields that must
come back with the next request and nowhere else, ids that one provider limits to nine characters.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tui.core.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage, sanitised
from tui.core.ports import ModelRequest, ToolSpec
from tui.model.profile import ModelProfile
from tui.model.providers import host_of
from tui.model.quirks import Learned

MAX_DESCRIPTION = 1024
"""Characters of a tool's description; OpenAI answers 400 for more."""

_MISTRAL_ID = re.compile(r"[a-zA-Z0-9]{9}")
_ALWAYS_ECHO = re.compile(r"deepseek-v4|thinking|kimi|moonshot|glm|minimax", re.IGNORECASE)
_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")


def body_for(profile: ModelProfile, request: ModelRequest, learned: Learned) -> dict[str, Any]:
    """Return the JSON body of a request, without what the endpoint is known to refuse."""
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": messages_for(profile, request, learned),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    tools = [tool_for(tool) for tool in request.tools if tool.name not in learned.refused_tools]
    if tools:
        body["tools"] = tools
    if request.stop:
        body["stop"] = [_sendable(text) for text in request.stop]
    if profile.temperature is not None:
        body["temperature"] = profile.temperature
    if profile.max_tokens is not None:
        body[learned.max_tokens_name] = profile.max_tokens
    return {name: value for name, value in body.items() if name not in learned.dropped}


def tool_for(tool: ToolSpec) -> dict[str, Any]:
    """Return a tool as `tools` wants it. `strict` is left out: it would change what optional means."""
    description = _sendable(tool.description)
    if len(description) > MAX_DESCRIPTION:
        description = description[: MAX_DESCRIPTION - 1] + "…"
    function = {"name": tool.name, "description": description, "parameters": _plain(tool.schema)}
    return {"type": "function", "function": function}


def messages_for(profile: ModelProfile, request: ModelRequest, learned: Learned) -> list[dict[str, Any]]:
    """Return the messages of a request, the system text first."""
    mistral = host_of(profile.base_url).endswith("mistral.ai") or "mistral" in profile.model.lower()
    messages = sanitised(request.messages)
    turn = max((at for at, one in enumerate(messages) if isinstance(one, UserMessage)), default=0)
    # A note of the loop stands behind results and does not begin a turn.
    while turn > 0 and isinstance(messages[turn - 1], ToolMessage):
        turn = max((at for at, one in enumerate(messages[:turn]) if isinstance(one, UserMessage)), default=0)
    result: list[dict[str, Any]] = []
    if request.system:
        result.append({"role": "system", "content": _sendable(request.system)})
    for at, message in enumerate(messages):
        match message:
            case UserMessage(text):
                if mistral and result and result[-1]["role"] == "tool":
                    result.append({"role": "assistant", "content": "Done."})
                result.append({"role": "user", "content": _sendable(text)})
            case AssistantMessage():
                result.append(_assistant(message, profile, learned, at > turn, mistral))
            case ToolMessage(call_id, _, text):
                identity = _call_id(call_id, mistral)
                result.append({"role": "tool", "tool_call_id": identity, "content": _sendable(text)})
    return result


def _assistant(
    message: AssistantMessage, profile: ModelProfile, learned: Learned, this_turn: bool, mistral: bool
) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": "assistant", "content": _sendable(message.text) or None}
    if message.calls:
        entry["tool_calls"] = [_call(call, mistral, message.model == profile.model) for call in message.calls]
    if message.model == profile.model and not learned.no_echo:
        always = learned.fill_reasoning or bool(_ALWAYS_ECHO.search(profile.model))
        for name, value in (message.echo or {}).items():
            if name not in _REASONING or this_turn or always:
                entry[name] = _plain(value)
    if learned.fill_reasoning:
        entry.setdefault("reasoning_content", _sendable(message.reasoning))
    return entry


def _call(call: CallRequest, mistral: bool, own: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": _call_id(call.id, mistral),
        "type": "function",
        "function": {"name": _sendable(call.name), "arguments": _arguments(call.arguments)},
    }
    if call.extra and own:
        entry["extra_content"] = _plain(call.extra)
    return entry


def _call_id(identity: str, mistral: bool) -> str:
    """Return the id as the provider takes it: Mistral wants exactly nine letters and digits."""
    if not mistral or _MISTRAL_ID.fullmatch(identity):
        return _sendable(identity)
    return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:9]


def _arguments(text: str) -> str:
    """Return arguments that no provider chokes on: one JSON object."""
    try:
        valid = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        valid = False
    return _sendable(text) if valid else "{}"


def _sendable(text: str) -> str:
    """Return `text` without lone surrogates, which cannot be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _plain(value: Any) -> Any:
    """Return `value` as JSON types that can be encoded."""
    match value:
        case str():
            return _sendable(value)
        case Mapping():
            return {_sendable(str(key)): _plain(item) for key, item in value.items()}
        case Sequence():
            return [_plain(item) for item in value]
        case _:
            return value
