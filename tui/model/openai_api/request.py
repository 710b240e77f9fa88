"""A conversation as the request body that OpenAI-compatible endpoints accept. Pure.

Every rule is due to a rejection that was observed: null content next to calls, provider fields that must be
sent back only with the next request, ids that one provider limits to nine characters. The model's traits say
which rules apply.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from tui.core.context.tool_results import EMPTY
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.ports import ModelRequest
from tui.core.turn.model_step import parse_arguments
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.provider_traits import CallIds, Echo, Traits, traits_of
from tui.model.openai_api.attachments import Attached
from tui.model.openai_api.request_options import mark_for_cache, options_for
from tui.model.openai_api.sendable import plain_json, sendable
from tui.model.openai_api.tool_forms import ToolForms, plain_name

_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_PLAIN = re.compile(r"[a-zA-Z0-9_-]{1,40}")


class SentIds:
    """The call ids of one request, no two of them alike, in a form that the provider accepts.

    A conversation may have begun with another model. If this endpoint rejects those ids (OpenAI accepts 40
    characters, vLLM makes 46), it rejects every later request.
    """

    def __init__(self, wanted: CallIds) -> None:
        self._wanted = wanted
        self._taken: set[str] = set()
        self._open: dict[str, list[str]] = {}

    def of_calls(self, calls: Sequence[CallRequest], own: bool) -> list[str]:
        """Return the ids of the calls of one message; `own` if this model has made them."""
        self._open = {}
        result: list[str] = []
        for call in calls:
            identity, number = self._sent_id(call.id, own), 0
            while identity in self._taken:
                number += 1
                identity = self._hashed(f"{call.id}\0{number}")
            self._taken.add(identity)
            self._open.setdefault(call.id, []).append(identity)
            result.append(identity)
        return result

    def of_result(self, call_id: str) -> str:
        """Return the id of the call that a result answers; each call of the last message has one."""
        return self._open[call_id].pop(0)

    def _sent_id(self, identity: str, own: bool) -> str:
        if self._wanted is CallIds.NINE:
            fits = _NINE.fullmatch(identity) is not None
        else:
            # Its own ids are sent back unchanged: a model may continue counting (`functions.NAME:7`).
            own = own and self._wanted is CallIds.ANY
            fits = bool(identity) and (own or _PLAIN.fullmatch(identity) is not None)
        return sendable(identity) if fits else self._hashed(identity)

    def _hashed(self, identity: str) -> str:
        """Return an id made from a hash, because the beginnings of ids are often the same."""
        digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
        return digest[:9] if self._wanted is CallIds.NINE else f"call_{digest[:24]}"


Content = str | list[dict[str, Any]]
"""The content of a user message: a text, or parts if it has attachments."""

_NO_THINKING = "."
"""Replaces missing thinking, because some endpoints treat an empty text as missing (hermes-agent#17341)."""

_LOST = "[Earlier messages are lost.]"
_REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")


def body_for(
    profile: ModelProfile, request: ModelRequest, learned: Learned, forms: ToolForms | None = None
) -> dict[str, Any]:
    """Return the JSON body of a request, without what the endpoint is known to reject."""
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
        if request.must_call:
            body["tool_choice"] = "required"
    elif traits.needs_tools and (called := forms.of_history(request.messages)[: traits.max_tools]):
        body |= {"tools": called, "tool_choice": "none"}
    body |= options_for(profile, request, traits, with_tools=bool(tools))
    if traits.cache_marks and "cache_control" not in traits.refuses:
        mark_for_cache(body["messages"])
    kept = {name: value for name, value in body.items() if name not in traits.refuses}
    kept.update(plain_json(profile.extra_body))
    return kept


class _Writer:
    def __init__(self, profile: ModelProfile, traits: Traits, forms: ToolForms) -> None:
        self._model = profile.model
        self._traits = traits
        self._forms = forms
        self._ids = SentIds(traits.call_ids)

    def messages(self, request: ModelRequest) -> list[dict[str, Any]]:
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
                    self._assistant(result, message, this_turn=at > turn)
                case ToolMessage():
                    result.append(self._tool(message, attached.of_tool(at, message)))
                    if pictures := attached.behind(at, messages):
                        self._user(result, pictures)
        return result

    def _user(self, result: list[dict[str, Any]], content: Content) -> None:
        """Append a user message; join it with the previous message if that is a user message, too.

        Templates of local models reject two successive messages with the same role ("roles must alternate").
        """
        before: dict[str, Any] = result[-1] if result else {"role": ""}
        if before["role"] == "tool" and not self._traits.user_after_tool:
            result.append({"role": "assistant", "content": "Done."})
        elif before["role"] == "user":
            before["content"] = _joined(before["content"], content)
            return
        result.append({"role": "user", "content": content})

    def _assistant(self, result: list[dict[str, Any]], message: AssistantMessage, *, this_turn: bool) -> None:
        """Append an assistant message; never first, and never after another one without a call.

        mcptui never makes such a history, but a damaged session or an edited export may contain one.
        """
        entry = self._assistant_entry(message, this_turn=this_turn)
        if entry["content"] is None and not message.calls:  # white space, which some endpoints reject
            return
        before = result[-1]["role"] if result else "system"
        if before == "system":
            result.append({"role": "user", "content": _LOST})
        elif before == "assistant":
            texts = filter(None, (result.pop()["content"], entry["content"]))
            entry["content"] = "\n\n".join(texts) or None
        result.append(entry)

    def _assistant_entry(self, message: AssistantMessage, *, this_turn: bool) -> dict[str, Any]:
        own = message.model == self._model
        text = sendable(message.text)
        entry: dict[str, Any] = {"role": "assistant", "content": text if text.strip() else None}
        if message.calls:
            ids = self._ids.of_calls(message.calls, own)
            entry["tool_calls"] = [
                self._call(call, identity, own) for call, identity in zip(message.calls, ids, strict=True)
            ]
        for name, value in (message.echo or {}).items() if own else ():
            if self._is_sent_back(name, this_turn):
                entry[name] = plain_json(value)
        if self._traits.reasoning is Echo.FILLED and not entry.get("reasoning_content"):
            entry["reasoning_content"] = sendable(message.reasoning) or _NO_THINKING
        return entry

    def _is_sent_back(self, name: str, this_turn: bool) -> bool:
        if name in _REASONING:
            wanted = self._traits.reasoning
            return wanted is not Echo.NEVER and (this_turn or wanted is not Echo.TURN)
        return self._traits.details if name == "reasoning_details" else self._traits.extra

    def _call(self, call: CallRequest, identity: str, own: bool) -> dict[str, Any]:
        written = self._forms.as_sent(call)
        entry: dict[str, Any] = {
            "id": identity,
            "type": "function",
            "function": {"name": plain_name(call.name), "arguments": _arguments(written.arguments)},
        }
        if call.extra and own and self._traits.extra:
            entry["extra_content"] = plain_json(call.extra)
        return entry

    def _tool(self, message: ToolMessage, content: str) -> dict[str, Any]:
        identity = self._ids.of_result(message.call_id)
        entry = {"role": "tool", "tool_call_id": identity, "content": content if content.strip() else EMPTY}
        return entry | ({"name": plain_name(message.name)} if self._traits.named_results else {})


def _joined(first: Content, second: Content) -> Content:
    """Return the content of two messages as one; texts with a blank line between."""
    if not (first and second):
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Content) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _turn_of(messages: list[Any]) -> int:
    """Return the index of the user message that began the current turn.

    A note of the loop follows results and does not begin one.
    """
    turn = len(messages)
    while turn > 0:
        turn = max(
            (at for at, item in enumerate(messages[:turn]) if isinstance(item, UserMessage)), default=0
        )
        if turn == 0 or not isinstance(messages[turn - 1], ToolMessage):
            return turn
    return 0


def _arguments(text: str) -> str:
    """Return arguments that every provider accepts: one JSON object."""
    try:
        parse_arguments(text)
    except ValueError:
        return "{}"
    return sendable(text) if text.lstrip().startswith("{") else "{}"
