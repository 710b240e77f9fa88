"""The text of a first test file: its cases, and the rest as comments. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tui.addons.tests.suite.case import Case, Expectation, Request, RequestKind, SuiteServer
from tui.addons.tests.suite.case_text import case_toml
from tui.addons.tests.suite.change import with_server
from tui.core.forms.schema import SchemaReader
from tui.core.text import clean, clean_line
from tui.core.units import plural

MOST_COMMENTED = 100
HEAD = (
    "Not cases yet. Remove the #, write the arguments, and run mcptui test --review,",
    "which calls them and asks whether to accept their results.",
)


@dataclass(frozen=True, slots=True)
class Omitted:
    """A request that gave no case, and why."""

    request: Request
    why: str


def first_suite(server: SuiteServer, cases: Sequence[Case], omitted: Sequence[Omitted]) -> str:
    """Return the text of the file, of cases that can be written."""
    text = "\n".join([with_server("", server), *map(case_toml, cases)])
    comment = "".join(f"# {line}".rstrip() + "\n" for line in _comments(omitted))
    return f"{text.rstrip()}\n" + (f"\n{comment}" if comment else "")


def _comments(omitted: Sequence[Omitted]) -> Iterator[str]:
    if omitted:
        yield from HEAD
    for one in omitted[:MOST_COMMENTED]:
        yield ""
        yield f"{clean_line(one.request.name, 200)}: {clean_line(one.why, 400)}"
        case = Case(clean_line(one.request.name, 80), 0, one.request, Expectation())
        yield from (clean(line) for line in case_toml(case).strip().splitlines())
    if (more := len(omitted) - MOST_COMMENTED) > 0:
        yield ""
        yield f"and {plural(more, 'more request')}"


def sketched(name: str, schema: Mapping[str, Any]) -> Request:
    """Return a call of a tool with its required arguments still to be written."""
    reader = SchemaReader(schema)
    required = [one for one, needed in reader.properties(reader.spec(schema)).items() if needed]
    return Request(RequestKind.TOOL, name, dict.fromkeys(required, "…"))
