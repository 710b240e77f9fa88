"""JUnit XML, as Jenkins, GitLab, Azure and CircleCI read it.

Valid by the schema of Jenkins (`junit-10.xsd` of its xUnit plugin), whose test cases have neither a file nor
a line: the suite has the file, and the text of a failure begins with both. With `with_lines`, each test case
has them as attributes, which GitLab and CircleCI read.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import tui
from tui.addons.tests.reports import details
from tui.addons.tests.run.failure_text import notes_of, start_faults
from tui.addons.tests.run.outcome import Outcome, RunOutcome, State, SuiteOutcome
from tui.addons.tests.run.reporter import RunStart
from tui.core.text import clean, clean_line
from tui.core.units import rfc3339

_INVALID = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not have, not even escaped."""

_MARKS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;"})
_ELEMENTS = {State.FAILED: "failure", State.ERROR: "error", State.SKIPPED: "skipped"}


def junit(start: RunStart, run: RunOutcome, base: Path, *, with_lines: bool = False) -> Iterator[str]:
    """Yield the report."""
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    found = details.counts(run)
    numbers = _numbers(sum(found.values()), found[State.FAILED], found[State.ERROR])
    yield f"<testsuites{attributes(name='mcptui', **numbers, time=_seconds(run.seconds))}>\n"
    for suite in run.suites:
        yield from _suite(start, run, suite, details.place_of(suite.path, base), with_lines)
    yield "</testsuites>\n"


def _suite(
    start: RunStart, run: RunOutcome, suite: SuiteOutcome, place: str, with_lines: bool
) -> Iterator[str]:
    outcomes = details.outcomes_of(suite)
    failed, errors, skipped = (sum(one.state is state for one in outcomes) for state in _ELEMENTS)
    about = attributes(
        name=place,
        **_numbers(len(outcomes), failed, errors),
        skipped=str(skipped),
        time=_seconds(suite.seconds),
        timestamp=rfc3339(int(start.at * 1e9)),
        file=place,
    )
    yield f"  <testsuite{about}>\n    <properties>\n"
    properties = {"mcptui": tui.__version__}
    if run.recording is not None:
        properties["recording"] = str(run.recording)
    if run.interrupted:
        properties["interrupted"] = "true"
    if faults := "\n".join(start_faults([suite])):
        properties["faults"] = faults
    for name, value in properties.items():
        yield f"      <property{attributes(name=name, value=value)}/>\n"
    yield "    </properties>\n"
    for outcome in outcomes:
        yield from _case(outcome, place, with_lines)
    if suite.stdout:
        yield f"    <system-out>{content(details.output_text(suite.stdout))}</system-out>\n"
    yield "  </testsuite>\n"


def _case(outcome: Outcome, place: str, with_lines: bool) -> Iterator[str]:
    seconds = _seconds((outcome.ms or 0.0) / 1000)
    where = {"file": place, "line": str(outcome.line)} if with_lines else {}
    class_name = details.suite_name(place).replace("/", ".")
    about = attributes(name=details.name_of(outcome), classname=class_name, time=seconds, **where)
    element = _ELEMENTS.get(outcome.state)
    if element is None and not (notes := notes_of(outcome)):
        yield f"    <testcase{about}/>\n"
        return
    yield f"    <testcase{about}>\n"
    if element == "skipped":
        yield f"      <skipped{attributes(message=details.summary(outcome))}/>\n"
    elif element is not None:
        kind = "not run" if outcome.state is State.ERROR else "different"
        said = attributes(type=kind, message=details.summary(outcome))
        yield f"      <{element}{said}>{content(details.details(outcome, place))}</{element}>\n"
    else:
        lines = "\n".join(clean_line(note, details.LINE_CHARS) for note in notes)
        yield f"      <system-out>{content(lines)}</system-out>\n"
    if outcome.said and outcome.state.is_bad:
        yield f"      <system-err>{content(details.output_text(outcome.said))}</system-err>\n"
    yield "    </testcase>\n"


def _numbers(tests: int, failures: int, errors: int) -> dict[str, str]:
    return {"tests": str(tests), "failures": str(failures), "errors": str(errors)}


def _seconds(seconds: float) -> str:
    return f"{max(0.0, min(seconds, 1e9)):.3f}"


def content(text: str) -> str:
    """Return a text as the content of an element: valid in XML whatever it contains."""
    return _valid(text).translate({code: mark for code, mark in _MARKS.items() if code > 0x20})


def attributes(**named: str) -> str:
    """Return attributes, each with a blank before it."""
    return "".join(f' {name}="{_valid(value).translate(_MARKS)}"' for name, value in named.items())


def _valid(text: str) -> str:
    return _INVALID.sub("\ufffd", clean(text))
