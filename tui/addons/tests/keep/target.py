"""The file that a kept call is written to: which one, what it has, and writing it. Blocks.

A file changes only here, after the user has said what to keep. It is replaced as a whole, so that a failure
leaves it as it was.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tui.addons.tests.keep.home import (
    Written,
    file_name,
    folder_for,
    is_same_server,
    named,
    runs_elsewhere,
    written,
)
from tui.addons.tests.suite.case import ENDING, Case, Expectation, Suite, SuiteServer, TurnCase
from tui.addons.tests.suite.change import (
    with_case,
    with_expectation,
    with_server,
    with_turn,
    without_case,
)
from tui.addons.tests.suite.read import suite_of
from tui.core.errors import McptuiError, UsageError, reason_of
from tui.core.files import Stamp, atomic_write, open_file, read_limited, short_path, stamp_of, text_of
from tui.core.language.translate import message, n_
from tui.core.text import clean_line, quoted_name
from tui.runtime.copies.origin import Origin

MOST_BYTES = 8 * 1024 * 1024
MOST_NEIGHBORS = 50
"""Maximum test files of the folder that are looked at."""

NEW_MODE = 0o644
_ANOTHER = message("Choose another file.")


@dataclass(frozen=True, slots=True)
class Target:
    """A test file, as it is now: its text and its suite, or None if it is new.

    `server` is what a new file would name.
    """

    path: Path
    server: Written
    text: str = ""
    suite: Suite | None = None
    stamp: Stamp = None
    names: frozenset[str] = field(default_factory=frozenset)

    @property
    def is_new(self) -> bool:
        return self.suite is None

    def with_cases(self, cases: Sequence[Case | TurnCase]) -> str:
        """Return the text of the file with cases at its end. Raises SuiteError or ValueError."""
        names_one = self.suite is not None and self.suite.server is not None
        text = self.text if names_one else with_server(self.text, self.server.server)
        for case in cases:
            text = with_turn(text, case) if isinstance(case, TurnCase) else with_case(text, case)
        return text


def replaced(target: Target, before: Case, after: Case | None) -> Target:
    """Return a file without a case, and with another one at its end. It is not written yet."""
    assert target.suite is not None
    text = without_case(target.text, target.suite.cases.index(before))
    text = with_case(text, after) if after is not None else text
    return replace(target, text=text, suite=suite_of(text, target.path))


def expecting(target: Target, there: Case, expected: Expectation) -> Target:
    """Return a file in which a case expects something else. It is not written yet. Raises ConfigError."""
    assert target.suite is not None
    codes = sorted({*expected.findings, *there.expected.findings})
    after = replace(expected, findings=tuple(codes))
    text = with_expectation(target.text, target.suite.cases.index(there), after)
    return replace(target, text=text, suite=suite_of(text, target.path))


def target_for(
    typed: str,
    origin: Origin,
    current: Path,
    redact: Callable[[str], str],
    *,
    by_name: bool | None = None,
    has_call: Callable[[Target], bool] = bool,
) -> Target:
    """Return the file that the user typed, or else one of the folder that tests this server, or a new one.

    Of several, it is the first one that `has_call`, or else the first. Raises UsageError if it tests another
    server, or if no file can name the server, and SuiteError if it is invalid.
    """
    if typed.strip():
        return _target_at(current / os.path.expanduser(typed.strip()), origin, redact, by_name=by_name)
    folder = folder_for(origin, current)
    server = server_in(origin, folder, redact, by_name=by_name)
    first = folder / file_name(origin.name)
    usable = []
    for path in (first, *_neighbors(folder)):
        found = _suite_at(path, server)
        there = found.suite.server if found is not None and found.suite is not None else None
        if found is not None and is_server_of(there, origin, folder, redact):
            if has_call(found):
                return found
            usable.append(found)
    if usable:
        return usable[0]
    numbered = (
        first.with_name(f"{first.name.removesuffix(ENDING)}-{number}{ENDING}") for number in range(2, 100)
    )
    free = next((path for path in (first, *numbered) if not os.path.lexists(path)), first)
    return Target(free, server)


def _target_at(path: Path, origin: Origin, redact: Callable[[str], str], *, by_name: bool | None) -> Target:
    path = Path(os.path.abspath(path))
    if path.exists() and not path.is_file():
        where = short_path(str(path))
        raise UsageError(message("this is not a file."), where=where, next_step=_ANOTHER)
    if not path.name.endswith(ENDING):
        path = path.with_name(f"{path.name.removesuffix('.toml')}{ENDING}")
    server = server_in(origin, path.parent, redact, by_name=by_name)
    if not os.path.lexists(path):
        return Target(path, server)
    if path.is_symlink() and not path.exists():
        where = short_path(str(path))
        why = message("a symbolic link that leads to no file.")
        raise UsageError(why, where=where, next_step=_ANOTHER)
    found = _read(path, server)
    there = found.suite.server if found.suite is not None else None
    if there is not None and not is_server_of(there, origin, path.parent, redact):
        raise UsageError(
            message(
                "{file} tests another server: {server}.",
                file=clean_line(path.name, 200),
                server=shown_server(there),
            ),
            next_step=_ANOTHER,
        )
    return found


def server_in(origin: Origin, folder: Path, redact: Callable[[str], str], *, by_name: bool | None) -> Written:
    """Return how a file in a folder names the server. A configured one is named if `by_name`.

    With None, it is named unless its command can be written out.
    """
    if by_name is None:
        by_name = not runs_elsewhere(origin, folder, redact)
    return named(origin) if by_name and origin.configured else written(origin, folder, redact)


def shown_server(server: SuiteServer) -> str:
    """Return a server as a person reads it."""
    if server.name:
        return quoted_name(server.name)
    return clean_line(server.url or " ".join(server.command), 120)


def is_server_of(
    there: SuiteServer | None, origin: Origin, folder: Path, redact: Callable[[str], str] = str
) -> bool:
    """Return whether a file in a folder names a server, by its name, its command or its URL."""
    if there is None or (origin.configured and there.name == origin.name):
        return there is not None
    try:
        return is_same_server(there, written(origin, folder, redact).server, folder)
    except UsageError:
        return False


def added_to(target: Target) -> str:
    """Return with how many cases and turn cases of a file a new one is."""
    suite = target.suite
    number = len(suite.cases) + len(suite.turns) if suite is not None else 0
    return n_("added to {n} case", "added to {n} cases", number)


def _neighbors(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(ENDING))
    except OSError:
        return
    yield from (folder / name for name in names[:MOST_NEIGHBORS])


def _suite_at(path: Path, server: Written) -> Target | None:
    """Return a file that can be read as a suite, or None."""
    try:
        return _read(path, server) if path.is_file() else None
    except (McptuiError, OSError):
        return None


def _read(path: Path, server: Written) -> Target:
    stamp = stamp_of(path)
    try:
        with open_file(path) as file:
            text = text_of(read_limited(file, MOST_BYTES))
    except (OSError, ValueError) as error:
        why = message("cannot read it: {why}.", why=reason_of(error))
        raise UsageError(why, where=short_path(str(path))) from None
    suite = suite_of(text, path)
    return Target(path, server, text, suite, stamp, frozenset(case.name for case in suite.cases))


def write(target: Target, cases: Sequence[Case | TurnCase]) -> None:
    """Write a file with cases at its end.

    Raises UsageError if the file has changed since it was read, or cannot be written.
    """
    path = target.path
    if stamp_of(path) != target.stamp:
        raise UsageError(
            message("it has changed in the meantime."),
            where=short_path(str(path)),
            next_step=message("Try again."),
        )
    try:
        text = target.with_cases(cases)
    except ValueError as error:
        why = message("cannot be kept: {why}.", why=str(error))
        raise UsageError(why, where=short_path(str(path))) from None
    try:
        mode = os.stat(path).st_mode & 0o777 if not target.is_new else NEW_MODE
        atomic_write(path, [text], mode=mode)
    except (OSError, UnicodeError) as error:
        why = message("cannot write it: {why}.", why=reason_of(error))
        raise UsageError(why, where=short_path(str(path)), next_step=_ANOTHER) from None
