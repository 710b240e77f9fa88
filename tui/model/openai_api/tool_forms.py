"""The tools of a request as one endpoint accepts them, and its calls in the servers' own names.

Converted once for each tool and cached: a hundred schemas are not converted with every request.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tui.core.conversation.conversation import AssistantMessage, CallRequest, Message
from tui.core.ports import ModelRequest, ToolSpec
from tui.core.schemas.schema_forms import SchemaForm, in_form, renamed_keys, with_plain_keys
from tui.core.turn.model_step import parse_arguments
from tui.model.endpoints.learned_quirks import Learned
from tui.model.endpoints.provider_traits import Traits
from tui.model.openai_api.sendable import plain_json, sendable

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")

MAX_NAMED = 5
"""Maximum tools that are named in one sentence."""


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
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        return f"The endpoint rejects the schema of {', '.join(names[:MAX_NAMED])}{more}. Not offered."

    def entries(self, tools: Sequence[ToolSpec], traits: Traits, learned: Learned) -> list[dict[str, Any]]:
        return [self._entry(tool, traits, self.key(tool) in learned.strict_tools) for tool in tools]

    def of_history(self, messages: Iterable[Message]) -> list[dict[str, Any]]:
        """Return the `tools` for the tools that were called in a history, known or not."""
        said = (message for message in messages if isinstance(message, AssistantMessage))
        names = dict.fromkeys(plain_name(call.name) for message in said for call in message.calls)
        return [self._made[name].entry if name in self._made else _unknown(name) for name in names]

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


def _shaped(tool: ToolSpec, form: tuple[SchemaForm, bool, int]) -> _ShapedTool:
    """Return a tool as an entry of `tools`. Not `strict`, which would change the meaning of optional."""
    kind, plain_keys, longest = form
    schema, keys = in_form(tool.schema, kind), dict[str, str]()
    if plain_keys:
        schema, keys = with_plain_keys(schema)
    description = sendable(tool.description)
    if len(description) > longest:
        description = description[: longest - 1] + "…"
    function = {"name": tool.name, "description": description, "parameters": plain_json(schema)}
    return _ShapedTool(tool, form, {"type": "function", "function": function}, keys)


def _unknown(name: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def plain_name(name: str) -> str:
    """Return the name of a tool in the form that a history allows, similar to what the model wrote."""
    if _NAME.fullmatch(name):
        return name
    plain = _NOT_IN_NAMES.sub("_", name)
    return (plain if _NAME.match(plain) else f"_{plain}")[:64]
