"""Learns from error messages what an endpoint rejects. Pure.

Endpoints accept different requests, and do not announce which. If a rejection says how to change the request,
by the table in `refusals`, it is sent again like that, and this is remembered for this endpoint and model.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

from tui.core import units
from tui.core.language.translate import message
from tui.core.ports import EFFORTS
from tui.core.schemas.schema_forms import SchemaForm
from tui.model.endpoints.failures import number_in, refusals_in, reply_room
from tui.model.endpoints.provider_traits import CallIds, Echo, Traits
from tui.model.endpoints.refusal_rows import DECIDED, TOLD, Do, Refusal
from tui.model.endpoints.refusals import TABLE

MAX_REMEMBERED = 200
"""Maximum names in one remembered set."""

MAX_FACTS = 12

_OPTIONAL = {row.what for row in TABLE if row.do is Do.OMIT}
"""The parts of a request that can be omitted."""

_ABOUT_TOOLS = ("form", "plain_keys", "strict_tools", "left_out", "refusals")
_FOR_NOW = ("left_out", "refusals", "thinking_first", "no_stream", "plain_json", "reply_room")

_POSITIONS = (
    # Google's come first: their messages contain `tools[0]` before the index that counts.
    re.compile(r"\bfunction_?declarations[.\[](\d{1,4})\b", re.IGNORECASE),
    re.compile(r"\btools?[.\[](\d{1,4})\b"),
)


@dataclass(slots=True)
class Learned:
    """The quirks that an endpoint is known to have for one model.

    Tools are identified by their key, see `request.key_of`: a tool that its server changed is another tool.
    `form` is the form that all tool schemas need, if it differs from the table's; `strict_tools` are sent in
    the strictest form. `left_out` are not sent at all: for the rest of the request after one rejection of
    their strictest schema, until mcptui exits after two (`refusals` counts them). `max_tools` is 0 if
    unknown. `thinking_first`: its messages begin with thinking, without the opening tag. `no_echo`: provider
    fields must not be sent back. `fill_reasoning`: reasoning_content is required on every assistant message.
    `thinking_blocks` are "required" in a turn with calls, or the last ones were "refused": without them, the
    model must not think.
    Other names are those of `Traits`. Fields in `_FOR_NOW` are not remembered between runs.
    """

    dropped: set[str] = field(default_factory=set)
    max_tokens_name: str = ""
    form: str = ""
    plain_keys: bool = False
    strict_tools: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    refusals: dict[str, int] = field(default_factory=dict)
    max_tools: int = 0
    needs_tools: bool = False
    no_tools: bool = False
    no_images: bool = False
    no_audio: bool = False
    no_echo: bool = False
    fill_reasoning: bool = False
    thinking_blocks: str = ""
    call_ids: str = ""
    named_results: bool = False
    efforts: set[str] = field(default_factory=set)
    answer_format: str = ""
    no_format_with_tools: bool = False
    no_user_after_tool: bool = False
    thinking_first: bool = False
    no_system: bool = False
    no_stream: bool = False
    plain_json: bool = False
    max_reply: int = 0
    reply_room: int = 0

    def applied(self, traits: Traits) -> Traits:
        """Return what is required and accepted; a field `no_X` says that the trait X is False."""
        names = [item.name for item in fields(Traits)]
        found = {name: value for name in names if (value := getattr(self, name, None))}
        found |= {name: False for name in names if getattr(self, f"no_{name}", False)}
        if self.no_echo:
            found |= {"reasoning": Echo.NEVER, "details": False, "extra": False}
        if self.fill_reasoning:
            found["reasoning"] = Echo.FILLED
        if self.form:
            found["schema"] = SchemaForm(self.form)
        if self.call_ids:
            found["call_ids"] = CallIds(self.call_ids)
        if self.efforts:
            found["efforts"] = frozenset(self.efforts)
        if self.plain_json:
            found.setdefault("answer_format", "json_object")
        found["max_tools"] = min(traits.max_tools, self.max_tools or traits.max_tools)
        return replace(traits, refuses=traits.refuses | self.dropped, **found)

    @property
    def facts(self) -> tuple[str, ...]:
        """A summary for the user, a few words each."""
        told = ((fact, getattr(self, name)) for name, (fact, _) in _QUIRKS.items() if fact)
        facts = (fact(value) if callable(fact) else [fact.format(value)] for fact, value in told if value)
        return tuple(chain.from_iterable(facts))[:MAX_FACTS]

    @property
    def tool_marks(self) -> dict[str, str]:
        """Remarks on tools by qualified name: the part that the endpoint rejects, in words."""
        simpler = dict.fromkeys(map(_name_of, self.strict_tools), "simplified schema for this endpoint")
        return simpler | dict.fromkeys(map(_name_of, self.left_out), "omitted: rejected by this endpoint")

    def begin(self) -> None:
        """Begin a request: a tool that was rejected once is tried again."""
        self.left_out = {key for key in self.left_out if self.refusals.get(key, 0) > 1}
        self.reply_room = 0
        self.thinking_blocks = "required" if self.thinking_blocks else ""

    def about_tools(self) -> dict[str, Any]:
        """Return a copy of what is known about tool schemas, by field."""
        return {name: copy(getattr(self, name)) for name in _ABOUT_TOOLS}

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON; empty if there is nothing to remember."""
        return {
            item.name: sorted(value)[:MAX_REMEMBERED] if isinstance(value, set) else value
            for item in fields(self)
            if item.name not in _FOR_NOW and (value := getattr(self, item.name))
        }

    @classmethod
    def from_json(cls, value: Any) -> "Learned":
        """Read a saved state; invalid values are dropped."""
        known = cls()
        for item in fields(cls) if isinstance(value, Mapping) else ():
            found, usual = value.get(item.name), getattr(known, item.name)
            if isinstance(usual, set) and isinstance(found, list) and item.name not in _FOR_NOW:
                setattr(known, item.name, {text[:200] for text in found if isinstance(text, str)})
            elif type(found) is type(usual) and item.name not in _FOR_NOW:
                setattr(known, item.name, found)
        known.dropped &= _OPTIONAL
        known.form = known.form if known.form in tuple(SchemaForm) else ""
        known.max_tokens_name = "max_completion_tokens" if known.max_tokens_name else ""
        known.call_ids = known.call_ids if known.call_ids in tuple(CallIds) else ""
        known.efforts &= set(EFFORTS)
        known.thinking_blocks = "required" if known.thinking_blocks else ""
        known.answer_format = "json_object" if known.answer_format else ""
        known.max_tools, known.max_reply = max(0, known.max_tools), max(0, known.max_reply)
        return known

    def take_refusal(
        self,
        status: int,
        words: str,
        sent: Sequence[str],
        tools: Sequence[str],
        traits: Traits | None = None,
        limit: int | None = 0,
    ) -> str:
        """Learn from a rejection; return what will change, or "" if there is nothing to learn.

        `words` is all that the endpoint says, see `said_in`. `sent` are the parameters sent, and the kinds of
        content, see `openai_chat.sent_kinds`. `tools` are the keys of the tools sent, in order. `limit` is
        the longest reply asked for, in tokens, 0 if none, and None if it may not be changed. The rows of the
        table are tried in order: one that was followed before, in vain, leaves it to the next.
        """
        asked = traits or Traits()
        for row, found in refusals_in(words, status, kinds_of(sent, tools, words)):
            if row.do is Do.FEWER_TOKENS:
                return self._shorten_reply(found, limit)
            if row.do in DECIDED:
                return ""
            if row.do in (Do.TEXT_TOOLS, Do.TEXT_RESULTS):
                self.no_tools = True  # the request is sent again as text, by another model
                return ""
            if row.do not in TOLD and (told := self._follow(row, found, tools, asked)):
                return told
        return ""

    def _follow(self, row: Refusal, found: re.Match[str], tools: Sequence[str], traits: Traits) -> str:
        """Learn what a row says; return what will change, or "" if that was known already."""
        match row.do:
            case Do.OMIT:
                return self._omit(row.what)
            case Do.NEAREST:
                if self.efforts:
                    return ""
                said = found["levels"]
                self.efforts = {level for level in EFFORTS if re.search(rf"\b{level}\b", said, re.I)}
                return message(
                    "Supported reasoning effort: {efforts}. Retrying with the nearest.",
                    efforts=_in_order(self.efforts),
                )
            case Do.FEWER_TOOLS:
                most = number_in(found, "count") or 0
                if not 0 < most < len(tools):
                    return ""
                self.max_tools = most
                many = units.plural(most, "tool")
                return f"The endpoint accepts at most {many}. Retrying with the most relevant."
            case Do.SIMPLER_TOOL:
                return self._refuse_tool(found.string, tools, traits)
            case Do.SEND_REASONING:
                self.no_echo = False
        in_vain = {
            Do.SIMPLER_TOOLS: bool(_rejected_tools(found.string, tools)),
            Do.KIMI_TOOLS: traits.schema is not SchemaForm.PLAIN,
            Do.PLAIN_IDS: traits.call_ids is not CallIds.ANY,
            Do.NO_REASONING: self.fill_reasoning,
            Do.NO_BLOCKS: self.thinking_blocks == "refused",
            Do.NO_THINKING: self.thinking_blocks != "",
        }
        if in_vain.get(row.do):
            return ""
        name, value = _CHANGES[row.do]
        known, before = getattr(self, name), self.applied(traits)
        setattr(self, name, value)
        if self.applied(traits) == before and name != "thinking_blocks":  # it is sent like that already
            setattr(self, name, known)
            return ""
        return row.do.value

    def _shorten_reply(self, found: re.Match[str], limit: int | None) -> str:
        """Ask for a reply that fits; keep what is the longest of all, not what this conversation leaves."""
        room = reply_room(found, limit or 0)
        if limit and (room is None or room >= limit):
            room = limit // 2
        if not room or limit is None:
            return ""
        if number_in(found, "most") is not None:
            self.max_reply = room
        else:
            self.reply_room = room
        return message("The endpoint rejects max_tokens as too large. Retrying with {limit:,}.", limit=room)

    def _omit(self, name: str) -> str:
        if name in ("images", "audio"):
            setattr(self, f"no_{name}", True)
            return message("The model does not accept {name}. Retrying without {name}.", name=name)
        if name in self.dropped:
            return ""
        self.dropped.add(name)
        return message("The endpoint rejects {name}. Retrying without it.", name=name)

    def _refuse_tool(self, words: str, tools: Sequence[str], traits: Traits) -> str:
        """Simplify the schema of the tool that a rejection is about; if that was done, omit the tool."""
        named = _rejected_tools(words, tools)
        if len(named) != 1:
            return ""
        key, name = named[0], _name_of(named[0])
        if key not in self.strict_tools and traits.schema is not SchemaForm.GEMINI:
            self.strict_tools.add(key)
            return message(
                "The endpoint rejects the schema of {name}. Retrying with a simpler schema.", name=name
            )
        if key in self.left_out:
            return ""
        self.left_out.add(key)
        self.refusals[key] = self.refusals.get(key, 0) + 1
        return message(
            "The endpoint rejects the simpler schema of {name} too. Retrying without this tool.", name=name
        )


_GEMINI, _KIMI = SchemaForm.GEMINI.value, SchemaForm.KIMI.value
_QUIRKS: Mapping[str, tuple[str | Callable[[Any], Iterable[str]], Mapping[Do, Any]]] = {
    "dropped": (lambda names: [f"rejects {name}" for name in sorted(names)], {}),
    "max_tokens_name": ("requires {}", {Do.RENAME: "max_completion_tokens"}),
    "needs_tools": ("requires tools next to earlier calls", {Do.ADD_TOOLS: True}),
    "no_tools": ("no function calling", {}),
    "no_images": ("no images", {}),
    "no_audio": ("no audio", {}),
    "no_system": ("no system messages", {Do.JOIN_SYSTEM: True}),
    "no_stream": ("no streaming", {Do.NO_STREAM: True}),
    "max_reply": ("at most {:,} tokens per reply", {}),
    "max_tools": (lambda most: [f"at most {units.plural(most, 'tool')}"], {}),
    "form": (
        "tool schemas in {} form",
        {Do.SIMPLER_TOOLS: _GEMINI, Do.GEMINI_TOOLS: _GEMINI, Do.KIMI_TOOLS: _KIMI},
    ),
    "plain_keys": ("plain property names in tool schemas", {Do.PLAIN_KEYS: True}),
    "strict_tools": (lambda tools: [f"{units.plural(len(tools), 'tool schema')} simplified"], {}),
    "fill_reasoning": ("requires its reasoning in the history", {Do.SEND_REASONING: True}),
    "no_echo": ("rejects its reasoning in the history", {Do.NO_REASONING: True}),
    "thinking_blocks": (
        "requires its thinking blocks next to calls",
        {Do.NO_BLOCKS: "refused", Do.NO_THINKING: "required"},
    ),
    "call_ids": (
        "call IDs with {}",
        {Do.SHORT_IDS: CallIds.NINE.value, Do.PLAIN_IDS: CallIds.PLAIN.value},
    ),
    "named_results": ("requires tool names in results", {Do.NAMED_RESULTS: True}),
    "efforts": (lambda levels: [f"supports reasoning effort {_in_order(levels)}"], {}),
    "answer_format": ("no JSON Schema for answers", {Do.PLAIN_JSON: "json_object"}),
    "no_format_with_tools": ("no response_format with tools", {Do.NO_FORMAT: True}),
    "no_user_after_tool": ("no user message after a tool result", {Do.BETWEEN: True}),
    "left_out": (lambda tools: [f"tool {name} omitted" for name in sorted(map(_name_of, tools))], {}),
    "plain_json": ("", {Do.PLAIN_JSON_NOW: True}),
}
"""For each field of `Learned`: what the user is told about its value, in order; its value by reaction."""

_CHANGES = {do: (name, value) for name, (_, values) in _QUIRKS.items() for do, value in values.items()}


def _in_order(levels: Collection[str]) -> str:
    return ", ".join(level for level in EFFORTS if level in levels)


def kinds_of(sent: Collection[str], tools: Sequence[str], words: str) -> set[str]:
    """Return what a rejection of a request may be about; `words` may name one of the tools sent."""
    named = ("named tool",) if len(_rejected_tools(words, tools)) == 1 else ()
    return {*sent, "history", "tools" if tools else "no tools", *named}


def _rejected_tools(words: str, tools: Sequence[str]) -> list[str]:
    """Return the keys of the tools that a rejection is about: by position, else by name."""
    for pattern in _POSITIONS:
        if (position := pattern.search(words)) and int(position[1]) < len(tools):
            return [tools[int(position[1])]]
    named = r"(?<![\w-]){}(?![\w-])"
    return [key for key in tools if re.search(named.format(re.escape(_name_of(key))), words)]


def _name_of(key: str) -> str:
    return key.partition("#")[0]
