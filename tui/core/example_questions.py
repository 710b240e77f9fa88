"""Example questions for the start screen, made from the tools of the running servers. Pure."""

from collections.abc import Sequence

from tui.core.text import clean_line
from tui.core.tools import Tool

MAX_LENGTH = 60


def _required(tool: Tool) -> int:
    required = tool.schema.get("required")
    return len(required) if isinstance(required, list) else 0


_ORDERS = frozenset(
    "calculate check compare count describe display draw enumerate explain fetch find get give list look"
    " measure print query read report retrieve search show tell".split()
)
"""What a person may ask for as it stands. A description may begin with one, or with its "gets", "fetches"."""


def _question(tool: Tool) -> str:
    text = clean_line(tool.description, 400).split(". ")[0].split("。")[0].rstrip(".")
    verb, _, rest = text.partition(" ")
    order = verb.lower()
    order = next(
        (word for word in (order, order.removesuffix("s"), order.removesuffix("es")) if word in _ORDERS), ""
    )
    text = f"{order.capitalize()} {rest}"
    return text if order and len(rest) >= 4 and len(text) <= MAX_LENGTH and text.isprintable() else ""


_SAMPLES = {
    ("weather", "get_weather"): "What's the weather in Hangzhou?",
    ("notes", "add_note"): "add a note: buy milk",
    ("notes", "search_notes"): "which notes mention milk?",
}
"""Natural questions for the sample servers, whose descriptions only say what they do."""


def examples(tools: Sequence[Tool], count: int = 3) -> tuple[str, ...]:
    """Return up to `count` questions: for the samples first, then from descriptions of tools.

    Only a read-only tool that needs no argument and is described in the imperative can be asked for by its
    description; fewer questions are better than odd ones. Servers take turns.
    """
    found = [
        question for key, question in _SAMPLES.items() if key in {(tool.server, tool.name) for tool in tools}
    ]
    asked: dict[str, int] = {}
    ranked: list[tuple[int, str]] = []
    for tool in tools:
        if (tool.server, tool.name) in _SAMPLES or not tool.read_only or _required(tool):
            continue
        if question := _question(tool):
            asked[tool.server] = asked.get(tool.server, 0) + 1
            ranked.append((asked[tool.server], question))
    found += [question for _, question in sorted(ranked, key=lambda item: item[0])]
    return tuple(dict.fromkeys(found))[:count]
