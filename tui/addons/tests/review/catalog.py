"""All cases of the suites below a folder, and of others that the user kept calls in, with their last runs."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tui.addons.tests.review.last_runs import LastCase, LastFile
from tui.addons.tests.suite.case import Case, Contract, Suite, TurnCase
from tui.addons.tests.suite.find import found, shown_path
from tui.addons.tests.suite.read import SuiteError, read_suite
from tui.addons.tests.suite.references import with_needed
from tui.core.errors import McptuiError
from tui.core.files import Stamp, stamp_of
from tui.core.language.restored import restored
from tui.core.language.translate import _
from tui.core.matching import has_words
from tui.core.text import clean_line

Checked = Case | TurnCase | Contract
"""What a suite checks."""

CONTRACT = "contract"
"""The name of the outcome of a contract."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One case, turn case or contract of a file, and how it ended last, or None.

    `problem` is why it failed, if that is known.
    """

    path: Path
    what: Checked
    last: LastCase | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        """Its name in outcomes."""
        match self.what:
            case Case(name=name):
                return name
            case TurnCase():
                return self.what.title
            case Contract():
                return CONTRACT

    @property
    def key(self) -> tuple[Path, str, str]:
        """Identifies it among all."""
        return self.path, type(self.what).__name__, self.name

    @property
    def request(self) -> str:
        """What it requests, in a word or two, cleaned."""
        match self.what:
            case Case(request=request):
                return clean_line(request.name, 200)
            case TurnCase(models=models):
                return clean_line(", ".join(models), 200) or _("active model")
            case Contract(lock=lock):
                return clean_line(lock, 200)

    def matches(self, typed: str) -> bool:
        """Return whether name, request, tags, file and state have every word of a typed text."""
        tags = () if isinstance(self.what, Contract) else self.what.tags
        state = self.last.state if self.last is not None else "never ran"
        return has_words(f"{self.name}\n{self.request}\n{' '.join(tags)}\n{self.path}\n{state}", typed)


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file with what it checks, in its order.

    `problem` is why it cannot be used, or "". `changed` is when it was changed, in seconds since the epoch.
    """

    path: Path
    suite: Suite | None = None
    problem: str = ""
    changed: float = 0.0

    @property
    def shown(self) -> str:
        """Its path, relative to the current folder if it is below, cleaned."""
        return shown_path(self.path)

    def is_changed_since(self, last: LastFile) -> bool:
        """Return whether it has changed since the last run of any of its cases."""
        return bool(last.cases) and self.changed > max(one.at for one in last.cases.values())

    def cases(self, last: LastFile) -> list[Listed]:
        """Return what it checks, with the last runs of the file."""
        found = cases_of(self.suite) if self.suite is not None else []
        lasts = ((one, last.cases.get(one.name)) for one in found)
        return [replace(one, last=ran, problem=restored(ran.problem) if ran else "") for one, ran in lasts]


def cases_of(suite: Suite) -> list[Listed]:
    """Return what a suite checks, in the order of its run."""
    contract = (suite.contract,) if suite.contract is not None else ()
    return [Listed(suite.path, what) for what in (*contract, *suite.cases, *suite.turns)]


def part_of(suite: Suite, chosen: Iterable[Listed]) -> Suite:
    """Return a suite with these of its cases, and the earlier ones whose saved values they need."""
    found = [one.what for one in chosen if one.path == suite.path]
    cases = with_needed(suite.cases, [one for one in found if isinstance(one, Case)])
    turns = [one for one in found if isinstance(one, TurnCase)]
    contract = suite.contract if any(isinstance(one, Contract) for one in found) else None
    return replace(suite, cases=tuple(cases), turns=tuple(turns), contract=contract)


class Catalog:
    """Reads the files; unchanged ones once."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[Stamp, ListedFile]] = {}

    def files(self, folder: Path, kept: Iterable[str]) -> Sequence[ListedFile]:
        """Return the suites below a folder, and the `kept` files that exist. Blocks."""
        problem = ""
        try:
            paths = found([str(folder)])
        except McptuiError as error:
            paths, problem = [], str(error)
        known = set(map(os.path.realpath, paths))
        others = [Path(one) for one in kept if os.path.isfile(one)]
        paths += sorted(one for one in others if os.path.realpath(one) not in known)
        files = [self.file(path) for path in paths]
        self._read = {path: one for path, one in self._read.items() if path in paths}
        return [*files, ListedFile(folder, problem=problem)] if problem else files

    def file(self, path: Path) -> ListedFile:
        """Return one file. Blocks if it has changed."""
        stamp = stamp_of(path)
        before = self._read.get(path)
        if before is not None and before[0] == stamp:
            return before[1]
        try:
            read = ListedFile(path, read_suite(path), changed=stamp[3] / 1e9 if stamp else 0.0)
        except SuiteError as error:
            read = ListedFile(path, problem=str(error))
        self._read[path] = stamp, read
        return read

    @property
    def is_stale(self) -> bool:
        """Whether a file has changed since it was read. Takes microseconds for each."""
        return any(stamp_of(path) != stamp for path, (stamp, _) in self._read.items())
