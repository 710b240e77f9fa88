"""A conversation as the request body that OpenAI-compatible endpoints accept. Pure.

Every rule is due to a rejection that was observed: null content next to calls, provider fields that must be
sent back only with the next request, ids that one provider limits to nine characters. The model's traits say
which rules apply.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tui.core.context.tool_results import EMPTY
from tui.core.conversation.conversation import (
    AssistantMessage,
    CallRequest,
    Message,
    ToolMessage,
    UserMessage,
    sanitised,
)
from tui.core.ports import ModelRequest, ToolSpec
from tui.core.schemas.schema_forms import SchemaForm, in_form, renamed_keys, with_plain_keys
from tui.core.schemas.schemas import subschemas
from tui.core.schemas.tool_names import accepted_name
from tui.core.text import list_in, object_in, truncated
from tui.core.turn.model_step import parse_arguments
from tui.core.units import and_more
from tui.model.endpoints.endpoint_errors import looks_like_ollama
from tui.model.endpoints.learned_quirks import Learned, not_offered
from tui.model.endpoints.profile import ModelProfile
from tui.model.endpoints.provider_traits import CallIds, Echo, Traits, effort_fields, traits_of
from tui.model.endpoints.providers import is_local
from tui.model.openai_api.accumulator import BLOCKS, REASONING_FIELDS
from tui.model.openai_api.attachments import Attached
from tui.model.openai_api.call_slots import ON_CALLS, sendable
from tui.model.openai_api.think_tags import HEAD

MAX_NAMED = 5
"""Maximum tools that are named in one sentence."""


def plain_json(value: Any) -> Any:
    """Return `value` as JSON types that can be encoded."""
    match value:
        case str():
            return sendable(value)
        case Mapping():
            return {sendable(str(key)): plain_json(item) for key, item in value.items()}
        case Sequence():
            return [plain_json(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


@dataclass(frozen=True, slots=True)
class _ShapedTool:
    """A tool, converted to a form; `entry` is what is sent.

    `keys` maps the names of properties as sent to those that the server knows.
    """

    tool: ToolSpec
    form: tuple[SchemaForm, bool, int]
    entry: dict[str, Any]
    keys: Mapping[str, str]


def key_of(tool: ToolSpec) -> str:
    """Return the name of a tool with a hash of what the endpoint judges: its description and schema."""
    judged = json.dumps([tool.description, tool.schema], sort_keys=True, default=str)
    digest = hashlib.sha256(judged.encode("utf-8", "backslashreplace")).hexdigest()
    return f"{tool.name}#{digest[:12]}"


class ToolForms:
    """The tools of one model at one endpoint."""

    def __init__(self) -> None:
        self._made: dict[str, _ShapedTool] = {}
        self._keys: dict[str, tuple[ToolSpec, str]] = {}

    def key(self, tool: ToolSpec) -> str:
        known = self._keys.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._keys[tool.name] = (tool, key_of(tool))
        return known[1]

    def offered(self, request: ModelRequest, traits: Traits, learned: Learned) -> list[ToolSpec]:
        """Return the tools of a request that the endpoint accepts, in order; the best ones if not all fit."""
        kept = [tool for tool in request.tools if self.key(tool) not in learned.left_out]
        if len(kept) <= traits.max_tools:
            return kept
        rank = {name: at for at, name in enumerate(request.best)}
        best = sorted(kept, key=lambda tool: rank.get(tool.name, len(rank)))[: traits.max_tools]
        names = {tool.name for tool in best}
        return [tool for tool in kept if tool.name in names]

    def left_out(self, tools: Iterable[ToolSpec], learned: Learned) -> str:
        """Return which of `tools` are not sent because the endpoint rejects them, as a sentence, or ""."""
        names = [tool.name for tool in tools if self.key(tool) in learned.left_out]
        if not names:
            return ""
        return not_offered(and_more(names, MAX_NAMED))

    def entries(self, tools: Sequence[ToolSpec], traits: Traits, learned: Learned) -> list[dict[str, Any]]:
        return [self._entry(tool, traits, self.key(tool) in learned.strict_tools) for tool in tools]

    def of_history(self, messages: Iterable[Message]) -> list[dict[str, Any]]:
        """Return the `tools` for the tools that were called in a history, known or not."""
        said = (message for message in messages if isinstance(message, AssistantMessage))
        names = dict.fromkeys(accepted_name(call.name) for message in said for call in message.calls)
        return [self._made[name].entry if name in self._made else _entry(name) for name in names]

    def _entry(self, tool: ToolSpec, traits: Traits, strict: bool) -> dict[str, Any]:
        form = (
            SchemaForm.GEMINI if strict else traits.schema,
            traits.plain_keys or strict,
            traits.max_description,
        )
        made = self._made.get(tool.name)
        if made is None or made.tool is not tool or made.form != form:
            made = self._made[tool.name] = _shaped(tool, form)
        return made.entry

    def renamed(self, call: CallRequest, *, back: bool) -> CallRequest:
        """Return a call with the property names that the endpoint accepts, or `back` with its server's."""
        made = self._made.get(call.name)
        if made is None or not made.keys or call.truncated:
            return call
        names = made.keys if back else {old: new for new, old in made.keys.items()}
        try:
            arguments = parse_arguments(call.arguments)
        except ValueError:
            return call
        return replace(call, arguments=json.dumps(renamed_keys(arguments, names), ensure_ascii=False))


def _entry(name: str, **described: Any) -> dict[str, Any]:
    described = described or {"parameters": {"type": "object", "properties": {}}}
    return {"type": "function", "function": {"name": name, **described}}


def _shaped(tool: ToolSpec, form: tuple[SchemaForm, bool, int]) -> _ShapedTool:
    """Return a tool as an entry of `tools`. Not `strict`, which would change the meaning of optional."""
    kind, plain_keys, longest = form
    schema, keys = in_form(tool.schema, kind), dict[str, str]()
    if plain_keys:
        schema, keys = with_plain_keys(schema)
    description = truncated(sendable(tool.description), longest)
    return _ShapedTool(
        tool, form, _entry(tool.name, description=description, parameters=plain_json(schema)), keys
    )


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
    if limits and traits.max_reply:
        limits.append(traits.max_reply)
    if traits.reply_room:
        limits.append(traits.reply_room)
    if limits:
        options[traits.max_tokens_name] = min(limits)
    if profile.effort:
        most = min(limits, default=None)
        options |= effort_fields(profile.effort, traits.effort, taken=traits.efforts, max_tokens=most)
        if profile.effort == "none" and is_local(profile.base_url) and not looks_like_ollama(profile):
            # vLLM, SGLang and llama.cpp leave it to the model's template.
            options["chat_template_kwargs"] = {"enable_thinking": False}
    if traits.cache_key:
        options["prompt_cache_key"] = cache_key(request)
    # With tools, a local server would answer in the format instead of calling one.
    takes_format = not with_tools or (traits.format_with_tools and not is_local(profile.base_url))
    if request.answer_schema is not None and takes_format:
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
    spoken = [one for one in messages if one["role"] in ("user", "assistant")]
    said = [one for one in spoken if any(part.get("text") for part in _parts(one["content"] or ""))]
    for message in (*(one for one in messages[:1] if one["role"] == "system"), *said[-MARKED_MESSAGES:]):
        parts = list(_parts(message["content"]))
        at = max(at for at, part in enumerate(parts) if part.get("type") == "text")
        parts[at] = {**parts[at], "cache_control": MARK}
        message["content"] = parts


def _answer_format(schema: Mapping[str, Any], traits: Traits) -> dict[str, Any]:
    if traits.answer_format != "json_schema":
        return {"type": "json_object"}
    sent = in_form(schema, traits.schema) if traits.schema is SchemaForm.GEMINI else schema
    described = {"name": "answer", "schema": plain_json(sent)}
    return {"type": "json_schema", "json_schema": described | ({"strict": True} if is_strict(schema) else {})}


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether a schema meets the rules for `strict`: closed objects, all of whose properties are required."""
    if schema.get("type") == "object" or "properties" in schema:
        properties = object_in(schema, "properties")
        closed = schema.get("additionalProperties") is False
        if not closed or set(list_in(schema, "required")) != set(properties):
            return False
    return all(map(is_strict, subschemas(schema)))


_NINE = re.compile(r"[a-zA-Z0-9]{9}")
_PLAIN = re.compile(r"[a-zA-Z0-9_-]{1,40}")


Content = str | list[dict[str, Any]]
"""The content of a user message: a text, or parts if it has attachments."""

_NO_THINKING = "."
"""Replaces missing thinking, because some endpoints treat an empty text as missing (hermes-agent#17341)."""


def body_for(
    profile: ModelProfile,
    request: ModelRequest,
    learned: Learned,
    forms: ToolForms | None = None,
    traits: Traits | None = None,
) -> dict[str, Any]:
    """Return the JSON body of a request, without what the endpoint is known to reject.

    `traits` are those of the model, by default what the table and `learned` say.
    """
    traits = traits or learned.applied(traits_of(profile.base_url, profile.model))
    forms = forms or ToolForms()
    tools = forms.entries(forms.offered(request, traits, learned), traits, learned)
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": _Writer(profile, traits, forms).messages(request),
        "stream": traits.stream,
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
    if learned.thinking_blocks == "refused":
        for message in body["messages"]:
            message.pop(BLOCKS, None)
    refused = traits.refuses | (_THINKING if learned.thinking_blocks and _lacks_blocks(body) else frozenset())
    kept = {name: value for name, value in body.items() if name not in refused}
    kept.update(plain_json(profile.extra_body))
    if kept["stream"] is False and "stream_options" not in profile.extra_body:
        kept.pop("stream_options", None)
    return kept


_THINKING = frozenset(("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget"))
"""Fields that make a model think."""


def _lacks_blocks(body: Mapping[str, Any]) -> bool:
    """Whether the calls of the current turn were made without thinking, or by another model."""
    for message in reversed(body["messages"]):
        if message["role"] == "user":
            break
        if message.get("tool_calls") and not message.get(BLOCKS):
            return True
    return False


class _Writer:
    """Writes the messages of one request.

    No two call ids are alike, and each has a form that the provider accepts. A conversation may have begun
    with another model: if this endpoint rejects those ids (OpenAI accepts 40 characters, vLLM makes 46), it
    rejects every later request.
    """

    def __init__(self, profile: ModelProfile, traits: Traits, forms: ToolForms) -> None:
        self._model = profile.model
        self._traits = traits
        self._forms = forms
        self._taken: set[str] = set()
        self._unanswered: dict[str, list[str]] = {}
        """The ids as sent of the calls of the last message, by their own."""

    def messages(self, request: ModelRequest) -> list[dict[str, Any]]:
        result: list[dict[str, Any]] = []
        if request.system:
            role = "system" if self._traits.system else "user"
            result.append({"role": role, "content": sendable(request.system)})
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
                    content, identity = (
                        attached.of_tool(at, message),
                        self._unanswered[message.call_id].pop(0),
                    )
                    entry = {"role": "tool", "tool_call_id": identity}
                    entry["content"] = content if content.strip() else EMPTY
                    if self._traits.named_results:
                        entry["name"] = accepted_name(message.name)
                    result.append(entry)
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
            first = before["content"]
            if isinstance(first, str) and isinstance(content, str):
                before["content"] = "\n\n".join(filter(None, (first, content)))
            else:
                before["content"] = (
                    [*_parts(first), *_parts(content)] if first and content else first or content
                )
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
            result.append({"role": "user", "content": "[Earlier messages are lost.]"})
        elif before == "assistant":
            texts = filter(None, (result.pop()["content"], entry["content"]))
            entry["content"] = "\n\n".join(texts) or None
        result.append(entry)

    def _assistant_entry(self, message: AssistantMessage, *, this_turn: bool) -> dict[str, Any]:
        own = message.model == self._model
        text = sendable(message.text)
        entry: dict[str, Any] = {"role": "assistant", "content": text if text.strip() else None}
        if message.calls:
            self._unanswered.clear()
            entry["tool_calls"] = [self._call(call, own) for call in message.calls]
        for name, value in (message.echo or {}).items() if own else ():
            if not self._is_sent_back(name, this_turn):
                continue
            if name == HEAD:
                entry[name] = f"{sendable(str(value))}{entry[name] or ''}"
            else:
                entry[name] = plain_json(value)
        if self._traits.reasoning is Echo.FILLED and not entry.get("reasoning_content"):
            entry["reasoning_content"] = sendable(message.reasoning) or _NO_THINKING
        return entry

    def _is_sent_back(self, name: str, this_turn: bool) -> bool:
        if name in REASONING_FIELDS or (name == HEAD and self._traits.reasoning is not Echo.FILLED):
            wanted = self._traits.reasoning
            return wanted is not Echo.NEVER and (this_turn or wanted is not Echo.TURN)
        if name == HEAD:  # the thinking has its own field
            return False
        return self._traits.details if name in ("reasoning_details", BLOCKS) else self._traits.extra

    def _sent_id(self, call: CallRequest, own: bool) -> str:
        """Return the id of a call, or a hash of it, because the beginnings of ids are often the same."""
        wanted, identity = self._traits.call_ids, call.id
        if wanted is CallIds.NINE:
            fits = _NINE.fullmatch(identity) is not None
        else:
            # Its own ids are sent back unchanged: a model may continue counting (`functions.NAME:7`).
            own = own and wanted is CallIds.ANY
            fits = bool(identity) and (own or _PLAIN.fullmatch(identity) is not None)
        made, number = (sendable(identity), 1) if fits else ("", 0)
        while not made or made in self._taken:
            seed = f"{identity}\0{number}" if number else identity
            digest = hashlib.sha256(seed.encode("utf-8", "replace")).hexdigest()
            made, number = digest[:9] if wanted is CallIds.NINE else f"call_{digest[:24]}", number + 1
        self._taken.add(made)
        self._unanswered.setdefault(identity, []).append(made)
        return made

    def _call(self, call: CallRequest, own: bool) -> dict[str, Any]:
        arguments = self._forms.renamed(call, back=False).arguments
        try:
            parse_arguments(arguments)
        except ValueError:
            arguments = ""
        # One object is what every provider accepts.
        arguments = sendable(arguments) if arguments.lstrip().startswith("{") else "{}"
        function = {"name": accepted_name(call.name), "arguments": arguments}
        entry: dict[str, Any] = {"id": self._sent_id(call, own), "type": "function", "function": function}
        if call.extra and own and self._traits.extra:
            beside = {name: plain_json(call.extra[name]) for name in ON_CALLS if name in call.extra}
            if content := {name: value for name, value in call.extra.items() if name not in beside}:
                entry["extra_content"] = plain_json(content)
            entry |= beside
        return entry


def _parts(content: Content) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _turn_of(messages: list[Any]) -> int:
    """Return the index of the user message that began the current turn.

    A note of the loop follows results and does not begin one.
    """
    begun = (at for at, item in enumerate(messages) if isinstance(item, UserMessage))
    return max((at for at in begun if not at or not isinstance(messages[at - 1], ToolMessage)), default=0)
