"""What one endpoint refuses, learned from its own words and remembered while the program runs. Pure.

No two endpoints accept the same parameters, and none says so beforehand. A refusal that names what it
refuses is answered once by asking again without it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_STREAM_OPTIONS = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_STOP = re.compile(
    r"""["'`]stop["'`]|\bstop(?: sequences?)?\b.{0,40}(?:not (?:supported|allowed|permitted)|unsupported)"""
    r"|(?:unsupported|unknown|unexpected|extra|invalid)[^.]{0,60}\bstop\b",
    re.IGNORECASE,
)
_TOOL_POSITION = re.compile(r"\btools?[.\[](\d{1,4})\b")
_ECHO = re.compile(r"reasoning_details|extra_content|reasoning_content|\breasoning\b|\bthinking\b")
_MUST_ECHO = re.compile(
    r"reasoning_content.{0,80}(?:must be (?:passed|sent) back|required|missing)"
    r"|missing.{0,20}reasoning_content",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN = re.compile(
    r"extra|unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:allowed|permitted|supported)", re.I
)


@dataclass(slots=True)
class Learned:
    """What an endpoint is known to refuse.

    Attributes:
        dropped: parameters that are not sent.
        max_tokens_name: the name under which `max_tokens` is sent.
        refused_tools: names of tools that made it refuse the whole request.
        no_echo: provider fields must not come back.
        fill_reasoning: reasoning_content must stand on every assistant message.
        thinking_first: its messages begin with thinking, the opening tag left out.
    """

    dropped: set[str] = field(default_factory=set)
    max_tokens_name: str = "max_tokens"
    refused_tools: set[str] = field(default_factory=set)
    no_echo: bool = False
    fill_reasoning: bool = False
    thinking_first: bool = False

    def take_refusal(self, status: int, words: str, sent: Sequence[str], tools: Sequence[str]) -> str:
        """Learn from a refusal, and return what is done about it, or "" if there is nothing to learn.

        Args:
            status: the HTTP status.
            words: what the endpoint said, whole.
            sent: names of the parameters that were sent.
            tools: names of the tools that were sent, in order.
        """
        if status not in (400, 422):
            return ""
        if "stream_options" in sent and _STREAM_OPTIONS.search(words):
            self.dropped.add("stream_options")
            return "it refuses stream_options; asking again without"
        if (
            self.max_tokens_name in sent
            and "max_completion_tokens" in words
            and self.max_tokens_name != ("max_completion_tokens")
        ):
            self.max_tokens_name = "max_completion_tokens"
            return "it wants max_completion_tokens; asking again so"
        if "temperature" in sent and "temperature" in words:
            self.dropped.add("temperature")
            return "it refuses temperature; asking again without"
        if "stop" in sent and _STOP.search(words):
            self.dropped.add("stop")
            return "it refuses stop; asking again without"
        if not self.fill_reasoning and _MUST_ECHO.search(words):
            self.fill_reasoning, self.no_echo = True, False
            return "it wants its thinking back; asking again with it"
        if not (self.no_echo or self.fill_reasoning) and _ECHO.search(words) and _UNKNOWN.search(words):
            self.no_echo = True
            return "it refuses its own thinking back; asking again without"
        return self._refuse_tool(words, tools)

    def _refuse_tool(self, words: str, tools: Sequence[str]) -> str:
        position = _TOOL_POSITION.search(words)
        named = [name for name in tools if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words)]
        if position and int(position[1]) < len(tools):
            named = [tools[int(position[1])]]
        if len(named) != 1 or named[0] in self.refused_tools:
            return ""
        self.refused_tools.add(named[0])
        return f"it refuses the tool {named[0]}; asking again without it"
