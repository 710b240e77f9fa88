"""Example questions for the start screen, made from the tools of the running servers. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.core.language.translate import N_, _
from tui.core.text import clean_line, list_in
from tui.core.tools import Tool

MAX_LENGTH = 60


def needs_arguments(schema: Mapping[str, Any]) -> bool:
    """Return whether a tool with this schema has required arguments."""
    return bool(list_in(schema, "required"))


_ORDERS = frozenset(
    "calculate check compare count describe display draw enumerate explain fetch find get give list look"
    " measure print query read report retrieve search show tell".split()
)
"""Verbs of a request; a description may also begin with another form of them: "gets", "fetches"."""


def question_of(description: str) -> str:
    """Return the question that is made from a tool's description, or ""."""
    text = clean_line(description, 400).split(". ")[0].split("。")[0].rstrip(".")
    verb, _, rest = text.partition(" ")
    order = verb.lower()
    order = next(
        (word for word in (order, order.removesuffix("s"), order.removesuffix("es")) if word in _ORDERS), ""
    )
    text = f"{order.capitalize()} {rest}"
    return text if order and len(rest) >= 4 and len(text) <= MAX_LENGTH and text.isprintable() else ""


_SAMPLES = {
    ("weather", "get_weather"): N_("What's the weather in Hangzhou?"),
    ("notes", "add_note"): N_("Add a note: buy milk"),
    ("notes", "search_notes"): N_("Which notes mention milk?"),
    ("weather", "list_get_weather_records"): N_("List recent weather requests"),
}
"""Natural questions for the sample servers, whose descriptions only say what they do."""

_SAMPLE_SERVERS = frozenset(server for server, _ in _SAMPLES)


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and the tool that it leads to: "weather › get_weather"."""

    question: str
    tool: str


def examples(tools: Sequence[Tool], count: int = 4) -> tuple[Example, ...]:
    """Return up to `count` questions: for the samples first, then from descriptions of tools.

    Only a read-only tool that needs no argument and is described in the imperative can be asked for by its
    description; fewer questions are better than odd ones. Servers take turns.
    """
    samples: dict[tuple[str, str], Tool] = {}
    asked: dict[str, set[str]] = {}
    ranked: list[tuple[int, Example]] = []
    for tool in tools:
        if tool.server in _SAMPLE_SERVERS and (tool.server, tool.name) in _SAMPLES:
            samples[tool.server, tool.name] = tool
            continue
        if not tool.read_only or needs_arguments(tool.schema):
            continue
        of_server = asked.setdefault(tool.server, set())
        if len(of_server) >= count:  # of thousands of descriptions, only a few are read
            continue
        if (question := question_of(tool.description)) and question not in of_server:
            of_server.add(question)
            ranked.append((len(of_server), _example(question, tool)))
    found = [_example(_(question), samples[key]) for key, question in _SAMPLES.items() if key in samples]
    found += [example for _, example in sorted(ranked, key=lambda item: item[0])]
    unique: dict[str, Example] = {}
    for example in found:
        unique.setdefault(example.question, example)
    return tuple(unique.values())[:count]


def _example(question: str, tool: Tool) -> Example:
    return Example(question, clean_line(f"{tool.server} › {tool.name}", 64))
