"""What a case expects and what its response has, key by key, to be shown next to each other. Pure."""

from collections.abc import Iterator

from tui.addons.tests.review.compared import Section
from tui.addons.tests.run.judge import Response
from tui.addons.tests.run.outcome import ABSENT
from tui.addons.tests.suite.case import UNSET, Expectation

MISSING = "(none)"


def sections(expected: Expectation, response: Response) -> list[Section]:
    """Return the keys of a case that are compared. If it expects nothing yet, all that it could expect."""
    return list(_sections(expected, response))


def _sections(expected: Expectation, response: Response) -> Iterator[Section]:
    if response.is_error or expected.error:
        yield Section("error", expected.error, response.is_error)
    is_new, value = expected.is_empty, response.value
    has_value = value is not ABSENT and not response.is_error
    if expected.text is not None:
        yield Section("text", expected.text, response.text)
    elif (is_new and not has_value) or (response.is_error and not expected.error):
        yield Section("text", ABSENT, response.text)
    if expected.result is not UNSET:
        yield Section("result", expected.result, MISSING if value is ABSENT else value)
    elif is_new and has_value:
        yield Section("result", ABSENT, value)
    if expected.content is not None:
        yield Section("content", list(map(dict, expected.content)), list(response.content))
    elif is_new and response.content:
        yield Section("content", ABSENT, list(response.content))
