"""Learns from error messages what an endpoint rejects. Pure.

Endpoints accept different parameters, and do not announce which. If a rejection names a parameter, the
request is retried once without it, and this is remembered for this endpoint and model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tui.core import units
from tui.core.ports import EFFORTS
from tui.core.schemas.schema_forms import SchemaForm
from tui.model.endpoints.failures import is_unreadable_call
from tui.model.endpoints.provider_traits import CallIds, Echo, Traits

MAX_REMEMBERED = 200
"""Maximum names in one remembered set."""

MAX_FACTS = 12

_OPTIONAL = (
    *("stream_options", "temperature", "top_p", "seed", "stop", "max_tokens", "max_completion_tokens"),
    *("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget"),
    *("chat_template_kwargs", "prompt_cache_key", "cache_control", "response_format"),
)
"""Optional parameters of a request, which can be omitted."""

_COMMON_WORDS = ("max_tokens", "max_completion_tokens", "seed", "reasoning", "thinking")
"""Parameters whose name is also an ordinary word, so that a message with it may mean something else."""


_FOR_NOW = ("left_out", "refusals", "thinking_first")

# ---- refusals in providers' own words, by what is refused

_NAMES: Mapping[str, str] = {
    "stream_options": r"stream_options|include_usage",
    "stop": r"""["'`]stop["'`]|\bstop(?: sequences?)?\b.{0,40}(?:not (?:supported|allowed|permitted)"""
    r"|unsupported)|(?:unsupported|unknown|unexpected|extra|invalid)[^.]{0,60}\bstop\b",
    "response_format": r"response_?format|response mime type|json[_ ](?:mode|schema)|structured[_ ]outputs?",
    "cache_control": r"cache_control|content.{0,40}(?:must be|should be|expected).{0,20}string",
    **{name: rf"\b{name}\b" for name in ("seed", "top_p", "reasoning", "thinking", "temperature")},
}
"""Patterns for parameters that a rejection may describe in other words."""

_POSITIONS = (
    # Google's come first: their messages contain `tools[0]` before the index that counts.
    re.compile(r"\bfunction_?declarations[.\[](\d{1,4})\b", re.IGNORECASE),
    re.compile(r"\btools?[.\[](\d{1,4})\b"),
)
_TOO_MANY_TOOLS = re.compile(
    r"(?:\btools\b|functions).{0,120}?(?:at most|up to|(?:maximum(?: length| number)?|limit)(?: of| is)?)"
    r"\D{0,20}(\d{1,4})\b(?! ?(?:char|level|token|byte|propert|nest|enum|deep|long))",
    re.IGNORECASE | re.DOTALL,
)
_OF_ONE_TOOL = re.compile(r"string too long|\.(?:name|description|parameters)\b|propert|nesting|depth", re.I)
_NEEDS_TOOLS = re.compile(
    r"without `?tools|\btools=?`? param|must (?:define|provide|include|specify).{0,20}tools"
    r"|(?:toolConfig|tools).{0,30}must be (?:defined|provided|set|specified)",
    re.IGNORECASE,
)
_GOOGLE = re.compile(r"function_?declarations|GenerateContentRequest|Cannot find field", re.IGNORECASE)
_MOONSHOT = re.compile(r"moonshot.{0,40}schema", re.IGNORECASE)
_KEYS = re.compile(r"propert\w+ keys? .{0,40}match|keys? should match pattern", re.IGNORECASE)
_SCHEMA = re.compile(
    r"(?:json.?|tools?.{0,40}|function.{0,40}|invalid |parameters?.{0,20})schema"
    r"|schema.{0,60}(?:invalid|not supported)|\b(?:grammar|parser) for|parse grammar|unrecognized schema",
    re.IGNORECASE | re.DOTALL,
)
_ECHO = re.compile(r"reasoning_details|extra_content|reasoning_content|\breasoning\b|\bthinking\b")
_MUST_ECHO = re.compile(
    r"reasoning_content.{0,80}(?:must be (?:passed|sent) back|required|missing)"
    r"|missing.{0,20}reasoning_content",
    re.IGNORECASE | re.DOTALL,
)
_BLOCKS_MISSING = re.compile(
    r"expected `?(?:redacted_)?thinking.{0,60}found|(?:must|should) (?:start|begin) with a thinking block"
    r"|thinking_?blocks?.{0,60}(?:missing|required)",
    re.IGNORECASE | re.DOTALL,
)
_BLOCKS_REFUSED = re.compile(
    r"invalid `?signature`? in `?(?:redacted_)?thinking|thinking`? blocks? .{0,80}cannot be modified"
    r"|thinking\.signature",
    re.IGNORECASE | re.DOTALL,
)
"""Anthropic, also behind LiteLLM and Bedrock."""

_SUPPORTED = re.compile(
    r"(?:supported values|must be|one of|expected|available|valid)\W+([^.;{}]{1,160})", re.I | re.S
)
_TOOLS_TOO = re.compile(r"\btools?\b|function.?call", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"extra|unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:allowed|permitted|supported)", re.I
)
_REFUSED = r".{0,80}(?:not (?:support|allow|accept)|unsupported|only (?:text|supported)|supported values)"
_CANNOT = r"(?:not support|unsupported|no endpoints?|missing data).{0,60}"
_MEDIA: Mapping[str, re.Pattern[str]] = {
    "images": re.compile(
        rf"(?:image|vision|multi-?modal){_REFUSED}|{_CANNOT}(?:image|vision|multi-?modal)"
        r"|unknown variant .?image_url|not a (?:vision|multimodal) model|mmproj"
        r"|content.{0,40}(?:must be|should be|expected).{0,20}string",
        re.IGNORECASE | re.DOTALL,
    ),
    "audio": re.compile(
        rf"audio{_REFUSED}|{_CANNOT}audio|unknown variant .?input_audio", re.IGNORECASE | re.DOTALL
    ),
}

_NINE_IDS = re.compile(r"tool.?call.?id.{0,200}length of 9", re.IGNORECASE | re.DOTALL)
_PLAIN_IDS = re.compile(
    r"tool_(?:calls?|use)\S{0,12}id\b.{0,200}(?:too long|pattern)", re.IGNORECASE | re.DOTALL
)
_NAMED_RESULTS = re.compile(r"function_?response\.name.{0,40}empty", re.IGNORECASE)
_BEHIND_RESULT = re.compile(r"unexpected role .{0,20}tool", re.IGNORECASE)
_ROLES = re.compile(r"roles? must alternate|only user.{0,40}roles are supported", re.IGNORECASE)
"""Templates that accept no tool results, or no user message after them (text-generation-inference#3198)."""


@dataclass(slots=True)
class Learned:
    """The quirks that an endpoint is known to have for one model.

    Tools are identified by their key, see `tool_forms`: a tool that its server changed is another tool.
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

    def applied(self, traits: Traits) -> Traits:
        reasoning = Echo.FILLED if self.fill_reasoning else Echo.NEVER if self.no_echo else traits.reasoning
        return replace(
            traits,
            schema=SchemaForm(self.form) if self.form else traits.schema,
            plain_keys=traits.plain_keys or self.plain_keys,
            reasoning=reasoning,
            details=traits.details and not self.no_echo,
            extra=traits.extra and not self.no_echo,
            refuses=traits.refuses | self.dropped,
            max_tokens_name=self.max_tokens_name or traits.max_tokens_name,
            images=False if self.no_images else traits.images,
            audio=traits.audio and not self.no_audio,
            needs_tools=traits.needs_tools or self.needs_tools,
            call_ids=CallIds(self.call_ids) if self.call_ids else traits.call_ids,
            named_results=traits.named_results or self.named_results,
            user_after_tool=traits.user_after_tool and not self.no_user_after_tool,
            efforts=frozenset(self.efforts) or traits.efforts,
            answer_format=self.answer_format or traits.answer_format,
            format_with_tools=traits.format_with_tools and not self.no_format_with_tools,
            max_tools=min(traits.max_tools, self.max_tools or traits.max_tools),
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """A summary for the user, a few words each."""
        tools = sorted(key.partition("#")[0] for key in self.left_out)
        facts = [
            *(f"rejects {name}" for name in sorted(self.dropped)),
            f"requires {self.max_tokens_name}" if self.max_tokens_name else "",
            "requires tools next to earlier calls" if self.needs_tools else "",
            "no function calling" if self.no_tools else "",
            "no images" if self.no_images else "",
            "no audio" if self.no_audio else "",
            f"at most {units.plural(self.max_tools, 'tool')}" if self.max_tools else "",
            f"tool schemas in {self.form} form" if self.form else "",
            "plain property names in tool schemas" if self.plain_keys else "",
            f"{units.plural(len(self.strict_tools), 'tool schema')} simplified" if self.strict_tools else "",
            "requires its reasoning in the history" if self.fill_reasoning else "",
            "rejects its reasoning in the history" if self.no_echo else "",
            "requires its thinking blocks next to calls" if self.thinking_blocks else "",
            f"call IDs with {self.call_ids}" if self.call_ids else "",
            "requires tool names in results" if self.named_results else "",
            f"supports reasoning effort {self._levels}" if self.efforts else "",
            "no JSON Schema for answers" if self.answer_format else "",
            "no response_format with tools" if self.no_format_with_tools else "",
            "no user message after a tool result" if self.no_user_after_tool else "",
            *(f"tool {name} omitted" for name in tools),
        ]
        return tuple(fact for fact in facts if fact)[:MAX_FACTS]

    @property
    def _levels(self) -> str:
        return ", ".join(level for level in EFFORTS if level in self.efforts)

    @property
    def tool_marks(self) -> dict[str, str]:
        """Remarks on tools by qualified name: the part that the endpoint rejects, in words."""
        simpler = {key.partition("#")[0]: "simplified schema for this endpoint" for key in self.strict_tools}
        return simpler | {
            key.partition("#")[0]: "omitted: rejected by this endpoint" for key in self.left_out
        }

    def begin(self) -> None:
        """Begin a request: a tool that was rejected once is tried again."""
        self.left_out = {key for key in self.left_out if self.refusals.get(key, 0) > 1}
        self.thinking_blocks = "required" if self.thinking_blocks else ""

    def about_tools(self) -> "Learned":
        """Return a copy of what is known about tool schemas."""
        found = Learned(form=self.form, plain_keys=self.plain_keys, strict_tools=set(self.strict_tools))
        found.left_out, found.refusals = set(self.left_out), dict(self.refusals)
        return found

    def restore_tools(self, before: "Learned") -> None:
        """Drop the knowledge about tool schemas gained since `before`, because it did not help."""
        self.form, self.plain_keys = before.form, before.plain_keys
        self.strict_tools, self.left_out = set(before.strict_tools), set(before.left_out)
        self.refusals = dict(before.refusals)

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
        known.dropped &= set(_OPTIONAL)
        known.form = known.form if known.form in tuple(SchemaForm) else ""
        known.max_tokens_name = known.max_tokens_name if known.max_tokens_name in _OPTIONAL else ""
        known.call_ids = known.call_ids if known.call_ids in tuple(CallIds) else ""
        known.efforts &= set(EFFORTS)
        known.thinking_blocks = "required" if known.thinking_blocks else ""
        known.answer_format = "json_object" if known.answer_format == "json_object" else ""
        known.max_tools = max(0, known.max_tools)
        return known

    def take_refusal(
        self, status: int, words: str, sent: Sequence[str], tools: Sequence[str], traits: Traits | None = None
    ) -> str:
        """Learn from a rejection; return what will change, or "" if there is nothing to learn.

        `words` is the endpoint's whole message, `tools` the keys of the tools sent, in order. `sent` are the
        parameters sent, and "images", "audio", "results" of tools and "user behind result" if there were any.
        """
        if is_unreadable_call(words):
            return ""
        if (
            status in (400, 422)
            and "cache_control" in sent
            and re.search(_NAMES["cache_control"], words, re.I)
        ):
            self.dropped.add("cache_control")  # before images: cache marks, too, turn a text into a list
            return "The endpoint rejects cache_control. Retrying without it."
        for name in ("images", "audio"):
            if name in sent and status in (400, 404, 415, 422, 500) and _MEDIA[name].search(words):
                setattr(self, f"no_{name}", True)
                return f"The model does not accept {name}. Retrying without {name}."
        asked = traits or Traits()
        if (
            "results" in sent
            and status in (400, 422, 500)
            and (told := self._refuse_results(words, sent, asked))
        ):
            return told
        if status == 500:
            return self._refuse_tools(words, tools, asked) if _SCHEMA.search(words) else ""
        if status not in (400, 422):
            return ""
        if _SCHEMA.search(words) and _rejected_tools(words, tools):
            # A property may be called "temperature" or "stop".
            return self._refuse_tools(words, tools, asked)
        return (
            self._refuse_blocks(words)
            or self._refuse_parameter(words, sent, asked)
            or self._refuse_echo(words)
            or self._refuse_tools(words, tools, asked)
        )

    def _refuse_parameter(self, words: str, sent: Sequence[str], traits: Traits) -> str:
        if "max_tokens" in sent and "max_completion_tokens" in words:
            self.max_tokens_name = "max_completion_tokens"
            return "The endpoint requires max_completion_tokens. Retrying with it."
        for name in _OPTIONAL:
            if name in sent and name not in self.dropped and re.search(_NAMES.get(name, name), words, re.I):
                if name in _COMMON_WORDS and not _UNKNOWN.search(words):
                    continue
                if told := self._other_value(name, words, sent, traits):
                    return told
                self.dropped.add(name)
                return f"The endpoint rejects {name}. Retrying without it."
        return ""

    def _other_value(self, name: str, words: str, sent: Sequence[str], traits: Traits) -> str:
        """Learn which value of a parameter the endpoint accepts instead of the one that was sent, if any."""
        if name == "reasoning_effort" and not self.efforts:
            listed = _SUPPORTED.search(words)
            self.efforts = {level for level in EFFORTS if listed and re.search(rf"\b{level}\b", listed[1])}
            if self.efforts:
                return f"Supported reasoning effort: {self._levels}. Retrying with the nearest."
        if name == "response_format":
            if "tools" in sent and traits.format_with_tools and _TOOLS_TOO.search(words):
                self.no_format_with_tools = True
                return "The endpoint rejects response_format with tools. Retrying without it."
            if traits.answer_format == "json_schema":
                self.answer_format = "json_object"
                return "The endpoint rejects a JSON Schema for the answer. Retrying with plain JSON."
        return ""

    def _refuse_blocks(self, words: str) -> str:
        if self.thinking_blocks != "refused" and _BLOCKS_REFUSED.search(words):
            self.thinking_blocks = "refused"
            return "The endpoint rejects the thinking of this turn. Retrying without thinking."
        if not self.thinking_blocks and _BLOCKS_MISSING.search(words):
            self.thinking_blocks = "required"
            return "The endpoint requires its thinking next to earlier calls. Retrying without thinking."
        return ""

    def _refuse_echo(self, words: str) -> str:
        if not self.fill_reasoning and _MUST_ECHO.search(words):
            self.fill_reasoning, self.no_echo = True, False
            return "The endpoint requires its reasoning in the history. Retrying with it."
        if not (self.no_echo or self.fill_reasoning) and _ECHO.search(words) and _UNKNOWN.search(words):
            self.no_echo = True
            return "The endpoint rejects its reasoning in the history. Retrying without it."
        return ""

    def _refuse_results(self, words: str, sent: Sequence[str], traits: Traits) -> str:
        if _NINE_IDS.search(words) and traits.call_ids is not CallIds.NINE:
            self.call_ids = CallIds.NINE.value
            return "The endpoint requires call IDs of nine characters. Retrying with them."
        if _PLAIN_IDS.search(words) and traits.call_ids is CallIds.ANY:
            self.call_ids = CallIds.PLAIN.value
            return "The endpoint rejects call IDs. Retrying with plain ones."
        if _NAMED_RESULTS.search(words) and not traits.named_results:
            self.named_results = True
            return "The endpoint requires tool names in results. Retrying with them."
        roles = _ROLES.search(words) is not None
        if not (roles or _BEHIND_RESULT.search(words)):
            return ""
        if "user behind result" in sent and traits.user_after_tool:
            self.no_user_after_tool = True
            return (
                "The endpoint rejects a user message right after a tool result. "
                "Retrying with a message in between."
            )
        self.no_tools |= roles  # its template does not support tool results: the request may be sent as text
        return ""

    def _refuse_tools(self, words: str, tools: Sequence[str], traits: Traits) -> str:
        if not tools:
            if self.needs_tools or not _NEEDS_TOOLS.search(words):
                return ""
            self.needs_tools = True
            return "The endpoint requires tools next to earlier calls. Retrying with them."
        most = None if _OF_ONE_TOOL.search(words) else _TOO_MANY_TOOLS.search(words)
        if most and 0 < int(most[1]) < len(tools):
            self.max_tools = int(most[1])
            return f"The endpoint accepts at most {most[1]} tools. Retrying with the most relevant."
        if _KEYS.search(words) and not traits.plain_keys:
            self.plain_keys = True
            return "The endpoint rejects property names in tool schemas. Retrying with plain ones."
        if _MOONSHOT.search(words) and traits.schema is SchemaForm.PLAIN:
            self.form = SchemaForm.KIMI.value
            return "The endpoint requires Moonshot's form of tool schemas. Retrying with it."
        if _GOOGLE.search(words) and traits.schema is not SchemaForm.GEMINI:
            self.form = SchemaForm.GEMINI.value
            return "The endpoint requires Google's form of tool schemas. Retrying with it."
        return self._refuse_tool(words, tools, traits)

    def _refuse_tool(self, words: str, tools: Sequence[str], traits: Traits) -> str:
        """Simplify the schema of the tool that a rejection is about; if that was done, omit the tool."""
        about = _SCHEMA.search(words) is not None or any(found.search(words) for found in _POSITIONS)
        named = _rejected_tools(words, tools)
        if not about or len(named) > 1:
            return ""
        if not named:
            if traits.schema is SchemaForm.GEMINI or not _SCHEMA.search(words):
                return ""
            self.form = SchemaForm.GEMINI.value
            return "The endpoint rejects a tool schema. Retrying with simpler schemas."
        key, name = named[0], named[0].partition("#")[0]
        if key not in self.strict_tools and traits.schema is not SchemaForm.GEMINI:
            self.strict_tools.add(key)
            return f"The endpoint rejects the schema of {name}. Retrying with a simpler schema."
        if key in self.left_out:
            return ""
        self.left_out.add(key)
        self.refusals[key] = self.refusals.get(key, 0) + 1
        return f"The endpoint rejects the simpler schema of {name} too. Retrying without this tool."


def _rejected_tools(words: str, tools: Sequence[str]) -> list[str]:
    """Return the keys of the tools that a rejection is about: by position, else by name."""
    for pattern in _POSITIONS:
        if (position := pattern.search(words)) and int(position[1]) < len(tools):
            return [tools[int(position[1])]]
    names = {key: re.escape(key.partition("#")[0]) for key in tools}
    return [key for key, name in names.items() if re.search(rf"(?<![\w-]){name}(?![\w-])", words)]
