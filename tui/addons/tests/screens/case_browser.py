"""What the screen of all cases and its tab of the workbench do: list, filter, run, review."""

import asyncio
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui.addons.tests.review.catalog import Catalog, Listed, ListedFile, part_of
from tui.addons.tests.review.last_runs import LastRuns, name_of
from tui.addons.tests.run.outcome import State
from tui.addons.tests.screens.case_rows import (
    Columns,
    Doing,
    Key,
    case_row,
    empty_rows,
    file_rows,
    problem_rows,
    progress_row,
)
from tui.addons.tests.screens.case_runs import CaseRuns
from tui.addons.tests.suite.case import Suite, TurnCase
from tui.core.background import Tasks
from tui.core.errors import McptuiError
from tui.core.files import short_path
from tui.core.language.translate import N_, _, localized
from tui.core.text import clean_line
from tui.ui.keys.bindings import overrides_of
from tui.ui.widgets.inputs import PromptLine
from tui.ui.widgets.lines import LinePane
from tui.ui.widgets.rows import EMPTY, Row
from tui.ui.widgets.symbols import symbols_for

if TYPE_CHECKING:
    from tui.addons.tests.review.decisions import Change, Review
    from tui.addons.tests.review.failures import Failure
    from tui.runtime.runtime import Runtime


IDLE = Doing()


class CaseList(LinePane):
    """Shows files with their cases. The cursor stays on its case if that still exists."""

    CURSOR = True
    FOLLOWS = False

    def __init__(self, moved: Callable[[], object], chosen: Callable[[], object]) -> None:
        super().__init__(id="cases")
        self._moved, self._chosen = moved, chosen
        self._signs = symbols_for()
        self._files: Sequence[tuple[ListedFile, Sequence[Listed]]] = ()
        self._lines: list[Row | Listed] = []
        self._doing: Mapping[Key, Doing] = {}
        self._folder = ""
        self._columns = Columns(0, 0, 0)
        self._note: Row = EMPTY

    def show(self, files: Sequence[tuple[ListedFile, Sequence[Listed]]], folder: str, note: Row) -> None:
        """Show these files with their cases; without any, `note`, or how to keep the first call."""
        before = self.selected
        self._files, self._folder, self._note = files, folder, note
        self._lay_out(before.key if before is not None else None)
        self.rows_changed()
        self.show_row(self.cursor)
        self._moved()

    def show_doing(self, doing: Mapping[Key, Doing]) -> None:
        """Show which cases run or wait."""
        if doing != self._doing:
            self._doing = dict(doing)
            self.repaint()

    @property
    def selected(self) -> Listed | None:
        """The case under the cursor."""
        found = self._lines[self.cursor] if self.cursor < len(self._lines) else None
        return found if isinstance(found, Listed) else None

    @property
    def cases(self) -> list[Listed]:
        """All listed cases."""
        return [one for _, cases in self._files for one in cases]

    @property
    def running(self) -> Collection[Key]:
        return self._doing.keys()

    def _lay_out(self, key: Key | None) -> None:
        lines: list[Row | Listed] = []
        width = max(20, self.columns)
        self._columns = Columns.of(width, self.cases)
        for file, cases in self._files:
            lines += file_rows(file, width)
            for case in cases:
                lines += [case, *problem_rows(case, self._columns, time.time())]
        if not self._files:
            keep = overrides_of(self.app).first_of("keep.call")
            lines += [EMPTY, self._note] if self._note else empty_rows(self._folder, keep, width)
        self._lines = lines
        places = {one.key: at for at, one in enumerate(lines) if isinstance(one, Listed)}
        first = next(iter(places.values()), 0)
        self.cursor = places.get(key, first) if key is not None else first

    def rewrap(self) -> None:
        before = self.selected
        self._lay_out(before.key if before is not None else None)

    def row_count(self) -> int:
        return max(1, len(self._lines))

    def row_selectable(self, index: int) -> bool:
        return index < len(self._lines) and isinstance(self._lines[index], Listed)

    def row(self, index: int) -> Row:
        line = self._lines[index] if index < len(self._lines) else EMPTY
        if not isinstance(line, Listed):
            return line
        doing, is_here = self._doing.get(line.key, IDLE), index == self.cursor
        return case_row(line, doing, self._signs, self._columns, time.time(), cursor=is_here)

    def cursor_moved(self, index: int) -> None:
        self.repaint()
        self._moved()

    def row_chosen(self, index: int) -> None:
        self._chosen()


LOOK_SECONDS = 0.5
"""Seconds between two looks at the files."""

SEARCH_SECONDS, PATIENCE = 2.0, 50
"""Seconds between two searches for new files; at least this many times as long as a search takes."""

RUNS = N_("A run is in progress. Press esc to cancel it first.")
Uses = Callable[[Suite], bool]
MakeList = Callable[[Callable[[], object], Callable[[], object]], CaseList]
"""Makes the list; its arguments are those of `CaseList`."""


class CaseBrowser:
    """Lists the cases of the suites below the current folder that it `uses`, and acts on the selected one.

    `changed` is called when what it says about them has changed. `elsewhere`: also those in other folders
    that the user kept calls in.
    """

    def __init__(
        self,
        runtime: "Runtime",
        prompt: PromptLine,
        changed: Callable[[], object],
        uses: Uses = lambda suite: True,
        make_list: MakeList = CaseList,
        *,
        elsewhere: bool = False,
    ) -> None:
        self._runtime = runtime
        self._prompt = prompt
        self._changed = changed
        self._uses = uses
        self._elsewhere = elsewhere
        self.list = make_list(changed, self.review)
        self.runs = CaseRuns(runtime, self._run_changed)
        self._last, self._catalog, self._tasks = LastRuns(), Catalog(), Tasks()
        self._files: Sequence[ListedFile] = ()
        self._problems: dict[Path, str] = {}
        self._folder = short_path(os.getcwd())
        self._looked_at = self._search_at = float("-inf")
        self._is_read = self._is_changed = False
        self._reading: asyncio.Task[None] | None = None
        self._reviewed: Review | None = None
        self.filter = ""

    @property
    def standing(self) -> Row:
        """How far the run is, or the filter, or what was done to the files, for the end of a line."""
        if self.runs.doing:
            return progress_row(self.runs.done, self.runs.total)
        if self.filter:
            return ((_("filter {words}", words=clean_line(self.filter, 40)) + " ", "accent"),)
        return ((_("files changed, not run since") + " ", "warn"),) if self._is_changed else EMPTY

    # ---- the files ----

    def look(self) -> None:
        """Follow the files, and runs of other processes. Cheap: what takes time is done in a thread."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS or (self._reading is not None and not self._reading.done()):
            return
        self._looked_at = now
        if not self._is_read:
            self.show()
        if now >= self._search_at or self._last.is_stale or self._catalog.is_stale:
            self._reading = self._tasks.start(self._read(), "read test files")

    async def _read(self) -> None:
        def read() -> Sequence[ListedFile]:
            kept = [path for path, file in self._last.read().items() if file.kept]
            return self._catalog.files(Path(), kept if self._elsewhere else ())

        began = time.monotonic()
        files = await asyncio.to_thread(read)
        took = time.monotonic() - began
        self._search_at = time.monotonic() + max(SEARCH_SECONDS, PATIENCE * took)
        self._files = [one for one in files if one.suite is None or self._uses(one.suite)]
        self._is_read = True
        self.show()

    def show(self) -> None:
        """Show the files with the cases that match the filter."""
        self._problems = dict(self.runs.problems)
        shown: list[tuple[ListedFile, Sequence[Listed]]] = []
        for file in self._files:
            listed = map(self._with_failure, file.cases(self._last.of(file.path)))
            cases = [one for one in listed if one.matches(self.filter)]
            if cases or not self.filter:
                shown.append((self._with_problem(file), cases))
        note: Row = EMPTY
        if not self._is_read:
            note = (("  " + _("reading…"), "dim"),)
        elif self.filter:
            said = _("No case matches “{words}”.", words=clean_line(self.filter, 60))
            note = ((f"  {said}", "dim"),)
        self._is_changed = any(file.is_changed_since(self._last.of(file.path)) for file in self._files)
        self.list.show(shown, self._folder, note)
        self._changed()

    def _with_failure(self, one: Listed) -> Listed:
        failure = self._failure_of(one)
        is_known = failure is not None and one.last is not None and one.last.state is failure.outcome.state
        return replace(one, problem=failure.outcome.problem) if failure is not None and is_known else one

    def _failure_of(self, one: Listed) -> "Failure | None":
        """Return the failure of a case in a run of this screen, unless it has run elsewhere since."""
        failure = self.runs.failures.get(one.key)
        return failure if failure is not None and (one.last is None or one.last.at <= failure.at) else None

    def _with_problem(self, file: ListedFile) -> ListedFile:
        problem = self.runs.problems.get(file.path, "")
        return replace(file, problem=problem) if problem and not file.problem else file

    def ask_filter(self) -> None:
        """Ask for words that the cases must have; they are applied while the user types."""

        def typed(text: str) -> None:
            self.filter = text.strip()
            self.show()

        about = _("name, tool, tag, file, or failed")
        ask = self._prompt.ask
        ask(_("filter"), typed, value=self.filter, typed=typed, placeholder=about, searches=True)

    def back(self) -> bool:
        """Cancel the run, or clear the filter; return False if there is neither."""
        if self.runs.cancel():
            return True
        if self.filter:
            self.filter = ""
            self.show()
            return True
        return False

    async def close(self) -> None:
        await self._tasks.cancel()
        await self.runs.close()
        await asyncio.to_thread(self._last.close)

    # ---- runs ----

    def run_selected(self) -> None:
        if (one := self._selected()) is not None and self._may_run():
            self._tasks.start(self._run_one(one.key), "run a case")

    def run_all(self) -> None:
        """Run the listed cases, each file as a whole unless a filter is set."""
        if self._may_run():
            self._tasks.start(self._run_all(), "run cases")

    def _may_run(self) -> bool:
        if self.runs.is_running:
            self.list.notify(_(RUNS), timeout=3)
        return not self.runs.is_running

    async def _run_one(self, key: Key) -> None:
        await self._read()  # the file may have been changed just now
        one = next((one for one in self.list.cases if one.key == key), None)
        if one is not None and (suite := self._suite_of(one.path)) is not None:
            self.runs.start([part_of(suite, [one])], run_empty=True)

    async def _run_all(self) -> None:
        await self._read()
        listed = {one.path for one in self.list.cases}
        suites = [file.suite for file in self._files if file.suite is not None and file.path in listed]
        if self.filter:
            suites = [part_of(suite, self.list.cases) for suite in suites]
        if suites:
            self.runs.start(suites)
        else:
            self.list.notify(_("No cases to run."), timeout=3)

    def _run_changed(self) -> None:
        if self.list.is_attached:
            self.list.show_doing(self.runs.doing)
            is_over = not self.runs.doing
            if is_over:
                self._looked_at = float("-inf")
            if is_over or self._problems != self.runs.problems:
                self.show()
            self._changed()

    # ---- review ----

    def _selected(self) -> Listed | None:
        if (one := self.list.selected) is None:
            self.list.notify(_("No case is selected."), timeout=3)
        return one

    def _suite_of(self, path: Path) -> Suite | None:
        return next((file.suite for file in self._files if file.path == path), None)

    def review(self) -> None:
        """Compare the result of the selected case, and review all that failed."""
        one = self._selected()
        if one is None:
            return
        if isinstance(one.what, TurnCase):
            self._open_turns(one)
        elif one.last is None or (one.last.state is State.SKIPPED and self._failure_of(one) is None):
            self.list.notify(
                _("This case has no result yet. Press r to run it.")
                if one.last is None
                else _("This case was skipped. Press r to run it."),
                timeout=4,
            )
        elif self.runs.is_running:
            self.list.notify(_(RUNS), timeout=3)
        else:
            self._tasks.start(self._review(one), "review cases")

    async def _review(self, one: Listed) -> None:
        from tui.addons.tests.screens.case_review import open_review

        listed = [(file, file.cases(self._last.of(file.path))) for file in self._files]
        found = [(each.key, self._failure_of(each)) for _, cases in listed for each in cases]
        here = {key: failure for key, failure in found if failure is not None}
        review = await open_review(self.list, listed, one, here, self._show_messages_of, self._copy_failure)
        self._reviewed = review or self._reviewed

    def undo(self) -> None:
        """Undo the last change that the last review made."""
        if self._reviewed is not None and (change := self._reviewed.undo()) is not None:
            self._tasks.start(self._undo(self._reviewed, change), "undo a change")
        else:
            self.list.notify(_("Nothing to undo."), timeout=3)

    async def _undo(self, review: "Review", change: "Change") -> None:
        from tui.addons.tests.review.files import write

        try:
            await asyncio.to_thread(write, change.path, change.before, change.after)
        except McptuiError as error:
            self.list.notify(localized(error), severity="warning", markup=False)
            return
        review.undone()
        self.list.notify(_("Undone in {file}.", file=clean_line(change.path.name, 60)), timeout=3)
        await self._read()

    # ---- messages ----

    def show_messages(self) -> None:
        """Open the messages of the last run of the selected case."""
        one = self._selected()
        if one is not None and isinstance(one.what, TurnCase):
            self._open_turns(one)
        elif one is not None and one.last is None:
            self.list.notify(_("This case never ran. Press r to run it."), timeout=4)
        elif one is not None and one.last is not None:
            self._open(one.last.recording, one.last.call)

    def copy(self) -> None:
        """Copy the selected case: its request as a command or a script, the case, or how to run it."""
        if (one := self._selected()) is not None:
            self._copy(one.path, one.what, one.name)

    def _copy_failure(self, failure: "Failure") -> None:
        self._copy(failure.path, failure.outcome.case, name_of(failure.outcome))

    def _copy(self, path: Path, what: object, name: str) -> None:
        from tui.addons.tests.screens.case_copies import copy_case

        if (suite := self._suite_of(path)) is not None:
            copy_case(self.list.app, self._runtime, suite, what, name)

    def show_turns(self) -> None:
        """Open the table of turn cases, at the selected one."""
        one = self.list.selected
        self._open_turns(one if one is not None and isinstance(one.what, TurnCase) else None)

    def _open_turns(self, one: Listed | None) -> None:
        """Open the table of turn cases, which has the conversations and messages of all runs."""
        from tui.addons.tests.screens.turn_table import open_turn_table

        open_turn_table(self.list.app, *((one.path, one.name) if one is not None else ()))

    def _show_messages_of(self, failure: "Failure") -> None:
        last = self._last.of(failure.path).cases.get(name_of(failure.outcome))
        self._open(last.recording if last is not None else "", failure.outcome.call)

    def _open(self, recording: str, call: str) -> None:
        from tui.addons.tests.screens.messages import show_messages

        self._tasks.start(show_messages(self.list.app, self._runtime, recording, call), "open messages")
