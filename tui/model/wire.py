"""A conversation as OpenAI-compatible endpoints want it. Pure.

Every rule here answers a refusal that was seen: content null beside calls, provider fields that must
come back with the next request and nowhere else, ids that one provider limits to nine characters. Which
of them hold for a model is said by its traits.
"""

import hashlib
import json
import re
from typing import Any

from tui.core.conversation import AssistantMessage, CallRequest, ToolMessage, UserMessage, sanitised
from tui.core.ports import ModelRequest
from tui.model.attachments import Attached
from tui.model.profile import ModelProfile
from tui.model.quirks import Learned
from tui.model.sendable import plain_json, sendable
from tui.model.tool_forms import ToolForms
from tui.model.traits import CallIds, Echo, Traits, traits_of

Content = str | list[dict[str, Any]]
"""What a user message says: a text, or parts where something is attached to it."""

_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")


def body_for(
    profile: ModelProfile, request: ModelRequest, learned: Learned, forms: ToolForms | None = None
) -> dict[str, Any]:
    """Return the JSON body of a request, without what the endpoint is known to refuse."""
    traits = learned.applied(traits_of(profile.base_url, profile.model))
    forms = forms or ToolForms()
    tools = forms.entries(forms.offered(request, traits, learned), traits, learned)
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": _Writer(profile, traits, forms).messages(request),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        body["tools"] = tools
    elif traits.needs_tools and (called := forms.of_history(request.messages)[: traits.max_tools]):
        body |= {"tools": called, "tool_choice": "none"}
    if request.stop:
        body["stop"] = [sendable(text) for text in request.stop]
    if profile.temperature is not None:
        body["temperature"] = profile.temperature
    if profile.max_tokens is not None:
        body[traits.max_tokens_name] = profile.max_tokens
    return {name: value for name, value in body.items() if name not in traits.refuses}


class _Writer:
    """Writes the messages of one request."""

    def __init__(self, profile: ModelProfile, traits: Traits, forms: ToolForms) -> None:
        self._model = profile.model
        self._traits = traits
        self._forms = forms

    def messages(self, request: ModelRequest) -> list[dict[str, Any]]:
        """Return the messages, the system text first."""
        result: list[dict[str, Any]] = []
        if request.system:
            result.append({"role": "system", "content": sendable(request.system)})
        messages = sanitised(request.messages)
        attached = Attached(messages, self._traits)
        turn = _turn_of(messages)
        for at, message in enumerate(messages):
            match message:
                case UserMessage():
                    self._user(result, attached.of_user(at, message))
                case AssistantMessage():
                    result.append(self._assistant(message, this_turn=at > turn))
                case ToolMessage():
                    identity, content = self._call_id(message.call_id), attached.of_tool(at, message)
                    result.append({"role": "tool", "tool_call_id": identity, "content": content})
                    if pictures := attached.behind(at, messages):
                        self._user(result, pictures)
        return result

    def _user(self, result: list[dict[str, Any]], content: Content) -> None:
        """Append what the person said; to what they said before, if nobody has answered that.

        Templates of local models refuse two messages of one role in a row ("roles must alternate").
        """
        before: dict[str, Any] = result[-1] if result else {"role": ""}
        if before["role"] == "tool" and not self._traits.user_after_tool:
            result.append({"role": "assistant", "content": "Done."})
        elif before["role"] == "user":
            before["content"] = _joined(before["content"], content)
            return
        result.append({"role": "user", "content": content})

    def _assistant(self, message: AssistantMessage, *, this_turn: bool) -> dict[str, Any]:
        own = message.model == self._model
        entry: dict[str, Any] = {"role": "assistant", "content": sendable(message.text) or None}
        if message.calls:
            entry["tool_calls"] = [self._call(call, own) for call in message.calls]
        for name, value in (message.echo or {}).items() if own else ():
            if self._goes_back(name, this_turn):
                entry[name] = plain_json(value)
        if self._traits.reasoning is Echo.FILLED:
            entry.setdefault("reasoning_content", sendable(message.reasoning))
        return entry

    def _goes_back(self, name: str, this_turn: bool) -> bool:
        """Whether a provider's own field on a message is sent back to it."""
        if name in _REASONING:
            wanted = self._traits.reasoning
            return wanted is not Echo.NEVER and (this_turn or wanted is not Echo.TURN)
        return self._traits.details if name == "reasoning_details" else self._traits.extra

    def _call(self, call: CallRequest, own: bool) -> dict[str, Any]:
        written = self._forms.as_sent(call)
        entry: dict[str, Any] = {
            "id": self._call_id(call.id),
            "type": "function",
            "function": {"name": sendable(call.name), "arguments": _arguments(written.arguments)},
        }
        if call.extra and own and self._traits.extra:
            entry["extra_content"] = plain_json(call.extra)
        return entry

    def _call_id(self, identity: str) -> str:
        """Return the id as the provider takes it: by hash, since the heads of ids are often all the same."""
        if self._traits.call_ids is CallIds.ANY or _NINE.fullmatch(identity):
            return sendable(identity)
        return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:9]


def _joined(first: Content, second: Content) -> Content:
    """Return what two messages say as one; texts with a blank line between."""
    if not (first and second):
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Content) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _turn_of(messages: list[Any]) -> int:
    """Return the index of the user message that began the present turn.

    A note of the loop stands behind results and does not begin one.
    """
    turn = len(messages)
    while turn > 0:
        turn = max((at for at, one in enumerate(messages[:turn]) if isinstance(one, UserMessage)), default=0)
        if turn == 0 or not isinstance(messages[turn - 1], ToolMessage):
            return turn
    return 0


def _arguments(text: str) -> str:
    """Return arguments that no provider chokes on: one JSON object."""
    try:
        valid = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        valid = False
    return sendable(text) if valid else "{}"
