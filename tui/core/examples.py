"""Questions to begin with, made from the tools that run now. Pure."""

from collections.abc import Sequence

from tui.core.text import clean_line
from tui.core.tools import Tool

MAX_LENGTH = 60


def _required(tool: Tool) -> int:
    required = tool.schema.get("required")
    return len(required) if isinstance(required, list) else 0


def _sentence(tool: Tool) -> str:
    """Return the first sentence of a description, without its full stop."""
    text = clean_line(tool.description, 400).split(". ")[0].split("。")[0].rstrip(".")
    return text if 8 <= len(text) <= MAX_LENGTH and text.isprintable() else ""


_SAMPLES = {
    ("weather", "get_weather"): "What's the weather in Hangzhou?",
    ("notes", "add_note"): "add a note: buy milk",
    ("notes", "search_notes"): "which notes mention milk?",
}
"""What a person would really ask of the sample servers; their descriptions only say what they do."""


def examples(tools: Sequence[Tool], count: int = 3) -> tuple[str, ...]:
    """Return up to `count` questions: first a person's words for the samples, then what tools say they do.

    Tools that only read and need few arguments come first, and no server asks twice before each has asked.
    """
    found = [
        question for key, question in _SAMPLES.items() if key in {(tool.server, tool.name) for tool in tools}
    ]
    asked: dict[str, int] = {}
    rest = [
        tool
        for tool in tools
        if (tool.server, tool.name) not in _SAMPLES and tool.read_only and _sentence(tool)
    ]
    rest.sort(key=_required)
    ranked: list[tuple[int, str]] = []
    for tool in rest:
        asked[tool.server] = asked.get(tool.server, 0) + 1
        ranked.append((asked[tool.server], _sentence(tool)))
    found += [sentence for _, sentence in sorted(ranked, key=lambda item: item[0])]
    return tuple(dict.fromkeys(found))[:count]
