"""Decisions as changes of the text of a file. Pure."""

from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.expectations import accepted, loosened, recorded
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.suite.case import Expectation
from tui.addons.tests.suite.change import with_expectation
from tui.addons.tests.suite.read import suite_of
from tui.core.errors import ConfigError, UsageError


class FileEdits:
    """`Edits` of `*.mcp.toml` files."""

    def accepted(self, text: str, failure: Failure) -> str:
        case, response = failure.case, failure.response
        if case is None or response is None:
            raise UsageError(failure.why_not_accepted)
        if failure.is_new:
            expected = recorded(case.request, response, failure.at)
        else:
            slow = failure.is_slow
            expected = accepted(case.expected, response, failure.fill, failure.findings, slow=slow)
        return _with(text, failure, expected)

    def varied(self, text: str, failure: Failure, part: Part) -> str:
        if failure.case is None or failure.response is None:
            raise UsageError(failure.why_not_accepted)
        expected = loosened(failure.case.expected, failure.response, part, failure.fill)
        return _with(text, failure, expected)

    def read_again(self, text: str, failure: Failure) -> Failure:
        """Return a failure with its case as it is in a text. Raises ConfigError if the file is invalid."""
        return failure.with_case(suite_of(text, failure.path))


def _with(text: str, failure: Failure, expected: Expectation) -> str:
    number, then = failure.place
    try:
        return with_expectation(text, number, expected, then=then)
    except (ConfigError, ValueError) as error:
        raise UsageError(
            f"{failure.path.name} cannot be changed: {error}.", next_step="Edit the file."
        ) from error
