"""What one endpoint refuses, learned from its own words. Pure.

No two endpoints accept the same parameters, and none says so beforehand. A refusal that names what it
refuses is answered once by asking again without it, and remembered for this endpoint and model.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tui.core.schema_forms import SchemaForm
from tui.model.traits import Echo, Traits

MAX_REMEMBERED = 200
"""Names in one set of what was learned."""

MAX_FACTS = 12

_OPTIONAL = ("stream_options", "temperature", "stop", "max_tokens", "max_completion_tokens")
"""Parameters that a request can do without."""

_NAMES: Mapping[str, str] = {
    "stream_options": r"stream_options|include_usage",
    "stop": r"""["'`]stop["'`]|\bstop(?: sequences?)?\b.{0,40}(?:not (?:supported|allowed|permitted)"""
    r"|unsupported)|(?:unsupported|unknown|unexpected|extra|invalid)[^.]{0,60}\bstop\b",
}
"""How a parameter is named in a refusal, where it is not simply its name."""

_POSITIONS = (
    # Google's come first: in them `tools[0]` stands before the one that counts.
    re.compile(r"\bfunction_?declarations[.\[](\d{1,4})\b", re.IGNORECASE),
    re.compile(r"\btools?[.\[](\d{1,4})\b"),
)
_TOO_MANY_TOOLS = re.compile(
    r"(?:\btools\b|functions).{0,120}?(?:at most|up to|(?:maximum(?: length| number)?|limit)(?: of| is)?)"
    r"\D{0,20}(\d{1,4})",
    re.IGNORECASE | re.DOTALL,
)
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


@dataclass(slots=True)
class Learned:
    """What an endpoint is known to refuse for one model.

    Tools are known by their key, see `tool_forms`: one that its server changed is another tool.

    Attributes:
        dropped: parameters that are not sent.
        max_tokens_name: the name under which `max_tokens` is sent, or "" for the usual one.
        form: the form that all tool schemas need, if it is not the one of the table.
        plain_keys: names of properties are refused unless they are plain.
        strict_tools: tools whose schema is sent in the strictest form.
        refused_tools: tools that made it refuse the whole request.
        max_tools: how many tools it takes, or 0 if it never said.
        needs_tools: a history with calls is refused unless tools are sent with it.
        no_tools: it has no function calling.
        no_images: it takes no images.
        no_audio: it takes no sounds.
        no_echo: provider fields must not come back.
        fill_reasoning: reasoning_content must stand on every assistant message.
        thinking_first: its messages begin with thinking, the opening tag left out; not remembered.
    """

    dropped: set[str] = field(default_factory=set)
    max_tokens_name: str = ""
    form: str = ""
    plain_keys: bool = False
    strict_tools: set[str] = field(default_factory=set)
    refused_tools: set[str] = field(default_factory=set)
    max_tools: int = 0
    needs_tools: bool = False
    no_tools: bool = False
    no_images: bool = False
    no_audio: bool = False
    no_echo: bool = False
    fill_reasoning: bool = False
    thinking_first: bool = False

    # ---- what is done with it ----------------------------------------------------------------------

    def applied(self, traits: Traits) -> Traits:
        """Return `traits` as this endpoint has shown them to be."""
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
            max_tools=min(traits.max_tools, self.max_tools or traits.max_tools),
        )

    @property
    def facts(self) -> tuple[str, ...]:
        """What a person reads of it, a few words each."""
        tools = sorted(key.partition("#")[0] for key in self.refused_tools)
        said = [
            *(f"refuses {name}" for name in sorted(self.dropped)),
            f"wants {self.max_tokens_name}" if self.max_tokens_name else "",
            "wants tools beside calls" if self.needs_tools else "",
            "has no function calling" if self.no_tools else "",
            "takes no images" if self.no_images else "",
            "takes no sounds" if self.no_audio else "",
            f"takes {self.max_tools} tools" if self.max_tools else "",
            f"tool schemas in the form {self.form}" if self.form else "",
            "tool schemas with plain names" if self.plain_keys else "",
            f"{len(self.strict_tools)} tool schemas simplified" if self.strict_tools else "",
            "wants its thinking back" if self.fill_reasoning else "",
            "refuses its own thinking" if self.no_echo else "",
            *(f"refuses the tool {name}" for name in tools),
        ]
        return tuple(fact for fact in said if fact)[:MAX_FACTS]

    @property
    def tool_marks(self) -> dict[str, str]:
        """What the endpoint does not take of tools, in words, by their qualified names."""
        simpler = {key.partition("#")[0]: "schema simplified for this endpoint" for key in self.strict_tools}
        return simpler | {key.partition("#")[0]: "refused by this endpoint" for key in self.refused_tools}

    def to_json(self) -> dict[str, Any]:
        """Return what is to be remembered, as JSON values; empty if there is nothing."""
        return {
            one.name: sorted(value)[:MAX_REMEMBERED] if isinstance(value, set) else value
            for one in fields(self)
            if one.name != "thinking_first" and (value := getattr(self, one.name))
        }

    @classmethod
    def from_json(cls, value: Any) -> "Learned":
        """Return what was remembered; what is not of its kind is forgotten."""
        known = cls()
        for one in fields(cls) if isinstance(value, Mapping) else ():
            found, usual = value.get(one.name), getattr(known, one.name)
            if isinstance(usual, set) and isinstance(found, list):
                setattr(known, one.name, {text[:200] for text in found if isinstance(text, str)})
            elif type(found) is type(usual) and one.name != "thinking_first":
                setattr(known, one.name, found)
        known.dropped &= set(_OPTIONAL)
        known.form = known.form if known.form in tuple(SchemaForm) else ""
        known.max_tokens_name = known.max_tokens_name if known.max_tokens_name in _OPTIONAL else ""
        known.max_tools = max(0, known.max_tools)
        return known

    # ---- how it is learned -------------------------------------------------------------------------

    def take_refusal(
        self, status: int, words: str, sent: Sequence[str], tools: Sequence[str], traits: Traits | None = None
    ) -> str:
        """Learn from a refusal, and return what is done about it, or "" if there is nothing to learn.

        Args:
            status: the HTTP status.
            words: what the endpoint said, whole.
            sent: names of the parameters that were sent; "images" and "audio" if there were any.
            tools: keys of the tools that were sent, in order.
            traits: how it was asked.
        """
        for name in ("images", "audio"):
            if name in sent and status in (400, 404, 415, 422, 500) and _MEDIA[name].search(words):
                setattr(self, f"no_{name}", True)
                return f"it takes no {'images' if name == 'images' else 'sounds'}; asking again without"
        asked = traits or Traits()
        if status == 500:
            return self._refuse_tools(words, tools, asked) if _SCHEMA.search(words) else ""
        if status not in (400, 422):
            return ""
        if _SCHEMA.search(words) and _meant(words, tools):
            # A property may well be called "temperature" or "stop".
            return self._refuse_tools(words, tools, asked)
        return (
            self._refuse_parameter(words, sent)
            or self._refuse_echo(words)
            or self._refuse_tools(words, tools, asked)
        )

    def _refuse_parameter(self, words: str, sent: Sequence[str]) -> str:
        if "max_tokens" in sent and "max_completion_tokens" in words:
            self.max_tokens_name = "max_completion_tokens"
            return "it wants max_completion_tokens; asking again so"
        for name in _OPTIONAL:
            if name in sent and name not in self.dropped and re.search(_NAMES.get(name, name), words, re.I):
                if name.startswith("max_") and not _UNKNOWN.search(words):
                    continue
                self.dropped.add(name)
                return f"it refuses {name}; asking again without"
        return ""

    def _refuse_echo(self, words: str) -> str:
        if not self.fill_reasoning and _MUST_ECHO.search(words):
            self.fill_reasoning, self.no_echo = True, False
            return "it wants its thinking back; asking again with it"
        if not (self.no_echo or self.fill_reasoning) and _ECHO.search(words) and _UNKNOWN.search(words):
            self.no_echo = True
            return "it refuses its own thinking back; asking again without"
        return ""

    def _refuse_tools(self, words: str, tools: Sequence[str], traits: Traits) -> str:
        if not tools:
            if self.needs_tools or not _NEEDS_TOOLS.search(words):
                return ""
            self.needs_tools = True
            return "it wants tools beside earlier calls; asking again with them"
        if (most := _TOO_MANY_TOOLS.search(words)) and 0 < int(most[1]) < len(tools):
            self.max_tools = int(most[1])
            return f"it takes {most[1]} tools; asking again with those that matter most"
        if _KEYS.search(words) and not traits.plain_keys:
            self.plain_keys = True
            return "it refuses names of properties; asking again with plain ones"
        if _MOONSHOT.search(words) and traits.schema is SchemaForm.PLAIN:
            self.form = SchemaForm.KIMI.value
            return "it wants tool schemas in Moonshot's form; asking again so"
        if _GOOGLE.search(words) and traits.schema is not SchemaForm.GEMINI:
            self.form = SchemaForm.GEMINI.value
            return "it wants tool schemas in Google's form; asking again so"
        return self._refuse_tool(words, tools, traits)

    def _refuse_tool(self, words: str, tools: Sequence[str], traits: Traits) -> str:
        """Simplify the schema of the tool that is named, then leave the tool out."""
        named = _meant(words, tools)
        if len(named) != 1:
            if named or traits.schema is SchemaForm.GEMINI or not _SCHEMA.search(words):
                return ""
            self.form = SchemaForm.GEMINI.value
            return "it refuses a tool's schema; asking again with simpler ones"
        key, name = named[0], named[0].partition("#")[0]
        if key not in self.strict_tools and traits.schema is not SchemaForm.GEMINI:
            self.strict_tools.add(key)
            return f"it refuses the tool {name}; asking again with a simpler schema of it"
        if key in self.refused_tools:
            return ""
        self.refused_tools.add(key)
        return f"it refuses the tool {name}; asking again without it"


def _meant(words: str, tools: Sequence[str]) -> list[str]:
    """Return the keys of the tools that a refusal is about: by position, else by name."""
    for pattern in _POSITIONS:
        if (position := pattern.search(words)) and int(position[1]) < len(tools):
            return [tools[int(position[1])]]
    names = {key: re.escape(key.partition("#")[0]) for key in tools}
    return [key for key, name in names.items() if re.search(rf"(?<![\w-]){name}(?![\w-])", words)]
