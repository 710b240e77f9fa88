"""The files of a review: read as text, changed by decisions so that comments, order and formatting stay.

They are written if nobody else has changed them meanwhile.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from tui.addons.tests.review.compared import Part
from tui.addons.tests.review.expectations import accepted, loosened, recorded
from tui.addons.tests.review.failures import Failure
from tui.addons.tests.suite.case import Expectation
from tui.addons.tests.suite.change import with_expectation
from tui.addons.tests.suite.read import suite_of
from tui.core.errors import ConfigError, UsageError, reason_of
from tui.core.files import atomic_write
from tui.core.language.translate import message
from tui.core.text import clean_line
from tui.settings.files import Unreadable, read_bounded


def texts_of(paths: Iterable[Path]) -> dict[Path, str]:
    """Return the texts of files. Raises UsageError if one cannot be read. Blocks."""
    return {path: _text_of(path) for path in paths}


def with_accepted(text: str, failure: Failure) -> str:
    """Return the text in which the result is the expectation; placeholders that fit stay."""
    case, response = failure.case, failure.response
    if case is None or response is None:
        raise UsageError(failure.why_not_accepted)
    if failure.is_new:
        return _with(text, failure, recorded(case.request, response, failure.at))
    slow = failure.is_slow
    expected = accepted(case.expected, response, failure.fill, failure.findings, slow=slow)
    return _with(text, failure, expected)


def with_varied(text: str, failure: Failure, part: Part) -> str:
    """Return the text in which a part is a placeholder of its type."""
    if failure.case is None or failure.response is None:
        raise UsageError(failure.why_not_accepted)
    return _with(text, failure, loosened(failure.case.expected, failure.response, part, failure.fill))


def read_again(text: str, failure: Failure) -> Failure:
    """Return a failure with its case as it is in a text. Raises ConfigError if the file is invalid."""
    return failure.with_case(suite_of(text, failure.path))


def _with(text: str, failure: Failure, expected: Expectation) -> str:
    number, then = failure.place
    try:
        return with_expectation(text, number, expected, then=then)
    except (ConfigError, ValueError) as error:
        raise UsageError(
            message("{file} cannot be changed: {why}.", file=failure.path.name, why=str(error)),
            next_step=message("Edit the file."),
        ) from error


def write(path: Path, before: str, after: str) -> None:
    """Write a changed text. Raises UsageError, and changes nothing, if the file is not as `before`."""
    name = clean_line(path.name, 200)
    if _text_of(path) != before:
        raise UsageError(
            message("{file} was changed by another program, so nothing was written.", file=name),
            next_step=message("Run the cases again."),
        )
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        atomic_write(path, [after], mode=mode)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            message("{file} cannot be written: {why}.", file=name, why=reason_of(error)),
            next_step=message("Nothing was changed. Check free space and permissions."),
        ) from error


def _text_of(path: Path) -> str:
    try:
        return read_bounded(path)
    except (OSError, Unreadable) as error:
        reason = str(error) if isinstance(error, Unreadable) else reason_of(error)
        name = clean_line(path.name, 200)
        raise UsageError(message("{file} cannot be read: {why}.", file=name, why=reason)) from error
